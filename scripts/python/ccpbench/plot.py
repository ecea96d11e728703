"""Draws the results in a folder for papers: curves of a measure against time and iterations and,
with --figure, Dolan-More profiles, shares of targets reached, shares solved to a tolerance, and how
runs on several ranks scale.

Writes NAME.png and NAME.pdf, NAME being the study's name (`results` if the files are of several
studies or of none; NAME-profile.png and so on), and prints when each target was reached.
docs/result-format.md describes the files that are read.

A line is the repetition in the middle by the time that it took (of two the slower one) and ends
where that run did; bands span the repetitions that still run. Hollow markers say that the solve
ended short of its stop. Values that a logarithmic axis cannot show, and the initial guess, are left
out.

A folder of a study of simulations is drawn from its table simulations.csv: simulations.png and
.pdf, what --measure and --with name (default: penetration, opening of joints, iterations) against
the time step.

Exit codes: 0 done; 1 files were skipped (the others are drawn) or nothing is left to draw; 2 usage.
"""
import argparse
import math
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ccpbench.console import complain, end_with_the_reader
from ccpbench.figures import (
    FONT,
    HEIGHT,
    SMALL,
    Sheet,
    axis_label,
    curve_of,
    draw_series,
    limits,
    median_curve,
    save,
    set_ticks,
)
from ccpbench.measures import in_order, known_measures
from ccpbench.profiles import (
    Staircases,
    counted,
    performance_profile,
    run_time_distribution,
    solved_ratio,
)
from ccpbench.results import (
    Run,
    Series,
    Table,
    group,
    labels_of,
    leading_measure,
    read_folder,
    series_of,
    why_nothing,
)
from ccpbench.scaling import chains_of, draw_scaling
from ccpbench.simulations import read_rows, write_figure
from ccpbench.styles import style_of
from ccpbench.tables import number_text, target_table

Row = tuple[str, list[float], bool]  # a measure, its targets, against time (or iterations)

@dataclass
class Panel:
    """Of staircases: the share of `count` that is at most x."""
    title: str
    x_label: str
    stairs: Staircases
    count: int
    least: float = 0.0  # where x begins, if that is known

    def range(self) -> list[float]:
        """Of what the axis has to show."""
        return [value for values in self.stairs.values() for value in [*values, self.least]
                if 0 < value < math.inf]


PER_PAGE = 6  # instances in one figure of curves


def draw_targets(axes: Any, targets: Sequence[float], labelled: bool) -> None:
    """Dashed lines, with labels at the right where there is room for them."""
    bottom, top = np.log(axes.get_ylim())
    last = -math.inf
    for target in sorted(targets):
        axes.axhline(target, color="0.45", linestyle=(0, (3, 2)), linewidth=0.6, zorder=1)
        points = (math.log(target) - bottom) / (top - bottom) * 72 * HEIGHT  # above the x axis
        if labelled and points - last > 0.8 * SMALL:
            axes.annotate(number_text(target), (1, target), (3, 0), va="center", fontsize=SMALL,
                          xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                          color="0.3", annotation_clip=False)
            last = points


def iterations_label(every: Sequence[Series]) -> str:
    """What the lower x axis counts: Krylov iterations are what compares with those of PGJ."""
    krylov, outer = ({one.solver_id for one in every if one.iterations == kind}
                     for kind in ("krylov", "outer"))
    if not krylov or not outer:
        return "Krylov iterations" if krylov else "outer iterations"
    which = "methods that have them" if krylov & outer else ", ".join(sorted(krylov))
    return f"outer iterations (Krylov iterations for {which})"


def draw_row(row: Sequence[Any], table: Table, targets: Sequence[float], measure: str,
             by_time: bool, labels: Sequence[str]) -> tuple[list[float], list[float]]:
    """One row of curve panels, which share their x axis. @return (values drawn, starting values)"""
    heights: list[float] = list(targets)
    starts: list[float] = []
    widths: list[float] = []
    for axes, ((contacts, instance, _), series) in zip(row, table.items(), strict=True):
        axes.set(xscale="log", yscale="log")
        missing = []
        for label, one in series.items():
            curve = median_curve(one, measure, "time" if by_time else one.iterations)
            if curve is None:
                missing.append(f"no curve: {one.solver_id} ({one.status})")
                continue
            draw_series(axes, one, curve, labels.index(label))
            widths += curve.width
            heights += curve.height
            starts.append(float(curve.y[0]))
        if by_time:
            axes.set_title(f"{instance}\n{contacts:,} contacts", fontsize=FONT)
            missing += [f"{one.solver_id}: {one.noise}" for one in series.values() if one.noise]
            axes.text(0.97, 0.96, "\n".join(missing), transform=axes.transAxes, ha="right",
                      va="top", fontsize=SMALL)
    row[0].set(xlim=limits(widths or [1]),
               ylabel=axis_label(measure))
    return heights, starts


def draw_panels(grid: Any, rows: Sequence[Row], table: Table, labels: Sequence[str]) -> None:
    """The curves. @param rows  from above"""
    seen: dict[str, tuple[list[float], list[float]]] = {}
    for axes, (measure, targets, by_time) in zip(grid, rows, strict=True):
        found = draw_row(axes, table, targets, measure, by_time, labels)
        for values, more in zip(seen.setdefault(measure, ([], [])), found, strict=True):
            values += more
    for number, (axes, (measure, targets, _)) in enumerate(zip(grid, rows, strict=True)):
        heights, starts = seen[measure]
        # A solve that diverges may leave its panel: it must not squeeze the others.
        ceiling = max([10 * max(starts, default=1), *targets])
        axes[0].set_ylim(limits([min(height, ceiling) for height in heights] or [1]))
        if number > 0:  # titles above the first row only
            for one in axes:
                one.set_title("")
        for one in axes:
            set_ticks(one.xaxis, *one.get_xlim())
            set_ticks(one.yaxis, *one.get_ylim())
            one.grid(color="0.9", linewidth=0.5)
            one.set_axisbelow(True)
            draw_targets(one, targets, labelled=one is axes[-1])


def draw_curves(runs: list[Run], table: Table, rows: Sequence[Row], title: str | None) -> Figure:
    """A column of panels per instance."""
    every = series_of(table)
    labels = labels_of(table)
    sheet = Sheet(runs, every, labels, len(rows), len(table), title)
    draw_panels(sheet.grid(sharex="row", sharey="row"), rows, table, labels)
    for number, (_, _, by_time) in enumerate(rows):
        sheet.x_label(number, "solve time [s]" if by_time else iterations_label(every))
    return sheet.figure


def draw_shares(runs: list[Run], table: Table, panels: Sequence[Panel], y_label: str,
                title: str | None, one_range: bool = False) -> Figure:
    """@param one_range  all panels have the same x axis"""
    def range_of(some: Sequence[Panel]) -> tuple[float, float]:
        low, high = limits([value for panel in some for value in panel.range()] or [1, 10])
        return max([low, *(panel.least for panel in some)]), high
    labels = labels_of(table)
    sheet = Sheet(runs, [], labels, 1, len(panels), title)
    grid = sheet.grid(sharey=True)
    for axes, panel in zip(grid[0], panels, strict=True):
        low, high = range_of(panels if one_range else [panel])
        axes.set(xscale="log", xlim=(low, high), ylim=(-0.03, 1.03))
        for label, values in panel.stairs.items():
            number = labels.index(label)
            x = np.concatenate([[low], np.clip(values, low, high), [high]])
            y = np.concatenate([[0], np.arange(1, len(values) + 1), [len(values)]])
            shown = slice(sum(value <= low for value in values), None)  # no climb on the axis
            axes.step(x[shown], y[shown] / max(panel.count, 1), where="post", gid=label,
                      markevery=(0.04 * (number % 4), 0.24), **style_of(number))
        axes.set_title(panel.title, fontsize=FONT)
        axes.set_xlabel(panel.x_label)
        set_ticks(axes.xaxis, low, high)
        axes.grid(color="0.9", linewidth=0.5)
        axes.set_axisbelow(True)
    grid[0, 0].set_ylabel(y_label)
    return sheet.figure


def draw_profile(runs: list[Run], table: Table, rows: Sequence[Row], title: str | None) -> Figure:
    """Dolan-More profiles of solve time, a panel per target of the first row's measure."""
    measure, targets, _ = rows[0]
    labels = labels_of(table)
    panels = [Panel(f"{measure} \u2264 {number_text(target)}", "time / that of the fastest",
                    *performance_profile(table, labels, "time", measure, target), least=1.0)
              for target in targets]
    return draw_shares(runs, table, panels, f"share of {len(table)} instances", title, True)


def draw_ecdf(runs: list[Run], table: Table, rows: Sequence[Row], title: str | None) -> Figure:
    """Shares of (instance, target) pairs reached, against time and against operator applies."""
    measure, targets, _ = rows[0]
    pairs = [(measure, target) for target in targets]
    labels = labels_of(table)
    panels = [Panel("", x_label, *run_time_distribution(table, counted(table, labels, column),
                                                        column, pairs))
              for column, x_label in (("time", "solve time [s]"), ("applies", "operator applies"))]
    text = f"targets {measure} = {', '.join(map(number_text, targets))}"
    panels[0].title = textwrap.fill(text, 34)
    return draw_shares(runs, table, panels, "share of (instance, target) pairs", title)


def draw_solved(runs: list[Run], table: Table, rows: Sequence[Row], title: str | None) -> Figure:
    """The share of instances solved to a tolerance, within the limits."""
    measure = rows[0][0]
    panels = [Panel("", f"tolerance: {measure}", *solved_ratio(table, labels_of(table), measure))]
    return draw_shares(runs, table, panels, f"share of {len(table)} instances", title)


FIGURES: dict[str, Callable[[list[Run], Table, Sequence[Row], str | None], Figure]] = {
    "curves": draw_curves, "profile": draw_profile, "ecdf": draw_ecdf, "solved": draw_solved,
    "scaling": draw_scaling}


def pages(table: Table, kind: str) -> list[Table]:
    """The table in parts that fit a page: the curves take a column of panels per instance."""
    instances = list(table)
    size = PER_PAGE if kind == "curves" else len(instances)
    return [{instance: table[instance] for instance in instances[i:i + size]}
            for i in range(0, len(instances), size)]


def parse_arguments() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="plot", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ", ".join(known_measures()) or "those that the files have"
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of result files (*.h5)")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path,
                        help="folder for the figures (default: beside the result files)")
    parser.add_argument("--measure", metavar="NAME",
                        help=f"what to draw (default: that of the study's stop): {names}")
    parser.add_argument("--with", dest="more", default="", metavar="NAME,...",
                        help="further measures against time, a row of the curves each")
    parser.add_argument("--figure", default="curves", metavar="NAME,...",
                        help=f"all, or some of {', '.join(FIGURES)} (default curves)")
    parser.add_argument("--format", default="png,pdf", help="png, pdf or png,pdf (the default)")
    parser.add_argument("--title", help="a line above the panels")
    arguments = parser.parse_args()
    arguments.more = [name for name in arguments.more.split(",") if name]
    arguments.format = arguments.format.split(",")
    if not set(arguments.format) <= {"png", "pdf"}:
        parser.error(f"--format: expected png, pdf or png,pdf, found {','.join(arguments.format)}")
    arguments.all = arguments.figure == "all"
    arguments.figure = list(FIGURES) if arguments.all else arguments.figure.split(",")
    if not set(arguments.figure) <= set(FIGURES):
        parser.error(f"--figure: expected all or some of {', '.join(FIGURES)}, found "
                     f"{','.join(arguments.figure)}")
    return parser, arguments


def check_measures(parser: argparse.ArgumentParser, wanted: dict[str, Sequence[str]],
                   runs: Sequence[Run]) -> None:
    """Ends the program where an option names a measure that neither the program nor a file has.
    @param wanted  {option: the names it was given}"""
    names = in_order([*known_measures(), *(name for run in runs for name in run.measures)])
    for option, some in wanted.items():
        if not set(some) <= set(names):
            parser.error(f"{option}: expected some of {', '.join(names)}, found {','.join(some)}")


def main() -> int:
    end_with_the_reader()
    parser, arguments = parse_arguments()
    folder = arguments.folder
    if simulations := read_rows(folder):
        return write_figure(simulations, arguments)
    runs, faults = read_folder(folder)
    measure = arguments.measure or leading_measure(runs)
    for run in runs:  # a measure that no file has yet
        for name in (measure, *arguments.more):
            run.values.setdefault(name, np.full(len(run.work["time"]), math.nan))
    check_measures(parser, {"--measure": [arguments.measure] if arguments.measure else [],
                            "--with": arguments.more}, runs)
    for path, fault in faults.items():
        complain(f"skipped {path}: {fault}")
    if not runs:
        complain(f"{folder}: nothing to draw, {why_nothing(folder, faults)}")
        return 1
    table = group(runs)

    def targets_of(wanted: str) -> list[float]:
        return sorted({value for run in runs for name, value in run.targets if name == wanted},
                      reverse=True)
    targets = targets_of(measure)
    rows = [(name, targets_of(name), True) for name in [measure, *arguments.more]]
    rows.append((measure, targets, False))
    drawable = any(curve_of(run, measure, "time")[0].size for run in runs)
    paths: list[Path] = []
    if drawable:
        try:
            paths = write_figures(runs, table, rows, arguments)
        except OSError as error:
            complain(f"cannot write to {arguments.output or folder}: {error}")
            return 1
    print(target_table(table, targets, measure))
    for path in paths:
        print(f"wrote {path}")
    if not drawable:
        complain(f"{folder}: nothing to draw, no run has a positive value of {measure}")
    return 1 if faults or not drawable else 0


def write_figures(runs: list[Run], table: Table, rows: list[Row],
                  arguments: argparse.Namespace) -> list[Path]:
    """All figures asked for; @return their files."""
    studies = {run.study for run in runs}
    name = re.sub(r"[^\w.-]", "_", studies.pop()) if len(studies) == 1 else ""
    measure, targets, _ = rows[0]
    paths: list[Path] = []
    for kind in arguments.figure:
        if kind in ("profile", "ecdf") and not targets:
            complain(f"no figure {kind}: the study has no target of {measure}")
            continue
        if kind == "scaling" and not chains_of(table):
            if not arguments.all:
                complain("no figure scaling: nothing was solved on different numbers of ranks")
            continue
        for number, part in enumerate(pages(table, kind), 1):
            shown = [run for run in runs if run.instance in part]
            base = (name or "results") + (f"-{kind}" if kind != "curves" else "")
            base += f"-{number}" if number > 1 else ""
            written = [(arguments.output or arguments.folder) / f"{base}.{ending}"
                       for ending in arguments.format]
            save(FIGURES[kind](shown, part, rows, arguments.title), written)
            paths += written
    return paths


if __name__ == "__main__":
    sys.exit(main())
