"""Wang 2016 Fig. 9: residuals of a solve by kind of row, as histograms, cold and warm."""
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.problem import Problem, read_problem
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, panel_title
from ccpbench.reproduce.wang2016_pile import KINDS, LOOK, LOOKED, SOLVER, at_rest
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import read_trajectory

SPHERES = 300  # as in Figs. 7 and 8
STARTS = ("cold", "history")
BINS, DECADES = 5, 6  # a decade, at most


def run_rows(shop: Workshop) -> None:
    """A pile at rest; from there 1 s with few iterations a step, and the step then."""
    scene, rest, jobs = at_rest(shop, SPHERES)
    for start in STARTS:
        jobs[shop.folder / f"{start}.h5"] = [
            "simulate", scene, *SOLVER, "--start", start, "--iterations", LOOKED, "--from", rest,
            "--until", 1, "--row-residuals", LOOK, "--freeze", LOOK]
    shop.each(jobs, accept=(0, 3))


def clamped(gamma: Floats, u: Floats, mobility: Floats, radius: Floats) -> Floats:
    """d |gamma - P(gamma - u / d)| of every row, P onto the ball of that radius."""
    moved = gamma - u / mobility[:, None]
    size = np.linalg.norm(moved, axis=1)
    out = size > radius
    moved[out] *= (radius[out] / size[out])[:, None]
    change: Floats = mobility * np.linalg.norm(gamma - moved, axis=1)
    return change


def row_residuals(problem: Problem, gamma: Floats) -> dict[str, Floats]:
    """What a projected step of each row would change, by kind; m/s, of rolling rad/s. The program
    keeps the means (problems/model/row_residuals.hpp)."""
    n, rolling = problem.contacts, problem.rolling
    if rolling is None:
        raise Failure(f"{problem.name}: expected contacts with rolling resistance")
    u, normal = problem.velocity(gamma), np.maximum(gamma[:n, 0], 0)
    mobility = np.einsum("cii->ci", problem.diagonal_blocks())
    turning = np.einsum("cii->ci", rolling.diagonal_blocks(problem.bodies)).mean(axis=1)
    first, across = mobility[:, 0], mobility[:, 1:].mean(axis=1)
    return {
        "normal": first * np.abs(gamma[:n, 0] - np.maximum(0, gamma[:n, 0] - u[:n, 0] / first)),
        "tangential": clamped(gamma[:n, 1:], u[:n, 1:], across, problem.mu * normal),
        "rolling": clamped(gamma[n:], u[n:], turning, rolling.rho * normal[rolling.contact])}


def residuals_of(path: Path) -> dict[str, Floats]:
    """By kind, m/s, of the step that was kept; rolling at the surface of a sphere."""
    steps = path.with_name(f"{path.stem}-steps.h5")
    if not (path.exists() and steps.exists()):
        raise Failure(f"{path}: not there, or without its step")
    problem = read_problem(f"{steps}#0")
    rows = row_residuals(problem, problem.guesses["simulation"])
    radius = float(read_trajectory(path).body_size[0, 0])
    return {kind: values * (radius if kind == "rolling" else 1) for kind, values in rows.items()}


def draw_rows(folder: Path) -> Figure:
    """A histogram by kind, cold above, history below."""
    table = {start: residuals_of(folder / f"{start}.h5") for start in STARTS}
    every = np.concatenate([values[values > 0] for rows in table.values()
                            for values in rows.values()])
    high = np.ceil(np.log10(every.max()))
    low = max(np.floor(np.log10(np.quantile(every, 0.002))), high - DECADES)
    edges = np.logspace(low, high, round(BINS * (high - low)) + 1)
    sheet = Sheet([read_trajectory(folder / f"{start}.h5") for start in STARTS], [], [],
                  len(STARTS), len(KINDS), None, OWN_AXIS, ONE_LINE)
    grid = sheet.grid(sharex=True, sharey=True)
    for number, (start, row) in enumerate(zip(STARTS, grid, strict=True)):
        for axes, kind in zip(row, KINDS, strict=True):
            draw_histogram(axes, table[start][kind], edges, number, f"{start}, {kind}")
            panel_title(axes, f"{start}, {kind} rows")
    for axes in grid[:, 0]:
        axes.set_ylabel("contacts")
    sheet.x_label(len(STARTS) - 1, f"residual after {LOOKED} iterations [m/s]; dashed: mean; first "
                  "bar: all that is less")
    for kind in KINDS:
        cold, warm = (table[start][kind] for start in STARTS)
        print(f"{kind}: " + "; ".join(
            f"{start} mean {values.mean():.2g}, median {np.median(values):.2g}, nine tenths below "
            f"{np.quantile(values, 0.9):.2g} m/s, {values.size} contacts, "
            f"{(values < edges[0]).sum()} below {edges[0]:.0e}"
            for start, values in (("cold", cold), ("history", warm)))
            + f"; cold / history {cold.mean() / warm.mean():.2f}, of medians "
            f"{np.median(cold) / np.median(warm):.2f}, of nine tenths "
            f"{np.quantile(cold, 0.9) / np.quantile(warm, 0.9):.2f}")
    return sheet.figure


def draw_histogram(axes: Any, values: Floats, edges: Floats, number: int, name: str) -> None:
    """What is smaller than the first edge is in the first bin."""
    colour = style_of(number)["color"]
    counts, _ = np.histogram(np.maximum(values, edges[0]), edges)
    axes.stairs(counts, edges, fill=True, color=colour, alpha=0.4)
    axes.stairs(counts, edges, color=colour, linewidth=0.8)
    axes.plot(np.sqrt(edges[1:] * edges[:-1]), counts, gid=name, visible=False)
    axes.axvline(values.mean(), color="black", linestyle="--", linewidth=0.8)
    axes.set(xscale="log", xlim=(edges[0], edges[-1]))
    axes.grid(color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
