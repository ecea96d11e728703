"""Contact problems of steps of other engines, in our form.

With generalised velocities v, their mass matrix M, the step h and the Jacobian J of the contacts'
velocities in contact axes (n, t1, t2; normals from A to B),

    u = J v_next = N gamma + J v_free,     N = J M^-1 J^T,     r = J v_free + (gap / h, 0, 0),

where v_free = v + h M^-1 (all forces but those of contacts), and gamma = h times contact forces.
Bodies that are free of joints are kept as bodies; otherwise N is assembled.
"""
import abc
import importlib.metadata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ccpbench.arrays import Floats, Integers
from ccpbench.problem import Assembled, Bodies, Problem

MOST_STEPS = 100_000  # of an engine, to find what is asked for
SMALL = 1e-13  # blocks whose entries are so many times smaller than the largest one are not stored


# of contacts: pair, point, normal (from A to B), gap, mu, and the force on B in the world's axes
Touches: TypeAlias = Iterator[tuple[Sequence[int], Floats, Floats, float, float, Floats]]
NO_FORCE: Floats = np.zeros(3)  # where none is known


@dataclass
class Contacts:
    """n contacts as an engine tells them."""
    pair: list[tuple[int, int]] = field(default_factory=list)  # bodies A and B; -1: immovable
    point: list[Floats] = field(default_factory=list)  # [3], m
    frame: list[Floats] = field(default_factory=list)  # [3][3], rows n (from A to B), t1, t2
    gap: list[float] = field(default_factory=list)     # m
    mu: list[float] = field(default_factory=list)
    force: list[Floats] = field(default_factory=list)  # [3], N, on B, in the axes of the frame
    rows: list[list[int]] = field(default_factory=list)  # [3], of the engine; -1: there is none

    @classmethod
    def of(cls, touches: Touches) -> "Contacts":
        """Those of an engine that has normals and forces in the world's axes."""
        found = cls()
        for pair, point, normal, gap, mu, force in touches:
            frame = frame_of(normal)
            found.add(pair, point, frame, gap, mu, frame @ force)
        return found

    def add(self, pair: Sequence[int], point: Floats, frame: Floats, gap: float, mu: float,
            force: Floats = NO_FORCE, rows: Sequence[int] = ()) -> None:
        """One more, of a body that moves. What is immovable becomes A: with all axes turned, too,
        velocities and impulses stay. @param rows  the engine's, at most 3"""
        a, b = map(int, pair)
        if max(a, b) < 0:
            return
        if b < 0:
            a, b, frame = b, a, -frame
        of_engine = ([int(row) for row in rows] + [-1] * 3)[:3]
        for column, value in zip(vars(self).values(), (
                (a, b), point, frame, gap, mu, force, of_engine), strict=True):
            column.append(value)

    def add_row(self, number: int, gap: float, row: int) -> None:
        """One that is not between bodies, a limit of a joint: no friction, a number of its own."""
        self.add((-1, number), np.zeros(3), np.eye(3), gap, 0.0, rows=[row])

    def of_rows(self, values: Floats, first_for_all: bool = False) -> Floats:
        """What the engine has by rows, [rows][...], by contacts, [n][3][...]: where there is no
        such row zeros, or what the contact's first one has."""
        rows = np.reshape(self.rows, (-1, 3)).astype(int)
        if first_for_all:
            rows = np.where(rows < 0, rows[:, :1], rows)
        padded = np.concatenate([values, np.zeros((1, *values.shape[1:]))])
        found: Floats = padded[rows]
        return found

    def jacobian(self, of_body: Callable[[int, Floats], Floats], width: int) -> Floats:
        """J, [n][3][v].
        @param of_body  (body, point) -> [3][v]: of the world velocity of the body's point there
        @param width    v"""
        rows = []
        for (a, b), point, frame in zip(self.pair, self.point, self.frame, strict=True):
            moves = of_body(b, point)
            rows.append(frame @ (moves - of_body(a, point) if a >= 0 else moves))
        return np.reshape(rows, (-1, 3, width))


def frame_of(normal: Floats) -> Floats:
    """[3][3], rows n, t1, t2."""
    across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    tangent = across / np.linalg.norm(across)
    return np.array([normal, tangent, np.cross(normal, tangent)])


def engine_name(name: str, package: str) -> str:
    """With the version of its package."""
    return f"{name} {importlib.metadata.version(package)}"


def symmetric(upper: Floats) -> Floats:
    """Of its upper triangle."""
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


def dense_rows(shape: tuple[int, int], values: Floats, counts: Integers, starts: Integers,
               columns: Integers) -> Floats:
    """A matrix that is stored by rows, so many entries from a start, as a dense one."""
    entries = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    dense: Floats = np.zeros(shape)
    dense[np.repeat(np.arange(shape[0]), counts), columns[entries]] = values[entries]
    return dense


def solved(mass: Floats, jacobian: Floats) -> Floats:
    """(M^-1 J^T)^T, [n][3][v]. @param mass  M, [v][v]  @param jacobian  J, [n][3][v]"""
    found = np.linalg.solve(mass, jacobian.reshape(-1, len(mass)).T).T
    return np.asarray(found, float).reshape(jacobian.shape)


def push(impulses: ArrayLike, solved: Floats) -> Floats:
    """M^-1 J^T gamma, [v]. @param impulses  gamma, [n][3]  @param solved  (M^-1 J^T)^T"""
    pushed: Floats = np.einsum("ci,cij->j", np.reshape(impulses, (-1, 3)), solved)
    return pushed


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
              centre: Sequence[Floats], turn: Iterable[Floats] | None = None) -> Bodies:
    """Bodies without joints.
    @param mass  [b], kg  @param inertia  [b][3][3], axes of the bodies  @param centre  [b][3], of
    mass  @param turn  [b][3][3], from the bodies' axes to the world's (default: they are the same)
    """
    pairs: Integers = np.reshape(contacts.pair, (-1, 2)).astype(int)
    at = np.vstack([np.reshape(centre, (-1, 3)), np.zeros((1, 3))])  # of -1: not used
    arms = np.reshape(contacts.point, (-1, 1, 3)) - at[pairs]
    arms[pairs < 0] = 0
    own: Floats = np.reshape(list(inertia), (-1, 3, 3))
    if turn is not None:
        axes: Floats = np.reshape(list(turn), (-1, 3, 3))
        own = axes @ own @ axes.transpose(0, 2, 1)
    inverse = np.linalg.inv(own)
    return Bodies(1 / np.asarray(mass, float), (inverse + inverse.transpose(0, 2, 1)) / 2, pairs,
                  np.reshape(contacts.frame, (-1, 3, 3)), arms[:, 0], arms[:, 1], position=at[:-1])


def identities(pairs: Iterable[tuple[int, int]]) -> Integers:
    """A number per contact that it keeps from step to step: its pair, and which of its contacts."""
    seen: dict[tuple[int, int], int] = {}
    numbers = []
    for a, b in pairs:
        seen[a, b] = seen.get((a, b), -1) + 1
        numbers.append(((a + 1) << 36) + ((b + 1) << 12) + seen[a, b])
    return np.array(numbers, dtype=np.int64)


def problem(delassus: Assembled | Bodies, contacts: Contacts, free: Floats, step: float,
            engine: str, name: str = "step") -> Problem:
    """@param free  J v_free, [n][3], m/s  @param step  h, s  @param engine  name and version"""
    gap = np.array(contacts.gap)
    return Problem(name, delassus, np.array(contacts.mu),
                   free + np.column_stack([gap / step, np.zeros((len(free), 2))]), step,
                   gap=gap if isinstance(delassus, Bodies) else None,
                   identity=identities(contacts.pair),
                   guesses={"engine": step * np.reshape(contacts.force, (-1, 3))},
                   guess_methods={"engine": f"impulses of {engine}"},
                   source={"kind": "imported", "description": f"a step of {engine}"})


class Simulation(abc.ABC):
    """A scene in an engine, at the begin of a step; what a module of an engine brings.

    Made of the name of a file or a scene, and of whose model of contacts is frozen."""
    engine: ClassVar[str]  # name and version
    models: ClassVar[tuple[str, ...]] = ("rigid",)  # of contacts

    @abc.abstractmethod
    def __init__(self, source: str, contacts: str, /) -> None: ...

    @abc.abstractmethod
    def step(self) -> Problem | None:
        """Makes a step. @return its problem; none or an empty one where nothing touches"""

    def skip(self) -> None:
        """Makes a step whose problem nobody wants."""
        self.step()


def steps(engine: type[Simulation], source: str, contacts: str = "rigid", after: int = 0,
          every: int = 1) -> Iterator[tuple[int, Problem]]:
    """(number, problem) of the steps with a contact after `after` from the scene's first state,
    every so many.

    @throws ValueError  the engine does not have that model of contacts, or cannot make the scene
    """
    if contacts not in engine.models:
        raise ValueError(f"{engine.engine}: expected {' or '.join(engine.models)} contacts, found "
                         f"{contacts}")
    simulation = engine(source, contacts)
    for number in range(MOST_STEPS):
        if number < after or (number - after) % every:
            simulation.skip()
            continue
        found = simulation.step()
        if found and found.contacts:
            found.name = Path(source).stem
            yield number, found
