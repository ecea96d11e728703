#!/usr/bin/env python3
"""scripts/export and scripts/merge on made-up result files."""
import csv
import os
import re
import sys
import unittest

from folder_case import ROOT, FolderCase

from made_up import IPM, PGJ, h5py, np, write_result

sys.path.insert(0, str(ROOT / "scripts/python"))
from ccpbench import export, results


class ShareTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.folder / "a", self.folder / "b"
        self.a.mkdir()
        self.b.mkdir()

    def rows(self, path):
        with (self.folder / path).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


class ExportTest(ShareTest):
    def test_a_row_per_run(self):
        write_result(self.a / "1.h5", message='it says "no",\nand more')
        write_result(self.a / "2.h5", IPM, status="crashed", time=(), error=())
        output, _ = self.script("export", "csv", "a")
        self.assertEqual(output, "wrote a/runs.csv (2 runs)\n")
        one, two = self.rows("a/runs.csv")
        self.assertEqual((one["solver"], one["message"]), (PGJ, 'it says "no",\nand more'))
        self.assertEqual((one["reached"], one["krylov"], one["final_velocity"]), ("True", "", ""))
        self.assertEqual(float(one["final_error"]), 0)
        self.assertEqual([one["time_to error=5e-2"], one["time_to error=1e-3"]], ["1.0", "2.0"])
        self.assertEqual((two["status"], two["final_error"], two["outer"]), ("crashed", "", ""))
        self.assertEqual(sorted(os.listdir(self.a)), ["1.h5", "2.h5", "runs.csv"])

    def test_the_program_starts_it(self):
        write_result(self.a / "1.h5")
        self.assertIn("(1 runs)", self.run_program("export", "csv", "a", "-o", "x.csv", "--curves"))
        self.assertEqual(len(self.rows("x.csv")), 4)
        self.assertIn("1 of b", self.run_program("merge", "b=a", "-o", "all"))
        self.run_program("export", "csv", "nowhere", expect=1)
        self.run_program("merge", "a", expect=2)

    def test_a_row_per_look(self):
        """With all digits."""
        write_result(self.a / "1.h5", time=(0, 1 / 3), error=(1, 1 / 7))
        self.script("export", "csv", "a", "--curves", "-o", "new/looks.csv")
        first, second = self.rows("new/looks.csv")
        self.assertEqual((float(second["time"]), float(second["error"])), (1 / 3, 1 / 7))
        self.assertEqual(first["look"], "0")

    def test_parquet(self):
        write_result(self.a / "1.h5")
        try:
            import pyarrow.parquet
        except ImportError:
            _, errors = self.script("export", "parquet", "a", expect=1)
            self.assertIn("pip install 'ccpbench[parquet]'", errors)
            return
        export.write_parquet(self.folder / "x.parquet", [{"a": 1, "b": None}, {"a": 2, "b": 0.5}])
        table = pyarrow.parquet.read_table(self.folder / "x.parquet")
        self.assertEqual(table.to_pydict(), {"a": [1, 2], "b": [None, 0.5]})

    def test_nothing_to_write(self):
        self.assertIn("no such folder", self.script("export", "csv", "nowhere", expect=1)[1])
        self.assertIn("no result file", self.script("export", "csv", "a", expect=1)[1])
        write_result(self.a / "1.h5")
        self.assertIn("another name", self.script("export", "csv", "a", "-o", "a/1.h5",
                                                  expect=1)[1])
        (self.a / "2.h5").write_text("no HDF5\n")
        self.assertIn("skipped a/2.h5", self.script("export", "csv", "a", expect=1)[1])
        self.assertEqual(len(self.rows("a/runs.csv")), 1)
        self.script("export", "xls", "a", expect=2)


class MergeTest(ShareTest):
    def test_machines_are_never_averaged(self):
        """Two machines whose provenance is the same, with equal files of different times."""
        for number in (1, 2):
            write_result(self.a / f"{number}.h5", repetition=number)
            write_result(self.b / f"{number}.h5", repetition=number, time=(0, 5, 10, 20))
        output, _ = self.script("merge", "a", "fast=b", "-o", "all")
        self.assertIn("wrote 4 runs to all: 2 of a, 2 of fast", output)
        runs, faults = results.read_folder(self.folder / "all")
        self.assertEqual(faults, {})
        series = next(iter(results.group(runs).values()))
        self.assertEqual({label: (len(one.runs), one.first("time", "error", 1e-3))
                          for label, one in series.items()},
                         {f"{PGJ} machine a": (2, 2), f"{PGJ} machine fast": (2, 20)})
        # The sources are as they were, and alone they have no machine in their labels.
        self.assertEqual(list(next(iter(results.group(
            results.read_folder(self.a)[0]).values()))), [PGJ])
        # Merged with a third one, they stay who they are; a comparison pairs machine with machine.
        third = self.folder / "third"
        third.mkdir()
        write_result(third / "1.h5", time=(0, 1, 1, 1))
        self.script("merge", "all", "third", "-o", "more")
        runs, _ = results.read_folder(self.folder / "more")
        self.assertEqual({run.machine for run in runs}, {"a", "fast", "third"})
        output, _ = self.script("compare", "all", "more")
        verdicts = [line.split()[0] for line in output.splitlines() if line.startswith("same")]
        self.assertEqual(len(verdicts), 2)
        self.assertIn(f"{PGJ} machine third", output)
        self.script("plot", "more", "--format", "png")

    def test_what_cannot_be_merged(self):
        write_result(self.a / "1.h5")
        self.assertIn("found a twice", self.script("merge", "a", "a", "-o", "x", expect=2)[1])
        self.assertIn("without result files", self.script("merge", "a", "-o", "a", expect=1)[1])
        self.assertIn("no such folder", self.script("merge", "a", "c", "-o", "x", expect=1)[1])
        self.assertEqual(self.script("merge", "a/1.h5", "b", "-o", "none", expect=1),
                         ("", ("merge: a/1.h5: nothing to merge, a file and not a folder\n"
                              "merge: b: nothing to merge, no result file (*.h5) in it\n")))
        self.assertFalse((self.folder / "none").exists())
        write_result(self.b / "1.h5", referee_version=2)
        self.assertIn("only results of the newest",
                      self.script("merge", "a", "b", "-o", "y", expect=1)[1])
        with h5py.File(self.folder / "y/1__a.h5") as file:
            self.assertEqual(file.attrs["machine"], "a")
            np.testing.assert_array_equal(file["curve/outer"], [0, 100, 200, 300])


class SubmitTest(ShareTest):
    def result(self, name, *words):
        self.run_program("solve", "stack", "--solver", "vipm", "--stop", "residual=1e-8", "-o",
                         f"a/{name}.h5", *words)
        return f"a/{name}.h5"

    def test_what_holds_is_taken(self):
        path = self.result("good", "--keep-gamma")
        said = self.run_program("submit", path, "--to", "b")
        self.assertIn("1 of 1 results judged and copied to b", said)
        run, = results.read_folder(self.b)[0]
        self.assertTrue(run.reached)
        with h5py.File(self.b / "good.h5") as file:
            self.assertIn("referee version", file.attrs["judged_again"])
        self.assertIn("is there", self.run_program("submit", path, "--to", "b", expect=1))

    def test_what_does_not_hold_is_refused(self):
        """In a sentence each; nothing of it enters."""
        def changed(name, change, *words):
            path = self.result(name, *words)
            with h5py.File(self.folder / path, "a") as file:
                change(file)
            return path

        def scale(file):
            file["final/gamma"][...] *= 1.001

        def boast(file):
            file["curve/residual"][-1] = 1e-14

        def other(file):
            file.attrs["instance_hash"] = "00" * 32
        (self.a / "text.h5").write_text("no HDF5")
        for path, words in ((changed("scaled", scale, "--keep-gamma"), "it says .* the referee finds"),
                            (changed("boast", boast, "--keep-gamma"), "residual: it says 1.0+e-14"),
                            (changed("other", other, "--keep-gamma"), "problem that is at hand"),
                            (self.result("bare"), "expected the impulses"),
                            ("a/text.h5", "refused a/text.h5: expected an HDF5 file"),
                            ("a/nowhere.h5", "a/nowhere.h5: no such file"), ("a", "a: expected a file, found a folder")):
            _, errors = self.script("submit", path, "--to", "b", expect=1)
            self.assertRegex(errors, words)
            self.assertEqual(errors.count("\n"), 1)
        self.assertEqual(os.listdir(self.b), [])

    def test_problems_of_a_folder_and_steps(self):
        self.run_program("generate", "column", "--spheres", "4", "--steps", "2", "-o", "steps.h5")
        self.run_program("solve", "steps.h5#1", "--solver", "pgs", "--stop", "residual=1e-6",
                         "--keep-gamma", "-o", "a/step.h5")
        self.script("submit", "a/step.h5", "--to", "b", expect=1)
        self.script("submit", "a/step.h5", "--to", "b", "--problems", ".")
        self.assertEqual(os.listdir(self.b), ["step.h5"])


class ImportFolderTest(ShareTest):
    def test_all_files_of_a_folder(self):
        """Below it, too; what cannot be read is a row of the table with the reason."""
        (self.a / "deep").mkdir()
        data = ROOT / "problems/data"
        for name, source, more in (("stack", "stack", ("--local",)),
                                   ("deep/table", "hyperstatic-table", ("--local",)),
                                   ("slope", "frictionless-slope", ())):
            self.run_program("export", "fclib", data / f"{source}.h5", "-o", f"a/{name}.hdf5", *more)
        (self.a / "bad, really.hdf5").write_text("no HDF5")
        (self.a / "notes.txt").write_text("not looked at")
        errors = self.run_program("import", "fclib", "a", "-o", "all", expect=1)
        self.assertEqual(errors.count("bad, really.hdf5"), errors.count("ccpbench:"))
        rows = self.rows("all/collection.csv")
        self.assertEqual([row["source"] for row in rows],
                         ["bad, really.hdf5", "deep/table.hdf5", "slope.hdf5", "stack.hdf5"])
        self.assertIn("bad, really.hdf5", rows[0]["fault"])
        self.assertEqual([row["problem"] for row in rows],
                         ["", "deep-table.h5", "slope.h5", "stack.h5"])
        self.assertEqual([row["contacts"] for row in rows[1:]], ["4", "1", "3"])
        with h5py.File(self.folder / "all/deep-table.h5") as file:
            self.assertEqual(file.attrs["content_sha256"], rows[1]["sha256"])
        # All of them are instances of a study.
        (self.folder / "s.yaml").write_text("name: s\nproblems: [all/*.h5]\nsolvers: [vipm]\n"
                                            "stop: residual=1e-6\ntime_limit: 10\n")
        self.run_program("run", "s.yaml", "-o", "out")
        runs, _ = results.read_folder(self.folder / "out")
        self.assertEqual({run.instance[1] for run in runs}, {"deep-table", "slope", "stack"})
        self.assertIn("existing file", self.run_program("import", "fclib", "a", "-o", "all", expect=1))
        self.run_program("import", "fclib", "a", "-o", "all", "--force", expect=1)
        self.run_program("import", "fclib", "a", "-o", "x", "--name", "one", expect=1)
        self.run_program("import", "fclib", "out", "-o", "y", expect=1)


class SiteTest(ShareTest):
    def test_pages_link_to_each_other(self):
        """Front page, a page per instance and solver, raw files; every link leads somewhere."""
        write_result(self.a / "1.h5", instance="pile-1", content="01")
        write_result(self.a / "2.h5", IPM, instance="pile-1", content="01")
        write_result(self.a / "3.h5", instance="wall <2>", content="02", status="crashed", time=(),
                     error=(), message="it <fell>")
        write_result(self.a / "4.h5", instance="wall <2>", content="02", law="coulomb",
                     solver="pgs[law=coulomb]", stop="coulomb_residual=1e-3")
        said = self.run_program("report", "a", "--site", "site")
        self.assertIn("4 runs, 2 instances, 3 solvers", said)
        site = self.folder / "site"
        pages = list(site.rglob("*.html"))
        self.assertEqual(len(pages), 6)
        links = 0
        for page in pages:
            text = page.read_text("utf-8")
            self.assertNotIn("<script", text)
            self.assertNotIn("<2>", text)
            for to in re.findall('(?:href|src)="([^"]*)"', text):
                path, _, anchor = to.partition("#")
                target = page.parent / path if path else page
                self.assertTrue(target.exists(), f"{page}: {to}")
                links += 1
                if anchor:
                    self.assertIn(f'id="{anchor}"', target.read_text("utf-8"))
        self.assertGreater(links, 30)
        front = (site / "index.html").read_text("utf-8")
        self.assertNotIn(" 1 instances", front)
        self.assertIn('<div class="classes"><section', front)
        self.assertIn('<section id="class-pile">', front)
        self.assertIn("<svg", front)
        self.assertEqual(len(self.rows("site/runs.csv")), 4)
        self.assertEqual(sorted(os.listdir(site / "raw")), ["1.h5", "2.h5", "3.h5", "4.h5"])
        size = sum(path.stat().st_size for path in site.rglob("*") if path.suffix != ".h5")
        self.assertLess(size, 100_000)
        # Again into the same folder: addresses stay; another folder is left alone.
        self.script("report", "a", "--site", "site")
        self.assertEqual(sorted(site.rglob("*.html")), sorted(pages))
        self.assertIn("found another folder", self.script("report", "a", "--site", "a", expect=1)[1])


if __name__ == "__main__":
    unittest.main()
