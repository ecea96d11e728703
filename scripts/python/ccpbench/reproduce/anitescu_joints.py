"""The Anitescu slides' joints with and without stabilisation, and stiff forces."""
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.anitescu_motions import fitted_order
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, linear, panel_title, set_scale
from ccpbench.reproduce.workshop import Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

# ---- two rods with joints, one of which meets the ground

STEPS = (0.02, 0.01, 0.005, 0.0025)  # s
SHOWN = 0.01                         # s
HALF = 0.5                           # m, of a rod
SCHEMES = {"unstabilised": "lcp[stabilised=false]", "stabilised": "lcp"}
UNTIL = 5                            # s


def run_joints(shop: Workshop) -> None:
    shop.motions({f"{name}-{h}": [f"double-pendulum[dt={h}]", "--stepper", stepper, "--until",
                                  UNTIL]
                  for name, stepper in SCHEMES.items() for h in STEPS})


def opening(motion: Trajectory) -> Floats:
    """[frames], m, the larger one of the distances in the two joints."""
    angle = 2 * np.arctan2(motion.orientation[..., 2], motion.orientation[..., 0])
    arm = HALF * np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=-1)
    first, second = motion.position[:, 0], motion.position[:, 1]
    return np.asarray(np.maximum(
        np.linalg.norm(first - arm[:, 0], axis=-1),
        np.linalg.norm(first + arm[:, 0] - second + arm[:, 1], axis=-1)))


def draw_joints(folder: Path) -> Figure:
    """How far joints are open over time, at most by h, and the energy."""
    motions = {(name, h): read_trajectory(folder / f"{name}-{h}.h5")
               for name in SCHEMES for h in STEPS}
    labels = list(SCHEMES)
    sheet = Sheet(motions.values(), [], labels, 1, 3, None, OWN_AXIS, ONE_LINE)
    drift, order, energy = sheet.grid()[0]
    every: list[float] = []
    open_by: list[float] = []
    for number, name in enumerate(SCHEMES):
        style = style_of(number)
        motion = motions[name, SHOWN]
        gap = opening(motion)
        drift.plot(motion.time, gap[1:], gid=f"{name}, open", **dict(style, marker=""))
        every += list(gap[1:])
        largest = [float(opening(motions[name, h]).max()) for h in STEPS]
        order.plot(STEPS, largest, gid=f"{name}, largest", **style)
        open_by += largest
        total = motion.steps["kinetic"] + motion.steps["potential"]
        energy.plot(motion.time, total, gid=f"{name}, energy", **dict(style, marker=""))
        print(f"{name}: open by " + ", ".join(f"{value:.3g} m at h = {h:g} s"
                                              for h, value in zip(STEPS, largest, strict=True)) +
              f"; order {fitted_order(STEPS, largest):.2f}; energy grows by at most "
              f"{max(0.0, float(np.diff(total).max())):.2g} J in a step of h = {SHOWN:g} s")
    set_scale(drift, [0, UNTIL], [max(value, 1e-10) for value in every], False)
    drift.set(xlabel="time [s]", ylabel="joints open by [m]")
    panel_title(drift, f"h = {SHOWN:g} s")
    set_scale(order, STEPS, open_by, True)
    order.set(xlabel="time step h [s]", ylabel=f"largest in {UNTIL} s [m]")
    linear(energy, "time [s]", "energy [J]")
    panel_title(energy, f"h = {SHOWN:g} s")
    return sheet.figure


# ---- a mass on a stiff spring

STIFF_STEPS = [10.0**-k for k in range(5)]  # s
LIMIT = 2e-3  # s, of an explicit step, 2 sqrt(m / k)
STATIC = 9.81e-6  # m, m g / k
STIFF = {"linearly implicit": "true", "explicit": "false"}
STIFF_TIME = 2    # s


def run_stiff(shop: Workshop) -> None:
    shop.motions({f"{name.split(maxsplit=1)[0]}-{h:g}": [
        f"spring-mass[damping=0,implicit={flag},dt={h:g}]", "--until", STIFF_TIME]
        for name, flag in STIFF.items() for h in STIFF_STEPS}, accept=(0, 1, 3))


def draw_stiff(folder: Path) -> Figure:
    """By h: how far from rest the mass gets in the second half of the time."""
    labels = list(STIFF)
    far: dict[str, list[float]] = {}
    motions = []
    for name in STIFF:
        far[name] = []
        for h in STIFF_STEPS:
            motion = read_trajectory(folder / f"{name.split(maxsplit=1)[0]}-{h:g}.h5")
            motions.append(motion)
            # It may have diverged before.
            late = motion.frame_time >= min(STIFF_TIME / 2, motion.frame_time[-1])
            stretch = -motion.position[late, 0, 2] - 1
            far[name].append(float(np.abs(stretch - STATIC).max()))
        print(f"{name}: " + ", ".join(f"{value:.2g} m at h = {h:g} s"
                                      for h, value in zip(STIFF_STEPS, far[name], strict=True)))
    sheet = Sheet(motions, [], labels, 1, 1, None, OWN_AXIS, ONE_LINE)
    axes = sheet.grid()[0][0]
    for number, name in enumerate(STIFF):
        axes.plot(STIFF_STEPS, far[name], gid=name, **style_of(number))
    axes.axvline(LIMIT, color="0.6", linewidth=0.8)
    set_scale(axes, STIFF_STEPS, [value for values in far.values() for value in values], True)
    axes.set(xlabel="time step h [s]", ylabel="distance from rest after 1 s [m]")
    return sheet.figure
