"""Triples of rows beside the contacts: rolling resistance and equality constraints (joints,
motors), as problem files have them from schema version 2 on (docs/problem-format.md). Both belong
to the bodies form.

`Bodies` is what they act on: velocities (v, w) and loads (force, torque) are [b + 1][3], and
the last row is the immovable body -1.
"""
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ccpbench.arrays import Floats, Integers

if TYPE_CHECKING:
    from ccpbench.problem import Bodies

Motion = tuple[Floats, Floats]  # of all bodies, linear and angular


@dataclass
class Rolling:
    """u_r = F (w_B - w_A) + r of k of the contacts, in their axes F; the moment gamma_r [N m s] is
    in |gamma_r| <= rho gamma_n. A triple of two rows has none about the normal: both are zero
    there."""
    contact: Integers             # [k], ascending
    rho: Floats                   # [k], m
    r: Floats                     # [k][3], rad/s
    compliance: Floats | None = None  # [k][3], diagonal of Sigma, 1/(kg m^2)
    rows: Integers | None = None  # [k], 2 or 3; None: 3

    @property
    def used(self) -> NDArray[np.bool_]:
        """[k][3], which rows there are: the first one is about the normal."""
        used = np.ones((len(self.rho), 3), dtype=bool)
        if self.rows is not None:
            used[:, 0] = np.asarray(self.rows) == 3
        return used

    def add_load(self, bodies: "Bodies", gamma: Floats, load: Motion) -> None:
        """What moments gamma [k][3] do to the bodies."""
        a, b = self._pairs(bodies).T
        world = np.einsum("cij,ci->cj", self._axes(bodies), gamma)
        np.add.at(load[1], b, world)
        np.add.at(load[1], a, -world)

    def velocity(self, bodies: "Bodies", motion: Motion) -> Floats:
        """F (w_B - w_A), [k][3]."""
        a, b = self._pairs(bodies).T
        velocity: Floats = np.einsum("cij,cj->ci", self._axes(bodies),
                                     motion[1][b] - motion[1][a])
        return velocity

    def diagonal_blocks(self, bodies: "Bodies") -> Floats:
        """Of N + Sigma, [k][3][3]."""
        frame = self._axes(bodies)
        spin = bodies.spin()[self._pairs(bodies)].sum(axis=1)
        blocks: Floats = np.einsum("cik,ckl,cjl->cij", frame, spin, frame)
        return with_diagonal(blocks, self.compliance)

    def _axes(self, bodies: "Bodies") -> Floats:
        """Of the rows in use, [k][3][3]; zero of others."""
        axes: Floats = bodies.frame[self.contact] * self.used[:, :, None]
        return axes

    def _pairs(self, bodies: "Bodies") -> Integers:
        return bodies.pairs[self.contact] % (len(bodies.inverse_mass) + 1)


@dataclass
class Equality:
    """0 = J_A (v_A, w_A) + J_B (v_B, w_B) + r + Sigma gamma, up to three rows each; gamma is
    free."""
    rows: Integers                # [k], 1 to 3 in use; the others are zero in all arrays
    bodies: Integers              # [k][2], bodies A and B
    jacobian_a: Floats            # [k][3][6]
    jacobian_b: Floats
    r: Floats                     # [k][3], m/s
    compliance: Floats | None = None  # [k][3]

    def add_load(self, bodies: "Bodies", gamma: Floats, load: Motion) -> None:
        """What impulses gamma [k][3] do to the bodies."""
        for body, jacobian in self._sides(bodies):
            wrench = np.einsum("kij,ki->kj", jacobian, gamma)
            np.add.at(load[0], body, wrench[:, :3])
            np.add.at(load[1], body, wrench[:, 3:])

    def velocity(self, bodies: "Bodies", motion: Motion) -> Floats:
        """J_A (v_A, w_A) + J_B (v_B, w_B), [k][3]."""
        total = np.zeros((len(self.rows), 3))
        for body, jacobian in self._sides(bodies):
            total += np.einsum("kij,kj->ki", jacobian, np.hstack(motion)[body])
        return total

    def diagonal_blocks(self, bodies: "Bodies") -> Floats:
        """Of N + Sigma, [k][3][3]; zero in rows that are not in use."""
        inverse = np.zeros((len(bodies.inverse_mass) + 1, 6, 6))
        inverse[:-1, [0, 1, 2], [0, 1, 2]] = bodies.inverse_mass[:, None]
        inverse[:, 3:, 3:] = bodies.spin()
        blocks = np.zeros((len(self.rows), 3, 3))
        for body, jacobian in self._sides(bodies):
            blocks += np.einsum("cik,ckl,cjl->cij", jacobian, inverse[body], jacobian)
        return with_diagonal(blocks, self.compliance)

    @property
    def used(self) -> NDArray[np.bool_]:
        """[k][3], which rows there are."""
        used: NDArray[np.bool_] = np.arange(3) < np.asarray(self.rows)[:, None]
        return used

    def _sides(self, bodies: "Bodies") -> list[tuple[Integers, Floats]]:
        a, b = (self.bodies % (len(bodies.inverse_mass) + 1)).T
        return [(a, self.jacobian_a), (b, self.jacobian_b)]


def with_diagonal(blocks: Floats, diagonal: Floats | None) -> Floats:
    """The blocks [k][3][3] with [k][3] added to their diagonals."""
    if diagonal is not None:
        blocks[:, [0, 1, 2], [0, 1, 2]] += diagonal
    return blocks
