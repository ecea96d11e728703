#!/usr/bin/env python3
"""Figures of Kleinert 2014 and 2017 on tiny problems: what is drawn is what the result files say."""
import math
import subprocess
import unittest
from itertools import permutations
from pathlib import Path

from folder_case import PROGRAM
from reproduce_case import ReproduceCase

from made_up import h5py, np


class KleinertTest(ReproduceCase):
    def test_curves_are_those_of_the_result_files(self):
        panels = self.figure("kleinert2014-fig10", "v-groove")
        files = list((self.folder / "kleinert2014-fig10-v-groove").glob("*.h5"))
        self.assertEqual(len(files), 4)
        names = set()
        for path in files:
            with h5py.File(path) as file:
                options = file["options"].attrs
                name = options["strategy"].replace("_", " ").replace("path ", "path-") + ": " + {
                    "cholmod": "direct", "bicgstab": "BiCGstab"}[options["krylov"]]
                names.add(name)
                error = file["curve/error"][()]
                shown = (file["curve/outer"][()] > 0) & (error > 0)
                for panel, column in ((1, "outer"), (2, "time")):
                    x, y = panels[panel][name]
                    np.testing.assert_allclose(x, file["curve/" + column][()][shown], rtol=1e-12)
                    np.testing.assert_allclose(y, error[shown], rtol=1e-12)
        self.assertEqual(names, set(panels[1]))

    def test_tolerances_of_directions(self):
        panels = self.figure("kleinert2014-tolerance", "v-groove")
        names = {f"{strategy}, directions to {tolerance}"
                 for strategy in ("path-following", "potential reduction")
                 for tolerance in ("1e-3", "1e-6", "1e-8")}
        self.assertEqual([set(panel) for panel in panels.values()], [names, names])
        loose, tight = (panels[1][f"path-following, directions to {tolerance}"][0][-1]
                        for tolerance in ("1e-3", "1e-8"))
        self.assertLessEqual(loose, tight)

    def test_discs_with_more_than_one_solution(self):
        """Each holds every disc of 1 kg against 10 m/s^2 * 0.01 s, and no two are the same."""
        panels = self.figure("kleinert2014-fig6")
        folder = self.folder / "kleinert2014-fig6"
        with h5py.File(folder / "step/discs-steps.h5") as file:
            contacts = file["steps/0000/contacts"]
            sides, along = contacts["bodies"][()], contacts["frame"][:, 0]
        solutions = {}
        for panel in panels.values():
            (name, (_, normal)), = panel.items()
            with h5py.File(folder / f"{name}.h5") as file:
                np.testing.assert_array_equal(normal, file["final/gamma"][:, 0])
            gained = np.zeros((11, 3))  # the last one of what does not move
            np.add.at(gained, sides[:, 1], normal[:, None] * along)
            np.add.at(gained, sides[:, 0], -normal[:, None] * along)
            np.testing.assert_allclose(gained[:10], [[0, 0, 0.1]] * 10, atol=1e-9)
            solutions[name] = normal
        self.assertEqual(list(solutions), ["pgs", "apgd", "ipm", "vipm"])
        for one, other in permutations(solutions.values(), 2):
            self.assertGreater(np.abs(one - other).max(), 5e-3)

    def test_outlook_of_kleinert_2014(self):
        panels = self.figure("kleinert2014-outlook", "v-groove")
        folder = self.folder / "kleinert2014-outlook-v-groove"
        plain, inner = {}, []
        for path in folder.glob("*.h5"):
            with h5py.File(path) as file:
                options = file["options"].attrs
                curve = {name: file[f"curve/{name}"][()] for name in ("time", "outer", "error")}
                if float(options["beta_1"]) == 0:
                    plain[options["krylov"] + options["preconditioner"]] = curve
                else:
                    inner.append((float(options["alpha_cen"]), float(options["beta_cen"])))
        self.assertEqual(sorted(inner), [(0.01, 0.01), (0.01, 0.1), (1, 0.01), (1, 0.1)])
        self.assertEqual({len(panels[1]), len(panels[2])}, {5})
        self.assertEqual(set(plain), {"cgnone", "cgblock_diagonal", "bicgstabblock_ic0"})
        # One method to outer iteration k, another one from there on, for the least time in all.
        reached, composed = panels[3]["Krylov method changed once, composed"][::-1]
        for target, time in zip(reached, composed, strict=True):
            best = np.inf
            for early, late in permutations(plain.values(), 2):
                end = np.flatnonzero(late["error"] <= target)[0]
                for i, outer in enumerate(early["outer"]):
                    for j in np.flatnonzero(late["outer"][:end] == outer):
                        if outer > 0:
                            best = min(best, early["time"][i] + late["time"][end]
                                       - late["time"][j])
            self.assertAlmostEqual(time, best, 12)
        with h5py.File(folder / "pgj/1.h5") as file:
            self.assertEqual(file["curve/outer"][-1], 1)
            got_to = file["curve/error"][-1]
        with h5py.File(folder / "started/1.h5") as file:
            self.assertEqual(Path(file.attrs["start"]), folder / "pgj/1.h5")
            # vipm moves its start into the cones
            self.assertLess(abs(np.log(file["curve/error"][0] / got_to)), 0.5)

    def test_pictures_of_piles(self):
        """The largest force of a sphere is at least what holds it."""
        pile = self.folder / "pile.h5"
        subprocess.run([PROGRAM, "generate", "pile", "--spheres", "40", "--contacts", "100", "-o",
                        pile], check=True, capture_output=True)
        panels = self.figure("kleinert2017-fig5", str(pile))
        number, load = panels[1]["pile"]
        np.testing.assert_array_equal(number, np.arange(40))
        folder = self.folder / "kleinert2017-fig5-pile"
        with h5py.File(folder / "pile.h5") as file:
            gamma = np.linalg.norm(file["final/gamma"][()].reshape(-1, 3), axis=1)
        with h5py.File(folder / "problems/pile.h5") as file:
            pairs, inverse = file["contacts/bodies"][()], file["bodies/inverse_mass"][()]
            gravity, dt = np.linalg.norm(file["ccp"].attrs["gravity"]), file["ccp"].attrs["dt"]
        for sphere in (0, 7, 39):
            touches = (pairs == sphere).any(axis=1)
            expected = gamma[touches].max(initial=0) / ((1 / inverse).mean() * gravity * dt)
            self.assertAlmostEqual(load[sphere], expected, 9)
        self.assertGreater(np.median(load), 0.1)

    def test_eigenvalues(self):
        pile = self.folder / "pile.h5"
        subprocess.run([PROGRAM, "generate", "pile", "--spheres", "60", "--contacts", "150", "-o",
                        pile], check=True, capture_output=True)
        panels = self.figure("kleinert2017-fig4", str(pile))
        with h5py.File(self.folder / "kleinert2017-fig4-pile/regularised-ends.h5") as file:
            rows = file["rows"]
            for panel, (key, name) in enumerate((("none", "no preconditioner"),
                                                 ("block_diagonal", "block diagonal")), 2):
                chosen = rows["preconditioner"].asstr()[()] == key
                outer = rows["outer"][()][chosen]
                name += " (low end: bound)"
                x, y = panels[1][f"{name} high"]
                np.testing.assert_array_equal(x, outer)
                np.testing.assert_array_equal(y, rows["eigenvalue_high"][()][chosen])
                # Below what Lanczos found, and at first, when it finds all, not far below.
                ratio = panels[1][f"{name} low"][1] / rows["eigenvalue_low"][()][chosen]
                self.assertTrue((ratio < 1 + 1e-9).all(), ratio)
                self.assertGreater(ratio[0], 0.1)
                # Between the ends: another program's idea of A has the same largest eigenvalue.
                for step, (node, share) in panels[panel].items():
                    high = rows["eigenvalue_high"][()][chosen][outer == int(step.split()[1])]
                    np.testing.assert_allclose(node.max(), high, rtol=1e-4)
                    self.assertAlmostEqual(share[-1], 1.0, 6)

    def test_bouncing_ball(self):
        panels = self.figure("kleinert2017-fig1")
        for scheme, apex in (("shake, e = 0.8", 0.6500), ("rattle, e = 0.8", 0.5906)):
            t, q = panels[1][f"{scheme}, height"]
            self.assertAlmostEqual(q[(t > 0.5) & (t < 1)].max(), apex, 3)
        # At e = 0 the impulses of an impact add up to m V, whatever the scheme.
        for scheme, steps in (("shake", 2), ("rattle", 1)):
            impulses = panels[3][f"{scheme}, e = 0, impulse"][1]
            self.assertEqual(len(impulses), steps)
            self.assertAlmostEqual(sum(impulses), math.sqrt(20), delta=0.2)

    def test_impulses_by_phase(self):
        panels = self.figure("kleinert2017-fig3")
        for curve, exact in (("shake: step of the impact", lambda phase: 1 - phase),
                             ("shake: the next", lambda phase: phase),
                             ("rattle: step of the impact", np.ones_like),
                             ("rattle: the next", np.zeros_like)):
            phase, impulse = panels[1][curve]
            np.testing.assert_allclose(impulse, exact(phase), atol=1e-12)
        self.assertGreater(panels[2]["shake, largest of 8"][1].min(), 0.5)
        error = panels[2]["rattle, largest of 8"][1]
        self.assertTrue((np.diff(np.log2(error)) < -0.9).all(), error)  # of first order


if __name__ == "__main__":
    unittest.main()
