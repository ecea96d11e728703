"""Problems and results of ccpbench, a benchmark suite for cone complementarity problems.

    >>> import ccpbench
    >>> problem = ccpbench.read_problem("stack.h5")           # arrays in contact axes
    >>> problem.velocity(problem.reference)                   # u = (N + Sigma) gamma + r
    >>> runs, faults = ccpbench.read_folder("results/mine")   # one Run per result file
    >>> print(ccpbench.target_table(ccpbench.group(runs), [1e-2, 1e-4], "error"))

The commands `plot`, `report`, `compare` and `reproduce` are modules of these names with a main();
they need the extras that README.md lists.
"""
from ccpbench.problem import Problem, read_problem, write_answer
from ccpbench.results import Run, Series, group, read_folder, read_result
from ccpbench.tables import target_table

__version__ = "0.1.0"
__all__ = ["Problem", "Run", "Series", "__version__", "group", "read_folder", "read_problem",
           "read_result", "target_table", "write_answer"]
