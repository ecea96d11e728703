"""Kleinert 2014 Fig. 6: ten discs at rest without friction, whose impulses are not unique."""
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.problem import Bodies, Problem, read_problem
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.results import read_result

RADIUS, MASS, ROWS = 0.5, 1, 4  # m, kg; discs in the lowest row
SOLVERS = ("pgs", "apgd", "ipm", "vipm")
RESIDUAL = 1e-9
SCENE = """\
name: ten-discs
description: discs that rest between two walls
dt: 0.01
until: 0.01
gravity: [0, 0, -10]
mu: 0
stepper: shake
solver: vipm
obstacles:
  - {{name: ground, shape: plane}}
  - {{name: left, shape: plane, axis: [1, 0, 0], position: [{left}, 0, 0]}}
  - {{name: right, shape: plane, axis: [-1, 0, 0], position: [{right}, 0, 0]}}
bodies:
"""
BODY = "  - {{shape: {{sphere: {}}}, mass: {}, moves: planar, position: [{:.17g}, 0, {:.17g}]}}\n"


def scene() -> str:
    """A scene file: rows of 4, 3, 2 and 1, each in the gaps of the one below, all touching."""
    places = [(RADIUS * (2 * i + row), RADIUS * (1 + row * np.sqrt(3)))
              for row in range(ROWS) for i in range(ROWS - row)]
    return (SCENE.format(left=-RADIUS, right=RADIUS * (2 * ROWS - 1))
            + "".join(BODY.format(RADIUS, MASS, x, z) for x, z in places))


def step_file(folder: Path) -> Path:
    return folder / "step" / "discs-steps.h5"


def run_discs(shop: Workshop) -> None:
    """The step's problem, and four solvers on it."""
    path = shop.folder / "step" / "discs.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(scene(), encoding="utf-8")
    shop.each({path.with_suffix(".h5"): ["simulate", path, "--freeze", 0]})
    shop.each({shop.folder / f"{solver}.h5": [
        "solve", f"{step_file(shop.folder)}#0", "--solver", solver, "--stop",
        f"residual={RESIDUAL}", "--keep-gamma"] for solver in SOLVERS})


def bodies_of(problem: Problem) -> Bodies:
    if not isinstance(problem.delassus, Bodies):
        raise Failure(f"{problem.name}: expected a problem in bodies form")
    return problem.delassus


def normal_rank(problem: Problem) -> int:
    """Of N among the normal impulses."""
    columns = []
    for contact in range(problem.contacts):
        unit = np.zeros((problem.contacts, 3))
        unit[contact, 0] = 1
        columns.append(bodies_of(problem).product(unit)[:, 0])
    return int(np.linalg.matrix_rank(np.array(columns), tol=1e-9))


def draw_impulses(axes: Any, problem: Problem, normal: Floats, largest: float) -> LineCollection:
    """Discs, and lines from their centres to where they touch, as wide as the impulse is large.
    Returns what has the colours."""
    bodies = bodies_of(problem)
    if bodies.position is None or bodies.arm_a is None or bodies.arm_b is None:
        raise Failure(f"{problem.name}: expected positions and arms of the bodies")
    place = bodies.position
    axes.add_collection(PatchCollection([Circle((x, z), RADIUS) for x, _, z in place],
                                        facecolor="0.95", edgecolor="0.7", linewidth=0.5))
    lines, values = [], []
    for sides, arms in zip(bodies.pairs.T, (bodies.arm_a, bodies.arm_b), strict=True):
        for body, arm, impulse in zip(sides, arms, normal, strict=True):
            if body >= 0:  # not the ground nor a wall
                lines.append([place[body, ::2], (place[body] + arm)[::2]])
                values.append(impulse)
    drawn = LineCollection(lines, linewidths=[12 * value / largest for value in values],
                           cmap="viridis_r", norm=Normalize(0, largest))
    drawn.set_array(np.array(values))
    axes.add_collection(drawn)
    edge = RADIUS * (2 * ROWS - 1)
    axes.plot([-RADIUS, -RADIUS, edge, edge], [2, 0, 0, 2], color="black", linewidth=0.8)
    axes.set(aspect="equal", xlim=(-0.7, edge + 0.2), ylim=(-0.2, 3.8), xlabel="x [m]",
             ylabel="z [m]")
    return drawn


def draw_discs(folder: Path) -> Figure:
    """A panel per solver."""
    problem = read_problem(f"{step_file(folder)}#0")
    runs = {name: read_result(folder / f"{name}.h5", gamma=True) for name in SOLVERS}
    normal = {name: run.gamma[:, 0] for name, run in runs.items() if run.gamma is not None}
    if len(normal) < len(runs):
        raise Failure(f"{folder}: expected impulses in every result file")
    rank = normal_rank(problem)
    print(f"{problem.contacts} contacts, N of rank {rank}: solutions differ in up to "
          f"{problem.contacts - rank} directions")
    largest = max(float(values.max()) for values in normal.values())
    sheet = Sheet(runs.values(), [], [], 2, 2, None, OWN_AXIS, ONE_LINE, bar=True)
    number = np.arange(problem.contacts)
    for axes, (name, run) in zip(sheet.grid().flat, runs.items(), strict=True):
        shown = draw_impulses(axes, problem, normal[name], largest)
        panel_title(axes, name)
        axes.plot(number, normal[name], gid=name, visible=False)  # for the table of what is drawn
        gamma = np.zeros((problem.contacts, 3))
        gamma[:, 0] = normal[name]
        fastest = np.abs(bodies_of(problem).product(gamma) + problem.r)[:, 0].max()
        print(f"{name}: residual {run.final('residual'):.1e}, impulses {normal[name].min():.3f} to "
              f"{normal[name].max():.3f} N s, {normal[name].sum():.3f} in all, fastest contact "
              f"{fastest:.1e} m/s")
    sheet.colour_bar(shown, "normal impulse, as width and colour [N s]")
    return sheet.figure
