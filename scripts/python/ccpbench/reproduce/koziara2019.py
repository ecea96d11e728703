"""T. Koziara (2019): A projected quasi-Newton method for dynamic multibody frictional contact
problems."""
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ccpbench.figures import HeatSheet
from ccpbench.reproduce.drawing import panel_title, usable_runs
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.results import Run

TOTALS = ("iterations of a converged run", "runs that failed", "iterations of all runs",
          "solve time of all runs [s]")
Totals = tuple[float, float, float, float]  # those, in that order
Kind = tuple[float, float, str]  # epsilon, m, what delta is relative to
Cells = dict[tuple[float, float, float, str], Totals]  # by delta and kind


def totals(runs: Sequence[Run]) -> Totals:
    """Of runs of one solver, one per problem: mean iterations of those that converged, runs that
    did not, iterations and solve time of all."""
    good = [run for run in runs if run.reached or run.status == "converged"]
    return (float(np.mean([run.work["outer"][-1] for run in good])) if good else np.nan,
            len(runs) - len(good), sum(int(run.work["outer"][-1]) for run in runs),
            sum(run.solve_time for run in runs))


def pqn_table(folder: Path) -> tuple[list[Run], Cells]:
    """All runs, and the totals of those of pqn."""
    runs = usable_runs(folder)
    cells: dict[tuple[float, float, float, str], list[Run]] = {}
    for run in runs:
        if run.solver_id == "pqn":
            delta, epsilon, m = (float(run.options[name]) for name in
                                 ("delta", "krylov_tolerance", "krylov_max_iterations"))
            cells.setdefault((delta, epsilon, m, run.options["delta_relative_to"]), []).append(run)
    if not cells:
        raise Failure(f"{folder}: no result file that can be drawn")
    return runs, {key: totals(cell) for key, cell in cells.items()}


def draw_maps(sheet: HeatSheet, row: int, table: Mapping[Any, Sequence[float]],
              cells: Sequence[tuple[Any, ...]], labels: Sequence[str],
              titles: Sequence[str] = TOTALS, unit: str = "") -> None:
    """A row of maps, a panel per total; delta to the right.
    @param table   by delta and what `cells` has
    @param cells   from below
    @param labels  what is written at them
    @param unit    of delta, after a comma"""
    deltas = sorted({key[0] for key in table})
    for number, (axes, what) in enumerate(zip(sheet.grid[row], titles, strict=True)):
        values = [[table[delta, *cell][number] if (delta, *cell) in table else np.nan
                   for delta in deltas] for cell in cells]
        sheet.draw(axes, values, [f"{delta:g}" for delta in deltas], labels, log=number != 1)
        panel_title(axes, what)
        axes.set_xlabel(rf"$\delta${unit}")


def instances_of(runs: Sequence[Run]) -> str:
    """For a title: which problems, and how large."""
    names = sorted({run.instance[1] for run in runs})
    text = (", ".join(names) if len(names) < 4
            else f"{names[0]} to {names[-1]}, {len(names)} problems")
    sizes = [run.instance[0] for run in runs]
    return f"{text}: {min(sizes):,} to {max(sizes):,} contacts"


def draw_sensitivity(folder: Path) -> Figure:
    """Figs. 2 and 4: rows for case (a), (b), (c), columns for the totals."""
    runs, table = pqn_table(folder)
    kinds = sorted({key[1:] for key in table})
    exact = [kind for kind in kinds if kind[1] == 1000]
    short = sorted((kind for kind in kinds if kind not in exact and kind[0] == 0.001),
                   key=lambda kind: kind[1])
    both = [kind for kind in kinds if kind not in exact + short]
    sheet = HeatSheet(runs, 3, len(TOTALS), instances_of(runs))
    draw_maps(sheet, 0, table, exact, [f"{kind[0]:g}" for kind in exact])
    draw_maps(sheet, 1, table, short, [f"{kind[1]:g}" for kind in short])
    draw_maps(sheet, 2, table, both, [f"{kind[0]:g}, {kind[1]:g}" for kind in both])
    for axes, label in zip(sheet.grid[:, 0], (r"(a) $\epsilon$", "(b) m", r"(c) $\epsilon$, m"),
                           strict=True):
        axes.set_ylabel(label)
    return sheet.figure


def draw_relative(folder: Path) -> Figure:
    """Table 4 as maps, a row per norm; prints the quickest choices, and Gauss-Seidel."""
    runs, table = pqn_table(folder)
    sheet = HeatSheet(runs, 3, len(TOTALS), instances_of(runs))
    print(f"{'':12} {'seconds':>8} {'delta':>6} {'eps':>5} {'m':>4} {'iterations':>10}")
    for row, unit in enumerate(("min", "avg", "max")):
        kinds = sorted({key[1:] for key in table if key[3] == unit})
        draw_maps(sheet, row, table, kinds, [f"{kind[0]:g}, {kind[1]:g}" for kind in kinds])
        sheet.grid[row, 0].set_ylabel(rf"{unit} $N_{{ii}}$: $\epsilon$, m")
        whole = {key: cell for key, cell in table.items() if key[3] == unit and cell[1] == 0}
        if whole:
            key = min(whole, key=lambda one: whole[one][3])
            print(f"{'pqn ' + unit:12} {whole[key][3]:8.3f} {key[0]:6g} {key[1]:5g} {key[2]:4g} "
                  f"{whole[key][0]:10.0f}")
    others = [run for run in runs if run.solver_id == "pgs"]
    if others:
        mean, failed, _, seconds = totals(others)
        print(f"{'pgs':12} {seconds:8.3f} {'':6} {'':5} {'':4} {mean:10.0f}"
              + f"  ({failed} failed)" * (failed > 0))
    return sheet.figure


SOFT_DRUM = "lifter-drum[bodies=40,wait=0.7,pseudo_rigid=true]"
SOFT_STEPS = (1300, 1900, 2500)  # of 1 ms; the bodies lie from 700 on


def run_soft(study: str) -> Callable[[Workshop], None]:
    """A study on steps of a drum with pseudo-rigid bodies, or on those of --problems
    FILE#STEPS."""
    def run(shop: Workshop) -> None:
        if shop.problems != "ours":
            shop.study(study, (None,))
            return
        drum = shop.folder / "problems" / "drum.h5"
        shop.each({drum: ["simulate", SOFT_DRUM, "--until", (SOFT_STEPS[-1] + 1) * 1e-3,
                          "--freeze", ",".join(map(str, SOFT_STEPS))]})
        steps = drum.resolve().with_name("drum-steps.h5")
        shop.study_on(study, [f"{steps}#0..{len(SOFT_STEPS) - 1}"])
    return run
