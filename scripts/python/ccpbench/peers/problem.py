"""Problems as other people's solvers want them: N + Sigma, or a factor of it, free of units.

N here is N + Sigma where contacts are compliant. With s = trace(N)/3n and q = rms(r), everything
here is of N/s and r/q; impulses of the file are q/s times those here.
"""
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ccpbench.arrays import Floats, Integers
from ccpbench.problem import Assembled, Bodies, Problem, read_problem, write_answer
from ccpbench.reading import opened

DENSE_LIMIT = 6000  # rows of an assembled N that is factored as a dense matrix


class UnitFreeProblem:
    """mu [n], r [3n], and the factor E [3n x d] with N = E E^T, sparse; or N itself."""

    def __init__(self, path: str | os.PathLike[str]):
        refuse_other_constraints(path, "rolling", "equality")
        problem = read_problem(path)
        self.mu: Floats = problem.mu
        self.r: Floats = problem.r.ravel()
        self.factor: Any = None
        self._matrix: Any = None
        if isinstance(problem.delassus, Bodies):
            self.factor = body_factor(problem.delassus)
            trace = self.factor.multiply(self.factor).sum()
        else:
            self._matrix = delassus_matrix(problem)
            trace = self._matrix.diagonal().sum()
        if problem.compliance is not None:  # as bodies of its own, one per row
            self._add(problem.compliance.ravel())
        self.contacts = len(self.mu)
        rows = max(3 * self.contacts, 1)
        self.scale = float(trace) / rows if trace > 0 else 1.0
        self.speed = float(np.sqrt(np.mean(self.r**2))) if self.r.any() else 1.0
        self.r = self.r / self.speed
        if self.factor is not None:
            self.factor = (self.factor / np.sqrt(self.scale)).tocsc()
        else:
            self._matrix = self._matrix / self.scale

    def _add(self, compliance: Floats) -> None:
        """Sigma to N."""
        if self.factor is not None:
            self.factor = sparse.hstack([self.factor, sparse.diags(np.sqrt(compliance))]).tocsc()
        else:
            self._matrix = self._matrix + sparse.diags(compliance).tocsr()

    @property
    def unit(self) -> float:
        """Of the impulses here, N s."""
        return self.speed / self.scale

    def matrix(self) -> Any:
        """N, sparse by rows."""
        if self._matrix is None:
            self._matrix = (self.factor @ self.factor.T).tocsr()
        return self._matrix

    def velocity_factor(self) -> Any:
        """E; of an assembled N by its eigenvectors."""
        if self.factor is None:
            if self.r.size > DENSE_LIMIT:
                sys.exit(f"N of {self.r.size} rows is too large to be factored as a dense matrix")
            values, vectors = np.linalg.eigh(self._matrix.toarray())
            kept = values > 1e-14 * max(values.max(initial=0), 1e-300)
            self.factor = sparse.csc_matrix(vectors[:, kept] * np.sqrt(values[kept]))
        return self.factor

    def write(self, path: str, impulses: ArrayLike,
              history: Iterable[tuple[float, int, ArrayLike]] = (), **attributes: object) -> None:
        """Writes impulses (free of units) as ccpbench reads them.

        @param history  (seconds, iterations, impulses) on the way
        """
        write_answer(path, np.asarray(impulses, float) * self.unit,
                     [(seconds, iterations, np.asarray(on_the_way, float) * self.unit)
                      for seconds, iterations, on_the_way in history], **attributes)


class RollingProblem:
    """The same with rolling friction, (n, t1, t2) and the moments about t1 and t2 of each contact:
    mu and mu_r [n], r [5n] and N [5n x 5n]; contacts without it have mu_r = 0. Moments are in units
    of a length times impulses, so that both kinds of rows of N have the same mean diagonal."""

    def __init__(self, path: str | os.PathLike[str]):
        refuse_other_constraints(path, "equality")
        problem = read_problem(path)
        rolling, bodies = problem.rolling, problem.delassus
        if rolling is None or not isinstance(bodies, Bodies):
            sys.exit(f"{path}: /rolling: expected rolling friction, found none")
        if rolling.used[:, 0].any():
            sys.exit(f"{path}: /rolling/rows: expected 2 everywhere, as in the cone of Siconos, "
                     f"found 3")
        if "compliant" in problem.features or rolling.compliance is not None:
            sys.exit(f"{path}: expected rigid contacts, found compliant ones")
        self.contacts = problem.contacts
        self._rolling = rolling.contact
        factor = body_factor(bodies)
        turning = turning_factor(bodies)
        squares = [part.multiply(part).sum() for part in (factor, turning)]
        self.scale = float(squares[0]) / (3 * self.contacts)
        length = float(np.sqrt(self.scale / (squares[1] / (2 * self.contacts))))
        turns = np.zeros((self.contacts, 2))
        turns[self._rolling] = rolling.r[:, 1:]
        free = np.hstack([problem.r, length * turns])
        self.speed = float(np.sqrt(np.mean(free**2))) if free.any() else 1.0
        self.mu: Floats = problem.mu
        self.mu_r: Floats = np.zeros(self.contacts)
        self.mu_r[self._rolling] = rolling.rho / length
        self.r: Floats = (free / self.speed).ravel()
        both = sparse.vstack([factor, length * turning]).tocsr()
        contact = np.arange(self.contacts)[:, None]
        rows = np.hstack([3 * contact + np.arange(3),
                          3 * self.contacts + 2 * contact + np.arange(2)]).ravel()
        both = both[rows] / np.sqrt(self.scale)
        self.matrix: Any = both @ both.T
        self._length = length

    def write(self, path: str, impulses: Floats, **attributes: object) -> None:
        """Writes impulses [5n] (free of units) as ccpbench reads them."""
        own = np.reshape(impulses, (-1, 5)) * self.speed / self.scale
        moments = np.zeros((len(self._rolling), 3))
        moments[:, 1:] = self._length * own[self._rolling, 3:]
        write_answer(path, np.vstack([own[:, :3], moments]), [], **attributes)


def refuse_other_constraints(path: str | os.PathLike[str], *groups: str) -> None:
    """What is not said here would be left out silently."""
    with opened(path) as file:
        for group in groups:
            if group in file and any(part.size for part in file[group].values()):
                sys.exit(f"{path}: /{group}: expected nothing that this peer does not know, found "
                         f"it")


def delassus_matrix(problem: Problem) -> Any:
    """N of an assembled problem as a sparse matrix, without compliance."""
    delassus = problem.delassus
    if not isinstance(delassus, Assembled):
        raise ValueError(f"{problem.name}: expected N assembled, found bodies")
    rows = 3 * (len(delassus.offsets) - 1)
    return sparse.bsr_matrix((delassus.blocks, delassus.columns, delassus.offsets),
                             shape=(rows, rows)).tocsr()


def body_factor(bodies: Bodies) -> Any:
    """D^T M^-1/2 in contact axes, from masses, frames and arms (docs/problem-format.md)."""
    rotates = bodies.inverse_inertia is not None
    root, spin = np.sqrt(bodies.inverse_mass), spin_roots(bodies)

    def block(some: Integers, body: Integers, side: int) -> Floats:
        linear: Floats = root[body][:, None, None] * bodies.frame[some]  # u = F v
        arms = (bodies.arm_a, bodies.arm_b)[side]
        if not rotates or arms is None:
            return linear
        arm = arms[some]  # u = F (w x arm) = -F [arm]x w
        cross = np.zeros((len(some), 3, 3))
        cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -arm[:, 2], arm[:, 1], -arm[:, 0]
        cross -= cross.transpose(0, 2, 1)
        both: Floats = np.concatenate([linear, -bodies.frame[some] @ cross @ spin[body]], axis=2)
        return both

    return of_sides(bodies, block, 3, 0, 6 if rotates else 3)


def turning_factor(bodies: Bodies) -> Any:
    """The same of the angular velocities about t1 and t2 of all contacts, two rows each."""
    spin = spin_roots(bodies)

    def block(some: Integers, body: Integers, _: int) -> Floats:
        turning: Floats = bodies.frame[some, 1:] @ spin[body]
        return turning

    return of_sides(bodies, block, 2, 3, 6)


def spin_roots(bodies: Bodies) -> Floats:
    """L with L L^T = J^-1, [b][3][3]."""
    if bodies.inverse_inertia is None:
        return np.zeros((len(bodies.inverse_mass), 3, 3))
    inertia, vectors = np.linalg.eigh(bodies.inverse_inertia)
    roots: Floats = vectors * np.sqrt(np.maximum(inertia, 0))[:, None, :]
    return roots


def of_sides(bodies: Bodies, block: Callable[[Integers, Integers, int], Floats], rows: int,
             first: int, width: int) -> Any:
    """A sparse matrix of `rows` rows per contact and `width` columns per body.

    @param block  of contacts, their bodies and a side (0, 1), without its sign: [k][rows][c], for
                  columns `first` to first + c of the bodies
    """
    pairs = bodies.pairs
    row, column, values = [], [], []
    for side, sign in ((0, -1.0), (1, 1.0)):
        some = np.flatnonzero(pairs[:, side] >= 0)
        body = pairs[some, side]
        own = sign * block(some, body, side)
        at = rows * some[:, None, None] + np.arange(rows)[None, :, None]
        of = width * body[:, None, None] + first + np.arange(own.shape[2])[None, None, :]
        row.append(np.broadcast_to(at, own.shape).ravel())
        column.append(np.broadcast_to(of, own.shape).ravel())
        values.append(own.ravel())
    factor = sparse.csc_matrix(
        (np.concatenate(values), (np.concatenate(row), np.concatenate(column))),
        shape=(rows * len(pairs), width * len(bodies.inverse_mass)))
    factor.eliminate_zeros()
    return factor
