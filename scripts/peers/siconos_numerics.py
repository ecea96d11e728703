#!/usr/bin/env python3
"""Solvers of Siconos Numerics on N, free of units (N/s, r/q): its tolerances then mean the same
everywhere.

Usage: siconos_numerics.py METHOD PROBLEM.h5 OUTPUT.h5 TIME_LIMIT TOLERANCE
METHOD: nsgs, nsn_ac (Coulomb's law); soclcp (convex); with no more arguments: prints the version. Several paths of Siconos end the process: run it as a child.
"""
import subprocess
import sys
import time

import numpy as np

from problem import Problem, project

METHODS = {"nsgs": "NSGS", "nsn_ac": "NSN_AC", "soclcp": "SOCLCP"}


def package_version():
    """Of Debian's package, which says 0 of itself."""
    try:
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-siconos"],
                              capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def main(arguments):
    try:
        import siconos
        import siconos.numerics as numerics
    except ImportError:
        sys.exit("Siconos is not installed (Debian: python3-siconos)")
    version = package_version() or str(getattr(siconos, "__version__", ""))
    if len(arguments) == 1:
        print(version)
        return
    method, path, output = arguments[:3]
    tolerance = float(arguments[4])
    problem = Problem(path)
    matrix = problem.matrix().tocsc()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    given = numerics.FrictionContactProblem(3, problem.contacts, matrix, problem.r, problem.mu)
    options = numerics.SolverOptions(getattr(numerics, "SICONOS_FRICTION_3D_" + METHODS[method]))
    options.dparam[numerics.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 10**8
    r, u = np.zeros(problem.r.size), np.zeros(problem.r.size)
    begin = time.perf_counter()
    status = numerics.fc3d_driver(given, r, u, options)
    seconds = time.perf_counter() - begin
    problem.write(output, r, solve_time=seconds, version=version,
                  iterations=int(options.iparam[numerics.SICONOS_IPARAM_ITER_DONE]),
                  own_residual=float(options.dparam[numerics.SICONOS_DPARAM_RESIDU]),
                  own_residual_name="Siconos' natural map", message=f"status {status}")


if __name__ == "__main__":
    main(sys.argv[1:])
