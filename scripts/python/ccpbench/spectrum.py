"""How the eigenvalues of frozen Newton systems are distributed, from files alone.

`ccpbench precond` finds the ends of a spectrum; here is what lies between them: stochastic Lanczos
quadrature (Golub and Meurant; Ubaru, Chen and Saad 2017) for L^-1 A L^-T, where L L^T are the 3x3
diagonal blocks of A, or L = I. Ritz values and the squares of the first components of their
eigenvectors are nodes and weights of the share of eigenvalues, averaged over random vectors.
docs/frozen-systems.md has the matrices. Bodies that rotate are refused.
"""
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import h5py
import numpy as np

from ccpbench.arrays import Floats
from ccpbench.problem import Bodies, Problem, read_problem

Path = str | os.PathLike[str]


class FrozenSystem:
    """One system of a file of `ccpbench freeze-systems`: products with A = T P(w) T + R + N."""

    def __init__(self, problem: Problem, systems: Any, number: int):
        """@param systems  the open file
        @param number   of the system in it, from 0"""
        bodies, mu = problem.delassus, problem.mu
        if not isinstance(bodies, Bodies) or bodies.inverse_inertia is not None:
            raise ValueError(f"{problem.name}: expected bodies that do not rotate")
        if not (mu > 0).all():
            raise ValueError(f"{problem.name}: expected contacts with friction")
        self.bodies = bodies
        w, det = systems["systems/w"][number], systems["systems/det"][number]
        scale = np.stack([mu, np.ones_like(mu), np.ones_like(mu)], axis=1)
        jordan = np.diag([1.0, -1.0, -1.0])
        self.local = (scale[:, :, None] * (w[:, :, None] * w[:, None, :] -
                                           det[:, None, None] * jordan) * scale[:, None, :])
        self.local[:, [0, 1, 2], [0, 1, 2]] += systems["regularization"][()][:, [0, 1, 1]]

    def apply(self, x: Floats) -> Floats:
        """A x for x of shape [n][3]."""
        product: Floats = self.bodies.product(x) + np.einsum("cij,cj->ci", self.local, x)
        return product

    def inverse_root(self) -> Floats:
        """L^-1 of the diagonal blocks, [n][3][3]."""
        blocks = self.local.copy()
        blocks[:, [0, 1, 2], [0, 1, 2]] += inverse_masses(self.bodies)[:, None]
        return np.linalg.inv(np.linalg.cholesky(blocks))


def inverse_masses(bodies: Bodies) -> Floats:
    """[n]: 1/m of both bodies of a contact together, the diagonal block of N without rotation."""
    total: Floats = np.append(bodies.inverse_mass, 0.0)[bodies.pairs].sum(axis=1)
    return total


def distribution(product: Callable[[Floats], Floats], contacts: int, steps: int,
                 vectors: int) -> tuple[Floats, Floats]:
    """Nodes and weights, ascending; the weights sum up to 1.
    @param product  a symmetric operator on vectors of shape [contacts][3]"""
    random = np.random.default_rng(1)
    nodes: list[Floats] = []
    weights: list[Floats] = []
    for _ in range(vectors):
        basis = np.zeros((steps, 3 * contacts))
        diagonal: list[float] = []
        beside: list[float] = []
        basis[0] = random.choice([-1.0, 1.0], 3 * contacts) / np.sqrt(3 * contacts)
        for step in range(steps):
            y = product(basis[step].reshape(-1, 3)).ravel()
            diagonal.append(float(basis[step] @ y))
            for _ in range(2):  # against all of them, twice: no copies of Ritz values
                y -= basis[:step + 1].T @ (basis[:step + 1] @ y)
            beside.append(float(np.linalg.norm(y)))
            if step + 1 == steps or beside[-1] < 1e-12 * max(diagonal):
                break
            basis[step + 1] = y / beside[-1]
        inner = beside[:len(diagonal) - 1]
        ritz, states = np.linalg.eigh(np.diag(diagonal) + np.diag(inner, 1) + np.diag(inner, -1))
        nodes.append(ritz)
        weights.append(states[0]**2 / vectors)
    order = np.argsort(np.concatenate(nodes))
    return np.concatenate(nodes)[order], np.concatenate(weights)[order]


def write_distributions(path: Path, problem_path: Path, systems_path: Path, outers: Iterable[int],
                        steps: int = 100, vectors: int = 6) -> None:
    """Those of the systems frozen before the given outer iterations, without preconditioner and
    with the block-diagonal one, as groups NAME/OUTER."""
    problem = read_problem(problem_path)
    with h5py.File(systems_path, "r") as systems, h5py.File(path, "w") as out:
        out.attrs.update({"format": "ccpbench-spectrum", "version": 1, "steps": steps,
                          "vectors": vectors})
        frozen = systems["systems/outer"][()].tolist()
        for outer in sorted(set(outers) & set(frozen)):
            system = FrozenSystem(problem, systems, frozen.index(outer))
            root = system.inverse_root()

            def scaled(x: Floats, system: FrozenSystem = system, root: Floats = root) -> Floats:
                y = system.apply(np.einsum("cji,cj->ci", root, x))
                product: Floats = np.einsum("cij,cj->ci", root, y)
                return product
            for name, product in (("none", system.apply), ("block_diagonal", scaled)):
                nodes, weights = distribution(product, len(root), steps, vectors)
                out[f"{name}/{outer}/node"], out[f"{name}/{outer}/weight"] = nodes, weights


def write_bounds(path: Path, problem_path: Path, systems_paths: Mapping[str, Path]) -> None:
    """Lower bounds on the smallest eigenvalue of A, which Lanczos overestimates by orders of
    magnitude: that of T P(w) T + R, because N is positive semidefinite (Kleinert 2014 Sect. 4.6.2).
    P(w) has the eigenvalues det, d and det^2/d with d the largest, T P(w) T at least mu^2 times
    those.
    With the block-diagonal preconditioner, blocks T P(w) T + R + N_cc, N_cc = 1/m I, a contact's l
    becomes l/(l + 1/m). Groups NAME with `outer`, `none` and `block_diagonal`."""
    problem = read_problem(problem_path)
    if not isinstance(problem.delassus, Bodies):
        raise ValueError(f"{problem.name}: expected the form with bodies")
    mu, inverse_mass = np.minimum(problem.mu, 1.0), inverse_masses(problem.delassus)
    with h5py.File(path, "w") as out:
        out.attrs.update({"format": "ccpbench-bounds", "version": 1})
        for name, systems_path in systems_paths.items():
            with h5py.File(systems_path, "r") as systems:
                w, det = systems["systems/w"][()], systems["systems/det"][()]
                half = (w**2).sum(axis=2) / 2
                largest = half + np.sqrt(np.maximum(half**2 - det**2, 0.0))
                low = mu**2 * det**2 / largest + systems["regularization"][()].min(axis=1)
                out[f"{name}/outer"] = systems["systems/outer"][()]
                out[f"{name}/none"] = low.min(axis=1)
                out[f"{name}/block_diagonal"] = (low / (low + inverse_mass)).min(axis=1)
