"""J. Kleinert, B. Simeon, K. Dreßler (2017): Nonsmooth contact dynamics for the large-scale
simulation of granular material."""
from pathlib import Path

import h5py
import numpy as np
from matplotlib.figure import Figure

from ccpbench.figures import Sheet, limits, set_ticks
from ccpbench.reproduce.drawing import (
    ONE_LINE,
    OWN_AXIS,
    PRECONDITIONERS,
    draw_curves,
    name_method,
    panel_title,
    read_series,
    set_scale,
    titled,
)
from ccpbench.reproduce.eigenvalues import bound, draw_ends, freeze, read_ends
from ccpbench.reproduce.workshop import Workshop
from ccpbench.results import Run, labels_of, series_of
from ccpbench.spectrum import write_distributions
from ccpbench.styles import style_of
from ccpbench.tables import number_text

DISTRIBUTION_AT = (0, 9, 18, 30)  # outer iterations


def name_short(run: Run) -> str:
    return "PGJ" if run.solver_id == "pgj" else "IPM"


def run_distribution(shop: Workshop) -> None:
    freeze(shop, "regularised", "ipm[krylov=cholmod]", "none,block_diagonal", 300)
    bound(shop, "regularised")
    path = shop.folder / "distribution.h5"
    if not path.exists():
        print("between the ends: stochastic Lanczos quadrature", flush=True)
        write_distributions(path, shop.problem_file(1), shop.folder / "regularised.h5",
                            DISTRIBUTION_AT)


def draw_distribution(folder: Path) -> Figure:
    """Fig. 4: ends against the iteration; shares of eigenvalues below x, without and with
    the block-diagonal preconditioner."""
    spectra = read_ends(folder / "regularised-ends.h5")
    with h5py.File(folder / "distribution.h5") as file:
        shares = {(name, int(outer)): (one["node"][()], one["weight"][()])
                   for name, group_ in file.items() for outer, one in group_.items()}
    outers = sorted({outer for _, outer in shares})
    ends = {f"{PRECONDITIONERS[name]} (low end: bound)": value
            for name, value in spectra.ends.items()}
    steps = [f"after {outer} iterations" for outer in outers]
    labels = [*ends, *steps]
    sheet = Sheet([spectra], [], labels, 1, 3, titled(spectra.instance), OWN_AXIS, ONE_LINE)
    first, *rest = sheet.grid()[0]
    draw_ends(first, ends, labels)
    for axes, name in zip(rest, ("none", "block_diagonal"), strict=True):
        x: list[float] = []
        for outer, step in zip(outers, steps, strict=True):
            node, weight = shares[name, outer]
            node, share = node[node > 0], np.cumsum(weight)[node > 0]
            style = style_of(labels.index(step))
            style["markevery"] = (0.06 * outers.index(outer), 0.24)
            axes.step(node, share, where="post", gid=step, **style)
            x += list(node[(share > 1e-4)])
        axes.set(xscale="log", xlim=limits(x), ylim=(-0.03, 1.03), xlabel="eigenvalue",
                 ylabel="share of eigenvalues below")
        set_ticks(axes.xaxis, *axes.get_xlim())
        axes.grid(color="0.9", linewidth=0.5)
        axes.set_axisbelow(True)
        panel_title(axes, PRECONDITIONERS[name])
    panel_title(first, "ends")
    return sheet.figure


def draw_errors(folder: Path) -> Figure:
    """Fig. 6: a panel per problem."""
    runs, table = read_series(folder, name_short)
    labels = labels_of(table)
    sheet = Sheet(runs, series_of(table), labels, 1, len(table), None)
    grid = sheet.grid(sharey=True)[0]
    heights: list[float] = []
    for axes, (instance, series) in zip(grid, table.items(), strict=True):
        draw_curves(axes, series.items(), "time", "error", labels)
        heights += axes.get_ylim()
        panel_title(axes, titled(instance).replace(", ", "\n"))
    grid[0].set_ylim(min(heights), max(heights))
    for axes in grid[1:]:
        axes.set_ylabel("")
    return sheet.figure


def draw_scaling(folder: Path) -> Figure:
    """Fig. 7: a panel per tolerance; points are medians, bars span the repetitions."""
    runs, table = read_series(folder, name_short)
    labels = labels_of(table)
    sheet = Sheet(runs, [], labels, 1, 2, None, head=ONE_LINE)
    grid = sheet.grid(sharey=True)[0]
    heights: list[float] = []
    for axes, target in zip(grid, (5e-2, 1e-2), strict=True):
        sizes: list[float] = []
        for number, label in enumerate(labels):
            points = [(3 * instance[0] + 1, series[label].first("time", "error", target),
                       *series[label].span("time", "error", target))
                      for instance, series in table.items() if label in series]
            points = [point for point in points if np.isfinite(point[1:]).all()]
            if not points:
                continue
            size, middle, low, high = np.array(points).T
            axes.vlines(size, low, high, color=style_of(number)["color"], linewidth=0.8)
            axes.plot(size, middle, gid=label, **style_of(number))
            sizes += list(size)
            heights += [low.min(), high.max()]
        set_scale(axes, sizes or [1], heights or [1], False)
        axes.set_xlabel("unknowns 3n + 1, in thousands")
        axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}")
        panel_title(axes, f"error \u2264 {number_text(target)}")
    for axes in grid:
        axes.set_ylim(limits(heights or [1]))
        set_ticks(axes.yaxis, *axes.get_ylim())
    grid[0].set_ylabel("solve time [s]")
    return sheet.figure


def draw_krylov(folder: Path) -> Figure:
    """Sect. 5: Krylov methods and preconditioners against time, a panel per problem."""
    runs, table = read_series(folder, name_method)
    labels = labels_of(table)
    sheet = Sheet(runs, series_of(table), labels, 1, len(table), None, OWN_AXIS, ONE_LINE)
    for axes, (instance, series) in zip(sheet.grid()[0], table.items(), strict=True):
        draw_curves(axes, series.items(), "time", "error", labels)
        panel_title(axes, titled(instance))
    return sheet.figure
