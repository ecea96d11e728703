"""Figures of studies of simulations, from the table simulations.csv in their folder: what came out
against the time step, a column of panels per scene, a line per scheme, solver and start."""
import argparse
import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ccpbench.console import complain
from ccpbench.figures import FONT, HEIGHT, WIDTH, Sheet, save
from ccpbench.styles import style_of

TABLE = "simulations.csv"
# Drawn where they differ from zero, unless --measure names one.
DEFAULT = ("penetration_max", "joint_error_max", "outer_mean")

Line = dict[str, list[tuple[float, float]]]  # its label: (time step, value), ascending


def read_rows(folder: Path) -> list[dict[str, str]]:
    """The rows of the table; none where there is no table."""
    path = folder / TABLE
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def quantities_of(rows: Sequence[dict[str, str]]) -> list[str]:
    """Columns of numbers that can be drawn."""
    skipped = {"scene", "stepper", "solver", "start", "dt", "status", "message", "file"}
    return [name for name in rows[0] if name not in skipped] if rows else []


def positive(text: str) -> float:
    """The absolute value of a number of the table; nan for what a logarithmic axis cannot show."""
    try:
        value = abs(float(text))
    except ValueError:
        return math.nan
    return value if 0 < value < math.inf else math.nan


def lines_of(rows: Sequence[dict[str, str]], scene: str, quantity: str) -> Line:
    """What to draw of one scene; steps without a value are left out."""
    lines: Line = {}
    for row in rows:
        step, value = positive(row["dt"]), positive(row.get(quantity) or "")
        if row["scene"] != scene or math.isnan(step) or math.isnan(value):
            continue
        parts = [row["stepper"] or "the scene's", row["solver"]]
        parts += [] if row["start"] == "previous" else ["from " + row["start"]]
        lines.setdefault(", ".join(filter(None, parts)), []).append((step, value))
    return {label: sorted(points) for label, points in lines.items()}


def draw(rows: Sequence[dict[str, str]], quantities: Sequence[str], title: str | None) -> Any:
    """The figure: a row of panels per quantity, a column per scene."""
    scenes = [scene for scene in dict.fromkeys(row["scene"] for row in rows)
              if any(lines_of(rows, scene, name) for name in quantities)]
    panels = {(name, scene): lines_of(rows, scene, name) for name in quantities
              for scene in scenes}
    labels = list(dict.fromkeys(label for lines in panels.values() for label in lines))
    figure = Sheet.blank()
    height = 1.2 * HEIGHT * len(quantities) + 0.2 * len(labels) + 0.8
    figure.set_size_inches(1.6 * WIDTH * len(scenes) + 0.4, height)
    every = figure.subplots(len(quantities), len(scenes), squeeze=False)
    for i, name in enumerate(quantities):
        for j, scene in enumerate(scenes):
            axes = every[i][j]
            for label, points in panels[name, scene].items():
                axes.plot(*zip(*points, strict=True), label=label,
                          **style_of(labels.index(label)))
            if not panels[name, scene]:
                axes.set_axis_off()
            axes.set(xscale="log", yscale="log")
            axes.grid(color="0.9", linewidth=0.5)
            axes.set_xlabel("time step [s]" if i + 1 == len(quantities) else "")
            axes.set_ylabel(name if j == 0 else "")
            axes.set_title(scene if i == 0 else "", fontsize=FONT)
    drawn = {label: line for axes in every.flat
             for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.suptitle(title or "")
    share = (0.2 * len(labels) + 0.15) / height
    figure.tight_layout(rect=(0, share, 1, 1))
    figure.legend([drawn[label] for label in labels], labels, loc="lower center", frameon=False)
    return figure


def write_figure(rows: Sequence[dict[str, str]], arguments: argparse.Namespace) -> int:
    """Draws and prints what was written. @return the exit code"""
    names = quantities_of(rows)
    wanted = [name for name in [arguments.measure, *arguments.more] if name]
    if missing := [name for name in wanted if name not in names]:
        complain(f"--measure: expected some of {', '.join(names)}, found {','.join(missing)}")
        return 2
    stepped = [row for row in rows if row["dt"]]
    chosen = wanted or [name for name in DEFAULT if name in names]
    chosen = [name for name in chosen
              if any(not math.isnan(positive(row[name] or "")) for row in stepped)]
    if not chosen:
        complain(f"{arguments.folder / TABLE}: nothing to draw, no row has a dt and a value")
        return 1
    figure = draw(stepped, chosen, arguments.title)
    paths = [(arguments.output or arguments.folder) / f"simulations.{ending}"
             for ending in arguments.format]
    try:
        save(figure, paths)
    except OSError as error:
        complain(f"cannot write to {arguments.output or arguments.folder}: {error}")
        return 1
    for path in paths:
        print(f"wrote {path}")
    return 0
