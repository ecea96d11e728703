"""D. Wang, M. Servin, T. Berglund (2016): Warm starting the projected Gauss-Seidel algorithm for
granular matter simulation."""
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
from matplotlib.figure import Figure

from ccpbench.figures import Sheet, axis_label
from ccpbench.problem import read_problem, write_problem
from ccpbench.reproduce.drawing import (
    NO_HEAD,
    ONE_LINE,
    OWN_AXIS,
    panel_title,
    read_series,
    set_scale,
    titled,
)
from ccpbench.reproduce.workshop import RESULTS_TOO, Failure, Workshop
from ccpbench.results import Run, made_of
from ccpbench.styles import style_of
from ccpbench.tables import Origin

STARTS = {"cold": "cold", "history": "history, \u03b2 = 0.85",
          "history[beta=1]": "history, \u03b2 = 1", "hertz": "Hertz",
          "previous*0.85": "history, \u03b2 = 0.85", "previous": "history, \u03b2 = 1",
          "hertz*1.5625": "Hertz as printed"}
COLUMN_SIZES = "5,10,20,35,50,75,100"
COLUMN_TOLERANCES = (1e-3, 1e-2, 5e-2)


def run_columns(shop: Workshop) -> None:
    """Whole simulations of columns, with more and more iterations in every step."""
    path = shop.folder / "columns.h5"
    if not path.exists():
        iterations = sorted({round(1.25**k) for k in range(32)})  # to 1,000
        shop.run("simulate", "column", "--spheres", COLUMN_SIZES, "--solver", "pgs[law=coulomb]",
                 "--starts", "cold,history,hertz,hertz*1.5625", "--rest-speed", "1e-4",
                 "--iterations", ",".join(map(str, iterations)),
                 "--until", COLUMN_TOLERANCES[0] / 3, "-o", path)


REFERENCE = "pgs[law=coulomb,tolerance=0,max_iterations=200000]"


def run_pile(shop: Workshop) -> None:
    """A step of a pile, from the impulses of the step before, both by Coulomb's law: those of the
    catalogue's file are by the convex one."""
    place = "elastic-pile#4" if shop.problems == "ours" else shop.problems
    name, _, number = place.partition("#")
    if not (number.isdigit() and int(number) > 0):
        raise Failure(f"--problems {place}: expected FILE#STEP with a step before it")
    step, before = int(number), int(number) - 1
    problem = shop.folder / "problem" / f"{Path(name).stem}-coulomb.h5"
    if not problem.exists():
        gamma = {}
        for k in (before, step):
            path = shop.temporary / f"step-{k}.h5"
            shop.run("solve", f"{name}#{k}", "--solver", REFERENCE, "--stop",
                     "coulomb_residual=1e-9", "--time-limit", 600, "--keep-gamma", "--quiet", "-o",
                     path, accept=RESULTS_TOO)
            with h5py.File(path) as file:
                gamma[k] = file["final/gamma"][()].reshape(-1, 3)
        file_ = name if name.endswith(".h5") else f"{shop.data / name}.h5"
        made, same = (read_problem(f"{file_}#{k}") for k in (step, before))
        if made.identity is None or same.identity is None or \
                not np.array_equal(made.identity, same.identity):
            raise Failure(f"{place}: expected the contacts of step {before}: a pile at rest")
        made.name = problem.stem
        made.reference, made.reference_velocity = gamma[step], None
        made.reference_method, made.certificate = REFERENCE, {}
        made.guesses["previous"] = gamma[before]
        problem.parent.mkdir(exist_ok=True)
        write_problem(problem, made)
    shop.study_on("wang2016-fig7", [str(problem.resolve())])


def name_start(run: Run) -> str:
    return STARTS.get(run.start, run.start)


Columns = dict[str, dict[int, list[tuple[int, float]]]]  # {start: {spheres: [(iterations, error)]}}


def read_columns(path: Path) -> tuple[Origin, Columns]:
    """A table of simulated columns."""
    with h5py.File(path) as file:
        rows = {key: value.asstr()[()] if key == "start" else value[()]
                for key, value in file["rows"].items()}
        origin = Origin(made_of(file))
    table: Columns = {}
    for start, spheres, iterations, error in zip(*(rows[key] for key in (
            "start", "spheres", "iterations", "error")), strict=True):
        table.setdefault(start, {}).setdefault(int(spheres), []).append((int(iterations), error))
    return origin, table


def iterations_needed(curve: list[tuple[int, float]], tolerance: float) -> float:
    """The fewest iterations from which on all errors are at most the tolerance; NaN: none are."""
    needed = float("nan")
    for iterations, error in sorted(curve, reverse=True):
        if not abs(error) <= tolerance:
            break
        needed = iterations
    return needed


def draw_columns(folder: Path) -> Figure:
    """Fig. 3: iterations a step for a column's height, against its number of spheres."""
    origin, table = read_columns(folder / "columns.h5")
    labels = [STARTS.get(start, start) for start in table]
    sheet = Sheet([origin], [], labels, 1, len(COLUMN_TOLERANCES), None, head=ONE_LINE)
    grid = sheet.grid(sharey=True)[0]
    every: list[float] = []
    for axes, tolerance in zip(grid, COLUMN_TOLERANCES, strict=True):
        for number, columns in enumerate(table.values()):
            points = [(spheres, iterations_needed(curve, tolerance))
                      for spheres, curve in sorted(columns.items())]
            x, y = np.array([point for point in points if np.isfinite(point[1])] or
                            np.empty((0, 2))).T
            axes.plot(x, y, gid=labels[number], **style_of(number))
            every += list(y)
            print(f"height to {tolerance:g}, {labels[number]}: " +
                  ", ".join(f"{size:g} spheres {needed:g}" for size, needed in points))
        axes.set_xlabel("spheres")
        panel_title(axes, f"height error \u2264 {tolerance:.1%}")
    sizes = sorted({size for columns in table.values() for size in columns})
    for axes in grid:
        set_scale(axes, sizes, every or [1], False)
    grid[0].set_ylabel("iterations a step")
    return sheet.figure


def draw_starts(*measures: str) -> Callable[[Path], Figure]:
    """Measures against iterations, the first of which is the starting point, by start."""
    def draw(folder: Path) -> Figure:
        runs, table = read_series(folder, name_start)
        (instance, series), = table.items()
        labels = [name for name in dict.fromkeys(STARTS.values()) if name in series]
        labels += sorted(set(series) - set(labels))
        sheet = Sheet(runs, [], labels, 1, len(measures), titled(instance), OWN_AXIS, NO_HEAD)
        for axes, measure in zip(sheet.grid()[0], measures, strict=True):
            x: list[float] = [1]
            y: list[float] = []
            for number, label in enumerate(labels):
                run = series[label].runs[0]
                value = run.values[measure]
                shown = np.isfinite(value) & (value > 0)
                iterations, value = run.work["outer"][shown], value[shown]
                style = dict(style_of(number), markevery=(0.04 * (number % 4), 0.16))
                axes.plot(iterations, value, gid=label, **style)
                rows = [np.flatnonzero(iterations <= at)[-1] for at in (0, 10, 100, 500)]
                print(f"{measure}, {label}: " + ", ".join(
                    f"{value[row]:.2e} at {iterations[row]}" for row in rows))
                x += list(iterations)
                y += list(value)
            set_scale(axes, x, [max(value, 1e-12 * max(y)) for value in y] or [1], False)
            axes.set(xlabel="iterations", ylabel=axis_label(measure))
        return sheet.figure
    return draw
