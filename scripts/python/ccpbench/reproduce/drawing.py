"""What the figures of several papers share: reading a folder's series, scales, curves, names."""
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.colors import Normalize
from matplotlib.patches import Circle

from ccpbench.arrays import Floats
from ccpbench.console import complain
from ccpbench.figures import FONT, axis_label, draw_series, limits, median_curve, set_ticks
from ccpbench.reproduce.workshop import Failure
from ccpbench.results import Instance, Run, Series, Table, group, read_folder
from ccpbench.tables import target_table

OWN_AXIS = 0.62  # inches between panels that have a y axis each
NO_HEAD, ONE_LINE = 0.08, 0.25  # inches above the panels
FEW = 0.1  # of the steps that may end short of the residual: else a hollow marker
HOLLOW = "short of its residual in more than a tenth of the steps"  # what such a marker is
METHODS = {"cg": "CG", "bicgstab": "BiCGstab", "gmres": "GMRES", "cholmod": "direct"}
PRECONDITIONERS = {"none": "no preconditioner", "block_diagonal": "block diagonal",
                   "block_ic0": "IC(0)", "block_iluk": "ILU(0)",
                   "block_iluk[level=0]": "ILU(0)"}


def usable_runs(folder: Path) -> list[Run]:
    """The runs of a folder; those that cannot be used are named. None at all is a Failure."""
    runs, faults = read_folder(folder)
    for path, fault in faults.items():
        complain(f"skipped {path}: {fault}")
    if not runs:
        raise Failure(f"{folder}: no result file that can be drawn")
    return runs


def read_series(folder: Path, naming: Callable[[Run], str]) -> tuple[list[Run], Table]:
    """The runs, and {instance: {name: Series}} with the figure's own names."""
    runs = usable_runs(folder)
    table: Table = {}
    for instance, series in group(runs).items():
        named = {}
        for label, one in series.items():
            run = one.runs[0]  # what differs in how the runs were made stays in the name
            named[naming(run) + label[len(run.solver):]] = one
        table[instance] = named
    targets = sorted({value for run in runs for name, value in run.targets if name == "error"},
                     reverse=True)
    if targets:
        print(target_table(table, targets, "error"))
    return runs, table


def method_of(run: Run) -> str:
    """The linear solver of an interior point method."""
    return METHODS.get(run.options["krylov"], run.options["krylov"])


def name_method(run: Run) -> str:
    """That, with its preconditioner."""
    if run.options["krylov"] == "cholmod":
        return "direct"
    preconditioner = run.options["preconditioner"]
    return f"{method_of(run)} with {PRECONDITIONERS.get(preconditioner, preconditioner)}"


def titled(instance: Instance) -> str:
    return f"{instance[1]}, {instance[0]:,} contacts"


def moving_average(values: Floats, window: int) -> Floats:
    """[len(values) - window + 1], of that many values each."""
    return np.convolve(values, np.ones(window) / window, mode="valid")


def panel_title(axes: Any, text: str) -> None:
    axes.set_title(text, fontsize=FONT)


def set_scale(axes: Any, x: Sequence[float], y: Iterable[float], log_x: bool) -> None:
    """Limits and ticks for all that is drawn; y is always logarithmic."""
    axes.set(yscale="log", ylim=limits(y))
    set_ticks(axes.yaxis, *axes.get_ylim())
    if log_x:
        axes.set(xscale="log", xlim=limits(x))
        set_ticks(axes.xaxis, *axes.get_xlim())
    else:
        axes.set_xlim(-0.03 * max(x), 1.05 * max(x))
    axes.grid(color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


def draw_curves(axes: Any, rows: Iterable[tuple[str, Series]], column: str, measure: str,
                labels: Sequence[str], log_x: bool = True) -> None:
    """Curves of (name, Series) with axes that fit."""
    x: list[float] = []
    y: list[float] = []
    starts: list[float] = []
    for name, one in rows:
        curve = median_curve(one, measure, column)
        if curve is None:
            continue
        draw_series(axes, one, curve, labels.index(name), name)
        x += curve.width
        y += curve.height
        starts.append(float(curve.y[0]))
    ceiling = 10 * max(starts, default=1.0)  # a solve that diverges must not squeeze the others
    set_scale(axes, x or [1], [min(value, ceiling) for value in y] or [1], log_x)
    units = {"time": "solve time [s]", "krylov": "Krylov iterations", "outer": "outer iterations"}
    axes.set(xlabel=units[column], ylabel=axis_label(measure))


def linear(axes: Any, x: str, y: str) -> None:
    """Labels of axes that are not logarithmic, and the grid that all have."""
    axes.set(xlabel=x, ylabel=y)
    axes.grid(color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


def by_iterations(axes: Any, counts: Sequence[int], y: str) -> None:
    """The axes of what depends on the iterations a step, of which there are so many."""
    linear(axes, "iterations a step", y)
    axes.set(xscale="log", xticks=counts, xticklabels=counts)
    axes.minorticks_off()


def draw_spheres(axes: Any, place: Floats, radius: Floats, values: Floats, colours: str,
                 norm: Normalize, edge: str, view: float = 0) -> PatchCollection:
    """Spheres as seen along y, in cm, the nearest on top. Returns what has the colours.
    @param place   [b, 3] m
    @param values  [b] shown by the map `colours`
    @param view    degrees of the eye above the ground"""
    x, y, z = 100 * place.T
    sine, cosine = np.sin(np.radians(view)), np.cos(np.radians(view))
    up = z * cosine + y * sine
    order = np.argsort(z * sine - y * cosine)  # the nearest last
    spheres = PatchCollection([Circle((x[b], up[b]), 100 * radius[b]) for b in order],
                              cmap=colours, norm=norm, edgecolor=edge, linewidth=0.2)
    spheres.set_array(values[order])
    axes.add_collection(spheres)
    axes.set(aspect="equal", xlabel="x [cm]", ylabel="z [cm]")
    return spheres
