"""Wang 2016 Figs. 14 to 16: the deviator of spheres in a triaxial cell, by iterations and start."""
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import (
    ONE_LINE,
    OWN_AXIS,
    by_iterations,
    draw_spheres,
    linear,
    moving_average,
    panel_title,
)
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

ITERATIONS = (25, 50, 100, 200, 400)
STARTS = {"cold": "cold", "history": "warm, history"}  # by `--start`
SHOWN = 200          # iterations of the sections and of the curves over the strain
CRITICAL = (0.1, 0.25)  # of the height: where the paper averages
WINDOW = 20          # steps, a running mean
PRESSED = 2          # s, in which the cell comes to rest
UNTIL = 3.5          # s


def run_cells(shop: Workshop) -> None:
    """A cell for each number of iterations and start, pressed and strained alike."""
    scene = shop.scene(f"triaxial-cell[press={PRESSED}]")
    shop.each({shop.folder / f"{name}-{count}.h5": [
        "simulate", scene, "--solver", "pgs[law=coulomb,tolerance=0]", "--start", name,
        "--iterations", count, "--fixed-iterations", "--until", UNTIL, "--every", 1]
        for count in ITERATIONS for name in STARTS}, accept=(0, 3))


@dataclass
class Cell:
    """Of the frames since it is strained."""
    motion: Trajectory
    extent: Floats    # [f][3], m, between opposite walls
    strain: Floats    # [f], of the height
    deviator: Floats  # [f], Pa, mean of both walls across z, less the pressure of the others

    def critical(self) -> Floats:
        """Pa, of the frames in that range of strain."""
        low, high = CRITICAL
        return np.asarray(self.deviator[(self.strain >= low) & (self.strain <= high)])


def read_cell(path: Path) -> Cell:
    """Walls are the last six bodies, at -x, x, -y, y, -z, z."""
    motion = read_trajectory(path)
    option = motion.option
    mass, dt, speed = (float(option[name]) for name in ("wall", "dt", "speed"))
    walls = motion.position[:, -6:]
    extent = np.stack([walls[:, 2 * k + 1, k] - walls[:, 2 * k, k] for k in range(3)], axis=-1)
    # A wall is given its speed before contacts act: what it lacks afterwards is what they took.
    inwards = np.stack([motion.velocity[:, -2, 2], -motion.velocity[:, -1, 2]], axis=-1)
    force = mass * (speed - inwards) / dt
    stress = force.mean(axis=-1) / (extent[:, 0] * extent[:, 1])
    since = motion.frame_time > float(option["press"]) + 1e-9
    height = extent[~since, 2][-1]
    return Cell(motion, extent[since], 1 - extent[since, 2] / height,
                stress[since] - float(option["pressure"]))


def draw_cell(axes: Any, cell: Cell, frame: int, title: str) -> None:
    """The spheres of a frame, from the side, the nearer the lighter; the walls."""
    motion = cell.motion
    place, walls = motion.position[frame - 1, :-6], 100 * motion.position[frame - 1, -6:]
    draw_spheres(axes, place, motion.body_size[:-6, 0], -place[:, 1], "Greys_r",
                 Normalize(-0.07, 0.07), "0.2")
    low, high = (walls[0, 0], walls[4, 2]), (walls[1, 0], walls[5, 2])
    axes.add_patch(Rectangle(low, high[0] - low[0], high[1] - low[1], fill=False, linewidth=0.8))
    axes.set(xlim=(-9, 9), ylim=(-9, 9))
    panel_title(axes, title)


def draw_cells(folder: Path) -> Figure:
    """The cell before and after; deviator over strain and by iterations."""
    cells = {(name, count): read_cell(path) for name in STARTS for count in ITERATIONS
             if (path := folder / f"{name}-{count}.h5").exists()}
    if len(cells) < len(STARTS) * len(ITERATIONS):
        raise Failure(f"{folder}: not all of the trajectories are there")
    labels = list(STARTS.values())
    sheet = Sheet([cell.motion for cell in cells.values()], [], labels, 1, 4,
                  None, OWN_AXIS, ONE_LINE)
    before, after, curves, means = sheet.grid()[0]
    shown = cells["history", SHOWN]
    frames = len(shown.motion.frame_step)
    draw_cell(before, shown, frames - len(shown.strain), "pressed together")
    draw_cell(after, shown, frames, f"strained by {100 * shown.strain[-1]:.0f} %")
    for number, (name, title) in enumerate(STARTS.items()):
        cell, style = cells[name, SHOWN], style_of(number)
        curves.plot(moving_average(100 * cell.strain, WINDOW),
                    moving_average(cell.deviator, WINDOW), gid=f"{title}, {SHOWN}",
                    **dict(style, marker=""))
        critical = [cells[name, count].critical() for count in ITERATIONS]
        middle = [values.mean() for values in critical]
        means.errorbar(ITERATIONS, middle, [values.std() for values in critical],
                       color=style["color"], linestyle="", capsize=2, linewidth=0.8)
        means.plot(ITERATIONS, middle, gid=f"{title}, critical", **style)
        print(f"{title}: deviator at a strain of {CRITICAL[0]:.0%} to {CRITICAL[1]:.0%}: " +
              ", ".join(f"{count}: {values.mean():.3g} +- {values.std():.2g} Pa"
                        for count, values in zip(ITERATIONS, critical, strict=True)))
    linear(curves, "strain of the height [%]", "\u03c3$_z$ \u2212 \u03c3 [Pa]")
    panel_title(curves, f"{SHOWN} iterations a step")
    by_iterations(means, ITERATIONS, "\u03c3$_z$ \u2212 \u03c3, critical [Pa]")
    means.set_ylim(0, None)
    return sheet.figure
