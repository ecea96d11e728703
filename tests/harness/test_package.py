#!/usr/bin/env python3
"""The Python package against the program: files of one read by the other, names, versions."""
import os
import re
import subprocess
import sys
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from folder_case import PROGRAM, ROOT, FolderCase
from matplotlib.figure import Figure

from made_up import IPM, PGJ, h5py, np, write_result

os.environ["CCPBENCH"] = PROGRAM  # the package looks for it there
sys.path.insert(0, str(ROOT / "scripts/python"))
import ccpbench
from ccpbench import measures, places, problem, profiles, results, tables
from ccpbench.report.data import badges, overloaded
from ccpbench.reproduce import figures


def damages(path, victim):
    """Damaged copies of an HDF5 file, at `victim` one after the other, and what was done to each."""
    whole = path.read_bytes()
    for name, content in (("empty", b""), ("text", b"no\nfile\n"), ("half", whole[:len(whole) // 2]),
                          ("end", whole[:-7])):
        victim.write_bytes(content)
        yield name
    victim.unlink()
    yield "missing"
    victim.mkdir()
    yield "folder"
    victim.rmdir()
    with h5py.File(victim, "w"):
        pass
    yield "nothing in it"
    groups: list[str] = []
    with h5py.File(path) as file:
        file.visit(groups.append)
        attributes = [(name, key) for name in ["/", *groups] for key in file[name].attrs]
    values = {"text": "x", "texts": np.array([b"a", b"b"]), "number": 1.5, "other shape": np.zeros((2, 7)),
              "pairs": np.zeros(2, [("a", "f8")]), "NaN": np.full(3, np.nan), "huge": np.full(3, 10**6)}
    for number, name in enumerate(groups):
        for what in ("group", *list(values)[number % 3::3]):
            victim.write_bytes(whole)
            with h5py.File(victim, "a") as file:
                del file[name]
                if what == "group":
                    file.create_group(name)
                else:
                    file[name] = values[what]
            yield f"{name}: {what}"
    odd = {"text": "x", "number": 3.5, "array": np.arange(4), "empty": h5py.Empty("f8"),
           "bytes": np.void(b"\0\xff")}
    for number, (name, key) in enumerate(attributes):
        for what in ("missing", *list(odd)[number % 2::2]):
            victim.write_bytes(whole)
            with h5py.File(victim, "a") as file:
                if what == "missing":
                    del file[name].attrs[key]
                else:
                    file[name].attrs[key] = odd[what]
            yield f"{name} attribute {key}: {what}"


class ReaderTest(FolderCase):
    """Every reader refuses foreign and damaged files in one sentence that begins with the file."""

    def assert_one_sentence(self, reader, path, at_least):
        victim = self.folder / "victim.h5"
        refused = 0
        for what in damages(path, victim):
            with self.subTest(what):
                try:
                    reader(victim)
                except (OSError, ValueError) as error:
                    refused += 1
                    self.assertTrue(str(error).startswith(str(victim)), str(error))
                    self.assertNotIn("\n", str(error))
        self.assertGreater(refused, at_least)

    def test_problems(self):
        for name in ("hyperstatic-table", "captured-humanoid"):
            self.assert_one_sentence(ccpbench.read_problem, ROOT / f"problems/data/{name}.h5", 50)

    def test_sequences_and_trajectories(self):
        self.run_program("simulate", "spinning-ball", "--until", "0.03", "-o", "ball.h5", "--freeze",
                         "1..2")
        self.assert_one_sentence(ccpbench.read_trajectory, self.folder / "ball.h5", 50)
        self.assert_one_sentence(ccpbench.read_sequence, self.folder / "ball-steps.h5", 50)

    def test_results(self):
        self.run_program("solve", ROOT / "problems/data/stack.h5", "--solver", "vipm", "--stop",
                         "residual=1e-8", "-o", "run.h5")
        self.assert_one_sentence(ccpbench.read_result, self.folder / "run.h5", 50)

    def test_commands_say_it_in_one_sentence(self):
        """A script or an adapter that meets a foreign file: no fault of its own."""
        (self.folder / "runs").mkdir()
        self.run_program("solve", ROOT / "problems/data/stack.h5", "--solver", "vipm", "--stop",
                         "residual=1e-8", "-o", "runs/run.h5")
        with h5py.File(self.folder / "runs/run.h5", "a") as file:
            file.attrs["solver"] = np.arange(3)
        (self.folder / "folder.h5").mkdir()
        for command in ("plot", "report"):
            said = self.script(command, "runs", expect=1)[1]
            self.assertIn("run.h5: attribute solver: expected a text, found ndarray\n", said)
            self.assertNotIn("internal", said)
        for name, why in (("runs/run.h5", "expected a ccpbench problem"), ("folder.h5", "found a folder")):
            said = self.script("peers/mujoco_contact.py", "newton", name, "out.h5", "1", "1e-6",
                               expect=1)[1]
            if "not installed" not in said:
                self.assertRegex(said, f"^mujoco_contact.py: {name}: .*{why}.*\n$")
            self.script("capture", "review", name, "-o", "out", expect=1)

    def test_numbers_that_point_nowhere(self):
        """What would be another body or contact in Python."""
        for name, path, value in (
                ("stack", "contacts/bodies", [[-1, 0], [0, 1], [1, 3]]),
                ("stack", "contacts/bodies", [[-2, 0], [0, 1], [1, 2]]),
                ("assembled-stack", "delassus/columns", None)):
            victim = self.folder / "victim.h5"
            victim.write_bytes((ROOT / f"problems/data/{name}.h5").read_bytes())
            with h5py.File(victim, "a") as file:
                file[path][...] = file[path][()] + 1 if value is None else value
            with self.assertRaisesRegex(ValueError, f"victim.h5: /{path}: expected numbers from"):
                ccpbench.read_problem(victim)

    def test_a_number_that_changed(self):
        """Content that is possible, and not what was written: the hash tells."""
        for name, path in (("stack", "ccp/mu"), ("hyperstatic-table", "contacts/frame"),
                           ("assembled-stack", "delassus/blocks")):
            victim = self.folder / "victim.h5"
            victim.write_bytes((ROOT / f"problems/data/{name}.h5").read_bytes())
            with h5py.File(victim, "a") as file:
                file[path][0] = np.nextafter(file[path][0], 1)
            with self.assertRaisesRegex(ValueError, "victim.h5: attribute content_sha256: expected"):
                ccpbench.read_problem(victim)


class ProblemTest(FolderCase):
    def assert_solved(self, one, tolerance):
        """Its reference is a solution: gamma in K, u in K*, gamma.u = 0, by the definitions."""
        gamma, u = one.reference, one.velocity(one.reference)
        scale = np.abs(gamma).max() * max(np.abs(one.r).max(), 1e-300)
        t, s = (np.linalg.norm(x[:, 1:], axis=1) for x in (gamma, u))
        self.assertGreater((one.mu * gamma[:, 0] - t).min(), -tolerance * np.abs(gamma).max())
        self.assertGreater((u[:, 0] - one.mu * s).min(), -tolerance * np.abs(one.r).max())
        self.assertLess(np.abs((gamma * u).sum(axis=1)).max(), tolerance * scale)

    def test_both_forms_are_one_operator(self):
        """The program assembles N from the bodies: spinning, fixed, and on the ground."""
        for scene in ("hyperstatic-table", "slope-at-friction-angle", "head-on-collision"):
            with self.subTest(scene):
                path = ROOT / f"problems/data/{scene}.h5"
                bodies = ccpbench.read_problem(path)
                self.run_program("export", "fclib", path, "--local", "-o", "local.hdf5", "--force")
                self.run_program("import", "fclib", "local.hdf5", "-o", "local.h5", "--force")
                local = ccpbench.read_problem(self.folder / "local.h5")
                self.assertEqual((bodies.form, local.form), ("bodies", "assembled"))
                self.assert_solved(bodies, 1e-9)
                x = np.random.default_rng(1).normal(size=bodies.r.shape)
                np.testing.assert_allclose(bodies.velocity(x), local.velocity(x), rtol=1e-12,
                                           atol=1e-14)

    def test_compliance_is_on_the_diagonal(self):
        """[n][2], normal and tangential, m/s per N s."""
        path = self.folder / "soft.h5"
        rigid = ccpbench.read_problem(ROOT / "problems/data/hyperstatic-table.h5")
        compliance = np.arange(1.0, 9.0).reshape(4, 2)
        ccpbench.write_problem(path, replace(rigid, compliance=compliance[:, [0, 1, 1]]))
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["contacts/compliance"], compliance)
        soft, x = ccpbench.read_problem(path), np.ones((4, 3))
        np.testing.assert_allclose(soft.velocity(x) - rigid.velocity(x), compliance[:, [0, 1, 1]],
                                   rtol=1e-14)

    def test_what_is_no_problem(self):
        write_result(self.folder / "a.h5")
        with self.assertRaisesRegex(ValueError, "found 'ccpbench-result' of version 1"):
            ccpbench.read_problem(self.folder / "a.h5")

    def test_an_answer_is_what_the_program_reads(self):
        """The reference, written by the package as an external solver's answer, and judged."""
        stack = ROOT / "problems/data/stack.h5"
        gamma = ccpbench.read_problem(stack).reference
        assert gamma is not None
        ccpbench.write_answer(self.folder / "answer.h5", gamma.ravel(),
                              [(1e-5, 1, gamma / 2), (2e-5, 2, gamma)],
                              solve_time=2e-5, iterations=2, version="7")
        self.run_program("solve", stack, "--solver", "mine", "--external",
                         f"cp '{self.folder}/answer.h5' {{output}}", "--stop", "residual=1e-9",
                         "-o", "result.h5", "--keep-gamma")
        run = ccpbench.read_result(self.folder / "result.h5")
        self.assertTrue(run.reached)
        self.assertEqual(run.work["time"][-1], 2e-5)
        self.assertEqual(run.first("time", "residual", 1e-9), 2e-5)
        with h5py.File(self.folder / "result.h5") as file:
            np.testing.assert_array_equal(file["final/gamma"][()], gamma)


class ResultTest(FolderCase):
    def test_a_result_of_the_program(self):
        self.run_program("solve", ROOT / "problems/data/stack.h5", "--solver", "pgj[omega=0.25]",
                         "--stop", "residual=1e-6", "-o", "a.h5")
        (run,), faults = ccpbench.read_folder(self.folder)
        self.assertEqual(faults, {})
        self.assertEqual((run.solver, run.reached, run.instance[1]),
                         ("pgj[omega=0.25]", True, "stack"))
        self.assertEqual(float(run.options["omega"]), 0.25)
        self.assertEqual(run.stop, ("residual", 1e-6))
        # Every measure of the program's table has a curve, and there is no other.
        self.assertEqual(results.measures_of([run]), list(measures.known_measures()))
        at = run.hit("residual", 1e-6)
        self.assertEqual(at, len(run.work["time"]) - 1)
        table = ccpbench.target_table(ccpbench.group([run]), [1e-6], "residual")
        self.assertIn(f"/ {run.work['outer'][at]:,}", table)

    def test_a_stop_of_several_measures(self):
        """The first is the leading one; all are targets; whatever reads the files goes on."""
        for name, energy, expect in (("a", "1e-3", 0), ("b", "1e-30", 3)):
            (self.folder / name).mkdir()
            self.run_program("solve", ROOT / "problems/data/stack.h5", "--solver", "apgd",
                             "--stop", f"residual=1e-5,energy={energy}", "--time-limit", "1",
                             "-o", f"{name}/r.h5", expect=expect)
            (run,), faults = ccpbench.read_folder(self.folder / name)
            self.assertEqual((faults, run.stop, run.reached),
                             ({}, ("residual", 1e-5), expect == 0))
            self.assertEqual(run.targets, [("residual", 1e-5), ("energy", float(energy))])
            self.assertLessEqual(run.values["residual"][-1], 1e-5)
            for words in (("plot", name), ("report", name)):
                subprocess.run([ROOT / "scripts" / words[0], *words[1:]], cwd=self.folder, check=True,
                               capture_output=True)
        self.assertIn("residual", self.run_program("compare", "a", "a"))

    def test_files_that_spell_a_solver_otherwise_are_of_one_solver(self):
        for name, solver, omega in (("a", "pgj", "0.3"), ("b", "pgj[omega=0.30]", "0.3"),
                                    ("c", "pgj[omega=0.2]", "0.2")):
            write_result(self.folder / f"{name}.h5", solver)
            with h5py.File(self.folder / f"{name}.h5", "a") as file:
                file["options"].attrs["omega"] = omega
        runs, _ = results.read_folder(self.folder)
        self.assertEqual([run.solver for run in runs], ["pgj", "pgj", "pgj[omega=0.2]"])
        self.assertEqual(results.labels_of(results.group(runs)), ["pgj", "pgj[omega=0.2]"])

    def test_a_load_above_the_cores_in_use_is_a_warning(self):
        """As the program warns: with half a core for the system itself."""
        write_result(self.folder / "r.h5")
        ((run,), _) = results.read_folder(self.folder)
        for load, threads, jobs, expected in (("", "1", "1", False), ("1.4 9 9", "1", "1", False),
                                              ("1.6 0 0", "1", "1", True),
                                              ("4.4 0 0", "2", "2", False),
                                              ("4.6 0 0", "2", "2", True)):
            run.made.update(load_average=load, threads=threads, jobs=jobs)
            self.assertEqual(overloaded(run), expected)
            shown = [text for text, _ in badges([run], results.group([run]), {})]
            self.assertEqual("others worked on the machine before 1 runs" in shown, expected)

    def test_performance_profile_counts_what_nobody_solved(self):
        """Three problems: one that both solve, one that one solves, one that none does."""
        for instance, pgj, ipm in (("both", 0.0, 0.0), ("one", 0.1, 0.0), ("none", 0.1, 0.1)):
            for solver, last in ((PGJ, pgj), (IPM, ipm)):
                write_result(self.folder / f"{instance}-{len(solver)}.h5", solver, instance,
                             error=(1, 0.5, 0.2, last), content=f"{len(instance):02x}"
                             if instance != "none" else "aa")
        runs, _ = results.read_folder(self.folder)
        table = results.group(runs)
        labels = results.labels_of(table)
        for shares, count, most in (
                (*profiles.performance_profile(table, labels, "time", "error", 1e-3), 2),
                (*profiles.run_time_distribution(table, labels, "time", [("error", 1e-3)]), 2),
                (*profiles.solved_ratio(table, labels, "error"), 3)):
            self.assertEqual(count, 3)
            self.assertEqual(len(shares[IPM]), most)
        shares, _ = profiles.performance_profile(table, labels, "time", "error", 1e-3)
        self.assertEqual(shares, {IPM: [1, 1], PGJ: [1]})

    def test_a_file_without_a_measure_that_others_have(self):
        write_result(self.folder / "new.h5", PGJ)
        write_result(self.folder / "old.h5", IPM)
        with h5py.File(self.folder / "old.h5", "a") as file:
            del file["curve/made_up"]
        runs, faults = ccpbench.read_folder(self.folder)
        self.assertEqual(faults, {})
        new, old = runs
        self.assertTrue(np.isnan(old.values["made_up"]).all())
        self.assertEqual(old.first("time", "made_up", 1), np.inf)
        self.assertEqual(new.first("time", "made_up", 0.1), 0.5)
        # What the program does not know comes last, as files have it.
        self.assertEqual(results.measures_of(runs)[-1], "made_up")

    def test_without_a_program_the_files_say_what_there_is(self):
        write_result(self.folder / "a.h5")
        with mock.patch.object(measures, "known_measures", return_value={}):
            runs, _ = ccpbench.read_folder(self.folder)
            self.assertIn("coulomb_residual", results.measures_of(runs))
            self.assertEqual(measures.measure("objective_gap").title, "objective gap")


class TableTest(unittest.TestCase):
    def test_numbers(self):
        for value, text in ((5e-4, "5e-4"), (1.25e-3, "1.25e-3"), (1, "1e0"), (0, "0e0")):
            self.assertEqual(tables.number_text(value), text)

    def test_measures_are_the_program_s(self):
        known = measures.known_measures()
        self.assertEqual(known["objective_gap"].title, "objective gap [J]")
        self.assertEqual(measures.in_order(["made_up", "residual", "cost"]),
                         [*(name for name in known if name in ("residual", "cost")), "made_up"])


class NameTest(unittest.TestCase):
    def test_former_names(self):
        for former, present in (("000", "kleinert2017-fig4"), ("001", "kleinert2014-fig11"),
                                ("002", "anitescu-lcp"), ("003", "wang2016-fig8"),
                                ("004", "koziara2019-table4")):
            row = figures.find_figure(present)
            self.assertIsNotNone(row)
            self.assertEqual(row, figures.find_figure(former + "-" + present.split("-")[1]))
        for nobody in ("005-x", "kleinert2017", "000", ""):
            self.assertIsNone(figures.find_figure(nobody))

    def test_a_figure_is_a_row(self):
        row = figures.Figure("nobody2000-fig1", "nothing", lambda _: None, lambda _: Figure())
        with mock.patch.object(figures, "FIGURES", list(figures.FIGURES)):
            figures.add_figure(row)
            self.assertIs(figures.find_figure("nobody2000-fig1"), row)
        self.assertIsNone(figures.find_figure("nobody2000-fig1"))

    def test_the_version_is_the_project_s(self):
        cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"project\(ccpbench VERSION (\S+)", cmake),
                         [ccpbench.__version__])

    def test_the_program_is_found(self):
        self.assertEqual(places.find_program(PROGRAM), str(Path(PROGRAM).resolve()))
        self.assertIsNone(places.find_program("/nowhere/ccpbench"))
        self.assertEqual(problem.VERSIONS[-1], 3)


if __name__ == "__main__":
    unittest.main()
