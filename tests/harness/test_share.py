#!/usr/bin/env python3
"""scripts/export and scripts/merge on made-up result files."""
import csv
import os
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
        write_result(self.b / "1.h5", referee_version=2)
        self.assertIn("only results of the newest",
                      self.script("merge", "a", "b", "-o", "y", expect=1)[1])
        with h5py.File(self.folder / "y/1__a.h5") as file:
            self.assertEqual(file.attrs["machine"], "a")
            np.testing.assert_array_equal(file["curve/outer"], [0, 100, 200, 300])


if __name__ == "__main__":
    unittest.main()
