"""Solvers of Siconos Numerics on N, or on a factor of it, free of units (N/s, r/q): its tolerances
then mean the same everywhere.

Usage: siconos_numerics.py METHOD PROBLEM.h5 OUTPUT.h5 TIME_LIMIT TOLERANCE
METHOD: nsgs, nsn_ac (Coulomb's law); soclcp, qp_admm, qp_vi, ipm (convex); rolling_nsgs,
rolling_admm (Coulomb's law with rolling friction); with no more arguments: prints the version.
Several paths of Siconos end the process: run it as a child.
"""
import ctypes
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ccpbench.arrays import Floats
from ccpbench.peers.problem import RollingProblem, UnitFreeProblem

Fields = list[tuple[str, Any]]


class FrictionContactProblem(ctypes.Structure):
    """FrictionContactProblem.h"""
    _fields_: ClassVar[Fields] = [
        ("dimension", ctypes.c_int), ("contacts", ctypes.c_int), ("matrix", ctypes.c_void_p),
        ("q", ctypes.c_void_p), ("mu", ctypes.c_void_p)]


class RollingFrictionContactProblem(ctypes.Structure):
    """RollingFrictionContactProblem.h"""
    _fields_: ClassVar[Fields] = [*FrictionContactProblem._fields_, ("mu_r", ctypes.c_void_p)]


class GlobalFrictionContactProblem(ctypes.Structure):
    """GlobalFrictionContactProblem.h"""
    _fields_: ClassVar[Fields] = [
        ("dimension", ctypes.c_int), ("contacts", ctypes.c_int), ("mass", ctypes.c_void_p),
        ("h", ctypes.c_void_p), ("q", ctypes.c_void_p), ("norm_q", ctypes.c_double),
        ("b", ctypes.c_void_p), ("norm_b", ctypes.c_double), ("mu", ctypes.c_void_p),
        ("env", ctypes.c_void_p)]


class ConesOfQp(ctypes.Structure):
    """GlobalFrictionContactProblem_as_ConvexQP.h"""
    _fields_: ClassVar[Fields] = [
        ("qp", ctypes.c_void_p), ("problem", ctypes.POINTER(GlobalFrictionContactProblem)),
        ("options", ctypes.c_void_p)]


class ConvexQp(ctypes.Structure):
    """ConvexQP.h: min z.Mz/2 + q.z such that Az + b is in C; no A: A = 1."""
    _fields_: ClassVar[Fields] = [
        ("size", ctypes.c_int), ("m", ctypes.c_int), ("env", ctypes.c_void_p),
        ("matrix", ctypes.c_void_p), ("q", ctypes.c_void_p), ("a", ctypes.c_void_p),
        ("b", ctypes.c_void_p), ("project", ctypes.c_void_p), ("norm", ctypes.c_double),
        ("norm_is_set", ctypes.c_int), ("set", ctypes.c_void_p)]


def package_version() -> str:
    """Of Debian's package, which says 0 of itself."""
    try:
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-siconos"],
                              capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def address(array: Floats) -> int:
    return array.ctypes.data


def timed(solver: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Seconds, and what it returned."""
    begin = time.perf_counter()
    status = solver(*arguments)
    return time.perf_counter() - begin, status


def compressed_columns(matrix: Any) -> Any:
    """As Siconos wants them."""
    matrix = scipy.sparse.csc_matrix(matrix)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def reduced(numerics: Any, problem: UnitFreeProblem) -> Any:
    """Siconos' problem of N."""
    return numerics.FrictionContactProblem(
        3, problem.contacts, compressed_columns(problem.matrix()), problem.r, problem.mu)


def solve_friction(numerics: Any, problem: UnitFreeProblem, options: Any,
                   impulses: Floats) -> tuple[float, Any]:
    """Into `impulses`; @return seconds, Siconos' status."""
    given = reduced(numerics, problem)
    return timed(numerics.fc3d_driver, given, impulses, np.zeros_like(impulses), options)


def solve_global(numerics: Any, problem: UnitFreeProblem, options: Any,
                 impulses: Floats) -> tuple[float, Any]:
    """M v = H gamma, u = H^T v + r with M = 1 and H = E^T, where N = E E^T."""
    if not problem.mu.all():
        sys.exit("Siconos' interior point method divides by mu, which is 0 here")
    factor = problem.velocity_factor()
    unknowns = factor.shape[1]
    given = numerics.GlobalFrictionContactProblem()
    given.dimension, given.numberOfContacts = 3, problem.contacts
    given.M = compressed_columns(scipy.sparse.identity(unknowns))
    given.H = compressed_columns(factor.T)
    given.q, given.b, given.mu = np.zeros(unknowns), problem.r, problem.mu
    return timed(numerics.gfc3d_driver, given, impulses, np.zeros_like(impulses),
                 np.zeros(unknowns), options)


def solve_qp(numerics: Any, problem: UnitFreeProblem, options: Any,
             impulses: Floats) -> tuple[float, Any]:
    """Siconos' solvers of convex QPs take their set as a C function, which its Python interface
    cannot give; one of Siconos itself serves: onto cones of 1/mu, for the mu it is given."""
    given = reduced(numerics, problem)
    library = ctypes.CDLL(numerics._numerics.__file__)  # noqa: SLF001  (and all that it depends on)
    friction = FrictionContactProblem.from_address(int(given.this))
    with np.errstate(divide="ignore"):
        inverse_mu = 1 / problem.mu  # of 0: infinity, and back
    cones = ConesOfQp(problem=ctypes.pointer(GlobalFrictionContactProblem(
        dimension=3, contacts=problem.contacts, mu=address(inverse_mu))))
    qp = ConvexQp(size=impulses.size, m=impulses.size, env=ctypes.addressof(cones),
                  matrix=friction.matrix, q=friction.q,
                  project=ctypes.cast(library.Projection_ConvexQP_GFC3D_DualCone,
                                      ctypes.c_void_p).value)
    cones.qp = ctypes.addressof(qp)
    status = ctypes.c_int(-1)
    others = [np.zeros_like(impulses) for _ in range(3)]
    solver = library.convexQP_ADMM
    if options.solverId != numerics.SICONOS_CONVEXQP_ADMM:
        solver, others = library.convexQP_VI_solver, others[:1]
    seconds, _ = timed(solver, ctypes.byref(qp),
                       *(ctypes.c_void_p(address(one)) for one in [impulses, *others]),
                       ctypes.byref(status), ctypes.c_void_p(int(options.this)))
    return seconds, status.value


def solve_rolling(numerics: Any, problem: RollingProblem, options: Any,
                  impulses: Floats) -> tuple[float, Any]:
    """Five rows per contact. The Python interface takes no mu_r; its structure does."""
    given = numerics.RollingFrictionContactProblem()
    given.dimension, given.numberOfContacts = 5, problem.contacts
    given.M, given.q, given.mu = compressed_columns(problem.matrix), problem.r, problem.mu
    structure = RollingFrictionContactProblem.from_address(int(given.this))
    structure.mu_r = address(problem.mu_r)
    try:
        return timed(numerics.rolling_fc3d_driver, given, impulses, np.zeros_like(impulses),
                     options)
    finally:
        structure.mu_r = None  # NumPy's, not to be freed by Siconos


MANY = 10**8
# How, Siconos' name of it, limit of iterations (those of ipm each keep memory).
METHODS: dict[str, tuple[Callable[..., tuple[float, Any]], str, int]] = {
    "nsgs": (solve_friction, "FRICTION_3D_NSGS", MANY),
    "nsn_ac": (solve_friction, "FRICTION_3D_NSN_AC", MANY),
    "soclcp": (solve_friction, "FRICTION_3D_SOCLCP", MANY),
    "qp_admm": (solve_qp, "CONVEXQP_ADMM", MANY),
    "qp_vi": (solve_qp, "CONVEXQP_VI_EG", MANY),
    "ipm": (solve_global, "GLOBAL_FRICTION_3D_IPM", 300),
    "rolling_nsgs": (solve_rolling, "ROLLING_FRICTION_3D_NSGS", MANY),
    "rolling_admm": (solve_rolling, "ROLLING_FRICTION_3D_ADMM", MANY)}


def main(arguments: Sequence[str] | None = None) -> int:
    """@param arguments  as on the command line (default: its own)"""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) not in (1, 5):
        sys.exit(__doc__)
    try:
        import siconos
        from siconos import numerics
    except ImportError:
        sys.exit("Siconos is not installed (Debian: python3-siconos)")
    version = package_version() or str(getattr(siconos, "__version__", ""))
    if len(arguments) == 1:
        print(version)
        return 0
    method, path, output = arguments[:3]
    tolerance = float(arguments[4])
    problem = RollingProblem(path) if method.startswith("rolling") else UnitFreeProblem(path)
    solve, name, most_iterations = METHODS[method]
    options = numerics.SolverOptions(getattr(numerics, "SICONOS_" + name))
    options.dparam[numerics.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = most_iterations
    impulses = np.zeros(problem.r.size)
    seconds, status = solve(numerics, problem, options, impulses)
    problem.write(output, impulses, solve_time=seconds, version=version,
                  iterations=int(options.iparam[numerics.SICONOS_IPARAM_ITER_DONE]),
                  own_residual=float(options.dparam[numerics.SICONOS_DPARAM_RESIDU]),
                  own_residual_name="the residual that Siconos reports", message=f"status {status}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
