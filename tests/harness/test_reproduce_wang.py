#!/usr/bin/env python3
"""Figures of Wang 2016 on tiny problems: what is drawn is what the result files say."""
import csv
import json
import subprocess
import unittest

from folder_case import PROGRAM
from reproduce_case import ReproduceCase

from made_up import h5py, np


class WangTest(ReproduceCase):
    def test_columns_of_spheres(self):
        self.reproduce("wang2016-fig2", "--program", PROGRAM, "--problems",
                       "column[spheres=3]", "-o", self.folder)
        panels = self.points("wang2016-fig2-column-spheres-3")
        self.assertEqual(len(panels[2]), 5)
        # By hand: the overlap of a contact under k spheres is (k m g / k_n)^(2/3).
        above, overlap = panels[2]["overlap, cold, 500 iterations"]
        np.testing.assert_array_equal(above, [2, 1])
        self.assertAlmostEqual(overlap[0] / overlap[1], 2**(2 / 3), 4)
        self.assertAlmostEqual(overlap[1], 0.049, 3)  # mm
        height = panels[3]["height, cold, 500 iterations"][1]
        self.assertLess(np.abs(height).max(), 1e-3)  # percent

    def test_columns_are_those_of_the_table(self):
        folder = self.folder / "wang2016-fig3"
        folder.mkdir()
        rows = json.loads(subprocess.run(
            [PROGRAM, "simulate", "column", "--spheres", "3,6", "--iterations", "2,5,10,20,40,80",
             "--starts", "cold,history", "--solver", "pgj", "--json", "-o", folder / "columns.h5"],
            check=True, capture_output=True, text=True).stdout)
        self.reproduce("wang2016-fig3", "--draw-only", "-o", self.folder)
        found = {}
        with open(self.folder / "wang2016-fig3.csv", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = int(row["panel"]), row["curve"].split(",")[0], float(row["x"])
                found[key] = float(row["y"])
        expected: dict[tuple[int, str, float], int] = {}
        for panel, tolerance in enumerate((1e-3, 1e-2, 5e-2), 1):
            for row in rows:  # the fewest iterations from which on no height is wrong by more
                worse = [r["iterations"] for r in rows if r["spheres"] == row["spheres"] and
                         r["start"] == row["start"] and not abs(r["error"]) <= tolerance]
                if row["iterations"] > max(worse, default=0):
                    key = panel, row["start"], float(row["spheres"])
                    expected[key] = min(expected.get(key, 1e9), row["iterations"])
        self.assertEqual(found, expected)
        self.assertGreater(len(found), 6)

    def test_starts_are_drawn_from_the_initial_guess_on(self):
        column = self.folder / "column.h5"
        subprocess.run([PROGRAM, "generate", "column", "--spheres", "4", "--steps", "2", "-o",
                        column], check=True, capture_output=True)
        self.reproduce("wang2016-fig4", "--program", PROGRAM, "--problems", f"{column}#1", "-o",
                       self.folder)
        files = list((self.folder / "wang2016-fig4-column").glob("*.h5"))
        self.assertEqual(len(files), 4)
        drawn: dict[str, dict[float, float]] = {}
        with open(self.folder / "wang2016-fig4-column.csv", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["panel"] == "1":
                    drawn.setdefault(row["curve"], {})[float(row["x"])] = float(row["y"])
        self.assertEqual(set(drawn), {"cold", "history, \u03b2 = 0.85", "history, \u03b2 = 1",
                                      "Hertz"})
        for curve in drawn.values():
            self.assertIn(0.0, curve)
        # The column rests: history starts at 15 % of the distance, all of it at the solution.
        self.assertAlmostEqual(drawn["history, \u03b2 = 0.85"][0] / drawn["cold"][0], 0.15, 2)
        self.assertLess(drawn["history, \u03b2 = 1"][0], 1e-3 * drawn["cold"][0])

    def test_pile_starts_from_impulses_of_coulombs_law(self):
        pile = self.folder / "pile.h5"
        subprocess.run([PROGRAM, "generate", "pile", "--spheres", "6", "--contacts", "0", "--drop",
                        "0.02", "--hertz-young", "6e6", "--young", "0", "--residual", "1e-9",
                        "--steps", "2", "-o", pile], check=True, capture_output=True)
        _, errors = self.reproduce("wang2016-fig7", "--program", PROGRAM, "--problems",
                                   f"{pile}#0", "-o", self.folder, expect=1)
        self.assertIn("expected FILE#STEP with a step before it", errors)
        self.reproduce("wang2016-fig7", "--program", PROGRAM, "--problems", f"{pile}#1", "-o",
                       self.folder)
        runs = {}
        for path in (self.folder / "wang2016-fig7-pile").glob("*.h5"):
            with h5py.File(path) as file:
                self.assertEqual(file["options"].attrs["law"], "coulomb")
                runs[file.attrs["start"]] = file["curve/multiplier"][()]
        self.assertAlmostEqual(runs["history"][0] / runs["cold"][0], 0.15, 2)
        self.assertLess(runs["cold"][-1], 1e-5)

    def test_rows_of_a_pile(self):
        """Every row is counted once, and the rows have the mean that the program keeps."""
        _, errors = self.reproduce("wang2016-fig9", "--draw-only", "-o", self.folder, expect=1)
        self.assertIn("not there, or without its step", errors)
        printed, _ = self.reproduce("wang2016-fig9", "--program", PROGRAM, "--problems",
                                    "rolling-pile[spheres=12]", "-o", self.folder)
        folder = self.folder / "wang2016-fig9-rolling-pile-spheres-12"
        panels = self.points(folder.name)
        kinds = ("normal", "tangential", "rolling")
        for place, start in enumerate(("cold", "history")):
            with h5py.File(folder / f"{start}-steps.h5") as file:
                contacts = len(file["steps/0000/ccp/mu"])
                rolling = len(file["steps/0000/rolling/contact"])
            self.assertGreater(contacts, 5)
            for panel, kind in enumerate(kinds, 1 + 3 * place):
                edge, count = panels[panel][f"{start}, {kind}"]
                self.assertEqual(count.sum(), rolling if kind == "rolling" else contacts)
                self.assertTrue((np.diff(edge) > 0).all())
            with h5py.File(folder / f"{start}.h5") as file:
                for kind in kinds:
                    mean = file[f"row_residuals/{kind}"][()][-1]
                    mean *= 0.0065 if kind == "rolling" else 1  # m, the radius
                    line, = (line for line in printed.splitlines() if line.startswith(kind))
                    self.assertIn(f"{start} mean {mean:.2g}, ", line)

    def test_sound(self):
        panels = self.figure("wang2016-sound")
        for solver, factor in (("Gauss-Seidel", 0.95), ("Gauss-Seidel by colours", 0.95),
                               ("projected Gauss-Jacobi", 0.37)):
            count, front = panels[2][solver]
            np.testing.assert_allclose(front[3:], factor * np.sqrt(count[3:]), rtol=0.04)

    def test_pile_that_melts(self):
        self.reproduce("wang2016-pile", "--program", PROGRAM, "--problems",
                       "rolling-pile[spheres=12]", "-o", self.folder)
        folder = self.folder / "wang2016-pile-rolling-pile-spheres-12"
        panels = self.points(folder.name)
        with h5py.File(folder / "rest.h5") as file:
            before = file["bodies/position"][-1, :, 2].mean()
        names = {"cold": "cold", "history": "history", "normals": "history, normals only",
                 "plain": "history, velocities without it", "model": "model"}
        for start, name in names.items():
            for at, count in enumerate((10, 30, 100)):
                with h5py.File(folder / f"{start}-{count}.h5") as file:
                    after = file["bodies/position"][-1, :, 2].mean()
                self.assertAlmostEqual(panels[4][name][1][at], 100 * (1 - after / before), 9)
            with h5py.File(folder / f"{start}-100.h5") as file:
                rows = {kind: file[f"row_residuals/{kind}"][()][-1]
                        for kind in ("normal", "tangential", "rolling")}
            rows["rolling"] *= 0.0065  # m, the radius
            np.testing.assert_allclose(panels[6][name][1], list(rows.values()), rtol=1e-9)

    def test_pile_that_is_poured(self):
        scene = "pouring[spheres=8,height=4,settle=0.5]"
        self.reproduce("wang2016-pouring", "--program", PROGRAM, "--problems", scene, "-o",
                       self.folder)
        folder = self.folder / "wang2016-pouring-pouring-spheres-8-height-4-settle-0.5"
        panels = self.points(folder.name)

        def radius(name):
            with h5py.File(folder / f"{name}.h5") as file:
                place = file["bodies/position"][-1]
                self.assertEqual(file["summary/values"].attrs["lying"], 8)
            return np.hypot(place[:, 0], place[:, 1]).mean()

        def mean_height(name):
            with h5py.File(folder / f"{name}.h5") as file:
                return file["bodies/position"][-1, :, 2].mean()
        for start, title in (("cold", "cold"), ("model", "model")):
            gained = [np.mean([100 * (radius(f"{start}-{count}-{seed}") /
                                      radius(f"reference-{seed}") - 1) for seed in (1, 2)])
                      for count in (10, 30, 100)]
            np.testing.assert_allclose(panels[6][title][1], gained, rtol=1e-9)
            sunk = [np.mean([100 * (1 - mean_height(f"{start}-{count}-{seed}") /
                                    mean_height(f"reference-{seed}")) for seed in (1, 2)])
                    for count in (10, 30, 100)]
            np.testing.assert_allclose(panels[5][title][1], sunk, rtol=1e-9, atol=1e-9)

    def test_drum(self):
        """What is drawn is the mean of what the program says of an instant."""
        drum = "rotating-drum[spheres=40,drum=0.1,width=0.03,omega=2,wait=0.2]"
        _, errors = self.reproduce("wang2016-drum", "--program", PROGRAM, "--problems",
                                   "column[spheres=3]", "-o", self.folder, expect=1)
        self.assertIn("expected rotating-drum[option=value,...]", errors)
        self.reproduce("wang2016-drum", "--program", PROGRAM, "--problems", drum, "-o", self.folder)
        name = "wang2016-drum-rotating-drum-spheres-40-drum-0.1-width-0.03-omega-2-wait-0.2"
        panels = self.points(name)
        for curve, start in (("cold", "cold"), ("warm, history", "history")):
            for at, count in enumerate((10, 30, 100, 200)):
                with h5py.File(self.folder / name / f"{start}-{count}.h5") as file:
                    outer = file["steps/outer"][()]  # twice as many in steps with an impact
                    self.assertEqual(set(outer[outer > 0]) - {2 * count}, {count})
                    place, speed = file["bodies/position"][()], file["bodies/velocity"][()]
                    end = file["summary/values"].attrs
                    angle, plug = end["angle"], end["plug"]
                    volume = file["bodies/size"][:, 0] ** 3
                against = np.stack([speed[:, :, 0] - 2 * place[:, :, 2], speed[:, :, 1],
                                    speed[:, :, 2] + 2 * place[:, :, 0]])
                slip = np.sqrt((against**2).sum(axis=0)) / 0.1
                angles = np.degrees(np.arctan2(*-(place * volume[:, None]).sum(axis=1).T[[0, 2]]))
                self.assertAlmostEqual(angles[-1], angle, 9)
                self.assertAlmostEqual((slip[-1] <= 0.15).mean(), plug, 9)
                found = [panels[panel][name][1][at] for panel, name in (
                    (4, curve), (4, curve + ", mean speeds of these 2 s"), (5, curve))]
                np.testing.assert_allclose(found, [
                    100 * (slip <= 0.15).mean(), 100 * (slip.mean(axis=0) <= 0.15).mean(),
                    angles.mean()], rtol=1e-9)


if __name__ == "__main__":
    unittest.main()
