#!/usr/bin/env python3
"""What `ccpbench export matrix-market` and `vtk` write, against the definitions written out."""
import unittest
from xml.etree import ElementTree

import h5py
import numpy as np
from folder_case import FolderCase


def read_matrix(path):
    """A Matrix Market file as a dense array; both triangles of a symmetric one."""
    lines = path.read_text(encoding="utf-8").splitlines()
    header = lines[0].split()
    assert header[:2] == ["%%MatrixMarket", "matrix"], lines[0]
    body = [line for line in lines if not line.startswith("%")]
    shape = [int(word) for word in body[0].split()]
    if header[2] == "array":
        return np.array([float(line) for line in body[1:]]).reshape(shape, order="F")
    assert header[3:] == ["real", "symmetric"] and len(body) == shape[2] + 1
    matrix = np.zeros(shape[:2])
    for line in body[1:]:
        i, j, value = line.split()
        i, j = int(i) - 1, int(j) - 1
        assert j <= i and matrix[i, j] == 0, (i, j)
        matrix[i, j] = matrix[j, i] = float(value)
    return matrix


def jacobian(file):
    """D^T, [3n][6m]: u = D^T (v, w), contact axes."""
    pairs, frame = file["contacts/bodies"][()], file["contacts/frame"][()]
    rotates = "inverse_inertia" in file["bodies"]
    out = np.zeros((len(pairs), 3, len(file["bodies/inverse_mass"]), 6))
    for c, pair in enumerate(pairs):
        for side, body in enumerate(pair):
            if body < 0:
                continue
            sign = 2 * side - 1
            out[c, :, body, :3] += sign * frame[c]
            if rotates:
                arm = file["contacts/arm_b" if side else "contacts/arm_a"][c]
                # w x arm, row by row of the frame: axis . (w x arm) = w . (arm x axis)
                out[c, :, body, 3:] += sign * np.cross(arm, frame[c])
    return out.reshape(3 * len(pairs), 6 * out.shape[2])


def inverse_mass(file):
    m = len(file["bodies/inverse_mass"])
    out = np.zeros((m, 6, m, 6))
    for i in range(m):
        out[i, :3, i, :3] = np.eye(3) * file["bodies/inverse_mass"][i]
        if "inverse_inertia" in file["bodies"]:
            out[i, 3:, i, 3:] = file["bodies/inverse_inertia"][i]
    return out.reshape(6 * m, 6 * m)


class Export(FolderCase):
    def make(self, *arguments):
        self.run_program("generate", *arguments, "-o", "problem.h5")
        return h5py.File(self.folder / "problem.h5")

    def test_matrices_of_problems(self):
        for arguments in (("pyramid", "--rows", 3, "--mu", 0.3),
                          ("pile", "--spheres", 20, "--contacts", 45),
                          ("scene", "assembled-stack"), ("scene", "zero-contacts")):
            with self.subTest(arguments), self.make(*arguments) as file:
                written = self.run_program("export", "matrix-market", "problem.h5", "-o", "m",
                                           "--force").split()
                self.assertEqual(written, ["m-N.mtx", "m-r.mtx", "m-mu.mtx"])
                n, r, mu = (read_matrix(self.folder / name) for name in written)
                np.testing.assert_array_equal(r.ravel(), file["ccp/r"][()].ravel())
                np.testing.assert_array_equal(mu.ravel(), file["ccp/mu"][()])
                if "delassus" not in file:
                    d = jacobian(file)
                    expected = d @ inverse_mass(file) @ d.T
                    np.testing.assert_allclose(n, expected, atol=1e-13 * abs(expected).max(initial=1))
                else:  # the stack: normal parts 1, 3/2, 3/4, beside them -1, -1/2
                    np.testing.assert_allclose(n[::3, ::3], [[1.0, -1.0, 0.0], [-1.0, 1.5, -0.5],
                                                             [0.0, -0.5, 0.75]])
            (self.folder / "problem.h5").unlink()

    def test_frozen_systems(self):
        for arguments in (("pyramid", "--rows", 3, "--mu", 0.3),
                          ("pile", "--spheres", 20, "--contacts", 45),
                          ("scene", "mixed-friction-stack")):
            with self.subTest(arguments), self.make(*arguments) as file:
                self.run_program("freeze-systems", "problem.h5", "--at", "1,3", "-o", "systems.h5",
                                 "--force")
                written = self.run_program("export", "matrix-market", "systems.h5", "-o", "s",
                                           "--force").split()
                self.assertEqual(written, [f"s-{k}-{x}.mtx" for k in (1, 3) for x in "AbS"])
                self.run_program("export", "matrix-market", "problem.h5", "-o", "m", "--force")
                n, mu = read_matrix(self.folder / "m-N.mtx"), file["ccp/mu"][()]
                active = np.repeat(mu > 0, 3) | (np.arange(3 * len(mu)) % 3 == 0)
                for k in (1, 3):
                    a, b, s = (read_matrix(self.folder / f"s-{k}-{x}.mtx") for x in "AbS")
                    self.assertEqual(b.shape, (len(a), 1))
                    idle = a[~active]
                    np.testing.assert_array_equal(idle, np.eye(len(a))[~active])
                    # A - N is block diagonal and positive definite ...
                    p = (a - n)[np.ix_(active, active)]
                    blocks = np.arange(len(a))[active] // 3
                    scale = abs(a).max()
                    self.assertLess(abs(p[blocks[:, None] != blocks]).max(initial=0), 1e-13 * scale)
                    self.assertGreater(np.linalg.eigvalsh(p).min(), 0)
                    # ... and S has the eigenvalues of 1 + (A - N)^-1 N, and ones.
                    small = n[np.ix_(active, active)]
                    root = np.linalg.inv(np.linalg.cholesky(p))
                    expected = np.linalg.eigvalsh(root @ small @ root.T)[::-1]
                    found = np.linalg.eigvalsh(s)[::-1] - 1
                    size = max(len(expected), len(found))
                    expected = np.pad(expected, (0, size - len(expected)))
                    found = np.pad(found, (0, size - len(found)))
                    np.testing.assert_allclose(found, expected, atol=1e-9 * expected[0])
                    # ipm's own product: what precond calls the largest eigenvalue of A.
                rows = self.folder / "rows.h5"
                self.run_program("precond", "systems.h5", "--preconditioner", "none", "--quiet",
                                 "--max-iterations", 1, "--eigenvalue-steps", 200, "-o", rows,
                                 "--force")
                with h5py.File(rows) as table:
                    a = read_matrix(self.folder / "s-3-A.mtx")[np.ix_(active, active)]
                    at = list(table["rows/outer"][()]).index(3)
                    np.testing.assert_allclose(table["rows/eigenvalue_high"][at],
                                               np.linalg.eigvalsh(a)[-1], rtol=1e-8)
            (self.folder / "problem.h5").unlink()

    def test_frozen_systems_in_body_space(self):
        """S and b as docs/frozen-systems.md reads them, brought into the problem's order."""
        for solver in ("vipm[linear_solver=cg]", "ssn[linear_solver=cg]"):
            for arguments in (("pyramid", "--rows", 3, "--mu", 0.3),
                              ("pile", "--spheres", 20, "--contacts", 45)):
                with self.subTest((solver, arguments)), self.make(*arguments):
                    self.run_program("freeze-systems", "problem.h5", "--solver", solver, "--at",
                                     "1,2", "-o", "systems.h5", "--force")
                    written = self.run_program("export", "matrix-market", "systems.h5", "-o", "s",
                                               "--force").split()
                    self.assertEqual(written, [f"s-{k}-{x}.mtx" for k in (1, 2) for x in "Sb"])
                    with h5py.File(self.folder / "systems.h5") as file:
                        self.assertEqual((file.attrs["version"], file.attrs["space"]), (2, "body"))
                        size = int(file.attrs["block_size"])
                        offsets, columns = (file[f"pattern/{x}"][()] for x in ("row_offsets", "columns"))
                        body = file["pattern/body"][()]
                        for at, k in enumerate((1, 2)):
                            expected = np.zeros((size * len(body),) * 2)
                            rhs = np.zeros((len(body), size))
                            rhs[body] = file["systems/rhs"][at]
                            for row, first in enumerate(offsets[:-1]):
                                for place in range(first, offsets[row + 1]):
                                    i, j = size * body[row], size * body[columns[place]]
                                    block = file["systems/blocks"][at, place]
                                    expected[i:i + size, j:j + size] = block
                                    expected[j:j + size, i:i + size] = block.T
                            found, b = (read_matrix(self.folder / f"s-{k}-{x}.mtx") for x in "Sb")
                            np.testing.assert_array_equal(found, expected)
                            np.testing.assert_array_equal(b.ravel(), rhs.ravel())
                            self.assertGreater(np.linalg.eigvalsh(found).min(), 1 - 1e-9)
                (self.folder / "problem.h5").unlink()

    def pieces(self, prefix):
        """{bodies or contacts: (piece, {array: values})}, found through the .vtm."""
        out = {}
        for data in ElementTree.parse(self.folder / f"{prefix}.vtm").getroot().iter("DataSet"):
            piece = ElementTree.parse(self.folder / data.attrib["file"]).getroot().find(
                "PolyData/Piece")
            assert piece is not None
            arrays = {}
            for array in piece.iter("DataArray"):
                values = np.array((array.text or "").split(), dtype=float)
                width = int(array.get("NumberOfComponents", 1))
                arrays[array.get("Name")] = values.reshape(-1, width) if width > 1 else values
            out[data.get("name")] = (piece, arrays)
        return out

    def test_vtk(self):
        with self.make("pyramid", "--rows", 3, "--mu", 0.3) as file:
            bodies, radius = file["bodies/position"][()], file["bodies/radius"][()]
            pairs, frame = file["contacts/bodies"][()], file["contacts/frame"][()]
            d, w = jacobian(file), inverse_mass(file)
            step = file["ccp"].attrs["dt"] * np.array(file["ccp"].attrs["gravity"])
        self.run_program("solve", "problem.h5", "--solver", "lcp[edges=2]", "--stop",
                         "coulomb_residual=1e-6", "--keep-gamma", "-o", "run.h5", "--quiet")
        with h5py.File(self.folder / "run.h5") as file:
            gamma = file["final/gamma"][()]
        self.run_program("export", "vtk", "problem.h5", "--result", "run.h5", "-o", "out.vtm")
        pieces = self.pieces("out")
        piece, arrays = pieces["bodies"]
        self.assertEqual(piece.get("NumberOfPolys"), str(len(bodies) * 80))
        self.assertEqual(piece.get("NumberOfPoints"), str(len(bodies) * 42))
        body = arrays["body"].astype(int)
        np.testing.assert_allclose(np.linalg.norm(arrays["points"] - bodies[body], axis=1),
                                   radius[body], rtol=1e-7)
        velocity = (w @ d.T @ gamma.ravel()).reshape(-1, 6)
        velocity[:, :3] += step
        np.testing.assert_allclose(arrays["velocity"], velocity[body, :3], atol=1e-7)
        np.testing.assert_allclose(arrays["angular_velocity"], velocity[body, 3:], atol=1e-7)
        # Every triangle's edge belongs to two triangles, and none points inwards or outwards only.
        triangles = arrays["connectivity"].astype(int).reshape(-1, 3)
        edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]],
                                        triangles[:, [2, 0]]]), axis=1)
        self.assertTrue((np.unique(edges, axis=0, return_counts=True)[1] == 2).all())
        piece, arrays = pieces["contacts"]
        self.assertEqual(piece.get("NumberOfLines"), str(len(pairs)))
        ends = arrays["points"].reshape(-1, 2, 3)
        for c, (a, b) in enumerate(pairs):
            np.testing.assert_allclose(ends[c, 1], bodies[b])
            start = bodies[a] if a >= 0 else bodies[b] - radius[b] * frame[c, 0]
            np.testing.assert_allclose(ends[c, 0], start, atol=1e-7)
        np.testing.assert_allclose(arrays["gamma"], gamma, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(arrays["gamma_norm"], np.linalg.norm(gamma, axis=1), rtol=1e-7)
        np.testing.assert_allclose(arrays["impulse"], np.einsum("cij,ci->cj", frame, gamma),
                                   rtol=1e-7, atol=1e-9)

    def test_refusals(self):
        self.make("scene", "assembled-stack").close()
        self.assertIn("positions of the bodies",
                      self.run_program("export", "vtk", "problem.h5", "-o", "x", expect=1))
        self.run_program("export", "matrix-market", "problem.h5", "-o", "m")
        self.assertIn("an existing file",
                      self.run_program("export", "matrix-market", "problem.h5", "-o", "m", expect=1))
        self.assertIn("an existing folder", self.run_program(
            "export", "matrix-market", "problem.h5", "-o", "nowhere/m", expect=1))
        self.assertIn("a file of frozen systems", self.run_program(
            "export", "matrix-market", "problem.h5", "-o", "n", "--problem", "stack", expect=1))


if __name__ == "__main__":
    unittest.main()
