"""Solvers of contacts of Pinocchio on N, free of units (N/s, r/q).

Usage: pinocchio_contact.py METHOD PROBLEM.h5 OUTPUT.h5 TIME_LIMIT TOLERANCE
METHOD: admm, pgs (Coulomb's law), admm_convex, pgs_convex; with no more arguments: prints the
version. They cannot be asked for time: the number of iterations is what ends them.
"""
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ccpbench.arrays import Floats
from ccpbench.peers.problem import UnitFreeProblem, delassus_matrix
from ccpbench.problem import Problem

ORDER = [1, 2, 0]  # Pinocchio's axes are t1, t2, n
MOST_ITERATIONS = {"admm": 5_000, "pgs": 100_000}


def solve(method: str, matrix: Any, r: Floats, mu: Floats, tolerance: float,
          convex: bool = False) -> tuple[Floats, float, int, bool]:
    """u = N gamma + r by `admm` (with a Cholesky factorisation) or `pgs`.
    @param matrix  N, dense [3n][3n]; or, for admm, sparse
    @return gamma [n][3], seconds, iterations, and whether it says that it converged"""
    import pinocchio
    n = len(mu)
    turned = (3 * np.arange(n)[:, None] + ORDER).ravel()
    sparse = not isinstance(matrix, np.ndarray)
    kind = pinocchio.DelassusOperatorSparse if sparse else pinocchio.DelassusOperatorDense
    # The sets are all that the solvers take of the constraints; no robot is needed.
    robot = pinocchio.Model()
    models, datas = pinocchio.StdVec_ConstraintModel(), pinocchio.StdVec_ConstraintData()
    for friction in mu:
        point = pinocchio.PointContactConstraintModel(robot, 0, pinocchio.SE3.Identity())
        point.setFriction(float(friction))
        models.append(pinocchio.ConstraintModel(point))
        datas.append(models[len(models) - 1].createData())
    of = {"admm": "ADMM", "pgs": "PGS"}[method]
    settings, result = getattr(pinocchio, f"{of}SolverSettings")(), getattr(
        pinocchio, f"{of}SolverResult")()
    settings.max_iterations, settings.solve_ncp = MOST_ITERATIONS[method], not convex
    for what in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{what}_tol", tolerance)
        setattr(settings, f"relative_{what}_tol", 0.0)
    solver = getattr(pinocchio, f"{of}ConstraintSolver")(3 * n)
    operator = kind(matrix[turned][:, turned])
    begin = time.perf_counter()
    converged = solver.solve(operator, r.ravel()[turned], models, datas, settings, result)
    seconds = time.perf_counter() - begin
    impulses = np.zeros(3 * n)
    impulses[turned] = result.retrieveConstraintImpulses()
    return impulses.reshape(n, 3), seconds, int(result.iterations), bool(converged)


def impulses(problem: Problem, tolerance: float) -> Floats:
    """Of an assembled problem, [n][3], by ADMM under Coulomb's law, as far as it gets."""
    matrix: Any = delassus_matrix(problem).toarray()
    s, q = np.trace(matrix) / len(matrix), np.sqrt(np.mean(problem.r**2))
    gamma, *_ = solve("admm", matrix / s, problem.r / q, problem.mu, tolerance)
    scaled: Floats = q / s * gamma
    return scaled


def main(arguments: Sequence[str] | None = None) -> int:
    """@param arguments  as on the command line (default: its own)"""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) not in (1, 5):
        sys.exit(__doc__)
    try:
        import pinocchio
    except ImportError:
        sys.exit("Pinocchio is not installed (scripts/peers/setup engines)")
    version = pinocchio.__version__
    if len(arguments) == 1:
        print(version)
        return 0
    method, path, output = arguments[:3]
    problem = UnitFreeProblem(path)
    method, _, law = method.partition("_")
    matrix = problem.matrix()
    if method == "pgs":
        matrix = matrix.toarray()
    else:
        matrix = matrix.tocsc()
    gamma, seconds, iterations, converged = solve(method, matrix, problem.r, problem.mu,
                                                  float(arguments[4]), law == "convex")
    problem.write(output, gamma, solve_time=seconds, version=version, iterations=iterations,
                  message="converged" if converged else "not converged")
    return 0


if __name__ == "__main__":
    sys.exit(main())
