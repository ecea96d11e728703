"""Contact problems of steps of other engines, in our form.

With generalised velocities v, their mass matrix M, the step h and the Jacobian J of the contacts'
velocities in contact axes (n, t1, t2; normals from A to B),

    u = J v_next = N gamma + J v_free,     N = J M^-1 J^T,     r = J v_free + (gap / h, 0, 0),

where v_free = v + h M^-1 (all forces but those of contacts), and gamma = h times contact forces.
Bodies that are free of joints are kept as bodies; otherwise N is assembled.
"""
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ccpbench.arrays import Floats, Integers
from ccpbench.problem import Assembled, Bodies, Problem

MOST_STEPS = 100_000  # of an engine, to find what is asked for
SMALL = 1e-13  # blocks whose entries are so many times smaller than the largest one are not stored


@dataclass
class Contacts:
    """n contacts as an engine tells them."""
    pair: list[tuple[int, int]] = field(default_factory=list)  # bodies A and B; -1: immovable
    point: list[Floats] = field(default_factory=list)  # [3], m
    frame: list[Floats] = field(default_factory=list)  # [3][3], rows n (from A to B), t1, t2
    gap: list[float] = field(default_factory=list)     # m
    mu: list[float] = field(default_factory=list)
    force: list[Floats] = field(default_factory=list)  # [3], N, on B, in the axes of the frame

    def add(self, pair: tuple[int, int], point: Floats, frame: Floats, gap: float, mu: float,
            force: Floats) -> None:
        """One more, of a body that moves. What is immovable becomes A: with all axes turned, too,
        velocities and impulses stay."""
        if max(pair) < 0:
            return
        if pair[1] < 0:
            pair, frame = (pair[1], pair[0]), -frame
        for column, value in zip(vars(self).values(), (pair, point, frame, gap, mu, force),
                                 strict=True):
            column.append(value)

    def jacobian(self, of_body: Callable[[int, Floats], Floats]) -> Floats:
        """J, [n][3][v].
        @param of_body  (body, point) -> [3][v]: of the world velocity of the body's point there"""
        rows = []
        for (a, b), point, frame in zip(self.pair, self.point, self.frame, strict=True):
            moves = of_body(b, point)
            rows.append(frame @ (moves - of_body(a, point) if a >= 0 else moves))
        return np.array(rows)


def frame_of(normal: Floats) -> Floats:
    """[3][3], rows n, t1, t2."""
    across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    tangent = across / np.linalg.norm(across)
    return np.array([normal, tangent, np.cross(normal, tangent)])


def assembled(jacobian: Floats, solved: Floats) -> Assembled:
    """N = J X as blocks, made symmetric.
    @param jacobian  J, [n][3][v]  @param solved  (M^-1 J^T)^T, the same"""
    n, width = len(jacobian), jacobian.shape[-1]
    rows = jacobian.reshape(3 * n, width) @ solved.reshape(3 * n, width).T
    rows = (rows + rows.T) / 2
    blocks = rows.reshape(n, 3, n, 3).transpose(0, 2, 1, 3)
    kept = np.abs(blocks).max(axis=(2, 3)) > SMALL * np.abs(rows).max(initial=0)
    kept[np.diag_indices(n)] = True
    return Assembled(np.append(0, np.cumsum(kept.sum(axis=1))), np.nonzero(kept)[1], blocks[kept])


def of_bodies(contacts: Contacts, mass: Sequence[float], inertia: Iterable[Floats],
              centre: Sequence[Floats]) -> Bodies:
    """Bodies without joints.
    @param mass  [b], kg  @param inertia  [b][3][3], world axes  @param centre  [b][3], of mass"""
    pairs: Integers = np.reshape(contacts.pair, (-1, 2)).astype(int)
    at = np.vstack([np.reshape(centre, (-1, 3)), np.zeros((1, 3))])  # of -1: not used
    arms = np.reshape(contacts.point, (-1, 1, 3)) - at[pairs]
    arms[pairs < 0] = 0
    inverse = np.linalg.inv(np.reshape(list(inertia), (-1, 3, 3)))
    return Bodies(1 / np.asarray(mass, float), (inverse + inverse.transpose(0, 2, 1)) / 2, pairs,
                  np.reshape(contacts.frame, (-1, 3, 3)), arms[:, 0], arms[:, 1], position=at[:-1])


def is_wanted(number: int, after: int, every: int) -> bool:
    """Whether that step is to be frozen."""
    return number >= after and (number - after) % every == 0


def identities(pairs: Iterable[tuple[int, int]]) -> Integers:
    """A number per contact that it keeps from step to step: its pair, and which of its contacts."""
    seen: dict[tuple[int, int], int] = {}
    numbers = []
    for a, b in pairs:
        seen[a, b] = seen.get((a, b), -1) + 1
        numbers.append(((a + 1) << 36) + ((b + 1) << 12) + seen[a, b])
    return np.array(numbers, dtype=np.int64)


def problem(name: str, delassus: Assembled | Bodies, contacts: Contacts, free: Floats,
            step: float, engine: str) -> Problem:
    """@param free  J v_free, [n][3], m/s  @param step  h, s  @param engine  name and version"""
    gap = np.array(contacts.gap)
    return Problem(name, delassus, np.array(contacts.mu),
                   free + np.column_stack([gap / step, np.zeros((len(free), 2))]), step,
                   gap=gap if isinstance(delassus, Bodies) else None,
                   identity=identities(contacts.pair),
                   guesses={"engine": step * np.reshape(contacts.force, (-1, 3))},
                   guess_methods={"engine": f"impulses of {engine}"},
                   source={"kind": "imported", "description": f"a step of {engine}"})
