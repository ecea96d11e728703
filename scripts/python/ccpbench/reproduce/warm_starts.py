"""Beyond the papers: what warm starts save over sequences of steps, for every solver that takes a
start."""
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.places import ROOT
from ccpbench.problem import Problem, read_problem
from ccpbench.reproduce.drawing import ONE_LINE, linear, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop, with_options
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

EXACT = 1e-9              # residual of the bed, and of the motion by which starts are judged
RESIDUALS = {"loose": 1e-2, "tight": 1e-6}
ITERATIONS = 1000         # a step, at most
FEW = 0.1                 # of the steps that may end short of the residual: else a hollow marker
JUDGED = range(10, 150, 10)  # steps whose start is compared with their solution

# By the name of the file: those that take a start (`ccpbench list solvers`).
SOLVERS = {"pgj": "pgj", "pgs": "pgs[law=coulomb]", "apgd": "apgd", "bb": "bb", "admm": "admm",
           "pqn": "pqn", "coulomb": "coulomb", "ssn": "ssn", "sap": "sap", "vipm": "vipm"}
# By the name of the file: how the figure calls it; as `simulate --start` takes it.
STARTS = {"cold": ("cold", "cold"), "previous": ("previous", "previous"),
          "history": ("history, 0.85", "history"),
          "normals": ("normals only", "history[beta=1,rows=normals]"),
          "model": ("model", "model")}


@dataclass(frozen=True)
class Subject:
    """A scene and how it is moved."""
    scene: str
    title: str
    until: float | None = None       # s; None: the scene's own
    bed: tuple[dict[str, object], float] | None = None  # it settles with these options; until, s
    words: tuple[str, ...] = ()      # of `simulate`
    elastic: bool = False            # contacts are compliant: `sap` and the start `model` are there


# By the scene; "wall" stands for any scene file.
SUBJECTS = {
    "rotating-drum": Subject(
        "rotating-drum[spheres=48,drum=0.1,width=0.03,omega=1.5,rolling=0,mu=0.5,wait=0.05]",
        "drum that turns", 0.75, ({"omega": 0}, 0.3), ("--stepper", "shake")),
    "triaxial-cell": Subject(
        "triaxial-cell[spheres=64,wall=2,rolling=0,press=0.05]", "spheres under load", 0.4,
        ({"speed": 0}, 0.7), elastic=True),
    "blade": Subject(
        "blade[spheres=100,length=0.2,width=0.11,blade=0.05,edge=0.03,wait=0.05]",
        "blade in a trench", 0.3, ({"speed": 0}, 0.3)),
    "wall": Subject(str(ROOT / "docs/examples/scenes/wall.yaml"), "wall that a ball hits"),
}


def trajectory_of(folder: Path, kind: str, solver: str, start: str, residual: float) -> Path:
    return folder / f"{kind}-{solver}-{start}-{residual:.0e}.h5"


def kinds_of(subject: Subject) -> tuple[list[str], list[str]]:
    """Solvers and starts that a scene has."""
    return ([name for name in SOLVERS if subject.elastic or name != "sap"],
            [name for name in STARTS if subject.elastic or name != "model"])


def chosen(problems: str) -> dict[str, Subject]:
    """All, or one alone with other options, or a scene file."""
    if problems == "ours":
        return SUBJECTS
    kind = "wall" if problems.endswith((".yaml", ".yml")) else problems.partition("[")[0]
    if kind not in SUBJECTS or problems == "wall":
        known = [name for name in SUBJECTS if name != "wall"]
        raise Failure(f"--problems {problems}: expected {' or '.join(known)}, with "
                      "[option=value,...], or a scene file FILE.yaml")
    return {kind: replace(SUBJECTS[kind], scene=problems)}


def run_starts(shop: Workshop) -> None:
    """Every scene by every solver from every start; with --problems one scene alone."""
    exactly: list[object] = ["--solver", "vipm", "--residual", EXACT]
    beds, jobs = {}, {}
    for kind, subject in chosen(shop.problems).items():
        motion: list[object] = ["simulate", subject.scene, *subject.words, "--every", 1000]
        if subject.until is not None:
            motion += ["--until", subject.until]
        if subject.bed:
            options, at_rest = subject.bed
            bed = shop.folder / "beds" / f"{kind}.h5"
            beds[bed] = ["simulate", with_options(subject.scene, **options), *subject.words,
                         "--until", at_rest, *exactly]
            motion += ["--from", bed]
        jobs[shop.folder / "exact" / f"{kind}.h5"] = [*motion, *exactly, "--freeze", ",".join(
            map(str, JUDGED))]
        solvers, starts = kinds_of(subject)
        for residual in RESIDUALS.values():
            for solver in solvers:
                for start in starts:
                    jobs[trajectory_of(shop.folder, kind, solver, start, residual)] = [
                        *motion, "--solver", SOLVERS[solver], "--start", STARTS[start][1],
                        "--residual", residual, "--iterations", ITERATIONS]
    shop.each(beds)
    shop.each(jobs, accept=(0, 3))


def energy(problem: Problem, gamma: Floats) -> float:
    """Of impulses [n][3], J: gamma.(N + Sigma) gamma / 2."""
    return 0.5 * float((gamma * problem.product(gamma)).sum())


def far(problem: Problem) -> float:
    """How far the impulses of the step before are from those of a step, as what both differ by
    moves bodies, over what the step's do."""
    before, now = problem.guesses["previous"], problem.guesses["simulation"]
    return float(np.sqrt(energy(problem, before - now) / energy(problem, now)))


def nearness(folder: Path, kind: str) -> Floats:
    """That, of the steps that were kept and have contacts."""
    path = folder / "exact" / f"{kind}-steps.h5"
    with h5py.File(path) as file:
        count = len(file["steps"])
    problems = [read_problem(f"{path}#{step}") for step in range(count)]
    return np.array([far(problem) for problem in problems if problem.contacts])


def draw_starts(folder: Path) -> Figure:
    """Iterations a step by solver and start, a row of panels per scene."""
    kinds = [kind for kind in SUBJECTS if (folder / "exact" / f"{kind}.h5").exists()]
    if not kinds:
        raise Failure(f"{folder}: not all of the trajectories are there")
    made = [read_trajectory(path) for path in sorted(folder.glob("*.h5"))]
    labels = [title for title, _ in STARTS.values()]
    sheet = Sheet(made, [], labels, len(kinds), len(RESIDUALS), None, head=ONE_LINE)
    for row, kind in zip(sheet.grid(), kinds, strict=True):
        exact = read_trajectory(folder / "exact" / f"{kind}.h5")
        off = nearness(folder, kind)
        print(f"{kind}: {len(exact.time)} steps, {exact.steps['contacts'].mean():.0f} contacts; "
              f"impulses of the step before are off by {100 * np.median(off):.2g} % (median; "
              f"{100 * off.min():.2g} to {100 * off.max():.2g})")
        for axes, (name, residual) in zip(row, RESIDUALS.items(), strict=True):
            draw_panel(axes, folder, kind, residual)
            panel_title(axes, f"{SUBJECTS[kind].title}, {name}")
        row[1].tick_params(labelleft=False)
    return sheet.figure


def read_all(folder: Path, kind: str, solver: str, residual: float) -> dict[str, Trajectory]:
    """By start."""
    paths = {start: trajectory_of(folder, kind, solver, start, residual)
             for start in kinds_of(SUBJECTS[kind])[1]}
    if not all(path.exists() for path in paths.values()):
        raise Failure(f"{folder}: not all of the trajectories are there")
    return {start: read_trajectory(path) for start, path in paths.items()}


def draw_panel(axes: Any, folder: Path, kind: str, residual: float) -> None:
    """A line for each solver, a marker for each start."""
    solvers, starts = kinds_of(SUBJECTS[kind])
    motions = {solver: read_all(folder, kind, solver, residual) for solver in solvers}
    print(f"  residual {residual:.0e}: iterations a step ({', '.join(starts)})")
    for place, (solver, row) in enumerate(motions.items()):
        mean = [float(motion.steps["outer"].mean()) for motion in row.values()]
        short = [short_of(motion, residual) for motion in row.values()]
        axes.hlines(place, min(mean), max(mean), color="0.75", linewidth=0.8, zorder=0)
        krylov = [float(motion.steps["krylov"].mean()) for motion in row.values()]
        print(f"    {solver:8}" + "".join(
            f"{value:9.1f}{'*' if part > FEW else ' '}"
            for value, part in zip(mean, short, strict=True))
            + f" previous/cold {mean[1] / mean[0]:.2f}"
            + f"; Krylov {krylov[0]:.0f} and {krylov[1]:.0f}" * any(krylov)
            + f"; short {', '.join(f'{100 * part:.0f} %' for part in short)}" * any(short))
    for start in starts:
        number = list(STARTS).index(start)
        style = {**style_of(number), "linestyle": ""}
        mean = [float(row[start].steps["outer"].mean()) for row in motions.values()]
        hollow = [place for place, row in enumerate(motions.values())
                  if short_of(row[start], residual) > FEW]
        axes.plot(mean, range(len(solvers)), gid=STARTS[start][0], **style)
        axes.plot([mean[place] for place in hollow], hollow,
                  **{**style, "markerfacecolor": "white", "zorder": 4})
    linear(axes, "iterations a step", "")
    axes.set(xscale="log", ylim=(len(SOLVERS) - 0.5, -0.5), xlim=(0.8, 1300))
    axes.set_yticks(range(len(solvers)), solvers)


def short_of(motion: Trajectory, residual: float) -> float:
    """The part of its steps that ends above it."""
    return float((motion.steps["residual"] > residual).mean())
