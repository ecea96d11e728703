#!/usr/bin/env python3
"""The Python package drives the program: problems written here and read there, measures of both,
runs, studies, functions as solvers, the notebook of docs/examples."""
import contextlib
import dataclasses
import io
import json
import math
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from folder_case import PROGRAM, ROOT, FolderCase

from made_up import h5py, np, write_result

os.environ["CCPBENCH"] = PROGRAM  # the package looks for it there
sys.path.insert(0, str(ROOT / "scripts/python"))
import ccpbench
from ccpbench import frames, measures, referee

DATA = ROOT / "problems/data"
PROBLEMS = ("hyperstatic-table", "assembled-stack", "frictionless-slope", "mass-ratio-stack",
            "separating-spheres", "zero-contacts")


def fields(problem):
    """Everything, as np.testing compares it."""
    return {**vars(problem), "delassus": (problem.form, vars(problem.delassus))}


def with_joints(random):
    """80 contacts of 30 bodies that rotate, rolling resistance at 20, joints of 1 to 3 rows."""
    problem = ccpbench.generate("pile", spheres=30, contacts=80)
    n, m, rows = problem.contacts, 30, np.array([1, 2, 3, 3])
    bodies = problem.bodies
    turn = random.normal(size=(m, 3, 3))
    bodies.inverse_inertia = turn @ turn.transpose(0, 2, 1) + np.eye(3)
    bodies.arm_a, bodies.arm_b = random.normal(size=(2, n, 3))
    problem.rolling = ccpbench.Rolling(
        np.sort(random.choice(n, 20, replace=False)), random.uniform(0, 0.3, 20),
        random.normal(size=(20, 3)), random.uniform(size=(20, 2))[:, [0, 1, 1]])
    used = (np.arange(3) < rows[:, None])[:, :, None]
    problem.equality = ccpbench.Equality(
        rows, np.array([[-1, 3], [2, 5], [7, 1], [4, -1]]), random.normal(size=(4, 3, 6)) * used,
        random.normal(size=(4, 3, 6)) * used, random.normal(size=(4, 3)) * used[:, :, 0])
    problem.reference = problem.reference_velocity = None
    problem.certificate = {}
    return problem


def of_two_rows(rolling):
    """Half of the triples without their row about the normal."""
    two = dataclasses.replace(rolling, rows=np.tile([2, 3], len(rolling.rho) // 2))
    two.r, two.compliance = two.r * two.used, two.compliance * two.used
    return two


def in_use(problem, gamma, *kinds):
    """Impulses without those in rows that are not there, of pools of these kinds."""
    used = [pool.used if isinstance(pool, kinds) else np.ones_like(pool.used) for pool in problem.pools]
    return np.where(np.concatenate([np.ones((problem.contacts, 3), bool), *used]), gamma, 0)


class WriteTest(FolderCase):
    def test_what_is_written_is_what_was_read(self):
        """Every problem of the catalogue that is small, and its hash."""
        for path in sorted(DATA.glob("*.h5")):
            if path.stat().st_size > 200_000:
                continue
            with self.subTest(path.name), h5py.File(path) as file:
                copy = self.folder / path.name
                if file.attrs["format"] == "ccpbench-sequence":
                    steps = ccpbench.read_sequence(path)
                    ccpbench.write_sequence(copy, file.attrs["name"], steps)
                    read = ccpbench.read_sequence(copy)
                    self.assertEqual(ccpbench.read_problem(f"{copy}#1").name, steps[1].name)
                else:
                    steps = [ccpbench.read_problem(path)]
                    ccpbench.write_problem(copy, steps[0])
                    read = [ccpbench.read_problem(copy)]
                self.run_program("check", copy)
                for one, two in zip(steps, read, strict=True):
                    self.assertEqual(one.content_hash(), one.content_sha256)
                    self.assertEqual(two.content_sha256, one.content_sha256)
                    np.testing.assert_equal(fields(two), fields(one))

    def test_a_problem_made_here(self):
        """A sphere of 2 kg on the ground: N = 1/2, r = -g dt, gamma = 0.02 g."""
        bodies = ccpbench.Bodies(np.array([0.5]), None, np.array([[-1, 0]]), np.eye(3)[None], None,
                                 None)
        one = ccpbench.Problem("ball", bodies, np.array([0.3]), np.array([[-0.0981, 0, 0]]),
                               guesses={"half": np.array([[0.0981, 0, 0]])}, dt=0.01)
        ccpbench.write_problem(self.folder / "ball.h5", one)
        self.run_program("check", "ball.h5")
        run = ccpbench.solve(one, "vipm", stop="residual=1e-9")
        assert run.gamma is not None
        np.testing.assert_allclose(run.gamma, [[0.1962, 0, 0]], atol=1e-9)
        self.assertTrue(ccpbench.solve(self.folder / "ball.h5", "pgs", start="half*2").reached)
        with self.assertRaisesRegex(FileExistsError, "force=True"):
            ccpbench.write_problem(self.folder / "ball.h5", one)
        one.mu = np.array([0.3, 0.4])
        with self.assertRaisesRegex(ValueError, r"/ccp/r: expected the shape \(2, 3\)"):
            ccpbench.write_problem(self.folder / "other.h5", one)
        self.assertEqual(os.listdir(self.folder), ["ball.h5"])

    def test_rolling_resistance_and_joints_are_written(self):
        """As schema version 2, with rows of rolling triples 3; as a step of a sequence, too."""
        problem = with_joints(np.random.default_rng(1))
        problem.equality.compliance = np.where(problem.equality.used, 0.5, 0)
        problem.guesses, problem.guess_methods = {"one": np.ones((104, 3))}, {"one": "all ones"}
        ccpbench.write_problem(self.folder / "a.h5", problem)
        self.run_program("check", "a.h5")
        with h5py.File(self.folder / "a.h5") as file:
            self.assertEqual(file.attrs["version"], 2)
            self.assertEqual(file["rolling/compliance"].shape, (20, 2))
        again = ccpbench.read_problem(self.folder / "a.h5")
        self.assertEqual(again.features, ("rolling", "equality"))
        self.assertEqual(again.triples, 104)
        self.assertEqual(again.guess_methods, {"one": "all ones"})
        self.assertEqual(again.content_sha256, problem.content_hash())
        x = np.random.default_rng(2).normal(size=(104, 3))
        np.testing.assert_array_equal(again.velocity(x), problem.velocity(x))
        problem.identity = np.arange(80)
        ccpbench.write_sequence(self.folder / "s.h5", "s", [problem])
        self.run_program("check", "s.h5")
        self.assertEqual(ccpbench.read_problem(f"{self.folder}/s.h5#0").triples, 104)
        problem.rolling = of_two_rows(problem.rolling)
        problem.guesses = {}
        ccpbench.write_problem(self.folder / "two.h5", problem)
        self.run_program("check", "two.h5")
        with h5py.File(self.folder / "two.h5") as file:
            self.assertEqual(file.attrs["version"], 3)
        again = ccpbench.read_problem(self.folder / "two.h5")
        assert again.rolling is not None
        np.testing.assert_array_equal(again.rolling.rows, problem.rolling.rows)
        np.testing.assert_array_equal(again.velocity(x), problem.velocity(x))
        problem.equality.r = np.zeros((3, 3))
        with self.assertRaisesRegex(ValueError, r"/equality/r: expected the shape \(4, 3\)"):
            ccpbench.write_problem(self.folder / "b.h5", problem)

    def test_trajectories(self):
        """Of the program, read and written again; damaged ones are refused."""
        ball = ccpbench.simulate("bouncing-ball[height=0.5]", until=0.5, output=self.folder / "t.h5")
        self.assertEqual(ball.obstacle_shape, ["plane"])
        self.assertEqual(ball.position.shape, (len(ball.frame_step), 1, 3))
        self.assertAlmostEqual(ball.frame_time[-1], ball.time[-1])
        ccpbench.write_trajectory(self.folder / "u.h5", ball)
        self.run_program("check", "u.h5")
        np.testing.assert_equal(vars(ccpbench.read_trajectory(self.folder / "u.h5")), vars(ball))
        with h5py.File(self.folder / "u.h5", "a") as file:
            del file["steps/outer"]
        with self.assertRaisesRegex(ValueError, "u.h5: .*outer"):
            ccpbench.read_trajectory(self.folder / "u.h5")
        ball.steps["time"] = ball.time[::-1]
        with self.assertRaisesRegex(ValueError, "/steps/time: expected ascending"):
            ccpbench.write_trajectory(self.folder / "v.h5", ball)
        ball.position = ball.position[1:]
        with self.assertRaisesRegex(ValueError, "/bodies/position: expected the shape"):
            ccpbench.write_trajectory(self.folder / "v.h5", ball)
        with self.assertRaisesRegex(ValueError, "found 'ccpbench-problem' of version 1"):
            ccpbench.read_trajectory(DATA / "stack.h5")
        with self.assertRaisesRegex(ccpbench.ProgramError, "bouncing-ball"):
            ccpbench.simulate("bouncing-bal")

    def test_what_is_no_problem(self):
        sequence = next(p for p in DATA.glob("*.h5") if "column" in p.name)
        with self.assertRaisesRegex(ValueError, "found 'ccpbench-sequence' of version 1"):
            ccpbench.read_problem(sequence)
        with self.assertRaisesRegex(ValueError, "expected a step below .*, found 99"):
            ccpbench.read_problem(f"{sequence}#99")
        with self.assertRaisesRegex(ValueError, "found 'ccpbench-problem' of version 1"):
            ccpbench.read_sequence(DATA / "stack.h5")
        with self.assertRaises(OSError):
            ccpbench.read_problem("nowhere.h5#1")
        with self.assertRaisesRegex(ValueError, "expected an identity of each"):
            ccpbench.write_sequence(self.folder / "s.h5", "s",
                                    [ccpbench.read_problem(DATA / "stack.h5")])


class RefereeTest(FolderCase):
    def assert_judged_alike(self, problem, gamma):
        """All measures of the program's referee, to 1e-12 of each."""
        problem.guesses = {"here": gamma}  # the first look is at where a solve begins
        run = ccpbench.solve(problem, "pgj", start="here", more=["--max-outer", "1"])
        ours = ccpbench.residuals(problem, gamma)
        self.assertEqual(set(ours), set(run.values))
        for name, value in ours.items():
            np.testing.assert_allclose(value, run.values[name][0], rtol=1e-12, err_msg=name)

    def test_it_is_the_program_s(self):
        """At impulses in the cones, outside of them, zero, and beside a reference or without."""
        self.assertEqual(list(referee.NAMES), list(measures.known_measures()))
        random = np.random.default_rng(1)
        for name in PROBLEMS:
            problem = ccpbench.read_problem(DATA / f"{name}.h5")
            assert problem.reference is not None
            size = np.abs(problem.reference).max(initial=1e-3)
            gammas = [size * random.normal(size=problem.r.shape) for _ in range(3)]
            for gamma in (*gammas, ccpbench.project(gammas[0], problem.mu), 0 * problem.r):
                with self.subTest(name):
                    self.assert_judged_alike(problem, gamma)
        problem = ccpbench.generate("pile", spheres=40, contacts=120)
        self.assert_judged_alike(problem, random.normal(size=problem.r.shape))
        problem.compliance = np.abs(random.normal(size=(problem.contacts, 2)))[:, [0, 1, 1]]
        problem.reference = None
        self.assert_judged_alike(problem, random.normal(size=problem.r.shape))

    def test_rolling_resistance_and_joints(self):
        """Measures of random impulses, with a reference and without; and of files."""
        random = np.random.default_rng(4)
        problem = with_joints(random)
        two_rows = of_two_rows(problem.rolling)
        for pools in ({}, {"rolling": None}, {"equality": None}, {"rolling": two_rows},
                      {"rolling": two_rows, "equality": None}):
            some = dataclasses.replace(problem, **pools)
            for _ in range(3):
                gamma = in_use(some, random.normal(size=(some.triples, 3)), ccpbench.Rolling)
                self.assert_judged_alike(some, gamma)  # also impulses in joints' rows that are not there
                gamma = in_use(some, gamma, ccpbench.Equality)
                self.assert_judged_alike(some, gamma)
                some.reference = gamma
            if some.equality is not None:
                self.assertEqual(ccpbench.solve(some, "ssn").status, "unsupported")
            some.reference = None
            run = ccpbench.solve(some, "pgs", stop="residual=1e-6")
            self.assertTrue(run.reached)
            assert run.gamma is not None
            self.assertLess(ccpbench.residuals(some, run.gamma)["residual"], 1e-6)

    def test_joints_without_a_contact(self):
        random = np.random.default_rng(5)
        problem = with_joints(random)
        bodies = problem.bodies
        bodies.pairs, bodies.frame = np.zeros((0, 2), int), np.zeros((0, 3, 3))
        bodies.arm_a = bodies.arm_b = np.zeros((0, 3))
        problem.mu, problem.r = np.zeros(0), np.zeros((0, 3))
        problem.rolling = problem.gap = problem.stiffness = None
        self.assert_judged_alike(problem, random.normal(size=(problem.triples, 3)))

    def test_the_version_is_the_program_s(self):
        run = ccpbench.solve(DATA / "stack.h5", "vipm")
        self.assertEqual(run.referee_version, referee.REFEREE_VERSION)

    def test_blocks_that_are_singular_have_a_weight(self):
        """Two immovable bodies, and one that moves in a plane."""
        blocks = np.zeros((2, 3, 3))
        blocks[1, :2, :2] = np.eye(2)
        regular = referee.regular(blocks, 4.0)
        np.testing.assert_allclose(regular[0], 4 * np.eye(3))
        np.testing.assert_allclose(regular[1], np.diag([5 / 3, 5 / 3, 2 / 3]))

    def test_bad_impulses(self):
        stack = ccpbench.read_problem(DATA / "stack.h5")
        with self.assertRaisesRegex(ValueError, r"expected 9 values \(3 per contact\), found 4"):
            ccpbench.residuals(stack, [0, 0, 0, 1])
        self.assertTrue(all(map(math.isnan, ccpbench.residuals(stack, np.full(9, np.inf)).values())))
        stack.rolling = ccpbench.Rolling(np.array([1]), np.array([0.1]), np.zeros((1, 3)))
        with self.assertRaisesRegex(ValueError, r"expected 12 values \(3 per triple\), found 9"):
            ccpbench.residuals(stack, np.zeros(9))

    def test_the_cone_with_rolling_resistance(self):
        """By the definition of a projection: x - p is normal to the cone at p, p is in it."""
        random = np.random.default_rng(3)
        x, mu, rho = random.normal(size=(2000, 6)), random.uniform(0, 2, 2000), random.uniform(0, 2, 2000)
        mu[:200], rho[100:300] = 0, 0
        p = ccpbench.project_rolling(x, mu, rho)
        t, r = np.linalg.norm(p[:, 1:3], axis=1), np.linalg.norm(p[:, 3:], axis=1)
        self.assertGreaterEqual(min((mu * p[:, 0] - t).min(), (rho * p[:, 0] - r).min()), -1e-14)
        self.assertLess(np.abs(((x - p) * p).sum(axis=1)).max(), 1e-13)
        y = p - x  # in the dual cone
        self.assertGreater((y[:, 0] - mu * np.linalg.norm(y[:, 1:3], axis=1)
                            - rho * np.linalg.norm(y[:, 3:], axis=1)).min(), -1e-13)


@ccpbench.external
def gradients(problem, look):
    """Projected gradients."""
    step = 0.4 / np.trace(problem.diagonal_blocks(), axis1=1, axis2=2).max()
    gamma = 0 * problem.r
    for _ in range(6000):
        gamma = ccpbench.project(gamma - step * problem.velocity(gamma), problem.mu)
        look(gamma)
    return gamma


class SolveTest(FolderCase):
    def test_a_run(self):
        run = ccpbench.solve("stack", "pgj[omega=0.25]", stop={"residual": 1e-7},
                             targets=["error=1e-2", "residual=1e-3"],
                             output=self.folder / "kept.h5")
        self.assertTrue(run.reached)
        self.assertEqual(run.stop, ("residual", 1e-7))
        self.assertIn(("error", 1e-2), run.targets)
        stack = ccpbench.read_problem(DATA / "stack.h5")
        assert run.gamma is not None
        self.assertAlmostEqual(ccpbench.residuals(stack, run.gamma)["residual"],
                               run.final("residual"), delta=1e-15)
        self.assertEqual(ccpbench.read_result(self.folder / "kept.h5").solver, "pgj[omega=0.25]")
        self.assertRegex(repr(run), r"pgj\[omega=0.25\] on stack: .*residual \S+e-08 in .*, reached")

    def test_what_the_program_refuses(self):
        refused: list[tuple[str, str, dict[str, Any], str]] = [
                ("stak", "vipm", {}, "did you mean 'stack'"),
                ("stack", "vipmm", {}, "did you mean 'vipm'"),
                ("stack", "vipm", {"stop": "residul=1"}, "did you mean 'residual'"),
                ("stack", "vipm", {"program": "/nowhere/ccpbench"}, "found none at /nowhere")]
        for problem, solver, more, message in refused:
            with self.assertRaisesRegex(ccpbench.ProgramError, message):
                ccpbench.solve(problem, solver, **more)
        with self.assertRaisesRegex(ccpbench.ProgramError, "spheres"):
            ccpbench.generate("pile", spheres=-1)

    def test_a_function_is_judged_like_any_solver(self):
        run = ccpbench.solve("stack", gradients, stop="residual=1e-6", targets="residual=1e-2")
        self.assertTrue(run.reached)
        self.assertEqual((run.solver, run.work["outer"][-1]), ("gradients", 6000))
        self.assertGreater(len(run.work["time"]), 5)
        self.assertLess(run.first("outer", "residual", 1e-2), 6000)
        self.assertIn("Python", run.made["external"])
        self.assertEqual(run.made["clock"], "program")
        # A closure of this test, without looks, and for the other law.
        scale = 2.0
        double = ccpbench.external(lambda problem: scale * problem.reference / 2, name="exact",
                                   law="coulomb")
        run = ccpbench.solve("stack", double, stop="residual=1e-8")
        self.assertTrue(run.reached)
        self.assertEqual((run.law, run.stop), ("coulomb", ("coulomb_residual", 1e-8)))

    def test_functions_say_what_they_take(self):
        """Of problems with more than plain contacts; others are refused, in studies as well."""
        problem = with_joints(np.random.default_rng(6))
        problem.name, problem.compliance = "joints", np.ones((80, 3))

        def zero(problem):
            return 0 * problem.free_velocity

        for features, lacks in (((), "compliant"), (("compliant", "equality"), "rolling"),
                                (("compliant", "rolling"), "equality")):
            solver = ccpbench.external(features=features)(zero)
            run = ccpbench.solve(problem, solver)
            self.assertEqual(run.status, "unsupported")
            words = rf"zero does not say that it takes problems with .* \(features: {lacks}\)"
            self.assertRegex(run.message, words)
            with self.assertRaisesRegex(ValueError, words):
                solver(problem)
        takes = ccpbench.external(features=["compliant", "rolling", "equality"], name="all")(zero)
        self.assertEqual(ccpbench.solve(problem, takes).status, "converged")
        results = ccpbench.run({"name": "s", "problems": [problem], "stop": "residual=1e-6",
                                "solvers": [ccpbench.external(zero), takes]},
                               self.folder / "out", progress=False)
        self.assertEqual({run.solver: run.status for run in results.runs},
                         {"zero": "unsupported", "all": "converged"})
        with self.assertRaisesRegex(ValueError, "features: expected some of compliant, rolling, "
                                                "equality, found rubber"):
            ccpbench.external(features="rubber")(zero)

    def test_functions_that_fail(self):
        def raises(problem):
            raise ValueError(f"no idea of {problem.name},\nat all")

        def too_few(problem):
            return problem.r[:1]

        def dies(_):
            os.kill(os.getpid(), 11)

        for function, message in (
                (raises, r"ValueError: no idea of stack, at all \(line \d+, raises\)"),
                (too_few, r"too_few returned 3 numbers; expected impulses, 9 numbers"),
                (dies, "ended by signal 11")):
            run = ccpbench.solve("stack", ccpbench.external(function))
            self.assertEqual(run.status, "crashed")
            self.assertRegex(run.message, message)
        with self.assertRaisesRegex(ValueError, "law: expected convex or coulomb"):
            ccpbench.external(law="hooke")(raises)

    def test_functions_that_do_not_end(self):
        """One ends at its next look, with what it had; one is killed and leaves nothing behind."""
        def looks(problem, look):
            while True:
                look(problem.reference)
                time.sleep(0.01)

        run = ccpbench.solve("stack", ccpbench.external(looks), time_limit=0.5, stop="residual=1e-9")
        self.assertLess(run.final("residual"), 1e-9)
        mark = self.folder / "pid"

        def hangs(_):
            mark.write_text(str(os.getpid()))
            time.sleep(600)

        run = ccpbench.solve("stack", ccpbench.external(hangs), time_limit=0.1)
        self.assertEqual(run.status, "time_limit")
        pid = int(mark.read_text())
        for _ in range(100):
            if not Path(f"/proc/{pid}").exists():
                return
            time.sleep(0.05)
        self.fail("the function still runs")


class StudyTest(FolderCase):
    def test_a_study_with_a_problem_and_a_function_of_this_session(self):
        stack = ccpbench.read_problem(DATA / "stack.h5")
        stack.name = "mine"
        study = {"name": "s", "problems": [stack, "sliding-block"], "stop": "residual=1e-6",
                 "solvers": ["vipm", {"pgj": {"omega": [0.2, 0.25]}}, gradients]}
        events: list[dict[str, Any]] = []
        results = ccpbench.run(study, self.folder / "out", progress=events.append)
        self.assertEqual(results.faults, {})
        self.assertEqual([event["run"] for event in events[:-1]], list(range(1, 9)))
        self.assertEqual({run.solver for run in results.runs},
                         {"vipm", "pgj[omega=0.2]", "pgj[omega=0.25]", "gradients"})
        self.assertTrue(all(run.reached for run in results.runs))
        self.assertIn("mine, 3 contacts", results.table())
        # Nothing changed: all is kept. A function that changed is run again.
        ccpbench.run(study, self.folder / "out", progress=events.append)
        self.assertTrue(all(event["kept"] for event in events[9:-1]))

        def changed(problem):
            return problem.reference
        study["solvers"] = ["vipm", ccpbench.External(changed, "gradients")]
        events.clear()
        ccpbench.run(study, self.folder / "out", progress=events.append)
        self.assertEqual({event["solver"] for event in events[:-1] if not event["kept"]},
                         {"gradients"})
        output = io.StringIO()
        with contextlib.redirect_stderr(output):
            ccpbench.run(study, self.folder / "out")
        self.assertRegex(output.getvalue(), r"\[1/4\] mine × \w+: reached, residual \S+, kept\n")

    def test_what_the_program_refuses(self):
        with self.assertRaisesRegex(ccpbench.ProgramError, "unknown key 'stopp'"):
            ccpbench.run({"name": "s", "problems": "stack", "solvers": "vipm", "stopp": 1},
                         self.folder / "out")
        with self.assertRaisesRegex(ccpbench.ProgramError, "nowhere"):
            ccpbench.run("nowhere", self.folder / "out")

    def test_rows(self):
        write_result(self.folder / "a.h5")
        results = ccpbench.read_results(self.folder)
        row, = frames.run_rows(results.runs)
        self.assertEqual((row["solver"], row["outer"], row["krylov"]), ("pgj[omega=0.3]", 300, None))
        self.assertEqual(row["time_to error=5e-2"], 1)
        self.assertTrue(math.isnan(row["final_velocity"]))
        looks = list(frames.curve_rows(results.runs))
        self.assertEqual([look["error"] for look in looks], [1, 0.1, 0.01, 0])
        with mock.patch.dict(sys.modules, {"pandas": None}), \
                self.assertRaisesRegex(ImportError, r"ccpbench\[frames\]"):
            results.frame()
        try:
            import pandas
        except ImportError:
            return
        self.assertIsInstance(results.frame(), pandas.DataFrame)
        self.assertEqual(len(results.curves()), 4)


class NotebookTest(FolderCase):
    def test_it_runs(self):
        """In its order, in an empty folder; less than 30 lines."""
        path = ROOT / "docs/examples/pile_to_comparison.ipynb"
        cells = ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]
                 if cell["cell_type"] == "code"]
        self.assertLess(sum(bool(line.strip()) for cell in cells for line in cell.splitlines()), 30)
        before, printed = Path.cwd(), io.StringIO()
        names: dict[str, object] = {}
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                for cell in cells:
                    exec(compile(cell, path.name, "exec"), names)  # noqa: S102
        finally:
            os.chdir(before)
        self.assertIn("180 contacts", printed.getvalue())
        self.assertTrue((self.folder / "mine.png").exists())
        runs, faults = ccpbench.read_folder(self.folder / "results/mine")
        self.assertEqual(faults, {})
        self.assertEqual({run.solver for run in runs}, {"vipm", "apgd", "pgs", "mine"})
        self.assertTrue(all(run.first("time", "residual", 1e-2) < math.inf for run in runs))


class PipTest(FolderCase):
    def test_it_can_be_installed_alone(self):
        """pip install of a copy, without a network; then from a folder of its own."""
        import shutil
        probe = subprocess.run([sys.executable, "-c", "import setuptools, wheel, pip"], check=False,
                               capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no pip, setuptools and wheel")
        copy, target = self.folder / "sources", self.folder / "target"
        shutil.copytree(ROOT / "scripts/python", copy,
                        ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                        "--no-build-isolation", "--no-index", "--target", target, copy],
                       check=True, capture_output=True)
        code = ("import ccpbench, os; from ccpbench.report import data; print(ccpbench.__file__);"
                "print(ccpbench.solve('stack', ccpbench.external(lambda p: p.reference, name='x')))")
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder, check=False, text=True,
                              capture_output=True, env={**os.environ, "PYTHONPATH": str(target)})
        self.assertEqual(done.returncode, 0, done.stderr)
        where, run = done.stdout.splitlines()
        self.assertTrue(where.startswith(str(target)), where)
        self.assertIn("reached>", run)
        page = target / "ccpbench/report/page.html"
        self.assertTrue(page.is_file())


if __name__ == "__main__":
    unittest.main()
