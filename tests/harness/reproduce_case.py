"""What tests of scripts/reproduce share."""
import csv
import subprocess
import sys
from pathlib import Path

from folder_case import PROGRAM, ROOT, FolderCase

from made_up import np

MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}


class ReproduceCase(FolderCase):
    """Tests that run scripts/reproduce."""

    def reproduce(self, *arguments, expect=0):
        """Runs scripts/reproduce; returns what it printed."""
        done = subprocess.run([sys.executable, ROOT / "scripts/reproduce", *arguments],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout, done.stderr

    def figure(self, name, problem=None, *more):
        """Makes a figure; returns {panel: {curve: (x, y)}} of what was drawn."""
        if problem:
            more = ("--problems", problem, *more)
        self.reproduce(name, "--program", PROGRAM, "-o", self.folder, *more)
        base = f"{name}-{Path(problem).stem}" if problem else name
        for ending, magic in MAGIC.items():
            data = (self.folder / f"{base}.{ending}").read_bytes()
            self.assertTrue(data.startswith(magic), f"{base}.{ending} is none")
            self.assertGreater(len(data), 5000)
        return self.points(base)

    def points(self, base):
        """What was drawn: {panel: {curve: (x, y)}}."""
        points: dict[int, dict[str, list[tuple[float, float]]]] = {}
        with open(self.folder / f"{base}.csv", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                curve = points.setdefault(int(row["panel"]), {}).setdefault(row["curve"], [])
                curve.append((float(row["x"]), float(row["y"])))
        return {panel: {name: np.array(curve).T for name, curve in curves.items()}
                for panel, curves in points.items()}
