"""A test case in a folder of its own, where it runs the program and the scripts."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CCPBENCH", str(ROOT / "build/serial/harness/ccpbench"))


class FolderCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def run_program(self, *words, expect=0):
        """What it printed, or where it was to fail its message."""
        done = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout if expect == 0 else done.stderr

    def script(self, name, *arguments, expect=0, **options):
        """What scripts/NAME printed, and its messages, of which none is a traceback."""
        options = {"stdout": subprocess.PIPE, **options}
        done = subprocess.run([sys.executable, ROOT / "scripts" / name, *arguments], text=True,
                              cwd=self.folder, stderr=subprocess.PIPE, check=False, timeout=120,
                              **options)
        self.assertEqual(done.returncode, expect, f"{name}: {done.stdout}{done.stderr}")
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout, done.stderr
