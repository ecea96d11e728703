#!/usr/bin/env python3
"""How scripts/reproduce is used, and its figures beyond the papers, on tiny problems."""
import unittest

from folder_case import PROGRAM, ROOT
from reproduce_case import ReproduceCase

from made_up import h5py, np


class ReproduceTest(ReproduceCase):
    def test_list(self):
        output, _ = self.reproduce("--list")
        names = [line.split()[0] for line in output.splitlines()]
        self.assertEqual(names, [
            "kleinert2017-fig1", "kleinert2017-fig3", "kleinert2017-fig4", "kleinert2017-fig5",
            "kleinert2017-fig6", "kleinert2017-fig7", "kleinert2017-krylov", "kleinert2017-blade",
            "kleinert2014-fig6",
            "kleinert2014-fig8", "kleinert2014-fig9", "kleinert2014-fig10", "kleinert2014-fig11",
            "kleinert2014-tolerance", "kleinert2014-outlook", "anitescu-lcp",
            "anitescu-particle", "anitescu-time", "anitescu-ellipse", "anitescu-painleve",
            "anitescu-joints", "anitescu-stiff", "anitescu-nut", "anitescu-pebbles",
            "wang2016-fig2", "wang2016-fig3", "wang2016-fig4", "wang2016-fig7", "wang2016-fig8",
            "wang2016-sound", "wang2016-pile", "wang2016-fig9", "wang2016-pouring", "wang2016-drum",
            "wang2016-triaxial", "koziara2019-fig2",
            "koziara2019-fig3", "koziara2019-table4", "koziara2019-fig9", "koziara2019-fig12",
            "koziara2019-density", "koziara2019-drum", "koziara2019-cubes", "which-law", "which-accuracy",
            "warm-starts"])
        self.assertTrue(all(line.split()[2] == "min" for line in output.splitlines()), output)
        texts = "".join(path.read_text(encoding="utf-8")
                        for path in (ROOT / "docs/reproduce").glob("*.md"))
        for name in names:  # each has a text
            self.assertIn(f"scripts/reproduce {name}\n", texts)

    def test_table_of_what_there_is_counts_its_rows(self):
        text = (ROOT / "docs/reproduce/README.md").read_text(encoding="utf-8")
        states = ["done", "partly", "contradicted", "missing", "*none*"]
        counts = {}
        for part in text.split("\n### ")[1:]:
            cells = [line.split("|")[2].strip() for line in part.splitlines() if "|" in line]
            self.assertEqual(cells[:2], ["state", "---"])
            self.assertTrue(set(cells[2:]) <= set(states), cells)
            counts[part.splitlines()[0]] = [cells.count(state) for state in states]
        self.assertEqual(len(counts), 5)
        counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
        for paper, numbers in counts.items():
            self.assertIn(f"| {paper} | " + " | ".join(map(str, numbers)) + " |\n", text)

    def test_wrong_usage(self):
        name = "kleinert2014-fig9"
        for arguments, says in (
                (["nobody-fig7"], "unknown figure 'nobody-fig7'; there are kleinert2017-fig1"),
                ([], "expected the NAME of a figure, or --list"),
                ([name, "--program", "nowhere"], "found nowhere"),
                ([name, "--time-limit", "0"], "expected a number > 0")):
            self.assertIn(says, self.reproduce(*arguments, expect=2)[1])
        _, errors = self.reproduce(name, "--program", PROGRAM, "--problems", "author",
                                   "--states", self.folder, expect=2)
        self.assertIn("particles2048pile.vtu is not there", errors)
        for alias in (name, "001-fig9"):
            _, errors = self.reproduce(alias, "--draw-only", "-o", self.folder, expect=1)
            self.assertIn(f"{name}: ", errors)
            self.assertIn("no result file that can be drawn", errors)

    def test_laws_on_the_same_steps(self):
        panels = self.figure("which-law")
        self.assertNotIn("Coulomb", panels[1])  # contacts that carry do not open
        more, fewer = (panels[3][f"LCP, {edges} edges"][1] for edges in (8, 4))
        self.assertTrue((more < 1.001 * fewer).all(), (more, fewer))
        step, lift = panels[1]["convex"]
        np.testing.assert_array_equal(step, np.arange(1, 6))
        # By hand: u_n = mu |u_t| where a contact slips, and friction is mu gamma_n |u_t| there.
        with h5py.File(self.folder / "which-law/step-4-convex.h5") as file:
            gamma = file["final/gamma"][()].reshape(-1, 3)
        friction = panels[2]["convex"][1]
        self.assertAlmostEqual(friction[3] / (lift[3] * gamma[:, 0].sum()), 1, 3)

    def test_warm_starts(self):
        """What is drawn is the mean of what the trajectories say; blocks at rest stay so."""
        scene = self.folder / "blocks.yaml"
        scene.write_text("""
name: blocks
dt: 0.01
until: 0.15
obstacles: [{shape: plane}]
bodies:
  - {shape: {box: [0.1, 0.1, 0.1]}, mass: 1, position: [0, 0, 0.1],
     copies: {count: [1, 1, 3], pitch: [0, 0, 0.2]}}
""", encoding="utf-8")
        for wrong in ("column", "wall"):
            _, errors = self.reproduce("warm-starts", "--program", PROGRAM, "--problems", wrong,
                                       "-o", self.folder, expect=1)
            self.assertIn("or a scene file FILE.yaml", errors)
        self.reproduce("warm-starts", "--program", PROGRAM, "--problems", scene, "-o", self.folder)
        panels = self.points("warm-starts-blocks")
        solvers = ("pgj", "pgs", "apgd", "bb", "admm", "pqn", "coulomb", "ssn", "vipm")
        for panel, residual in ((1, "1e-01"), (2, "1e-04")):
            for curve, start in (("cold", "cold"), ("previous", "previous"),
                                 ("history, 0.85", "history"), ("normals only", "normals")):
                mean, place = panels[panel][curve]
                few = () if start in ("cold", "previous") else ("pqn", "coulomb")
                named = [solvers[round(k)] for k in place]
                self.assertEqual(named, [solver for solver in solvers if solver not in few])
                for solver, value in zip(named, mean, strict=True):
                    name = f"wall-{solver}-{start}-{residual}.h5"
                    with h5py.File(self.folder / "warm-starts-blocks" / name) as file:
                        self.assertAlmostEqual(file["steps/outer"][()].mean(), value, 9)
        apgd = solvers.index("apgd")
        self.assertLess(panels[2]["previous"][0][apgd], 0.5 * panels[2]["cold"][0][apgd])

    def test_accuracies(self):
        """What is drawn is the mean over three beds of what the trajectories say."""
        _, errors = self.reproduce("which-accuracy", "--program", PROGRAM, "--problems", "column",
                                   "-o", self.folder, expect=1)
        self.assertIn("expected blade or rotating-drum or triaxial-cell, with [option", errors)
        drum = "rotating-drum[spheres=6,drum=0.08,width=0.03,omega=3,rolling=0,mu=0.5,wait=0.05]"
        self.reproduce("which-accuracy", "--program", PROGRAM, "--problems", drum, "-o",
                       self.folder)
        name, = (path.stem for path in self.folder.glob("*.csv"))
        panels = self.points(name)
        angles, counts, deviations = [], [], []
        for seed in (1, 2, 3):
            means = []
            for run in ("vipm-1e-04", "exact"):
                with h5py.File(self.folder / name / f"rotating-drum-{seed}-{run}.h5") as file:
                    late = np.append(0, file["steps/time"][()]) >= 0.5 - 1e-9
                    place = file["bodies/position"][()][late]
                    volume = file["bodies/size"][:, 0] ** 3
                    outer = file["steps/outer"][()]
                centre = (place * volume[:, None]).sum(axis=1)
                means.append(np.degrees(np.arctan2(-centre[:, 0], -centre[:, 2])).mean())
                if run != "exact":
                    counts.append(outer.mean())
            angles.append(means[0])
            deviations.append(means[0] - means[1])
        found = [panels[panel][f"vipm, {what}"][1][3] for panel, what in (
            (1, "mean"), (2, "off"), (3, "iterations"))]
        np.testing.assert_allclose(found, [np.mean(angles), np.sqrt(np.mean(np.square(deviations))),
                                           np.mean(counts)], rtol=1e-9, atol=1e-9)
        self.assertGreater(panels[1]["vipm, mean"][0][0], panels[1]["vipm, mean"][0][-1])


if __name__ == "__main__":
    unittest.main()
