"""Problems as other people's solvers want them: N, or a factor of it, free of units.

With s = trace(N)/3n and q = rms(r), everything here is of N/s and r/q; impulses of the file are
q/s times those here.
"""
import os
import sys

import h5py
import numpy as np
import scipy.sparse as sparse

DENSE_LIMIT = 6000  # rows of an assembled N that is factored as a dense matrix


class Problem:
    """mu [n], r [3n], and the factor E [3n x d] with N = E E^T, sparse; or N itself."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            self.form = file.attrs["form"]
            self.mu = file["/ccp/mu"][()]
            self.r = file["/ccp/r"][()].ravel()
            self.factor = self._matrix = None
            if self.form == "bodies":
                self.factor = body_factor(file)
                trace = self.factor.multiply(self.factor).sum()
            else:
                self._matrix = assembled(file)
                trace = self._matrix.diagonal().sum()
        self.contacts = len(self.mu)
        rows = max(3 * self.contacts, 1)
        self.scale = trace / rows if trace > 0 else 1.0
        self.speed = np.sqrt(np.mean(self.r**2)) if self.r.any() else 1.0
        self.r = self.r / self.speed
        if self.factor is not None:
            self.factor = (self.factor / np.sqrt(self.scale)).tocsc()
        else:
            self._matrix = self._matrix / self.scale

    def matrix(self):
        """N, sparse by rows."""
        if self._matrix is None:
            self._matrix = (self.factor @ self.factor.T).tocsr()
        return self._matrix

    def velocity_factor(self):
        """E; of an assembled N by its eigenvectors."""
        if self.factor is None:
            if self.r.size > DENSE_LIMIT:
                sys.exit(f"N of {self.r.size} rows is too large to be factored as a dense matrix")
            values, vectors = np.linalg.eigh(self._matrix.toarray())
            kept = values > 1e-14 * max(values.max(initial=0), 1e-300)
            self.factor = sparse.csc_matrix(vectors[:, kept] * np.sqrt(values[kept]))
        return self.factor

    def write(self, path, impulses, history=(), **attributes):
        """Writes impulses (free of units) as ccpbench reads them.

        history -- of (seconds, iterations, impulses)
        """
        unit = self.speed / self.scale
        temporary = path + ".part"
        with h5py.File(temporary, "w") as file:
            file["gamma"] = np.asarray(impulses, float).reshape(-1, 3) * unit
            file.attrs.update(attributes)
            if history:
                time, iterations, iterates = zip(*history)
                file["history/time"] = np.array(time, float)
                file["history/iterations"] = np.array(iterations, int)
                file["history/gamma"] = np.array(iterates, float).reshape(len(time), -1, 3) * unit
        os.replace(temporary, path)


def assembled(file):
    """N of a problem in assembled form."""
    offsets, columns = file["/delassus/row_offsets"][()], file["/delassus/columns"][()]
    blocks = file["/delassus/blocks"][()]
    rows = 3 * (len(offsets) - 1)
    return sparse.bsr_matrix((blocks, columns, offsets), shape=(rows, rows)).tocsr()


def body_factor(file):
    """D^T M^-1/2 in contact axes, from masses, frames and arms (docs/problem-format.md)."""
    inverse_mass = file["/bodies/inverse_mass"][()]
    pairs = file["/contacts/bodies"][()]
    frame = file["/contacts/frame"][()]
    rotates = "/bodies/inverse_inertia" in file and file["/bodies/inverse_inertia"].size
    width = 6 if rotates else 3
    root = np.sqrt(inverse_mass)
    if rotates:  # L with L L^T = J^-1
        values, vectors = np.linalg.eigh(file["/bodies/inverse_inertia"][()])
        spin = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
    contacts = len(pairs)
    rows, columns, values = [], [], []
    for side, sign in ((0, -1.0), (1, 1.0)):
        some = np.flatnonzero(pairs[:, side] >= 0)
        body = pairs[some, side]
        block = sign * root[body][:, None, None] * frame[some]  # u = F v
        if rotates:  # u = F (w x arm) = -F [arm]x w
            arm = file["/contacts/arm_a" if side == 0 else "/contacts/arm_b"][()][some]
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
        shape=(3 * contacts, width * len(inverse_mass)))
    factor.eliminate_zeros()
    return factor


def project(impulses, mu):
    """Onto the friction cones {mu n >= |t|}; impulses [3n]."""
    x = np.asarray(impulses, float).reshape(-1, 3)
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    inside = t <= mu * n
    top = np.where(inside, n, np.maximum(n + mu * t, 0) / (1 + mu**2))
    scale = np.where(inside, 1, mu * top / np.maximum(t, 1e-300))
    return np.column_stack([top, scale[:, None] * x[:, 1:]])
