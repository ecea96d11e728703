"""Koziara 2019 Figs. 12 and 13: pqn by delta and the density of the bodies, in a drum with lifters;
and on frozen steps by the scale of impulses."""
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ccpbench.figures import HeatSheet
from ccpbench.problem import Bodies, Problem, read_problem, write_problem
from ccpbench.reproduce.koziara2019 import TOTALS, Totals, draw_maps, instances_of, totals
from ccpbench.reproduce.koziara2019_drum import RESIDUAL
from ccpbench.reproduce.workshop import RESULTS_TOO, Failure, Workshop, with_options
from ccpbench.results import Run, read_result
from ccpbench.trajectory import Trajectory, read_trajectory

DRUM, UNTIL = "lifter-drum[bodies=40,wait=0.7]", 1.7  # s: it turns by 1 rad
DENSITIES = (10, 100, 1000, 10000)   # kg/m^3
DELTAS = (0.001, 0.01, 0.025, 0.1)  # of the mean N_ii
PATIENCE = 200                       # iterations a step, at most
# By the end of the file's name: what the figure calls it, options of the scene, epsilon and m.
KINDS: dict[str, tuple[str, dict[str, object], float, int]] = {
    "rigid": ("(a) rigid", {}, 0.25, 10),
    "soft": ("(b) pseudo-rigid", {"pseudo_rigid": "true"}, 0.01, 5)}
RELATIVE = ", avg N$_{ii}$"           # what delta is in
OF_MOTION = ("iterations of a converged step", "steps that failed", "GMRES iterations of all steps")


def motion_file(folder: Path, kind: str, density: float, delta: float) -> Path:
    return folder / f"density-{density:g}-delta-{delta:g}-{kind}.h5"


def run_motions(shop: Workshop) -> None:
    """A drum for each kind of bodies, density and delta; with --problems for the scene's whole
    time."""
    scene = shop.scene(DRUM)
    time = ["--until", UNTIL] if shop.problems == "ours" else []
    jobs = {}
    for kind, (_, options, epsilon, m) in KINDS.items():
        for density in DENSITIES:
            for delta in DELTAS:
                solver = (f"pqn[delta_relative_to=avg,delta={delta:g},krylov_tolerance={epsilon},"
                          f"krylov_max_iterations={m}]")
                jobs[motion_file(shop.folder, kind, density, delta)] = [
                    "simulate", with_options(scene, density=density, **options), *time,
                    "--solver", solver, "--residual", RESIDUAL, "--iterations", PATIENCE,
                    "--every", 1000]
    shop.each(jobs, accept=(0, 3))


def of_motion(motion: Trajectory, steps: int) -> tuple[float, float, float]:
    """The numbers of OF_MOTION; NaN of one that did not get to its end.
    @param steps  that it should have"""
    if len(motion.time) < steps:
        return np.nan, np.nan, np.nan
    failed = np.asarray(motion.steps["residual"]) > RESIDUAL
    good = np.asarray(motion.steps["outer"], float)[~failed]
    return (float(good.mean()) if good.size else np.nan, float(failed.sum()),
            float(motion.steps["krylov"].sum()))


def draw_motions(folder: Path) -> Figure:
    """Figs. 12 and 13: iterations, failures and work over delta and density, a row per kind of
    bodies."""
    motions: dict[tuple[str, float, float], Trajectory] = {}
    for kind in KINDS:
        for density in DENSITIES:
            for delta in DELTAS:
                path = motion_file(folder, kind, density, delta)
                if not path.exists():
                    raise Failure(f"{folder}: not all of the trajectories are there")
                motions[kind, density, delta] = read_trajectory(path)
    one = next(iter(motions.values()))
    steps = max(len(motion.time) for motion in motions.values())
    sheet = HeatSheet(motions.values(), len(KINDS), len(OF_MOTION),
                      f"{one.option['bodies']} ellipsoids in a drum with lifters, "
                      f"{steps:,} steps")
    for row, (kind, (title, *_)) in enumerate(KINDS.items()):
        cells = {(delta, density): of_motion(motion, steps)
                 for (of_kind, density, delta), motion in motions.items() if of_kind == kind}
        draw_maps(sheet, row, cells, [(density,) for density in DENSITIES],
                  [f"{density:g}" for density in DENSITIES], OF_MOTION, RELATIVE)
        sheet.grid[row, 0].set_ylabel(f"{title}: density [kg/m\u00b3]")
        for density in DENSITIES:
            print(f"{title}, {density:g} kg/m3: " + "; ".join(
                "delta {:g}: {:.1f} iterations, {:.0f} failed, {:.0f} GMRES".format(
                    delta, *cells[delta, density]) for delta in DELTAS))
    return sheet.figure


FACTORS = (0.1, 1, 10, 100)   # of the steps' density; the paper's over its 100 kg/m^3
FROZEN_DELTAS = (0.001, 0.01, 0.1, 1)
# How the figure calls it: impulse_scale of pqn, as the program takes it.
SCALES = {"\u03c1 by N": 1, "\u03c1 = 1/kg": 0}
OF_DENSITY = (2, 4)             # steps of collapsing-pile


def density_run(folder: Path, density: float, scale: int, delta: float, step: int) -> Path:
    return folder / f"density-{density:g}-scale-{scale}-delta-{delta:g}-step-{step}.h5"


def run_densities(shop: Workshop) -> None:
    """The same steps of bodies of other densities, with delta relative to the mean of N_ii."""
    (shop.folder / "problems").mkdir(exist_ok=True)
    jobs: dict[Path, Sequence[object]] = {}
    for density in FACTORS:
        for step in OF_DENSITY:
            path = shop.folder / "problems" / f"density-{density:g}-step-{step}.h5"
            if not path.exists():
                problem = read_problem(f"{shop.data / 'collapsing-pile'}.h5#{step}")
                write_problem(path, replace(heavier(problem, density), name=path.stem))
            for scale in SCALES.values():
                for delta in FROZEN_DELTAS:
                    solver = (f"pqn[delta_relative_to=avg,delta={delta},krylov_tolerance=0.25,"
                              f"krylov_max_iterations=10,impulse_scale={scale}]")
                    jobs[density_run(shop.folder, density, scale, delta, step)] = [
                        "solve", path, "--solver", solver, "--start", "previous", "--stop",
                        "residual=1e-3", "--time-limit", shop.time_limit or 10]
    shop.each(jobs, accept=RESULTS_TOO)


def heavier(problem: Problem, density: float) -> Problem:
    """The same with bodies so much denser: velocities stay, impulses grow."""
    if not isinstance(problem.delassus, Bodies):
        raise Failure(f"{problem.name}: expected bodies, found an assembled N")
    bodies = replace(problem.delassus, inverse_mass=problem.delassus.inverse_mass / density)
    return replace(problem, delassus=bodies, reference=None, reference_velocity=None,
                   certificate={}, guesses={name: density * guess
                                            for name, guess in problem.guesses.items()})


def draw_densities(folder: Path) -> Figure:
    """Iterations and failures over delta and density, by the scale of impulses."""
    cells: dict[tuple[int, float, float], Totals] = {}
    every: list[Run] = []
    for scale in SCALES.values():
        for density in FACTORS:
            for delta in FROZEN_DELTAS:
                paths = [density_run(folder, density, scale, delta, step) for step in OF_DENSITY]
                if not all(path.exists() for path in paths):
                    raise Failure(f"{folder}: not all of the runs are there")
                runs = [read_result(path) for path in paths]
                every += runs
                cells[scale, density, delta] = totals(runs)
    sheet = HeatSheet(every, len(SCALES), 2, instances_of(every))
    for row, (title, scale) in enumerate(SCALES.items()):
        of_scale = {(delta, density): numbers
                    for (one, density, delta), numbers in cells.items() if one == scale}
        draw_maps(sheet, row, of_scale, [(density,) for density in FACTORS],
                  [f"{density:g}" for density in FACTORS], TOTALS[:2], RELATIVE)
        sheet.grid[row, 0].set_ylabel(f"density; {title}")
        best = [min(FROZEN_DELTAS, key=lambda one: of_scale[one, density][2])
                for density in FACTORS]
        print(f"{title}: fewest iterations with delta = " + ", ".join(
            f"{delta:g} (density {density:g})"
            for delta, density in zip(best, FACTORS, strict=True)))
    return sheet.figure
