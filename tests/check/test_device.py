#!/usr/bin/env python3
"""The prepared run of scripts/test --cuda, with programs that answer, crash and hang in their parts.

Without a GPU, so that it is the rehearsal that runs; what a machine with one is asked, a program
named nvidia-smi answers.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/checks"))
import device  # noqa: E402  the path above is what it needs

# A program that is asked for its version, for a solve or for a pile.
CCPBENCH = """#!/usr/bin/env python3
import json, os, signal, sys, time
words = sys.argv[1:]
if words == ["--version"]:
    print("ccpbench 0.1.0\\ncommit    0123456789abcdef\\ncompiler  some\\nKokkos    3.4.1, BACKEND")
    sys.exit()
assert words[0] == "solve", words
solver = words[words.index("--solver") + 1]
if solver == CRASHES:
    os.kill(os.getpid(), signal.SIGSEGV)
if solver == HANGS:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
print(json.dumps({"contacts": 7, "status": "target_reached", "setup_time": 0.5, "time": 2.0,
                  "outer": 20, "krylov": 3, "measures": {"residual": 1e-6},
                  "targets": [{"measure": "residual", "value": 1e-4, "time": 1.5, "outer": 15},
                              {"measure": "residual", "value": 1e-6, "time": None,
                               "outer": None}]}))
sys.exit(3)
"""
MICRO = """#!/usr/bin/env python3
import json, os, sys
copies = int(os.environ["CCPBENCH_MICRO_COPIES"])
out = next(word.split("=")[1] for word in sys.argv if word.startswith("--benchmark_out="))
runs = [{"name": name, "real_time": time, "time_unit": "us", "bytes/contact": 100.0}
        for name, time in (("copy", 10), ("delassus_apply", 20), ("vipm_matrix_apply", 40),
                           ("vipm_matrix_apply_natural", 12.5)) if name != LEFT_OUT]
json.dump({"context": {"problem": "p, %d contacts" % (copies * 1000)}, "benchmarks": runs},
          open(out, "w"))
"""
PASSES = "#!/bin/sh\necho 'All tests passed (31 assertions in 4 test cases)'\n"
FAILS = "#!/bin/sh\necho 'test cases: 9 | 7 passed | 2 failed'\nexit 2\n"
CRASHES = "#!/bin/sh\nkill -SEGV $$\n"
SAYS_NOTHING = "#!/bin/sh\n"


class DeviceTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.output = self.folder / "out"

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def build(self, name="build", *, backend="Cuda", crashes="", hangs="", left_out="", **tests):
        names = f"CRASHES, HANGS = {crashes!r}, {hangs!r}\n"
        first, rest = CCPBENCH.replace("BACKEND", backend).split("\n", 1)
        self.program(f"{name}/harness/ccpbench", f"{first}\n{names}{rest}")
        first, rest = MICRO.split("\n", 1)
        self.program(f"{name}/harness/ccpbench-micro", f"{first}\nLEFT_OUT = {left_out!r}\n{rest}")
        for test, text in tests.items():
            self.program(f"{name}/tests/{test}", text)

    def gpu(self, answer="NVIDIA H200, 143771, 143000, 580.1"):
        self.program("bin/nvidia-smi", f"#!/bin/sh\necho '{answer}'\n")

    def device(self, *words, expect=0, build="build"):
        """What `scripts/test --cuda` prints."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run([ROOT / "scripts/test", "--cuda", "--build", self.folder / build,
                               "--output", self.output, "--contacts", "1", "--pile-spheres", "0",
                               "--seconds", "1", *words], env={**os.environ, "PATH": path},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=120)
        self.assertEqual(done.returncode, expect, done.stdout)
        return done.stdout

    def parts(self):
        data = json.loads((self.output / "results.json").read_text(encoding="utf-8"))
        return {(part["machine"], part["name"]): part for part in data["parts"]}

    def test_all_is_well(self):
        self.gpu()
        self.build(test_cone=PASSES)
        self.build("cpu", backend="Serial")
        said = self.device("--cpu-build", str(self.folder / "cpu"))
        self.assertIn("gpu: NVIDIA H200, 143771 MiB, driver 580.1", said)
        self.assertNotIn("rehearsal without", said)
        self.assertIn("| test_cone | 4 | ok |", said)
        self.assertIn("| 43,409 | N·x | 20 | 5 | 0.50 | 20 | 5 | 0.50 |", said)
        self.assertIn("| 43,409 | S·z, in vipm's order | 40 | 2.5 | 0.25 |", said)
        self.assertIn("| `apgd` | 0.5 | 1.5 (15) | – | 1e-06 | 100 |", said)
        self.assertEqual(said[said.index("# The run"):said.index("[device] " + str(self.output))],
                         (self.output / "table.md").read_text(encoding="utf-8") + "\n")
        with open(self.output / "results.csv", encoding="utf-8") as text:
            rows = {(row["machine"], row["name"], row["quantity"]): row["value"]
                    for row in csv.DictReader(text)}
        self.assertEqual(float(rows["cpu", "pgj", "time to 1e-4"]), 1.5)
        self.assertAlmostEqual(float(rows["device", "N·x", "copy seconds"]), 1e-5)
        self.assertFalse(list(self.output.glob("kernels*")) + list(self.output.glob("*.part")))

    def test_what_fails_costs_its_row(self):
        self.build(backend="Serial", crashes="apgd", hangs="ipm", left_out="vipm_matrix_apply",
                   test_cone=FAILS, test_operators=CRASHES, test_vipm=SAYS_NOTHING,
                   test_methods=PASSES)
        start = time.monotonic()
        said = self.device("--rehearse", expect=1)
        self.assertLess(time.monotonic() - start, 60)
        parts = self.parts()
        for name, outcome in (("test_cone", "2 of 9 test cases failed"), ("test_vipm", "exit code 0"),
                              ("test_operators", "crashed: SIGSEGV"), ("test_methods", "ok"),
                              ("S·z", "no numbers of vipm_matrix_apply"), ("N·x", "ok"),
                              ("apgd", "crashed: SIGSEGV"), ("ipm", "ended after 17 s"),
                              ("vipm", "ok"), ("pgj", "ok")):
            self.assertEqual(parts["device", name]["outcome"], outcome)
            if outcome != "ok":
                self.assertIn(f"* device, {name}: {outcome}\n", said)
        self.assertIn("A rehearsal without a GPU", said)
        self.assertIn("6 of 11 parts did not go well", said)

    def test_the_time_is_over(self):
        self.build(backend="Serial", hangs="apgd", test_cone=PASSES)
        self.device("--rehearse", "--budget", "20", expect=1)
        parts = self.parts()
        self.assertEqual(parts["device", "pgj"]["outcome"], "ok")
        self.assertRegex(parts["device", "apgd"]["outcome"], r"ended after \d+ s")
        self.assertEqual(parts["device", "vipm"]["outcome"], "not run: the time is over")

    def test_no_gpu(self):
        self.build()
        self.gpu(answer="")
        self.assertIn("there is no GPU here", self.device(expect=1))
        self.assertFalse(self.output.exists())

    def test_another_build(self):
        self.gpu()
        self.build(backend="Serial")
        self.assertIn("expected a build with Kokkos Cuda, found Serial", self.device(expect=1))
        self.program("build/harness/ccpbench", "#!/bin/sh\necho no libcuda.so >&2\nexit 127\n")
        self.assertIn("--version: exit code 127: no libcuda.so", self.device(expect=1))
        self.assertIn("expected the program harness/ccpbench, found none",
                      self.device(build="nothing", expect=1))


class ArchiveTest(unittest.TestCase):
    def test_it_is_filled_up_to_its_limit(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            sizes = []
            for limit in (3 * 2**20, 6 * 2**20):
                archive = device.Archive(folder / "a.tar.xz", limit)
                programs = 0
                while archive.has_room() and programs < 9:
                    (folder / "program").write_bytes(os.urandom(2**20))
                    archive.add(folder / "program", f"device/tests/{programs}")
                    archive.last = 2**20
                    programs += 1
                sizes.append((programs, archive.close()))
                self.assertLessEqual(sizes[-1][1], limit)
            self.assertGreater(sizes[1][0], sizes[0][0])

    def test_what_is_twice_is_packed_once(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "program").write_bytes(os.urandom(2**20))
            archive = device.Archive(folder / "a.tar.xz", 2**24)
            for k in range(5):
                archive.add(folder / "program", f"device/tests/{k}")
            self.assertLess(archive.close(), 1.1 * 2**20)

    def test_libraries_of_the_machine_stay(self):
        found = device.libraries(Path("/bin/ls"))
        self.assertFalse([name for name in found if name.startswith(("libc.", "ld-", "linux-vdso"))])
        with self.assertRaisesRegex(device.Fault, "expected a program with shared libraries"):
            device.libraries(Path(__file__))

    def test_libraries_of_the_toolkit_stay_and_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for program, text in (("ldd", "libcublasLt.so.13 => not found\n libz.so.1 => /lib/z"),
                                  ("nvcc", "")):
                path = folder / "bin" / program
                path.parent.mkdir(exist_ok=True)
                path.write_text(f"#!/bin/sh\necho ' {text}'\n")
                path.chmod(0o755)
            packages = folder / "site"
            for made in (folder / "lib64/libcusolver.so.12",
                         packages / "nvidia/cu13/lib/libcublas.so.13",
                         packages / "nvidia/other/lib/libnccl.so.2"):
                made.parent.mkdir(parents=True)
                made.touch()
            with mock.patch.dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}"), \
                    mock.patch.object(sys, "path", [*sys.path, str(packages)]):
                self.assertEqual(device.libraries(folder), {"libz.so.1": Path("/lib/z")})
                found = device.toolkit_folders()
            self.assertEqual(found[0], str((folder / "lib64").resolve()))
            self.assertIn(str(packages / "nvidia/cu13/lib"), found)
            self.assertNotIn(str(packages / "nvidia/other/lib"), found)


if __name__ == "__main__":
    unittest.main()
