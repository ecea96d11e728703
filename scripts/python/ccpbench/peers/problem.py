"""Problems as other people's solvers want them: N + Sigma, or a factor of it, free of units.

N here is N + Sigma where contacts are compliant. With s = trace(N)/3n and q = rms(r), everything
here is of N/s and r/q; impulses of the file are q/s times those here.
"""
import os
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ccpbench.arrays import Floats
from ccpbench.problem import Assembled, Bodies, Problem, read_problem, write_answer
from ccpbench.reading import opened

DENSE_LIMIT = 6000  # rows of an assembled N that is factored as a dense matrix


class UnitFreeProblem:
    """mu [n], r [3n], and the factor E [3n x d] with N = E E^T, sparse; or N itself."""

    def __init__(self, path: str | os.PathLike[str]):
        refuse_other_constraints(path)
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


def refuse_other_constraints(path: str | os.PathLike[str]) -> None:
    """What is not said here would be left out silently."""
    with opened(path) as file:
        for group in ("rolling", "equality"):
            if group in file and any(part.size for part in file[group].values()):
                sys.exit(f"{path}: /{group}: expected nothing, peers know contacts only; found it")


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
    pairs, frame = bodies.pairs, bodies.frame
    rotates = bodies.inverse_inertia is not None
    width = 6 if rotates else 3
    root = np.sqrt(bodies.inverse_mass)
    if bodies.inverse_inertia is not None:  # L with L L^T = J^-1
        inertia, vectors = np.linalg.eigh(bodies.inverse_inertia)
        spin = vectors * np.sqrt(np.maximum(inertia, 0))[:, None, :]
    contacts = len(pairs)
    rows, columns, values = [], [], []
    for side, sign in ((0, -1.0), (1, 1.0)):
        some = np.flatnonzero(pairs[:, side] >= 0)
        body = pairs[some, side]
        block = sign * root[body][:, None, None] * frame[some]  # u = F v
        arms = (bodies.arm_a, bodies.arm_b)[side]
        if rotates and arms is not None:  # u = F (w x arm) = -F [arm]x w
            arm = arms[some]
            cross = np.zeros((len(some), 3, 3))
            cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -arm[:, 2], arm[:, 1], -arm[:, 0]
            cross -= cross.transpose(0, 2, 1)
            block = np.concatenate([block, -sign * frame[some] @ cross @ spin[body]], axis=2)
        index = np.arange(3)[None, :, None], np.arange(width)[None, None, :]
        rows.append(np.broadcast_to(3 * some[:, None, None] + index[0], block.shape).ravel())
        columns.append(np.broadcast_to(width * body[:, None, None] + index[1], block.shape).ravel())
        values.append(block.ravel())
    factor = sparse.csc_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(3 * contacts, width * len(bodies.inverse_mass)))
    factor.eliminate_zeros()
    return factor
