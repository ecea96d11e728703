#!/usr/bin/env python3
"""ccpbench simulate: motions that are known, files, going on after a kill, what is refused."""

import csv
import json
import os
import signal
import subprocess
import time
import unittest
from xml.etree import ElementTree

import h5py
import numpy as np
from test_cli import CRASHED, NOT_REACHED, PROGRAM, USAGE, CommandLine


class Simulate(CommandLine):
    def simulate(self, scene, *arguments, **keywords):
        out, _ = self.run_program("simulate", scene, *arguments, "--json", **keywords)
        return json.loads(out)

    def test_json_has_the_keys_of_the_contract(self):
        result = self.simulate("incline", "--until", "0.5")
        self.assertEqual(list(result), [
            "scene", "options", "stepper", "solver", "status", "steps", "time", "solver_time",
            "wall_time", "contacts_mean", "outer_mean", "residual_max", "unsolved",
            "penetration_max", "energy_first", "energy_last", "values"])
        self.assertEqual((result["scene"], result["steps"], result["status"]),
                         ("incline", 50, "finished"))
        self.assertEqual(result["unsolved"], 0)
        self.assertLess(result["residual_max"], 1e-8)
        self.assertLessEqual(result["solver_time"], result["wall_time"])
        values = result["values"]
        self.assertAlmostEqual(values["acceleration"], 5 / 7 * 9.81 / 2, places=6)
        self.assertAlmostEqual(values["spin_times_radius"], values["speed"], places=7)

    def test_schemes_and_solvers(self):
        for stepper, solver in (("shake", "vipm"), ("rattle", "pgs[law=coulomb]"), ("lcp", "pqn"),
                                ("relaxation", "vipm"), ("moreau", "pgs[law=coulomb]")):
            with self.subTest(stepper=stepper):
                result = self.simulate("conveyor[mu=0.4]", "--stepper", stepper, "--solver", solver)
                self.assertEqual(result["unsolved"], 0)
                self.assertAlmostEqual(result["values"]["speed"], 1, places=5)
        text, _ = self.run_program("simulate", "conveyor", "--until", "0.1")
        for part in ("conveyor with shake", "10 steps to 0.1 s, finished", "slip_time"):
            self.assertIn(part, text)

    def test_column_keeps_its_height_with_impacts(self):
        """T16: the stage of impacts does not change the column at rest."""
        result = self.simulate("column[spheres=5]", "--until", "1.5")
        self.assertEqual(result["stepper"], "spook")
        self.assertLess(abs(result["values"]["error"]), 1e-4)

    def test_column_at_rest_stays_until_there_is_a_load(self):
        column = "column[spheres=12,at_rest=true,load={}]"
        still = self.simulate(column.format(0), "--until", "0.2")
        self.assertLess(abs(still["values"]["error"]), 1e-9)
        loaded = self.simulate(column.format(0.5), "--until", "3")
        self.assertLess(loaded["values"]["theory"], still["values"]["theory"] - 1e-5)
        self.assertLess(abs(loaded["values"]["error"]), 1e-5)

    def test_pyramid_moves_as_the_one_that_is_generated(self):
        path = self.path("pyramid.h5")
        self.simulate("pyramid[rows=3,mu=0.3]", "--until", "0.5", "-o", path)
        self.run_program("generate", "pyramid", "--rows", "3", "--mu", "0.3", "--steps", "10",
                         "--trajectory", self.path("p.csv"), "-o", self.path("p.h5"))
        rows = np.loadtxt(self.path("p.csv"), delimiter=",", skiprows=1)
        last = rows[rows[:, 0] == rows[:, 0].max()][:, 2:4]  # x and z
        with h5py.File(path) as file:
            found = file["bodies/position"][-1]
        self.assertEqual(np.abs(found[:, 1]).max(), 0)
        np.testing.assert_allclose(found[:, [0, 2]], last, atol=1e-4)  # arms differ with the gap
        solid, disc = (self.simulate(f"pyramid[rows=3,inertia={kind}]", "--until", "0.5")
                       for kind in ("sphere", "disc"))
        self.assertGreater(abs(solid["energy_last"] / disc["energy_last"] - 1), 1e-4)

    def test_shaken_discs_stay_in_their_box_and_plane(self):
        path = self.path("nut.h5")
        result = self.simulate("brazil-nut[discs=12,nut=0.8,width=4,settle=1]", "--until", "6",
                               "-o", path, "--every", "1")
        self.assertEqual(result["unsolved"], 0)
        with h5py.File(path) as file:
            place = file["bodies/position"][()]
        self.assertEqual(np.abs(place[:, :, 1]).max(), 0)
        self.assertLess(np.abs(place[:, 1:, 0]).max(), 1.5 + 1e-3)  # half a width less a radius
        self.assertAlmostEqual(place[10, 0, 2], 0.8, 3)  # settled
        self.assertGreater(place[:, 0, 2].max(), 1.2)  # and shaken
        self.refused("simulate", "brazil-nut[width=3]", parts=["brazil-nut", "width", "3 m"])

    def test_penalty_needs_no_solver(self):
        ball = "column[spheres=1,dt=1e-4]"
        result = self.simulate(ball, "--stepper", "dem", "--until", "0.5")
        self.assertEqual((result["solver"], result["outer_mean"]), ("", 0))
        self.assertLess(abs(result["values"]["error"]), 1e-3)
        self.refused("simulate", "column[spheres=2]", "--stepper", "dem", "--until", "0.5",
                     parts=["step 1", "stepper dem", "time step", "at most", "0.005 s"])

    def test_trajectory(self):
        path = self.path("ball.h5")
        self.simulate("bouncing-ball[restitution=0.5]", "--every", "10", "-o", path)
        text, _ = self.run_program("check", path)
        self.assertIn("trajectory of bouncing-ball, 240 steps, 25 frames of 1 bodies", text)
        with h5py.File(path) as file:
            self.assertEqual(file.attrs["format"], "ccpbench-trajectory")
            self.assertIn("height=1,", file.attrs["options"] + ",")
            np.testing.assert_array_equal(file["frames/step"][()], np.arange(0, 241, 10))
            self.assertEqual(file["bodies/position"].shape, (25, 1, 3))
            self.assertEqual(file["bodies/velocity"].shape, (25, 1, 6))
            np.testing.assert_allclose(file["steps/time"][()], 0.0125 * np.arange(1, 241))
            energy = file["steps/kinetic"][()] + file["steps/potential"][()]
            self.assertLess(energy[-1], 0.2 * energy[0] + 1)
            # At rest the ground carries the weight.
            np.testing.assert_allclose(file["obstacles/force"][-1, 0], [0, 0, -10], atol=1e-9)
            self.assertEqual(set(file["steps/status"].asstr()[()]) - {"no_solve"},
                             {"stopped_by_observer"})
        self.refused("simulate", "bouncing-ball", "-o", path, parts=["existing file"])
        with h5py.File(path, "a") as file:
            file["bodies/orientation"][3, 0] = [1, 0.1, 0, 0]
        self.refused("check", path, parts=["/bodies/orientation, frame 3", "unit quaternion"])
        with h5py.File(path, "a") as file:
            del file["steps/krylov"]
        self.refused("check", path, parts=["/steps/krylov"])

    def test_info_says_what_a_trajectory_is(self):
        path = self.path("ball.h5")
        self.simulate("bouncing-ball", "--until", "0.25", "-o", path)
        out, _ = self.run_program("info", path)
        for part in ("trajectory", "bouncing-ball[", "shake with pgs", "20 steps to 0.25 s",
                     "1 body, 1 obstacle"):
            self.assertIn(part, out)

    def test_series_for_paraview(self):
        path = self.path("ball.h5")
        self.simulate("incline", "--until", "0.2", "--every", "10", "-o", path)
        out, _ = self.run_program("export", "vtk", path, "--series", "-o", self.path("roll.pvd"))
        self.assertIn("roll.pvd: 3 frames", out)
        series = ElementTree.parse(self.path("roll.pvd")).getroot()
        sets = series.findall("Collection/DataSet")
        self.assertEqual([float(s.attrib["timestep"]) for s in sets], [0, 0.1, 0.2])
        frame = ElementTree.parse(self.path(sets[2].attrib["file"])).getroot()
        numbers = frame.findtext(".//Points/DataArray", "").split()
        points = np.array(numbers, float).reshape(-1, 3)
        with h5py.File(path) as file:
            centre = file["bodies/position"][2, 0]
        np.testing.assert_allclose(np.linalg.norm(points - centre, axis=1), 0.1, rtol=1e-6)
        self.refused("export", "vtk", path, "--series", "-o", self.path("roll"),
                     parts=["roll.pvd", "existing file"])
        self.refused("export", "vtk", self.scene("stack"), "--series", "-o", self.path("x"),
                     parts=["'ccpbench-trajectory'"])

    def test_same_bytes_twice(self):
        for name in "ab":
            self.simulate("column[spheres=3]", "--until", "0.2", "-o", self.path(name + ".h5"))
        with h5py.File(self.path("a.h5")) as a, h5py.File(self.path("b.h5")) as b:
            for dataset in ("bodies/position", "steps/outer", "steps/residual"):
                np.testing.assert_array_equal(a[dataset][()], b[dataset][()])

    def test_frozen_steps(self):
        path = self.path("c.h5")
        self.simulate("column[spheres=4]", "--until", "0.2", "--freeze", "3,10..12", "-o", path)
        steps = self.path("c-steps.h5")
        text, _ = self.run_program("check", steps)
        self.assertIn("4 steps", text)
        out, _ = self.run_program("solve", steps + "#1", "--solver", "pgs", "--start", "simulation",
                                  "--stop", "residual=1e-7", "--json")
        self.assertLess(json.loads(out)["measures"]["residual"], 1e-7)
        with h5py.File(steps) as file:
            self.assertEqual(file["steps/0001"].attrs["name"], "column-00010")
        for wrong in ("x", "3..1", "-1", "1.5"):
            self.refused("simulate", "incline", "--freeze=" + wrong, "-o", self.path("d.h5"),
                         parts=["--freeze", "steps from 0"])

    def states(self, path):
        with h5py.File(path) as file:
            names = ["bodies/position", "bodies/velocity", "bodies/orientation", "steps/residual",
                     "steps/outer", "steps/penetration", "obstacles/force"]
            names += [name for name in ("bodies/deformation", "bodies/deformation_rate")
                      if name in file]
            return [file[name][()] for name in names]

    def kill_and_resume(self, scene, *arguments, attempts):
        """Kills a run at moments that differ and goes on; @return arguments of the run, the file of
        the one that nobody killed, and a checkpoint."""
        run = ["simulate", scene, *arguments, "--every", "7", "--quiet"]
        stem = f"run{len(os.listdir(self.folder))}"
        whole = self.path(stem + "-whole.h5")
        self.run_program(*run, "-o", whole)
        killed = 0
        for attempt in range(attempts):
            checkpoint = self.path(f"{stem}-c{attempt}.h5")
            command = [*run, "--checkpoint", checkpoint, "--checkpoint-every", "3"]
            process = subprocess.Popen([PROGRAM, *command], cwd=self.folder)
            until = time.monotonic() + 20
            while not os.path.exists(checkpoint) and time.monotonic() < until:
                time.sleep(0.005)
            time.sleep(0.01 * attempt)
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            out = self.path(f"{stem}-o{attempt}.h5")
            self.run_program(*command, "--resume", "-o", out)
            for a, b in zip(self.states(whole), self.states(out), strict=True):
                np.testing.assert_array_equal(a, b)
        self.assertGreater(killed, 0)
        return run, whole, self.path(f"{stem}-c0.h5")

    def test_a_killed_simulation_goes_on_with_the_same_bits(self):
        run, whole, checkpoint = self.kill_and_resume("column[spheres=12]", "--until", "1",
                                                      attempts=10)
        self.refused("simulate", "column[spheres=11]", "--checkpoint", checkpoint, "--resume",
                     parts=["c0.h5", "options", "spheres=11", "spheres=12"])
        self.refused(*run, "--solver", "vipm", "--checkpoint", checkpoint, "--resume",
                     parts=["attribute solver", "'vipm'"])
        self.refused(*run, "--checkpoint", whole, "--resume", parts=["checkpoint"])

    def test_joints_and_rolling_resistance_go_on_with_the_same_bits(self):
        self.kill_and_resume("double-pendulum", "--until", "5", attempts=2)
        self.kill_and_resume("slider-crank", "--until", "1", "--stepper", "moreau", attempts=2)
        text = self.ROLLING.replace("until: 0.5", "until: 2").replace("name: ball\n    ", "")
        text += "    copies: {count: [3, 3, 3], pitch: [0.19, 0.19, 0.21]}\n"
        path = self.scene_file(text)
        run, _, checkpoint = self.kill_and_resume(path, "--iterations", "20", attempts=2)
        self.scene_file(text + "# changed\n")
        self.refused(*run, "--checkpoint", checkpoint, "--resume",
                     parts=["options", "sha256="])

    def test_the_five_starts_of_wang(self):
        """Few sweeps on a column at rest: history is nearer than cold, apart is farther off."""
        errors, bits = {}, {}  # of the height by Hertz's law, and where the spheres are
        for start in ("cold", "history", "history[rows=normals]", "history[velocity=false]", "model"):
            out = self.path("h.h5")
            result = self.simulate("column[spheres=10]", "--start", start, "--iterations", "15",
                                   "--fixed-iterations", "--until", "1", "-o", out, "--every", "200")
            self.assertEqual(result["outer_mean"], 15)
            errors[start] = abs(result["values"]["error"])
            with h5py.File(out) as file:
                bits[start] = file["bodies/position"][-1].tobytes()
            os.remove(out)
        self.assertEqual(len(set(bits.values())), 4)  # a column has no friction: rows do not matter
        self.assertEqual(bits["history"], bits["history[rows=normals]"])
        self.assertLess(errors["history"], 0.5 * errors["cold"])
        self.assertGreater(errors["history[velocity=false]"], errors["cold"])
        self.assertLess(errors["model"], errors["history"])
        for wrong, parts in (("history[bet=1]", ["'bet'", "'beta'"]),
                             ("history[beta=0]", ["beta", "> 0"]),
                             ("history[rows=tangents]", ["rows", "normals"])):
            self.refused("simulate", "column[spheres=2]", "--start", wrong, parts=parts)

    def test_residuals_by_kind_of_row(self):
        out = self.path("rows.h5")
        self.simulate("rolling-pile[spheres=60]", "--until", "1", "--iterations", "40",
                      "--fixed-iterations", "--row-residuals", "195..196", "--start", "cold",
                      "-o", out)
        with h5py.File(out) as file:
            rows = {name: file["row_residuals/" + name][()] for name in file["row_residuals"]}
        self.assertEqual(set(rows), {"step", "solve", "outer", "normal", "tangential", "rolling",
                                     "equality"})
        self.assertEqual(set(rows["step"]), {195, 196})
        last = rows["step"] == 195
        last &= rows["solve"] == rows["solve"][last].max()
        self.assertEqual(rows["outer"][last].max(), 40)
        for kind in ("normal", "tangential", "rolling"):
            values = rows[kind][last][np.argsort(rows["outer"][last])]
            self.assertGreater(values[1], 0)
            self.assertLess(values[-1], 0.5 * values[:5].max())
        self.assertEqual(rows["equality"].max(), 0)
        # One contact is solved by one sweep: the rows are then at rest.
        self.simulate("spinning-ball", "--until", "0.02", "--row-residuals", "1", "-o", out, "--force")
        with h5py.File(out) as file:
            self.assertLess(file["row_residuals/rolling"][-1], 1e-12)
        self.simulate("slider-crank", "--until", "0.02", "--row-residuals", "1", "-o", out, "--force")
        with h5py.File(out) as file:
            self.assertLess(file["row_residuals/equality"][-1],
                            1e-3 * file["row_residuals/equality"][0])
        self.refused("simulate", "incline", "--solver", "vipm", "--row-residuals", "1",
                     parts=["--row-residuals", "Coulomb's law", "vipm"])

    def test_from_another_trajectory(self):
        bed, out = self.path("bed.h5"), self.path("out.h5")
        trench = "blade[spheres=40,length=0.2,width=0.12,blade=0.05,edge=0.01,{}]"
        self.simulate(trench.format("speed=0"), "--until", "0.6", "--every", "7", "-o", bed)
        drawn = trench.format("wait=0")
        self.simulate(drawn, "--from", bed, "--until", "0.1", "--every", "1", "-o", out)
        with h5py.File(bed) as past, h5py.File(out) as file:
            for name in ("position", "orientation", "velocity"):
                np.testing.assert_array_equal(file["bodies/" + name][0],
                                              past["bodies/" + name][-1])
            self.assertAlmostEqual(file["steps/time"][0], 0.01, 12)
            self.assertIn(",from=sha256:", file.attrs["options"])
        self.kill_and_resume(drawn, "--from", bed, "--until", "0.3", attempts=1)
        self.refused("simulate", "blade[spheres=41]", "--from", bed,
                     parts=["bed.h5", "the 41 bodies", "of 40"])
        other = trench.format("seed=2")
        self.refused("simulate", other, "--from", bed, parts=["bed.h5", "body 0", "a sphere of"])
        self.refused("simulate", drawn, "--from", self.path("none.h5"), parts=["none.h5"])

    def test_error_in_place_of_the_residual(self):
        scene = "blade[spheres=40,length=0.2,width=0.12,blade=0.05,edge=0.01,wait=0]"
        loose, tight = (self.simulate(scene, "--until", "0.2", "--error", error)
                        for error in ("1e-1", "1e-6"))
        self.assertEqual((loose["unsolved"], tight["unsolved"]), (0, 0))
        self.assertLess(loose["outer_mean"], 0.9 * tight["outer_mean"])
        one = self.simulate(scene, "--until", "0.02", "--error", "1e-9", "--iterations", "1")
        self.assertGreater(one["unsolved"], 0)
        first = one["first_unsolved"]
        self.assertEqual((first["error_asked"], first["residual_asked"]), (1e-9, None))
        self.assertGreater(first["error"], 1e-9)
        self.assertLessEqual(first["step"], one["worst_unsolved"]["step"])
        self.assertNotIn("first_unsolved", loose)
        text, _ = self.run_program("simulate", "four-bar", "--until", "0.1", "--iterations", "3")
        for part in ("20 of 20 steps are not solved as asked for",
                     "unsolved   step 0 at 0.005 s: residual ", "1e-08 asked for; pgs ended as"):
            self.assertIn(part, text)
        self.refused("simulate", "incline", "--error", "1e-3", parts=["--error", "convex", "pgs"])

    def test_a_drum_takes_along_what_is_in_it(self):
        out = self.path("drum.h5")
        drum = "rotating-drum[spheres=80,drum=0.13,width=0.03,omega=0.5,wait=0.4]"
        result = self.simulate(drum, "--until", "1", "--iterations", "30", "--fixed-iterations",
                               "-o", out)
        values = result["values"]
        self.assertGreater(values["plug"], 0.9)  # 17 degrees: nothing flows yet
        self.assertAlmostEqual(values["angle"], np.degrees(0.5 * 0.6), delta=4)
        with h5py.File(out) as file:
            place, radius = file["bodies/position"][-1], file["bodies/size"][:, 0]
            # What lies in the drum is carried by the cylinder, upwards, with its weight.
            force = file["obstacles/force"][-20:, 0, 2].mean()
            weight = 9.81 * 3700 * 4 / 3 * np.pi * (radius**3).sum()
        self.assertLess((np.hypot(place[:, 0], place[:, 2]) + radius).max(), 0.065 + 1e-3)
        self.assertLess((np.abs(place[:, 1]) + radius).max(), 0.015 + 1e-3)
        self.assertAlmostEqual(-force / weight, 1, delta=0.3)  # plates carry some by friction
        self.refused("simulate", "rotating-drum[spheres=5000]", parts=["spheres", "fit loosely"])
        self.refused("simulate", "rotating-drum[width=0.01]", parts=["drum and width"])

    def test_a_blade_pushes(self):
        out, bed = self.path("blade.h5"), self.path("bed.h5")
        # Under an edge at 20 mm spheres of up to 32 mm jam, and such a step has no solution.
        trench = "blade[spheres=150,length=0.4,width=0.15,blade=0.06,edge=0.05,{}]"
        self.simulate(trench.format("speed=0"), "--until", "0.8", "--error", "1e-6", "-o", bed,
                      "--solver", "vipm")
        with h5py.File(bed) as file:  # a bed, not columns of spheres that cannot roll
            self.assertLess(file["steps/kinetic"][-1], 2e-3 * file["steps/kinetic"][...].max())
            self.assertGreater(file["steps/contacts"][-1], 2 * 150)
            top = file["bodies/position"][-1, :, 2] + file["bodies/size"][:, 0]
        # 0.060 to 0.066 m, whatever solves. The highest of all, 0.06 to 0.13 m, hangs on chance.
        self.assertLess(np.quantile(top, 0.95), 0.075)
        result = self.simulate(trench.format("wait=0"), "--from", bed, "--until", "0.6", "-o", out,
                               "--error", "1e-6")
        self.assertEqual(result["values"]["outside"], 0)
        self.assertEqual(result["unsolved"], 0)
        self.assertLess(result["penetration_max"], 1e-4)
        self.assertAlmostEqual(result["values"]["blade_front"], 0.12, 12)
        with h5py.File(out) as file:
            draft = -file["obstacles/force"][20:, 5, 0]
            floor = file["obstacles/force"][20:, 0, 2]
        self.assertGreater(draft.mean(), 0)
        self.assertLess(floor.mean(), 0)
        for wrong, part in (("radius_max=0.001", "radius_max"), ("blade=0.3", "option blade")):
            self.refused("simulate", f"blade[{wrong}]", parts=[part])

    def test_lifters_lift(self):
        out = self.path("lifters.h5")
        turning = "lifter-drum[bodies=20,wait=0.6,spheres={}]"
        for spheres in ("true", "false"):
            result = self.simulate(turning.format(spheres), "--until", "1.6", "--residual", "1e-3",
                                   "--every", "100", "--dt", "2e-3", "-o", out, "--force")
            self.assertEqual((result["values"]["outside"], result["unsolved"]), (0, 0))
            with h5py.File(out) as file:
                place = file["bodies/position"][()]
                force = file["obstacles/force"][250:300].sum(axis=1).mean(axis=0)  # at rest
                size = file["bodies/size"][0]
            half = np.where(size > 0, size, size[0])
            weight = 20 * 10 * 100 * 4 / 3 * np.pi * half.prod()
            self.assertAlmostEqual(-force[2] / weight, 1, delta=0.1)
            # The bed is carried to the left by some 0.5 rad before it slides.
            self.assertLess(place[-1, :, 0].mean(), place[3, :, 0].mean() - 0.1)
        # Pseudo-rigid ones are pressed: rho g (0.5 m) / E = 5e-3, and more where they land.
        soft = turning.format("false")[:-1] + ",pseudo_rigid=true,young=1e5]"
        result = self.simulate(soft, "--until", "0.6", "--residual", "1e-3", "--every", "100",
                               "--dt", "2e-3", "-o", out, "--force")
        self.assertEqual((result["values"]["outside"], result["unsolved"]), (0, 0))
        with h5py.File(out) as file:
            strain = np.abs(np.linalg.norm(file["bodies/deformation"][()], axis=2) - 1).max()
        self.assertGreater(strain, 1e-3)
        self.refused("simulate", "lifter-drum[bodies=0]", parts=["bodies", ">= 1"])

    def test_walls_press_and_strain_a_cell(self):
        out = self.path("cell.h5")
        cell = "triaxial-cell[spheres=64,press=2]"
        result = self.simulate(cell, "--until", "3", "--iterations", "200", "--fixed-iterations",
                               "--every", "1", "-o", out)
        with h5py.File(out) as file:
            place, velocity = file["bodies/position"][()], file["bodies/velocity"][()]
            radius = file["bodies/size"][:64, 0]
        extent = np.stack([place[:, 65 + 2 * k, k] - place[:, 64 + 2 * k, k] for k in range(3)], 1)
        pressed = 400  # frames, 2 s
        # The cell stands still, and so do most of its spheres; some drift between others.
        self.assertLess(np.abs(np.diff(extent[pressed - 40:pressed], axis=0)).max(), 2e-5)
        self.assertLess(np.abs(velocity[pressed, :64, :3]).mean(), 2e-3)
        self.assertGreater(4 / 3 * np.pi * (radius**3).sum() / extent[pressed].prod(), 0.35)
        # Then the height shrinks, what is across it grows, and it takes more than the pressure.
        self.assertAlmostEqual((extent[pressed, 2] - extent[-1, 2]) / 0.02, 1, delta=0.15)
        self.assertGreater(extent[-1, :2].prod(), 1.02 * extent[pressed, :2].prod())
        lost = 0.01 - 0.5 * (velocity[pressed + 40:, 68, 2] - velocity[pressed + 40:, 69, 2])
        stress = 10 * lost / 5e-3 / extent[pressed + 40:, :2].prod(axis=1)
        self.assertGreater(stress.mean(), 150)  # Pa, of 100 on the other walls
        self.assertAlmostEqual(result["values"]["height"], extent[-1, 2], 12)
        self.assertLess(np.abs(place[-1, :64]).max(axis=0)[0], extent[-1, 0] / 2)
        self.refused("simulate", "triaxial-cell[strain=0.95]", parts=["strain", "0.9"])

    def test_spheres_are_poured(self):
        out = self.path("poured.h5")
        scene = "pouring[spheres=24,settle=1]"
        result = self.simulate(scene, "--iterations", "100", "--fixed-iterations", "--every", "1",
                               "-o", out)
        self.assertAlmostEqual(result["time"], 5 * 0.05 + 1, 9)
        inlet, feed, dt = 15 * 0.013, 1.3 * 0.013 / 0.05, 5e-3
        with h5py.File(out) as file:
            place, velocity = file["bodies/position"][()], file["bodies/velocity"][()]
            ground = file["obstacles/force"][:, 0, 2]
        for i in range(24):
            comes = 10 * (i // 4)  # the step at which it is at the inlet
            self.assertAlmostEqual(place[comes, i, 2], inlet, 12)
            np.testing.assert_allclose(velocity[:comes + 1, i], [[0, 0, -feed, 0, 0, 0]] *
                                       (comes + 1), atol=1e-12)
            np.testing.assert_array_equal(place[:comes + 1, i, :2], place[[0] * (comes + 1), i, :2])
            fall = velocity[comes:comes + 20, i, 2] + feed + 9.81 * dt * np.arange(20)
            np.testing.assert_allclose(fall, 0, atol=1e-11)  # it weighs from then on
        np.testing.assert_array_equal(ground[:20], 0)
        weight = 24 * 9.81 * 3700 * np.pi / 6 * 0.013**3
        self.assertAlmostEqual(-ground[-20:].mean() / weight, 1, delta=0.05)
        values = result["values"]
        self.assertEqual(values["poured"], 24)
        self.assertGreaterEqual(values["lying"], 20)
        self.assertGreater(values["height"], 0.0129)
        self.assertLess(values["height"], 6 * 0.013)
        early = self.simulate(scene, "--until", "0.12", "--iterations", "100")["values"]
        self.assertEqual((early["poured"], early["lying"], early["height"]), (12, 0, 0))
        # Those of another simulation that are below the inlet do not wait.
        again = self.simulate(scene, "--from", out, "--until", "0.1", "--iterations", "100")
        self.assertEqual(again["values"]["poured"], 24)
        self.assertAlmostEqual(again["values"]["height"], values["height"], delta=1e-3)
        self.refused("simulate", "pouring[interval=0]", parts=["interval", "> 0"])
        self.refused("simulate", "pouring[height=0.5]", parts=["height", ">= 1"])

    def test_starts_go_on_with_the_same_bits(self):
        for start in ("history[rows=normals]", "history[velocity=false]", "model"):
            with self.subTest(start=start):
                self.kill_and_resume("rolling-pile[spheres=60]", "--start", start, "--iterations",
                                     "30", "--fixed-iterations", "--until", "0.3", attempts=1)

    def test_a_vibrating_ellipsoid_swings_as_its_stiffness_says(self):
        path = self.path("v.h5")
        values = self.simulate("vibrating-ellipsoid", "--every", "1", "-o", path)["values"]
        self.assertAlmostEqual(values["frequency"], 5 ** 0.5 * 100 / (2 * np.pi), places=9)
        self.assertAlmostEqual(values["stretch"], 1e-4, delta=1e-6)  # after ten periods
        with h5py.File(path) as file:
            stretch = file["bodies/deformation"][:, 0, 0, 0] - 1
            energy = file["steps/kinetic"][()] + file["steps/potential"][()]
        self.assertEqual(np.sum(np.diff(np.sign(stretch)) != 0), 20)
        self.assertLess(np.ptp(energy) / energy.mean(), 1e-3)
        damped = self.simulate("vibrating-ellipsoid[damping=1e-4]")["values"]
        self.assertLess(damped["stretch"], 0.6e-4)

    def test_soft_ellipsoids_fall_into_a_box(self):
        path = self.path("soft.h5")
        scene = "soft-ellipsoids[ellipsoids=12,young=1e5]"
        result = self.simulate(scene, "--until", "1", "-o", path, "--every", "100",
                               "--freeze", "800")
        self.assertEqual((result["stepper"], result["status"]), ("moreau", "finished"))
        self.assertLess(result["residual_max"], 1e-8)
        self.assertGreater(result["values"]["max_strain"], 1e-3)
        weight = 12 * 100 * 4 / 3 * np.pi * 0.09 * 0.05 * 0.1 * 10
        with h5py.File(path) as file:
            deformation = file["bodies/deformation"][()]
            centre = file["bodies/position"][-1]
            on_ground = -file["obstacles/force"][-200:, 0, 2].mean()
        self.assertEqual(deformation.shape, (11, 12, 3, 3))
        self.assertAlmostEqual(on_ground / weight, 1, delta=0.15)
        # A step of it, for any solver of assembled form; those that need bodies say so.
        steps = self.path("soft-steps.h5")
        with h5py.File(steps) as file:
            self.assertEqual(file["steps/0000"].attrs["form"], "assembled")
        for solver in ("pgs", "vipm", "apgd"):
            self.run_program("solve", steps + "#0", "--solver", solver, "--stop", "residual=1e-7")
        self.refused("simulate", scene, "--solver", "sap", parts=["sap", "assembled"])
        # What ParaView gets is what F makes of the ellipsoid.
        self.run_program("export", "vtk", path, "--series", "-o", self.path("soft"))
        tree = ElementTree.parse(self.path("soft-0010.vtp"))
        numbers = tree.getroot().findtext(".//Points/DataArray", "").split()
        points = np.array(numbers, float).reshape(12, -1, 3)
        own = np.linalg.solve(deformation[-1], (points - centre[:, None]).transpose(0, 2, 1))
        radius = np.linalg.norm(own / np.array([0.09, 0.05, 0.1])[:, None], axis=1)
        np.testing.assert_allclose(radius, 1, atol=1e-4)
        # Going on, and from the end.
        self.kill_and_resume(scene, "--until", "0.3", attempts=2)
        again = self.simulate(scene, "--from", path, "--until", "0.05")
        self.assertAlmostEqual(again["energy_first"], result["energy_last"], places=9)
        for words, parts in ((("--stepper", "shake"), ["--stepper", "moreau", "shake"]),
                             (("--row-residuals", "1"), ["--row-residuals", "assembled"]),
                             (("--start", "history[velocity=false]"), ["step", "pseudo-rigid"])):
            self.refused("simulate", scene, *words, parts=parts)
        self.refused("simulate", scene.replace("young=1e5", "rigid=true"), "--from", path,
                     parts=["/bodies/deformation", "bodies are rigid"])

    def test_pseudo_rigid_bodies_of_a_scene_file(self):
        text = self.ROLLING.replace("{sphere: 0.1}", "{ellipsoid: [0.1, 0.1, 0.1]}").replace(
            "    rolling: 0.1\n", "") + "    pseudo_rigid: {young: 1e4, damping: 0.01}\n"
        text = text.replace("gravity: [4.905, 0, -8.495709211125343]\n", "") + "stepper: moreau\n"
        path = self.path("soft.h5")
        self.simulate(self.scene_file(text), "-o", path)
        with h5py.File(path) as file:
            last = file["bodies/deformation"][-1, 0]
            self.assertLess(last[2, 2], 0.995)
            self.assertAlmostEqual(last[0, 0], 1, places=6)  # without Poisson's effect
        for wrong, parts in (("young: -1", ["young", "> 0"]),
                             ("young: 1, poisson: 0.5", ["poisson", "< 0.5"]),
                             ("yung: 1", ["unknown key 'yung'", "'young'"])):
            self.refused("simulate", self.scene_file(text.replace("young: 1e4", wrong)),
                         parts=["scene.yaml", "line 12", *parts])
        for old, new, parts in (("{ellipsoid: [0.1, 0.1, 0.1]}", "{box: [1, 1, 1]}",
                                 ["an ellipsoid or a sphere"]),
                                ("mass: 1", "mass: 1\n    moves: rigid",
                                 ["at most one of moves, pseudo_rigid"]),
                                ("stepper: moreau", "", ["moreau"])):
            self.refused("simulate", self.scene_file(text.replace(old, new)), parts=parts)

    def test_a_diverging_simulation_says_who_and_keeps_what_was_computed(self):
        path = self.path("far.h5")
        done = subprocess.run([PROGRAM, "simulate", "bouncing-ball[gravity=1e6,height=1e6]", "-o",
                               path], cwd=self.folder, text=True, capture_output=True, check=False)
        out, err = done.stdout, done.stderr
        self.assertEqual(done.returncode, NOT_REACHED)
        for part in ("diverged in step", "body 0", "m/s"):
            self.assertIn(part, err)
        self.assertIn("diverged", out)
        with h5py.File(path) as file:
            self.assertGreater(len(file["steps/time"]), 0)
            self.assertEqual(file["frames/step"][-1], len(file["steps/time"]))

    # ---- scene files ----

    ROLLING = """name: rolling
dt: 0.01
until: 0.5
gravity: [4.905, 0, -8.495709211125343]
mu: 0.5
obstacles:
  - {name: floor, shape: plane}
bodies:
  - name: ball
    shape: {sphere: 0.1}
    mass: 1
    rolling: 0.1
    position: [0, 0, 0.1]
"""

    def scene_file(self, text, name="scene.yaml"):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_scene_file_moves_as_the_scene_of_the_table_does(self):
        out = self.path("a.h5")
        result = self.simulate(self.scene_file(self.ROLLING), "-o", out)
        self.assertEqual((result["scene"], result["stepper"], result["steps"], result["status"]),
                         ("rolling", "shake", 50, "finished"))
        self.assertRegex(result["options"], "^sha256=[0-9a-f]{64}$")
        self.simulate("incline[rolling=0.1]", "--until", "0.5", "-o", self.path("b.h5"))
        with h5py.File(out) as a, h5py.File(self.path("b.h5")) as b:
            np.testing.assert_allclose(a["bodies/velocity"][()], b["bodies/velocity"][()],
                                       atol=1e-12)

    def test_cohesion_holds_a_ball_to_a_ceiling_up_to_its_force(self):
        """9.81 N: by options of a scene, and in a scene file; seen by solvers of both laws."""
        ceiling = self.ROLLING.replace("[4.905, 0, -8.495709211125343]", "[0, 0, 9.81]")
        for cohesion, holds in ((9.7, False), (9.9, True)):
            path = self.scene_file(f"{ceiling}cohesion: {cohesion}\ncohesion_reach: 1e-3\n")
            for solver in ("pgs[law=coulomb]", "vipm"):
                with self.subTest(cohesion=cohesion, solver=solver):
                    out = self.path("ceiling.h5")
                    self.simulate(path, "--solver", solver, "-o", out, "--force")
                    with h5py.File(out) as file:
                        off = abs(file["bodies/position"][-1, 0, 2] - 0.1)
                        force = file["obstacles/force"][-1, 0, 2]
                    self.assertEqual(off < 1e-6, holds)
                    self.assertAlmostEqual(force, 9.81 if holds else 0, 4)
                    scene = f"cohesive-block[slope=180,cohesion={cohesion}]"
                    off = self.simulate(scene, "--solver", solver)["values"]["off"]
                    self.assertEqual(abs(off) < 1e-6, holds)

    def test_motions_forces_and_walls_of_a_scene_file(self):
        """A belt, a sine, a path, a force on a servo wall; each known by hand at the end."""
        path = self.scene_file("""name: all
dt: 0.01
until: 1
gravity: [0, 0, 0]
mu: 0
obstacles:
  - shape: {box: [0.1, 0.1, 0.1]}
    position: [1, 0, 0]
    motion: {amplitude: [0.3, 0, 0], frequency: 0.25}
  - shape: {box: [0.1, 0.1, 0.1]}
    motion: {path: [[0, 0, 5, 0], [0.5, 1, 5, 0], [0.75, 1, 6, 0]], angular_velocity: [0, 0, 1]}
bodies:
  - shape: {sphere: 0.1}
    mass: 1
    position: [1.2, 0, 0]
  - shape: plane
    mass: 50
    moves: {wall: [0, 0, 2]}
    position: [0, 0, -9]
    force: [3, 4, 100]
  - shape: {sphere: 0.1}
    mass: 2
    moves: non_rotating
    position: [0, -5, 0]
    force: [2, 0, 0]
    copies: {count: [1, 1, 2], pitch: [0, 0, 1]}
""")
        out = self.path("all.h5")
        self.simulate(path, "-o", out)
        with h5py.File(out) as file:
            end, speed = file["bodies/position"][-1], file["bodies/velocity"][-1]
            # Pushed by the box until it is slower than the ball: at the start of its sine.
            self.assertAlmostEqual(speed[0, 0], 0.3 * np.pi / 2, places=3)
            np.testing.assert_allclose(speed[1, :3], [0, 0, 2], atol=1e-12)
            np.testing.assert_allclose(speed[2:, 0], 1, atol=1e-12)
            np.testing.assert_allclose(end[3] - end[2], [0, 0, 1], atol=1e-12)

    def test_the_examples_of_scene_files_run(self):
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "examples", "scenes")
        for name, until in (("drum", "0.1"), ("door", "3")):
            with self.subTest(name=name):
                out = self.path(name + ".h5")
                result = self.simulate(os.path.join(folder, name + ".yaml"), "--until", until, "-o",
                                       out)
                self.assertEqual((result["status"], result["unsolved"]), ("finished", 0))
        # The ball opens the door, and the spring closes it again.
        self.assertLess(result["joint_error_max"], 1e-3)
        with h5py.File(self.path("door.h5")) as file:
            angle = 2 * np.arctan2(file["bodies/orientation"][:, 0, 3],
                                   file["bodies/orientation"][:, 0, 0])
            self.assertGreater(angle.max(), 0.1)
            self.assertLess(abs(angle[-1]), 0.5 * angle.max())
            self.assertGreater(np.abs(file["obstacles/force"][:, 1]).max(), 1)  # on the post

    def test_scene_files_that_cannot_be_are_refused_with_line_and_column(self):
        ball = self.ROLLING
        joints = ball + """  - name: box
    shape: {box: [0.1, 0.1, 0.1]}
    mass: 1
    position: [1, 0, 1]
  - {name: post, fixed: true, shape: {sphere: 0.1}, position: [0, 0, 2]}
joints:
"""
        hinge = "  - {type: hinge, between: [world, box], at: [1, 0, 1], axis: [0, 0, 1]}\n"
        for text, parts in (
                (ball.replace("mass: 1", "masss: 1"),
                 ["line 11, column 5", "unknown key 'masss'", "did you mean 'mass'?"]),
                (ball.replace("dt: 0.01", "dt: 0"), ["line 2, column 5, dt", "> 0", "'0'"]),
                (ball.replace("{sphere: 0.1}", "{sphere: 0}"),
                 ["line 10, column 12, shape", "a length > 0 m"]),
                (ball.replace("{sphere: 0.1}", "{spher: 0.1}"), ["did you mean 'sphere'?"]),
                (ball.replace("{sphere: 0.1}", "plane"), ["a bounded shape", "plane"]),
                (ball + "    orientation: [1, 0.1, 0, 0]\n",
                 ["line 14, column 18, orientation", "length 1", "1.00499"]),
                (ball + "    density: 3\n", ["at most one of mass, density"]),
                (ball + "    mass: 2\n", ["line 14, column 5, mass", "each key once"]),
                (ball + "    velocity: [1, 2]\n", ["a list of 3 numbers", "one of 2"]),
                (ball + "    velocity: [1, 2, nan]\n", ["line 14", "a finite number", "'nan'"]),
                (ball + "  - {name: ball, shape: {sphere: 1}, mass: 1}\n",
                 ["a name that nothing else has", "'ball' again"]),
                (ball.replace("shape: plane}",
                              "shape: plane, motion: {path: [[0, 0, 0, 0], [0, 1, 0, 0]]}}"),
                 ["line 7", "do not jump"]),
                (ball + "cohesion: -1\n", ["line 14, column 11, cohesion", ">= 0", "'-1'"]),
                (ball + "cohesion_reach: 0\n", ["cohesion_reach", "> 0", "'0'"]),
                (ball + "stepper: shak\n", ["line 14, column 10, stepper", "'shake'"]),
                (ball + "solver: pgss\n", ["pgss", "pgs"]),
                (ball.replace("bodies:", "bodie:"), ["unknown key 'bodie'", "'bodies'"]),
                (ball + "    x: [\n", ["line 1", "YAML"]),
                (joints + hinge.replace("world", "worl"), ["line 20", "unknown name 'worl'",
                                                           "did you mean 'world'?"]),
                (joints + hinge.replace("hinge", "hing"), ["unknown joint 'hing'", "'hinge'"]),
                (joints + hinge.replace("box]", "post]"),
                 ["line 20, column 5, joint", "a body that can move"]),
                (joints + hinge + hinge, ["line 21, column 5, joint", "do not overlap",
                                          "joint 0 holds"]),
                (joints + hinge.replace("axis:", "speed: 1, axis:"),
                 ["no such key of a hinge"]),
                (joints + hinge.replace("[0, 0, 1]}", "[0, 0, 0]}"), ["axis", "a direction"])):
            with self.subTest(parts=parts):
                self.refused("simulate", self.scene_file(text), parts=["scene.yaml", *parts]
                             if "pgss" not in parts else parts)
        self.refused("simulate", self.path("none.yaml"), parts=["none.yaml", "a scene file",
                                                                "no such file"])

    # ---- studies of simulations ----

    STUDY = """name: orders
description: how the ball's fall depends on the step
simulations:
  - scenes: ['bouncing-ball[height=5]', ball.yaml]
    steppers: [shake, moreau]
    dt: [0.02, 0.01]
    until: 0.5
  - scenes: spring-mass[implicit=false]
time_limit: 60
"""

    def rows(self, folder):
        with open(os.path.join(self.path(folder), "simulations.csv"), newline="",
                  encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_a_study_of_simulations(self):
        self.scene_file(self.ROLLING, "ball.yaml")
        study = self.scene_file(self.STUDY, "study.yaml")
        out, _ = self.run_program("run", study, "--dry-run", "-o", self.path("r"))
        self.assertEqual(out.count("to run: no result yet"), 9)
        self.assertFalse(os.path.exists(self.path("r")))
        out, _ = self.run_program("run", study, "-o", self.path("r"), code=NOT_REACHED)
        self.assertIn("9 simulations", out)
        self.assertIn("8 finished, 1 diverged, 0 crashed", out)
        rows = self.rows("r")
        self.assertEqual(len(rows), 9)
        # z after 0.5 s: symplectic Euler is h g t / 2 too low, moreau exact.
        for row in rows[:4]:
            low = 0 if row["stepper"] == "moreau" else float(row["dt"]) * 10 * 0.5 / 2
            self.assertAlmostEqual(float(row["value:height"]), 5 - 10 * 0.125 - low, places=9)
            self.assertEqual(row["steps"], str(round(0.5 / float(row["dt"]))))
        self.assertEqual({row["status"] for row in rows}, {"finished", "diverged"})
        self.assertEqual(rows[8]["scene"], "spring-mass[implicit=false]")
        for row in rows:
            text, _ = self.run_program("check", os.path.join(self.path("r"), row["file"]))
            self.assertIn("trajectory of", text)
        self.refused("run", study, "-o", self.path("r"), parts=["--resume", "an existing file"])
        # What is there is kept; what is not, or was made otherwise, is made again.
        os.remove(os.path.join(self.path("r"), rows[0]["file"]))
        self.scene_file(self.ROLLING.replace("mass: 1", "mass: 2"), "ball.yaml")
        out, _ = self.run_program("run", study, "-o", self.path("r"), "--resume", "--json",
                                  code=NOT_REACHED)
        news = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([bool(row["reason"]) for row in news],
                         [True, False, False, False, True, True, True, True, False])
        self.assertEqual(self.rows("r")[1]["wall_time"], rows[1]["wall_time"])

    def test_a_study_of_simulations_whose_runs_crash_or_take_too_long(self):
        study = self.scene_file("""name: slow
simulations:
  - {scenes: 'column[spheres=50]', iterations: 100000000, fixed_iterations: true}
  - {scenes: 'incline', until: 0.1}
time_limit: 1
""", "study.yaml")
        out, _ = self.run_program("run", study, "-o", self.path("r"), code=CRASHED)
        self.assertIn("killed: after 1 s", out)
        rows = self.rows("r")
        self.assertEqual([row["status"] for row in rows], ["killed", "finished"])
        self.assertEqual((rows[0]["file"], rows[0]["steps"]), ("", ""))

    def test_studies_of_simulations_that_cannot_be(self):
        for text, parts in (
                (self.STUDY.replace("steppers", "stepper"), ["line 5, column 5", "'stepper'",
                                                             "did you mean 'steppers'?"]),
                (self.STUDY.replace("shake,", "shak,"), ["line 4", "'shak'", "'shake'"]),
                (self.STUDY.replace("ball.yaml", "bal.yaml"), ["line 4", "no such file"]),
                (self.STUDY.replace("0.02, 0.01", "0.02, 0.02"), ["each entry once"]),
                (self.STUDY.replace("until: 0.5", "until: 0.5\n    solvers: vipm\n").replace(
                    "moreau", "lcp"), ["lcp", "coulomb", "vipm"])):
            with self.subTest(parts=parts):
                self.scene_file(self.ROLLING, "ball.yaml")
                self.refused("run", self.scene_file(text, "study.yaml"), "-o", self.path("r"),
                             parts=["study.yaml", *parts])

    def test_refused(self):
        for arguments, parts in (
                (["bouncing-bal"], ["unknown scene", "did you mean 'bouncing-ball'?"]),
                (["stack"], ["stack", "no motion"]),
                (["incline[slop=3]"], ["'slop'", "did you mean 'slope'?"]),
                (["incline[slope=90]"], ["option slope", "< 90"]),
                (["incline", "--stepper", "shak"], ["unknown stepper", "'shake'", "moreau"]),
                (["incline", "--stepper", "lcp[theta=2]"], ["stepper lcp", "theta"]),
                (["incline", "--stepper", "lcp", "--solver", "vipm"],
                 ["--stepper lcp", "coulomb", "vipm", "convex"]),
                (["incline", "--stepper", "spook"], ["spook", "Young's modulus"]),
                (["column[spheres=2]", "--solver", "lcp", "--until", "0.1"], ["lcp", "compliant"]),
                (["incline", "--start", "hertz"], ["guess", "'hertz'"]),
                (["incline", "--resume"], ["--resume", "--checkpoint"]),
                (["incline", "--freeze", "1"], ["--freeze", "-o"])):
            with self.subTest(arguments=arguments):
                self.refused("simulate", *arguments, parts=parts)
        self.run_program("simulate", code=USAGE)
        self.run_program("simulate", "incline", "--until", "-1", code=USAGE)
        for value in ("nan", "inf", "-1"):
            _, errors = self.run_program("simulate", "incline", "--until", value, code=USAGE)
            self.assertIn(f"--until: expected number > 0, found '{value}'", errors)
        self.refused("generate", "scene", "incline", "-o", self.path("x.h5"),
                     parts=["makes no problem", "ccpbench simulate incline"])


if __name__ == "__main__":
    unittest.main()
