# How programs are started on several ranks, by `ccpbench solve --ranks` and by the tests.
#
# CCP_MPIEXEC is the launcher, a list with its options; CCPBENCH_MPIEXEC in the environment wins when a
# run starts. The variables are for Open MPI (and PRRTE, which starts Open MPI 5), which otherwise
# refuses root and counts slots by itself; ccpbench has counted the processors before. Ranks stay on
# the processors that ccpbench was given. Other launchers do not read them.
set(CCP_MPIEXEC "${MPIEXEC_EXECUTABLE}" CACHE STRING "Launcher of several ranks, with its options")
set(CCP_MPIEXEC_NUMPROC_FLAG "${MPIEXEC_NUMPROC_FLAG}")
set(CCP_MPIEXEC_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none)
# Where there are more ranks than processors, those that wait let others run. Where each has one of its
# own they do not: the wait is short, and whoever gets the processor keeps it for milliseconds.
set(CCP_MPIEXEC_CROWDED OMPI_MCA_mpi_yield_when_idle=1)
