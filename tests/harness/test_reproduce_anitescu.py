#!/usr/bin/env python3
"""Figures of the Anitescu slides: what is drawn is what the result files say, or is found by hand."""
import math
import subprocess
import unittest

from folder_case import PROGRAM
from reproduce_case import ReproduceCase

from made_up import h5py, np


class AnitescuTest(ReproduceCase):
    def test_pyramids(self):
        panels = self.figure("anitescu-lcp", None, "--time-limit", "1")
        for panel in (1, 2):
            self.assertEqual(len(panels[panel]), 6)  # two laws, three mu
            for contacts, values in panels[panel].values():
                np.testing.assert_array_equal(contacts, [22, 51, 92, 145, 590])
                self.assertTrue((values > 0).all())
        # Without friction the two are one LCP.
        np.testing.assert_array_equal(panels[2]["LCP, mu = 0"][1],
                                      panels[2]["relaxation, mu = 0"][1])

    def test_sliding_particle(self):
        panels = self.figure("anitescu-particle")
        self.assertEqual(len(panels), 4)
        h, lagged = panels[1]["lagged"]
        np.testing.assert_allclose(h, 0.1 / 2.0 ** np.arange(8))
        slides = panels[1]["slides"][1]
        np.testing.assert_allclose(lagged[1:], slides[1:], rtol=0.1)
        # By hand: mu^1.5 sqrt(g v) h^1.5
        np.testing.assert_allclose(lagged, 0.3**1.5 * math.sqrt(9.81 * 8) * h**1.5, rtol=0.12)
        self.assertGreater(panels[1]["relaxation"][1].min(), 0.5)  # it hops, however small h

    def test_steps_of_a_pyramid(self):
        panels = self.figure("anitescu-time")
        height = panels[1]["height, relaxation"][1]
        self.assertGreater(height.max(), 0.2)
        self.assertLess(np.abs(panels[1]["height, LCP"][1]).max(), 1e-12)
        pivots = panels[2]["outer, LCP, Lemke"][1]
        self.assertEqual(len(pivots), 36)  # means of five of forty
        self.assertGreater(pivots.min(), 5 * panels[2]["outer, relaxation, vipm"][1].max())

    def test_ellipse(self):
        panels = self.figure("anitescu-ellipse")
        self.assertEqual(len(panels[1]), 10)  # outlines
        for name, order in (("unstabilised", 0.9), ("stabilised", 2)):
            h, deepest = panels[2][f"{name}, largest"]
            self.assertGreater(np.polyfit(np.log(h), np.log(deepest), 1)[0], order)
        drift = panels[3]["unstabilised, h = 0.05 s"][1]
        self.assertEqual(drift.argmax(), len(drift) - 1)  # it grows to the end
        late = panels[4]["stabilised, h = 0.05 s"]
        self.assertLess(late[1][late[0] > 2].max(), 0.01)

    def test_rod(self):
        panels = self.figure("anitescu-painleve")
        for solver in ("LCP", "Gauss-Seidel"):
            mu, impulse = panels[1][solver]
            np.testing.assert_allclose(impulse[mu < 0.5375], 0, atol=1e-4)
            np.testing.assert_allclose(impulse[mu > 0.5376], 0.276605, atol=1e-4)
        h, off = panels[2]["normal impulse"]
        self.assertAlmostEqual(np.polyfit(np.log(h), np.log(off), 1)[0], 1, 1)

    def test_joints(self):
        panels = self.figure("anitescu-joints")
        for name, order in (("unstabilised", 1), ("stabilised", 2)):
            h, largest = panels[2][f"{name}, largest"]
            self.assertAlmostEqual(np.polyfit(np.log(h), np.log(largest), 1)[0], order, delta=0.15)
        self.assertLess(np.diff(panels[3]["unstabilised, energy"][1]).max(), 1e-8)

    def test_stiff_forces(self):
        panels = self.figure("anitescu-stiff")
        self.assertLess(panels[1]["linearly implicit"][1].max(), 1e-6)
        h, far = panels[1]["explicit"]
        self.assertLess(far[h < 2e-3].max(), 0.011)
        self.assertGreater(far[h > 2e-3].min(), 1e3)

    def test_nut(self):
        folder = self.folder / "anitescu-nut"
        folder.mkdir()
        subprocess.run([PROGRAM, "simulate", "brazil-nut[discs=5,width=5.3]", "--until", "62",
                        "--every", "1", "--quiet", "-o", folder / "nut.h5"], check=True)
        panels = self.figure("anitescu-nut")  # what is there is kept
        with h5py.File(folder / "nut.h5") as file:
            place = file["bodies/position"][()]
        shakes, nut = panels[3]["large disc"]
        np.testing.assert_array_equal(shakes, np.arange(61))
        np.testing.assert_allclose(nut, place[20::10, 0, 2])
        self.assertAlmostEqual(nut[0], 1.5, 3)  # it has settled, and is shaken from then on
        self.assertGreater(np.abs(nut - 1.5).max(), 0.1)
        with h5py.File(folder / "nut.h5") as file:
            for curve, name in (("contacts", "contacts"), ("iterations", "outer")):
                of_steps = file["steps/" + name][()][20:]
                shake, mean = panels[4][curve + " a step"]
                np.testing.assert_array_equal(shake, np.arange(1, 61))
                self.assertAlmostEqual(mean[7], of_steps[70:80].mean(), 9)

    def test_pebbles_are_carried_by_floor_and_wall(self):
        """Of two that are wedged in, at rest: both together what they weigh."""
        folder = self.folder / "anitescu-pebbles"
        folder.mkdir()
        scene = folder / "wedged.yaml"
        scene.write_text("""
name: wedged
dt: 0.005
until: 1
solver: vipm
obstacles: [{shape: plane}, {shape: {cylinder_inside: 0.05}}]
bodies:
  - {shape: {sphere: 0.03}, density: 1700, position: [-0.015, 0, 0.035]}
  - {shape: {sphere: 0.03}, density: 1700, position: [0.015, 0.001, 0.1]}
""", encoding="utf-8")
        for pebbles in (125, 250, 500, 1000):
            subprocess.run([PROGRAM, "simulate", scene, "--every", "1", "--residual", "1e-8", "-o",
                            folder / f"pebbles-{pebbles}.h5"], check=True, capture_output=True)
        self.reproduce("anitescu-pebbles", "--draw-only", "-o", self.folder)
        panels = self.points("anitescu-pebbles")
        (x, floor), (_, wall) = panels[3]["floor"], panels[3]["wall"]
        np.testing.assert_array_equal(x, [125, 250, 500, 1000])
        np.testing.assert_allclose(floor + wall, 1, atol=1e-4)
        self.assertTrue((wall >= -1e-6).all() and (floor > 0.1).all(), (floor, wall))


if __name__ == "__main__":
    unittest.main()
