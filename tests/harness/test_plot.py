#!/usr/bin/env python3
"""Runs scripts/plot on made-up result files, and the example of docs/result-format.md."""
import re
import subprocess
import sys
import unittest

from folder_case import ROOT, FolderCase

from made_up import IPM, PGJ, h5py, np, write_result

sys.path.insert(0, str(ROOT / "scripts/python"))
from ccpbench import figures, plot, profiles, results, scaling, simulations

PNG, PDF = b"\x89PNG\r\n\x1a\n", b"%PDF-"


class DrawnTest(FolderCase):
    """What the figures say, without pixels."""

    def table(self):
        self.runs, faults = results.read_folder(self.folder)
        self.assertEqual(faults, {})
        return results.group(self.runs)

    def test_a_curve_ends_where_a_run_ended(self):
        """Three repetitions that end at 2, 4 and 20 s, the last one short of its stop."""
        for number, (time, error, status) in enumerate((
                ((0, 1, 2), (1, 1e-2, 1e-4), "stopped_by_observer"),
                ((0, 2, 4), (1, 1e-2, 1e-5), "stopped_by_observer"),
                ((0, 10, 20), (1, 1e-1, 1e-2), "time_limit")), 1):
            write_result(self.folder / f"{number}.h5", repetition=number, time=time, error=error,
                         status=status)
        one, = next(iter(self.table().values())).values()
        curve = figures.median_curve(one, "error", "time")
        assert curve and curve.band
        np.testing.assert_allclose(curve.x, [2, 4])
        np.testing.assert_allclose(curve.y, [1e-2, 1e-5])
        x, low, high = curve.band
        # 1 to 2 s: the first alone; 2 to 4 s: the second alone, with both values at its ends;
        # none from 4 to 10 s, where nothing runs that has begun; then the third.
        np.testing.assert_allclose(x, [1, 2, 2, 4, 4, 10, 10, 20], rtol=1e-12)
        for edge in (low, high):
            np.testing.assert_allclose(edge, [1e-2, 1e-4, 1e-2, 1e-5, np.nan, np.nan, 1e-1, 1e-2])

    def test_a_band_spans_what_still_runs(self):
        for number, time in enumerate(((0, 1, 4), (0, 1, 16)), 1):
            write_result(self.folder / f"{number}.h5", repetition=number, time=time,
                         error=(1, 1e-1, 1e-3))
        one, = next(iter(self.table().values())).values()
        curve = figures.median_curve(one, "error", "time")
        assert curve and curve.band
        x, low, high = curve.band
        np.testing.assert_allclose(x, [1, 4, 4, 16])
        np.testing.assert_allclose(low, [1e-1, 1e-3, 1e-2, 1e-3])   # straight on both axes
        np.testing.assert_allclose(high, [1e-1, 1e-2, 1e-2, 1e-3])
        self.assertEqual(curve.x[-1], 16)  # of two the slower one, as the table's median misses

    def test_hollow_is_short_of_the_stop(self):
        """Half of the repetitions is not enough; all markers of a curve are alike."""
        for reached in range(4):
            for number in range(3):
                write_result(self.folder / f"{number}.h5", repetition=number + 1,
                             status="stopped_by_observer" if number < reached else "time_limit")
            table = self.table()
            figure = plot.draw_curves(self.runs, table, [("error", [], True)], None)
            faces = {line.get_markerfacecolor() for line in figure.axes[0].get_lines()}
            self.assertEqual(faces, {"white"} if reached < 2 else {"#0072B2"})

    def two_piles(self):
        """One that both solvers solve, and one that nobody does."""
        for pile in range(2):
            instance = {"instance": f"pile-{pile}", "content": f"0{pile}"}
            end = 1e-4 if pile == 0 else 0.5
            write_result(self.folder / f"a{pile}.h5", time=(0, 1, 2), error=(1, 0.6, end),
                         applies=0, **instance)
            write_result(self.folder / f"b{pile}.h5", IPM, time=(0, 1, 6), error=(1, 0.6, end),
                         krylov=(0, 10, 20), **instance)
        return self.table()

    def test_what_nobody_solves_counts(self):
        """A profile's share is of all instances."""
        table = self.two_piles()
        ratios, count = profiles.performance_profile(table, [IPM, PGJ], "time", "error", 1e-3)
        self.assertEqual((ratios, count), ({IPM: [3], PGJ: [1]}, 2))
        for kind, least in (("profile", 1), ("ecdf", None), ("solved", None)):
            figure = plot.FIGURES[kind](self.runs, table, [("error", [1e-3], True)], None)
            axes = figure.axes[0]
            lines = {line.get_gid(): np.array(line.get_xydata()).tolist()
                     for line in axes.get_lines()}
            self.assertEqual(set(lines), {IPM, PGJ})
            for line in lines.values():
                self.assertEqual(line[-1][1], 1 if kind == "solved" else 0.5, kind)
            if least:
                self.assertEqual(axes.get_xlim()[0], least)
                self.assertEqual(lines[PGJ][0], [1, 0.5])  # the best from the start
                self.assertEqual(lines[IPM][:2], [[1, 0], [3, 0.5]])

    def scaled(self):
        """One solver on piles of 1,000 and 2,000 contacts, on one and two ranks, 300 products each;
        on two ranks the larger pile is not solved. Another solver on one rank only."""
        half = {"ranks": "2", "spent": ([0.3, 0.6], [0.1, 0.2])}
        large = {"instance": "large", "contacts": 2000, "content": "01"}
        for name, end, more in (("a", 3, {"ranks": "1"}), ("b", 1.8, half),
                                ("c", 6, {"ranks": "1", **large}),
                                ("d", 3.75, {**half, **large, "status": "time_limit"})):
            write_result(self.folder / f"{name}.h5", time=(0, 1, 1.5, end),
                         **{"instance": "small", "contacts": 1000, **more})
        write_result(self.folder / "other.h5", IPM, instance="small", contacts=1000, ranks="1")
        return self.table()

    def test_how_ranks_scale(self):
        table = self.scaled()
        weak, small, large = scaling.chains_of(table)
        self.assertEqual([chain.title for chain in (weak, small, large)],
                         ["about 1,000 contacts a rank", "small, 1,000 contacts",
                          "large, 2,000 contacts"])
        for chain in (weak, small, large):
            self.assertEqual(set(chain.lines), {PGJ})  # the other one has nothing to compare with
        self.assertEqual([(point.instance, point.ranks) for point in weak.lines[PGJ]],
                         [("small", 1), ("large", 2)])
        one, two = small.lines[PGJ]
        self.assertEqual(one.parts, {"compute": 0.01, "exchange": 0, "reduction": 0})
        for part, seconds in (("compute", 4e-3), ("exchange", 1.5e-3), ("reduction", 0.5e-3)):
            self.assertAlmostEqual(two.parts[part], seconds)  # means of the two ranks
        figure = plot.draw_scaling(self.runs, table, [], None)
        points = figures.drawn(figure)
        efficiency = {panel: [y for at, name, _, y in points if at == panel and name == PGJ]
                      for panel in (1, 4, 7)}
        np.testing.assert_allclose(efficiency[1], [1, 0.8])
        np.testing.assert_allclose(efficiency[4], [1, 10 / 6 / 2])
        np.testing.assert_allclose(efficiency[7], [1, 6 / 3.75 / 2])
        iterations = {panel: [x for at, _, x, _ in points if at == panel] for panel in (2, 5, 8)}
        self.assertEqual(iterations, {2: [1], 5: [1, 2], 8: [1]})  # where the stop was reached
        parts = {row[2]: row[3] for row in points if row[0] == 6}
        self.assertAlmostEqual(parts["exchange on 2"], 1.5e-3)

    def test_work_that_a_solver_does_not_have_is_not_0(self):
        table = self.two_piles()
        for column, none, one in (("krylov", PGJ, IPM), ("applies", PGJ, IPM)):
            labels = profiles.counted(table, [IPM, PGJ], column)
            self.assertEqual(labels, [one])
            ratios, _ = profiles.performance_profile(table, [IPM, PGJ], column, "error", 1e-3)
            self.assertEqual(ratios, {one: [1], none: []})
        figure = plot.draw_ecdf(self.runs, table, [("error", [1e-3], True)], None)
        self.assertEqual([line.get_gid() for line in figure.axes[1].get_lines()], [IPM])
        # One that is solved before the first iteration has done nothing, whoever it is.
        write_result(self.folder / "a0.h5", time=(0,), error=(1e-4,), instance="pile-0")
        first = next(iter(self.table().values()))
        self.assertEqual(first[PGJ].first("krylov", "error", 1e-3), 0)


class SimulationsTest(FolderCase):
    """A study of simulations: its table, drawn."""

    def write(self, *rows):
        head = "scene,stepper,solver,start,dt,status,message,file,penetration_max,value:height"
        (self.folder / "simulations.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")

    def test_lines_are_schemes_over_steps(self):
        self.write("ball,shake,,previous,0.02,finished,,a.h5,1e-2,-3",
                   "ball,shake,,previous,0.01,finished,,b.h5,1e-3,0",
                   "ball,moreau,pgs,cold,0.01,finished,,c.h5,2e-3,4",
                   "ball,moreau,pgs,cold,0.02,crashed,by signal 11,,,",
                   "top,,,previous,,finished,,d.h5,1,1")
        rows = simulations.read_rows(self.folder)
        self.assertEqual(simulations.lines_of(rows, "ball", "penetration_max"), {
            "shake": [(0.01, 1e-3), (0.02, 1e-2)], "moreau, pgs, from cold": [(0.01, 2e-3)]})
        # Of a value the size; zero has no place on a logarithmic axis.
        self.assertEqual(simulations.lines_of(rows, "ball", "value:height")["shake"], [(0.02, 3)])
        figure = simulations.draw(rows, ["penetration_max", "value:height"], None)
        self.assertEqual([axes.get_title() for axes in figure.axes], ["ball", ""])

    def test_the_script_draws_the_table(self):
        self.write("ball,shake,,previous,0.02,finished,,a.h5,1e-2,-3",
                   "ball,shake,,previous,0.01,finished,,b.h5,1e-3,0")
        out, _ = self.script("plot", str(self.folder), "--format", "png")
        self.assertIn("simulations.png", out)
        self.assertEqual((self.folder / "simulations.png").read_bytes()[:8], PNG)
        _, error = self.script("plot", str(self.folder), "--measure", "value:hight", expect=2)
        self.assertIn("value:height", error)
        self.write("ball,shake,,previous,0.02,killed,after 1 s,,,")
        _, error = self.script("plot", str(self.folder), expect=1)
        self.assertIn("nothing to draw", error)


class PlotTest(FolderCase):

    def plot(self, *arguments, expect=0):
        """Runs scripts/plot on the folder; returns what it printed."""
        done = subprocess.run([sys.executable, ROOT / "scripts/plot", self.folder, *arguments],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout, done.stderr

    def assert_figures(self, name, folder=None):
        for ending, magic in (("png", PNG), ("pdf", PDF)):
            data = ((folder or self.folder) / f"{name}.{ending}").read_bytes()
            self.assertTrue(data.startswith(magic), f"{name}.{ending} is none")
            self.assertGreater(len(data), 5000)

    def row(self, output, solver):
        """The cells of a solver's row in the table."""
        line = next(line for line in output.splitlines() if line.strip().startswith(solver))
        return re.split(r"\s{2,}", line.strip())

    def test_figures_and_table(self):
        write_result(self.folder / "a.h5")
        write_result(self.folder / "b.h5", IPM, time=(0, 0.25, 0.75), error=(1, 0.04, 0.002),
                     krylov=(0, 1000, 2500), status="time_limit")
        output, errors = self.plot()
        self.assertEqual(errors, "")
        self.assert_figures("made-up")
        self.assertIn("small-pile, 1,234 contacts", output)
        # The targets of the measure, and the stop: 5e-2 and 1e-3, but not the residual's.
        self.assertEqual(self.row(output, "solver"), ["solver", "5e-2", "1e-3", "stop", "status"])
        self.assertEqual(self.row(output, PGJ),
                         [PGJ, "1 / 200", "2 / 300", "1/1", "stopped_by_observer"])
        self.assertEqual(self.row(output, IPM),
                         [IPM + " (Krylov)", "0.25 / 1,000", "-", "0/1", "time_limit"])

    def test_the_measure_is_that_of_the_stop(self):
        for number, stop in enumerate(("residual=1e-3", "residual=1e-3,energy=1e-4", "error=1")):
            write_result(self.folder / f"{number}.h5", f"solver{number}", stop=stop)
        self.assertIn("until residual <= target", self.plot("--format", "png")[0])
        self.assertIn("until cost <= target", self.plot("--format", "png", "--measure", "cost")[0])

    def test_same_files_make_same_bytes(self):
        write_result(self.folder / "a.h5")
        figures = []
        for name in ("x", "y/z"):
            self.plot("-o", self.folder / name)
            self.assert_figures("made-up", self.folder / name)
            figures.append([(self.folder / name / f"made-up.{e}").read_bytes()
                            for e in ("png", "pdf")])
        self.assertEqual(*figures)

    def test_panels_are_ordered_by_contacts(self):
        write_result(self.folder / "a.h5", instance="big", contacts=20000)
        write_result(self.folder / "b.h5", instance="small", contacts=50)
        output, _ = self.plot("--format", "png", "--title", "Two piles")
        self.assertLess(output.index("small, 50"), output.index("big, 20,000"))
        self.assertFalse((self.folder / "made-up.pdf").exists())

    def test_repetitions_show_their_median(self):
        for number, factor in enumerate((1, 5, 2), 1):
            write_result(self.folder / f"{number}.h5", time=np.multiply((0, 0.5, 1, 2), factor),
                         repetition=number, status="converged" if number == 2 else
                         "stopped_by_observer")
        output, _ = self.plot()
        self.assertEqual(self.row(output, PGJ)[:4], [PGJ, "2 / 200", "4 / 300", "2/3"])
        self.assertIn("1 converged", output)

    def test_threads_make_different_curves(self):
        write_result(self.folder / "a.h5")
        write_result(self.folder / "b.h5", threads="2", study="another")
        output, _ = self.plot()
        self.assertEqual(self.row(output, PGJ + " threads 1")[-2], "1/1")
        self.assertEqual(self.row(output, PGJ + " threads 2")[-2], "1/1")
        self.assert_figures("results")

    def test_runs_without_a_curve_are_listed(self):
        write_result(self.folder / "a.h5")
        write_result(self.folder / "b.h5", IPM, time=(), error=(), status="crashed")
        write_result(self.folder / "c.h5", "nan", error=(1, np.nan, np.nan, np.nan),
                     status="numerical_error")
        output, _ = self.plot()
        self.assertEqual(self.row(output, IPM)[-3:], ["-", "0/1", "crashed"])
        self.assertEqual(self.row(output, "nan")[-3:], ["-", "0/1", "numerical_error"])
        self.assert_figures("made-up")

    def test_files_that_cannot_be_read_are_skipped(self):
        write_result(self.folder / "good.h5")
        write_result(self.folder / "old.h5", version=0)
        write_result(self.folder / "referee.h5", referee_version=0)
        data = (self.folder / "good.h5").read_bytes()
        (self.folder / "part.h5").write_bytes(data[:len(data) // 2])
        (self.folder / "text.h5").write_text("no HDF5\n")
        with h5py.File(self.folder / "foreign.h5", "w") as file:
            file.attrs["format"] = "ccpbench-problem"
        write_result(self.folder / "incomplete.h5")
        with h5py.File(self.folder / "incomplete.h5", "a") as file:
            del file["curve/krylov"]
        write_result(self.folder / "uneven.h5")
        with h5py.File(self.folder / "uneven.h5", "a") as file:
            del file["curve/time"]
            file["curve/time"] = [0.0, 1.0]
        output, errors = self.plot(expect=1)
        for name, reason in (("old", "schema version: expected 1, found 0"),
                             ("referee", "referee version: expected 1"), ("part", "HDF5"),
                             ("text", "HDF5"), ("foreign", "found 'ccpbench-problem'"),
                             ("incomplete", "krylov"), ("uneven", "/curve/outer")):
            self.assertRegex(errors, rf"skipped \S*{name}\.h5: .*{re.escape(reason)}")
        self.assertEqual(len(errors.splitlines()), 7)
        self.assertIn("small-pile", output)
        self.assert_figures("made-up")

    def test_nothing_to_draw(self):
        _, errors = self.plot(expect=1)
        self.assertIn("no result file (*.h5) in it", errors)
        (self.folder / "text.h5").write_text("no HDF5\n")
        _, errors = self.plot(expect=1)
        self.assertIn("nothing to draw, no other file", errors)
        self.folder /= "nowhere"
        _, errors = self.plot(expect=1)
        self.assertIn("no such folder", errors)

    def test_measure_without_values(self):
        write_result(self.folder / "a.h5")
        _, errors = self.plot("--measure", "velocity", expect=1)
        self.assertIn("no run has a positive value of velocity", errors)
        self.plot("--measure", "residual")

    def test_figures_over_all_instances(self):
        for number in range(3):
            name = {"instance": f"pile-{number}", "content": f"0{number}"}
            write_result(self.folder / f"a{number}.h5", **name)
            write_result(self.folder / f"b{number}.h5", IPM, status="crashed", time=(), error=(),
                         **name)
        self.plot("--figure", "profile,ecdf,solved", "--format", "png")
        for kind in ("profile", "ecdf", "solved"):
            data = (self.folder / f"made-up-{kind}.png").read_bytes()
            self.assertTrue(data.startswith(PNG))
            self.assertGreater(len(data), 5000)
        self.plot("--figure", "profil", expect=2)
        _, errors = self.plot("--figure", "scaling", "--format", "png")
        self.assertIn("no figure scaling: nothing was solved on different numbers of ranks", errors)
        self.assertFalse((self.folder / "made-up-scaling.png").exists())
        for ranks in (1, 2):
            write_result(self.folder / f"on-{ranks}.h5", ranks=str(ranks))
        self.plot("--figure", "scaling", "--format", "png")
        self.assertTrue((self.folder / "made-up-scaling.png").read_bytes().startswith(PNG))

    def test_many_instances_are_put_on_several_pages(self):
        for number in range(7):
            write_result(self.folder / f"{number}.h5", instance=f"pile-{number}",
                         content=f"0{number}")
        self.plot("--format", "png")
        self.assertTrue((self.folder / "made-up-2.png").exists())
        self.assertFalse((self.folder / "made-up-3.png").exists())

    def test_times_that_differ_are_flagged(self):
        for number, factor in enumerate((1, 1.2, 1.4), 1):
            write_result(self.folder / f"{number}.h5", time=np.multiply((0, 0.5, 1, 2), factor),
                         repetition=number)
        self.assertIn("(spread 33%)", self.row(self.plot()[0], PGJ)[-1])

    def test_further_measures_have_a_row_of_their_own(self):
        write_result(self.folder / "a.h5")
        heights = []
        for arguments in ((), ("--with", "residual")):
            self.plot("--format", "png", *arguments)
            data = (self.folder / "made-up.png").read_bytes()
            heights.append(int.from_bytes(data[20:24], "big"))
        self.assertGreater(heights[1], 1.25 * heights[0])
        _, errors = self.plot("--with", "nonsense", expect=2)
        self.assertIn("--with", errors)

    def test_usage(self):
        self.plot("--measure", "eror", expect=2)
        self.plot("--format", "jpg", expect=2)

    def test_example_of_the_documentation(self):
        write_result(self.folder / "a.h5")
        text = (ROOT / "docs/result-format.md").read_text(encoding="utf-8")
        example, = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        done = subprocess.run([sys.executable, "-c", example, "a.h5"], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{PGJ} on small-pile: stopped_by_observer, 2 s", done.stdout)
        self.assertTrue((self.folder / "curve.png").read_bytes().startswith(PNG))


if __name__ == "__main__":
    unittest.main()
