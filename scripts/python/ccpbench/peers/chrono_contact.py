"""Solvers of Chrono (Project Chrono) on the bodies of a problem, free of units (N/s, r/q): its
tolerances then mean the same everywhere. They solve the convex problem, compliance included.

Usage: chrono_contact.py METHOD PROBLEM.h5 OUTPUT.h5 TIME_LIMIT TOLERANCE
METHOD: psor, apgd, barzilai_borwein, admm; with no more arguments: prints the version.
`scripts/peers/setup chrono DIR` builds the library that is called here. Only masses and Jacobians
can be given to Chrono: a problem of which N alone is known is refused.
"""
import ctypes
import os
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ccpbench.arrays import Floats, Integers
from ccpbench.peers.problem import refuse_other_constraints
from ccpbench.places import ROOT
from ccpbench.problem import Bodies, read_problem, write_answer

LIBRARY = os.environ.get("CCPBENCH_CHRONO", str(ROOT / "build/chrono/libccpbench_chrono.so"))
MEASURES = {  # what GetError() is
    "psor": "largest change of an impulse in the last sweep",
    "apgd": "norm of the projected gradient",
    "barzilai_borwein": "norm of the projected gradient", "admm": "dual residual"}
TRIAL, MOST = 16, 1_000_000  # iterations: of the first trial; Chrono keeps two numbers of each


class Answer(NamedTuple):
    gamma: Floats  # [n][3], free of units
    setup: float   # s, of making Chrono's objects
    seconds: float  # s, of its Solve()
    iterations: int
    error: float


class ChronoProblem:
    """What Chrono gets of n contacts: mass [b], inertia [b][3][3], and the Jacobian [n][3][2][6] of
    the velocities (v, w) of bodies A and B; with s = trace(N)/3n and q = rms(r) of N/s and r/q.

    What does not move in a direction (inverse mass or inertia zero there) has a mass of 1 and a
    Jacobian of 0 in it.
    """

    def __init__(self, path: str) -> None:
        refuse_other_constraints(path)
        problem = read_problem(path)
        if not isinstance(problem.delassus, Bodies):
            sys.exit(f"{path}: expected the bodies form, Chrono works on masses and Jacobians; "
                     "found N assembled")
        bodies, n = problem.delassus, problem.contacts
        trace = float(np.einsum("cii->", bodies.diagonal_blocks()))
        scale = trace / (3 * n) if trace > 0 else 1.0
        speed = float(np.sqrt(np.mean(problem.r**2))) if problem.r.any() else 1.0
        self.unit = speed / scale  # of the impulses here, N s
        self.pairs: Integers = np.ascontiguousarray(bodies.pairs, np.int32)
        self.mu: Floats = np.ascontiguousarray(problem.mu, float)
        self.r: Floats = np.ascontiguousarray(problem.r / speed, float)
        compliance = np.zeros((n, 3)) if problem.compliance is None else problem.compliance
        self.compliance: Floats = np.ascontiguousarray(compliance / scale)
        moves = bodies.inverse_mass > 0
        self.mass: Floats = np.where(
            moves, scale / np.where(moves, bodies.inverse_mass, scale), 1.0)
        values, axes = np.linalg.eigh(bodies.spin())
        turns = values > 1e-14 * values.max(axis=1, initial=0, keepdims=True)
        spread = np.where(turns, scale / np.where(turns, values, scale), 1.0)
        self.inertia: Floats = np.ascontiguousarray(
            np.einsum("bik,bk,bjk->bij", axes, spread, axes)[:-1])
        self.jacobian = jacobian(bodies)
        ends = self.pairs  # -1 is the last body, which does not move
        self.jacobian[..., :3] *= np.append(moves, False)[ends][:, None, :, None]
        turning = np.einsum("bik,bk,bjk->bij", axes, turns.astype(float), axes)
        self.jacobian[..., 3:] = np.einsum("ckbi,cbij->ckbj", self.jacobian[..., 3:], turning[ends])

    def solve(self, library: ctypes.CDLL, method: str, tolerance: float, most: int) -> Answer:
        """From zero. Ends the process, after a line of Chrono's, if Chrono throws."""
        gamma, seconds = np.zeros_like(self.r), np.zeros(2)
        iterations, error = ctypes.c_int(), ctypes.c_double()

        def at(values: Floats | Integers) -> ctypes.c_void_p:
            return ctypes.c_void_p(values.ctypes.data)
        if library.ccpbench_chrono_solve(
                method.encode(), len(self.mass), at(self.mass), at(self.inertia), len(self.mu),
                at(self.pairs), at(self.jacobian), at(self.mu), at(self.r), at(self.compliance),
                ctypes.c_double(tolerance), most, at(gamma), at(seconds), ctypes.byref(iterations),
                ctypes.byref(error)):
            sys.exit(f"Chrono's {method} failed")
        setup, solving = seconds.tolist()
        return Answer(gamma, setup, solving, iterations.value, error.value)


def jacobian(bodies: Bodies) -> Floats:
    """[n][3][2][6], of (v, w) of A and B: u = F (v_B + w_B x arm_b) - F (v_A + w_A x arm_a)."""
    found = np.zeros((len(bodies.pairs), 3, 2, 6))
    for side, (sign, arm) in enumerate(((-1, bodies.arm_a), (1, bodies.arm_b))):
        found[:, :, side, :3] = sign * bodies.frame
        if arm is not None:  # f . (w x arm) = w . (arm x f)
            found[:, :, side, 3:] = sign * np.cross(arm[:, None, :], bodies.frame)
    return found


def within(problem: ChronoProblem, library: ctypes.CDLL, method: str, limit: float,
           tolerance: float) -> Answer:
    """Chrono knows iterations, not seconds: some are timed, then as many are made as fit."""
    begin, most = time.perf_counter(), TRIAL
    while True:
        answer = problem.solve(library, method, tolerance, most)
        left = limit - (time.perf_counter() - begin) - answer.setup
        fit = min(int(0.7 * left * most / max(answer.seconds, 1e-9)), MOST)
        if answer.iterations < most - 1 or fit <= most:  # it stopped by itself, or no time is left
            return answer
        most = fit if answer.seconds > limit / 20 else min(8 * most, fit)


def main(arguments: Sequence[str] | None = None) -> int:
    """@param arguments  as on the command line (default: its own)"""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) not in (1, 5) or arguments[0] not in MEASURES:
        sys.exit(__doc__)
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        sys.exit(f"Chrono is not there (scripts/peers/setup chrono DIR): {error}")
    library.ccpbench_chrono_version.restype = ctypes.c_char_p
    version = f"Chrono {library.ccpbench_chrono_version().decode()}"
    if len(arguments) == 1:
        print(version)
        return 0
    method, path, output = arguments[:3]
    problem = ChronoProblem(path)
    answer = within(problem, library, method, float(arguments[3]), float(arguments[4]))
    if not np.isfinite(answer.gamma).all():
        sys.exit(f"Chrono's {method} found no finite impulses in {answer.iterations} iterations")
    write_answer(output, problem.unit * answer.gamma, solve_time=answer.seconds,
                 setup_time=answer.setup, iterations=max(answer.iterations, 1), version=version,
                 own_residual=answer.error, own_residual_name=MEASURES[method])
    return 0


if __name__ == "__main__":
    sys.exit(main())
