#!/usr/bin/env python3
"""Programs of somebody else under the harness: good ones, slow ones, and those that misbehave.

Runs the built program named by the environment variable CCPBENCH in a folder of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import h5py
import numpy as np

PROGRAM = os.environ.get("CCPBENCH", "")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(SOURCE, "docs", "examples", "external_solver.py")

DONE, BAD_INPUT, USAGE, NOT_REACHED, CRASHED = range(5)


class External(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ccpbench-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.problem = self.path("block.h5")
        self.command("generate", "scene", "sliding-block", "-o", self.problem)

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *arguments, code=DONE):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, text=True,
                              capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def program(self, name, text):
        """A Python program; its answer to sliding-block is (0.96, -0.48, 0)."""
        head = """\
            import os, signal, sys, time
            import h5py, numpy as np
            def answer(gamma=(0.96, -0.48, 0), path=None, **attributes):
                with h5py.File(path or sys.argv[2], "w") as file:
                    file["gamma"] = np.array(gamma, float)
                    file.attrs.update(attributes)
            """
        with open(self.path(name), "w", encoding="utf-8") as stream:
            stream.write(textwrap.dedent(head) + textwrap.dedent(text))
        return [sys.executable, self.path(name), "{problem}", "{output}"]

    def solve(self, text, *more, code=NOT_REACHED, words=(), stop="residual=1e-9",
              limit="20"):
        words = self.program("other.py", text) + list(words)
        done = self.command("solve", self.problem, "--solver", "other", "--external",
                            " ".join(f"'{word}'" for word in words), "--stop", stop, "--json",
                            *(() if "--time-limit" in more else ("--time-limit", limit)),
                            "-o", self.path("result.h5"), "--force", *more,
                            code=code)
        self.command("check", self.path("result.h5"))
        return json.loads(done.stdout)

    def test_an_answer_is_judged_and_the_clock_is_said(self):
        result = self.solve("answer()", code=DONE)
        self.assertEqual(result["status"], "stopped_by_observer")
        self.assertLess(result["measures"]["residual"], 1e-12)
        self.assertGreater(result["time"], 0.01)  # of the whole process
        with h5py.File(self.path("result.h5")) as file:
            self.assertEqual(file["provenance"].attrs["clock"], "process")
            self.assertEqual(file["provenance"].attrs["external"], "other")
            self.assertEqual(file["curve/outer"][()].tolist(), [0, 1])
            self.assertIn("other.py", file["options"].attrs["command"])
        result = self.solve("answer(solve_time=1e-5, iterations=7, version='2.1', own_residual=1e-3,"
                            "own_residual_name='mine', setup_time=1e-6)", code=DONE)
        self.assertEqual((result["time"], result["outer"]), (1e-5, 7))
        self.assertEqual((result["own_residual"], result["setup_time"]), (1e-3, 1e-6))
        with h5py.File(self.path("result.h5")) as file:
            self.assertEqual(file["provenance"].attrs["clock"], "program")
            self.assertEqual(file["provenance"].attrs["external"], "other 2.1")
            self.assertGreater(file["timers/parts"].attrs["process"], 0.01)

    def test_a_wrong_answer_is_a_row_that_did_not_reach(self):
        result = self.solve("answer((1, 0, 0))")
        self.assertEqual((result["status"], result["stop_reached"]), ("converged", False))
        self.assertGreater(result["measures"]["residual"], 0.1)

    def test_an_answer_after_the_limit_does_not_reach(self):
        result = self.solve("time.sleep(0.5); answer()", "--time-limit", "0.3")
        self.assertEqual((result["status"], result["stop_reached"]), ("time_limit", False))
        self.assertLess(result["measures"]["residual"], 1e-12)

    def test_the_law_decides_on_the_measure(self):
        # By hand for Coulomb's law: gamma_n = 0.2, gamma_t = -0.1 against the slip, u_n = 0.
        text = "answer((0.2, -0.1, 0))"
        self.assertFalse(self.solve(text)["stop_reached"])
        self.assertTrue(self.solve(text, "--law", "coulomb", code=DONE)["stop_reached"])

    def test_a_history_is_the_curve(self):
        result = self.solve("""\
            answer(solve_time=0.003, iterations=30)
            with h5py.File(sys.argv[2], "a") as file:
                file["history/time"] = [0.001, 0.002]
                file["history/iterations"] = [10, 20]
                file["history/gamma"] = np.array([[[0.5, 0, 0]], [[0.96, -0.48, 0]]])
            """, "--targets", "residual=1e-6", code=DONE)
        self.assertEqual(result["targets"][0]["time"], 0.002)
        self.assertEqual(result["targets"][0]["outer"], 20)
        with h5py.File(self.path("result.h5")) as file:
            self.assertEqual(file["curve/outer"][()].tolist(), [0, 10, 20, 30])
            self.assertEqual(file["curve/time"][()].tolist(), [0, 0.001, 0.002, 0.003])

    def test_a_ladder_of_tolerances_is_a_curve_and_ends_where_the_stop_is_reached(self):
        text = """\
            tolerance = float(sys.argv[3])
            with open("starts", "a") as file: file.write(f"{tolerance}\\n")
            answer((0.96 + tolerance, -0.48, 0), solve_time=1e-6 / tolerance)
            """
        result = self.solve(text, "--tolerances", "1e-4,1e-2,1e-6", words=["{tolerance}"],
                            stop="residual=1e-3", code=DONE)
        with open(self.path("starts"), encoding="utf-8") as file:
            self.assertEqual(file.read().split(), ["0.01", "0.0001"])
        self.assertEqual(result["outer"], 2)
        with h5py.File(self.path("result.h5")) as file:
            np.testing.assert_allclose(file["curve/time"][()], [0, 1e-4, 1e-2])
            self.assertTrue((np.diff(file["curve/residual"][()]) < 0).all())
            self.assertEqual(file["options"].attrs["tolerances"], "0.01,0.0001,1e-06")
        # A rung that fails ends the ladder; what was there before stands.
        text += "if tolerance < 1e-3: sys.exit(3)\n"
        result = self.solve(text, "--tolerances", "1e-4,1e-2,1e-6", words=["{tolerance}"],
                            code=CRASHED)
        self.assertEqual(result["status"], "crashed")
        self.assertIn("tolerance 0.0001: ended with exit code 3", result["message"])
        self.assertEqual(result["outer"], 1)

    def test_every_fault_is_a_row_with_its_reason(self):
        faults = {
            "sys.exit('out of ideas')": ("crashed", "exit code 1: out of ideas"),
            "os.kill(os.getpid(), signal.SIGSEGV)": ("crashed", "signal 11"),
            "pass": ("crashed", "no such file"),
            "answer((1, 2))": ("crashed", "/gamma: expected 3 values"),
            "answer((1, 2, np.nan))": ("converged", ""),
            "answer(solve_time=1e9)": ("crashed", "solve_time: expected a time between"),
            "answer(solve_time=-1)": ("crashed", "solve_time"),
            "open(sys.argv[2], 'w').write('nonsense')": ("crashed", "an HDF5 file"),
            "answer(); h5py.File(sys.argv[2], 'a')['history/gamma'] = np.zeros((2, 1, 3))":
                ("crashed", "/history/time"),
        }
        for text, (status, reason) in faults.items():
            with self.subTest(text):
                result = self.solve(text, code=CRASHED if status == "crashed" else NOT_REACHED)
                self.assertEqual(result["status"], status)
                self.assertIn(reason, result["message"])

    def test_a_crash_is_no_answer(self):
        """Neither a table of zeros nor measures of them."""
        words = self.program("other.py", "sys.exit('out of ideas')")
        command = ["solve", self.problem, "--solver", "other", "--external", " ".join(words)]
        done = self.command(*command, "-o", "result.h5", code=CRASHED)
        self.assertIn("crashed (ended with exit code 1: out of ideas)", done.stdout)
        self.assertNotIn("residual ", done.stdout)
        self.assertNotIn("iterations", done.stdout)
        with h5py.File(self.path("result.h5")) as file:
            self.assertTrue(np.isnan(file["final"].attrs["residual"]))
        result = json.loads(self.command(*command, "--json", code=CRASHED).stdout)
        self.assertIsNone(result["measures"]["residual"])

    def assert_gone(self, process):
        for _ in range(100):
            if not os.path.exists(f"/proc/{process}"):
                return
            time.sleep(0.05)
        self.fail(f"process {process} still runs")

    def test_what_it_has_started_ends_with_it(self):
        """In whatever session, and however it ends itself."""
        start = """\
            import subprocess
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"],
                                     start_new_session=True)
            with open("child", "w") as file: file.write(f"{child.pid}")
            """
        for end, limit, code in (("answer()", "20", DONE), ("time.sleep(1000)", "0.5", NOT_REACHED),
                                 ("os.abort()", "20", CRASHED)):
            with self.subTest(end):
                self.solve(textwrap.dedent(start) + end, limit=limit, code=code)
                with open(self.path("child"), encoding="utf-8") as file:
                    self.assert_gone(file.read())

    def test_a_problem_that_it_does_not_say_it_takes_is_not_given_to_it(self):
        """Compliance: u = (N + Sigma) gamma + r, of which a program may know nothing."""
        self.command("generate", "column", "--spheres", "3", "-o", "soft.h5")
        self.problem = self.path("soft.h5#1")
        text = "answer(np.zeros((len(h5py.File(sys.argv[1])['ccp/mu']), 3)))"
        result = self.solve(text)
        self.assertEqual((result["status"], result["stop_reached"]), ("unsupported", False))
        self.assertIn("does not say that it takes problems with compliant contacts",
                      result["message"])
        self.assertEqual(self.solve(text, "--features", "compliant")["status"], "converged")
        with self.subTest("in a study"):
            self.study("name: soft", "problems: ['soft.h5#1']", "solvers:", "  - external:",
                       "      name: mine", "      features: [compliant]",
                       f"      command: '{sys.executable} other.py {{problem}} {{output}}'")
            (name,) = (name for name in os.listdir(self.path("out")) if name.endswith(".h5"))
            with h5py.File(os.path.join(self.path("out"), name)) as file:
                self.assertEqual(file.attrs["status"], "converged")
                self.assertEqual(file["request"].attrs["features"], "compliant")

    def test_a_step_of_a_sequence_is_a_file_of_its_own(self):
        self.command("generate", "pile", "--spheres", "20", "--contacts", "40", "--steps", "3",
                     "-o", "steps.h5")
        self.problem = self.path("steps.h5#2")
        result = self.solve("""\
            with h5py.File(sys.argv[1]) as file:
                assert file.attrs["format"] == "ccpbench-problem"
                answer(np.zeros((len(file["ccp/mu"]), 3)), message=file.attrs["content_sha256"])
            """)
        self.assertEqual((result["status"], result["message"]), ("converged", result["hash"]))

    def test_it_is_killed_at_its_limit(self):
        begin = time.monotonic()
        result = self.solve("""\
            with open("pid", "w") as file: file.write(str(os.getpid()))
            time.sleep(1000)
            """, limit="1")
        self.assertEqual(result["status"], "time_limit")
        self.assertIn("killed after", result["message"])
        self.assertLess(time.monotonic() - begin, 60)
        with open(self.path("pid"), encoding="utf-8") as file:
            self.assertFalse(os.path.exists(f"/proc/{file.read()}"))

    def study(self, *lines, code=NOT_REACHED, options=("--force",)):
        with open(self.path("study.yaml"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
        return self.command("run", "study.yaml", "-o", "out", *options, code=code)

    def test_in_a_study_it_is_a_solver_as_any_other(self):
        self.program("other.py", "answer((0.2, -0.1, 0))")
        self.program("slow.py", """\
            import subprocess
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
            with open("pids", "w") as file: file.write(f"{child.pid}")
            time.sleep(1000)
            """)
        lines = ["name: mixed", "problems: [block.h5]", "solvers:", "  - pgj",
                 "  - external:",
                 "      name: mine", "      law: coulomb",
                 f"      command: '{sys.executable} other.py {{problem}} {{output}}'",
                 "  - external: {name: slow, command: [" + sys.executable +
                 ", slow.py, '{problem}', '{output}']}",
                 "time_limit: 1", "repetitions: 1"]
        self.study(*lines, options=("--force", "--json"))
        rows = {}
        for name in os.listdir(self.path("out")):
            if name.endswith(".h5"):
                self.command("check", os.path.join("out", name))
                with h5py.File(os.path.join(self.path("out"), name)) as file:
                    rows[file.attrs["solver"]] = dict(file.attrs)
        self.assertEqual(set(rows), {"pgj", "mine", "slow"})
        self.assertEqual(rows["mine"]["law"], "coulomb")
        self.assertEqual(rows["mine"]["stop"], "coulomb_residual=1e-06")
        self.assertEqual(rows["mine"]["stop_reached"], 1)
        self.assertEqual(rows["slow"]["status"], "time_limit")
        with open(self.path("pids"), encoding="utf-8") as file:
            self.assert_gone(file.read())
        # Results are kept until the program changes.
        out = self.study(*lines, options=("--resume", "--dry-run"), code=DONE).stdout
        self.assertNotIn("to run", out)
        self.program("other.py", "answer((0.2, -0.1, 0.0))")
        out = self.study(*lines, options=("--resume", "--dry-run"), code=DONE).stdout
        self.assertEqual(out.count("to run"), 1, out)

    def test_results_are_kept_until_what_it_depends_on_changes(self):
        self.program("other.py", "from helper import scale; answer((0.96 * scale, -0.48, 0))")
        os.mkdir(self.path("lib"))
        for name in ("helper.py", "lib/a.dat", "lib/b.dat"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("scale = 1\n")
        lines = ["name: mine", "problems: [block.h5]", "solvers:", "  - external:",
                 "      name: mine", "      depends: [helper.py, lib/*.dat]",
                 f"      command: '{sys.executable} other.py {{problem}} {{output}}'"]
        self.study(*lines, code=DONE)
        for changed in ("helper.py", "lib/b.dat"):
            out = self.study(*lines, options=("--resume", "--dry-run"), code=DONE).stdout
            self.assertNotIn("to run", out)
            with open(self.path(changed), "a", encoding="utf-8") as file:
                file.write("# changed\n")
            out = self.study(*lines, options=("--resume", "--dry-run"), code=DONE).stdout
            self.assertEqual(out.count("to run"), 1, changed)
            self.study(*lines, options=("--resume",), code=DONE)
        os.remove(self.path("helper.py"))
        done = self.study(*lines, options=("--resume",), code=BAD_INPUT)
        self.assertIn("helper.py: expected a file, or files of that pattern", done.stderr)

    def test_bad_entries_are_refused_with_their_place(self):
        cases = {
            "name: pgj, command: 'x {output}'": "none of our solvers'",
            "name: 'a b', command: 'x {output}'": "letters, digits",
            "command: 'x {output}'": "letters, digits",
            "name: x": "a program",
            "name: x, command: 'x {problem}'": "{output}",
            "name: x, command: 'x {output} {tolerence}'": "did you mean 'tolerance'?",
            "name: x, command: 'x {output} {tolerance}'": "tolerances for {tolerance}",
            "name: x, command: 'x {output}', tolerances: [1]": "{tolerance}, for there are",
            "name: x, command: 'x {output} {tolerance}', tolerances: [-1]": "numbers > 0",
            "name: x, command: 'x {output}', law: newton": "convex or coulomb",
            "name: x, command: 'x {output}', features: [rubber]": "compliant, rolling",
            "name: x, command: 'x {output}', features: device": "what problems have",
            "name: x, comand: y": "did you mean 'command'?",
            "name: x, command: \"x '{output}\"": "a second '",
        }
        for entry, complaint in cases.items():
            with self.subTest(entry):
                done = self.study("name: bad", "problems: [block.h5]", "solvers:",
                                  "  - external: {" + entry + "}", code=BAD_INPUT)
                self.assertIn(complaint, done.stderr)
                self.assertIn("study.yaml: line 4", done.stderr)

    def test_the_example_of_the_documentation(self):
        pile = self.path("pile.h5")
        self.command("generate", "pile", "--spheres", "30", "--contacts", "80", "-o", pile)
        for problem, stop in ((pile, "residual=1e-4"), (self.problem, "residual=1e-8")):
            self.command("solve", problem, "--solver", "example", "--external",
                         f"{sys.executable} {EXAMPLE} {{problem}} {{output}} {{time_limit}}",
                         "--stop", stop, "--time-limit", "20", "-o", self.path("e.h5"), "--force")
        with h5py.File(self.path("e.h5")) as file:
            self.assertIn("numpy", file["provenance"].attrs["external"])
            self.assertGreater(len(file["curve/time"]), 3)
        with open(EXAMPLE, encoding="utf-8") as example, \
                open(os.path.join(SOURCE, "docs", "add-an-external-solver.md"),
                     encoding="utf-8") as text:
            self.assertIn(example.read(), text.read())


if __name__ == "__main__":
    unittest.main(verbosity=2)
