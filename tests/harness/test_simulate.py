#!/usr/bin/env python3
"""ccpbench simulate: motions that are known, files, going on after a kill, what is refused."""

import json
import os
import signal
import subprocess
import time
import unittest
from xml.etree import ElementTree

import h5py
import numpy as np
from test_cli import NOT_REACHED, PROGRAM, USAGE, CommandLine


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
            return [file[name][()] for name in names]

    def test_a_killed_simulation_goes_on_with_the_same_bits(self):
        run = ["simulate", "column[spheres=12]", "--until", "1", "--every", "7", "--quiet"]
        whole = self.path("whole.h5")
        self.run_program(*run, "-o", whole)
        killed = 0
        for attempt in range(10):
            checkpoint = self.path(f"c{attempt}.h5")
            command = [*run, "--checkpoint", checkpoint, "--checkpoint-every", "3"]
            process = subprocess.Popen([PROGRAM, *command], cwd=self.folder)
            until = time.monotonic() + 20
            while not os.path.exists(checkpoint) and time.monotonic() < until:
                time.sleep(0.005)
            time.sleep(0.01 * attempt)
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            out = self.path(f"o{attempt}.h5")
            self.run_program(*command, "--resume", "-o", out)
            for a, b in zip(self.states(whole), self.states(out), strict=True):
                np.testing.assert_array_equal(a, b)
        self.assertGreater(killed, 0)
        self.refused("simulate", "column[spheres=11]", "--checkpoint", self.path("c0.h5"), "--resume",
                     parts=["c0.h5", "options", "spheres=11", "spheres=12"])
        self.refused(*run, "--solver", "vipm", "--checkpoint", self.path("c0.h5"), "--resume",
                     parts=["attribute solver", "'vipm'"])
        self.refused(*run, "--checkpoint", whole, "--resume", parts=["checkpoint"])

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
