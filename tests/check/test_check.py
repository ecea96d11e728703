#!/usr/bin/env python3
"""Each check of scripts/check that needs no build finds the fault that is planted for it.

Works on a copy of the tree that holds what the checks read; the copy is a git repository, since
that is where the checks ask what belongs to the project.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/checks"))
import arrows  # noqa: E402  the path above is what it needs
import tutorials  # noqa: E402

# Two rooms are enough.
COPIED = [".clang-format", "docs/architecture.md", "problems/base", "problems/model", "scripts/check",
          "scripts/checks", "scripts/lib.sh", "scripts/packages.txt"]
MISSING = [name for name in ("clang-format", "shellcheck", "git") if not shutil.which(name)]


@unittest.skipIf(MISSING, f"not here: {MISSING}")
class PlantedFaults(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.root = Path(self.temporary.name)
        for name in COPIED:
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, target)
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)

    def check(self, name):
        done = subprocess.run([self.root / "scripts/check", name], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def plant(self, check, path, text, expected):
        """The check passes, fails with `text` at the end of the file, and says what is expected."""
        code, said = self.check(check)
        self.assertEqual(code, 0, said)
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a", encoding="utf-8") as out:
            out.write(text)
        code, said = self.check(check)
        self.assertEqual(code, 1, said)
        self.assertIn(expected, said)
        self.assertIn(f"failed: {check}", said)

    def test_format(self):
        self.plant("format", "problems/base/error.cpp", "int  planted;\n",
                   "problems/base/error.cpp")

    def test_format_of_a_tutorial(self):
        self.plant("format", "docs/add-a-thing.md",
                   "<!-- file: problems/base/thing.cpp -->\n```cpp\nint  planted;\n```\n",
                   "problems/base/thing.cpp")

    def test_arrow_upwards(self):
        self.plant("arrows", "problems/base/error.hpp",
                   '#include "problems/model/contact_problem.hpp"\n',
                   "problems/base stands before problems/model")

    def test_circle(self):
        base = self.root / "problems/base"
        (base / "first.hpp").write_text('#include "problems/base/second.hpp"\n')
        (base / "second.hpp").write_text("")
        self.plant("arrows", "problems/base/second.cpp", '#include "problems/base/first.hpp"\n',
                   "one another: problems/base/first, problems/base/second")

    def test_compile_without_end(self):
        """Processor time counts, of whichever process of the compiler; waiting does not."""
        def limited(*command):
            return subprocess.run([self.root / "scripts/checks/limited", "2", *command],
                                  capture_output=True, text=True, check=False)
        endless = f"{sys.executable} -c 'while True: pass'"
        for command in (["bash", "-c", endless, "-c", "rooms/endless.cpp"],
                        ["bash", "-c", f"{endless}; exit 4", "-c", "rooms/endless.cpp"]):
            done = limited(*command)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("limited: rooms/endless.cpp was not compiled in 2 s of processor time",
                          done.stderr)
        done = limited("bash", "-c", "sleep 3; echo done; echo warned >&2", "-c", "rooms/slow.cpp")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", "warned\n"))
        done = limited("bash", "-c", "echo wrong >&2; exit 3", "-c", "rooms/wrong.cpp")
        self.assertEqual((done.returncode, done.stderr), (3, "wrong\n"))

    def test_words(self):
        self.plant("words", "problems/base/error.hpp", "// as in seed" + " 001\n",
                   "a paper goes by author and year")

    def test_absolute_path(self):
        self.plant("words", "scripts/lib.sh", "folder=/home" + "/me/results\n",
                   "a path of one machine")

    def test_links(self):
        page = self.root / "docs/page.md"
        (self.root / "docs/architecture.md").unlink()
        page.write_text("# One thing, `two`\n[itself](#one-thing-two) [page](page.md#one-thing-two)\n"
                        "[else](https://example.org/x)\n```sh\n[no](link.md)\n```\n")
        self.plant("links", "docs/page.md", "[gone](gone.md)\n", "docs/page.md: no file gone.md")
        with page.open("a", encoding="utf-8") as out:
            out.write("[gone](#two)\n")
        self.assertIn("no heading #two", self.check("links")[1])

    def test_shell(self):
        self.plant("shell", "scripts/planted", "#!/usr/bin/env bash\necho $1\n", "SC2086")

    def test_not_a_check(self):
        self.assertEqual(self.check("nothing")[0], 2)


class Arrows(unittest.TestCase):
    ORDER = arrows.Order("<!-- rooms -->\n```text\na: one < two, three\nb: one < * < last\n```\n")

    def why_not(self, source, target):
        return self.ORDER.why_not(Path(source), Path(target))

    def test_what_may_be_included(self):
        for source, target in (("a/one/x.cpp", "a/one/y.hpp"), ("a/two/x.cpp", "a/one/y.hpp"),
                               ("b/one/x.cpp", "a/three/y.hpp"), ("b/own/x.cpp", "b/one/y.hpp"),
                               ("b/last.cpp", "b/own/y.hpp"), ("tests/x.cpp", "b/last.hpp")):
            self.assertEqual(self.why_not(source, target), "", (source, target))

    def test_what_may_not(self):
        for source, target, reason in (
                ("a/one/x.cpp", "a/two/y.hpp", "a/one stands before a/two"),
                ("a/two/x.cpp", "a/three/y.hpp", "a/two and a/three do not know each other"),
                ("b/own/x.cpp", "b/other/y.hpp", "b/own and b/other do not know each other"),
                ("b/own/x.cpp", "b/last.hpp", "b/own stands before b/last"),
                ("a/one/x.cpp", "b/one/y.hpp", "a stands before b"),
                ("b/one/x.cpp", "tests/y.hpp", "b may not use tests")):
            self.assertEqual(self.why_not(source, target), reason)
        with self.assertRaisesRegex(ValueError, "no room 'four' in the line 'a'"):
            self.ORDER.place(Path("a/four/x.cpp"))

    def test_circles(self):
        self.assertEqual(arrows.circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}),
                         [["a", "b", "c"]])
        self.assertEqual(arrows.circles({"a": {"b", "c"}, "b": {"c"}}), [])


class Tutorials(unittest.TestCase):
    def read(self, text):
        return tutorials.read_document("docs/add-a-thing.md", text)

    def test_blocks_of_one_file_are_joined(self):
        document = self.read("<!-- file: solvers/x/x.cpp -->\n```cpp\none\n```\ntext\n"
                             "<!-- file: solvers/x/x.cpp -->\n```cpp\ntwo\n```\n```sh\nshown\n```\n")
        self.assertEqual(document.files(), {"solvers/x/x.cpp": "one\n\ntwo\n"})

    def test_marks(self):
        for text, reason in (("<!-- file: a.cpp -->\n\n```cpp\n```\n", ":1: no fenced block"),
                             ("<!-- file -->\n```cpp\n```\n", ":1: expected"),
                             ("<!-- fiel: a.cpp -->\n```cpp\n```\n", ":1: not a mark"),
                             ("<!-- run -->\n```sh\ntrue\n", ":2: the block has no end")):
            with self.assertRaisesRegex(tutorials.Fault, reason):
                self.read(text)

    def test_shape(self):
        block = "<!-- file: solvers/{0}/x.cpp -->\n```cpp\n```\n"
        test = "<!-- file: tests/solvers/test_x.cpp -->\n```cpp\n```\n"
        row = "<!-- row: {0} -->\n```cpp\n{1}\n```\n"
        for text, reason in (
                (block.format("a") + block.format("b"), "more than one folder"),
                (2 * row.format("solvers/registry.cpp", "{}"), "a second row"),
                (block.format("a") + row.format("solvers/CMakeLists.txt", "a/y.cpp"),
                 "a/y.cpp is no file of this tutorial")):
            with self.assertRaisesRegex(tutorials.Fault, reason):
                tutorials.check_shape(self.read(text))
        tutorials.check_shape(self.read(block.format("a") + test +
                                        row.format("solvers/CMakeLists.txt", "a/x.cpp")))

    def test_row(self):
        row = ('<!-- row: solvers/registry.cpp -->\n```cpp\n#include "solvers/x.hpp"\n'
               '{"x", make<X>},\n```\n')
        source = tutorials.registration(self.read(row))
        self.assertIn('#include "solvers/registry.hpp"\n#include "solvers/x.hpp"\n', source)
        self.assertIn('(add_solver(\n{"x", make<X>}\n), true);', source)
        with self.assertRaisesRegex(tutorials.Fault, "no header beside .* declares an add_"):
            tutorials.registration(self.read(row.replace("registry.cpp", "core/problem.cpp")))

    def test_python(self):
        """Files and rows of scripts/ are in the copy that the commands see, and only there."""
        text = ("<!-- file: scripts/checks/thing.py -->\n```python\nNAME = 'thing'\n```\n"
                "<!-- row: scripts/checks/table.py -->\n```python\nimport thing\n    thing.NAME,\n"
                "```\n")
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(tutorials.Fault, r"expected one add_\.\.\.\(\) in"):
                tutorials.copy_scripts(self.read(text), Path(folder, "first"))
            row = text.replace("checks/table.py", "checks/words.py")
            with self.assertRaisesRegex(tutorials.Fault, r"expected one add_\.\.\.\(\) in"):
                tutorials.copy_scripts(self.read(row), Path(folder, "second"))
            text = ("<!-- file: scripts/checks/table.py -->\n```python\nROWS = []\n\n\n"
                    "def add_row(row):\n    ROWS.append(row)\n```\n" + text)
            tutorials.copy_scripts(self.read(text), Path(folder))
            said = subprocess.run([sys.executable, "-c", "import table; print(table.ROWS)"],
                                  cwd=Path(folder, "scripts/checks"), capture_output=True, text=True,
                                  check=True).stdout
            self.assertEqual(said, "['thing']\n")

    def test_commands_that_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            program.write_text("#!/bin/sh\nexit $1\n")
            program.chmod(0o755)
            for code in (0, 3):
                document = Path(folder, "thing.md")
                document.write_text(f"<!-- run -->\n```sh\nccpbench {code} | cat\necho done\n```\n")
                name = os.path.relpath(document, ROOT)
                if code == 0:
                    tutorials.run(program, name)
                else:
                    with self.assertRaisesRegex(tutorials.Fault, "thing.md:3: exit code 3"):
                        tutorials.run(program, name)


class Speed(unittest.TestCase):
    def compare(self, *after):
        """Against 100 ns: what scripts/check --speed says of these repetitions."""
        with tempfile.TemporaryDirectory() as folder:
            for name, times in (("before", [100, 90, 130]), ("after", after)):
                runs = [{"name": "kernel", "run_type": "iteration", "cpu_time": time,
                         "time_unit": "ns"} for time in times]
                Path(folder, name).write_text(json.dumps({"benchmarks": runs}))
            done = subprocess.run([ROOT / "scripts/check", "--speed", f"{folder}/before",
                                   f"{folder}/after"], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def test_medians(self):
        self.assertEqual(self.compare(102, 500, 60)[0], 0)
        code, said = self.compare(104, 500, 60)
        self.assertEqual(code, 1)
        self.assertIn("more than 3 % slower: kernel", said)

    def test_no_kernel(self):
        code, said = self.compare()
        self.assertEqual(code, 1)
        self.assertIn("no kernel of ccpbench-micro", said)


if __name__ == "__main__":
    unittest.main()
