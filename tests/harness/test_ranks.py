#!/usr/bin/env python3
"""`ccpbench solve --ranks` and `info --ranks`: what users see, what is refused, ranks that die.

Runs the program named by the environment variable CCPBENCH in a folder of its own. More ranks than
processors are started, so nothing here is about times.
"""
import json
import os
import random
import signal
import subprocess
import tempfile
import time
import unittest

import h5py
import numpy as np

PROGRAM = os.environ.get("CCPBENCH", "")
DONE, BAD_INPUT, USAGE, NOT_REACHED, CRASHED = range(5)


def words_of(process):
    """The command line of a process, or nothing if it has gone."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def ranks_of(folder):
    """Process numbers of the ranks that run in this folder."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            words = words_of(name).split(b"\0")
            is_rank = words[0] == PROGRAM.encode() and b"--launcher" in words
            if is_rank and os.readlink(f"/proc/{name}/cwd") == folder:
                found.append(int(name))
        except OSError:  # it has gone
            continue
    return found


def wait_until(condition, seconds=20.0):
    """Whether it came true in that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


class Ranks(unittest.TestCase):
    maxDiff = None
    holder: "tempfile.TemporaryDirectory[str]"
    folder: str

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="ccpbench-test-")
        cls.folder = os.path.realpath(cls.holder.name)
        cls.program("generate", "pile", "--spheres", "200", "--contacts", "600", "-o", "pile.h5")
        cls.program("generate", "scene", "resting-block", "-o", "block.h5")
        cls.program("generate", "scene", "assembled-stack", "-o", "assembled.h5")
        cls.program("generate", "scene", "zero-contacts", "-o", "nothing.h5")

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    @classmethod
    def program(cls, *arguments, code=DONE, environment=()):
        done = subprocess.run([PROGRAM, *arguments], cwd=cls.folder, text=True, timeout=200,
                              capture_output=True, check=False,
                              env={**os.environ, **dict(environment)})
        said = f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.returncode == code, said
        return done.stdout, done.stderr

    def solve(self, file, *arguments, **options):
        return self.program("solve", file, "--oversubscribe", *arguments, **options)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_ranks_solve_what_one_process_solves(self):
        answers, residuals = [], []
        for ranks in ("1", "2", "3"):
            out, _ = self.solve("pile.h5", "--solver", "apgd", "--stop", "residual=1e-300",
                                "--max-outer", "30", "--ranks", ranks, "--keep-gamma", "--bare",
                                "-o", f"run{ranks}.h5", "--json", code=NOT_REACHED)
            result = json.loads(out)
            self.assertEqual(result["contacts"], 600)
            self.assertEqual(result["bodies"], 200)
            self.assertEqual(result["outer"], 30)
            self.assertEqual(result["status"], "max_iterations")
            self.assertEqual(result["ranks"], int(ranks))
            self.assertEqual(result["bare_difference"], 0)  # sums are reproducible
            residuals.append(result["measures"]["residual"])
            with h5py.File(self.path(f"run{ranks}.h5")) as file:
                self.assertEqual(file["provenance"].attrs["ranks"], ranks)
                self.assertIn("--ranks " + ranks, file["provenance"].attrs["command_line"])
                answers.append(np.array(file["final/gamma"]).ravel())
                with h5py.File(self.path("pile.h5")) as problem:
                    self.assertEqual(file.attrs["instance_hash"], problem.attrs["content_sha256"])
        for answer, residual in zip(answers, residuals, strict=True):
            self.assertEqual(answer.shape, (1800,))
            self.assertLess(np.abs(answer - answers[0]).max(), 1e-9 * np.abs(answers[0]).max())
            self.assertAlmostEqual(residual / residuals[0], 1, places=6)

    def test_a_result_says_what_ranks_spent_with_each_other(self):
        for ranks in (1, 3):
            name = f"spent{ranks}.h5"
            self.solve("pile.h5", "--solver", "pgj[tolerance=0]", "--stop", "residual=1e-300",
                       "--max-outer", "200", "--ranks", str(ranks), "-o", name, code=NOT_REACHED)
            self.program("check", name)
            with h5py.File(self.path(name)) as file:
                self.assertEqual("ranks" in file, ranks > 1)
                if ranks == 1:
                    continue
                spent = {key: np.array(file["ranks"][key]) for key in file["ranks"]}
                applies = file["counters"].attrs["operator_applies"]
                solve = file["timers"].attrs["solve"]
        self.assertEqual(set(spent), {"exchange_time", "reduction_time", "exchanges", "reductions"})
        self.assertEqual(list(spent["exchanges"]), [applies] * 3)
        self.assertTrue((spent["reductions"] == spent["reductions"][0]).all())
        self.assertGreaterEqual(spent["reductions"][0], 200)  # the clock of rank 0
        for times in (spent["exchange_time"], spent["reduction_time"]):
            self.assertEqual(times.shape, (3,))
            self.assertTrue((times > 0).all())
        self.assertLess(spent["exchange_time"][0] + spent["reduction_time"][0], solve)
        with h5py.File(self.path("spent3.h5"), "a") as file:
            file["ranks/exchange_time"][1] = -1
        _, err = self.program("check", "spent3.h5", code=BAD_INPUT)
        self.assertIn("/ranks/exchange_time[1]: expected a number >= 0, found -1", err)
        with h5py.File(self.path("spent3.h5"), "a") as file:
            del file["ranks/exchange_time"]
            file["ranks/exchange_time"] = np.ones(2)
        _, err = self.program("check", "spent3.h5", code=BAD_INPUT)
        self.assertIn("/ranks/exchange_time: expected 3 values, one per rank, found 2", err)

    def test_ranks_that_wait_let_others_run_only_where_processors_are_short(self):
        launcher = self.path("telling-mpiexec")
        with open(launcher, "w", encoding="utf-8") as stream:
            stream.write('#!/bin/sh\nenv > launched.txt\nexit 1\n')
        os.chmod(launcher, 0o700)
        processors = len(os.sched_getaffinity(0))
        without = {key: "" for key in os.environ if key.startswith("OMPI_MCA")}
        for ranks in (2, processors + 1):
            self.solve("pile.h5", "--solver", "pgj", "--ranks", str(ranks), code=CRASHED,
                       environment={**without, "CCPBENCH_MPIEXEC": launcher})
            with open(self.path("launched.txt"), encoding="utf-8") as stream:
                yields = "OMPI_MCA_mpi_yield_when_idle=1\n" in stream.readlines()
            self.assertEqual(yields, ranks > processors, ranks)

    def test_what_runs_on_ranks_prints_what_one_process_prints(self):
        out, err = self.solve("pile.h5", "--solver", "pgj", "--stop", "residual=1e-2",
                              "--ranks", "2")
        complaints = [line for line in err.splitlines() if "load average" not in line]
        self.assertEqual(complaints, [])
        self.assertIn("1 thread on each of 2 ranks", out)
        self.assertIn("residual=0.01: reached", out)
        out, _ = self.solve("pile.h5", "--solver", "pgj", "--ranks", "2", "--max-outer", "5",
                            code=NOT_REACHED)
        self.assertIn("5 outer iterations", out)
        out, err = self.solve("pile.h5", "--solver", "bb", "--stop", "residual=1e-2",
                              "--ranks", "2", "--quiet")
        self.assertEqual((out, err), ("", ""))

    def test_the_time_limit_is_that_of_rank_0(self):
        out, _ = self.solve("pile.h5", "--solver", "pgj[tolerance=0]", "--ranks", "3",
                            "--time-limit", "0.5", "--stop", "residual=1e-300", "--json",
                            code=NOT_REACHED)
        self.assertEqual(json.loads(out)["status"], "time_limit")

    def test_what_cannot_be_spread_is_refused_in_a_sentence(self):
        refusals = [
            (("block.h5", "--solver", "pgj", "--ranks", "2"),
             "block.h5: contacts: expected at least as many as ranks, 2, found 1"),
            (("nothing.h5", "--solver", "pgj", "--ranks", "2"),
             "nothing.h5: contacts: expected at least as many as ranks, 2, found 0"),
            (("pile.h5", "--solver", "admm", "--ranks", "2"),
             ("--ranks: expected 1 with admm, found 2: admm does not run on several ranks; "
              "pgj, pgs, apgd, bb, ipm, vipm do")),
            (("pile.h5", "--solver", "vipm[linear_solver=cholesky]", "--ranks", "2"),
             ("--ranks: expected 1 with vipm, found 2: vipm with linear_solver=cholesky does not "
              "run on several ranks; linear_solver=auto does: conjugate gradients with "
              "overlapping Schwarz")),
            (("pile.h5", "--solver", "ipm[krylov=cholmod]", "--ranks", "2"),
             ("--ranks: expected 1 with ipm, found 2: ipm with krylov=cholmod does not run on "
              "several ranks; krylov=cg does")),
            (("assembled.h5", "--solver", "pgj", "--ranks", "2"),
             ("assembled.h5: form: expected bodies, which alone can be spread over ranks, "
              "found assembled")),
            (("pile.h5", "--solver", "pgj", "--ranks", "2", "--start", "reference"),
             "--ranks: expected 1 with --start, as several ranks start cold, found 2"),
            (("pile.h5", "--solver", "other", "--external", "true {output}", "--ranks", "2"),
             "--ranks: expected 1 with --external, whose program does as it likes, found 2"),
        ]
        for arguments, sentence in refusals:
            with self.subTest(sentence):
                out, err = self.solve(*arguments, code=BAD_INPUT)
                self.assertEqual(out, "")
                said = err.strip().replace(self.folder + "/", "")
                self.assertEqual(said, "ccpbench: " + sentence)
        self.program("solve", "pile.h5", "--solver", "pgj", "--ranks", "0", code=USAGE)

    def test_more_ranks_than_processors_are_refused_unless_asked_for(self):
        many = str(len(os.sched_getaffinity(0)) + 1)
        _, err = self.program("solve", "pile.h5", "--solver", "pgj", "--ranks", many,
                              code=BAD_INPUT)
        self.assertIn("--ranks: expected at most", err)
        self.assertIn("--oversubscribe", err)

    def test_without_a_launcher_there_is_a_sentence(self):
        for launcher, found in (("no-such-launcher", "No such file"), (" ", "nothing")):
            _, err = self.solve("pile.h5", "--solver", "pgj", "--ranks", "2", code=BAD_INPUT,
                                environment={"CCPBENCH_MPIEXEC": launcher})
            self.assertIn(found, err)
        # One that starts processes which do not find each other: every one says so, none hangs.
        fake = self.path("fake-mpiexec")
        with open(fake, "w", encoding="utf-8") as stream:
            stream.write('#!/bin/sh\nshift 2\nexec "$@"\n')
        os.chmod(fake, 0o700)
        _, err = self.solve("pile.h5", "--solver", "pgj", "--ranks", "2", code=BAD_INPUT,
                            environment={"CCPBENCH_MPIEXEC": fake})
        self.assertIn("expected 2 ranks, found 1 that found each other", err)

    def write_launcher(self, name, *lines):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("\n".join(["#!/usr/bin/env python3", "import os, signal, subprocess, sys, time",
                                    "command = sys.argv[3:]", *lines, ""]))
        os.chmod(path, 0o700)
        return path

    def processes_with(self, word):
        return [name for name in os.listdir("/proc")
                if name.isdigit() and word.encode() in words_of(name)]

    def test_a_launcher_that_does_not_notice_a_dead_rank_is_ended(self):
        # The rank is killed as soon as it is there, before it can have started MPI; the other one
        # waits for it, and their launcher for both.
        launcher = self.write_launcher(
            "deaf-mpiexec",
            "other = subprocess.Popen(['sleep', '1000'])",
            "rank = subprocess.Popen(command)",
            "os.kill(rank.pid, signal.SIGKILL)",
            "time.sleep(1000)")
        begin = time.monotonic()
        out, err = self.solve("pile.h5", "--solver", "pgj", "--ranks", "2", "-o", "dead.h5",
                              code=CRASHED, environment={"CCPBENCH_MPIEXEC": launcher})
        self.assertEqual(out, "")
        self.assertEqual(err, "ccpbench: one of 2 ranks ended before its time and the launcher went "
                              "on waiting; it and the other ranks were ended\n")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertFalse(os.path.exists(self.path("dead.h5")))
        self.assertTrue(wait_until(lambda: not self.processes_with(launcher)), "an orphan is left")
        self.assertEqual(ranks_of(self.folder), [])

    def test_ranks_that_never_find_each_other_are_ended(self):
        # Nothing of them is dead: one is stopped before it can have started MPI.
        launcher = self.write_launcher(
            "slow-mpiexec",
            "rank = subprocess.Popen(command)",
            "os.kill(rank.pid, signal.SIGSTOP)",
            "rank.wait()")
        limit = {"CCPBENCH_MPIEXEC": launcher, "CCPBENCH_LAUNCH_LIMIT": "1.5"}
        _, err = self.solve("pile.h5", "--solver", "pgj", "--ranks", "2", code=CRASHED,
                            environment=limit)
        self.assertEqual(err, "ccpbench: 2 ranks have not found each other within 1.5 s "
                              "(CCPBENCH_LAUNCH_LIMIT sets another limit); their launcher and what is "
                              "left of them were ended\n")
        self.assertTrue(wait_until(lambda: not self.processes_with(launcher)), "an orphan is left")
        self.assertTrue(wait_until(lambda: not ranks_of(self.folder)), "an orphan is left")
        for wrong in ("soon", "0", "-1", "3 s"):
            _, err = self.solve("pile.h5", "--solver", "pgj", "--ranks", "2", code=BAD_INPUT,
                                environment={"CCPBENCH_LAUNCH_LIMIT": wrong})
            self.assertEqual(err, "ccpbench: CCPBENCH_LAUNCH_LIMIT: expected seconds > 0, "
                                  f"found {wrong}\n")

    def start_long_solve(self):
        process = subprocess.Popen(
            [PROGRAM, "solve", "pile.h5", "--solver", "pgj[tolerance=0]", "--oversubscribe",
             "--stop", "residual=1e-300", "--ranks", "3", "-o", "long.h5"],
            cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: len(ranks_of(self.folder)) == 3), "no three ranks")
        return process

    def test_a_rank_that_dies_ends_the_solve(self):
        for victim in range(3):
            process = self.start_long_solve()
            time.sleep(0.2 * victim)  # at the start, while it reads, while it solves
            os.kill(sorted(ranks_of(self.folder))[victim], signal.SIGKILL)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, CRASHED, err)
            self.assertIn("one of 3 ranks ended before its time", err)
            self.assertTrue(wait_until(lambda: not ranks_of(self.folder)), "an orphan is left")
        self.assertFalse(os.path.exists(self.path("long.h5")))

    def test_no_rank_outlives_its_launcher(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            process = self.start_long_solve()
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, -number)
            self.assertTrue(wait_until(lambda: not ranks_of(self.folder)), "an orphan is left")

    def test_ipm_and_pgs_arrive_on_a_settled_pile(self):
        # With what docs/scaling.md says that ipm needs for it.
        self.program("generate", "pile", "--spheres", "15", "--contacts", "40", "-o", "few.h5")
        ipm = ("ipm[strategy=potential_reduction,krylov_tolerance=1e-10,"
               "krylov_max_iterations=50000,tol_cost=0]")
        for solver, stop in ((ipm, "residual=1e-8"), ("pgs", "residual=1e-4")):
            outer = set()
            for ranks in ("1", "2", "4"):
                out, _ = self.solve("few.h5", "--solver", solver, "--stop", stop, "--ranks", ranks,
                                    "--time-limit", "150", "--json")
                result = json.loads(out)
                self.assertTrue(result["stop_reached"])
                outer.add(result["outer"])
            if solver == ipm:  # whose directions are as good as exact
                self.assertLessEqual(max(outer) - min(outer), 2)

    def write_study(self, *lines):
        with open(self.path("study.yaml"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(["name: demo", "warm_up: 0", "problems: [pile.h5]", *lines, ""]))

    def test_studies_run_on_ranks(self):
        self.write_study("solvers: [pgj, admm]", "stop: residual=1e-2", "ranks: [1, 2]")
        self.program("run", "study.yaml", "-o", "out", "--quiet", "--oversubscribe")
        found = {}
        for name in sorted(os.listdir(self.path("out"))):
            with h5py.File(self.path("out/" + name)) as file:
                found[name.rsplit("__", 2)[0]] = file["provenance"].attrs["ranks"]
                self.assertTrue(file.attrs["stop_reached"])
        # What does not run on several ranks runs on one.
        self.assertEqual(found, {"pile__pgj__t1": "1", "pile__pgj__t1__n2": "2",
                                 "pile__admm__t1": "1"})
        # Reports and comparisons take runs on ranks for other runs than those on one.
        out, _ = self.program("compare", "out", "out", "--json")
        self.assertEqual(len(json.loads(out)["pairs"]), 3)
        out, _ = self.program("run", "study.yaml", "-o", "out", "--resume", "--dry-run")
        self.assertEqual(out.count("finished"), 3, out)
        self.write_study("solvers: [pgj]", "ranks: [999]")
        _, err = self.program("run", "study.yaml", "-o", "other", code=BAD_INPUT)
        self.assertIn("key ranks: expected with threads at most", err)
        self.assertIn("--oversubscribe", err)
        self.write_study("solvers: [admm]", "ranks: [2]")
        _, err = self.program("run", "study.yaml", "-o", "other", code=BAD_INPUT)
        self.assertIn("a solver that runs on several", err)

    def test_studies_oversubscribe_where_asked(self):
        ranks = len(os.sched_getaffinity(0)) + 1
        self.write_study("solvers: [pgj]", "stop: residual=1e-1", f"ranks: [{ranks}]")
        self.program("run", "study.yaml", "-o", "crowd", "--quiet", code=BAD_INPUT)
        self.assertFalse(os.path.exists(self.path("crowd")))
        _, err = self.program("run", "study.yaml", "-o", "crowd", "--oversubscribe")
        self.assertIn("more ranks than there are processors", err)
        [name] = os.listdir(self.path("crowd"))
        with h5py.File(self.path("crowd/" + name)) as file:
            self.assertEqual(file["provenance"].attrs["ranks"], str(ranks))
            self.assertTrue(file.attrs["stop_reached"])
        with open(self.path("moves.yaml"), "w", encoding="utf-8") as stream:
            stream.write("name: moves\nsimulations: [{scenes: [bouncing-ball]}]\n")
        _, err = self.program("run", "moves.yaml", "-o", "s", "--oversubscribe", code=BAD_INPUT)
        self.assertIn("simulations have no ranks", err)

    def test_a_rank_that_dies_is_a_row_of_its_study(self):
        self.write_study("solvers: ['pgj[tolerance=0]', 'apgd[max_iterations=3]']",
                         "stop: residual=1e-300", "ranks: [2]", "time_limit: 300")
        process = subprocess.Popen([PROGRAM, "run", "study.yaml", "-o", "dead", "--quiet",
                                    "--oversubscribe"],
                                   cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)

        def long_ones():
            return [rank for rank in ranks_of(self.folder) if b"pgj" in words_of(rank)]
        self.assertTrue(wait_until(lambda: len(long_ones()) == 2, 60), "no two ranks")
        os.kill(long_ones()[0], signal.SIGKILL)
        process.communicate(timeout=100)
        self.assertEqual(process.returncode, CRASHED)
        statuses = {}
        for name in os.listdir(self.path("dead")):
            with h5py.File(self.path("dead/" + name)) as file:
                statuses[name.split("__")[1].split("_")[0]] = file.attrs["status"]
        self.assertEqual(statuses["pgj"], "crashed")
        self.assertEqual(statuses["apgd"], "max_iterations")
        self.assertTrue(wait_until(lambda: not ranks_of(self.folder)), "an orphan is left")

    def test_ten_dead_ranks_cost_a_study_ten_runs_and_it_resumes(self):
        # Solves of a second each, told apart by omega. In ten of twelve a rank is killed, in
        # each at another moment from its start to its end.
        omegas = [f"0.{21 + k}" for k in range(9)] + ["0.31", "0.32", "0.33"]

        def omega_of(words):
            return words.split(b"omega=")[1][:4].decode()

        def omegas_now():
            return {omega_of(words_of(rank) + b"omega=gone")
                    for rank in ranks_of(self.folder)} - {"gone"}
        solvers = ", ".join(f"'pgj[omega={omega},tolerance=0]'" for omega in omegas)
        self.write_study(f"solvers: [{solvers}]", "stop: residual=1e-300", "ranks: [2]",
                         "time_limit: 1")
        process = subprocess.Popen([PROGRAM, "run", "study.yaml", "-o", "ten", "--quiet",
                                    "--oversubscribe"],
                                   cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        moments = random.Random(1)
        seen: set[str] = set()
        killed: set[str] = set()
        while len(seen) < 10:
            self.assertTrue(wait_until(lambda: omegas_now() - seen, 60),
                            f"no new ranks after {sorted(seen)}")
            omega = min(omegas_now() - seen, default=None)
            if omega is None:
                continue
            seen.add(omega)
            time.sleep(moments.uniform(0, 0.5))
            ranks = [rank for rank in ranks_of(self.folder)
                     if f"omega={omega}".encode() in words_of(rank)]
            if ranks:
                os.kill(moments.choice(ranks), signal.SIGKILL)
                killed.add(omega)
        process.communicate(timeout=100)
        self.assertEqual(process.returncode, CRASHED)

        def statuses():
            found = {}
            for name in os.listdir(self.path("ten")):
                with h5py.File(self.path("ten/" + name)) as file:
                    found[omega_of(file.attrs["solver"].encode())] = file.attrs["status"]
            return found
        self.assertGreaterEqual(len(killed), 8)
        self.assertEqual(statuses(), {omega: "crashed" if omega in killed else "time_limit"
                                      for omega in omegas})
        self.assertTrue(wait_until(lambda: not ranks_of(self.folder)), "an orphan is left")
        self.program("run", "study.yaml", "-o", "ten", "--resume", "--retry-failed", "--quiet",
                     code=NOT_REACHED)
        self.assertEqual(statuses(), dict.fromkeys(omegas, "time_limit"))

    def test_info_counts_without_ranks(self):
        out, _ = self.program("info", "pile.h5", "--ranks", "1,2,64", "--json")
        found = json.loads(out)
        self.assertEqual((found["contacts"], found["bodies"]), (600, 200))
        one, two, many = found["ranks"]
        self.assertEqual((one["ghosts"], one["bytes_per_product"], one["imbalance"]), (0, 0, 1))
        self.assertEqual(one["contacts_most"], 600)
        self.assertEqual(two["bytes_per_product"], 2 * 24 * two["ghosts"])
        self.assertGreater(many["ghosts"], two["ghosts"])
        out, _ = self.program("info", "pile.h5", "--ranks", "2")
        self.assertIn("imbalance", out)
        for ranks, sentence in (("0", "whole numbers >= 1"), ("601", "at least as many as ranks")):
            _, err = self.program("info", "pile.h5", "--ranks", ranks, code=BAD_INPUT)
            self.assertIn(sentence, err)
        _, err = self.program("info", "assembled.h5", "--ranks", "2", code=BAD_INPUT)
        self.assertIn("expected bodies", err)


if __name__ == "__main__":
    unittest.main()
