#!/usr/bin/env python3
"""Runs scripts/reproduce on tiny problems: what is drawn is what the result files say."""
import csv
import json
import math
import shutil
import subprocess
import sys
import unittest
from itertools import permutations
from pathlib import Path

from folder_case import PROGRAM, ROOT, FolderCase

from made_up import h5py, np

MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}


class ReproduceTest(FolderCase):
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


if __name__ == "__main__":
    unittest.main()
