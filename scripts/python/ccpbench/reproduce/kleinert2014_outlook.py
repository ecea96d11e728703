"""Kleinert 2014 Sect. 4.5 and 6: several directions at one alpha, a change of the Krylov method as
the error falls, a start from PGJ."""
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import (
    ONE_LINE,
    OWN_AXIS,
    draw_curves,
    name_method,
    panel_title,
    read_series,
    titled,
)
from ccpbench.reproduce.workshop import RESULTS_TOO, Workshop
from ccpbench.results import Run, Series, read_result
from ccpbench.styles import style_of

TARGETS = (1e-1, 1e-2, 1e-3, 1e-4)
PGJ_ITERATIONS = (1, 100, 1000, 5000)  # before vipm goes on
CHANGED = "Krylov method changed once, composed"


def run_outlook(shop: Workshop) -> None:
    """A study of `ipm`, which takes no start, and `vipm` from what PGJ got to."""
    shop.study("kleinert2014-outlook", (2,))
    words = ["solve", shop.problem(2), "--time-limit", shop.time_limit or 100, "--solver"]
    seen = ["--stop", f"error={TARGETS[-1]:g}", "--targets",
            ",".join(f"error={value:g}" for value in TARGETS)]
    before = {count: shop.folder / "pgj" / f"{count}.h5" for count in PGJ_ITERATIONS}
    shop.each({path: [*words, "pgj[omega=0.3]", "--max-outer", count, "--stop", "error=1e-12",
                      "--keep-gamma"] for count, path in before.items()}, accept=RESULTS_TOO)
    starts = {0: "cold", **{count: str(path) for count, path in before.items()}}
    shop.each({shop.folder / "started" / f"{count}.h5": [*words, "vipm", "--start", start, *seen]
               for count, start in starts.items()}, accept=RESULTS_TOO)


def stays(run: Run) -> bool:
    """Whether alpha does until the iterate is near the central path; else beta_1 = 0 stands for
    the strategy's."""
    return float(run.options["beta_1"]) == 1


def name_direction(run: Run) -> str:
    if not stays(run):
        return name_method(run)
    bound, factor = (f"{float(run.options[name]):g}" for name in ("alpha_cen", "beta_cen"))
    return f"{name_method(run)}, to f_cen <= {bound}, then {factor} alpha"


def pgj_before(run: Run) -> int:
    """Its iterations; 0 of a cold start."""
    return 0 if run.start == "cold" else int(Path(run.start).stem)


def name_started(run: Run) -> str:
    before = pgj_before(run)
    return f"vipm after {before:,} of PGJ" if before else "vipm, cold"


def by_outer(one: Series, column: str) -> Floats:
    """[outer iterations + 1] what a run had done, or where it was; NaN where nobody looked."""
    run = one.runs[0]
    values = run.values["error"] if column == "error" else run.work[column]
    table = np.full(int(run.work["outer"].max(initial=0)) + 1, np.nan)
    table[run.work["outer"]] = values
    return table


def changed_once(series: dict[str, Series], target: float) -> tuple[float, str, int]:
    """The shortest time to the error with one method up to an outer iteration, and another one
    from there on: s, their names and that iteration. It is composed of runs of each alone, so it
    holds as far as their iterates are the same."""
    best = (float("inf"), "", 0)
    for (first, begun), (second, ended) in permutations(series.items(), 2):
        early, late = by_outer(begun, "time"), by_outer(ended, "time")
        hits = np.flatnonzero(by_outer(ended, "error") <= target)
        if not hits.size:
            continue
        at = np.arange(1, min(len(early), int(hits[0])))
        total = early[at] + late[hits[0]] - late[at]
        if np.isfinite(total).any():
            k = int(np.nanargmin(total))
            best = min(best, (float(total[k]), f"{first}, then {second}", int(at[k])))
    return best


def draw_changed(axes: Any, series: dict[str, Series], number: int) -> None:
    """The envelope, and what it says."""
    points = []
    for target in TARGETS:
        alone = min((one.first("time", "error", target), name) for name, one in series.items())
        time, how, at = changed_once(series, target)
        if not np.isfinite(time):
            continue
        points.append((time, target))
        print(f"error {target:g}: {alone[0]:.3g} s with {alone[1]} alone; {time:.3g} s with {how} "
              f"from outer iteration {at} on")
    apart = [np.abs(np.log(by_outer(one, "error")[:k] / by_outer(other, "error")[:k]))
             for one, other in permutations(series.values(), 2)
             if (k := min(len(by_outer(one, "error")), len(by_outer(other, "error")))) > 1]
    print("errors of the methods at one outer iteration differ by a factor of at most "
          f"{np.exp(max((float(np.nanmax(row)) for row in apart), default=0)):.3g}")
    if points:
        axes.plot(*zip(*points, strict=True), gid=CHANGED, **style_of(number))


def by_start(series: dict[str, Series]) -> dict[str, Series]:
    """Cold first, then the more iterations of PGJ the later."""
    return dict(sorted(series.items(), key=lambda item: pgj_before(item[1].runs[0])))


def print_started(folder: Path, series: dict[str, Series]) -> None:
    """What PGJ took and where it got to, and what vipm took from there."""
    for count in PGJ_ITERATIONS:
        run = read_result(folder / "pgj" / f"{count}.h5")
        print(f"PGJ, {run.work['outer'][-1]} iterations: error {run.final('error'):.2g} after "
              f"{run.solve_time:.3g} s")
    for name, one in series.items():
        print(f"{name}: " + ", ".join(
            f"{target:g}: {one.first('outer', 'error', target):.0f} outer, "
            f"{one.first('krylov', 'error', target):.0f} Krylov" for target in TARGETS))


def draw_outlook(folder: Path) -> Figure:
    """Error against Krylov and outer iterations by inner iterations; against time by Krylov
    method; against Krylov iterations by start."""
    runs, table = read_series(folder, name_direction)
    started_runs, started_table = read_series(folder / "started", name_started)
    (instance, directions), = table.items()
    (_, started), = started_table.items()
    started = by_start(started)
    plain = {name: one for name, one in directions.items() if not stays(one.runs[0])}
    inner = {name: one for name, one in directions.items()
             if one.runs[0].options["krylov"] == "bicgstab"}
    labels = [*sorted(directions), CHANGED, *started]
    sheet = Sheet([*runs, *started_runs], [*directions.values(), *started.values()], labels, 2, 2,
                  titled(instance), OWN_AXIS, ONE_LINE)
    (work, outer), (switch, warm) = sheet.grid()
    for axes, series, column, title in ((work, inner, "krylov", "several directions at one alpha"),
                                        (outer, inner, "outer", "the same"),
                                        (switch, plain, "time", "change of the Krylov method"),
                                        (warm, started, "krylov", "vipm after PGJ")):
        draw_curves(axes, series.items(), column, "error", labels, log_x=axes is switch)
        panel_title(axes, title)
    draw_changed(switch, plain, labels.index(CHANGED))
    print_started(folder, started)
    return sheet.figure
