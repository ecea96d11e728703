"""Koziara 2019 Sect. 8.2: an array of cubes in a box that is shaken; the paper has no results."""
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, linear, moving_average, panel_title
from ccpbench.reproduce.koziara2019_drum import rotation
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

RESIDUAL = 1e-4
ITERATIONS = 200   # at most, as in the author's script
EVERY = 20       # steps between frames
WINDOW = 100     # steps, a running mean
SMALL = ("shaken-cubes[cubes=3]", 1.6)  # and until when, s: two periods
DELTAS = (0, 1e-5, 1e-3, 0.01, 0.05)  # of those of the author's script, relative to the mean N_ii
BEST = 0.01
PQN = "pqn[delta_relative_to=avg,delta={},krylov_tolerance=0.25,krylov_max_iterations=10]"
# By the name of the file: how the figure calls it, the solver.
SOLVERS = {"pqn": ("pqn, \u03b4 = 0.01 avg N$_{ii}$", PQN.format(BEST)),
           "pgs": ("Gauss-Seidel", "pgs[law=coulomb]"),
           "vipm": ("vipm, convex law", "vipm")}


def delta_file(folder: Path, delta: float) -> Path:
    """Of a run of pqn."""
    return folder / ("pqn.h5" if delta == BEST else f"pqn-{delta:g}.h5")


def run_cubes(shop: Workshop) -> None:
    """By each solver, and by pqn with each delta; with --problems for the whole signal."""
    scene, until = SMALL
    scene = shop.scene(scene)
    time = ["--until", until] if shop.problems == "ours" else []
    solvers = {shop.folder / f"{name}.h5": solver for name, (_, solver) in SOLVERS.items()}
    solvers |= {delta_file(shop.folder, delta): PQN.format(delta) for delta in DELTAS}
    shop.each({path: ["simulate", scene, *time, "--solver", solver, "--residual", RESIDUAL,
                      "--iterations", ITERATIONS, "--every", EVERY]
               for path, solver in solvers.items()}, accept=(0, 3))


def box_at(motion: Trajectory, time: Floats) -> Floats:
    """Displacement of the box along (1, 1, 0), m."""
    option = {name: float(motion.option[name]) for name in ("acceleration", "frequency", "rest")}
    omega = 2 * np.pi * option["frequency"]
    since = np.maximum(0, time - option["rest"])
    displacement: Floats = option["acceleration"] / omega**2 * (1 - np.cos(omega * since))
    return displacement


def box_size(motion: Trajectory) -> float:
    """Edge of the box, m."""
    count, edge, gaps = (float(motion.option[name]) for name in ("cubes", "edge", "gaps"))
    return count * edge + (count + 1) * gaps / count


def ahead(motion: Trajectory) -> Floats:
    """[frames], how far the centre of mass is from that of the box along (1, 1, 0), m."""
    centre = motion.position.mean(axis=1)
    along: Floats = (centre[:, 0] + centre[:, 1]) / np.sqrt(2)
    return along - box_at(motion, motion.frame_time)


def force_on_walls(motion: Trajectory) -> Floats:
    """[steps], along (1, 1, 0), of the cubes on all six walls, N."""
    if motion.obstacle_force is None:
        raise Failure("a trajectory without forces on its walls")
    total = motion.obstacle_force.sum(axis=1)
    along: Floats = (total[:, 0] + total[:, 1]) / np.sqrt(2)
    return along


def corners(motion: Trajectory, body: int, frame: int) -> Floats:
    """[8][3] of a cube."""
    half = motion.body_size[body]
    turn = rotation(motion.orientation[frame, body])
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    points: Floats = motion.position[frame, body] + (signs * half) @ turn.T
    return points


def hull(points: Floats) -> Floats:
    """The corners [k][2] of the convex hull of points in a plane, in turn."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))]

    def chain(row: Floats) -> list[Floats]:
        kept: list[Floats] = []
        for point in row:
            while len(kept) > 1 and cross(kept[-1] - kept[-2], point - kept[-1]) <= 0:
                kept.pop()
            kept.append(point)
        return kept[:-1]

    return np.array(chain(order) + chain(order[::-1]))


def cross(a: Floats, b: Floats) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def draw_section(axes: Any, motion: Trajectory, frame: int) -> None:
    """The cubes as they are seen along y, the nearer the lighter, and the box."""
    size, at = box_size(motion), box_at(motion, motion.frame_time)[frame] / np.sqrt(2)
    order = np.argsort(-motion.position[frame, :, 1])
    cubes = PatchCollection([Polygon(hull(100 * corners(motion, int(b), frame)[:, [0, 2]]))
                             for b in order], cmap="Greys_r", edgecolor="0.2", linewidth=0.4)
    cubes.set_array(-motion.position[frame, order, 1])
    cubes.set_clim(-1.5 * size, size)
    axes.add_collection(cubes)
    axes.add_patch(Rectangle((100 * (at - size / 2), 0), 100 * size, 100 * size, fill=False,
                             linewidth=1.0))
    axes.set(aspect="equal", xlim=(100 * (at - 0.6 * size), 100 * (at + 0.6 * size)),
             ylim=(-10 * size, 110 * size), xlabel="x [cm]", ylabel="z [cm]")
    panel_title(axes, f"{motion.frame_time[frame]:.3g} s")


def draw_cubes(folder: Path) -> Figure:
    """The last frame; centre of mass and force on the walls over time; iterations over time and
    over delta."""
    paths = {name: folder / f"{name}.h5" for name in SOLVERS}
    others = {delta: delta_file(folder, delta) for delta in DELTAS}
    if not all(path.exists() for path in (*paths.values(), *others.values())):
        raise Failure(f"{folder}: not all of the trajectories are there")
    motions = {name: read_trajectory(path) for name, path in paths.items()}
    labels = [title for title, _ in SOLVERS.values()]
    sheet = Sheet(motions.values(), [], labels, 2, 3, None, OWN_AXIS, ONE_LINE)
    (section, centre, force), (work, touching, over_delta) = sheet.grid()
    draw_section(section, motions["pqn"], -1)
    for number, (name, motion) in enumerate(motions.items()):
        style = dict(style_of(number), marker="", linewidth=0.8)
        title = SOLVERS[name][0]
        for axes, x, y in (
                (centre, motion.frame_time, 1000 * ahead(motion)),
                (force, *mean_of(motion, force_on_walls(motion))),
                (work, *mean_of(motion, motion.steps["outer"])),
                (touching, *mean_of(motion, motion.steps["contacts"]))):
            axes.plot(x, y, gid=title, **style)
        print_row(title, motion)
    linear(centre, "time [s]", "centre against the box [mm]")
    linear(force, "time [s]", f"force on the box [N], mean of {WINDOW}")
    linear(work, "time [s]", f"iterations a step, mean of {WINDOW}")
    linear(touching, "time [s]", f"contacts, mean of {WINDOW}")
    work.set(yscale="log", ylim=(1, None))
    draw_deltas(over_delta, others)
    return sheet.figure


def mean_of(motion: Trajectory, values: Floats) -> tuple[Floats, Floats]:
    """A running mean, and the times at the end of each."""
    window = min(WINDOW, len(motion.time))
    return motion.time[window - 1:], moving_average(np.asarray(values, float), window)


def draw_deltas(axes: Any, paths: dict[float, Path]) -> None:
    """Iterations a step by delta, and what part of the steps failed."""
    style = style_of(0)
    mean, failed = [], []
    for delta, path in paths.items():
        motion = read_trajectory(path)
        mean.append(float(motion.steps["outer"].mean()))
        failed.append(float((motion.steps["residual"] > RESIDUAL).mean()))
        print_row(f"pqn, delta {delta:g} avg", motion)
    places = np.arange(len(paths))
    axes.plot(places, mean, gid="iterations a step", **style)
    linear(axes, r"$\delta$, avg N$_{ii}$", "iterations a step, of pqn")
    axes.set(yscale="log", ylim=(min(mean) / 2, 2.5 * max(mean)))
    axes.set_xlim(-0.5, len(paths) - 0.5)
    axes.set_xticks(places, [f"{delta:g}" for delta in paths])
    for place, value, part in zip(places, mean, failed, strict=True):
        axes.annotate(f"{100 * part:.2g} %", (place, value), xytext=(0, 5),
                      textcoords="offset points", ha="center", fontsize=6.5)


def print_row(name: str, motion: Trajectory) -> None:
    outer = np.asarray(motion.steps["outer"], float)
    residual = np.asarray(motion.steps["residual"], float)
    shaken = motion.time > float(motion.option["rest"])
    print(f"{name}: {outer.mean():.1f} iterations a step ({outer[~shaken].mean():.1f} at rest, "
          f"{outer[shaken].mean():.1f} shaken), {int((residual > RESIDUAL).sum())} of {outer.size} "
          f"steps not to {RESIDUAL:g}, {motion.steps['solver_time'].sum():.3g} s, "
          f"{motion.steps['contacts'].mean():.0f} contacts, overlap "
          f"{1e3 * motion.steps['penetration'].max():.2g} mm, {motion.time[-1]:.4g} s")
