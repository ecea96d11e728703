#!/usr/bin/env python3
"""Studies that go wrong: solvers that crash, hang, lie or eat memory, and kills at any moment.

Runs the program named by the environment variable CCPBENCH_FAKES, which is ccpbench with the
solvers of tests/harness/fake_solvers.cpp, in a folder of its own.
"""
import fcntl
import json
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import h5py
import numpy as np

PROGRAM = os.environ.get("CCPBENCH_FAKES", "")
HERE = os.path.dirname(os.path.abspath(__file__))
DONE, BAD_INPUT, USAGE, NOT_REACHED, CRASHED = range(5)


def processors(ranges):
    """{0, 1, 2, 8} of "0-2,8"."""
    ends = [(part.split("-")[0], part.split("-")[-1]) for part in ranges.split(",")]
    return {number for first, last in ends for number in range(int(first), int(last) + 1)}


class Isolation(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="ccpbench-test-")
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.scene("resting-block")

    def path(self, name):
        return os.path.join(self.folder, name)

    def scene(self, name):
        subprocess.run([PROGRAM, "generate", "scene", name, "-o", self.path(name + ".h5")],
                       check=True, timeout=60, capture_output=True)

    def write_study(self, *lines):
        with open(self.path("study.yaml"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(["name: demo", "warm_up: 0", *lines, ""]))

    def command(self, *arguments):
        return [PROGRAM, "run", "study.yaml", "-o", "out", "--grace", "1", *arguments]

    def run_study(self, *arguments, code=DONE, **options):
        done = subprocess.run(self.command(*arguments), cwd=self.folder, text=True,
                              capture_output=True, timeout=200, check=False, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def start_study(self, *arguments):
        return subprocess.Popen(self.command(*arguments), cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def files(self):
        return sorted(os.listdir(self.path("out"))) if os.path.exists(self.path("out")) else []

    def rows(self):
        """{solver id: what its result file says}"""
        rows = {}
        for name in self.files():
            self.assertTrue(name.endswith(".h5"), name)
            with h5py.File(self.path("out/" + name)) as file:
                row = dict(file.attrs)
                row["time"] = file["curve/time"][:]
                for column in ("outer", "own_residual", "cost"):
                    row["curve_" + column] = file["curve/" + column][:]
                row["final"] = dict(file["final"].attrs)
                row["timers"] = dict(file["timers"].attrs)
                row["provenance"] = dict(file["provenance"].attrs)
                rows[row["solver_id"]] = row
        subprocess.run([PROGRAM, "check", self.path("out")], check=True, capture_output=True,
                       timeout=60)
        return rows

    def wait_for_child(self, parent):
        """The process id of the run that a study has started."""
        path = f"/proc/{parent.pid}/task/{parent.pid}/children"
        for _ in range(2000):
            with open(path, encoding="ascii") as stream:
                child = stream.read().split()
            if child:
                return int(child[0])
            time.sleep(0.005)
        raise AssertionError("no child was started")

    def assert_gone(self, process):
        """A killed process may take a moment to go; a zombie counts as gone."""
        for _ in range(1000):
            try:
                with open(f"/proc/{process}/stat", encoding="ascii") as stream:
                    if stream.read().rpartition(")")[2].split()[0] == "Z":
                        return
            except (FileNotFoundError, ProcessLookupError):
                return
            time.sleep(0.01)
        self.fail(f"process {process} still runs")

    def test_every_fault_becomes_a_row_with_its_reason_and_curve(self):
        self.write_study("problems: [resting-block.h5]", "time_limit: 1", "memory_limit: 0.4",
                         "solvers: [fake-hang, fake-crash, fake-abort, fake-exit, fake-fail, "
                         "fake-lie, fake-nan, fake-glutton, fake-halving]")
        out, _ = self.run_study(code=CRASHED)
        self.assertIn("6 crashed", out)
        rows = self.rows()
        self.assertEqual(len(rows), 9)
        for solver, status, message in (
                ("hang", "killed", "killed after 2.5 s"),
                ("crash", "crashed", "signal 11 (Segmentation fault)"),
                ("abort", "crashed", "signal 6 (Aborted): libfake: matrix is singular"),
                ("exit", "crashed", "exit code 1: libfake: giving up"),
                ("fail", "crashed", "thrown by a library"),
                ("glutton", "out_of_memory", "more than its 0.40 GB"),
                ("lie", "converged", ""), ("nan", "numerical_error", ""),
                ("halving", "stopped_by_observer", "")):
            with self.subTest(solver=solver):
                row = rows["fake-" + solver]
                self.assertEqual(row["status"], status)
                self.assertIn(message, row["message"])
                self.assertEqual(row["stop_reached"], int(solver == "halving"))
                if status in ("crashed", "killed", "out_of_memory"):
                    self.assertGreaterEqual(len(row["time"]), 1)
                    np.testing.assert_array_equal(row["curve_own_residual"],
                                                  0.5 ** row["curve_outer"])
                    self.assertTrue(np.isnan(row["final"]["residual"]))
                    self.assertNotEqual(row["provenance"]["command_line"], "")
        # Five iterations were observed. On a busy machine a checkpoint may be left out.
        self.assertGreaterEqual(max(len(row["time"]) for row in rows.values()
                                    if row["status"] == "crashed"), 4)
        self.assertLess(rows["fake-hang"]["timers"]["wall"], 12)
        self.assertGreater(rows["fake-glutton"]["peak_memory"], 0.3e9)
        # A solver that lies is not believed: it claims 1e-14, the referee saw another thing.
        self.assertEqual(rows["fake-lie"]["own_residual"], 1e-14)
        self.assertGreater(rows["fake-lie"]["final"]["residual"], 1e-3)

        # Failed runs are kept, unless they are to be tried again.
        out, _ = self.run_study("--resume", code=CRASHED)
        self.assertIn("(9 kept from before)", out)
        out, _ = self.run_study("--resume", "--retry-failed", "--dry-run")
        self.assertEqual(out.count("to run: it ended as"), 6)
        self.assertEqual(out.count("finished"), 3)

    def test_a_known_curve_is_measured_as_it_is(self):
        """gamma = (1 + e) gamma* on one block at rest: u = N gamma + r = e N gamma* = -e r, so that
        cost = gamma.u = (1 + e) e c with c = gamma*.N gamma* / n, known from k = 0."""
        self.write_study("problems: [resting-block.h5]", "solvers: ['fake-halving[pause=0.001]']",
                         "stop: residual=1e-9")
        self.run_study()
        row = self.rows()["fake-halving"]
        error = 0.5 ** row["curve_outer"]
        cost = row["curve_cost"][0] / 2 * (1 + error) * error
        np.testing.assert_allclose(row["curve_cost"], cost, rtol=1e-6)

    def test_an_answer_worse_than_the_last_look_is_what_is_judged(self):
        self.write_study("problems: [resting-block.h5]", "solvers: [fake-regress]",
                         "stop: residual=1e-3")
        self.run_study(code=NOT_REACHED)
        (name,) = self.files()
        with h5py.File(self.path("out/" + name)) as file:
            curve = file["curve/residual"][:]
            self.assertLess(curve[-2], 1e-3)
            self.assertGreater(curve[-1], 0.1)
            self.assertEqual(file["final"].attrs["residual"], curve[-1])
            self.assertEqual(file["best"].attrs["residual"], curve.min())
            self.assertEqual(file.attrs["stop_reached"], 0)
        self.rows()

    def test_the_parent_killed_at_any_moment_loses_one_run_at_most(self):
        for scene in ("stack", "v-groove", "sliding-block", "mass-ratio-stack"):
            self.scene(scene)
        self.write_study("problems: ['*.h5']", "solvers: [pgj, ipm]", "repetitions: 4",
                         "time_limit: 10")
        plan = [json.loads(line)["file"]
                for line in self.run_study("--dry-run", "--json")[0].splitlines()]
        self.assertEqual(len(set(plan)), 40)
        random.seed(1)
        contents: dict[str, bytes] = {}
        for _ in range(10):
            with self.start_study("--resume") as parent:
                child = self.wait_for_child(parent)
                time.sleep(random.uniform(0, 0.6))
                parent.kill()
            self.assert_gone(child)
            done = [name for name in self.files() if name.endswith(".h5")]
            now = {name: self.read(name) for name in done}
            for name, content in contents.items():
                self.assertEqual(now[name], content, f"{name} was made again")
            contents = now
        self.assertLess(len(contents), 40)
        out, _ = self.run_study("--resume")
        self.assertIn(f"({len(contents)} kept from before)", out)
        self.assertEqual(self.files(), sorted(plan))  # none lost, none twice, nothing else
        self.rows()
        for name, content in contents.items():
            self.assertEqual(self.read(name), content)

    def read(self, name):
        with open(self.path("out/" + name), "rb") as stream:
            return stream.read()

    def test_interrupt_ends_the_run_in_flight_and_says_how_to_go_on(self):
        self.write_study("problems: [resting-block.h5]", "solvers: [fake-hang]")
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number), self.start_study("--resume") as parent:
                child = self.wait_for_child(parent)
                time.sleep(0.3)
                parent.send_signal(number)
                out, err = parent.communicate(timeout=60)
                self.assertEqual(parent.returncode, -number)
                self.assertIn("--resume goes on", err)
                self.assertRegex(out, "1 run in out: 0 reached .*, 0 did not, 0 crashed, 1 not made")
                self.assert_gone(child)
                self.assertEqual(self.files(), [])

    def test_a_full_disk_ends_the_study_and_leaves_earlier_results(self):
        self.write_study("problems: [resting-block.h5]", "solvers: [pgj, ipm]")
        self.run_study()
        before = {name: self.read(name) for name in self.files()}

        def end_of_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

        _, err = self.run_study("--force", code=BAD_INPUT, preexec_fn=end_of_disk)
        self.assertIn("to write", err)
        self.assertIn("File too large", err)
        self.assertEqual({name: self.read(name) for name in self.files()}, before)

    def test_two_runs_at_a_time_have_cores_of_their_own(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor only")
        self.write_study("problems: [resting-block.h5]", "time_limit: 0.5", "stop: residual=1e-30",
                         "solvers: ['fake-halving[pause=0.02]', 'fake-nan[after=30,pause=0.02]']")
        _, err = self.run_study("--jobs", "999", code=BAD_INPUT)
        self.assertIn("--jobs: expected at most", err)
        self.run_study("-j", "2", code=NOT_REACHED)
        rows = self.rows()
        cores = [row["provenance"]["affinity"] for row in rows.values()]
        self.assertEqual(len(set(cores)), 2, cores)
        self.assertEqual({row["provenance"]["jobs"] for row in rows.values()}, {"2"})

    def test_two_studies_at_once_do_not_share_a_core(self):
        """A single run of one thread is left where the system puts it, whatever OpenMP's library
        would do when it is loaded; several threads or runs get cores of their own."""
        self.write_study("problems: [resting-block.h5]", "time_limit: 0.5", "stop: residual=1e-30",
                         "solvers: ['fake-halving[pause=0.02]']")
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("OMP_")}
        studies = [subprocess.Popen([*self.command()[:3], "-o", folder], cwd=self.folder,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    env=environment) for folder in ("out", "other")]
        self.assertEqual([study.wait(timeout=60) for study in studies], [NOT_REACHED] * 2)
        for folder in ("out", "other"):
            (name,) = os.listdir(self.path(folder))
            with h5py.File(os.path.join(self.path(folder), name)) as file:
                made = file["provenance"].attrs
                self.assertEqual(processors(made["affinity"]), os.sched_getaffinity(0))
                self.assertEqual(made["binding"], "OMP_PROC_BIND= OMP_PLACES=")

    def test_what_people_see(self):
        """The lines of a study, with numbers normalised, against tests/golden."""
        self.write_study("problems: [resting-block.h5]", "repetitions: 2", "time_limit: 5",
                         "solvers: [fake-crash, fake-halving, fake-nan]")
        shown = self.run_study("--dry-run")[0] + self.run_study(code=CRASHED)[0]
        with open(self.path("study.yaml"), "a", encoding="utf-8") as stream:
            stream.write("stop: residual=1e-4\n")
        shown += self.run_study("--resume", "--dry-run")[0]
        shown += self.run_study("--resume", "--quiet", code=CRASHED)[0]
        shown = re.sub(r" (serial|openmp|cuda)\b", " BACKEND", shown)
        shown = re.sub(r"\d\.\d\de[+-]\d\d", "X", shown)
        shown = re.sub(r"in [\d.]+ (us|ms|s), \d+ outer", "in T, K outer", shown)
        golden = os.path.join(os.path.dirname(HERE), "golden", "run.txt")
        if os.environ.get("CCPBENCH_WRITE_GOLDEN"):
            with open(golden, "w", encoding="utf-8") as stream:
                stream.write(shown)
        with open(golden, encoding="utf-8") as stream:
            self.assertEqual(shown, stream.read())

    def test_json_and_quiet(self):
        self.write_study("problems: [resting-block.h5]",
                         "solvers: [fake-crash, fake-halving, fake-nan]")
        out, err = self.run_study("--json", code=CRASHED)
        self.assertEqual(err, "")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(len(lines), 4)
        self.assertIn(lines[-1].pop("doubtful"), range(4))  # what else this machine does
        by_solver = {line["solver"]: line for line in lines[:-1]}
        self.assertEqual(by_solver["fake-crash"]["status"], "crashed")
        self.assertIn("signal 11", by_solver["fake-crash"]["message"])
        self.assertIs(by_solver["fake-halving"]["stop_reached"], True)
        self.assertIsNone(by_solver["fake-nan"]["residual"])
        self.assertEqual(lines[-1], {"study": "demo", "folder": "out", "runs": 3, "done": 3,
                                     "reached": 1, "not_reached": 1, "crashed": 1, "kept": 0,
                                     "interrupted": False})
        out, _ = self.run_study("--quiet", "--force", code=CRASHED)
        self.assertEqual(len(out.splitlines()), 1)  # what went wrong
        self.assertIn("fake-crash", out)

    def test_progress_on_a_terminal(self):
        self.write_study("problems: [resting-block.h5]", "repetitions: 2", "time_limit: 3",
                         "solvers: ['fake-halving[pause=0.04]']", "stop: residual=1e-9")
        ours, theirs = os.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        with subprocess.Popen(self.command(), cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=theirs) as parent:
            os.close(theirs)
            shown = b""
            try:
                while part := os.read(ours, 4096):
                    shown += part
            except OSError:  # the other end is closed
                pass
            self.assertEqual(parent.wait(timeout=60), DONE)
        os.close(ours)
        lines = [line for line in shown.decode().split("\r\033[K") if "warning" not in line]
        self.assertLessEqual(max(map(len, lines)), 79)  # shortened to fit
        self.assertRegex("\n".join(lines), r"\[1/2\] resting-block × fake-halving\[pause=0\.04\].*"
                                           r"  residual \d\.\d+e-\d+  \d\.\d/3 s")
        self.assertRegex("\n".join(lines), r"\[2/2\] resting-block .*…  residual \S+  \S+ s  "
                                           r"eta \d+ s")


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit("set CCPBENCH_FAKES to the test program")
    unittest.main(verbosity=2)
