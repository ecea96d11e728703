"""The Anitescu slides' simulations: an ellipse, Painlevé's rod, a sliding particle, a pyramid."""
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet, limits, set_ticks
from ccpbench.reproduce.drawing import (
    ONE_LINE,
    OWN_AXIS,
    linear,
    moving_average,
    panel_title,
    set_scale,
)
from ccpbench.reproduce.workshop import Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

# ---- the ellipse

ELLIPSE_STEPS = (0.1, 0.05, 0.025, 0.0125)  # s
ELLIPSE_AXES = (4.0, 2.0)  # m, halves
ELLIPSE_SCHEMES = {"unstabilised": "lcp[stabilised=false]", "stabilised": "lcp"}
ELLIPSE_FRAMES = 10
ELLIPSE_SLIDE = 0.06  # m, where the slides' axis of the stabilised scheme ends


def run_ellipses(shop: Workshop) -> None:
    shop.motions({f"{name}-{h}": [f"falling-ellipse[dt={h}]", "--stepper", stepper]
                  for name, stepper in ELLIPSE_SCHEMES.items() for h in ELLIPSE_STEPS})


def outline(centre: Floats, turned: Floats) -> tuple[Floats, Floats]:
    """x and z of an ellipse's edge. @param turned  unit quaternion about y"""
    angle = 2 * math.atan2(turned[2], turned[0])
    t = np.linspace(0, 2 * math.pi, 121)
    a, b = ELLIPSE_AXES[0] * np.cos(t), ELLIPSE_AXES[1] * np.sin(t)
    return (centre[0] + a * math.cos(angle) + b * math.sin(angle),
            centre[2] - a * math.sin(angle) + b * math.cos(angle))


def draw_frames(axes: Any, motion: Trajectory) -> None:
    """Ten outlines, from light to dark."""
    for number, frame in enumerate(np.linspace(0, len(motion.frame_time) - 1, ELLIPSE_FRAMES)):
        at = round(frame)
        x, z = outline(motion.position[at, 0], motion.orientation[at, 0])
        axes.plot(x, z, color=str(0.85 * (1 - number / (ELLIPSE_FRAMES - 1))), linewidth=0.8,
                  gid=f"outline at {motion.frame_time[at]:.3g} s")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", xlim=(-8, 8), ylim=(-2, 14))
    panel_title(axes, f"{ELLIPSE_FRAMES} instants, stabilised")


def draw_ellipses(folder: Path) -> Figure:
    """Ten instants; the deepest infeasibility against h; infeasibility against time."""
    motions = {(name, h): read_trajectory(folder / f"{name}-{h}.h5")
               for name in ELLIPSE_SCHEMES for h in ELLIPSE_STEPS}
    steps = [f"h = {h:g} s" for h in ELLIPSE_STEPS]
    labels = [*steps, *(f"{name}, largest" for name in ELLIPSE_SCHEMES)]
    sheet = Sheet(motions.values(), [], labels, 2, 2, None, OWN_AXIS, ONE_LINE)
    (frames, order), below = sheet.grid()
    draw_frames(frames, motions["stabilised", 0.05])
    every: list[float] = []
    for axes, name in zip(below, ELLIPSE_SCHEMES, strict=True):
        for number, h in enumerate(ELLIPSE_STEPS):
            motion = motions[name, h]
            style = {**style_of(number), "marker": "", "linewidth": 0.9}
            axes.plot(motion.frame_time[:-1], motion.steps["penetration"],
                      gid=f"{name}, {steps[number]}", **style)
        linear(axes, "time [s]", f"infeasibility, {name} [m]")
        deepest = [float(motions[name, h].steps["penetration"].max()) for h in ELLIPSE_STEPS]
        print(f"{name}: " + ", ".join(f"h = {h:g} s {value:.3g} m" for h, value in
                                      zip(ELLIPSE_STEPS, deepest, strict=True)) +
              f"; order {fitted_order(ELLIPSE_STEPS, deepest):.2f}")
        label = f"{name}, largest"
        order.plot(ELLIPSE_STEPS, deepest, gid=label, **style_of(labels.index(label)))
        every += deepest
    below[1].set_ylim(-0.002, ELLIPSE_SLIDE)
    set_scale(order, ELLIPSE_STEPS, every, True)
    order.set(xlabel="time step h [s]", ylabel="largest in 20 s [m]", xlim=(0.01, 0.125))
    panel_title(order, "largest infeasibility")
    return sheet.figure


def fitted_order(steps: Iterable[float], values: Iterable[float]) -> float:
    """The exponent p of values ~ steps^p, by least squares."""
    return float(np.polyfit(np.log(list(steps)), np.log(list(values)), 1)[0])


# ---- Painlevé's rod

ROD_SOLVERS = {"LCP": ("lcp", "lcp[edges=2]"),
               "Gauss-Seidel": ("lcp", "pgs[law=coulomb]"),
               "relaxation": ("relaxation", "lcp[edges=2,law=convex]")}
ROD_MU = [round(0.05 * k, 2) for k in range(25)]
ROD_STEPS = [10.0**-k for k in range(2, 8)]  # s
ROD_LIMIT = {"normal impulse": 0.276605, "tangential impulse": 0.148698, "spin": 0.895112}
ROD_PARADOX = 2.52786 / 4.70228  # N_nn / -N_nt


def rod_jobs() -> dict[str, list[object]]:
    jobs: dict[str, list[object]] = {}
    for solver, (stepper, words) in ROD_SOLVERS.items():
        for mu in ROD_MU:
            jobs[f"mu-{mu}-{solver}"] = [f"painleve-rod[mu={mu},dt=1e-6]", "--stepper", stepper,
                                         "--solver", words]
        for h in ROD_STEPS:
            jobs[f"h-{h:g}-{solver}"] = [f"painleve-rod[dt={h:g}]", "--stepper", stepper,
                                         "--solver", words]
    return jobs


def run_rods(shop: Workshop) -> None:
    shop.motions(rod_jobs())


def rod_after(folder: Path, name: str) -> tuple[dict[str, float], Trajectory]:
    """Of the first step of a rod of 1 kg at 1 m/s, h g taken off the normal impulse."""
    motion = read_trajectory(folder / f"{name}.h5")
    before, after = motion.velocity[0, 0], motion.velocity[1, 0]
    return {"normal impulse": float(after[2] + 9.81 * motion.time[0]),
            "tangential impulse": float(after[0] - before[0]), "spin": float(-after[4])}, motion


def draw_rods(folder: Path) -> Figure:
    """The impulse against mu as h -> 0; how far it is from its limit against h."""
    labels = [*ROD_SOLVERS, *ROD_LIMIT]
    first = rod_after(folder, f"h-{ROD_STEPS[0]:g}-LCP")[1]
    sheet = Sheet([first], [], labels, 1, 2, None, OWN_AXIS, ONE_LINE)
    left, right = sheet.grid()[0]
    for number, solver in enumerate(ROD_SOLVERS):
        values = [rod_after(folder, f"mu-{mu}-{solver}")[0]["normal impulse"] for mu in ROD_MU]
        style = dict(style_of(number), markevery=(number, 3))
        left.plot(ROD_MU, values, gid=solver, **style)
    left.axvline(ROD_PARADOX, color="0.6", linewidth=0.8)
    left.text(ROD_PARADOX + 0.03, 0.12, "no force is\na solution", color="0.4", fontsize=7)
    linear(left, "friction coefficient \u03bc", "normal impulse [N s]")
    left.set_ylim(-0.02, 0.33)
    panel_title(left, "h = 10$^{-6}$ s")
    every: list[float] = []
    for name, limit in ROD_LIMIT.items():
        off = []
        for solver in ROD_SOLVERS:
            off = [abs(rod_after(folder, f"h-{h:g}-{solver}")[0][name] - limit) for h in ROD_STEPS]
            print(f"{solver}, {name}, from {limit}: " + ", ".join(f"{one:.1e}" for one in off))
        right.plot(ROD_STEPS, off, gid=name, **style_of(labels.index(name)))
        every += off
    set_scale(right, ROD_STEPS, every, True)
    right.set(xlabel="time step h [s]", ylabel="from the limit h = 0 [N s], [rad/s]")
    panel_title(right, "\u03bc = 0.75")
    return sheet.figure


# ---- a particle that slides

PARTICLE_MU = (0.3, 0.75)
PARTICLE_STEPS = [0.1 / 2**k for k in range(8)]  # s
PARTICLE_STARTS = {"on the ground": ("speed=8", 4.0), "dropped from 1 m": ("speed=5,height=1", 2.0)}
PARTICLE_SCHEMES = {  # four edges: two are along the way
    "LCP": ("lcp", "lcp[edges=4]"),
    "relaxation": ("relaxation", "lcp[edges=4,law=convex]"),
    "lagged": ("relaxation[lagged=true]", "lcp[edges=4,law=convex]"),
    "converged": ("lcp", "coulomb[inner=pgs,iteration=plain,max_outer=50,tolerance=1e-14]"),
}
PARTICLE_SLIDES = {  # the norm's last digits are as printed
    0.3: (5.6314784e-2, 1.7416198e-2, 6.7389905e-3, 2.101117e-3, 7.6112319e-4, 2.6647317e-4,
          9.2498029e-5, 3.2649217e-5),
    0.75: (1.5736018, 0.72176724, 0.14580267, 9.2969637e-2, 5.5543025e-3, 4.3982975e-3,
           3.7537593e-3, 3.7007014e-4)}


def particle_name(start: str, mu: float, k: int, scheme: str) -> str:
    return f"{start.split(maxsplit=1)[0]}-mu-{mu}-k-{k}-{scheme}"


def run_particles(shop: Workshop) -> None:
    jobs: dict[str, Sequence[object]] = {}
    for start, (options, until) in PARTICLE_STARTS.items():
        for mu in PARTICLE_MU:
            for k, h in enumerate(PARTICLE_STEPS):
                for scheme, (stepper, solver) in PARTICLE_SCHEMES.items():
                    jobs[particle_name(start, mu, k, scheme)] = [
                        f"sliding-particle[{options},mu={mu},dt={h}]", "--until", until,
                        "--stepper", stepper, "--solver", solver, "--residual", "1e-14"]
    shop.motions(jobs, accept=(0, 3))


def difference(folder: Path, start: str, mu: float, k: int, scheme: str) -> float:
    """||y - y_LCP||_2 over all steps, y = (x, z), m."""
    y, lcp = (read_trajectory(folder / f"{particle_name(start, mu, k, name)}.h5").position[:, 0]
              for name in (scheme, "LCP"))
    return float(np.linalg.norm(y - lcp))


def draw_particles(folder: Path) -> Figure:
    """The slides' two tables, and the same of a particle that is dropped."""
    schemes = [name for name in PARTICLE_SCHEMES if name != "LCP"]  # "converged" is the last
    labels = ["slides", *schemes[:-1]]
    first = read_trajectory(folder / f"{particle_name('on', 0.3, 0, 'LCP')}.h5")
    sheet = Sheet([first], [], labels, 2, 2, None, OWN_AXIS, ONE_LINE)
    for row, start in zip(sheet.grid(), PARTICLE_STARTS, strict=True):
        for axes, mu in zip(row, PARTICLE_MU, strict=True):
            curves = {"slides": list(PARTICLE_SLIDES[mu])} if start == "on the ground" else {}
            for scheme in schemes:
                curves[scheme] = [difference(folder, start, mu, k, scheme)
                                  for k in range(len(PARTICLE_STEPS))]
            print(f"{start}, mu = {mu}: ||y - y_LCP||_2 [m] for k = 0 ... 7")
            shown: list[float] = []
            for name, values in curves.items():
                text = " ".join(f"{value:.2e}" for value in values)
                print(f"  {name:10} {text}  order {fitted_order(PARTICLE_STEPS, values):.2f}")
                if name == "converged":
                    continue  # rounding, see the table
                axes.plot(PARTICLE_STEPS, values, gid=name, **style_of(labels.index(name)))
                shown += values
            set_scale(axes, PARTICLE_STEPS, shown, True)
            axes.text(0.04, 0.96, f"{start},\n\u03bc = {mu}", transform=axes.transAxes, va="top")
            axes.set(ylim=limits([*shown, 15 * max(shown)]), xlabel="time step h [s]",
                     ylabel="$\\Vert y-y_{LCP}\\Vert_2$ [m]")
            set_ticks(axes.yaxis, *axes.get_ylim())
    return sheet.figure


# ---- the LCP against optimisation over time

TIMED_MU = 0.2
TIMED_ROWS = {4: 10, 6: 21, 8: 36, 10: 55}  # rows of the pyramid: bodies
TIMED_SCHEMES = {"LCP, Lemke": ("lcp", "lcp[edges=2]"),
                 "relaxation, Lemke": ("relaxation", "lcp[edges=2,law=convex]"),
                 "relaxation, vipm": ("relaxation", "vipm")}
TIMED_WINDOW = 5  # steps
TIMED_SLIDES = {10: 0.04, 21: 0.28, 36: 0.81, 55: 2.10}  # s a step, LCP by PATH


def timed_name(rows: int, scheme: str) -> str:
    return f"{TIMED_ROWS[rows]}-bodies-" + scheme.replace(", ", "-")


def run_timed(shop: Workshop) -> None:
    jobs: dict[str, Sequence[object]] = {}
    for rows in TIMED_ROWS:
        for scheme, (stepper, solver) in TIMED_SCHEMES.items():
            jobs[timed_name(rows, scheme)] = [
                f"pyramid[rows={rows},inertia=disc,mu={TIMED_MU}]", "--stepper", stepper,
                "--solver", solver, "--start", "cold", "--residual", "1e-7"]
    for scheme in ("LCP", "relaxation"):
        stepper, solver = PARTICLE_SCHEMES[scheme]
        jobs[f"particle-{scheme}"] = ["sliding-particle[dt=0.00078125]", "--stepper", stepper,
                                      "--solver", solver]
    shop.motions(jobs, accept=(0, 3))


def draw_timed(folder: Path) -> Figure:
    """A particle's height; pivots, or iterations, and time of a step of the largest pyramid."""
    labels = list(TIMED_SCHEMES)
    motions = {(rows, scheme): read_trajectory(folder / f"{timed_name(rows, scheme)}.h5")
               for rows in TIMED_ROWS for scheme in TIMED_SCHEMES}
    sheet = Sheet(motions.values(), [], labels, 1, 3, None, OWN_AXIS, ONE_LINE)
    height, pivots, seconds = sheet.grid()[0]
    for scheme, number in (("LCP", 0), ("relaxation", 1)):
        motion = read_trajectory(folder / f"particle-{scheme}.h5")
        style = {**style_of(number), "marker": ""}
        height.plot(motion.frame_time, motion.position[:, 0, 2] - 1, gid=f"height, {scheme}",
                    **style)
    linear(height, "time [s]", "height [m]")
    panel_title(height, "a particle, h = 0.1 / 2$^7$ s")
    most = max(TIMED_ROWS)
    for axes, column, label in ((pivots, "outer", "pivots or iterations a step"),
                                (seconds, "solver_time", "time of a step [s]")):
        every: list[float] = []
        for number, scheme in enumerate(TIMED_SCHEMES):
            motion = motions[most, scheme]
            value = moving_average(np.asarray(motion.steps[column], float), TIMED_WINDOW)
            at = moving_average(motion.time, TIMED_WINDOW)
            axes.plot(at, value, gid=f"{column}, {scheme}",
                      **dict(style_of(number), markevery=(3 * number, 9)))
            every += list(value)
        set_scale(axes, [0, float(motion.time[-1])], every, False)
        axes.set(xlabel="time [s]", ylabel=label)
        panel_title(axes, f"{TIMED_ROWS[most]} discs, mean of {TIMED_WINDOW} steps")
    print(f"{'bodies':>6} {'PATH, slides':>12}" + "".join(f"{name:>28}" for name in labels))
    for rows, bodies in TIMED_ROWS.items():
        cells = "".join(
            f"{one.steps['outer'].mean():14,.0f} {one.steps['solver_time'].mean():10.2g} s "
            for one in (motions[rows, scheme] for scheme in TIMED_SCHEMES))
        print(f"{bodies:6} {TIMED_SLIDES[bodies]:10} s {cells}")
    return sheet.figure
