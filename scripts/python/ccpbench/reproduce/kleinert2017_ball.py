"""Kleinert 2017 Figs. 1 and 3: a ball that bounces, and the impulses of an impact."""
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, linear, panel_title, set_scale
from ccpbench.reproduce.workshop import Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

RESTITUTIONS = (0.0, 0.8)
STEPPERS = ("shake", "rattle")


def impulses(motion: Trajectory) -> Floats:
    """[s], N s that the floor gave to the ball, upwards, step by step."""
    return np.asarray(-np.asarray(motion.obstacle_force)[:, 0, 2] * motion.time[0])


def run_bounces(shop: Workshop) -> None:
    shop.motions({f"{stepper}-e-{e}": [f"bouncing-ball[restitution={e}]", "--stepper", stepper]
                  for stepper in STEPPERS for e in RESTITUTIONS})


def draw_bounces(folder: Path) -> Figure:
    """Fig. 1: position, velocity and impulses against time."""
    names = [(stepper, e) for e in RESTITUTIONS for stepper in STEPPERS]
    labels = [f"{stepper}, e = {e:g}" for stepper, e in names]
    motions = [read_trajectory(folder / f"{stepper}-e-{e}.h5") for stepper, e in names]
    sheet = Sheet(motions, [], labels, 1, 3, None, OWN_AXIS, ONE_LINE)
    height, speed, impulse = sheet.grid()[0]
    for number, (label, motion) in enumerate(zip(labels, motions, strict=True)):
        style = {**style_of(number), "markevery": (9 * number, 40)}
        time, above = motion.frame_time, motion.position[:, 0, 2] - 0.1
        height.plot(time, above, gid=f"{label}, height", **style)
        speed.plot(time, motion.velocity[:, 0, 2], gid=f"{label}, velocity", **style)
        gamma = impulses(motion)
        hits = gamma > 0.25  # of more than the weight of a step, 0.125 N s
        impulse.plot(motion.time[hits], gamma[hits], gid=f"{label}, impulse",
                     **{**style, "linestyle": "none", "markevery": 1})
        print(f"{label}: largest impulse {gamma.max():.4g} N s, "
              f"{np.count_nonzero(hits)} steps above 0.25 N s")
    linear(height, "time [s]", "height q [m]")
    linear(speed, "time [s]", "velocity v [m/s]")
    linear(impulse, "time [s]", "impulse in a step [N s]")
    impulse.set_xlim(height.get_xlim())
    return sheet.figure


PHASES = [round(0.05 * k, 2) for k in range(1, 20)]  # part of a step before the impact
PHASE_STEP = 0.1  # s
SHIFTS = [k / 8 for k in range(8)]
IMPACT_STEPS = [0.1 / 2**k for k in range(7)]  # s


def run_phases(shop: Workshop) -> None:
    """Impacts at 1 m/s without forces, and of a ball that drops from near 1 m."""
    jobs: dict[str, Sequence[object]] = {}
    for stepper in STEPPERS:
        for phase in PHASES:
            jobs[f"{stepper}-phase-{phase}"] = [
                f"bouncing-ball[gravity=0,speed=1,dt={PHASE_STEP},height={phase * PHASE_STEP:g}]",
                "--stepper", stepper, "--until", 4 * PHASE_STEP]
        for k, h in enumerate(IMPACT_STEPS):
            for shift in SHIFTS:  # by the way of a part of a step at the speed of the impact
                height = 1 + shift * h * math.sqrt(20)
                jobs[f"{stepper}-k-{k}-shift-{shift}"] = [
                    f"bouncing-ball[dt={h},height={height:.6f}]", "--stepper", stepper, "--until",
                    0.7]
    shop.motions(jobs)


def impact(motion: Trajectory) -> tuple[float, float, float]:
    """Impulses of the step of the impact and of the next, N s, and the speed before, m/s."""
    gamma = impulses(motion)
    at = int(np.argmax(gamma > 0))
    return float(gamma[at]), float(gamma[at + 1]), float(-motion.velocity[at, 0, 2])


def draw_phases(folder: Path) -> Figure:
    """Fig. 3: impulses against where in the step the impact falls; the error against h."""
    labels = [f"{stepper}: {which}" for stepper in STEPPERS
              for which in ("step of the impact", "the next")]
    labels += [f"{stepper}, largest of {len(SHIFTS)}" for stepper in STEPPERS]
    first = read_trajectory(folder / f"shake-phase-{PHASES[0]}.h5")
    sheet = Sheet([first], [], labels, 1, 2, None, OWN_AXIS, ONE_LINE)
    left, right = sheet.grid()[0]
    every: list[float] = []
    for number, stepper in enumerate(STEPPERS):
        pairs = [impact(read_trajectory(folder / f"{stepper}-phase-{phase}.h5"))
                 for phase in PHASES]
        exact = [(1 - phase, phase) if stepper == "shake" else (1, 0) for phase in PHASES]
        off = np.abs(np.array(pairs)[:, :2] - exact).max()
        print(f"{stepper}: impulses differ from the exact ones by {off:.1e} m V at most")
        for which in (0, 1):
            label = labels[2 * number + which]
            left.plot(PHASES, [pair[which] for pair in pairs], gid=label,
                      **dict(style_of(2 * number + which), markevery=(number, 2)))
        errors = []
        for k in range(len(IMPACT_STEPS)):
            found = [impact(read_trajectory(folder / f"{stepper}-k-{k}-shift-{shift}.h5"))
                     for shift in SHIFTS]
            errors.append(max(abs(one[0] - one[2]) / one[2] for one in found))
        print(f"{stepper}: largest |gamma_j - m V| / (m V): " +
              ", ".join(f"h = {h:.3g} s {error:.2e}" for h, error in
                        zip(IMPACT_STEPS, errors, strict=True)))
        label = labels[4 + number]
        right.plot(IMPACT_STEPS, errors, gid=label, **style_of(4 + number))
        every += errors
    linear(left, "phase q$_j$ / (h V)", "impulse / (m V)")
    left.set(xlim=(0, 1), ylim=(-0.05, 1.05))
    panel_title(left, "no forces, V = 1 m/s")
    set_scale(right, IMPACT_STEPS, every, True)
    right.set(xlabel="time step h [s]", ylabel="$|\\gamma_j - mV|$ / (m V)")
    panel_title(right, "dropped from 1 m")
    return sheet.figure
