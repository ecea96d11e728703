"""Beyond the papers: how exactly a step has to be solved for a force, a stress or an angle."""
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import FEW, HOLLOW, ONE_LINE, OWN_AXIS, linear, panel_title
from ccpbench.reproduce.kleinert2017_blade import read_draft
from ccpbench.reproduce.wang2016_drum import read_drum
from ccpbench.reproduce.wang2016_triaxial import read_cell
from ccpbench.reproduce.workshop import Failure, Workshop, with_options
from ccpbench.styles import style_of
from ccpbench.trajectory import read_trajectory

SEEDS = (1, 2, 3)         # of the first places, and so of the beds
EXACT = 1e-9              # residual of the reference, and of the beds
COARSE = (1e-1, 1e-2, 1e-3)
FINE = (1e-4, 1e-6)
# By the name of the file: residuals at which its steps end.
SOLVERS = {"pgs": COARSE, "apgd": COARSE, "vipm": COARSE + FINE}
ITERATIONS = 1000         # a step, at most


@dataclass(frozen=True)
class Subject:
    """A scene and what is measured of it."""
    options: str              # of the scene
    bed: tuple[dict[str, object], float]  # options of the bed, besides; s until it is at rest
    until: float              # s
    words: tuple[str, ...]    # of `simulate`
    label: str
    title: str
    measure: Callable[[Path], Floats]  # [k], what the mean is taken of


def stress_of(path: Path) -> Floats:
    """Pa, on the walls across z, since the cell is strained by 2 %."""
    cell = read_cell(path)
    pressure = float(cell.motion.option["pressure"])
    return np.asarray(cell.deviator[cell.strain > 0.02] + pressure)


# By the scene.
SUBJECTS = {
    "blade": Subject("spheres=200,length=0.25,width=0.14,blade=0.06,edge=0.035,wait=0.05",
                     ({"speed": 0}, 0.3), 0.3, (), "draft force [N]", "blade in a trench",
                     lambda path: read_draft(path).force),
    "rotating-drum": Subject("spheres=48,drum=0.1,width=0.03,omega=1.5,rolling=0,mu=0.5,wait=0.05",
                             ({"omega": 0}, 0.3), 1.0, ("--stepper", "shake"),
                             "angle of the centre [\u00b0]", "drum that turns",
                             lambda path: read_drum(path, 0.5).angle),
    "triaxial-cell": Subject("spheres=64,wall=2,rolling=0,press=0.05",
                             ({"speed": 0}, 0.7), 0.4, (), "stress across z [Pa]", "triaxial cell",
                             stress_of),
}


def chosen(folder: Path) -> list[str]:
    """The scenes of a folder."""
    return [kind for kind in SUBJECTS if (folder / f"{kind}-{SEEDS[0]}-exact.h5").exists()]


def trajectory_of(folder: Path, kind: str, seed: int, name: str) -> Path:
    return folder / f"{kind}-{seed}-{name}.h5"


def run_accuracies(shop: Workshop) -> None:
    """Every scene from three beds, by solver and residual; with --problems one scene alone."""
    kind = shop.problems.partition("[")[0]
    if shop.problems != "ours" and kind not in SUBJECTS:
        raise Failure(f"--problems {shop.problems}: expected {' or '.join(SUBJECTS)}, with "
                      "[option=value,...]")
    for name, subject in SUBJECTS.items():
        if shop.problems == "ours":
            run_subject(shop, f"{name}[{subject.options}]", subject)
        elif name == kind:
            run_subject(shop, shop.problems, subject)


def run_subject(shop: Workshop, scene: str, subject: Subject) -> None:
    """One scene."""
    kind = scene.partition("[")[0]
    more, at_rest = subject.bed
    exactly: list[object] = ["--solver", "vipm", "--residual", EXACT]
    beds, jobs = {}, {}
    for seed in SEEDS:
        what = with_options(scene, seed=seed)
        bed = shop.folder / "beds" / f"{kind}-{seed}.h5"
        beds[bed] = ["simulate", with_options(what, **more), *subject.words, "--until", at_rest,
                     *exactly]
        motion: list[object] = ["simulate", what, *subject.words, "--from", bed, "--until",
                                subject.until, "--every", 1]
        jobs[trajectory_of(shop.folder, kind, seed, "exact")] = motion + exactly
        for solver, residuals in SOLVERS.items():
            for residual in residuals:
                jobs[trajectory_of(shop.folder, kind, seed, f"{solver}-{residual:.0e}")] = [
                    *motion, "--solver", solver, "--residual", residual, "--iterations",
                    ITERATIONS]
    shop.each(beds)
    shop.each(jobs, accept=(0, 3))


@dataclass
class Point:
    """Of a solver and a residual."""
    value: Floats       # [seeds], means over time; NaN where the simulation fell apart
    iterations: float   # a step
    short: float        # part of the steps that did not get there


def read_point(folder: Path, kind: str, name: str, residual: float) -> Point:
    """All seeds."""
    subject = SUBJECTS[kind]
    value, outer, short = [], [], []
    for seed in SEEDS:
        path = trajectory_of(folder, kind, seed, name)
        if not path.exists():
            raise Failure(f"{folder}: not all of the trajectories are there")
        motion = read_trajectory(path)
        whole = len(motion.time) == len(read_trajectory(
            trajectory_of(folder, kind, seed, "exact")).time)
        value.append(subject.measure(path).mean() if whole else np.nan)
        outer.append(motion.steps["outer"].mean())
        short.append((motion.steps["residual"] > residual).mean())
    return Point(np.array(value), float(np.mean(outer)), float(np.mean(short)))


def draw_accuracies(folder: Path) -> Figure:
    """The quantity, what a run is off from the exact one, and iterations, by residual."""
    kinds = chosen(folder)
    if not kinds:
        raise Failure(f"{folder}: not all of the trajectories are there")
    made = [read_trajectory(path) for path in sorted(folder.glob("*.h5"))]
    labels = list(SOLVERS)
    sheet = Sheet(made, [], labels, 3, len(kinds), None, OWN_AXIS, ONE_LINE, hollow=HOLLOW)
    for column, kind in zip(sheet.grid().T, kinds, strict=True):
        exact = read_point(folder, kind, "exact", EXACT)
        print(f"{kind}: exactly {exact.value.mean():.4g}, by seed "
              f"{', '.join(f'{value:.4g}' for value in exact.value)}; "
              f"{exact.iterations:.1f} iterations")
        draw_subject(column, SUBJECTS[kind], exact, {
            solver: [read_point(folder, kind, f"{solver}-{residual:.0e}", residual)
                     for residual in residuals]
            for solver, residuals in SOLVERS.items()})
    return sheet.figure


def draw_subject(column: Sequence[Any], subject: Subject, exact: Point,
                 points: dict[str, list[Point]]) -> None:
    """Three panels, from above."""
    quantity, off, work = column
    middle, spread = exact.value.mean(), exact.value.std(ddof=1)
    for axes, low, high in ((quantity, middle - spread, middle + spread), (off, 0, spread)):
        axes.axhspan(low, high, color="0.88", zorder=0)
    quantity.axhline(middle, color="0.4", linewidth=0.8)
    for number, (solver, row) in enumerate(points.items()):
        there = [(residual, point) for residual, point in zip(SOLVERS[solver], row, strict=True)
                 if np.isfinite(point.value).all()]
        fell = [f"{r:.0e}" for r in SOLVERS[solver] if r not in dict(there)]
        if fell:
            print(f"  {solver}: fell apart at {', '.join(fell)}")
        if not there:
            continue
        style = style_of(number)
        shift = 1.15 ** (number - 1)  # that bars do not hide each other
        x = [residual * shift for residual, _ in there]
        means = [point.value.mean() for _, point in there]
        quantity.errorbar(x, means, [point.value.std(ddof=1) for _, point in there],
                          color=style["color"], linestyle="", capsize=1.5, linewidth=0.7)
        apart = [float(np.sqrt(((point.value - exact.value)**2).mean())) for _, point in there]
        hollow = [k for k, (_, point) in enumerate(there) if point.short > FEW]
        for axes, y, name in ((quantity, means, "mean"), (off, apart, "off"),
                              (work, [point.iterations for _, point in there], "iterations")):
            axes.plot(x, y, gid=f"{solver}, {name}", **style)
            axes.plot([x[k] for k in hollow], [y[k] for k in hollow], linestyle="", zorder=4,
                      marker=style["marker"], markersize=3.5, color=style["color"],
                      markerfacecolor="white")
        for (residual, point), far in zip(there, apart, strict=True):
            print(f"  {solver} {residual:.0e}: {point.value.mean():.4g} +- "
                  f"{point.value.std(ddof=1):.2g}, off by {far:.2g} (seeds: {spread:.2g}), "
                  f"{point.iterations:.1f} iterations, {100 * point.short:.0f} % of steps short")
    linear(quantity, "", subject.label)
    linear(off, "", "off from exact, r.m.s.")
    linear(work, "residual of the steps", "iterations a step")
    work.set_yscale("log")
    for axes in column:
        axes.set(xscale="log", xlim=(0.3, 3e-7), xticks=[1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
        axes.minorticks_off()
    off.set_yscale("log")
    if max(point.value.max() for row in points.values() for point in row) > 4 * middle:
        quantity.set_yscale("log")
    panel_title(quantity, subject.title)
