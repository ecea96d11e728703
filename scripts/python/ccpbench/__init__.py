"""Problems and results of ccpbench, a benchmark suite for cone complementarity problems.

    >>> import ccpbench
    >>> problem = ccpbench.read_problem("stack.h5")           # arrays in contact axes
    >>> problem.velocity(problem.reference)                   # u = (N + Sigma) gamma + r
    >>> ccpbench.residuals(problem, gamma)["residual"]        # what the referee measures
    >>> ccpbench.solve(problem, "vipm", stop="residual=1e-8").gamma
    >>> results = ccpbench.run("study.yaml")                  # drives the program
    >>> print(results.table())
    >>> runs, faults = ccpbench.read_folder("results/mine")   # one Run per result file

The commands `plot`, `report`, `compare` and `reproduce` are modules of these names with a main();
they need the extras that README.md lists.
"""
from ccpbench.functions import External, external
from ccpbench.pools import Equality, Rolling
from ccpbench.problem import (
    Assembled,
    Bodies,
    Problem,
    read_problem,
    read_sequence,
    write_answer,
    write_problem,
    write_sequence,
)
from ccpbench.program import ProgramError, Results, generate, read_results, run, simulate, solve
from ccpbench.referee import project, project_rolling, residuals
from ccpbench.results import Run, Series, group, read_folder, read_result
from ccpbench.tables import target_table
from ccpbench.trajectory import Trajectory, read_trajectory, write_trajectory

__version__ = "0.1.0"
__all__ = ["Assembled", "Bodies", "Equality", "External", "Problem", "ProgramError", "Results",
           "Rolling", "Run", "Series", "Trajectory", "__version__", "external", "generate", "group",
           "project", "project_rolling", "read_folder", "read_problem", "read_result",
           "read_results", "read_sequence", "read_trajectory", "residuals", "run", "simulate",
           "solve", "target_table", "write_answer", "write_problem", "write_sequence",
           "write_trajectory"]
