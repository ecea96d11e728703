"""Problem files (docs/problem-format.md) and sequences of them (docs/sequence-format.md):
u = (N + Sigma) gamma + r, K* ∋ u ⊥ gamma ∈ K.

Impulses gamma [N s], velocities u and r [m/s], all of shape [n][3] in contact axes (n, t1, t2).
With rolling resistance or equality constraints gamma and u are [t][3]: the contacts' triples, then
the rolling ones, then those of the equality constraints.
"""
import hashlib
import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ccpbench.arrays import Floats, Integers
from ccpbench.pools import Equality, Motion, Rolling, with_diagonal
from ccpbench.reading import laid_out, opened, text_of

VERSIONS = (1, 2, 3)  # of contacts, with other triples, with rows of the rolling ones
Pool = TypeVar("Pool", Rolling, Equality)


@dataclass
class Bodies:
    """N = D^T M^-1 D by its bodies; b bodies, body -1 does not move."""
    inverse_mass: Floats            # [b], 1/kg
    inverse_inertia: Floats | None  # [b][3][3], 1/(kg m^2), world axes; None: they do not rotate
    pairs: Integers                 # [n][2], body A and body B of each contact
    frame: Floats                   # [n][3][3], rows n, t1, t2 in world axes
    arm_a: Floats | None            # [n][3], m, from the centre of A to the contact
    arm_b: Floats | None
    # Where the bodies are; no part of the problem.
    position: Floats | None = None     # [b][3], m, centres of mass
    orientation: Floats | None = None  # [b][4], unit quaternions w, x, y, z
    radius: Floats | None = None       # [b], m, of spheres
    velocity: Floats | None = None     # [b][6], m/s and rad/s, at the start of the step

    def product(self, gamma: Floats) -> Floats:
        """N gamma, body by body."""
        return self.relative(self.motion(self.load(gamma)))

    def load(self, gamma: Floats) -> Motion:
        """D gamma: force and torque on each body and, in the last row, on what is immovable."""
        world = np.einsum("cij,ci->cj", self.frame, gamma)  # on body B; body A gets the opposite
        if self.arm_a is None or self.arm_b is None:
            return self._sums(world, world), np.zeros((len(self.inverse_mass) + 1, 3))
        return (self._sums(world, world),
                self._sums(np.cross(self.arm_a, world), np.cross(self.arm_b, world)))

    def motion(self, load: Motion) -> Motion:
        """M^-1 times a load: linear and angular velocities."""
        return (np.append(self.inverse_mass, 0.0)[:, None] * load[0],
                np.einsum("bij,bj->bi", self.spin(), load[1]))

    def relative(self, motion: Motion) -> Floats:
        """D^T times velocities: of B against A at every contact, in contact axes."""
        v, w = motion
        a, b = (self.pairs % len(v)).T
        relative = v[b] - v[a]
        if self.arm_a is not None and self.arm_b is not None:
            relative = relative + np.cross(w[b], self.arm_b) - np.cross(w[a], self.arm_a)
        velocity: Floats = np.einsum("cij,cj->ci", self.frame, relative)
        return velocity

    def spin(self) -> Floats:
        """Inverse inertia of each body and, in the last row, of what is immovable."""
        spin = np.zeros((len(self.inverse_mass) + 1, 3, 3))
        if self.inverse_inertia is not None:
            spin[:-1] = self.inverse_inertia
        return spin

    def diagonal_blocks(self) -> Floats:
        """N_cc of every contact, [n][3][3], 1/kg, in contact axes."""
        inverse_mass = np.append(self.inverse_mass, 0.0)
        blocks = inverse_mass[self.pairs].sum(axis=1)[:, None, None] * np.eye(3)
        if self.inverse_inertia is not None and self.arm_a is not None and self.arm_b is not None:
            spin = self.spin()
            for body, arm in zip(self.pairs.T, (self.arm_a, self.arm_b), strict=True):
                cross = np.cross(arm[:, None, :], np.eye(3))  # rows arm x e_j: the transpose
                blocks = blocks + np.einsum("cik,ckl,cjl->cij", cross, spin[body], cross)
        turned: Floats = np.einsum("cik,ckl,cjl->cij", self.frame, blocks, self.frame)
        return turned

    def _sums(self, on_a: Floats, on_b: Floats) -> Floats:
        """[b + 1][3]: for each body what its contacts do to it, minus those where it is A."""
        count = len(self.inverse_mass) + 1
        a, b = (self.pairs % count).T
        sums: Floats = np.stack(
            [np.bincount(b, on_b[:, axis], count) - np.bincount(a, on_a[:, axis], count)
             for axis in range(3)], axis=1).astype(float)  # of no contacts: integers
        return sums


@dataclass
class Assembled:
    """N as 3x3 blocks, compressed by rows."""
    offsets: Integers  # [n + 1]
    columns: Integers  # [m]
    blocks: Floats     # [m][3][3], m/s per N s

    def product(self, gamma: Floats) -> Floats:
        """N gamma."""
        u = np.zeros((len(self.offsets) - 1, 3))
        rows = np.repeat(np.arange(len(u)), np.diff(self.offsets))
        np.add.at(u, rows, np.einsum("kij,kj->ki", self.blocks, gamma[self.columns]))
        return u

    def diagonal_blocks(self) -> Floats:
        """N_cc of every contact, [n][3][3], 1/kg; zero where no block is stored."""
        rows = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        diagonal = np.zeros((len(self.offsets) - 1, 3, 3))
        here = self.columns == rows
        diagonal[rows[here]] = self.blocks[here]
        return diagonal


@dataclass
class Problem:
    """One problem, or one step of a sequence."""
    name: str
    delassus: Bodies | Assembled
    mu: Floats                         # [n]
    r: Floats                          # [n][3], m/s
    dt: float = 0.0                    # s; 0: not known
    compliance: Floats | None = None   # [n][3], diagonal of Sigma
    reference: Floats | None = None    # [n][3], impulses of a solution, N s
    source: dict[str, str] = field(default_factory=dict)
    content_sha256: str = ""           # as the file says; `content_hash` works it out
    gravity: Floats = field(default_factory=lambda: np.zeros(3))  # m/s^2
    guesses: dict[str, Floats] = field(default_factory=dict)      # points to start from, N s
    guess_methods: dict[str, str] = field(default_factory=dict)   # where they come from
    gap: Floats | None = None          # [n], m
    stiffness: Floats | None = None    # [n][2], N/m
    identity: Integers | None = None   # [n], what a contact keeps in a sequence
    reference_velocity: Floats | None = None                      # [b][6], M^-1 D reference
    reference_method: str = ""
    certificate: dict[str, float] = field(default_factory=dict)   # of the reference, by measure
    rolling: Rolling | None = None
    equality: Equality | None = None

    @property
    def contacts(self) -> int:
        return len(self.mu)

    @property
    def pools(self) -> list[Rolling | Equality]:
        """What there is beside the contacts, in the order of the triples."""
        return [pool for pool in (self.rolling, self.equality) if pool is not None and len(pool.r)]

    @property
    def triples(self) -> int:
        """Of gamma and u; the number of contacts where there is nothing else."""
        return self.contacts + sum(len(pool.r) for pool in self.pools)

    @property
    def features(self) -> tuple[str, ...]:
        """What a solver must take, of compliant, rolling and equality; () for plain contacts."""
        compliant = self.compliance is not None and len(self.compliance) > 0
        return (("compliant",) if compliant else ()) + tuple(
            "rolling" if isinstance(pool, Rolling) else "equality" for pool in self.pools)

    @property
    def free_velocity(self) -> Floats:
        """r of all triples, [t][3]."""
        return np.concatenate([self.r, *(pool.r for pool in self.pools)])

    @property
    def form(self) -> str:
        return "bodies" if isinstance(self.delassus, Bodies) else "assembled"

    def diagonal_blocks(self) -> Floats:
        """(N + Sigma)_cc of every contact, [n][3][3], 1/kg, in contact axes."""
        return with_diagonal(self.delassus.diagonal_blocks(), self.compliance)

    def content_hash(self) -> str:
        """What identifies the content, whatever name, source, reference and guesses are."""
        digest = hashlib.sha256(f"ccpbench-problem 1\n{self.form}\n".encode())
        digest.update(struct.pack("<4d", self.dt, *self.gravity))
        for path, values in arrays_of(self):
            digest.update(f"/{path}\n".encode() + struct.pack("<Q", values.size))
            digest.update(values.tobytes())
        return digest.hexdigest()

    def motion(self, gamma: Floats) -> Motion:
        """M^-1 D gamma, what impulses add to the velocities of bodies: linear and angular,
        [b + 1][3] each, the last row of what is immovable. Bodies form."""
        bodies = self.bodies
        load, first = bodies.load(gamma[:self.contacts]), self.contacts
        for pool in self.pools:
            pool.add_load(bodies, gamma[first:first + len(pool.r)], load)
            first += len(pool.r)
        return bodies.motion(load)

    def product(self, gamma: Floats) -> Floats:
        """(N + Sigma) gamma; N of the form with bodies is never made."""
        if self.pools:
            bodies, motion = self.bodies, self.motion(gamma)
            product = np.concatenate([bodies.relative(motion),
                                      *(pool.velocity(bodies, motion) for pool in self.pools)])
        else:
            product = self.delassus.product(gamma)
        first = 0
        for part in (self, *self.pools):
            count = len(part.r)
            if part.compliance is not None:
                product[first:first + count] += part.compliance * gamma[first:first + count]
            first += count
        return product

    def velocity(self, gamma: Floats) -> Floats:
        """u = (N + Sigma) gamma + r."""
        return self.product(gamma) + self.free_velocity

    @property
    def bodies(self) -> Bodies:
        """@throws ValueError  only N is known"""
        if not isinstance(self.delassus, Bodies):
            raise ValueError(f"{self.name}: expected the bodies form, found N assembled")
        return self.delassus


# Shapes of a contact's or a body's row, and whether an array is there even without elements.
BOTH = (("ccp/mu", "<f8", (), True), ("ccp/r", "<f8", (3,), True))
LAYOUT = {
    "bodies": (
        *BOTH, ("bodies/inverse_mass", "<f8", (), True),
        ("bodies/inverse_inertia", "<f8", (3, 3), False), ("contacts/bodies", "<i4", (2,), True),
        ("contacts/frame", "<f8", (3, 3), True), ("contacts/arm_a", "<f8", (3,), False),
        ("contacts/arm_b", "<f8", (3,), False), ("contacts/gap", "<f8", (), False),
        ("contacts/stiffness", "<f8", (2,), False), ("bodies/position", "<f8", (3,), False),
        ("bodies/orientation", "<f8", (4,), False), ("bodies/radius", "<f8", (), False),
        ("bodies/velocity", "<f8", (6,), False), ("contacts/compliance", "<f8", (2,), False),
        ("rolling/contact", "<i4", (), False), ("rolling/rho", "<f8", (), False),
        ("rolling/r", "<f8", (3,), False), ("rolling/compliance", "<f8", (2,), False),
        ("rolling/rows", "<i4", (), False),
        ("equality/bodies", "<i4", (2,), False), ("equality/rows", "<i4", (), False),
        ("equality/jacobian_a", "<f8", (3, 6), False),
        ("equality/jacobian_b", "<f8", (3, 6), False), ("equality/r", "<f8", (3,), False),
        ("equality/compliance", "<f8", (3,), False)),
    "assembled": (
        *BOTH, ("delassus/row_offsets", "<i8", (), True), ("delassus/columns", "<i4", (), True),
        ("delassus/blocks", "<f8", (3, 3), True), ("contacts/stiffness", "<f8", (2,), False),
        ("contacts/compliance", "<f8", (2,), False)),
}


def arrays_of(problem: Problem) -> list[tuple[str, NDArray[Any]]]:
    """(path, values) of everything that the content is, in the types and the order of the file.

    @throws ValueError  an array has another shape than it should
    """
    given: dict[str, Any] = {
        "ccp/mu": problem.mu, "ccp/r": problem.r, "contacts/stiffness": problem.stiffness,
        "contacts/gap": problem.gap}
    if problem.compliance is not None:
        given["contacts/compliance"] = problem.compliance[:, :2]
    given |= {f"{group}/{name}": values
              for group, pool in (("rolling", problem.rolling), ("equality", problem.equality))
              if pool is not None for name, values in vars(pool).items()}
    if problem.rolling is not None and problem.rolling.compliance is not None:
        given["rolling/compliance"] = problem.rolling.compliance[:, :2]
    spins = False
    if isinstance(problem.delassus, Bodies):
        bodies = problem.delassus
        spins = bodies.inverse_inertia is not None and len(bodies.inverse_inertia) > 0
        given |= {"contacts/bodies": bodies.pairs, "contacts/frame": bodies.frame,
                  "contacts/arm_a": bodies.arm_a, "contacts/arm_b": bodies.arm_b}
        given |= {"bodies/" + name: getattr(bodies, name)
                  for name in ("inverse_mass", "inverse_inertia", "position", "orientation",
                               "radius", "velocity")}
    else:
        given |= {"delassus/row_offsets": problem.delassus.offsets,
                  "delassus/columns": problem.delassus.columns,
                  "delassus/blocks": problem.delassus.blocks}
    counts = {"ccp": problem.contacts, "contacts": problem.contacts,
              "bodies": len(given.get("bodies/inverse_mass", ())),
              "rolling": len(given.get("rolling/contact", ())),
              "equality": len(given.get("equality/rows", ()))}
    arrays = []
    for path, kind, row, always in LAYOUT[problem.form]:
        values = given.get(path)
        if values is None and not (always or (spins and path.startswith("contacts/arm"))):
            continue
        values = np.ascontiguousarray(() if values is None else values, dtype=kind)
        if values.size == 0 and not (always or (spins and path.startswith("contacts/arm"))):
            continue
        count = counts.get(path.partition("/")[0], len(values))
        if path == "delassus/row_offsets":
            count = problem.contacts + 1
        if values.size and values.shape != (count, *row):
            raise ValueError(f"{problem.name}: /{path}: expected the shape {(count, *row)}, found "
                             f"{values.shape}")
        arrays.append((path, values))
    return arrays


def read_problem(path: str | os.PathLike[str]) -> Problem:
    """A problem file, or FILE#3: a step of a sequence.

    @throws OSError    the file cannot be read
    @throws ValueError  it is no problem file of this version, or has no such step
    """
    name, _, step = os.fspath(path).rpartition("#")
    if name and step.isdecimal() and not os.path.exists(path):
        steps = read_sequence(name, int(step))
        return steps[0]
    with opened(path) as file:
        return problem_of(file, os.fspath(path))


def read_sequence(path: str | os.PathLike[str], only: int | None = None) -> list[Problem]:
    """All steps of a sequence, in their order.
    @param only  the number of the one step that is wanted

    @throws OSError    the file cannot be read
    @throws ValueError  it is no sequence of this version, or has no such step
    """
    with opened(path) as file:
        refuse_others(file, "sequence", os.fspath(path))
        names = sorted(file["steps"])
        if only is not None and only >= len(names):
            raise ValueError(f"{os.fspath(path)}: expected a step below {len(names)}, found {only}")
        return [problem_of(file["steps"][name], f"{os.fspath(path)}#{int(name)}")
                for name in (names if only is None else names[only:only + 1])]


def refuse_others(group: Any, kind: str, where: str) -> None:
    """@throws ValueError if it is something else, or of another version"""
    root, versions = group.attrs, VERSIONS if kind == "problem" else (1,)
    if root.get("format") != f"ccpbench-{kind}" or root.get("version") not in versions:
        raise ValueError(f"{where}: expected a ccpbench {kind} file of version "
                         f"{' or '.join(map(str, versions))}, "
                         f"found {root.get('format')!r} of version {root.get('version')}")


def problem_of(group: Any, where: str) -> Problem:
    """The problem in a group that is laid out like a problem file."""
    refuse_others(group, "problem", where)
    with laid_out(where):
        root, ccp = group.attrs, group["ccp"].attrs
        compliance = optional(group, "contacts/compliance")
        about = dict(group["reference"].attrs) if "reference" in group else {}
        problem = Problem(
            name=text_of(root, "name"), delassus=read_delassus(group),
            mu=group["ccp/mu"][()], r=group["ccp/r"][()], dt=float(ccp.get("dt", 0)),
            compliance=None if compliance is None else compliance[:, [0, 1, 1]],
            reference=group["reference/gamma"][()] if "reference/gamma" in group else None,
            source=dict(group["source"].attrs) if "source" in group else {},
            content_sha256=text_of(root, "content_sha256"),
            gravity=np.array(ccp.get("gravity", np.zeros(3)), float),
            guesses={name: guess["gamma"][()] for name, guess in group["guesses"].items()}
            if "guesses" in group else {},
            guess_methods={name: str(guess.attrs.get("method", ""))
                           for name, guess in group["guesses"].items()}
            if "guesses" in group else {},
            gap=optional(group, "contacts/gap"), stiffness=optional(group, "contacts/stiffness"),
            identity=optional(group, "contacts/identity"),
            reference_velocity=optional(group, "reference/velocity"),
            reference_method=str(about.pop("method", "")),
            certificate={name: float(value) for name, value in about.items()},
            rolling=read_pool(group, "rolling", Rolling),
            equality=read_pool(group, "equality", Equality))
        refuse_damage(problem)
        return problem


def refuse_damage(problem: Problem) -> None:
    """What the arrays say must fit together (`ccpbench check` says more).

    @throws ValueError  it does not
    """
    n, delassus = problem.contacts, problem.delassus
    for path, values in arrays_of(problem):
        if not np.isfinite(values).all():
            raise ValueError(f"/{path}: expected finite numbers, found others")
    numbers = {"attribute gravity of /ccp": (problem.gravity, (3,)),
               "/contacts/identity": (problem.identity, (n,)),
               "/contacts/compliance": (problem.compliance, (n, 3)),
               "/reference/gamma": (problem.reference, (problem.triples, 3)),
               **{f"/guesses/{name}/gamma": (guess, (problem.triples, 3))
                  for name, guess in problem.guesses.items()}}
    for path, (given, shape) in numbers.items():
        if given is not None and np.shape(given) != shape:
            raise ValueError(f"{path}: expected the shape {shape}, found {np.shape(given)}")
    if isinstance(delassus, Bodies):
        in_range("/contacts/bodies", delassus.pairs, -1, len(delassus.inverse_mass))
        arms = delassus.arm_a is not None and delassus.arm_b is not None
        if n and delassus.inverse_inertia is not None and not arms:
            raise ValueError("/contacts/arm_a, arm_b: expected both with /bodies/inverse_inertia")
    else:
        in_range("/delassus/columns", delassus.columns, 0, n)
        offsets = delassus.offsets
        if offsets[0] != 0 or offsets[-1] != len(delassus.columns) or np.any(np.diff(offsets) < 0):
            raise ValueError(f"/delassus/row_offsets: expected ascending numbers from 0 to "
                             f"{len(delassus.columns)}, found others")
        if len(delassus.blocks) != len(delassus.columns):
            raise ValueError(f"/delassus/blocks: expected {len(delassus.columns)}, found "
                             f"{len(delassus.blocks)}")
    if problem.rolling is not None:
        in_range("/rolling/contact", problem.rolling.contact, 0, n)
        if problem.rolling.rows is not None:
            in_range("/rolling/rows", problem.rolling.rows, 2, 4)
    if problem.equality is not None:
        in_range("/equality/bodies", problem.equality.bodies, -1,
                 len(problem.bodies.inverse_mass))
    if problem.content_hash() != problem.content_sha256:
        raise ValueError(f"attribute content_sha256: expected the hash of the content, "
                         f"{problem.content_hash()}, found {problem.content_sha256}")


def in_range(path: str, numbers: Integers, first: int, end: int) -> None:
    """@throws ValueError  a number is not one of first, ..., end - 1"""
    if np.size(numbers) and not first <= np.min(numbers) <= np.max(numbers) < end:
        raise ValueError(f"{path}: expected numbers from {first} to {end - 1}, found "
                         f"{np.min(numbers)} to {np.max(numbers)}")


def optional(group: Any, name: str) -> Any:
    """A dataset of an open file; None: not there, or empty."""
    return group[name][()] if name in group and group[name].size else None


def read_pool(group: Any, name: str, kind: type[Pool]) -> Pool | None:
    """Triples beside the contacts; None: there are none."""
    needed = [part.name for part in fields(kind) if part.default is MISSING]
    if optional(group, f"{name}/{needed[0]}") is None:
        return None
    parts = {part.name: optional(group, f"{name}/{part.name}") for part in fields(kind)
             if part.default is not MISSING}
    if name == "rolling" and parts["compliance"] is not None:
        parts["compliance"] = parts["compliance"][:, [0, 1, 1]]
    return kind(**{part: group[f"{name}/{part}"][()] for part in needed}, **parts)


def read_delassus(group: Any) -> Bodies | Assembled:
    """N of an open problem file, in the form that it has."""
    if group.attrs["form"] == "assembled":
        return Assembled(group["delassus/row_offsets"][()], group["delassus/columns"][()],
                         group["delassus/blocks"][()])
    return Bodies(group["bodies/inverse_mass"][()], optional(group, "bodies/inverse_inertia"),
                  group["contacts/bodies"][()], group["contacts/frame"][()],
                  optional(group, "contacts/arm_a"), optional(group, "contacts/arm_b"),
                  *(optional(group, "bodies/" + name)
                    for name in ("position", "orientation", "radius", "velocity")))


@contextmanager
def whole_or_not(path: str | os.PathLike[str], force: bool = True) -> Iterator[Any]:
    """A new HDF5 file, which is there under its name when it is complete.

    @throws FileExistsError  if there is one, without `force`
    """
    if not force and os.path.exists(path):
        raise FileExistsError(f"{os.fspath(path)}: exists; force=True replaces it")
    temporary = Path(f"{os.fspath(path)}.{os.getpid()}.part")
    try:
        with h5py.File(temporary, "w") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_problem(path: str | os.PathLike[str], problem: Problem, force: bool = False) -> None:
    """A problem file that the program reads, content hash included (`ccpbench check` says what is
    wrong with its content).

    @throws FileExistsError  if there is one, without `force`
    @throws ValueError       an array has another shape than it should
    """
    with whole_or_not(path, force) as file:
        fill_problem(file, problem)


def write_sequence(path: str | os.PathLike[str], name: str, steps: Sequence[Problem],
                   force: bool = False) -> None:
    """Consecutive steps of one scene in one file. @throws as write_problem does"""
    for number, step in enumerate(steps):
        if step.identity is None or len(step.identity) != step.contacts:
            raise ValueError(f"{name}#{number}: expected an identity of each of the "
                             f"{step.contacts} contacts, found {step.identity}")
    with whole_or_not(path, force) as file:
        file.attrs.update({"format": "ccpbench-sequence", "version": np.int64(1),
                           "name": name})
        for number, step in enumerate(steps):
            fill_problem(file.create_group(f"steps/{number:04d}"), step)


def fill_problem(group: Any, problem: Problem) -> None:
    """Writes a problem into an empty group."""
    version = 2 if problem.pools else 1
    if problem.rolling is not None and problem.rolling.rows is not None:
        version = 3
    group.attrs.update({"format": "ccpbench-problem", "version": np.int64(version),
                        "name": problem.name, "form": problem.form,
                        "content_sha256": problem.content_hash()})
    for path, values in arrays_of(problem):
        group[path] = values
    group["ccp"].attrs["dt"] = float(problem.dt)
    if np.any(problem.gravity):
        group["ccp"].attrs["gravity"] = np.asarray(problem.gravity, float)
    if problem.identity is not None:
        group["contacts/identity"] = np.asarray(problem.identity, "<i8")
    if problem.reference is not None:
        group["reference/gamma"] = np.asarray(problem.reference, "<f8")
        group["reference"].attrs.update({"method": problem.reference_method or "not told",
                                         **problem.certificate})
        if problem.reference_velocity is not None:
            group["reference/velocity"] = np.asarray(problem.reference_velocity, "<f8")
    for name, gamma in problem.guesses.items():
        if not re.fullmatch("[A-Za-z0-9_-]+", name):
            raise ValueError(f"{problem.name}: guess: expected a name of letters, digits, - and _, "
                             f"found {name!r}")
        group[f"guesses/{name}/gamma"] = np.asarray(gamma, "<f8")
        group[f"guesses/{name}"].attrs["method"] = problem.guess_methods.get(name, "not told")
    group.create_group("source").attrs.update(problem.source)


def write_answer(path: str | os.PathLike[str], gamma: ArrayLike,
                 history: Iterable[tuple[float, int, ArrayLike]] = (),
                 **attributes: object) -> None:
    """What ccpbench reads of somebody else's solver (docs/add-an-external-solver.md); whole or not
    at all.

    @param gamma       impulses, N s, [n][3] or [3n]
    @param history     (seconds, iterations, impulses) on the way, first to last
    @param attributes  solve_time [s], setup_time [s], iterations, version, message, ...
    """
    rows = list(history)
    with whole_or_not(path) as file:
        file["gamma"] = np.asarray(gamma, float).reshape(-1, 3)
        file.attrs.update(attributes)
        if rows:
            time, iterations, iterates = zip(*rows, strict=True)
            file["history/time"] = np.array(time, float)
            file["history/iterations"] = np.array(iterations, int)
            file["history/gamma"] = np.array(iterates, float).reshape(len(rows), -1, 3)
