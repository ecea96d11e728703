"""The Anitescu slides' Brazil nut: a large disc in a box of small ones that is shaken."""
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, linear, panel_title, set_scale
from ccpbench.reproduce.workshop import Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

SETTLE, SHAKES = 2, 60  # s, and periods of 1 s
RADIUS, NUT, HALF_WIDTH = 0.5, 1.5, 8  # m
PER_SHAKE = 10  # steps


def run_nuts(shop: Workshop) -> None:
    shop.motions({"nut": ["brazil-nut", "--until", SETTLE + SHAKES]}, accept=(0, 3))


def after_shakes(motion: Trajectory) -> tuple[Floats, Floats]:
    """[shakes + 1] m, when the box is down again: the height of the nut's centre, and that of the
    bed: of the highest disc but for a twentieth of them."""
    z = motion.position[SETTLE * PER_SHAKE::PER_SHAKE, :, 2]
    return z[:, 0], np.quantile(z[:, 1:], 0.95, axis=1) + RADIUS


def draw_discs(axes: Any, motion: Trajectory, shake: int) -> None:
    place = motion.position[(SETTLE + shake) * PER_SHAKE]
    axes.add_collection(PatchCollection([Circle((x, z), RADIUS) for x, _, z in place[1:]],
                                        facecolor="0.8", edgecolor="0.4", linewidth=0.3))
    axes.add_patch(Circle((place[0, 0], place[0, 2]), NUT, color=style_of(0)["color"]))
    axes.plot(HALF_WIDTH * np.array([-1, -1, 1, 1]), [22, 0, 0, 22], color="black", linewidth=0.8)
    axes.set(aspect="equal", xlim=(-9, 9), ylim=(-0.5, 22), xlabel="x [m]", ylabel="z [m]")
    panel_title(axes, f"after {shake} shakes")


def draw_nuts(folder: Path) -> Figure:
    """The box before and after; over shakes the heights of the nut and of the bed, and what steps
    cost."""
    motion = read_trajectory(folder / "nut.h5")
    labels = ["large disc", "bed", "contacts", "iterations", "Krylov iterations"]
    sheet = Sheet([motion], [], labels, 2, 2, None, OWN_AXIS, ONE_LINE)
    (first, last), (heights, costs) = sheet.grid()
    draw_discs(first, motion, 0)
    draw_discs(last, motion, SHAKES)
    nut, bed = after_shakes(motion)
    for number, values in enumerate((nut, bed)):
        heights.plot(np.arange(values.size), values, gid=labels[number],
                     **dict(style_of(number), markevery=10))
    print(f"large disc at {nut[0]:.2f} m, mean of shakes 1-10 {nut[1:11].mean():.2f} m, of the "
          f"last ten {nut[-10:].mean():.2f} m; bed {np.median(bed):.1f} m; "
          f"{motion.steps['contacts'].mean():.0f} contacts; deepest overlap "
          f"{motion.steps['penetration'].max():.2f} m, "
          f"{(motion.steps['residual'] > 1e-8).sum()} steps not solved")
    linear(heights, "shakes", "height of centre, of bed [m]")
    heights.set_ylim(0, 24)
    draw_costs(costs, motion, labels[2:])
    return sheet.figure


def draw_costs(axes: Any, motion: Trajectory, labels: list[str]) -> None:
    """Of a step, the mean over each shake."""
    first = SETTLE * PER_SHAKE
    every: list[float] = []
    for number, (label, quantity) in enumerate(zip(labels, ("contacts", "outer", "krylov"),
                                                   strict=True), 2):
        a_step = np.asarray(motion.steps[quantity][first:], float)
        mean = a_step[:a_step.size // PER_SHAKE * PER_SHAKE].reshape(-1, PER_SHAKE).mean(axis=1)
        axes.plot(np.arange(1, mean.size + 1), mean, gid=f"{label} a step",
                  **dict(style_of(number), markevery=10))
        every += list(mean[mean > 0])
        print(f"{label} a step: {a_step.mean():.3g} in the mean, {a_step.max():.4g} at most")
    print(f"solving: {motion.steps['solver_time'].sum():.3g} s in all")
    set_scale(axes, [SHAKES], every or [1], False)
    axes.set(xlabel="shakes", ylabel="a step, mean of a shake")
