"""The Anitescu slides on nonsmooth multi-rigid-body dynamics: linear complementarity problems and
their convex relaxation."""
import math
from pathlib import Path

import h5py
import numpy as np
from matplotlib.figure import Figure

from ccpbench.figures import Sheet, limits
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, panel_title, read_series, set_scale
from ccpbench.reproduce.workshop import RESULTS_TOO, Workshop
from ccpbench.results import Run, labels_of, made_of
from ccpbench.styles import style_of
from ccpbench.tables import Origin

LAWS = {"coulomb": "LCP", "convex": "relaxation"}

PYRAMID_ROWS = (4, 6, 8, 10, 20)  # 10 to 210 spheres
PYRAMID_MU = (0.0, 0.2, 0.8)
PYRAMID_STUDY = """\
name: anitescu-lcp
description: "Anitescu slides, Solving the LCP: pyramids of spheres in a plane, h = 0.05 s"
problems: ['problems/*.h5']
solvers: [{lcp: {edges: 2, law: [coulomb, convex], max_iterations: 10000}}]
stop: coulomb_residual=1e-15  # never: the method ends by itself
time_limit: %g
warm_up: 0
"""


def run_pyramids(shop: Workshop) -> None:
    """One problem per size and friction coefficient, and Lemke's method on both laws."""
    problems = shop.folder / "problems"
    problems.mkdir(exist_ok=True)
    for rows in PYRAMID_ROWS:
        for mu in PYRAMID_MU:
            name = f"pyramid-{rows * (rows + 1) // 2}-mu-{mu}"
            if not (problems / f"{name}.h5").exists():
                shop.run("generate", "pyramid", "--rows", rows, "--mu", mu, "--dt", 0.05,
                         "--name", name, "-o", problems / f"{name}.h5")
    study = shop.folder / "lcp.yaml"
    study.write_text(PYRAMID_STUDY % (shop.time_limit or 150), encoding="utf-8")
    shop.run("run", study, "-o", shop.folder, "--resume", accept=RESULTS_TOO)


def name_law(run: Run) -> str:
    return f"{LAWS[run.options['law']]}, mu = {run.descriptors['mu_max']:g}"


def draw_pyramids(folder: Path) -> Figure:
    """The table "Solving the LCP": time and pivots against contacts. A hollow marker did
    not end: MAXIT, or the time limit."""
    runs, table = read_series(folder, name_law)
    labels = labels_of(table)
    sheet = Sheet(runs, [], labels, 1, 2, None, OWN_AXIS, ONE_LINE)
    points: dict[str, list[tuple[float, ...]]] = {label: [] for label in labels}
    print(f"\n{'bodies':>6} {'contacts':>8} {'mu':>4} {'law':>11} {'pivots':>7} {'time [s]':>9}")
    for instance, series in sorted(table.items()):
        for label, one in sorted(series.items()):
            run = one.runs[0]
            ended = {"converged": "", "max_iterations": "MAXIT", "time_limit": "time limit"}.get(
                run.status, run.status)
            pivots, seconds = int(run.work["outer"][-1]), run.solve_time
            points[label].append((instance[0], seconds, pivots, not ended))
            print(f"{run.bodies:6} {instance[0]:8} {run.descriptors['mu_max']:4.1f} "
                  f"{LAWS[run.options['law']]:>11} {pivots:7} {seconds:9.3g} {ended}")
    for axes, column in zip(sheet.grid()[0], (1, 2), strict=True):
        x: list[float] = []
        y: list[float] = []
        for number, label in enumerate(labels):
            if not points[label]:
                continue
            data = np.array(points[label], dtype=float)
            style = style_of(number)
            axes.plot(data[:, 0], data[:, column], gid=label, **style)
            open_ones = data[data[:, 3] == 0]
            axes.plot(open_ones[:, 0], open_ones[:, column],
                      **{**style, "linestyle": "none", "markerfacecolor": "white", "zorder": 3})
            x += list(data[:, 0])
            y += list(data[:, column])
        set_scale(axes, x or [1], y or [1], True)
        axes.set(xlabel="contacts", ylabel="solve time [s]" if column == 1 else "pivots")
    return sheet.figure


PARTICLE_MU = (0.3, 0.75)
PARTICLE_HALVINGS = 8
PARTICLE_TIME = 1.6  # s
PARTICLE_STARTS = {"dropped from 1 m": 1.0, "on the ground": 0.0}


def particle_file(folder: Path, height: float, mu: float, halvings: int, law: str) -> Path:
    return folder / f"particle-{height:g}m-mu-{mu}-h-{halvings}-{law}.csv"


def run_particles(shop: Workshop) -> None:
    """Trajectories by either law, and one result file for the line below the figure."""
    for height in PARTICLE_STARTS.values():
        for mu in PARTICLE_MU:
            for k in range(PARTICLE_HALVINGS):
                for law in LAWS:
                    path = particle_file(shop.folder, height, mu, k, law)
                    if path.exists():
                        continue
                    shop.run("generate", "particle", "--mu", mu, "--speed", 5, "--height", height,
                             "--dt", 0.1 / 2**k, "--steps", round(PARTICLE_TIME * 10) * 2**k,
                             "--step-solver", f"lcp[edges=2,law={law}]", "--trajectory", path,
                             "-o", shop.temporary / "last.h5", "--force")
    result = shop.folder / "last-step.h5"
    if not result.exists():
        shop.run("solve", shop.temporary / "last.h5", "--solver", "lcp[edges=2]", "--quiet",
                 "--stop", "coulomb_residual=1e-6", "-o", result)


def draw_particles(folder: Path) -> Figure:
    """The tables of the sliding particle: relaxation against LCP as h falls."""
    with h5py.File(folder / "last-step.h5") as file:
        origin = Origin(made_of(file))
    labels = [f"{norm}, mu = {mu}" for mu in PARTICLE_MU for norm in ("largest", "L2")]
    sheet = Sheet([origin], [], labels, 1, len(PARTICLE_STARTS), None, 0.3, ONE_LINE)
    heights: list[float] = []
    grid = sheet.grid(sharey=True)[0]
    for axes, (start, height) in zip(grid, PARTICLE_STARTS.items(), strict=True):
        steps = 0.1 / 2.0 ** np.arange(PARTICLE_HALVINGS)
        for mu in PARTICLE_MU:
            difference: dict[str, list[float]] = {"largest": [], "L2": []}
            for k, h in enumerate(steps):
                lcp, relaxed = (np.loadtxt(particle_file(folder, height, mu, k, law),
                                           delimiter=",", skiprows=1) for law in LAWS)
                y = relaxed[:, 2:4] - lcp[:, 2:4]  # x and z
                difference["largest"].append(float(np.abs(y).max()))
                difference["L2"].append(math.sqrt(h) * float(np.linalg.norm(y)))
            print(f"{start}, mu = {mu}: largest |y_QP - y_LCP| [m], its L2 norm [m s^1/2]")
            for k, row in enumerate(zip(steps, difference["largest"], difference["L2"],
                                          strict=True)):
                print(f"  {k} {row[0]:9.3g} {row[1]:10.3e} {row[2]:10.3e}")
            for norm, values in difference.items():
                label = f"{norm}, mu = {mu}"
                axes.plot(steps, values, gid=label, **style_of(labels.index(label)))
                heights += values
        set_scale(axes, list(steps), heights, True)
        axes.set_xlabel("time step h [s]")
        panel_title(axes, start)
    grid[0].set_ylim(limits(heights))
    grid[0].set_ylabel("relaxation \u2212 LCP [m], [m s$^{1/2}$]")
    return sheet.figure
