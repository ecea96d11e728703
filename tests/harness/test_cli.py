#!/usr/bin/env python3
"""The command line as users and scripts see it: exit codes, files, JSON, messages.

Runs the built program named by the environment variable CCPBENCH in a folder of its own.
"""

import fcntl
import functools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

PROGRAM = os.environ.get("CCPBENCH", "")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

DONE, BAD_INPUT, USAGE, NOT_REACHED, CRASHED = range(5)

MEASURES = {
    "cost", "feas", "error", "dual", "primal", "complementarity", "residual", "natural_map",
    "velocity", "energy", "objective_gap",
}


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ccpbench-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, *arguments, code=DONE, cwd=None, env=None):
        """Runs the program and checks its exit code. Returns (stdout, stderr)."""
        done = subprocess.run([PROGRAM, *arguments], cwd=cwd or self.folder, text=True,
                              capture_output=True, timeout=120, check=False,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        if code in (DONE, NOT_REACHED):
            # Tests run side by side.
            said = [line for line in done.stderr.splitlines()
                    if "load average" not in line and "another study runs" not in line]
            self.assertEqual(said, [])
        return done.stdout, done.stderr

    def refused(self, *arguments, parts, code=BAD_INPUT):
        """Checks that the program refuses, with one line on stderr that has all parts."""
        out, err = self.run_program(*arguments, code=code)
        if code == BAD_INPUT:
            self.assertEqual(out, "")
            self.assertEqual(len(err.strip().splitlines()), 1, err)
            self.assertTrue(err.startswith("ccpbench: "), err)
        for part in parts:
            self.assertIn(part, err)

    def scene(self, name):
        path = self.path(name + ".h5")
        if not os.path.exists(path):
            self.run_program("generate", "scene", name, "-o", path)
        return path

    def read(self, name):
        with open(self.path(name), "rb") as stream:
            return stream.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def results(self, folder):
        return sorted(n for n in os.listdir(self.path(folder)) if n.endswith(".h5"))


class Basics(CommandLine):
    def test_version_names_the_commit(self):
        out, _ = self.run_program("--version")
        self.assertRegex(out, r"ccpbench \d+\.\d+")
        self.assertRegex(out, r"commit +([0-9a-f]{40}(-dirty)?|unknown)")
        for word in ("compiler", "Kokkos", "Trilinos"):
            self.assertIn(word, out)

    def test_help_of_every_command(self):
        out, _ = self.run_program("--help")
        for command in ("list", "generate", "certify", "import", "info", "check", "solve", "run",
                        "report", "compare", "merge", "submit", "capture", "freeze-systems", "precond"):
            self.assertIn(command, out)
            self.run_program(command, "--help")
        self.assertIn("Exit codes", out)

    def test_usage_errors(self):
        for arguments in ([], ["frobnicate"], ["solve"], ["solve", "x.h5"], ["list"],
                          ["list", "everything"], ["solve", "x.h5", "--solver", "pgj", "--time-limit",
                                                   "-1"],
                          ["solve", "x.h5", "--solver", "pgj", "--no-such-option"], ["generate"],
                          ["run", "x.yaml", "--resume", "--force"], ["generate", "scene", "stack"]):
            with self.subTest(arguments=arguments):
                _, err = self.run_program(*arguments, code=USAGE)
                self.assertNotEqual(err, "")

    def test_lists_parse(self):
        keys = {"solvers": {"id", "law", "forms", "warm_start", "summary"},
                "preconditioners": {"id", "needs", "takes", "symmetric", "definite", "summary",
                                    "options"},
                "measures": {"name", "summary", "formula", "unit", "laws", "better",
                             "under_coulomb", "needs_reference", "in_every_file"},
                "scenes": {"name", "summary", "abilities", "step_solver", "options"},
                "importers": {"name", "summary", "extensions", "options"}}
        for what in ("solvers", "preconditioners", "measures", "problems", "scenes", "studies",
                     "importers", "pairs"):
            if what == "studies" and not json.loads(self.run_program("list", "problems", "--json")[0]):
                continue  # the studies name problems of the catalogue, which is not there yet
            with self.subTest(what=what):
                out, _ = self.run_program("list", what, "--json")
                rows = json.loads(out)
                self.assertIsInstance(rows, list)
                for row in rows:
                    self.assertLessEqual(keys.get(what, {"name", "summary"}), set(row))
                text, _ = self.run_program("list", what)
                for row in rows:
                    self.assertIn(row.get("id") or row["name"], text)
        solvers = {row["id"] for row in json.loads(self.run_program("list", "solvers", "--json")[0])}
        self.assertLessEqual({"pgj", "ipm"}, solvers)

    def test_a_solver_says_what_it_takes(self):
        rows = {row["id"]: row for row in json.loads(self.run_program("list", "solvers", "--json")[0])}
        self.assertEqual(rows["pgs"]["law"], "convex, coulomb")
        self.assertEqual(rows["pgs"]["forms"], ["bodies", "assembled", "compliant"])
        self.assertEqual(rows["ssn"]["forms"], ["bodies"])
        for row in rows.values():
            self.assertLessEqual(set(row["features"]),
                                 {"compliant", "rolling", "equality", "distributed", "device"})
            self.assertEqual("compliant" in row["features"], "compliant" in row["forms"])


class Tables(CommandLine):
    """Commands are built from the tables of scenes and importers."""

    def check_help(self, command, options):
        text, _ = self.run_program(*command, "--help")
        text = " ".join(text.split())
        for option in options:
            flag = "--" + option["name"].replace("_", "-")
            allowed = option["allowed"].removeprefix("number ").removeprefix("integer ")
            choices = allowed.removeprefix("one of ").replace(", ", "|")
            self.assertRegex(text, f"{flag} (NUMBER|INTEGER|TEXT|{re.escape(choices)})")
            self.assertIn(option["help"], text)
            if allowed not in ("any", "text") and "|" not in choices:
                self.assertIn(f"{option['help']} ({allowed})", text)

    def test_every_scene_with_options_is_a_command(self):
        simulated = []
        for row in json.loads(self.run_program("list", "scenes", "--json")[0]):
            with self.subTest(scene=row["name"]):
                if row["options"] and row["abilities"] != ["motion"]:
                    self.check_help(("generate", row["name"]), row["options"])
                elif not row["options"]:
                    self.assertIn("by hand", row["abilities"])
                if "simulation" in row["abilities"]:
                    self.check_help(("simulate", row["name"]), row["options"])
                    simulated.append(row["name"])
        self.assertEqual(simulated, ["column"])

    def test_every_importer_is_a_command(self):
        rows = json.loads(self.run_program("list", "importers", "--json")[0])
        self.assertEqual({row["name"] for row in rows}, {"kleinert", "fclib"})
        for row in rows:
            self.check_help(("import", row["name"]), row["options"])

    def test_a_scene_at_its_defaults(self):
        by_name, by_options = self.path("a.h5"), self.path("b.h5")
        self.run_program("generate", "scene", "pyramid", "-o", by_name)
        self.run_program("generate", "pyramid", "--rows", "4", "-o", by_options)
        a, b = (json.loads(self.run_program("info", path, "--json")[0])["hash"]
                for path in (by_name, by_options))
        self.assertEqual(a, b)

    def test_values_out_of_range(self):
        out = ("-o", self.path("x.h5"))
        for scene, option, value, part in (
                ("pile", "spheres", "0", "integer >= 1"), ("pile", "flow_dt", "0", "number > 0"),
                ("pile", "radius_max", "1e-3", ">= 0.008"), ("pyramid", "rows", "x", "integer >= 1"),
                ("pyramid", "slope", "90", "> -90 and < 90"), ("particle", "dt", "nan", "> 0"),
                ("column", "steps", "0", "<= 10000"), ("column", "poisson", "1", "< 1")):
            flag = "--" + option.replace("_", "-")
            self.refused("generate", scene, flag, value, *out, parts=["option " + option, part])
        self.refused("import", "kleinert", "x.vtu", "--poisson", "0.6", *out,
                     parts=["importer kleinert", "option poisson", "<= 0.5", "'0.6'"])
        self.refused("import", "fclib", "x.hdf5", "--form", "round", *out,
                     parts=["importer fclib", "option form", "auto, bodies, assembled"])
        self.assertEqual(os.listdir(self.folder), [])

    def test_scenes_that_are_too_large_are_refused_at_once(self):
        for scene, option, value in (("pile", "spheres", "99999999999"),
                                     ("column", "spheres", "999999999999"),
                                     ("pyramid", "rows", "2000000000")):
            with self.subTest(scene=scene):
                begin = time.monotonic()
                self.refused("generate", scene, f"--{option}", value, "-o", self.path("x.h5"),
                             parts=[f"option {option}", "of memory", "which need about", "GB"])
                self.assertLess(time.monotonic() - begin, 10)
        self.refused("generate", "pile", "--spheres", "9" * 300, "-o", self.path("x.h5"),
                     parts=["integer >= 1", "...', which is too large"])

    def test_a_trajectory_is_whole_or_not_there(self):
        csv, out = self.path("t.csv"), self.path("p.h5")
        steps = ("generate", "pyramid", "--rows", "2", "--steps", "3", "--trajectory", csv, "-o", out)
        # The solver gives up in the first step, with the start already written.
        self.refused(*steps, "--step-solver", "lcp[edges=2,max_iterations=1]",
                     parts=["step 0 of 3: the step solver ended as max_iterations",
                            "a coulomb_residual of", "not complementary after 1 pivots"])
        self.assertEqual(os.listdir(self.folder), [])
        self.run_program(*steps)
        lines = self.read("t.csv").decode().splitlines()
        self.assertEqual(lines[0], "time,body,x,z,vx,vz,wy")
        self.assertEqual(len(lines), 1 + 4 * 3)
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.h5", "t.csv"])


class Problems(CommandLine):
    def test_generate_check_and_info(self):
        path = self.scene("hyperstatic-table")
        out, _ = self.run_program("check", path)
        self.assertIn(f"{path}: good (problem hyperstatic-table, 4 contacts, 1 body)", out)
        info = json.loads(self.run_program("info", path, "--json")[0])
        with h5py.File(path) as file:
            self.assertEqual(file.attrs["format"], "ccpbench-problem")
            self.assertEqual(info["hash"], file.attrs["content_sha256"])
            self.assertLess(file["reference"].attrs["residual"], 1e-10)
        expected = {"name": "hyperstatic-table", "form": "bodies", "bodies": 1, "contacts": 4,
                    "ground_contacts": 4, "unknowns": 12, "mu_min": 0.4, "mu_max": 0.4,
                    "mass_ratio": 1.0}
        for key, value in expected.items():
            self.assertEqual(info[key], value, key)
        self.assertIn("hyperstatic-table", self.run_program("info", path)[0])

    def test_every_scene_passes_through_check_and_info(self):
        paths = []
        for row in json.loads(self.run_program("list", "scenes", "--json")[0]):
            if "by hand" in row["abilities"]:
                paths.append(self.scene(row["name"]))
            json.loads(self.run_program("info", paths[-1], "--json")[0])
        out, _ = self.run_program("check", *paths)
        self.assertEqual(out.count(": good ("), len(paths))

    def test_the_example_reader_finds_the_same_hash(self):
        """docs/examples/read_problem.py knows the format from its description alone."""
        example = os.path.join(SOURCE, "docs", "examples", "read_problem.py")
        for scene in ("stack", "hyperstatic-table", "assembled-stack", "zero-contacts"):
            with self.subTest(scene=scene):
                done = subprocess.run([sys.executable, example, self.scene(scene)], text=True,
                                      capture_output=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_check_goes_on_after_a_bad_file_and_says_so(self):
        good = self.scene("stack")
        self.write("bad.h5", "no HDF5")
        out, err = self.run_program("check", self.path("bad.h5"), good, self.path("none.h5"),
                                    code=BAD_INPUT)
        self.assertIn(f"{good}: good", out)
        self.assertIn("bad.h5: expected an HDF5 file, found 7 bytes of something else", err)
        self.assertIn("none.h5: expected an HDF5 file, found no such file", err)

    def test_generate_refuses_bad_output(self):
        path = self.scene("stack")
        before = self.read("stack.h5")
        self.refused("generate", "scene", "v-groove", "-o", path, parts=[path, "existing file", "--force"])
        self.assertEqual(self.read("stack.h5"), before)
        self.run_program("generate", "scene", "v-groove", "-o", path, "--force")
        self.assertNotEqual(self.read("stack.h5"), before)
        self.refused("generate", "scene", "stak", "-o", self.path("x.h5"),
                     parts=["unknown scene 'stak'", "did you mean 'stack'?"])
        self.refused("generate", "scene", "nothing", "-o", self.path("x.h5"), parts=["list scenes"])
        self.refused("generate", "scene", "stack", "-o", self.path("no/x.h5"),
                     parts=["existing folder", "no folder"])
        self.assertEqual(os.listdir(self.folder), ["stack.h5"])

    def test_import_of_a_tiny_particle_file(self):
        self.write("tiny.vtu", """<?xml version="1.0" ?>
<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfCells="0" NumberOfPoints="2">
<Points><DataArray NumberOfComponents="3" format="ascii">0 0 1 2.5 0 1</DataArray></Points>
<PointData><DataArray Name="radius" format="ascii">1 1</DataArray>
<DataArray Name="mass" format="ascii">2 4</DataArray></PointData>
</Piece></UnstructuredGrid></VTKFile>
""")
        out = self.path("tiny.h5")
        self.run_program("import", "kleinert", self.path("tiny.vtu"), "-o", out)
        info = json.loads(self.run_program("info", out, "--json")[0])
        self.assertEqual((info["contacts"], info["ground_contacts"], info["bodies"]), (3, 2, 2))
        self.assertEqual(info["mass_ratio"], 2)
        self.refused("import", "kleinert", self.path("none.vtu"), "-o", self.path("x.h5"),
                     parts=["none.vtu", "no such file"])

    def test_certify_stores_a_reference(self):
        pile, solved = self.path("pile.h5"), self.path("solved.h5")
        self.run_program("generate", "pile", "--spheres", "60", "--contacts", "150", "-o", pile)
        before = self.read("pile.h5")
        out, _ = self.run_program("certify", pile, "--residual", "1e-10", "-o", solved)
        self.assertIn("reference with residual", out)
        self.run_program("check", solved)
        self.assertEqual(before, self.read("pile.h5"))
        with h5py.File(solved) as stored, h5py.File(pile) as plain:
            self.assertEqual(stored.attrs["content_sha256"], plain.attrs["content_sha256"])
            self.assertLessEqual(stored["reference"].attrs["residual"], 1e-10)
            self.assertEqual(stored["reference/velocity"].shape, (60, 6))
            self.assertGreater(abs(stored["reference/velocity"][:]).max(), 0)
        # The referee then knows the velocity error.
        out, _ = self.run_program("solve", solved, "--solver", "vipm", "--stop", "velocity=1e-5",
                                  "--json")
        self.assertLessEqual(json.loads(out)["measures"]["velocity"], 1e-5)
        # In place only when told so, and nothing is written that is not as good as asked for.
        _, errors = self.run_program("certify", pile, code=BAD_INPUT)
        self.assertIn("--force", errors)
        out, _ = self.run_program("certify", pile, "--residual", "1e-30", "--force",
                                  code=NOT_REACHED)
        self.assertIn("nothing written", out)
        self.assertEqual(before, self.read("pile.h5"))

    def test_heavy_spheres(self):
        pile = self.path("heavy.h5")
        self.run_program("generate", "pile", "--spheres", "60", "--contacts", "150",
                         "--heavy-fraction", "0.1", "--mass-ratio", "1000", "-o", pile)
        out, _ = self.run_program("info", pile, "--json")
        self.assertGreater(json.loads(out)["mass_ratio"], 300)
        with h5py.File(pile) as file:
            mass, radius = 1 / file["bodies/inverse_mass"][:], file["bodies/radius"][:]
        self.assertEqual(sum(mass > 100 * 1650 * 4 / 3 * 3.1416 * radius**3), 6)
        _, errors = self.run_program("generate", "pile", "--heavy-fraction", "2", "-o",
                                     self.path("no.h5"), code=BAD_INPUT)
        self.assertIn("option heavy_fraction: expected number >= 0 and <= 1", errors)

    def test_pile_is_reproducible_at_rest_and_of_the_size_asked_for(self):
        for name in ("a", "b"):
            self.run_program("generate", "pile", "--spheres", "30", "--contacts", "60", "--seed", "3",
                             "--name", "p", "-o", self.path(name + ".h5"))
        a, b = (json.loads(self.run_program("info", self.path(n + ".h5"), "--json")[0])
                for n in ("a", "b"))
        self.assertEqual(a["hash"], b["hash"])
        self.assertEqual((a["name"], a["bodies"], a["contacts"]), ("p", 30, 60))
        self.run_program("check", self.path("a.h5"))
        with h5py.File(self.path("a.h5")) as file:
            self.assertEqual(abs(file["bodies/velocity"][:]).max(), 0)
            radius = file["bodies/radius"][:]
            self.assertTrue(((radius >= 0.008) & (radius <= 0.016)).all())
            self.assertTrue((file["bodies/position"][:, 2] > 0.5 * radius).all())  # on the ground
            self.assertGreater(file["contacts/gap"][:].min(), -0.25 * radius.min())
        # Without a number of contacts: all near pairs, named after the output.
        out, _ = self.run_program("generate", "pile", "--spheres", "20", "-o", self.path("near.h5"))
        self.assertRegex(out, r"near\.h5: [0-9]+ contacts between 20 bodies")
        self.assertEqual(json.loads(self.run_program("info", "near.h5", "--json")[0])["name"], "near")
        self.refused("generate", "pile", "--spheres", "5", "--contacts", "1000", "-o",
                     self.path("c.h5"), parts=["1000 contacts asked for, but only"])
        self.assertFalse(os.path.exists(self.path("c.h5")))


class Sequences(CommandLine):
    def column(self, *options, name="column.h5"):
        path = self.path(name)
        self.run_program("generate", "column", "--spheres", "6", "--steps", "3", "-o", path, *options)
        return path

    def test_a_column_is_a_sequence_of_steps(self):
        path = self.column("--name", "six")
        self.assertEqual(self.run_program("check", path)[0], f"{path}: good (sequence six, 3 steps)\n")
        self.assertIn("good (2 steps)", self.run_program("check", path + "#1..2")[0])
        sequence = json.loads(self.run_program("info", path, "--json")[0])
        self.assertEqual(sequence["name"], "six")
        self.assertEqual([step["name"] for step in sequence["steps"]],
                         ["six-0000", "six-0001", "six-0002"])
        for step in sequence["steps"]:
            self.assertEqual((step["contacts"], step["bodies"], step["compliant"], step["guesses"]),
                             (6, 6, True, ["hertz", "previous"]))
        self.assertEqual([step["kept_contacts"] for step in sequence["steps"]], [0, 6, 6])
        self.assertIn("#2", self.run_program("info", path)[0])
        step = json.loads(self.run_program("info", path + "#2", "--json")[0])
        self.assertEqual(step["hash"], sequence["steps"][2]["hash"])
        self.assertLess(step["reference_measures"]["residual"], 1e-10)
        self.assertIs(step["compliant"], True)
        with h5py.File(path) as file:
            gamma, ids = (file["steps/0000/" + name][()]
                          for name in ("reference/gamma", "contacts/identity"))
            guess = file["steps/0001/guesses/previous/gamma"][()]
            self.assertEqual(list(file["steps/0001/contacts/identity"][()]), list(ids))
        np.testing.assert_allclose(guess, gamma, rtol=1e-12, atol=1e-15)
        again = self.column("--name", "six", name="again.h5")
        with h5py.File(path) as one, h5py.File(again) as two:
            self.assertEqual(one["steps/0002"].attrs["content_sha256"],
                             two["steps/0002"].attrs["content_sha256"])

    def test_steps_are_problems(self):
        path = self.column()
        for solver in ("pgj", "vipm", "ipm[krylov=cholmod]"):
            with self.subTest(solver=solver):
                result = json.loads(self.run_program("solve", path + "#1", "--solver", solver,
                                                     "--json")[0])
                self.assertEqual(result["instance"], "column-0001")
                self.assertLess(result["measures"]["multiplier"], 1e-3)
                self.assertLess(result["measures"]["normal_residual"], 1e-6)
        self.refused("solve", path, "--solver", "pgj", parts=["one step of the sequence", "#0", "#2"])
        self.refused("solve", path + "#3", "--solver", "pgj", parts=["steps from #0 to #2", "found #3"])
        self.refused("solve", path + "#0..1", "--solver", "pgj", parts=["one step", "several"])
        self.refused("certify", path + "#1", parts=["--output FILE for a step"])
        one = self.path("one.h5")
        self.run_program("certify", path + "#1", "-o", one)
        example = os.path.join(SOURCE, "docs", "examples", "read_problem.py")
        done = subprocess.run([sys.executable, example, one], text=True, capture_output=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        gap = float(done.stdout.split("|gamma.u|/n = ")[1].split()[0])
        self.assertLess(gap, 1e-12)  # with Sigma; without, it is 1e-5

    def test_history_is_a_part_of_the_step_before(self):
        step = self.column() + "#2"
        found = []
        for start in ("history", "history[beta=0.85]", "previous*0.85", "previous", "hertz", "cold"):
            out, _ = self.run_program("solve", step, "--solver", "pgj", "--start", start, "--stop",
                                      "residual=1e-30", "--max-outer", "1", "--json", code=NOT_REACHED)
            found.append(json.loads(out)["measures"]["multiplier"])
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], found[2])
        self.assertLess(found[3], found[0])  # at rest all of it is best, and so is Hertz's law
        self.assertLess(found[4], found[0])
        self.assertLess(found[0], found[5])
        self.refused("solve", step, "--solver", "pgj", "--start", "history[beta=0]",
                     parts=["--start", "a number > 0", "'0'"])

    def test_a_study_runs_over_steps(self):
        path = self.column()
        self.write("steps.yaml", "name: steps\nproblems: [column.h5]\nsolvers: [vipm]\n")
        rows = [json.loads(line) for line in
                self.run_program("run", "steps.yaml", "-o", self.path("r"), "--json")[0].splitlines()]
        self.assertEqual([row.get("instance") for row in rows[:-1]],
                         ["column-0000", "column-0001", "column-0002"])
        self.write("some.yaml", "name: some\nproblems: ['column.h5#1..2']\nsolvers: [vipm]\n")
        out, _ = self.run_program("run", "some.yaml", "-o", self.path("s"), "--dry-run")
        self.assertIn("column-0002", out)
        self.assertNotIn("column-0000", out)
        self.write("twice.yaml", "name: a\nproblems: [column.h5, 'column.h5#1']\nsolvers: [vipm]\n")
        self.refused("run", "twice.yaml", parts=["each problem once"])
        self.write("no.yaml", "name: a\nproblems: ['column.h5#1..5']\nsolvers: [vipm]\n")
        self.refused("run", "no.yaml", parts=["no.yaml: line 2", "steps from #0 to #2"])
        self.assertTrue(os.path.exists(path))

    def test_piles(self):
        pile = ("generate", "pile", "--spheres", "20", "--contacts", "0", "--seed", "3", "--steps", "3")
        rigid, elastic = self.path("rigid.h5"), self.path("elastic.h5")
        self.run_program(*pile, "-o", rigid)
        self.run_program(*pile, "--hertz-young", "6e6", "-o", elastic)
        for path, compliant in ((rigid, False), (elastic, True)):
            self.run_program("check", path)
            for step in json.loads(self.run_program("info", path, "--json")[0])["steps"]:
                self.assertIs(step["compliant"], compliant)
                self.assertEqual(step["guesses"], ["hertz"] * compliant + ["previous"])
                self.assertGreaterEqual(step["contacts"], 20)
        moving = self.path("moving.h5")
        self.run_program(*pile, "--from", "0.1", "-o", moving)
        with h5py.File(moving) as file:
            self.assertGreater(abs(file["steps/0000/bodies/velocity"][()]).max(), 0.1)
        with h5py.File(elastic) as file:
            self.assertLess(file["steps/0000/contacts/gap"][()].max(), 0)
        self.refused("generate", "pile", "--spheres", "3", "--hertz-young", "6e6", "-o",
                     self.path("x.h5"), parts=["elastic contacts", "a sequence of steps"])
        self.run_program("generate", "pile", "--from", "1", "-o", self.path("x.h5"), code=USAGE)

    def test_simulated_columns(self):
        table = self.path("t.h5")
        out, _ = self.run_program("simulate", "column", "--spheres", "3,5", "--iterations", "2,400",
                                  "--starts", "cold,history", "--solver", "pgj", "--json", "-o", table)
        rows = json.loads(out)
        self.assertEqual([(row["spheres"], row["start"], row["iterations"]) for row in rows],
                         [(n, start, k) for n in (3, 5) for start in ("cold", "history")
                          for k in (2, 400)])
        for row in rows:
            self.assertAlmostEqual(row["error"], 1 - row["height"] / row["theory"], places=12)
        errors = {(row["spheres"], row["start"], row["iterations"]): row["error"] for row in rows}
        for n in (3, 5):
            self.assertLess(abs(errors[n, "cold", 400]), 1e-3)
            self.assertLess(errors[n, "history", 2], errors[n, "cold", 2])
        self.assertIn("simulated columns, 8 rows", self.run_program("check", table)[0])
        few, _ = self.run_program("simulate", "column", "--spheres", "3", "--iterations", "400,800",
                                  "--starts", "hertz", "--solver", "pgj", "--until", "1e-2")
        self.assertEqual(len(few.splitlines()), 2)  # a head, and 400 iterations were enough
        for start, part in (("hurtz", "did you mean 'hertz'?"), ("history[beta=x]", "a number > 0"),
                            ("hertz*-1", "a number > 0")):
            self.refused("simulate", "column", "--starts", start, "--solver", "pgj", parts=[part])
        self.refused("simulate", "column", "--young", "0", "--solver", "pgj",
                     parts=["scene column", "option young", "> 0"])
        self.refused("simulate", "column", "--spheres", "3,x", "--solver", "pgj",
                     parts=["scene column", "option spheres", "integer >= 1", "'x'"])


class Batch(CommandLine):
    """`solve --batch`: many small problems at once."""

    def steps(self):
        path = self.path("steps.h5")
        if not os.path.exists(path):
            self.run_program("generate", "pile", "--spheres", "12", "--contacts", "15", "--steps", "4",
                             "--from", "0.2", "-o", path)
        return path

    def test_rows_are_those_of_solve(self):
        scene = self.scene("sliding-block")
        for solver in "pgs", "apgd", "vipm":
            out = json.loads(self.run_program(
                "solve", "--batch", self.steps(), scene, "--solver", solver, "--stop", "residual=1e-7",
                "-o", self.path(solver), "--json")[0])
            self.assertEqual((out["problems"], out["stop_reached"], out["solver"]), (5, 5, solver))
            one = json.loads(self.run_program("solve", scene, "--solver", solver, "--stop",
                                              "residual=1e-7", "--json")[0])
            for row in out["rows"]:
                self.assertEqual(set(row) - {"problem"}, set(one))
                self.assertLessEqual(row["measures"]["residual"], 1e-7)
                self.assertAlmostEqual(row["time"], out["time"] / 5)
            self.assertEqual(out["rows"][-1]["hash"], one["hash"])
            self.assertEqual(out["rows"][2]["problem"], self.steps() + "#2")
            self.assertEqual(len(self.results(solver)), 5)
            for name in self.results(solver):
                self.run_program("check", os.path.join(self.path(solver), name))
                with h5py.File(os.path.join(self.path(solver), name)) as file:
                    self.assertEqual(file["request"].attrs["batch"], "5")
            self.refused("solve", "--batch", scene, "--solver", solver, "-o", self.path(solver),
                         parts=["files in it"])

    def test_threads_change_nothing(self):
        batch = ("solve", "--batch", self.steps(), "--keep-gamma")
        out = json.loads(self.run_program(*batch, "--solver", "pgs", "--json")[0])
        if out["backend"] != "OpenMP":
            self.skipTest("a build for one thread")
        for solver in "pgs", "pgs[law=coulomb]", "apgd", "vipm":
            stop = "coulomb_residual=1e-7" if "coulomb" in solver else "residual=1e-7"
            bits: list[list[tuple[int, bytes]]] = []
            for threads in "1", "2":
                folder = self.path(solver + threads)
                self.run_program(*batch, "--solver", solver, "--threads", threads, "--stop", stop,
                                 "-o", folder)
                bits.append([])
                for name in self.results(folder):
                    with h5py.File(os.path.join(folder, name)) as file:
                        bits[-1].append((file["counters"].attrs["outer"],
                                         file["final/gamma"][:].tobytes()))
            self.assertEqual(len(bits[0]), 4)
            self.assertEqual(bits[0], bits[1])

    def test_a_folder_a_table_and_the_exit_code(self):
        os.mkdir(self.path("many"))
        shutil.copy(self.steps(), self.path("many/a.h5"))
        shutil.copy(self.scene("stack"), self.path("many/b.h5"))
        text = self.run_program("solve", "--batch", self.path("many"), "--solver", "pgs", "--stop",
                                "residual=1e-6")[0]
        for part in "5 problems", "reached by 5 of 5", "median":
            self.assertIn(part, text)
        text = self.run_program("solve", "--batch", self.path("many"), "--solver", "apgd", "--stop",
                                "residual=1e-12", "--max-outer", "1", code=NOT_REACHED)[0]
        for part in "max_iterations", "not reached":
            self.assertIn(part, text)

    def test_what_a_batch_lacks_is_refused(self):
        steps, scene = self.steps(), self.scene("stack")
        batch = ("solve", "--batch", steps, "--solver")
        self.refused(*batch, "ipm", parts=["pgs, apgd, vipm", "ipm"])
        self.refused(*batch, "pgs[sweep=colored]", parts=["sweep"])
        self.refused(*batch, "pgs", "--stop", "error=1e-3", parts=["residual=VALUE"])
        self.refused(*batch, "pgs", "--targets", "residual=1e-3", parts=["--targets"])
        self.refused("solve", "--batch", "test-problem-1", "--solver", "pgs",
                     parts=["test-problem-1", "at most 200"])
        self.refused("solve", "--batch", "assembled-stack", "--solver", "vipm",
                     parts=["assembled-stack", "N is known"])
        self.refused("solve", scene, "--batch", steps, "--solver", "pgs", code=USAGE,
                     parts=["--batch"])
        self.refused("solve", "--solver", "pgs", code=USAGE, parts=["problem"])
        os.mkdir(self.path("empty"))
        self.refused("solve", "--batch", self.path("empty"), "--solver", "pgs", parts=["none in it"])


class Solve(CommandLine):
    def test_json_has_the_keys_of_the_contract(self):
        path = self.scene("stack")
        out, _ = self.run_program("solve", path, "--solver", "ipm[krylov=gmres]", "--json", "--targets",
                                  "error=1e-3,residual=1e-5,cost=1e-300")
        result = json.loads(out)
        self.assertLessEqual({"instance", "hash", "contacts", "bodies", "solver", "options", "status",
                              "stop_reached", "time", "setup_time", "outer", "krylov", "applies",
                              "measures", "targets", "best"}, set(result))
        self.assertEqual(result["instance"], "stack")
        self.assertEqual(result["contacts"], 3)
        self.assertEqual(result["bodies"], 3)
        self.assertEqual(result["solver"], "ipm[krylov=gmres]")
        self.assertEqual(result["options"]["krylov"], "gmres")
        self.assertIs(result["stop_reached"], True)
        self.assertGreater(result["time"], 0)
        self.assertLessEqual(MEASURES, set(result["measures"]))
        self.assertEqual(set(result["measures"]), set(result["best"]))
        self.assertLessEqual(result["measures"]["residual"], 1e-6)
        self.assertEqual([(t["measure"], t["value"]) for t in result["targets"]],
                         [("error", 1e-3), ("residual", 1e-5), ("cost", 1e-300)])
        for target in result["targets"]:
            self.assertEqual(set(target), {"measure", "value", "time", "outer", "krylov", "applies"})
        listed = [row["name"] for row in json.loads(self.run_program("list", "measures", "--json")[0])]
        self.assertEqual(list(result["measures"]), listed)
        self.assertIsNotNone(result["targets"][1]["time"])
        self.assertEqual([result["targets"][2][k] for k in ("time", "outer", "krylov", "applies")],
                         [None] * 4)

    def test_result_file(self):
        path, out = self.scene("stack"), self.path("run.h5")
        self.run_program("solve", path, "--solver", "pgj", "-o", out, "--keep-gamma")
        self.assertIn("result, pgj on stack", self.run_program("check", out)[0])
        with h5py.File(out) as file:
            self.assertEqual(file.attrs["format"], "ccpbench-result")
            n = len(file["curve/time"])
            for name in ("outer", "krylov", "applies", "time_excluded", *MEASURES):
                self.assertEqual(len(file["curve/" + name]), n, name)
            gamma = file["final/gamma"][:]
        for found, known in zip(gamma[:, 0], (0.7, 0.6, 0.4), strict=True):
            self.assertAlmostEqual(found, known, places=4)
        self.assertEqual(sorted(os.listdir(self.folder)), ["run.h5", "stack.h5"])

    def test_a_result_keeps_what_was_asked_for(self):
        path = self.scene("stack")
        asked = {"problem": path, "solver": "pgj[omega=0.25]", "start": "reference*0.5",
                 "stop": "error=0.0005", "targets": "cost=0.1,residual=1e-05", "time_limit": "2.5",
                 "warm_up": "0.01", "look_budget": "7", "bare": "true", "keep_gamma": "true",
                 "max_outer": "17000", "threads": "1", "external": "", "study": "", "repetition": "1"}
        self.run_program("solve", path, "--solver", "pgj[omega=0.25]", "--start", "reference*0.5",
                         "--stop", "error=5e-4", "--targets", "cost=1e-1,residual=1e-5",
                         "--time-limit", "2.5", "--warm-up", "1e-2", "--look-budget", "7", "--bare",
                         "--keep-gamma", "--max-outer", "17000", "--threads", "1", "-o", "run.h5",
                         "--quiet")
        with h5py.File(self.path("run.h5")) as file:
            self.assertLessEqual(asked.items(), dict(file["request"].attrs).items())
            self.assertEqual(file.attrs["stop"], "error=0.0005")
            self.assertEqual((file.attrs["time_limit"], file.attrs["repetition"]), (2.5, 1))
        self.run_program("check", "run.h5")
        # The same through a study and the command line of its process.
        self.write("study.yaml", "name: s\nproblems: stack.h5\nsolvers: 'pgj[omega=0.25]'\n"
                   "starts: reference*0.5\nstop: error=5e-4\ntargets: [cost=1e-1, residual=1e-5]\n"
                   "time_limit: 2.5\nwarm_up: 1e-2\nlook_budget: 7\nbare: true\nrepetitions: 2\n")
        self.run_program("run", "study.yaml", "-o", "out")
        asked.update(study="s", keep_gamma="false", max_outer="")
        for name in os.listdir(self.path("out")):
            with h5py.File(os.path.join(self.path("out"), name)) as file:
                asked["repetition"] = str(file.attrs["repetition"])
                found = dict(file["request"].attrs)
                self.assertTrue(os.path.samefile(os.path.join(self.folder, found.pop("problem")), path))
                self.assertLessEqual({key: value for key, value in asked.items() if key != "problem"}
                                     .items(), found.items())
                self.assertEqual(file.attrs["study"], "s")
        self.run_program("check", "out")

    def test_numbers_that_are_none_are_faults_of_usage(self):
        for option, value in (("--time-limit", "nan"), ("--time-limit", "inf"), ("--time-limit", "0"),
                              ("--time-limit", "1e999"), ("--threads", "0"), ("--threads", "1.5"),
                              ("--max-outer", "99999999999999999999"), ("--warm-up", "-1"),
                              ("--look-budget", "nan"), ("--tolerances", "x"), ("--law", "convx")):
            with self.subTest(option=option, value=value):
                _, err = self.run_program("solve", "x.h5", "--solver", "pgj", option, value, code=USAGE)
                self.assertIn(f"{option}: expected ", err)

    def test_target_not_reached(self):
        path = self.scene("stack")
        out, _ = self.run_program("solve", path, "--solver", "pgj", "--max-outer", "3", "--json",
                                  code=NOT_REACHED)
        result = json.loads(out)
        self.assertIs(result["stop_reached"], False)
        self.assertEqual(result["status"], "max_iterations")
        self.assertEqual(result["outer"], 3)
        out, _ = self.run_program("solve", path, "--solver", "pgj[tolerance=0]", "--stop",
                                  "residual=1e-30", "--time-limit", "0.2", "--json", code=NOT_REACHED)
        result = json.loads(out)
        self.assertEqual(result["status"], "time_limit")
        self.assertLess(result["time"], 2)
        self.assertIn("NOT reached", self.run_program("solve", path, "--solver", "pgj", "--max-outer",
                                                      "3", code=NOT_REACHED)[0])

    def test_options_that_the_problem_cannot_serve(self):
        out, _ = self.run_program("solve", self.scene("stack"), "--solver", "ipm[regularization=elastic]",
                                  "--json", code=NOT_REACHED)
        result = json.loads(out)
        self.assertEqual(result["status"], "unsupported")
        self.assertIn("stiffness", result["message"])
        self.assertIs(result["stop_reached"], False)
        # Zero impulses may be as good as is asked for: it is not the solver who found them.
        self.run_program("solve", self.scene("stack"), "--solver", "ipm[regularization=elastic]",
                         "--stop", "residual=1e9", "-o", "run.h5", "--quiet", code=NOT_REACHED)
        self.run_program("check", "run.h5")

    def test_start_from_a_result_or_the_reference(self):
        problem = self.scene("stack")
        self.run_program("solve", problem, "--solver", "pgj", "--stop", "residual=1e-9",
                         "--keep-gamma", "-o", "far.h5", "--quiet")
        cold = json.loads(self.run_program("solve", problem, "--solver", "pgj", "--stop",
                                           "residual=1e-6", "--json")[0])
        self.assertEqual((cold["law"], cold["start"]), ("convex", "cold"))
        for start in ("far.h5", "reference"):
            warm = json.loads(self.run_program("solve", problem, "--solver", "pgj", "--stop",
                                               "residual=1e-6", "--start", start, "--json")[0])
            self.assertEqual(warm["start"], start)
            self.assertEqual(warm["outer"], 0)
        self.assertGreater(cold["outer"], 0)
        half = json.loads(self.run_program("solve", problem, "--solver", "pgj", "--stop",
                                           "residual=1e-6", "--start", "far.h5*0.5", "--json")[0])
        self.assertGreater(half["outer"], 0)

    def test_names_that_cannot_be(self):
        long = "a" * 5000
        self.refused("info", long, parts=["unknown problem"])
        self.refused("run", long, "-o", "out", parts=["no such file"])
        self.write("long.yaml", f"name: s\nproblems: {long}.h5\nsolvers: pgj\n")
        self.refused("run", "long.yaml", parts=["line 2", "no such file"])

    def test_starts_that_cannot_be(self):
        problem = self.scene("stack")
        solve = ("solve", problem, "--solver", "pgj", "--quiet", "--start")
        self.refused(*solve, "previous", parts=["one of cold, reference", "'previous'"])
        self.refused(*solve, "referense", parts=["did you mean 'reference'?"])
        self.refused(*solve, "reference*-1", parts=["factor of reference", "a number > 0", "'-1'"])
        self.refused(*solve, "there-is-none.h5", parts=["there-is-none.h5"])
        self.run_program("solve", self.scene("v-groove"), "--solver", "pgj", "--keep-gamma", "-o",
                         "other.h5", "--quiet")
        self.refused(*solve, "other.h5", parts=["other.h5: /final/gamma", "stack"])
        self.run_program("solve", problem, "--solver", "pgj", "-o", "bare.h5", "--quiet")
        self.refused(*solve, "bare.h5", parts=["bare.h5: /final/gamma", "--keep-gamma"])
        out, _ = self.run_program("solve", problem, "--solver", "ipm", "--start", "reference",
                                  code=NOT_REACHED)
        self.assertIn("unsupported (ipm cannot start from a guess)", out)

    def test_existing_output_is_left_alone(self):
        path, out = self.scene("stack"), self.path("run.h5")
        self.write("run.h5", "mine")
        self.refused("solve", path, "--solver", "pgj", "-o", out, parts=[out, "existing file", "--force"])
        self.assertEqual(self.read("run.h5"), b"mine")
        self.run_program("solve", path, "--solver", "pgj", "-o", out, "--force")
        self.run_program("check", out)

    def test_numbers_of_every_command(self):
        """What is no number is a fault of usage before anything is read, told in one short line."""
        commands = {
            ("certify", "x.h5"): {"--residual": "> 0", "--time-limit": "> 0", "--threads": ">= 1"},
            ("freeze-systems", "x.h5", "--at", "1", "-o", "y.h5"): {"--threads": ">= 1"},
            ("precond", "x.h5"): {"--tolerance": ">= 0 and <= 1", "--max-iterations": ">= 1",
                                  "--restart": ">= 1", "--eigenvalue-steps": ">= 0 and <= 1000",
                                  "--threads": ">= 1"},
            ("export", "vtk", "x.h5", "-o", "y"): {"--detail": ">= -1 and <= 4"},
            ("simulate", "column"): {"--iterations": ">= 1", "--until": ">= 0"},
            ("generate", "pile", "-o", "y.h5"): {"--threads": ">= 1"},
            ("run", "x.yaml"): {"--jobs": ">= 1"}}
        for command, options in commands.items():
            text = " ".join(self.run_program(*command, "--help")[0].split())
            for option, allowed in options.items():
                self.assertRegex(text, f"{option} (NUMBER|INTEGER)")
                self.assertIn(f"({allowed})", text)
                for value in ("nan", "inf", "-2", "1e999", "9" * 300, "x", "1.5.2"):
                    if value == "9" * 300 and option in ("--residual", "--time-limit", "--until"):
                        continue  # a number
                    with self.subTest(command=command, option=option, value=value):
                        _, err = self.run_program(*command, f"{option}={value}", code=USAGE)
                        self.assertIn(f"{option}: expected ", err)
                        self.assertIn(allowed, err)
                        self.assertIn(value[:20], err)
                        self.assertLess(len(err), 300)
        self.assertEqual(os.listdir(self.folder), [])

    def test_numbers_in_texts(self):
        path = self.scene("stack")
        solve = ("solve", path, "--solver")
        for value in ("nan", "inf", "-inf", "1e999", "99999999999999999999"):
            for words in ((*solve, f"pgj[max_iterations={value}]"), (*solve, "pgj", "--stop", f"error=-{value}"),
                          (*solve, "pgj", "--targets", f"error=-{value}"),
                          (*solve, "pgj", "--start", f"reference*-{value}"),
                          ("freeze-systems", path, "--at", value, "-o", "y.h5"),
                          ("simulate", "column", "--starts", f"history[beta=-{value}]")):
                with self.subTest(words=words):
                    self.refused(*words, parts=["expected"])
            self.write("s.yaml", f"name: s\nproblems: stack.h5\nsolvers: pgj\nrepetitions: {value}\n")
            self.refused("run", "s.yaml", parts=["line 4", "a whole number"])
            self.write("s.yaml", f"name: s\nproblems: stack.h5\nsolvers: pgj\ntime_limit: -{value}\n")
            self.refused("run", "s.yaml", parts=["line 4", "a number > 0"])

    def test_output_that_is_an_input(self):
        """Refused whatever the link or the spelling, and the input is left alone."""
        problem, result = self.scene("hyperstatic-table"), self.path("run.h5")
        self.run_program("generate", "pile", "--spheres", "20", "-o", "pile.h5")
        self.run_program("solve", "pile.h5", "--solver", "vipm", "--keep-gamma", "-o", result, "--quiet")
        self.run_program("freeze-systems", "pile.h5", "--at", "1", "-o", "systems.h5")
        self.run_program("generate", "column", "--spheres", "2", "--steps", "2", "-o", "seq.h5")
        self.run_program("export", "fclib", problem, "-o", "fclib.hdf5")
        self.run_program("export", "matrix-market", problem, "-o", "m")
        self.write("program.py", "raise SystemExit(1)")
        cases: dict[str, list[tuple[str, ...]]] = {
            "hyperstatic-table.h5": [("solve", problem, "--solver", "pgj"),
                                     ("freeze-systems", problem, "--at", "1"),
                                     ("export", "fclib", problem)],
            "run.h5": [("solve", "pile.h5", "--solver", "pgj", "--start", result)],
            "program.py": [("solve", problem, "--solver", "me", "--external",
                            "python3 program.py {problem} {output}")],
            "seq.h5": [("certify", "seq.h5#1"), ("solve", "seq.h5#0", "--solver", "pgj")],
            "systems.h5": [("precond", "systems.h5")],
            "pile.h5": [("precond", "systems.h5"), ("precond", "systems.h5", "--problem", "pile.h5")],
            "fclib.hdf5": [("import", "fclib", "fclib.hdf5")]}
        before = {name: self.read(name) for name in cases}
        for name, commands in cases.items():
            os.link(self.path(name), self.path("hard-link"))
            os.symlink(name, self.path("link"))
            for command in commands:
                for out in (name, "./" + name, self.path(name), "hard-link", "link"):
                    with self.subTest(command=command, out=out):
                        self.refused(*command, "-o", out, "--force", parts=[out, "a file of its own"])
            os.unlink(self.path("hard-link"))
            os.unlink(self.path("link"))
        # Where the names of the outputs are made from a prefix.
        os.rename(problem, self.path("a-N.mtx"))
        self.refused("export", "matrix-market", "a-N.mtx", "-o", "a", "--force",
                     parts=["a-N.mtx", "a file of its own"])
        os.rename(self.path("a-N.mtx"), problem)
        os.rename(self.path("pile.h5"), self.path("b.vtm"))
        self.refused("export", "vtk", "b.vtm", "-o", "b", "--force", parts=["b.vtm", "a file of its own"])
        os.rename(self.path("b.vtm"), self.path("pile.h5"))
        self.refused("generate", "pyramid", "-o", "new.h5", "--trajectory", "./new.h5",
                     parts=["new.h5", "the other output"])
        self.assertEqual({name: self.read(name) for name in cases}, before)
        # The one exception: a reference is added to the problem itself.
        self.run_program("certify", "pile.h5", "--force")
        self.refused("certify", "stack", parts=["--output FILE"])

    def test_certify_takes_catalogue_names(self):
        if not json.loads(self.run_program("list", "problems", "--json")[0]):
            self.skipTest("no catalogue")
        out, _ = self.run_program("certify", "resting-block", "-o", "x.h5")
        self.assertIn("reference with residual", out)

    def test_only_regular_files_are_written(self):
        path = self.scene("stack")
        self.refused("solve", path, "--solver", "pgj", "-o", "/dev/null", "--force",
                     parts=["/dev/null", "a regular file", "a device"])
        os.mkfifo(self.path("pipe"))
        self.refused("generate", "scene", "stack", "-o", "pipe", "--force", parts=["a regular file"])
        # A link stays one: what it leads to is written.
        self.write("target.h5", "")
        os.symlink("target.h5", self.path("link.h5"))
        self.run_program("generate", "scene", "stack", "-o", "link.h5", "--force")
        self.assertTrue(os.path.islink(self.path("link.h5")))
        self.run_program("check", "target.h5")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_what_cannot_be_printed_is_an_error(self):
        path = self.scene("stack")
        self.run_program("solve", path, "--solver", "pgj", "-o", "run.h5", "--quiet")
        self.run_program("generate", "column", "--spheres", "2", "--steps", "2", "-o", "seq.h5")
        self.write("s.yaml", "name: s\nproblems: stack.h5\nsolvers: pgj\n")
        self.write("program.vtu", "")
        for words in (["info", path, "--json"], ["solve", path, "--solver", "pgj", "--json"],
                      ["list", "solvers"], ["info", path], ["info", "run.h5"], ["info", "seq.h5", "--json"],
                      ["check", path], ["list", "measures", "--json"], ["--version"], ["--help"],
                      ["solve", "--help"], ["manual", "--page"], ["manual", "--completion"],
                      ["run", "s.yaml", "--dry-run"], ["run", "s.yaml", "-o", "out", "--json"]):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                      cwd=self.folder, timeout=60, check=False)
                self.assertEqual(done.returncode, BAD_INPUT)
                self.assertIn("standard output", done.stderr)

    def test_output_that_cannot_be_written(self):
        path = self.scene("stack")
        self.refused("solve", path, "--solver", "pgj", "-o", self.path("no/run.h5"),
                     parts=["existing folder", "no folder"])
        self.refused("solve", path, "--solver", "pgj", "-o", self.folder, parts=["found a folder"])
        # Even root cannot make files there.
        self.refused("solve", path, "--solver", "pgj", "-o", "/proc/run.h5", parts=["/proc/run.h5"])
        if os.geteuid() != 0:
            os.mkdir(self.path("locked"), 0o555)
            self.refused("solve", path, "--solver", "pgj", "-o", self.path("locked/run.h5"),
                         parts=["writable folder"])

    def test_bad_input(self):
        path = self.scene("stack")
        cases = [
            (["solve", self.path("none.h5"), "--solver", "pgj"], ["none.h5", "no such file"]),
            (["solve", "no-such-problem", "--solver", "pgj"], ["unknown problem 'no-such-problem'"]),
            (["solve", path, "--solver", "pgk"], ["unknown solver 'pgk'", "did you mean 'pgj'?"]),
            (["solve", path, "--solver", "pgj[omga=1]"], ["unknown option 'omga'", "did you mean 'omega'?"]),
            (["solve", path, "--solver", "pgj[omega=0]"], ["option omega: expected number > 0", "'0'"]),
            (["solve", path, "--solver", "pgj[omega=1"], ["no closing ]"]),
            (["solve", path, "--solver", "pgj", "--stop", "residul=1"],
             ["--stop: unknown measure 'residul'", "did you mean 'residual'?"]),
            (["solve", path, "--solver", "pgj", "--stop", "residual=0"], ["--stop", "a number > 0"]),
            (["solve", path, "--solver", "pgj", "--targets", "error=1e-3,x"], ["--targets", "'x'"]),
            (["info", self.path("none.h5")], ["none.h5"]),
        ]
        if "Serial" in self.run_program("--version")[0]:
            cases.append((["solve", path, "--solver", "pgj", "--threads", "2"],
                          ["--threads: expected 1", "Kokkos Serial", "found 2"]))
        else:
            self.run_program("solve", path, "--solver", "pgj", "--threads", "2")
        for arguments, parts in cases:
            with self.subTest(arguments=arguments):
                self.refused(*arguments, parts=parts)

    def test_a_full_disk_is_an_error_and_leaves_nothing_behind(self):
        path = self.scene("stack")

        def end_of_disk(limit):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        for limit in (0, 2000, 8000):
            with self.subTest(limit=limit):
                done = subprocess.run(
                    [PROGRAM, "solve", path, "--solver", "pgj", "-o", self.path("run.h5"), "--quiet"],
                    preexec_fn=functools.partial(end_of_disk, limit), text=True, capture_output=True,
                    timeout=60, check=False)
                self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
                self.assertIn(self.path("run.h5"), done.stderr)
                self.assertEqual(os.listdir(self.folder), ["stack.h5"])

    def test_an_interrupt_leaves_no_half_written_file(self):
        words = [PROGRAM, "generate", "pyramid", "--steps", "100000000", "-o", "x.h5",
                 "--trajectory", "x.csv"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number), subprocess.Popen(
                    words, cwd=self.folder, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL) as child:
                while not os.listdir(self.folder):
                    self.assertIsNone(child.poll())
                    time.sleep(0.01)
                self.assertEqual(os.listdir(self.folder), [f"x.csv.{child.pid}.part"])
                child.send_signal(number)
                self.assertEqual(child.wait(timeout=60), -number)
                self.assertEqual(os.listdir(self.folder), [])

    def test_every_writer_on_a_full_disk(self):
        self.run_program("generate", "pile", "--spheres", "30", "-o", "pile.h5")
        self.run_program("freeze-systems", "pile.h5", "--at", "1", "-o", "systems.h5")
        self.run_program("export", "fclib", "pile.h5", "-o", "fclib.hdf5")
        before = sorted(os.listdir(self.folder))

        def end_of_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

        for words in (["generate", "pile", "--spheres", "5", "-o", "x.h5"],
                      ["generate", "pyramid", "--steps", "2", "-o", "x.h5", "--trajectory", "x.csv"],
                      ["generate", "column", "--spheres", "3", "--steps", "2", "-o", "x.h5"],
                      ["import", "fclib", "fclib.hdf5", "-o", "x.h5"],
                      ["export", "fclib", "pile.h5", "-o", "x.hdf5"],
                      ["export", "vtk", "pile.h5", "-o", "x"],
                      ["export", "matrix-market", "pile.h5", "-o", "x"],
                      ["export", "matrix-market", "systems.h5", "-o", "x"],
                      ["certify", "pile.h5", "-o", "x.h5"],
                      ["freeze-systems", "pile.h5", "--at", "1", "-o", "x.h5"],
                      ["precond", "systems.h5", "--quiet", "-o", "x.h5"],
                      ["simulate", "column", "--spheres", "2", "--iterations", "2", "--quiet", "-o", "x.h5"]):
            with self.subTest(words=words):
                done = subprocess.run([PROGRAM, *words], preexec_fn=end_of_disk, cwd=self.folder,
                                      text=True, capture_output=True, timeout=60, check=False)
                self.assertEqual(done.returncode, BAD_INPUT, done.stdout + done.stderr)
                self.assertRegex(done.stderr, "ccpbench: x.*: expected to write .* File too large")
                self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_damaged_problem(self):
        path = self.scene("stack")
        with h5py.File(path, "r+") as file:
            file["ccp/mu"][0] = 0.9
        self.refused("solve", path, "--solver", "pgj", parts=[path, "content_sha256"])
        self.refused("check", path, parts=[path, "content_sha256"])

    def test_quiet_prints_nothing(self):
        out, _ = self.run_program("solve", self.scene("stack"), "--solver", "pgj", "--quiet")
        self.assertEqual(out, "")

    def test_bare_run_makes_the_same_iterates(self):
        out, _ = self.run_program("solve", self.scene("stack"), "--solver", "pgj", "--bare", "--json")
        result = json.loads(out)
        self.assertEqual(result["bare_difference"], 0)
        self.assertGreater(result["bare_time"], 0)


class Messages(CommandLine):
    """What is said to those who mistype."""

    def test_unknown_commands_and_options(self):
        for words, parts in (
                (["slove", "x.h5"], ["ccpbench: unknown command 'slove'", "did you mean 'solve'?"]),
                (["generate", "pyle", "-o", "x"], ["ccpbench generate: unknown command 'pyle'", "'pile'?"]),
                (["solve", "x.h5", "--sovler", "pgj"], ["ccpbench solve: unknown option '--sovler'",
                                                        "did you mean '--solver'?"]),
                (["solve", "x.h5", "--sovler=pgj"], ["'--sovler'", "did you mean '--solver'?"]),
                (["solve", "--solver", "pgj", "--time-limt", "3", "x.h5"], ["'--time-limit'?"]),
                (["solve", "x.h5", "-x", "3"], ["unknown option '-x'"]),
                (["generate", "pile", "--shperes", "3"], ["ccpbench generate pile:", "'--spheres'?"]),
                (["solve", "x.h5"], ["ccpbench solve: --solver is required"]),
                ([], ["ccpbench: expected a command, one of list, generate,"]),
                (["generate"], ["ccpbench generate: expected a command, one of pile, tiled-pile, column,"]),
                (["list", "solver"], ["expected one of solvers,", "did you mean 'solvers'?"]),
                (["manual"], ["--page or --completion"])):
            with self.subTest(words=words):
                out, err = self.run_program(*words, code=USAGE)
                self.assertEqual(out, "")
                for part in parts:
                    self.assertIn(part, err)
                self.assertIn("--help says more", err)
        # No word about options that are for our own use.
        _, err = self.run_program("solve", "x.h5", "--solver", "pgj", "--chekpoint", "3", code=USAGE)
        self.assertNotIn("checkpoint", err)

    def test_names_that_are_not_there(self):
        path = self.scene("stack")
        self.refused("run", "smal", parts=["one of error-vs-time,", "smoke", "did you mean 'small'?"])
        self.refused("solve", path, "--solver", "pgj", "--stop", "foo=1",
                     parts=["--stop: unknown measure 'foo'", "(there are cost, feas,"])
        self.refused("list", "solvers", "vpim", parts=["'vpim' of solvers", "did you mean 'vipm'?"])
        os.mkdir(self.path("folder"))
        self.write("folder/notes.txt", "")
        self.refused("check", "folder", parts=["files *.h5 in the folder", "1 others"])

    def test_fclib_files_are_recognised(self):
        self.run_program("export", "fclib", self.scene("stack"), "-o", "f.hdf5")
        for words in (("solve", "f.hdf5", "--solver", "pgj"), ("info", "f.hdf5"), ("check", "f.hdf5"),
                      ("certify", "f.hdf5", "-o", "x.h5")):
            with self.subTest(words=words):
                self.refused(*words, parts=["Friction Contact Library", "`ccpbench import fclib`"])

    def test_a_stop_that_needs_a_reference(self):
        self.run_program("generate", "pile", "--spheres", "10", "-o", "pile.h5")
        for measure in ("velocity", "objective_gap", "multiplier"):
            self.refused("solve", "pile.h5", "--solver", "pgj", "--stop", f"{measure}=1e-3",
                         parts=["--stop", measure, "a reference solution", "ccpbench certify",
                                "none in pile.h5"])

    def test_counts_and_units(self):
        path = self.scene("resting-block")
        out, _ = self.run_program("solve", path, "--solver", "pgj")
        self.assertRegex(out, r"memory +[0-9.]+ [kM]?B\n")  # of one contact there is no more to say
        out, _ = self.run_program("check", path)
        self.assertIn("1 contact, 1 body)", out)
        self.run_program("export", "fclib", path, "--local", "-o", "f.hdf5")
        out, _ = self.run_program("import", "fclib", "f.hdf5", "-o", "f.h5")
        self.assertIn("f.h5: 1 contact, N of 1 block\n", out)
        self.assertNotIn("()", self.run_program("info", "f.h5")[0])

    def test_text_that_is_not_utf8(self):
        """Names are shown with replacement characters, files are found by whatever bytes."""
        latin = os.fsencode(self.folder) + b"/br\xfcl.h5"
        self.scene("stack")
        os.rename(self.path("stack.h5"), latin)
        with h5py.File(latin, "r+") as file:
            del file.attrs["name"]
            file.attrs["name"] = np.bytes_(b"pile br\xfcl\xe9")
        shown = "pile br\ufffdl\ufffd"
        self.assertEqual(json.loads(self.run_program("info", latin, "--json")[0])["name"], shown)
        self.assertIn(shown, self.run_program("info", latin)[0])
        done = subprocess.run([PROGRAM, "check", latin], capture_output=True, timeout=60, check=True)
        self.assertIn(shown.encode(), done.stdout)
        result = json.loads(self.run_program("solve", latin, "--solver", "pgj", "--json", "-o",
                                             "run.h5")[0])
        self.assertEqual(result["instance"], shown)
        for words in (("check", "run.h5"), ("info", "run.h5"), ("info", "run.h5", "--json")):
            self.assertIn("pile br", self.run_program(*words)[0])
        self.write("s.yaml", "name: s\nproblems: '*.h5'\nsolvers: [pgj, vipm]\nselect: {contacts: 3}\n")
        os.unlink(self.path("run.h5"))
        self.run_program("run", "s.yaml", "-o", "out")
        self.run_program("run", "s.yaml", "-o", "out", "--resume", "--json")
        self.run_program("report", "out")
        self.run_program("compare", "out", "out")
        out, err = self.run_program("info", b"n\xfc.h5", code=BAD_INPUT)
        self.assertEqual((out, err[:11]), ("", "ccpbench: n"))
        self.assertIn("\ufffd", err)

    def test_a_locked_file_is_not_called_damaged(self):
        path = self.scene("stack")
        with open(path, "r+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            for words in (("info", path), ("check", path), ("solve", path, "--solver", "pgj")):
                self.refused(*words, parts=["that can be read now", "has locked"])


class Info(CommandLine):
    """`info` says what every kind of file is."""

    def both(self, path):
        text = self.run_program("info", path)[0]
        out = json.loads(self.run_program("info", path, "--json")[0])
        self.assertRegex(text, r"\nkind +|^kind +")
        return text, out

    def test_results(self):
        self.run_program("solve", self.scene("stack"), "--solver", "pgj[omega=0.25]", "--targets",
                         "error=1e-3,dual=1e-300", "-o", "run.h5", "--quiet", "--keep-gamma")
        text, out = self.both("run.h5")
        expected = {"name": "stack", "kind": "result", "contacts": 3, "bodies": 3,
                    "solver": "pgj[omega=0.25]", "law": "convex", "start": "cold",
                    "stop": "residual=1e-06", "stop_reached": True, "impulses": True, "study": ""}
        self.assertLessEqual(expected.items(), out.items())
        self.assertLessEqual(out["measures"]["residual"], 1e-6)
        self.assertEqual([t["time"] is None for t in out["targets"]], [False, True])
        self.assertIn("solve", out["provenance"]["command_line"])
        for part in ("result of a run", "pgj[omega=0.25] (convex law)", "residual=1e-06: reached",
                     "3 contacts, 3 bodies", "error=0.001", "commit", "solve"):
            self.assertIn(part, text)
        self.run_program("solve", "stack.h5", "--solver", "pgj", "--max-outer", "2", "-o", "bad.h5",
                         "--quiet", code=NOT_REACHED)
        self.assertIn("NOT reached", self.both("bad.h5")[0])
        with open(self.path("run.h5"), "r+b") as stream:
            stream.truncate(2000)
        self.refused("info", "run.h5", parts=["truncated or damaged"])

    def test_sequences_systems_and_tables(self):
        self.run_program("generate", "column", "--spheres", "2", "--steps", "2", "-o", "seq.h5")
        text, out = self.both("seq.h5")
        self.assertEqual((out["kind"], out["name"], len(out["steps"])), ("sequence", "seq", 2))
        self.assertIn("sequence of 2 time steps", text)
        self.run_program("generate", "pile", "--spheres", "20", "-o", "pile.h5")
        self.assertEqual(self.both("pile.h5")[1]["kind"], "problem")
        self.run_program("freeze-systems", "pile.h5", "--at", "1,2", "-o", "systems.h5")
        text, out = self.both("systems.h5")
        self.assertEqual((out["kind"], out["name"], out["outer"], out["space"]),
                         ("systems", "pile", [1, 2], "contact"))
        self.assertEqual(out["unknowns"], 3 * out["contacts"])
        self.assertIn("2 frozen linear systems", text)
        self.run_program("precond", "systems.h5", "-o", "precond.h5", "--quiet")
        text, out = self.both("precond.h5")
        self.assertEqual((out["kind"], out["name"], len(out["rows"])), ("precond", "pile", 4))
        self.assertIn("cg with block_diagonal: converged", text)
        self.run_program("simulate", "column", "--spheres", "2", "--iterations", "5", "--quiet", "-o", "t.h5")
        text, out = self.both("t.h5")
        self.assertEqual((out["kind"], len(out["rows"])), ("columns", 3))
        self.assertIn("2 spheres", text)

    def test_lists_of_names(self):
        out, _ = self.run_program("list", "solvers", "vipm")
        self.assertTrue(out.startswith("vipm "), out)
        self.assertIn("tolerance=", out)
        self.assertNotIn("\npgj ", out)
        rows = json.loads(self.run_program("list", "measures", "energy", "residual", "--json")[0])
        self.assertEqual({row["name"] for row in rows}, {"energy", "residual"})
        for kind in ("solvers", "preconditioners", "measures", "scenes", "studies", "importers", "pairs"):
            rows = json.loads(self.run_program("list", kind, "--json")[0])
            name = rows[-1].get("id") or rows[-1]["name"]
            one = json.loads(self.run_program("list", kind, name, "--json")[0])
            self.assertEqual(one, rows[-1:], kind)
        self.assertIn("spheres=2048", self.run_program("list", "scenes", "pile")[0])


class Completion(CommandLine):
    """What the shells' scripts are told."""

    def complete(self, *words):
        lines = self.run_program("--complete", *words)[0].splitlines()
        return {line.split("\t")[0] for line in lines}

    def names(self, kind):
        return {row.get("id") or row["name"]
                for row in json.loads(self.run_program("list", kind, "--json")[0])}

    def test_words(self):
        solvers, measures = self.names("solvers"), self.names("measures")
        problems = self.names("problems") | {":files"}
        equal = {name + "=" for name in measures}
        for words, expected in (
                (["so"], {"solve"}),
                (["generate", "p"], {"pile", "pyramid", "particle"}),
                (["generate", "scene", ""], self.names("scenes")),
                (["solve", "--time"], {"--time-limit"}),
                (["solve", "-s", ""], solvers), (["solve", "x.h5", "--solver", "vi"], {"vipm"}),
                (["solve", "--solver=vi"], {"--solver=vipm"}),
                (["solve", "--solver", "=", "vi"], {"vipm"}),  # as bash splits it
                (["solve", "--stop", ""], equal), (["solve", "--stop", "ener"], {"energy="}),
                (["solve", "--targets", "error=1e-3,ener"], {"error=1e-3,energy="}),
                (["solve", "--law", ""], {"convex", "coulomb"}),
                (["solve", ""], problems), (["info", ""], problems), (["certify", ""], problems),
                (["solve", "stack", "--threads", "1", "--qui"], {"--quiet"}),
                (["solve", "x.h5", "--time-limit", ""], set()),
                (["run", ""], self.names("studies") | {":files"}),
                (["solve", "x.h5", "-o", ""], {":files"}),
                (["report", "d", "--measure", "resid"], {"residual"}),
                (["precond", "s.h5", "--preconditioner", "none,block_ic"],
                 {"none,block_ic0", "none,block_ic1"}),
                (["precond", "s.h5", "--krylov", "gm"], {"gmres"}),
                (["import", "fclib", "--form", ""], {"auto", "bodies", "assembled"}),
                (["list", "solv"], {"solvers"}), (["list", "solvers", ""], solvers),
                (["list", "measures", "residual", "ener"], {"energy"}),
                (["manual", "--completion", ""], {"bash", "zsh", "fish"})):
            with self.subTest(words=words):
                self.assertEqual(self.complete(*words), expected)
        self.assertLessEqual({"list", "solve", "generate", "run", "info"}, self.complete(""))

    def test_every_visible_option_and_no_other(self):
        for command in (["solve"], ["run"], ["generate", "pile"], ["export", "vtk"], ["precond"]):
            text, _ = self.run_program(*command, "--help")
            shown = set(re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", text, flags=re.MULTILINE))
            self.assertEqual(self.complete(*command, "--"), shown)
        for secret in ("--report", "--parent", "--folder", "--study", "--grace"):
            self.assertNotIn(secret, self.complete("solve", "--") | self.complete("run", "--"))
            self.assertNotIn(secret.replace("-", "\\-") + "\\fR", self.run_program("manual", "--page")[0])

    def shell(self, shell, *words):
        if shutil.which(shell) is None:
            self.skipTest(f"no {shell}")
        done = subprocess.run([shell, *words], text=True, capture_output=True, timeout=60, check=False,
                              cwd=self.folder,
                              env={**os.environ, "PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"],
                                   "HOME": self.folder})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def script(self, shell):
        path = self.path("script." + shell)
        self.write("script." + shell, self.run_program("manual", "--completion", shell)[0])
        return path

    def test_bash(self):
        self.assertEqual(self.run_program("manual", "--completion")[0],
                         self.run_program("manual", "--completion", "bash")[0])
        script = self.script("bash")
        self.write("my problem.h5", "")
        for typed, expected in (("ccpbench so", {"solve"}), ("ccpbench solve x -s vi", {"vipm"}),
                                ("ccpbench solve --stop ener", {"energy="}),
                                ("ccpbench solve x -o my", {"my problem.h5"}),
                                ("ccpbench solve x --solver = vi", {"vipm"})):
            out = self.shell("bash", "-c", f"source {script}; COMP_WORDS=({typed}); "
                             f"COMP_CWORD={len(typed.split()) - 1}; _ccpbench; "
                             "printf '%s\\n' \"${COMPREPLY[@]}\"")
            self.assertEqual(set(out.splitlines()), expected, typed)

    def test_fish(self):
        script = self.script("fish")
        for typed, expected in (("ccpbench so", {"solve"}), ("ccpbench solve x -s vi", {"vipm"}),
                                ("ccpbench solve --stop ener", {"energy="})):
            out = self.shell("fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'")
            self.assertEqual({line.split("\t")[0] for line in out.splitlines()}, expected, typed)

    def test_zsh(self):
        script = self.script("zsh")
        # Without a terminal: what the function hands to zsh's own.
        for typed, expected in (("ccpbench so", "described solve"), ("ccpbench solve x -s vi", "vipm"),
                                ("ccpbench solve --stop ener", "energy=")):
            words = typed.split()
            out = self.shell("zsh", "-f", "-c", "compdef() { : }; compadd() { print -- ${@[-1]} }; "
                             "_describe() { print described ${(P)2%%:*} }; _files() { print files }; "
                             f"source {script}; words=({typed}); CURRENT={len(words)}; _ccpbench")
            self.assertEqual(out.strip(), expected, typed)


class Studies(CommandLine):
    def study(self, *lines, name="study.yaml"):
        self.scene("stack")
        self.scene("v-groove")
        self.write(name, "\n".join(["name: demo", *lines, ""]))
        return self.path(name)

    two_scenes = ("problems: [stack.h5, v-groove.h5]", "time_limit: 10", "targets: [error=1e-3]")

    def test_a_run_is_told_by_the_residual_of_its_law(self):
        study = self.study(*self.two_scenes, "solvers: [vipm, 'pgs[law=coulomb]']")
        lines = self.run_program("run", study, "-o", self.path("out"))[0].splitlines()
        lines += self.run_program("run", study, "-o", self.path("out"), "--resume", "--json")[0].splitlines()
        for line in lines:
            if "law=coulomb" in line:
                self.assertRegex(line, r'coulomb_residual"?[: ]+\d\.?\d*e-')
                self.assertNotRegex(line, r'[ "]residual|error"?[: ]+\d')
            elif "vipm" in line:
                self.assertRegex(line, r'[ "]residual"?[: ]+\d')
                self.assertRegex(line, r'error"?[: ]+\d')

    def test_run_resume_and_change(self):
        study = self.study(*self.two_scenes, "solvers: [pgj, ipm]")
        out, _ = self.run_program("run", study, "-o", self.path("out"))
        self.assertIn("4 runs", out)
        self.assertIn("4 reached", out)
        self.assertEqual(len([line for line in out.splitlines() if line.startswith("[")]), 4)
        names = self.results("out")
        self.assertEqual(len(names), 4)
        self.assertEqual(sorted(os.listdir(self.path("out"))), names)
        self.run_program("check", *(self.path("out/" + n) for n in names))
        before = {n: self.read("out/" + n) for n in names}

        self.refused("run", study, "-o", self.path("out"), parts=["--resume", "--force", "existing file"])

        out, _ = self.run_program("run", study, "-o", self.path("out"), "--resume")
        self.assertIn("(4 kept from before)", out)
        self.assertEqual({n: self.read("out/" + n) for n in names}, before)

        # However the study is named, and from wherever.
        out, _ = self.run_program("run", "study.yaml", "-o", "out", "--resume", cwd=self.folder)
        self.assertIn("(4 kept from before)", out)
        self.assertEqual(self.results("out"), names)

        # Another option: only its runs are new.
        self.study(*self.two_scenes, "solvers: ['pgj[omega=0.2]', ipm]")
        out, _ = self.run_program("run", study, "-o", self.path("out"), "--resume")
        self.assertIn("(2 kept from before)", out)
        self.assertEqual(len(self.results("out")), 6)

        # Another limit: everything is made again, in place.
        self.study(*self.two_scenes, "solvers: [pgj, ipm]", "stop: residual=1e-7")
        out, _ = self.run_program("run", study, "-o", self.path("out"), "--resume", "--dry-run")
        self.assertEqual(out.count("to run: made with other settings: stop (residual=1e-06 -> "), 4)
        self.assertEqual({n: self.read("out/" + n) for n in names}, before)
        out, _ = self.run_program("run", study, "-o", self.path("out"), "--resume")
        self.assertIn("(0 kept from before)", out)
        self.assertEqual(len(self.results("out")), 6)

        out, _ = self.run_program("run", study, "-o", self.path("out"), "--force", "--quiet")
        self.assertEqual(out, "")

    def test_report_and_compare(self):
        study = self.study(*self.two_scenes, "solvers: [pgj, ipm]")
        self.run_program("run", study, "-o", self.path("out"))
        out, _ = self.run_program("report", "out", "-o", "page.html", "--title", "Two scenes")
        self.assertIn("wrote page.html (4 runs)", out)
        self.assertIn(b"<title>Two scenes</title>", self.read("page.html"))
        out, _ = self.run_program("compare", "out", "out")
        self.assertIn("4 same", out)
        pairs = json.loads(self.run_program("compare", "out", "out", "--json")[0])["pairs"]
        self.assertEqual({pair["verdict"] for pair in pairs}, {"same"})
        out, err = self.run_program("report", "nowhere", code=BAD_INPUT)
        self.assertIn("no such folder", err)
        _, err = self.run_program("report", "out", code=BAD_INPUT,
                                  env={"CCPBENCH_SCRIPTS_DIR": self.folder})
        self.assertIn("CCPBENCH_SCRIPTS_DIR says where it is", err)
        out, _ = self.run_program("check", "out")
        self.assertEqual(out.count(": good (result, "), 4)

    def test_dry_run_writes_nothing(self):
        study = self.study(*self.two_scenes, "solvers: [pgj]")
        out, _ = self.run_program("run", study, "-o", self.path("out"), "--dry-run")
        self.assertEqual(out.count("to run: no result yet"), 2)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_starts(self):
        self.scene("stack")
        self.write("study.yaml", "name: s\nproblems: stack.h5\nsolvers: [pgj, ipm]\n"
                   "starts: [cold, reference, reference*0.9]\ntime_limit: 5\nstop: residual=1e-5\n")
        self.run_program("run", "study.yaml", "-o", "out")
        starts = []
        for name in self.results("out"):
            with h5py.File(os.path.join(self.path("out"), name)) as file:
                starts.append((file.attrs["solver_id"], file.attrs["start"]))
        self.assertEqual(sorted(starts), [("ipm", "cold"), ("pgj", "cold"), ("pgj", "reference"),
                                          ("pgj", "reference*0.9")])
        self.write("bad.yaml", "name: s\nproblems: stack.h5\nsolvers: pgj\nstarts: previous\n")
        self.refused("run", "bad.yaml", parts=["stack.h5", "one of cold, reference", "'previous'"])
        self.write("bad.yaml", "name: s\nproblems: stack.h5\nsolvers: ipm\nstarts: reference\n")
        self.refused("run", "bad.yaml", parts=["starts", "'cold' too"])

    def test_not_reached(self):
        study = self.study("problems: [stack.h5]", "solvers: ['pgj[max_iterations=2]', pgj]")
        out, _ = self.run_program("run", study, "-o", self.path("out"), code=NOT_REACHED)
        self.assertIn("1 reached", out)
        self.assertIn("1 did not", out)

    def test_bad_studies(self):
        study = self.study("problems: [stack.h5]", "solver: [pgj]")
        self.refused("run", study, "-o", self.path("out"),
                     parts=[study, "line 3", "unknown key 'solver'", "did you mean 'solvers'?"])
        self.refused("run", "no-such-study", parts=["no-such-study", "no such file"])
        study = self.study("problems: [stack.h5]", "solvers: [pgj]")
        self.refused("run", study, "-o", self.path("stack.h5/out"), parts=["folder"])
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_damaged_result_is_made_again(self):
        study = self.study("problems: [stack.h5]", "solvers: [pgj]")
        self.run_program("run", study, "-o", self.path("out"))
        name = "out/" + self.results("out")[0]
        with open(self.path(name), "r+b") as stream:
            stream.truncate(1000)
        out, _ = self.run_program("run", study, "-o", self.path("out"), "--resume")
        self.assertIn("(0 kept from before)", out)
        self.run_program("check", self.path(name))

    def test_a_killed_run_becomes_a_row(self):
        study = self.study("problems: [stack.h5]", "solvers: ['pgj[tolerance=0]']",
                           "stop: residual=1e-30", "time_limit: 60")
        with subprocess.Popen([PROGRAM, "run", study, "-o", self.path("out")], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as parent:
            children = f"/proc/{parent.pid}/task/{parent.pid}/children"
            child = ""
            for _ in range(500):
                time.sleep(0.01)
                with open(children, encoding="ascii") as stream:
                    child = stream.read().strip()
                if child:
                    break
            self.assertNotEqual(child, "")
            time.sleep(0.3)
            os.kill(int(child), signal.SIGKILL)
            out, _ = parent.communicate(timeout=60)
        self.assertEqual(parent.returncode, CRASHED, out)
        self.assertIn("signal 9", out)
        self.assertIn("1 crashed", out)
        names = self.results("out")
        self.assertEqual(sorted(os.listdir(self.path("out"))), names)  # no half-written file
        self.assertEqual(len(names), 1)
        with h5py.File(self.path("out/" + names[0])) as file:
            self.assertEqual(file.attrs["status"], "crashed")
            self.assertEqual(file.attrs["instance"], "stack")
        out, _ = self.run_program("run", study, "-o", self.path("out"), "--resume", code=CRASHED)
        self.assertIn("(1 kept from before)", out)


class Systems(CommandLine):
    """freeze-systems and precond."""

    def setUp(self):
        super().setUp()
        self.run_program("generate", "pile", "--spheres", "40", "--contacts", "120", "--flow-dt",
                         "0.01", "-o", "pile.h5")

    def freeze(self, at="2,6", **rest):
        return self.run_program("freeze-systems", "pile.h5", "--at", at, "-o", "systems.h5",
                                "--force", **rest)[0]

    def test_freeze_check_and_precond(self):
        self.assertIn("systems.h5: 2 systems of 120 contacts", self.freeze())
        self.assertIn("good (2 systems of pile, 120 contacts)",
                      self.run_program("check", "systems.h5")[0])
        arguments = ["precond", "systems.h5", "--krylov", "cg,bicgstab,cholmod", "--preconditioner",
                     "none,block_ic0,iluk[level=1],ilut", "--tolerance", "1e-8"]
        out = json.loads(self.run_program(*arguments, "--json", "-o", "precond.h5")[0])
        self.assertEqual(len(out["rows"]), 2 * (2 * 4 + 1))
        for row in out["rows"]:
            if row["status"] == "refused":
                self.assertEqual((row["method"], row["preconditioner"]), ("cg", "ilut"))
                continue
            self.assertEqual(row["status"], "converged", row)
            self.assertLess(row["residual"], 2e-8)
            if row["method"] != "cholmod":
                self.assertLess(row["eigenvalue_low"], row["eigenvalue_high"])
                self.assertEqual(row["eigenvalue_method"],
                                 "arnoldi" if row["preconditioner"] == "ilut" else "lanczos")
        self.assertIn("good (precond result, 18 rows)",
                      self.run_program("check", "precond.h5")[0])
        with h5py.File(self.path("precond.h5")) as file:
            self.assertEqual(file.attrs["format"], "ccpbench-precond")
            self.assertEqual(list(file["rows/iterations"]),
                             [row["iterations"] for row in out["rows"]])
            self.assertIn("commit", file["provenance"].attrs)
        table, _ = self.run_program(*arguments)
        for word in ("system 2", "system 6", "iluk[level=1]", "eig low", "refused"):
            self.assertIn(word, table)

    def test_the_systems_file_is_what_its_description_says(self):
        """A from the files alone, as docs/frozen-systems.md builds it, has the spectrum that
        precond finds and b in its range."""
        sys.path.insert(0, os.path.join(SOURCE, "docs", "examples"))
        self.addCleanup(sys.path.pop, 0)
        from read_problem import contact_velocity
        self.freeze("4")
        with h5py.File(self.path("pile.h5")) as problem, \
                h5py.File(self.path("systems.h5")) as file:
            self.assertEqual(file.attrs["instance_hash"], problem.attrs["content_sha256"])
            mu, r = problem["ccp/mu"][()], problem["ccp/r"][()]
            n = len(mu)
            columns = [contact_velocity(problem, unit.reshape(n, 3)) - r for unit in np.eye(3 * n)]
            matrix = np.array(columns).reshape(3 * n, 3 * n)
            w, det = file["systems/w"][0], file["systems/det"][0]
            rho, b = file["regularization"][:], file["systems/rhs"][0]
        t = np.stack([mu, np.ones_like(mu), np.ones_like(mu)], axis=1)
        p = w[:, :, None] * w[:, None, :] - det[:, None, None] * np.diag([1.0, -1.0, -1.0])
        block = t[:, :, None] * p * t[:, None, :]
        block[:, [0, 1, 2], [0, 1, 2]] += rho[:, [0, 1, 1]]
        for c in range(n):
            matrix[3 * c:3 * c + 3, 3 * c:3 * c + 3] += block[c]
        spectrum = np.linalg.eigvalsh(matrix)
        self.assertGreater(spectrum[0], 0)
        self.assertEqual(b.shape, (n, 3))
        out = json.loads(self.run_program("precond", "systems.h5", "--preconditioner", "none",
                                          "--eigenvalue-steps", "300", "--json")[0])
        row = out["rows"][0]
        self.assertLess(abs(row["eigenvalue_high"] / spectrum[-1] - 1), 1e-6)
        self.assertLess(abs(row["eigenvalue_low"] / spectrum[0] - 1), 1e-3)

    def test_systems_of_other_solvers(self):
        for solver in ("vipm[linear_solver=cg]", "ssn[linear_solver=cg]"):
            with self.subTest(solver=solver):
                self.run_program("freeze-systems", "pile.h5", "--solver", solver, "--at", "1,3",
                                 "-o", "body.h5", "--force")
                self.assertIn("good (2 systems of pile, 120 contacts)",
                              self.run_program("check", "body.h5")[0])
                out = json.loads(self.run_program(
                    "precond", "body.h5", "--krylov", "cg,cholmod", "--preconditioner",
                    "none,block_jacobi,block_ic0,block_ic1", "--tolerance", "1e-8", "--json")[0])
                self.assertEqual((out["space"], out["block_size"]), ("body", 3))
                self.assertEqual({row["status"] for row in out["rows"]}, {"converged"})
                steps = {row["preconditioner"]: row["iterations"] for row in out["rows"]}
                self.assertLess(steps["block_ic1"], steps["block_ic0"])
                self.assertLess(steps["block_ic0"], steps["none"])
                table, _ = self.run_program("precond", "body.h5")
                self.assertIn("of 3 in body space", table)

    def test_what_is_not_met_is_said(self):
        self.assertIn("1 system of 120 contacts; the solve ended as",
                      self.freeze("3,99999", code=NOT_REACHED))
        self.assertIn("the solve ended as", self.freeze("all"))
        self.refused("freeze-systems", "pile.h5", "--at", "99999", "-o", "none.h5",
                     parts=["one of the iterations asked for"])
        self.assertFalse(os.path.exists(self.path("none.h5")))

    def test_bad_input(self):
        self.freeze()
        freeze = ["freeze-systems", "pile.h5", "-o", "x.h5"]
        precond = ["precond", "systems.h5"]
        for arguments, parts in (
                ([*freeze, "--at", "5:1"], ["--at", "0:40:2", "'5:1'"]),
                ([*freeze, "--at", "1", "--solver", "pgj"], ["solver pgj", "ipm[...]"]),
                ([*freeze, "--at", "1", "--solver", "ipm[preconditioner=none,level=1]"],
                 ["option level"]),
                (["freeze-systems", "pile.h5", "--at", "1", "-o", "systems.h5"],
                 ["existing file"]),
                ([*precond, "--preconditioner", "block_ic"],
                 ["unknown preconditioner", "did you mean 'block_ic0'?"]),
                ([*precond, "--preconditioner", "iluk[levl=1]"], ["did you mean 'level'?"]),
                ([*precond, "--preconditioner", "none,"], ["--preconditioner"]),
                ([*precond, "--krylov", "gmress"], ["did you mean 'gmres'?"]),
                ([*precond, "--operator", "dense"], ["--operator", "matrix_free"]),
                ([*precond, "--problem", "nowhere.h5"], ["nowhere.h5", "no such file"]),
                (["precond", "pile.h5"], ["'ccpbench-systems'", "'ccpbench-problem'"]),
                (["precond", "nothing.h5"], ["no such file"])):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, parts=parts)

    def test_moved_and_foreign_problems(self):
        self.freeze()
        os.mkdir(self.path("there"))
        os.rename(self.path("pile.h5"), self.path("there/moved.h5"))
        self.refused("precond", "systems.h5", parts=["--problem says where else"])
        self.run_program("precond", "systems.h5", "--problem", "there/moved.h5")
        self.refused("precond", "systems.h5", "--problem", self.scene("stack"),
                     parts=["content hash"])
        whole = self.read("systems.h5")
        with open(self.path("cut.h5"), "wb") as stream:
            stream.write(whole[:len(whole) // 2])
        self.refused("precond", "cut.h5", parts=["truncated or damaged"])


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit("set CCPBENCH to the built program")
    unittest.main(verbosity=2)
