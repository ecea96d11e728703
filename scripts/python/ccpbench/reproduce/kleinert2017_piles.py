"""Kleinert 2017 Fig. 5 and Kleinert 2014 Fig. 7: the piles of the Test Problems, and what their
spheres carry."""
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.problem import Problem, read_problem
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, draw_spheres, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.results import Run, read_result

NUMBERS = (1, 2, 3)
RESIDUAL = 1e-6
FAINT = 1e-1                # weights: the lower end of the colours
COLOURS = "viridis_r"


def run_pictures(shop: Workshop) -> None:
    """The problems, and a solution of each."""
    jobs: dict[Path, list[object]] = {}
    for problem in dict.fromkeys(shop.problem_file(number) for number in NUMBERS):
        kept = shop.folder / "problems" / problem.name
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            shutil.copyfile(problem, kept)
        jobs[shop.folder / problem.name] = ["solve", kept, "--solver", "vipm", "--stop",
                                            f"residual={RESIDUAL}", "--keep-gamma"]
    shop.each(jobs)


def carried(problem: Problem, run: Run) -> Floats:
    """[spheres] the largest impulse of a sphere's contacts, over what the mean sphere's weight has
    in a step."""
    if run.gamma is None:
        raise Failure(f"{run.path}: expected the impulses")
    size = np.linalg.norm(run.gamma, axis=1)
    largest = np.zeros(len(problem.bodies.inverse_mass))
    for side in problem.bodies.pairs.T:
        np.maximum.at(largest, side[side >= 0], size[side >= 0])
    mass = (1 / problem.bodies.inverse_mass).mean()
    weighed: Floats = largest / (mass * np.linalg.norm(problem.gravity) * problem.dt)
    return weighed


def describe(problem: Problem, load: Floats) -> None:
    """What the text says of a pile."""
    place, radius, gap = problem.bodies.position, problem.bodies.radius, problem.gap
    if place is None or radius is None or gap is None:
        return
    top = (place[:, 2] + radius).max()
    reach = np.quantile(np.hypot(*(place[:, :2] - place[:, :2].mean(axis=0)).T), 0.95)
    print(f"{problem.name}: {len(load)} spheres, {problem.contacts} contacts, "
          f"{(gap <= 0).sum()} of them touch; top at {100 * top:.1f} cm, 95 % within "
          f"{100 * reach:.0f} cm; largest force {load.max():.1f} weights, "
          f"{(load < FAINT).mean():.1%} of the spheres carry less than {FAINT:g}")


def draw_pile(axes: Any, problem: Problem, load: Floats, scale: LogNorm,
              view: float) -> PatchCollection:
    """As seen from afar, the nearest spheres on top. Returns what has the colours of the loads.
    @param view  degrees of the eye above the ground"""
    place, radius = problem.bodies.position, problem.bodies.radius
    if place is None or radius is None:
        raise Failure(f"{problem.name}: expected positions and radii of spheres")
    place = place - place.mean(axis=0)
    spheres = draw_spheres(axes, place, radius, np.maximum(load, FAINT), COLOURS, scale, "0.15",
                           view)
    spheres.set_linewidth(0.1)
    reach = 105 * np.abs(place[:, :2]).max()
    low, high = axes.dataLim.intervaly
    edge = 0.05 * reach
    axes.set(xlim=(-reach, reach), ylim=(low - edge, high + edge),
             ylabel="y [cm]" if view == 90 else "height [cm]")
    return spheres


def draw_pictures(folder: Path) -> Figure:
    """A column of panels per pile."""
    paths = sorted(folder.glob("*.h5"))
    if not paths:
        raise Failure(f"{folder}: no solution of a pile is there")
    runs = [read_result(path, gamma=True) for path in paths]
    problems = [read_problem(folder / "problems" / path.name) for path in paths]
    sheet = Sheet(runs, [], [], 2, len(paths), None, OWN_AXIS, ONE_LINE, bar=True)
    grid = sheet.grid(height_ratios=(1, 2))
    loads = [carried(problem, run) for problem, run in zip(problems, runs, strict=True)]
    scale = LogNorm(FAINT, max(float(load.max()) for load in loads))
    for column, (problem, load) in enumerate(zip(problems, loads, strict=True)):
        side, above = grid[:, column]
        for axes, view, anchor in ((side, 8, "S"), (above, 90, "N")):
            shown = draw_pile(axes, problem, load, scale, view)
            axes.set_anchor(anchor)
        panel_title(side, f"{problem.name}, {len(load):,} spheres")
        panel_title(above, "from above")
        side.plot(np.arange(len(load)), load, gid=problem.name, visible=False)
        describe(problem, load)
    sheet.colour_bar(shown, "largest contact force of a sphere, in weights of a mean one")
    return sheet.figure
