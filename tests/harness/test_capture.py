#!/usr/bin/env python3
"""Contact problems of other engines (scripts/capture): what is frozen is what the engine has. Tests of
an engine that is not installed are skipped with its reason."""
import ast
import hashlib
import importlib
import io
import itertools
import json
import os
import sys
import tokenize
import typing
import unittest

from folder_case import PROGRAM, ROOT, FolderCase

from made_up import np

os.environ["CCPBENCH"] = PROGRAM  # the package looks for it there
sys.path.insert(0, str(ROOT / "scripts/python"))
import ccpbench
from ccpbench.capture import command, freeze, scenes

SKIPPED = 77  # what CTest is told where there is no engine


def code_lines(text):
    """How many lines of a module have code: not blank ones, comments and texts that explain."""
    nodes = [node for node in ast.walk(ast.parse(text))
             if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)]
    explain = {line for node in nodes
               for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
              tokenize.ENDMARKER)
    code = {line for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type not in layout for line in range(token.start[0], token.end[0] + 1)}
    return len(code - explain)


def dense(delassus):
    """N, [3n][3n]."""
    n = len(delassus.diagonal_blocks())
    columns = [delassus.product(column.reshape(n, 3)).ravel() for column in np.eye(3 * n)]
    return np.array(columns).T


class FreezeTest(FolderCase):
    def test_an_engine_is_at_most_60_lines(self):
        """On top of the package: whoever adds one writes no more."""
        self.assertEqual(code_lines('"""What\n\nit is."""\n\n# why\nx = (1,  # two\n     2)\n'
                                    'def f():\n    """A\n    text."""\n    return """of\nline 3"""\n'), 5)
        for name in command.ENGINES:
            with self.subTest(name):
                path = ROOT / f"scripts/python/ccpbench/capture/{name}.py"
                lines = code_lines(path.read_text("utf-8"))
                self.assertTrue(40 < lines <= 60, lines)

    def test_scenes(self):
        self.assertEqual(scenes.scene("boxes[count=3]").count("<freejoint"), 3)
        self.assertIn('gravity="4.905 0 -8.49570921"', scenes.scene("humanoid[slope=30]"))
        for name in ("boxes[count=0]", "boxes[count=x]", "boxes[size=3]", "tables", "gripper[slope=90]"):
            with self.assertRaisesRegex(ValueError, "expected a file, or one of boxes, marbles"):
                scenes.scene(name)

    def test_assembled_is_j_times_m_inverse_times_j(self):
        """And drops the blocks of contacts that have no common body."""
        random = np.random.default_rng(1)
        j = random.normal(size=(3, 3, 6))
        j[0, :, 3:] = j[1, :, :3] = 0
        mass = np.diag(random.uniform(1, 2, 6))
        n = freeze.assembled(j, j @ np.linalg.inv(mass))
        rows = j.reshape(9, 6)
        np.testing.assert_allclose(dense(n), rows @ np.linalg.inv(mass) @ rows.T, atol=1e-15)
        self.assertEqual(len(n.columns), 7)

    def test_what_is_immovable_is_a(self):
        """Ball 0 on the ground, told as a pair (ball, ground): the same velocities."""
        one, other = freeze.Contacts(), freeze.Contacts()
        at, force = np.array([0, 0, -1.0]), np.array([2.0, 0.3, 0.1])
        up = freeze.frame_of(np.array([0, 0, 1.0]))
        one.add((-1, 0), at, up, 0.0, 0.5, force)
        other.add((0, -1), at, -up, 0.0, 0.5, force)
        other.add((-1, -1), at, up, 0.0, 0.5, force)  # no contact of a body that moves
        self.assertEqual((one.pair, len(other.pair)), (other.pair, 1))
        first, second = (freeze.of_bodies(some, [2.0], [np.eye(3)], [np.zeros(3)]).product(force[None])
                         for some in (one, other))
        np.testing.assert_array_equal(first, second)

    def test_identities_are_of_pairs(self):
        numbers = freeze.identities([(-1, 0), (-1, 0), (0, 1), (-1, 1)])
        self.assertEqual(len(set(numbers)), 4)
        self.assertEqual(list(freeze.identities([(0, 1), (-1, 0), (-1, 0)])),
                         [numbers[2], numbers[0], numbers[1]])

    def test_review(self):
        """Two steps of a block, the engine's impulses right in one of them: shares by class and law."""
        from ccpbench.capture import review
        steps = []
        for k in range(2):
            step = ccpbench.read_problem(ROOT / "problems/data/sliding-block.h5")
            assert step.reference is not None
            guess = (1 - k) * step.reference
            step.name, step.guesses = f"drake-block-{k:04d}", {"engine": guess}
            step.guess_methods, step.identity = {"engine": "impulses"}, np.zeros(1, np.int64)
            steps.append(step)
        (self.folder / "steps").mkdir()
        ccpbench.write_sequence(self.folder / "steps/drake-block.h5", "drake-block", steps)
        review.OURS, review.PEERS = ("vipm", "coulomb"), ()
        self.assertEqual(review.review(self.folder / "steps", self.folder / "out", None), 0)
        convex, coulomb = (self.folder / "out/review.md").read_text("utf-8").split("### ")[1:]
        self.assertIn("| | drake rigid (2) |", convex)
        self.assertIn("| vipm (convex) | 100 / 100 / 100 |", convex)
        self.assertIn(f"| {review.OWN} | 50 / 50 / 50 |", convex)  # the reference: the convex law
        self.assertIn("| vipm (convex) | 0 / 0 / 0 |", coulomb)   # a sliding block shows the laws
        self.assertIn("| coulomb (coulomb) | 100 / 100 / 100 |", coulomb)
        self.assertTrue((self.folder / "out/review.png").stat().st_size)
        self.assertEqual([review.class_of(name) for name in (
            "mujoco-boxes-count-30-engine-0002", "mujoco-engine-0-0001")],
            ["mujoco engine", "mujoco rigid"])
        (self.folder / "none").mkdir()
        with self.assertRaisesRegex(ValueError, "expected files of captured steps"):
            review.review(self.folder / "none", self.folder / "out", None)
        (self.folder / "none/x.h5").write_text("no", encoding="utf-8")
        self.assertEqual(self.script("capture", "review", "none", "-o", "out", expect=1)[1].count("\n"), 1)

    def test_frozen_steps(self):
        """By the manifest: unchanged, with an accurate reference, and guesses of the engine."""
        data = ROOT / "problems/data"
        entries = [entry for entry in json.loads((data / "manifest.json").read_text("utf-8"))["problems"]
                   if entry["command"].startswith("ccpbench capture ")]
        self.assertEqual(len(entries), 4)
        for entry in entries:
            with self.subTest(entry["name"]):
                path = data / entry["file"]
                self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), entry["sha256"])
                problem = ccpbench.read_problem(path)
                self.assertEqual((problem.name, list(problem.guesses)), (entry["name"], ["engine"]))
                self.assertEqual(problem.source["licence"], "BSD-3-Clause")
                assert problem.reference is not None
                self.assertLess(ccpbench.residuals(problem, problem.reference)["residual"], 1e-11)
                values = np.linalg.eigvalsh(dense(problem.delassus))
                singular = problem.form == "assembled"
                self.assertEqual(values[0] < 1e-10 * values[-1], singular or "boxes" in entry["name"])

    def test_bad_input(self):
        for words in (("mujoco", "-o", "x.h5"), ("collection", "boxes", "-o", "x"), ("havok", "boxes"),
                      ("mujoco", "boxes", "-o", "x.h5", "--every", "0")):
            self.script("capture", *words, expect=2)
        (self.folder / "x.h5").touch()
        self.assertIn("exists", self.script("capture", "mujoco", "boxes", "-o", "x.h5", expect=1)[1])


class EngineTest(FolderCase):
    engines: typing.ClassVar[set[str]] = set()  # that were there

    def engine(self, name):
        try:
            module = importlib.import_module(f"ccpbench.capture.{name}")
        except ImportError as missing:
            self.skipTest(str(missing))
        self.engines.add(name)
        return module

    def problems(self, name, source, count, *more):
        return [problem for _, problem in
                itertools.islice(freeze.steps(self.engine(name).Simulation, source, *more), count)]

    def assert_physical(self, problem):
        """N is symmetric and positive semidefinite; a converged solution is one by both laws."""
        n = dense(problem.delassus)
        np.testing.assert_allclose(n, n.T, atol=1e-12 * np.abs(n).max())
        values = np.linalg.eigvalsh(n)
        self.assertGreater(values[0], -1e-11 * values[-1])
        for solver, measure in (("vipm", "residual"), ("coulomb", "coulomb_residual")):
            self.assertTrue(ccpbench.solve(problem, solver, stop=f"{measure}=1e-7").reached)

    def test_mujoco_s_own_problem_is_solved_by_mujoco(self):
        """Bodies and robots: efc_force is a solution of the convex law to MuJoCo's tolerance."""
        for scene, form in (("boxes[count=4]", "bodies"), ("humanoid[slope=10]", "assembled"),
                            ("gripper[count=2]", "assembled"), ("marbles[count=12]", "bodies")):
            with self.subTest(scene):
                problem = self.problems("mujoco", scene, 121, "engine")[120]
                self.assertEqual(problem.form, form)
                gamma = problem.guesses["engine"]
                self.assertGreater(np.abs(gamma).max(), 0)
                self.assertLess(ccpbench.residuals(problem, gamma)["residual"], 1e-5)
                run = ccpbench.solve(problem, "vipm", stop="residual=1e-9")
                assert run.gamma is not None
                scale = np.abs(problem.product(gamma)).max()
                np.testing.assert_allclose(problem.product(run.gamma), problem.product(gamma),
                                           atol=1e-3 * scale)

    def test_mujoco_s_bodies_are_its_generalised_masses(self):
        """N and r by masses, frames and arms, and by J M^-1 J^T."""
        import_of = self.engine("mujoco")
        bodies = self.problems("mujoco", "boxes[count=4,slope=20]", 31)[30]
        whole = import_of.bodies_of
        try:
            import_of.bodies_of = lambda *_: None
            generalised = self.problems("mujoco", "boxes[count=4,slope=20]", 31)[30]
        finally:
            import_of.bodies_of = whole
        self.assertEqual((bodies.form, generalised.form), ("bodies", "assembled"))
        np.testing.assert_array_equal(bodies.r, generalised.r)
        n = dense(bodies.delassus)
        np.testing.assert_allclose(dense(generalised.delassus), n, atol=1e-10 * np.abs(n).max())
        self.assert_physical(bodies)
        self.assert_physical(generalised)

    def test_joint_limits_of_mujoco(self):
        """They are contacts without friction, of one row."""
        path = self.folder / "limit.xml"
        path.write_text('<mujoco><worldbody><body><joint name="j" type="hinge" axis="0 1 0" '
                        'limited="true" range="-1 1"/><geom type="sphere" size=".1" pos=".5 0 0"/>'
                        "</body></worldbody></mujoco>", encoding="utf-8")
        found = [problem for problem in self.problems("mujoco", str(path), 400) if problem.contacts]
        self.assertTrue(found)
        self.assertEqual(list(found[0].mu), [0])
        self.assertEqual(np.count_nonzero(dense(found[0].delassus)), 1)

    def test_pinocchio(self):
        """Its ADMM solves Coulomb's law of the frozen problem."""
        problem = self.problems("pinocchio", "quadruped[slope=25]", 30)[-1]
        self.assert_physical(problem)
        measures = ccpbench.residuals(problem, problem.guesses["engine"])
        self.assertLess(measures["coulomb_residual"], 1e-6)
        with self.assertRaisesRegex(ValueError, "expected one body that moves freely, found 3"):
            self.problems("pinocchio", "boxes[count=3]", 1)
        with self.assertRaisesRegex(ValueError, "expected rigid contacts, found engine"):
            self.problems("pinocchio", "humanoid", 1, "engine")

    def test_drake(self):
        """Momentum: what is left of the velocities without the forces is v + h g for marbles."""
        problem = self.problems("drake", "marbles[count=6]", 20)[10]
        self.assertEqual(problem.form, "bodies")
        self.assert_physical(problem)
        self.assertLess(problem.gap.max(), 0)  # its contacts are those that overlap
        gamma = problem.guesses["engine"]
        weight = 9.81 * problem.dt / problem.bodies.inverse_mass
        self.assertGreater(gamma[:, 0].min(), 0)
        self.assertLess(gamma[:, 0].sum(), 3 * weight.sum())
        self.assert_physical(self.problems("drake", "quadruped[slope=10]", 20)[19])

    def test_pybullet(self):
        problem = self.problems("pybullet", "boxes[count=4]", 40)[-1]
        self.assertEqual((problem.form, problem.contacts), ("bodies", 16))
        self.assert_physical(problem)
        # At rest what the ground carries is the weight of all.
        ground = problem.bodies.pairs[:, 0] < 0
        weight = 9.81 * problem.dt / problem.bodies.inverse_mass
        self.assertAlmostEqual(problem.guesses["engine"][ground, 0].sum() / weight.sum(), 1, delta=0.05)
        with self.assertRaisesRegex(ValueError, "expected bodies that are free of joints"):
            self.problems("pybullet", "quadruped", 1)

    def test_one_command_freezes_steps(self):
        """A file that the program reads, solves from the engine's impulses, and names."""
        self.engine("mujoco")
        said, _ = self.script("capture", "mujoco", "humanoid[slope=5]", "--steps", "3", "--after", "20",
                              "--every", "2", "-o", "h.h5")
        self.assertEqual(said, "wrote h.h5: 3 steps, 8 to 8 contacts, assembled form\n")
        self.run_program("check", "h.h5")
        problem = ccpbench.read_problem(f"{self.folder}/h.h5#2")
        self.assertEqual(json.loads(problem.source["parameters"]),
                         {"engine": "mujoco", "scene": "humanoid[slope=5]", "contacts": "rigid",
                          "step": 24})
        self.run_program("solve", "h.h5#2", "--solver", "vipm", "--start", "engine", "--stop",
                         "residual=1e-8")
        self.script("capture", "mujoco", "humanoid[slope=5]", "--steps", "3", "--after", "20",
                    "--every", "2", "-o", "again.h5")
        self.assertEqual(ccpbench.read_problem(f"{self.folder}/again.h5#2").content_sha256,
                         problem.content_sha256)
        (self.folder / "bad.xml").write_text("<mujoco><worldbody>", encoding="utf-8")
        _, errors = self.script("capture", "mujoco", "bad.xml", "-o", "b.h5", expect=1)
        self.assertEqual(errors.count("\n"), 1, errors)

    def test_the_table_of_the_collection(self):
        """At least 200 problems, each once; of an engine that is here one scene is made again."""
        with command.TABLE.open(encoding="utf-8") as file:
            rows = [line.split(",") for line in file.read().splitlines()[1:]]
        self.assertGreaterEqual(len(rows), 200)
        self.assertEqual(len({row[0] for row in rows}), len(rows))
        sizes = [int(row[2]) for row in rows]
        self.assertEqual(min(sizes), 1)
        self.assertTrue(1500 < max(sizes) <= 2000, max(sizes))
        self.engine("mujoco")
        some = command.captured(*next(one for one in command.COLLECTION if "gripper" in one[1]))
        names = [row for row in rows if row[0].startswith(f"{some[0].name[:-5]}.h5#")]
        self.assertEqual([int(row[2]) for row in names], [problem.contacts for problem in some])


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    if outcome.wasSuccessful() and not EngineTest.engines:
        print("no engine is installed: what is frozen of them was not tested", file=sys.stderr)
        sys.exit(SKIPPED)
    sys.exit(not outcome.wasSuccessful())
