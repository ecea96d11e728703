"""Conic solvers on the velocity form of the convex problem.

    min |w|^2 / 2   such that   u = E w + r in K*,    N = E E^T

The multipliers of the constraints are the impulses. With T = diag(1, mu, mu), T u lies in the
second-order cone; a contact with mu = 0 has one row, u_n >= 0. Masses are free of units.

Usage: conic.py SOLVER PROBLEM.h5 OUTPUT.h5 TIME_LIMIT TOLERANCE
SOLVER: scs, scs-indirect, clarabel, ecos, qoco; with no more arguments: prints the version.
"""
import importlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ccpbench.arrays import Floats
from ccpbench.peers.problem import UnitFreeProblem

Answer = tuple[Any, float, float, int, str]  # multipliers, setup s, solve s, iterations, status


def version_of(name: str) -> str:
    """Of the package that is called; without it the program ends."""
    module = name.split("-", maxsplit=1)[0]
    try:
        found = importlib.import_module(module)
    except ImportError:
        sys.exit(f"{module} is not installed (scripts/peers/setup)")
    try:
        return importlib.metadata.version(module)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(found, "__version__", ""))


class Cones:
    """A w + s = b with s in first `linear` half-lines, then second-order cones of 3."""

    def __init__(self, problem: UnitFreeProblem):
        factor = problem.velocity_factor().tocsr()
        mu = problem.mu
        slippery, rough = np.flatnonzero(mu == 0), np.flatnonzero(mu > 0)
        self.rows = np.concatenate([3 * slippery, (3 * rough[:, None] + np.arange(3)).ravel()])
        self.scale = np.concatenate(
            [np.ones(len(slippery)),
             np.column_stack([np.ones(len(rough)), mu[rough], mu[rough]]).ravel()])
        self.linear, self.seconds = len(slippery), len(rough)
        self.a = (-sparse.diags(self.scale) @ factor[self.rows]).tocsc()
        self.b = self.scale * problem.r[self.rows]
        self.size = problem.r.size

    def impulses(self, z: Floats) -> Floats:
        """gamma = T z."""
        gamma = np.zeros(self.size)
        gamma[self.rows] = self.scale * z
        return gamma


def by_scs(cones: Cones, tolerance: float, time_limit: float, indirect: bool) -> Answer:
    import scs
    count = cones.a.shape[1]
    data = {"P": sparse.identity(count, format="csc"), "A": cones.a, "b": cones.b,
            "c": np.zeros(count)}
    cone = {"l": cones.linear, "q": [3] * cones.seconds}
    begin = time.perf_counter()
    options = {"eps_abs": tolerance, "eps_rel": 0, "max_iters": 10**8, "verbose": False,
               "time_limit_secs": time_limit}
    if indirect:  # named in newer versions, a flag in older ones
        if hasattr(scs, "LinearSolver"):
            options["linear_solver"] = scs.LinearSolver.CPU_INDIRECT
        else:
            options["use_indirect"] = True
    solver = scs.SCS(data, cone, **options)
    setup = time.perf_counter() - begin
    result = solver.solve()
    info = result["info"]
    return result["y"], setup, time.perf_counter() - begin - setup, info["iter"], info["status"]


def by_clarabel(cones: Cones, tolerance: float, time_limit: float) -> Answer:
    import clarabel
    count = cones.a.shape[1]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.time_limit = time_limit
    settings.max_iter = 500
    settings.max_threads = int(os.environ.get("OMP_NUM_THREADS", "1"))  # else all processors
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.tol_ktratio = tolerance
    cone = [clarabel.NonnegativeConeT(cones.linear)] if cones.linear else []
    cone += [clarabel.SecondOrderConeT(3)] * cones.seconds
    begin = time.perf_counter()
    solver = clarabel.DefaultSolver(sparse.identity(count, format="csc"), np.zeros(count), cones.a,
                                    cones.b, cone, settings)
    setup = time.perf_counter() - begin
    result = solver.solve()
    return (np.array(result.z), setup, time.perf_counter() - begin - setup, result.iterations,
            str(result.status))


def by_ecos(cones: Cones, tolerance: float, _time_limit: float) -> Answer:
    import ecos
    # It has no quadratic objective: min t, |(2 w, t - 1)| <= t + 1 says t >= |w|^2.
    count = cones.a.shape[1]
    top = sparse.csc_matrix(([-1.0], ([0], [count])), shape=(1, count + 1))
    middle = sparse.hstack([-2 * sparse.identity(count), sparse.csc_matrix((count, 1))])
    g = sparse.vstack([sparse.hstack([cones.a, sparse.csc_matrix((cones.a.shape[0], 1))]), top,
                       middle, top], format="csc")
    h = np.concatenate([cones.b, [1], np.zeros(count), [-1]])
    cost = np.append(np.zeros(count), 0.5)
    begin = time.perf_counter()
    result = ecos.solve(cost, g, h, {"l": cones.linear, "q": [3] * cones.seconds + [count + 2]},
                        abstol=tolerance, reltol=tolerance, feastol=tolerance, max_iters=500,
                        verbose=False)
    info = result["info"]
    return (result["z"][:cones.a.shape[0]], info["timing"]["tsetup"],
            time.perf_counter() - begin - info["timing"]["tsetup"], info["iter"],
            info["infostring"])


def by_qoco(cones: Cones, tolerance: float, _time_limit: float) -> Answer:
    import qoco
    count, rows = cones.a.shape[1], cones.a.shape[0]
    solver = qoco.QOCO()
    begin = time.perf_counter()
    solver.setup(count, rows, 0, sparse.identity(count, format="csc"), np.zeros(count), None, None,
                 cones.a, cones.b, cones.linear, cones.seconds, [3] * cones.seconds,
                 abstol=tolerance, reltol=tolerance, max_iters=500)
    setup = time.perf_counter() - begin
    result = solver.solve()
    return (np.array(result.z), setup, time.perf_counter() - begin - setup, result.iters,
            str(result.status))


SOLVERS: dict[str, Callable[[Cones, float, float], Answer]] = {
    "scs": partial(by_scs, indirect=False), "scs-indirect": partial(by_scs, indirect=True),
    "clarabel": by_clarabel, "ecos": by_ecos, "qoco": by_qoco}


def main(arguments: Sequence[str] | None = None) -> int:
    """@param arguments  as on the command line (default: its own)"""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) not in (1, 5):
        sys.exit(__doc__)
    name = arguments[0]
    version = version_of(name)
    if len(arguments) == 1:
        print(version)
        return 0
    path, output = arguments[1:3]
    time_limit, tolerance = map(float, arguments[3:5])
    problem = UnitFreeProblem(path)
    cones = Cones(problem)
    z, setup, seconds, iterations, status = SOLVERS[name](cones, tolerance, time_limit)
    if z is None or not np.isfinite(z).all():
        sys.exit(f"no impulses: {status}")
    problem.write(output, cones.impulses(z), solve_time=seconds, setup_time=setup,
                  iterations=iterations, version=version, message=status)
    return 0


if __name__ == "__main__":
    sys.exit(main())
