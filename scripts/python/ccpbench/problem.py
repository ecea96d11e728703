"""Problem files (docs/problem-format.md): u = (N + Sigma) gamma + r, K* ∋ u ⊥ gamma ∈ K.

Impulses gamma [N s], velocities u and r [m/s], all of shape [n][3] in contact axes (n, t1, t2).
"""
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
VERSION = 1


@dataclass
class Bodies:
    """N = D^T M^-1 D by its bodies; b bodies, body -1 does not move."""
    inverse_mass: Floats            # [b], 1/kg
    inverse_inertia: Floats | None  # [b][3][3], 1/(kg m^2), world axes; None: they do not rotate
    pairs: Integers                 # [n][2], body A and body B of each contact
    frame: Floats                   # [n][3][3], rows n, t1, t2 in world axes
    arm_a: Floats | None            # [n][3], m, from the centre of A to the contact
    arm_b: Floats | None

    def product(self, gamma: Floats) -> Floats:
        """N gamma, body by body."""
        inverse_mass = np.append(self.inverse_mass, 0.0)  # the last body: immovable
        a, b = (self.pairs % len(inverse_mass)).T
        world = np.einsum("cij,ci->cj", self.frame, gamma)  # on body B; body A gets the opposite
        v = inverse_mass[:, None] * self._sums(world, world)
        relative = v[b] - v[a]
        if self.inverse_inertia is not None and self.arm_a is not None and self.arm_b is not None:
            inverse_inertia = np.append(self.inverse_inertia, np.zeros((1, 3, 3)), axis=0)
            torque = self._sums(np.cross(self.arm_a, world), np.cross(self.arm_b, world))
            w = np.einsum("bij,bj->bi", inverse_inertia, torque)
            relative += np.cross(w[b], self.arm_b) - np.cross(w[a], self.arm_a)
        product: Floats = np.einsum("cij,cj->ci", self.frame, relative)
        return product

    def _sums(self, on_a: Floats, on_b: Floats) -> Floats:
        """[b + 1][3]: for each body what its contacts do to it, minus those where it is A."""
        count = len(self.inverse_mass) + 1
        a, b = (self.pairs % count).T
        return np.stack([np.bincount(b, on_b[:, axis], count) - np.bincount(a, on_a[:, axis], count)
                         for axis in range(3)], axis=1)


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


@dataclass
class Problem:
    """One problem file."""
    name: str
    delassus: Bodies | Assembled
    mu: Floats                         # [n]
    r: Floats                          # [n][3], m/s
    dt: float = 0.0                    # s; 0: not known
    compliance: Floats | None = None   # [n][3], diagonal of Sigma
    reference: Floats | None = None    # [n][3], impulses of a solution, N s
    source: dict[str, str] = field(default_factory=dict)
    content_sha256: str = ""

    @property
    def contacts(self) -> int:
        return len(self.mu)

    @property
    def form(self) -> str:
        return "bodies" if isinstance(self.delassus, Bodies) else "assembled"

    def product(self, gamma: Floats) -> Floats:
        """(N + Sigma) gamma; N of the form with bodies is never made."""
        given_way = 0.0 if self.compliance is None else self.compliance * gamma
        return self.delassus.product(gamma) + given_way

    def velocity(self, gamma: Floats) -> Floats:
        """u = (N + Sigma) gamma + r."""
        return self.product(gamma) + self.r


def read_problem(path: str | os.PathLike[str]) -> Problem:
    """A problem file.

    @throws OSError    the file cannot be read
    @throws ValueError  it is no problem file of this version
    """
    with h5py.File(path, "r") as file:
        root = file.attrs
        if root.get("format") != "ccpbench-problem" or root.get("version") != VERSION:
            raise ValueError(f"{path}: expected a ccpbench problem file of version {VERSION}, "
                             f"found {root.get('format')!r} of version {root.get('version')!r}")

        compliance = optional(file, "/contacts/compliance")
        return Problem(
            name=root["name"], delassus=read_delassus(file),
            mu=file["/ccp/mu"][()], r=file["/ccp/r"][()], dt=float(file["/ccp"].attrs.get("dt", 0)),
            compliance=None if compliance is None else compliance[:, [0, 1, 1]],
            reference=optional(file, "/reference/gamma"),
            source=dict(file["/source"].attrs) if "/source" in file else {},
            content_sha256=root["content_sha256"])


def optional(file: Any, name: str) -> Any:
    """A dataset of an open file; None: not there, or empty."""
    return file[name][()] if name in file and file[name].size else None


def read_delassus(file: Any) -> Bodies | Assembled:
    """N of an open problem file, in the form that it has."""
    if file.attrs["form"] == "assembled":
        return Assembled(file["/delassus/row_offsets"][()], file["/delassus/columns"][()],
                         file["/delassus/blocks"][()])
    return Bodies(file["/bodies/inverse_mass"][()], optional(file, "/bodies/inverse_inertia"),
                  file["/contacts/bodies"][()], file["/contacts/frame"][()],
                  optional(file, "/contacts/arm_a"), optional(file, "/contacts/arm_b"))


def write_answer(path: str | os.PathLike[str], gamma: ArrayLike,
                 history: Iterable[tuple[float, int, ArrayLike]] = (),
                 **attributes: object) -> None:
    """What ccpbench reads of somebody else's solver (docs/add-an-external-solver.md); whole or not
    at all.

    @param gamma       impulses, N s, [n][3] or [3n]
    @param history     (seconds, iterations, impulses) on the way, first to last
    @param attributes  solve_time [s], setup_time [s], iterations, version, message, ...
    """
    temporary = Path(f"{os.fspath(path)}.part")
    rows = list(history)
    with h5py.File(temporary, "w") as file:
        file["gamma"] = np.asarray(gamma, float).reshape(-1, 3)
        file.attrs.update(attributes)
        if rows:
            time, iterations, iterates = zip(*rows, strict=True)
            file["history/time"] = np.array(time, float)
            file["history/iterations"] = np.array(iterations, int)
            file["history/gamma"] = np.array(iterates, float).reshape(len(rows), -1, 3)
    temporary.replace(path)
