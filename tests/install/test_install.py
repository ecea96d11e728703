#!/usr/bin/env python3
"""Installs into a temporary prefix, moves that, runs the program from it, and builds a project of
somebody else's against it."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD, CMAKE = os.environ["CCPBENCH_BUILD"], os.environ["CMAKE"]
CONSUMER = Path(__file__).resolve().parents[1] / "consumer"
ROOT = Path(__file__).resolve().parents[2]


def run(*words, expect=0, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, **options)
    if done.returncode != expect:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class InstallTest(unittest.TestCase):
    temporary: tempfile.TemporaryDirectory[str]
    folder: Path
    prefix: Path
    program: Path

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "moved"
        (cls.folder / "first").rename(cls.prefix)
        cls.program = cls.prefix / "bin/ccpbench"

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_program_finds_its_own_data_studies_and_scripts(self):
        # A frozen problem that only the installed catalogue has shows whose it is.
        share = self.prefix / "share/ccpbench"
        manifest = share / "problems/data/manifest.json"
        manifest.write_text(manifest.read_text().replace('"name": "stack"', '"name": "my-stack"'))
        self.assertIn("my-stack", run(self.program, "list", "problems"))
        (share / "harness/studies/mine.yaml").write_text(
            "name: mine\nproblems: my-stack\nsolvers: vipm\ntime_limit: 5\n")
        self.assertIn("mine", run(self.program, "list", "studies"))
        results = self.folder / "results"
        run(self.program, "run", "mine", "-o", results, "--quiet")
        run(self.program, "report", results)
        self.assertTrue((results / "report.html").is_file())
        # Without the source tree, another program or $CCPBENCH they use the prefix' own.
        own = {name: value for name, value in os.environ.items() if name != "CCPBENCH"}
        listed = run(share / "scripts/plot", "--help", cwd=self.folder, env=own)
        self.assertIn("objective_gap", listed)
        run(share / "scripts/plot", results, "--format", "png", cwd=self.folder, env=own)
        self.assertTrue((results / "mine.png").is_file())
        self.assertIn("kleinert2017-fig6", run(share / "scripts/reproduce", "--list", env=own))

    def test_whoever_builds_the_program_can_install_it(self):
        """What is installed from the build folder was written by the configure step, or is made on
        the way to the target `ccpbench`, the only one that scripts/quickstart builds."""
        made = run("ninja", "-C", BUILD, "-t", "commands", "ccpbench")
        outputs = run("ninja", "-C", BUILD, "-t", "targets", "all").splitlines()
        later = {line.partition(":")[0] for line in outputs}
        installed = set()
        for script in Path(BUILD).glob("**/cmake_install.cmake"):
            installed.update(re.findall(rf'"{re.escape(BUILD)}/([^"]+)"', script.read_text()))
        files = {name for name in installed & later if "/" in name}
        self.assertIn("harness/ccpbench.1", files)
        self.assertEqual([name for name in sorted(files) if name not in made], [])

    def test_manual_and_completion(self):
        page = (self.prefix / "share/man/man1/ccpbench.1").read_text(encoding="utf-8")
        for words in (".SS ccpbench solve", ".SS ccpbench generate pile", "\\-\\-time\\-limit"):
            self.assertIn(words, page)
        if shutil.which("man"):
            shown = subprocess.run(["man", "--warnings", "-l", "-"], input=page, text=True,
                                   capture_output=True, check=False,
                                   env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        script = self.prefix / "share/bash-completion/completions/ccpbench"
        path = {**os.environ, "PATH": f"{self.prefix}/bin:{os.environ['PATH']}"}
        for other in ("zsh/site-functions/_ccpbench", "fish/vendor_completions.d/ccpbench.fish"):
            self.assertIn("ccpbench", (self.prefix / "share" / other).read_text(encoding="utf-8"))
        for typed, expected in (("ccpbench so", {"solve"}),
                                ("ccpbench generate py", {"pyramid"}),
                                ("ccpbench solve --time", {"--time-limit"})):
            out = run("bash", "-c", f"source {script}; COMP_WORDS=({typed}); "
                      f"COMP_CWORD={len(typed.split()) - 1}; _ccpbench; echo ${{COMPREPLY[@]}}",
                      env=path)
            self.assertEqual(set(out.split()), expected, typed)

    def test_consumer(self):
        build = self.folder / "build"
        run(CMAKE, "-S", CONSUMER, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            "-DCMAKE_BUILD_TYPE=Release")
        run(CMAKE, "--build", build)
        commands = (build / "CMakeFiles/ccpbench-consumer.dir/flags.make")
        if commands.is_file():
            self.assertNotIn(str(ROOT), commands.read_text())
        consumer = build / "ccpbench-consumer"
        self.assertIn("half_jacobi", run(consumer, "list", "solvers"))
        problem = self.folder / "sliding.h5"
        run(consumer, "generate", "scene", "sliding-block", "-o", problem)
        said = run(consumer, "solve", problem, "--solver", "half_jacobi", "--stop", "residual=1e-9")
        self.assertIn("residual=1e-09: reached", said)


if __name__ == "__main__":
    unittest.main()
