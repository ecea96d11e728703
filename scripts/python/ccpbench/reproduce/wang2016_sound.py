"""Wang 2016 Sect. 1: the speed at which truncated Gauss-Seidel iterations carry a disturbance."""
from pathlib import Path

import h5py
import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, linear, panel_title, set_scale
from ccpbench.reproduce.workshop import RESULTS_TOO, Workshop
from ccpbench.results import made_of
from ccpbench.styles import style_of
from ccpbench.tables import Origin

SPHERES = 100
LOAD = 0.01  # masses of a sphere, put on top
DIAMETER, STEP = 0.013, 5e-3  # m, s
# Hard spheres, whose own sound is fast, at rest but for the load.
COLUMN = f"column[spheres={SPHERES},young=6e12,smallest_overlap=1e-14,at_rest=true,load={LOAD}]"
ITERATIONS = (5, 8, 12, 20, 32, 50, 80, 125, 200, 320, 500)
PROFILES = (5, 50, 500)
SOLVERS = {"Gauss-Seidel": "pgs[law=coulomb,tolerance=0]",
           "Gauss-Seidel by colours": "pgs[law=coulomb,sweep=colored,tolerance=0]",
           "projected Gauss-Jacobi": "pgj[tolerance=0]"}


def run_sound(shop: Workshop) -> None:
    """The first step under the load, from the impulses of the column without it."""
    steps = shop.folder / "column-steps.h5"
    if not steps.exists():
        shop.run("simulate", COLUMN, "--until", STEP, "--freeze", 0, "--iterations", 1, "--quiet",
                 "--force", "-o", shop.folder / "column.h5")
    shop.each({shop.folder / f"{name.replace(' ', '-')}-{count}.h5": [
        "solve", f"{steps}#0", "--start", "hertz", "--keep-gamma", "--stop",
        ("residual" if solver.startswith("pgj") else "coulomb_residual") + "=1e-30",
        "--solver", solver[:-1] + f",max_iterations={count}]"]
        for name, solver in SOLVERS.items() for count in ITERATIONS}, accept=RESULTS_TOO)


def share(folder: Path, name: str, count: int) -> Floats:
    """[contacts] from the top down, the part of the load that has arrived after iterations."""
    with h5py.File(folder / "column-steps.h5") as file:
        step = file["steps/0000"]
        start = step["guesses/hertz/gamma"][:, 0]
        order = np.argsort(-step["contacts/bodies"][()].max(axis=1))
        weight = 9.81 * STEP / float(step["bodies/inverse_mass"][0])
    with h5py.File(folder / f"{name.replace(' ', '-')}-{count}.h5") as file:
        gamma = file["final/gamma"][()].reshape(-1, 3)[:, 0]
    return np.asarray(((gamma - start) / (LOAD * weight))[order])


def front(part: Floats) -> float:
    """Spheres down to where half of the load has arrived."""
    return float(np.interp(-0.5, np.concatenate([[-1.0], -part]), np.arange(part.size + 1)))


def draw_sound(folder: Path) -> Figure:
    """How far down the load is known; its front against iterations."""
    with h5py.File(folder / "column.h5") as file:
        origin = Origin(made_of(file))
    profiles = [f"after {count} iterations" for count in PROFILES]
    labels = [*profiles, *SOLVERS]
    sheet = Sheet([origin], [], labels, 1, 2, None, OWN_AXIS, ONE_LINE)
    left, right = sheet.grid()[0]
    for number, count in enumerate(PROFILES):
        part = share(folder, "Gauss-Seidel", count)
        left.plot(np.arange(1, part.size + 1), part, gid=profiles[number],
                  **dict(style_of(number), markevery=8))
    linear(left, "depth [spheres]", "part of the load that is carried")
    panel_title(left, "Gauss\u2013Seidel")
    every: list[float] = []
    for name in SOLVERS:
        fronts = [front(share(folder, name, count)) for count in ITERATIONS]
        slope = np.polyfit(np.log(ITERATIONS[3:]), np.log(fronts[3:]), 1)[0]
        print(f"{name}: front in spheres " + ", ".join(
            f"{count}: {depth:.2f}" for count, depth in zip(ITERATIONS, fronts, strict=True)))
        print(f"  exponent {slope:.3f} from {ITERATIONS[3]} iterations on; speed after 500 "
              f"{fronts[-1] * DIAMETER / STEP:.1f} m/s, sqrt(N) d/dt "
              f"{np.sqrt(ITERATIONS[-1]) * DIAMETER / STEP:.1f} m/s")
        right.plot(ITERATIONS, fronts, gid=name, **style_of(labels.index(name)))
        every += fronts
    root = np.sqrt(ITERATIONS)
    right.plot(ITERATIONS, root, color="0.6", linewidth=2.5, zorder=0, gid="square root")
    right.annotate("$\\sqrt{N}$", (ITERATIONS[5], root[5]), (-4, 6), textcoords="offset points",
                   ha="right", color="0.4")
    set_scale(right, ITERATIONS, [*every, *root], True)
    right.set(xlabel="iterations N", ylabel="front [spheres]")
    panel_title(right, "where half has arrived")
    return sheet.figure
