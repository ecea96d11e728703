"""How the eigenvalues of frozen Newton systems are distributed, from files alone.

`ccpbench precond` finds the ends of a spectrum; here is what lies between them: stochastic Lanczos
quadrature (Golub and Meurant; Ubaru, Chen and Saad 2017) for L^-1 A L^-T, where L L^T are the 3x3
diagonal blocks of A, or L = I. Ritz values and the squares of the first components of their
eigenvectors are nodes and weights of the share of eigenvalues, averaged over random vectors.
docs/frozen-systems.md has the matrices. Bodies that rotate are refused.
"""
import h5py
import numpy as np


class FrozenSystem:
    """One system of a file of `ccpbench freeze-systems`, as products with A."""

    def __init__(self, problem, systems, number):
        if "/bodies/inverse_inertia" in problem and problem["/bodies/inverse_inertia"].size:
            raise ValueError(f"{problem.filename}: expected bodies that do not rotate")
        self.inverse_mass = np.append(problem["/bodies/inverse_mass"][()], 0.0)  # last: immovable
        self.pairs = problem["/contacts/bodies"][()] % len(self.inverse_mass)  # -1: the last one
        self.frame = problem["/contacts/frame"][()]
        mu = problem["/ccp/mu"][()]
        if not (mu > 0).all():
            raise ValueError(f"{problem.filename}: expected contacts with friction")
        w, det = systems["systems/w"][number], systems["systems/det"][number]
        scale = np.stack([mu, np.ones_like(mu), np.ones_like(mu)], axis=1)
        jordan = np.diag([1.0, -1.0, -1.0])
        self.local = (scale[:, :, None] * (w[:, :, None] * w[:, None, :] -
                                           det[:, None, None] * jordan) * scale[:, None, :])
        self.local[:, [0, 1, 2], [0, 1, 2]] += systems["regularization"][()][:, [0, 1, 1]]

    def apply(self, x):
        """A x for x of shape [n][3]."""
        world = np.einsum("cij,ci->cj", self.frame, x)
        count = len(self.inverse_mass)
        impulse = np.stack([np.bincount(self.pairs[:, 1], world[:, axis], count) -
                            np.bincount(self.pairs[:, 0], world[:, axis], count)
                            for axis in range(3)], axis=1)
        v = self.inverse_mass[:, None] * impulse
        return (np.einsum("cij,cj->ci", self.frame, v[self.pairs[:, 1]] - v[self.pairs[:, 0]]) +
                np.einsum("cij,cj->ci", self.local, x))

    def inverse_root(self):
        """L^-1 of the diagonal blocks, [n][3][3]."""
        blocks = self.local.copy()
        blocks[:, [0, 1, 2], [0, 1, 2]] += self.inverse_mass[self.pairs].sum(axis=1)[:, None]
        return np.linalg.inv(np.linalg.cholesky(blocks))


def distribution(product, contacts, steps, vectors):
    """Nodes and weights, ascending; the weights sum up to 1.
    @param product  a symmetric operator on vectors of shape [contacts][3]"""
    random = np.random.default_rng(1)
    nodes, weights = [], []
    for _ in range(vectors):
        basis = np.zeros((steps, 3 * contacts))
        diagonal, beside = [], []
        basis[0] = random.choice([-1.0, 1.0], 3 * contacts) / np.sqrt(3 * contacts)
        for step in range(steps):
            y = product(basis[step].reshape(-1, 3)).ravel()
            diagonal.append(basis[step] @ y)
            for _ in range(2):  # against all of them, twice: no copies of Ritz values
                y -= basis[:step + 1].T @ (basis[:step + 1] @ y)
            beside.append(np.linalg.norm(y))
            if step + 1 == steps or beside[-1] < 1e-12 * max(diagonal):
                break
            basis[step + 1] = y / beside[-1]
        inner = beside[:len(diagonal) - 1]
        ritz, states = np.linalg.eigh(np.diag(diagonal) + np.diag(inner, 1) + np.diag(inner, -1))
        nodes.append(ritz)
        weights.append(states[0]**2 / vectors)
    nodes, weights = np.concatenate(nodes), np.concatenate(weights)
    order = np.argsort(nodes)
    return nodes[order], weights[order]


def write_distributions(path, problem_path, systems_path, outers, steps=100, vectors=6):
    """Those of the systems frozen before the given outer iterations, without preconditioner and
    with the block-diagonal one, as groups NAME/OUTER."""
    with h5py.File(problem_path, "r") as problem, h5py.File(systems_path, "r") as systems, \
            h5py.File(path, "w") as out:
        out.attrs.update({"format": "ccpbench-spectrum", "version": 1, "steps": steps,
                          "vectors": vectors})
        frozen = systems["systems/outer"][()].tolist()
        for outer in sorted(set(outers) & set(frozen)):
            system = FrozenSystem(problem, systems, frozen.index(outer))
            root = system.inverse_root()

            def scaled(x):
                y = system.apply(np.einsum("cji,cj->ci", root, x))
                return np.einsum("cij,cj->ci", root, y)
            for name, product in (("none", system.apply), ("block_diagonal", scaled)):
                nodes, weights = distribution(product, len(root), steps, vectors)
                out[f"{name}/{outer}/node"], out[f"{name}/{outer}/weight"] = nodes, weights


def write_bounds(path, problem_path, systems_paths):
    """Lower bounds on the smallest eigenvalue of A, which Lanczos overestimates by orders of
    magnitude: that of T P(w) T + R, because N is positive semidefinite (seed 001 Sect. 4.6.2). P(w)
    has the eigenvalues det, d and det^2/d with d the largest, T P(w) T at least mu^2 times those.
    With the block-diagonal preconditioner, blocks T P(w) T + R + N_cc, N_cc = 1/m I, a contact's l
    becomes l/(l + 1/m). Groups NAME with `outer`, `none` and `block_diagonal`."""
    with h5py.File(problem_path, "r") as problem, h5py.File(path, "w") as out:
        out.attrs.update({"format": "ccpbench-bounds", "version": 1})
        mu = np.minimum(problem["/ccp/mu"][()], 1.0)
        inverse_mass = np.append(problem["/bodies/inverse_mass"][()], 0.0)  # last: immovable
        inverse_mass = inverse_mass[problem["/contacts/bodies"][()]].sum(axis=1)
        for name, systems_path in systems_paths.items():
            with h5py.File(systems_path, "r") as systems:
                w, det = systems["systems/w"][()], systems["systems/det"][()]
                half = (w**2).sum(axis=2) / 2
                largest = half + np.sqrt(np.maximum(half**2 - det**2, 0.0))
                low = mu**2 * det**2 / largest + systems["regularization"][()].min(axis=1)
                out[f"{name}/outer"] = systems["systems/outer"][()]
                out[f"{name}/none"] = low.min(axis=1)
                out[f"{name}/block_diagonal"] = (low / (low + inverse_mass)).min(axis=1)
