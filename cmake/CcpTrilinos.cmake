# Finds Trilinos for the chosen back end and wraps it in one interface target, ccp::trilinos.
#
# CCP_BACKEND selects the Trilinos build: "serial" is Debian's package, "openmp" and "cuda" are
# prefixes made by scripts/build_trilinos.sh (or unpacked by it). Trilinos_DIR, when given, wins.
#
# Trilinos 13.2 exports no umbrella target, newer releases export Trilinos::all_selected_libs;
# both end up behind the same name here.
#
# CCP_HAVE_AMESOS2 says whether there is Amesos2, for the direct method klu2: the CUDA prefix has none.

set(CCP_BACKEND "serial" CACHE STRING "Trilinos build to use: serial, openmp or cuda")
set_property(CACHE CCP_BACKEND PROPERTY STRINGS serial openmp cuda)

set(_ccp_trilinos_components Belos Ifpack2 Tpetra Kokkos Teuchos OPTIONAL_COMPONENTS Amesos2)

if(NOT Trilinos_DIR)
  if(CCP_BACKEND STREQUAL "serial")
    # Debian's package only: a prefix below /usr/local must not be picked up by accident.
    find_package(Trilinos QUIET COMPONENTS ${_ccp_trilinos_components}
      PATHS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Trilinos" NO_DEFAULT_PATH)
    set(_ccp_hint "install the packages listed in scripts/packages.txt (scripts/quickstart does)")
  elseif(CCP_BACKEND MATCHES "^(openmp|cuda)$")
    # scripts/build_trilinos.sh installs to the first of these unless told otherwise.
    if(DEFINED ENV{XDG_CACHE_HOME})
      set(_ccp_cache "$ENV{XDG_CACHE_HOME}")
    else()
      set(_ccp_cache "$ENV{HOME}/.cache")
    endif()
    find_package(Trilinos QUIET COMPONENTS ${_ccp_trilinos_components}
      PATHS
        "$ENV{CCP_TRILINOS_PREFIX}/lib/cmake/Trilinos"
        "${_ccp_cache}/ccpbench/trilinos-13.2-${CCP_BACKEND}/lib/cmake/Trilinos"
        "/usr/local/trilinos-13.2-${CCP_BACKEND}/lib/cmake/Trilinos"
      NO_DEFAULT_PATH)
    set(_ccp_hint "make one with scripts/build_trilinos.sh, or set Trilinos_DIR or CCP_TRILINOS_PREFIX")
  else()
    message(FATAL_ERROR "CCP_BACKEND: expected serial, openmp or cuda, found '${CCP_BACKEND}'")
  endif()
  if(NOT Trilinos_FOUND)
    message(FATAL_ERROR "No Trilinos for CCP_BACKEND=${CCP_BACKEND}: ${_ccp_hint}")
  endif()
else()
  find_package(Trilinos REQUIRED COMPONENTS ${_ccp_trilinos_components})
endif()
message(STATUS "Trilinos ${Trilinos_VERSION} (${CCP_BACKEND}): ${Trilinos_DIR}")

set(CCP_HAVE_AMESOS2 ${Trilinos_Amesos2_FOUND})

add_library(ccp_trilinos INTERFACE)
add_library(ccp::trilinos ALIAS ccp_trilinos)
if(TARGET Trilinos::all_selected_libs)
  target_link_libraries(ccp_trilinos INTERFACE Trilinos::all_selected_libs)
else()
  # Only what is used: Debian's full list would bring EpetraExt and, with it, a second (MPI) HDF5.
  set(_ccp_libraries ${Trilinos_LIBRARIES})
  list(FILTER _ccp_libraries EXCLUDE REGEX
    "(epetra|aztecoo|thyra|rtop|triutils|xpetra|isorropia|zoltan|ml$)")
  target_include_directories(ccp_trilinos SYSTEM INTERFACE ${Trilinos_INCLUDE_DIRS})
  target_link_libraries(ccp_trilinos INTERFACE ${_ccp_libraries})
  find_package(LAPACK REQUIRED)
  target_link_libraries(ccp_trilinos INTERFACE LAPACK::LAPACK)
endif()
target_link_libraries(ccp_trilinos INTERFACE MPI::MPI_CXX)

if(CCP_BACKEND STREQUAL "openmp")
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  target_link_libraries(ccp_trilinos INTERFACE OpenMP::OpenMP_CXX)
elseif(CCP_BACKEND STREQUAL "cuda")
  # The wrapper of Kokkos 3.4 spells these its own way; the driver library is the toolkit's stub.
  target_compile_options(ccp_trilinos INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-expt-extended-lambda -arch=sm_90 -Wno-deprecated-gpu-targets>)
  target_link_options(ccp_trilinos INTERFACE -arch=sm_90)
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(ccp_trilinos INTERFACE CUDA::cudart CUDA::cuda_driver)
endif()

# ccp_no_kernels(TARGET...): these hold no kernel and see none. Under preset cuda the host's compiler
# takes them: nvcc is ten times slower, and its front end never ends on some of Catch's macros.
function(ccp_no_kernels)
  if(CCP_BACKEND STREQUAL "cuda")
    foreach(target IN LISTS ARGV)
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:--host-only>)
    endforeach()
  endif()
endfunction()
