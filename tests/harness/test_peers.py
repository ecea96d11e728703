#!/usr/bin/env python3
"""The adapters of scripts/peers on a small pile: each peer that is installed finds our objective.

Runs the built program named by the environment variable CCPBENCH in a folder of its own. A peer that
is not installed is skipped with its reason.
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
import typing
import unittest
from dataclasses import replace

import h5py
import numpy as np

PROGRAM = os.environ.get("CCPBENCH", "")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PEERS = os.path.join(SOURCE, "scripts", "peers")
sys.path.insert(0, os.path.join(SOURCE, "scripts", "python"))
from ccpbench.problem import read_problem, write_problem  # noqa: E402  (found by the line above)

SKIPPED = 77  # what CTest is told where there is no peer: the rest says nothing about adapters
CONIC = {"scs": 1e-9, "scs-indirect": 1e-9, "clarabel": 1e-9, "ecos": 1e-9, "qoco": 1e-9}


class Peers(unittest.TestCase):
    peers: typing.ClassVar[set[str]] = set()  # that were there and solved something
    holder: "tempfile.TemporaryDirectory[str]"
    folder: str
    pile: str

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="ccpbench-test-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = cls.holder.name
        cls.pile = cls.path("pile.h5")
        cls.command("generate", "pile", "--spheres", "40", "--contacts", "110", "-o", cls.pile)
        cls.command("certify", cls.pile, "--force")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def command(cls, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=cls.folder, text=True, check=True,
                              capture_output=True, timeout=120).stdout

    def solve(self, problem, adapter, name, tolerance, law="convex", features="compliant"):
        """The referee's measures of a peer's answer."""
        words = [os.path.join(PEERS, "python"), os.path.join(PEERS, adapter), name]
        found = subprocess.run(words, text=True, capture_output=True, check=False)
        if found.returncode != 0:
            self.skipTest(found.stderr.strip().splitlines()[-1])
        command = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(
            [PROGRAM, "solve", problem, "--solver", "peer", "--features", features, "--external",
             command + " {problem} {output} {time_limit} {tolerance}", "--tolerances",
             str(tolerance), "--law", law, "--json", "--stop", "residual=1e-30", "-o",
             self.path("peer.h5"), "--force"], text=True, capture_output=True, check=False)
        result = json.loads(done.stdout)
        self.assertEqual(result["status"], "converged", result["message"])
        Peers.peers.add(name)
        with h5py.File(self.path("peer.h5")) as file:
            self.assertEqual(file["provenance"].attrs["external"],
                             f"peer {found.stdout.strip()}".strip())
            self.assertEqual(file["provenance"].attrs["clock"], "program")
        return result["measures"]

    def objective(self):
        """f of the reference, J."""
        with h5py.File(self.pile) as file:
            gamma = file["reference/gamma"][()].ravel()
        problem = self.unit_free(self.pile)
        x = gamma / problem.unit
        return (x @ (problem.matrix() @ x) / 2 + problem.r @ x) * problem.unit * problem.speed

    def unit_free(self, path):
        try:
            from ccpbench.peers.problem import UnitFreeProblem
        except ImportError as missing:
            self.skipTest(str(missing))
        return UnitFreeProblem(path)

    def test_setup_asks_for_what_the_package_needs(self):
        """Versions of engines: as in the package's extras. Debian's NumPy beside them made pip choose
        a Pinocchio whose solvers are others."""
        with open(os.path.join(SOURCE, "scripts/python/pyproject.toml"), "rb") as file:
            extras = tomllib.load(file)["project"]["optional-dependencies"]
        with open(os.path.join(PEERS, "setup"), encoding="utf-8") as file:
            script = file.read()
        for engine, what in (("mujoco", "mujoco"), ("pinocchio", "pin")):
            self.assertRegex(script, rf" {extras[engine][0]}[ \"]")
            self.assertTrue(extras[engine][0].startswith(f"{what}>="))
        self.assertNotIn("--system-site-packages", script)

    def test_compliance_is_part_of_what_peers_get(self):
        """(N + Sigma) gamma as the referee has it, by the factor and by the matrix."""
        local, soft = self.path("local.h5"), self.path("soft.h5")
        self.command("export", "fclib", self.pile, "--local", "-o", self.path("n.hdf5"), "--force")
        self.command("import", "fclib", self.path("n.hdf5"), "-o", local, "--force")
        for path in (self.pile, local):
            rigid = read_problem(path)
            compliance = np.full((rigid.contacts, 3), (10.0, 5.0, 5.0))
            write_problem(soft, replace(rigid, compliance=compliance), force=True)
            reader = read_problem(soft)
            self.assertIsNotNone(reader.compliance)
            gamma = np.random.default_rng(1).normal(size=reader.r.shape)
            expected = reader.product(gamma).ravel()
            peer = self.unit_free(soft)
            factor = peer.velocity_factor()
            for product in (peer.matrix() @ gamma.ravel(), factor @ (factor.T @ gamma.ravel())):
                np.testing.assert_allclose(product * peer.scale, expected, rtol=1e-9,
                                           atol=1e-9 * abs(expected).max())

    def test_clarabel_uses_the_threads_of_the_run(self):
        """It would take all processors: here a Clarabel that only notes what it is told."""
        from types import SimpleNamespace
        from unittest import mock
        cones = self.unit_free(self.pile)  # skips where there is no SciPy
        from ccpbench.peers import conic
        told = []

        def solver(*arguments):
            told.append(arguments[-1].max_threads)
            return SimpleNamespace(solve=lambda: SimpleNamespace(z=[0.0], iterations=0, status=""))
        fake = SimpleNamespace(DefaultSettings=SimpleNamespace, DefaultSolver=solver,
                               NonnegativeConeT=int, SecondOrderConeT=int)
        for threads in ("1", "3"):
            with mock.patch.dict(sys.modules, clarabel=fake), \
                    mock.patch.dict(os.environ, OMP_NUM_THREADS=threads):
                conic.by_clarabel(conic.Cones(cones), 1e-6, 1)
        self.assertEqual(told, [1, 3])

    def test_what_peers_do_not_know_is_refused(self):
        path = self.path("rolling.h5")
        with h5py.File(path, "w") as copy, h5py.File(self.pile) as file:
            for name in file:
                file.copy(name, copy)
            copy.attrs.update(file.attrs)
            copy["rolling/bodies"] = np.zeros((1, 2), "i4")
        with self.assertRaisesRegex(SystemExit, "rolling.h5: /rolling: expected nothing"):
            self.unit_free(path)

    def test_conic_solvers_find_our_objective(self):
        reference = self.objective()
        self.assertLess(reference, 0)
        for name, tolerance in CONIC.items():
            with self.subTest(name):
                measures = self.solve(self.pile, "conic.py", name, tolerance)
                self.assertLess(abs(measures["objective_gap"]), 1e-6 * abs(reference))
                self.assertLess(measures["residual"], 1e-3 if name == "ecos" else 1e-5)

    def test_siconos_convex_solvers_find_our_objective(self):
        for name in ("soclcp", "qp_admm", "qp_vi"):
            with self.subTest(name):
                measures = self.solve(self.pile, "siconos_numerics.py", name, 1e-8)
                self.assertLess(abs(measures["objective_gap"]), 1e-6 * abs(self.objective()))
                self.assertLess(measures["residual"], 1e-5)

    def test_siconos_interior_point_method(self):
        """On a problem on which it does not abort."""
        path = self.path("table.h5")
        self.command("generate", "scene", "hyperstatic-table", "-o", path, "--force")
        self.assertLess(self.solve(path, "siconos_numerics.py", "ipm", 1e-8)["residual"], 1e-5)

    def test_siconos_solves_coulombs_law(self):
        for name in ("nsgs", "nsn_ac"):
            with self.subTest(name):
                measures = self.solve(self.pile, "siconos_numerics.py", name, 1e-8, "coulomb")
                self.assertLess(measures["coulomb_residual"], 1e-5)

    def test_siconos_solves_rolling_friction(self):
        """Spheres whose rolling triples have two rows, by their law and by Siconos'; ours finds the same
        velocities."""
        fclib, path = self.path("rolling.hdf5"), self.path("rolling.h5")
        self.command("simulate", "rolling-pile[spheres=40,twisting=false]", "--stepper", "shake", "--solver",
                     "vipm", "--until", "0.3", "--freeze", "59", "-o", self.path("simulated.h5"), "--force")
        self.command("export", "fclib", self.path("simulated-steps.h5") + "#0", "-o", fclib, "--force")
        self.command("import", "fclib", fclib, "-o", path, "--force")
        problem = read_problem(path)
        assert problem.rolling is not None
        self.assertGreater(len(problem.rolling.contact), 20)
        for name in ("rolling_nsgs", "rolling_admm"):
            with self.subTest(name):
                measures = self.solve(path, "siconos_numerics.py", name, 1e-10, "coulomb", "rolling")
                self.assertLess(measures["coulomb_residual"], 1e-6)
        self.assertRefused(self.pile, "/rolling: expected rolling friction")

    def assertRefused(self, path, words):
        from ccpbench.peers.problem import RollingProblem
        with self.assertRaisesRegex(SystemExit, words):
            RollingProblem(path)

    def test_pinocchio(self):
        """Its ADMM by Coulomb's law and by the convex one, its PGS by the convex one."""
        path = self.path("table.h5")
        self.command("generate", "scene", "hyperstatic-table", "-o", path, "--force")
        for name, law in (("admm", "coulomb"), ("admm_convex", "convex"), ("pgs_convex", "convex")):
            with self.subTest(name):
                measures = self.solve(path, "pinocchio_contact.py", name, 1e-9, law)
                measure = "residual" if law == "convex" else "coulomb_residual"
                self.assertLess(measures[measure], 1e-6)

    def test_what_chrono_gets_is_the_problem(self):
        """J M^-1 J^T gamma + Sigma gamma as the referee has it; what a body cannot do it does not."""
        from ccpbench.peers.chrono_contact import ChronoProblem
        path = self.path("fixed.h5")
        pile = read_problem(self.pile)
        n, mass = pile.contacts, pile.bodies.inverse_mass.copy()
        inertia = np.tile(np.diag([3.0, 2.0, 1.0]), (len(mass), 1, 1))
        inertia[0], inertia[1, 2, 2], mass[2], mass[3], inertia[3] = 0, 0, 0, 0, 0
        random = np.random.default_rng(2)
        bodies = replace(pile.bodies, inverse_mass=mass, inverse_inertia=inertia,
                         arm_a=random.normal(size=(n, 3)), arm_b=random.normal(size=(n, 3)))
        compliance = random.uniform(1, 2, (n, 2))[:, [0, 1, 1]]
        write_problem(path, replace(pile, delassus=bodies, compliance=compliance), force=True)
        problem, given = read_problem(path), ChronoProblem(path)
        gamma = random.normal(size=(n, 3))
        rows = np.zeros((3 * n, 6 * len(given.mass)))
        for c, ends in enumerate(given.pairs):
            for side, body in enumerate(ends):
                if body >= 0:
                    rows[3 * c:3 * c + 3, 6 * body:6 * body + 6] += given.jacobian[c, :, side]
        inverse = np.zeros((rows.shape[1],) * 2)
        for b, (kg, own) in enumerate(zip(given.mass, given.inertia, strict=True)):
            inverse[6 * b:6 * b + 3, 6 * b:6 * b + 3] = np.eye(3) / kg
            inverse[6 * b + 3:6 * b + 6, 6 * b + 3:6 * b + 6] = np.linalg.inv(own)
        scale = np.abs(problem.r).max() / np.abs(given.r).max() / given.unit
        product = rows @ (inverse @ (rows.T @ gamma.ravel())) + (given.compliance * gamma).ravel()
        np.testing.assert_allclose(scale * product, problem.product(gamma).ravel(), rtol=1e-9, atol=1e-9)
        local = self.path("local.h5")
        self.command("export", "fclib", self.pile, "--local", "-o", self.path("n.hdf5"), "--force")
        self.command("import", "fclib", self.path("n.hdf5"), "-o", local, "--force")
        with self.assertRaisesRegex(SystemExit, "local.h5: expected the bodies form, Chrono works on"):
            ChronoProblem(local)

    def test_chrono(self):
        """Its solvers of the convex problem; its APGD where that needs no line search."""
        table, block, soft = self.path("table.h5"), self.path("block.h5"), self.path("soft-table.h5")
        for scene, path in (("hyperstatic-table", table), ("sliding-block", block)):
            self.command("generate", "scene", scene, "-o", path, "--force")
        problem = read_problem(table)
        problem.compliance, problem.reference = np.full((4, 3), (1.0, 0.5, 0.5)), None
        write_problem(soft, problem)
        for name, path in (("psor", table), ("barzilai_borwein", table), ("admm", table), ("psor", soft),
                           ("barzilai_borwein", soft), ("admm", soft), ("apgd", block)):
            with self.subTest(f"{name} on {path}"):
                self.assertLess(self.solve(path, "chrono_contact.py", name, 1e-9)["residual"], 1e-6)
        measures = self.solve(self.pile, "chrono_contact.py", "barzilai_borwein", 1e-6)
        self.assertLess(abs(measures["objective_gap"]), 1e-5 * abs(self.objective()))

    def test_mujoco_solves_its_own_problem(self):
        """That of a captured step; of other problems it makes no claim."""
        path, python = self.path("steps.h5"), os.path.join(PEERS, "python")
        probe = [python, os.path.join(PEERS, "mujoco_contact.py"), "newton"]
        if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
            self.skipTest("MuJoCo is not installed")
        subprocess.run([python, os.path.join(SOURCE, "scripts/capture"), "mujoco", "humanoid", "--steps",
                        "2", "--after", "30", "--contacts", "engine", "-o", path, "--force"], check=True)
        for name in ("newton", "cg", "pgs"):
            with self.subTest(name):
                measures = self.solve(path + "#1", "mujoco_contact.py", name, 1e-12)
                self.assertLess(measures["residual"], 1e-4)
        done = subprocess.run([*probe, self.pile, self.path("x.h5"), "1", "1e-6"], text=True,
                              capture_output=True, check=False)
        self.assertIn("expected a step that ccpbench capture froze of MuJoCo", done.stderr)

    def test_from_n_alone(self):
        fclib, local = self.path("pile.hdf5"), self.path("local.h5")
        self.command("export", "fclib", self.pile, "--local", "-o", fclib, "--force")
        self.command("import", "fclib", fclib, "-o", local, "--force")
        self.assertLess(self.solve(local, "conic.py", "clarabel", 1e-9)["residual"], 1e-5)

    def test_mu_zero(self):
        for scene in ("mixed-friction-stack", "frictionless-v-groove"):
            path = self.path(scene + ".h5")
            self.command("generate", "scene", scene, "-o", path, "--force")
            for program, name in (("conic.py", "scs"), ("siconos_numerics.py", "qp_admm")):
                with self.subTest(f"{name} on {scene}"):
                    self.assertLess(self.solve(path, program, name, 1e-9)["residual"], 1e-6)

    def test_one_command_compares(self):
        """FCLIB file in, report out; what is not installed is said."""
        fclib = self.path("again.hdf5")
        self.command("export", "fclib", self.pile, "-o", fclib, "--force")
        done = subprocess.run(
            [os.path.join(PEERS, "compare"), fclib, "-o",
             self.path("out"), "--only", "vipm,scs,siconos-soclcp", "--time-limit", "20",
             "--program", PROGRAM], text=True, capture_output=True, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.path("out"), "report.html")), done.stdout)
        solvers = set()
        for name in os.listdir(self.path("out")):
            if name.endswith(".h5"):
                with h5py.File(os.path.join(self.path("out"), name)) as file:
                    solvers.add(file.attrs["solver"])
        for name in ("scs", "siconos-soclcp"):
            self.assertNotEqual(name in solvers, f"without {name}:" in done.stdout, done.stdout)
        self.assertIn("vipm", solvers)


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    if outcome.wasSuccessful() and not Peers.peers:
        print("no peer is installed: their adapters were not tested", file=sys.stderr)
        sys.exit(SKIPPED)
    sys.exit(not outcome.wasSuccessful())
