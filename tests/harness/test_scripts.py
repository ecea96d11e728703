#!/usr/bin/env python3
"""What ends a Python script is a line, no traceback: interrupts, full disks, faults of our own."""
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from folder_case import ROOT, FolderCase

from made_up import PGJ, write_result

FULL = Path("/dev/full")


class ScriptsTest(FolderCase):
    def results(self, *names):
        for name in names:
            (self.folder / name).mkdir()
            write_result(self.folder / name / "run.h5", PGJ, time=(0, 1, 2), error=(1, 1e-2, 1e-4))

    def command(self, text):
        """Starts a command of that text under launch.guard()."""
        program = f"import launch, sys, time\ndef main():\n    {text}\nlaunch.guard(main)\n"
        return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT / "scripts/python",
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={name: value for name, value in os.environ.items()
                                     if name != "CCPBENCH_TRACEBACK"})

    def test_an_interrupt(self):
        text = ("try: print('ready', flush=True); time.sleep(60)\n"
                "    finally: print('removed', flush=True)")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number), self.command(text) as child:
                self.assertEqual(child.stdout.readline(), "ready\n")
                child.send_signal(number)
                self.assertEqual(child.communicate(timeout=60), ("removed\n", ""))
                self.assertEqual(child.returncode, -number)

    def test_a_fault_of_our_own(self):
        with self.command("return {}['nothing']") as child:
            _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 1)
        self.assertEqual(errors.strip().splitlines(), ["-c: internal error, KeyError: 'nothing'"])

    def test_exit_codes_pass(self):
        for text, code in (("return 0", 0), ("return 3", 3), ("sys.exit(2)", 2)):
            with self.command(text) as child:
                child.communicate(timeout=60)
            self.assertEqual(child.returncode, code)

    @unittest.skipUnless(FULL.exists(), "needs /dev/full")
    def test_what_cannot_be_printed(self):
        self.results("a", "b")
        for words in (("compare", "a", "b"), ("compare", "a", "b", "--json"), ("plot", "a"),
                      ("report", "a"), ("reproduce", "--list")):
            with self.subTest(words=words), open(FULL, "w", encoding="utf-8") as full:
                _, errors = self.script(*words, expect=1, stdout=full)
                self.assertIn(f"{words[0]}: ", errors)
                self.assertIn("No space left", errors)
                self.assertEqual(len(errors.strip().splitlines()), 1, errors)

    def test_numbers(self):
        self.results("a")
        for value in ("nan", "-1"):
            for words in (("compare", "a", "a", "--target", f"error={value}"),
                          ("reproduce", "kleinert2014-fig10", "--time-limit", value),
                          ("peers/compare", "--time-limit", value)):
                _, errors = self.script(*words, expect=2)
                self.assertIn(f"expected a number > 0, found '{value}'", errors)

    def test_a_page_replaces_nothing_but_a_page(self):
        self.results("a")
        run = self.folder / "a/run.h5"
        before = run.read_bytes()
        _, errors = self.script("report", "a", "-o", "a/run.h5", expect=1)
        self.assertIn("cannot write a/run.h5: expected an HTML page to replace", errors)
        self.assertEqual(run.read_bytes(), before)
        _, errors = self.script("report", "a", "-o", "/dev/null", expect=1)
        self.assertIn("expected a regular file", errors)
        self.script("report", "a", "-o", "page.html")
        self.script("report", "a", "-o", "page.html")


if __name__ == "__main__":
    unittest.main(verbosity=2)
