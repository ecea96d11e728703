#!/usr/bin/env python3
"""Figures of Koziara 2019 on tiny problems: what is drawn is what the result files say."""
import math
import shutil
import subprocess
import unittest

from folder_case import PROGRAM
from reproduce_case import ReproduceCase

from made_up import h5py, np


class KoziaraTest(ReproduceCase):
    def test_heat_maps(self):
        """A cell is what the result file of that choice says."""
        panels = self.figure("koziara2019-table4", "collapsing-pile#1")
        self.assertEqual(len(panels), 12)
        maps = {"min": 1, "avg": 5, "max": 9}
        checked = 0
        for path in (self.folder / "koziara2019-table4-collapsing-pile#1").glob("*.h5"):
            with h5py.File(path) as file:
                if file.attrs["solver_id"] != "pqn":
                    continue
                options = file["options"].attrs
                row = f"{options['krylov_tolerance']}, {options['krylov_max_iterations']}"
                first = maps[options["delta_relative_to"]]
                failed = not file.attrs["stop_reached"] and file.attrs["status"] != "converged"
                outer = [] if failed else [file["curve/outer"][-1]]
                for offset, value in ((0, outer), (1, [failed]),
                                      (3, [file["timers"].attrs["solve"]])):
                    x, y = panels[first + offset][row]
                    found = y[x == float(options["delta"])]
                    np.testing.assert_allclose(found, value, rtol=1e-12)
                    checked += 1
        self.assertEqual(checked, 3 * 75)

    def test_density_is_a_unit(self):
        """With delta relative to N and impulses scaled by it only the unit of mass changes."""
        panels = self.figure("koziara2019-density")
        iterations = [panels[1][f"{density:g}"][1] for density in (0.1, 1, 10, 100)]
        self.assertGreaterEqual(len(iterations[0]), 3)
        for row in iterations[1:]:  # but for rounding, which long solves feel
            np.testing.assert_allclose(row[:3], iterations[0][:3], rtol=0.1)

    def test_density_in_the_drum(self):
        """Cells are what the trajectories say; of rigid bodies density is a unit, of soft ones not."""
        folder = self.folder / "koziara2019-fig12"
        folder.mkdir()
        deltas = ("0.001", "0.01", "0.025", "0.1")
        for kind, option in (("rigid", "false"), ("soft", "true")):
            for density in ("10", "100", "1000", "10000"):
                motion = folder / f"density-{density}-delta-{deltas[0]}-{kind}.h5"
                scene = f"bodies=3,dt=0.01,wait=0.3,pseudo_rigid={option},density={density}"
                subprocess.run([PROGRAM, "simulate", f"lifter-drum[{scene}]", "--until", "0.6",
                                "--residual", "1e-4", "--iterations", "20", "-o", motion],
                               check=False, capture_output=True)
                for delta in deltas[1:]:
                    shutil.copyfile(motion, folder / f"density-{density}-delta-{delta}-{kind}.h5")
        self.reproduce("koziara2019-fig12", "--draw-only", "-o", self.folder)
        panels = self.points("koziara2019-fig12")
        for first, kind in ((1, "rigid"), (4, "soft")):
            for density in ("10", "100", "1000", "10000"):
                with h5py.File(folder / f"density-{density}-delta-0.1-{kind}.h5") as file:
                    failed = file["steps/residual"][()] > 1e-4
                    outer, krylov = file["steps/outer"][()], file["steps/krylov"][()]
                for panel, value in enumerate((outer[~failed].mean(), failed.sum(), krylov.sum()),
                                              first):
                    x, y = panels[panel][density]
                    np.testing.assert_array_equal(x, [float(delta) for delta in deltas])
                    np.testing.assert_allclose(y, value, rtol=1e-12)
        rigid, soft = ([panels[panel][density][1][0] for density in ("10", "100", "1000", "10000")]
                       for panel in (1, 4))
        np.testing.assert_allclose(rigid, rigid[0], rtol=0.1)
        self.assertGreater(np.ptp(soft), 0.1 * max(soft))

    def test_drum_with_lifters(self):
        scene = "lifter-drum[bodies=8,dt=0.02,wait=0.5]"
        self.reproduce("koziara2019-drum", "--program", PROGRAM, "--problems", scene, "-o",
                       self.folder)
        name = "koziara2019-drum-lifter-drum-bodies-8-dt-0.02-wait-0.5"
        panels = self.points(name)
        for panel, bodies in ((2, "ellipsoids"), (4, "spheres"), (6, "soft-ellipsoids"),
                              (8, "soft-spheres")):
            for solver, title in (("pqn", "pqn, \u03b4 of the mean N$_{ii}$"),
                                  ("pqn-absolute", "pqn, absolute \u03b4"),
                                  ("pgs", "Gauss-Seidel")):
                with h5py.File(self.folder / name / f"{bodies}-{solver}.h5") as file:
                    outer, time = file["steps/outer"][()], file["steps/time"][()]
                    self.assertEqual(file["bodies/shape"][0].decode(),
                                     bodies.removeprefix("soft-")[:-1])
                    self.assertEqual("bodies/deformation" in file, bodies.startswith("soft"))
                    if solver == "pqn-absolute":  # the paper's, of 100 bodies
                        delta = "8e-12" if bodies.startswith("soft") else "0.008"
                        self.assertIn(f"delta={delta},", file.attrs["solver"])
                x, y = panels[panel][f"{bodies}, {title}"]
                np.testing.assert_allclose(x[0], time[99])
                np.testing.assert_allclose(y[[0, -1]], [outer[:100].mean(), outer[-100:].mean()])

    def test_cube_in_a_box_that_is_shaken(self):
        """By hand: one cube, which the floor takes along at mu g until a wall comes."""
        scene = "shaken-cubes[cubes=1,dt=0.002]"
        self.reproduce("koziara2019-cubes", "--program", PROGRAM, "--problems", scene, "-o",
                       self.folder)
        name = "koziara2019-cubes-shaken-cubes-cubes-1-dt-0.002"
        panels = self.points(name)
        omega = 4 * math.pi
        for title in ("pqn, \u03b4 = 0.01 avg N$_{ii}$", "Gauss-Seidel"):
            time, behind = panels[2][title]
            tau = time - 0.6
            free = (tau > 0) & (tau < 0.08)
            box = 5 / omega**2 * (1 - np.cos(omega * tau[free]))
            np.testing.assert_allclose(behind[free], 1000 * (0.5 * tau[free]**2 - box), atol=0.15)
            # It never leaves its 10 mm to each side, along the diagonal.
            self.assertLess(np.abs(behind).max(), 10 * math.sqrt(2) + 1)
            self.assertGreater(np.abs(behind).max(), 10 * math.sqrt(2) - 1)
        for delta, place in zip(("0", "1e-05", "0.001", "", "0.05"), range(5), strict=True):
            with h5py.File(self.folder / name / f"pqn{delta and '-' + delta}.h5") as file:
                outer, force = file["steps/outer"][()], file["obstacles/force"][()]
            self.assertAlmostEqual(panels[6]["iterations a step"][1][place], outer.mean(), 9)
        # All that the box takes is weight, 10 N, and what accelerates the cube, whatever it does.
        np.testing.assert_allclose(force[100:300].sum(axis=1), np.tile([0, 0, -10], (200, 1)),
                                   atol=0.01)


if __name__ == "__main__":
    unittest.main()
