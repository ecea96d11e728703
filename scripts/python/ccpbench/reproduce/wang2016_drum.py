"""Wang 2016 Figs. 10 to 13: spheres in a drum that turns, by iterations a step and start."""
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ccpbench.arrays import Floats
from ccpbench.figures import SMALL, Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, by_iterations, draw_spheres, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

ITERATIONS = (10, 30, 100, 200)
STARTS = {"cold": "cold", "history": "warm, history"}  # by `--start`
EVERY = 20     # steps between frames: 0.1 s
AVERAGED = 2   # s, the last, as in the paper
PLUG = 0.15    # of R omega: what is slower against the drum turns with it
AVERAGE = ", mean speeds of these 2 s"
# By the label of the axis: what of a drum, and how its curves are called.
QUANTITIES = {"spheres in the plug [%]": {"plug": "", "steady": AVERAGE},
              "angle of the centre of mass [\u00b0]": {"angle": ""},
              "contacts": {"contacts": ""}}


def run_drums(shop: Workshop) -> None:
    """A drum for each number of iterations and start."""
    scene = shop.scene("rotating-drum")
    shop.each({shop.folder / f"{name}-{count}.h5": [
        "simulate", scene, "--solver", "pgs[law=coulomb,tolerance=0]", "--start", name,
        "--iterations", count, "--fixed-iterations", "--every", EVERY]
        for name in STARTS for count in ITERATIONS}, accept=(0, 3))


@dataclass
class Drum:
    """What the paper measures, frame by frame of the last two seconds."""
    motion: Trajectory
    option: dict[str, str]
    slip: Floats   # [f][b], |v - omega x r| / (R omega)
    angle: Floats  # [f], degrees, of the centre of mass from below

    @property
    def plug(self) -> Floats:
        """[f], the part of the spheres that turn with the drum, percent."""
        return np.asarray(100 * (self.slip <= PLUG).mean(axis=1))

    @property
    def steady(self) -> Floats:
        """The same of their mean speeds against it, of all frames."""
        return np.asarray(100 * (self.slip.mean(axis=0) <= PLUG).mean())

    @property
    def contacts(self) -> Floats:
        """[s], of every step of these seconds: the more, the more compressed."""
        late = self.motion.time >= self.motion.time[-1] - AVERAGED
        return np.asarray(self.motion.steps["contacts"][late], float)


def read_drum(path: Path, averaged: float = AVERAGED) -> Drum:
    """@param averaged  s, the last of the trajectory"""
    motion = read_trajectory(path)
    option = motion.option
    omega, radius = float(option["omega"]), float(option["drum"]) / 2
    late = motion.frame_time >= motion.frame_time[-1] - averaged - 1e-9
    place, speed = motion.position[late], motion.velocity[late, :, :3]
    turning = omega * np.stack([place[..., 2], 0 * place[..., 0], -place[..., 0]], axis=-1)
    slip = np.linalg.norm(speed - turning, axis=-1) / (radius * omega)
    mass = motion.body_size[:, 0] ** 3
    centre = (place * mass[:, None]).sum(axis=1) / mass.sum()
    return Drum(motion, option, slip, np.degrees(np.arctan2(-centre[:, 0], -centre[:, 2])))


def draw_section(axes: Any, drum: Drum, title: str) -> Any:
    """The end plate's view of the last frame, by the speed against the drum; what has that."""
    spheres = draw_spheres(axes, drum.motion.position[-1], drum.motion.body_size[:, 0],
                           drum.slip[-1], "viridis", Normalize(0, 4 * PLUG), "0.3")
    wall = 50 * float(drum.option["drum"])
    axes.add_patch(Circle((0, 0), wall, fill=False, color="black", linewidth=0.8))
    reach = (-1.05 * wall, 1.05 * wall)
    axes.set(xlim=reach, ylim=reach)
    panel_title(axes, title)
    return spheres


def draw_drums(folder: Path) -> Figure:
    """Three sections; plug, angle and contacts by iterations."""
    drums = {(name, count): read_drum(path) for name in STARTS for count in ITERATIONS
             if (path := folder / f"{name}-{count}.h5").exists()}
    if len(drums) < len(STARTS) * len(ITERATIONS):
        raise Failure(f"{folder}: not all of the trajectories are there")
    labels = [title + more for more in ("", AVERAGE) for title in STARTS.values()]
    sheet = Sheet([drum.motion for drum in drums.values()], [], labels, 2, 3,
                  None, OWN_AXIS, ONE_LINE)
    grid = sheet.grid()
    few, many = ITERATIONS[0], ITERATIONS[-1]
    for axes, (name, count) in zip(grid[0], (("cold", few), ("cold", many), ("history", few)),
                                   strict=True):
        spheres = draw_section(axes, drums[name, count], f"{STARTS[name]}, {count} iterations")
    inside = axes.inset_axes((0.5, 0.92, 0.45, 0.04))
    sheet.figure.colorbar(spheres, cax=inside, orientation="horizontal", ticks=(0, 0.3, 0.6),
                          extend="max")
    inside.tick_params(labelsize=SMALL - 1)
    inside.set_xlabel("speed against drum / (R \u03a9)", fontsize=SMALL - 1.5, labelpad=1)
    for axes, (label, quantities) in zip(grid[1], QUANTITIES.items(), strict=True):
        for quantity, more in quantities.items():
            for name, title in STARTS.items():
                values = [getattr(drums[name, count], quantity) for count in ITERATIONS]
                draw_means(axes, values, labels.index(title + more), title + more, label)
        by_iterations(axes, ITERATIONS, label)
    return sheet.figure


def draw_means(axes: Any, values: Sequence[Floats], number: int, name: str, label: str) -> None:
    """By iterations, with the standard deviation over the frames."""
    mean, spread = [value.mean() for value in values], [value.std() for value in values]
    style = style_of(number)
    axes.errorbar(ITERATIONS, mean, spread, color=style["color"], linestyle="", capsize=2,
                  linewidth=0.8)
    axes.plot(ITERATIONS, mean, gid=name, **style)
    print(f"{name}: {label}: " + ", ".join(
        f"{count}: {value:.3g} +- {width:.2g}"
        for count, value, width in zip(ITERATIONS, mean, spread, strict=True)))
