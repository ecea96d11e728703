"""J. Kleinert, B. Simeon, M. Obermayr (2014): An inexact interior point method for the large-scale
simulation of granular material."""
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import (
    NO_HEAD,
    ONE_LINE,
    OWN_AXIS,
    PRECONDITIONERS,
    draw_curves,
    method_of,
    name_method,
    panel_title,
    read_series,
    set_scale,
    titled,
)
from ccpbench.reproduce.eigenvalues import bound, draw_ends, freeze, read_ends
from ccpbench.reproduce.workshop import Workshop
from ccpbench.results import Run
from ccpbench.styles import style_of
from ccpbench.tables import number_text

STRATEGIES = {"path_following": "path-following", "potential_reduction": "potential reduction"}


def run_spread(shop: Workshop) -> None:
    freeze(shop, "regularised", "ipm[krylov=cholmod]", "none,block_ic0,block_iluk[level=0]", 120)
    freeze(shop, "unregularised", "ipm[krylov=cholmod,regularization=none]", "none", 120)
    bound(shop, "regularised", "unregularised")


def draw_spread(folder: Path) -> Figure:
    """Fig. 8: ends of the spectra, and their ratio, against the iteration."""
    with_it = read_ends(folder / "regularised-ends.h5")
    without = read_ends(folder / "unregularised-ends.h5")
    ends = {"not regularised (low end: bound)": without.ends["none"],
            "regularised (low end: bound)": with_it.ends.pop("none"),
            **{PRECONDITIONERS[name]: value for name, value in with_it.ends.items()}}
    labels = list(ends)
    sheet = Sheet([with_it, without], [], labels, 1, 2, titled(with_it.instance), OWN_AXIS,
                  NO_HEAD)
    left, right = sheet.grid()[0]
    draw_ends(left, ends, labels)
    x: list[float] = [1]
    y: list[float] = []
    for number, (name, (outer, low, high)) in enumerate(ends.items()):
        shown = np.isfinite(low) & np.isfinite(high) & (low > 0)
        style = dict(style_of(number), markevery=(number % 3, 4))
        right.plot(outer[shown], high[shown] / low[shown], gid=f"{name} ratio", **style)
        x += list(outer[shown])
        y += list(high[shown] / low[shown])
    set_scale(right, x, [min(value, 1e20) for value in y], False)
    right.set(xlabel="outer iterations done", ylabel="largest / smallest")
    return sheet.figure


def draw_krylov(folder: Path) -> Figure:
    """Fig. 9: cost above, feas below; against Krylov iterations and time."""
    runs, table = read_series(folder, name_method)
    (instance, series), = table.items()
    labels = sorted(series)
    sheet = Sheet(runs, list(series.values()), labels, 2, 2, titled(instance), OWN_AXIS, NO_HEAD)
    for row, measure in zip(sheet.grid(), ("cost", "feas"), strict=True):
        for axes, column in zip(row, ("krylov", "time"), strict=True):
            draw_curves(axes, series.items(), column, measure, labels)
    return sheet.figure


def name_strategy(run: Run) -> str:
    return f"{STRATEGIES[run.options['strategy']]}: {method_of(run)}"


def draw_strategies(folder: Path) -> Figure:
    """Fig. 10: error against outer iterations and time."""
    runs, table = read_series(folder, name_strategy)
    (instance, series), = table.items()
    labels = sorted(series)
    sheet = Sheet(runs, list(series.values()), labels, 1, 2, titled(instance), OWN_AXIS, NO_HEAD)
    for axes, column in zip(sheet.grid()[0], ("outer", "time"), strict=True):
        draw_curves(axes, series.items(), column, "error", labels, log_x=column == "time")
    return sheet.figure


def run_sizes(shop: Workshop) -> None:
    for name in ("kleinert2014-fig11", "kleinert2014-fig11b"):
        shop.study(name, (1, 2))


def name_solver(run: Run) -> str:
    return "PGJ" if run.solver_id == "pgj" else f"IPM {name_method(run)}"


def draw_sizes(folder: Path) -> Figure:
    """Fig. 11: PGJ and IPM against time; IPM with a direct solver against iterations."""
    runs, table = read_series(folder, name_solver)
    rows = [(f"{name}: {instance[1]}", one) for instance, series in table.items()
            for name, one in series.items()]
    rows.sort(key=lambda row: row[0])
    labels = [name for name, _ in rows]
    sheet = Sheet(runs, [one for _, one in rows], labels, 1, 2, None, OWN_AXIS, ONE_LINE)
    left, right = sheet.grid()[0]
    direct = [row for row in rows if "direct" in row[0]]
    draw_curves(left, [row for row in rows if row not in direct], "time", "error", labels)
    draw_curves(right, direct, "outer", "error", labels, log_x=False)
    panel_title(left, "against time")
    panel_title(right, "exact directions")
    return sheet.figure


def name_tolerance(run: Run) -> str:
    strategy = STRATEGIES[run.options["strategy"]]
    return f"{strategy}, directions to {number_text(float(run.options['krylov_tolerance']))}"


def draw_tolerances(folder: Path) -> Figure:
    """Figs. 9 to 11 again by tolerance of the directions: error against Krylov iterations above,
    against outer ones below, a column per problem."""
    runs, table = read_series(folder, name_tolerance)
    labels = sorted({name for series in table.values() for name in series})
    every = [one for series in table.values() for one in series.values()]
    sheet = Sheet(runs, every, labels, 2, len(table), None, OWN_AXIS, ONE_LINE)
    grid = sheet.grid()
    for column, (instance, series) in enumerate(table.items()):
        for row, work in zip(grid, ("krylov", "outer"), strict=True):
            draw_curves(row[column], sorted(series.items()), work, "error", labels,
                        log_x=work == "krylov")
        panel_title(grid[0][column], titled(instance))
    return sheet.figure
