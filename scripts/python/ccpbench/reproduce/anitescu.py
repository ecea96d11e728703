"""The Anitescu slides on nonsmooth multi-rigid-body dynamics: linear complementarity problems and
their convex relaxation."""
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, read_series, set_scale
from ccpbench.reproduce.workshop import RESULTS_TOO, Workshop
from ccpbench.results import Run, labels_of
from ccpbench.styles import style_of

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
