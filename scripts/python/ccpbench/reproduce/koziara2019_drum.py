"""Koziara 2019 Figs. 1 and 14, Tables 2 and 3: a drum with lifters, by body and solver."""
import re
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Ellipse, Polygon

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, linear, moving_average, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop, with_options
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

RESIDUAL = 1e-4
EVERY = 100      # steps between frames
WINDOW = 100     # steps, a running mean
SMALL = ("lifter-drum[bodies=40,wait=0.7]", 2.7)  # and until when, s: the drum turns by 2 rad
# By what the file's name begins with: options of the scene.
BODIES = {"ellipsoids": {"spheres": "false"}, "spheres": {"spheres": "true"},
          "soft-ellipsoids": {"spheres": "false", "pseudo_rigid": "true"},
          "soft-spheres": {"spheres": "true", "pseudo_rigid": "true"}}
# By the end of the file's name.
SOLVERS = {"pqn": "pqn, \u03b4 of the mean N$_{ii}$", "pqn-absolute": "pqn, absolute \u03b4",
           "pgs": "Gauss-Seidel"}
# Of Tables 2 and 3: iterations a step and failures.
PAPER = {
    ("ellipsoids", "pqn"): "9, 0", ("ellipsoids", "pqn-absolute"): "10, 0",
    ("ellipsoids", "pgs"): "112, 20",
    ("spheres", "pqn"): "14, 0", ("spheres", "pqn-absolute"): "12, 1",
    ("spheres", "pgs"): "174, 330",
    ("soft-ellipsoids", "pqn"): "5, 0", ("soft-ellipsoids", "pqn-absolute"): "5, 0",
    ("soft-ellipsoids", "pgs"): "18, 0",
    ("soft-spheres", "pqn"): "4, 0", ("soft-spheres", "pqn-absolute"): "6, 44",
    ("soft-spheres", "pgs"): "21, 0"}


def solver_of(name: str, soft: bool, bodies: int) -> str:
    """With the paper's best choice of delta, epsilon and m: of Table 3, or of Table 2. The paper's
    absolute delta is of impulses over h = 1 ms and of bodies a hundredth as large as the drum's
    filling; here it goes with 1/mass."""
    if name == "pgs":
        return "pgs[law=coulomb]"
    if name == "pqn":
        unit, delta = "avg", 0.01
        epsilon, m = (0.01, 5) if soft else (0.25, 10)
    else:
        unit, delta = "absolute", (1e-10 if soft else 0.1) * bodies / 100
        epsilon, m = 0.25, 20 if soft else 15
    return (f"pqn[delta_relative_to={unit},delta={delta:g},krylov_tolerance={epsilon},"
            f"krylov_max_iterations={m}]")


def run_drums(shop: Workshop) -> None:
    """A drum for each kind of bodies and solver; with --problems for the scene's whole time."""
    scene, until = SMALL
    scene = shop.scene(scene)
    time = ["--until", until] if shop.problems == "ours" else []
    given = re.search(r"bodies=(\d+)", scene)
    count = int(given[1]) if given else 100
    shop.each({shop.folder / f"{bodies}-{name}.h5": [
        "simulate", with_options(scene, **options), *time, "--solver",
        solver_of(name, "pseudo_rigid" in options, count),
        "--residual", RESIDUAL, "--iterations", 1000, "--every", EVERY]
        for bodies, options in BODIES.items() for name in SOLVERS}, accept=(0, 3))


def rotation(q: Floats) -> Floats:
    """[3][3] of a unit quaternion w, x, y, z."""
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def outline(motion: Trajectory, body: int) -> Ellipse:
    """Of a body in the last frame as it is seen along y: the ellipse of the (x, z) part of
    T diag(half axes squared) T^T, with what turns it, or deforms an ellipsoid."""
    size = motion.body_size[body]
    half = np.where(size > 0, size, size[0])
    turn = rotation(motion.orientation[-1, body])
    if motion.deformation is not None and motion.body_shape[body] == "ellipsoid":
        turn = motion.deformation[-1, body]
    squares, axes = np.linalg.eigh((turn * half**2 @ turn.T)[np.ix_([0, 2], [0, 2])])
    angle = np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
    wide, high = 2 * np.sqrt(squares)
    return Ellipse((motion.position[-1, body, 0], motion.position[-1, body, 2]), wide, high,
                   angle=angle)


def draw_section(axes: Any, motion: Trajectory, title: str) -> None:
    """The last frame along the axis, the nearer the lighter."""
    place = motion.position[-1]
    order = np.argsort(-place[:, 1])
    bodies = PatchCollection([outline(motion, int(b)) for b in order], cmap="Greys_r",
                             norm=Normalize(-0.6, 0.1), edgecolor="0.2", linewidth=0.4)
    bodies.set_array(-place[order, 1])
    axes.add_collection(bodies)
    axes.add_patch(Circle((0, 0), 1, fill=False, linewidth=0.8))
    option = motion.option
    turned = float(option["omega"]) * max(0.0, motion.frame_time[-1] - float(option["wait"]))
    along, up = np.array([np.cos(turned), -np.sin(turned)]), np.array([np.sin(turned),
                                                                       np.cos(turned)])
    for side in (-1, 1):
        corners = [side * 0.9 * along + 0.1 * (i * along + j * up)
                   for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        axes.add_patch(Polygon(corners, facecolor="tab:red", edgecolor="black", linewidth=0.5))
    axes.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), xlabel="x [m]", ylabel="z [m]")
    panel_title(axes, title)


def draw_drums(folder: Path) -> Figure:
    """A section of each kind of bodies, and iterations over time."""
    motions = {(bodies, name): read_trajectory(path) for bodies in BODIES for name in SOLVERS
               if (path := folder / f"{bodies}-{name}.h5").exists()}
    if len(motions) < len(BODIES) * len(SOLVERS):
        raise Failure(f"{folder}: not all of the trajectories are there")
    labels = list(SOLVERS.values())
    sheet = Sheet(motions.values(), [], labels, len(BODIES), 2, None, OWN_AXIS, ONE_LINE)
    for row, bodies in zip(sheet.grid(), BODIES, strict=True):
        last = motions[bodies, "pqn"]
        kind = bodies.replace("soft-", "pseudo-rigid ")
        draw_section(row[0], last, f"{kind}, {last.frame_time[-1]:.3g} s")
        for number, (name, title) in enumerate(SOLVERS.items()):
            motion = motions[bodies, name]
            mean = moving_average(np.asarray(motion.steps["outer"], float), WINDOW)
            row[1].plot(motion.time[WINDOW - 1:], mean, gid=f"{bodies}, {title}",
                        **dict(style_of(number), marker=""))
            print_row(f"{bodies}, {name}", motion, PAPER[bodies, name])
        linear(row[1], "time [s]", f"iterations a step, mean of {WINDOW}")
        row[1].set(yscale="log", ylim=(1, None))
        if bodies != list(BODIES)[-1]:
            row[0].set_xlabel("")  # the title of the next row is there
    return sheet.figure


def print_row(name: str, motion: Trajectory, paper: str) -> None:
    outer = np.asarray(motion.steps["outer"], float)
    residual = np.asarray(motion.steps["residual"], float)
    failed = int((residual > RESIDUAL).sum())
    print(f"{name}: {outer.mean():.1f} iterations a step, {failed} of {outer.size} steps not to "
          f"{RESIDUAL:g} (paper: {paper}), {motion.steps['solver_time'].sum():.3g} s, "
          f"{motion.steps['contacts'].mean():.0f} contacts")
