"""Wang 2016 Figs. 5, 6, 8, 9: a pile that melts with few iterations a step, by five starts."""
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import (
    ONE_LINE,
    OWN_AXIS,
    by_iterations,
    draw_spheres,
    panel_title,
    set_scale,
)
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

SPHERES = 500
ITERATIONS = (10, 30, 100)
# By the name of the file: how the figure calls it, and --start.
STARTS = {"cold": ("cold", "cold"), "history": ("history", "history"),
          "normals": ("history, normals only", "history[rows=normals]"),
          "plain": ("history, velocities without it", "history[velocity=false]"),
          "model": ("model", "model")}
SOLVER = ("--solver", "pgs[law=coulomb,tolerance=0]", "--fixed-iterations", "--every", 100)
PREPARED = 500  # iterations, as in the paper
MELTING = 3     # s; in the paper 10
LOOK, LOOKED = 199, 100  # step after 1 s whose residuals are kept, of the runs with that many
KINDS = ("normal", "tangential", "rolling")


def at_rest(shop: Workshop, spheres: int) -> tuple[str, Path, dict[Path, list[object]]]:
    """The scene, where the pile at rest is, and what makes it."""
    scene, rest = shop.scene(f"rolling-pile[spheres={spheres}]"), shop.folder / "rest.h5"
    return scene, rest, {rest: ["simulate", scene, *SOLVER, "--start", "history", "--iterations",
                                PREPARED, "--until", 5]}


def run_piles(shop: Workshop) -> None:
    """A pile at rest, and what becomes of it by iterations and start."""
    scene, rest, jobs = at_rest(shop, SPHERES)
    for count in ITERATIONS:
        for name, (_, start) in STARTS.items():
            looks = ("--row-residuals", LOOK) if count == LOOKED else ()
            jobs[shop.folder / f"{name}-{count}.h5"] = [
                "simulate", scene, *SOLVER, "--start", start, "--iterations", count, "--from", rest,
                "--until", MELTING, *looks]
    shop.each(jobs, accept=(0, 3))


def height(motion: Trajectory) -> float:
    """m, of the centre of mass in the last frame: that of the highest sphere is up to chance."""
    return float(motion.position[-1, :, 2].mean())


def residuals(path: Path, radius: float) -> dict[str, Floats]:
    """[iterations + 1] by kind of row, m/s: mean of what a step of a row would change; rolling at
    the surface of a sphere."""
    with h5py.File(path) as file:
        rows = file["row_residuals"]
        last = rows["solve"][()] == rows["solve"][()].max()
        return {kind: rows[kind][()][last] * (radius if kind == "rolling" else 1)
                for kind in KINDS}


def draw_section(axes: Any, motion: Trajectory, title: str) -> None:
    """From the side, the nearer the lighter."""
    place = motion.position[-1]
    draw_spheres(axes, place, motion.body_size[:, 0], -place[:, 1], "Greys_r",
                 Normalize(-0.25, 0.1), "0.2")
    axes.set(xlim=(-18, 18), ylim=(-1, 12))
    axes.axhline(0, color="black", linewidth=0.6)
    panel_title(axes, title)


def draw_piles(folder: Path) -> Figure:
    """Three sections; height lost by iterations, residuals in a solve and at its end by kind."""
    paths = {(name, count): folder / f"{name}-{count}.h5"
             for name in STARTS for count in ITERATIONS}
    rest = folder / "rest.h5"
    if not all(path.exists() for path in (rest, *paths.values())):
        raise Failure(f"{folder}: not all of the trajectories are there")
    prepared = read_trajectory(rest)
    piles = {key: read_trajectory(path) for key, path in paths.items()}
    labels = [title for title, _ in STARTS.values()]
    sheet = Sheet(piles.values(), [], labels, 2, 3, None, OWN_AXIS, ONE_LINE)
    sections, (lost, solve, end) = sheet.grid()
    some = ITERATIONS[1]
    draw_section(sections[0], prepared, "at rest")
    for axes, name in zip(sections[1:], ("cold", "history"), strict=True):
        draw_section(axes, piles[name, some], f"{name}, {MELTING} s with {some} iterations")
    every: list[float] = []
    for number, (name, (title, _)) in enumerate(STARTS.items()):
        loss = [100 * (1 - height(piles[name, count]) / height(prepared)) for count in ITERATIONS]
        style = style_of(number)
        lost.plot(ITERATIONS, loss, gid=title, **style)
        rows = residuals(paths[name, LOOKED], float(prepared.body_size[0, 0]))
        whole = rows["tangential"][1:]  # nothing slides before the first iteration of a cold start
        solve.plot(np.arange(1, whole.size + 1), whole, gid=title, **dict(style, markevery=20))
        last = [float(rows[kind][-1]) for kind in KINDS]
        end.plot(range(len(KINDS)), last, gid=title, **dict(style, linestyle=""))
        every += [*whole[whole > 0], *last]
        print(f"{title}: mean height lost in percent " + ", ".join(
            f"{count}: {value:.1f}" for count, value in zip(ITERATIONS, loss, strict=True)))
        print("  residuals in m/s " + ", ".join(
            f"{kind}: {rows[kind][0]:.2g} to {value:.2g}"
            for kind, value in zip(KINDS, last, strict=True)))
    by_iterations(lost, ITERATIONS, f"mean height lost in {MELTING} s [%]")
    set_scale(solve, [0, LOOKED], every, False)
    solve.set(xlabel="iterations", ylabel="tangential residual [m/s]")
    set_scale(end, [0, len(KINDS) - 1], every, False)
    end.set(xlim=(-0.5, len(KINDS) - 0.5), xticks=range(len(KINDS)), xticklabels=KINDS,
            ylabel="mean residual [m/s]")
    panel_title(end, f"after {LOOKED} iterations")
    return sheet.figure
