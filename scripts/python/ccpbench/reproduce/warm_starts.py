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
from ccpbench.problem import Problem, read_problem
from ccpbench.reproduce.drawing import FEW, HOLLOW, ONE_LINE, linear, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop, with_options
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

EXACT = 1e-9              # residual of the bed, and of the motion by which starts are judged
RESIDUALS = {"loose": 1e-1, "tight": 1e-4}
ITERATIONS = 500          # a step, at most
# Solvers whose iterations are a Krylov method's work: at most so many, cold and previous alone.
FEWER = {"pqn": 50, "coulomb": 50}
APART, BELOW = 0.25, 0.17  # between panels, inches; between markers, of the distance of solvers
JUDGED = range(10, 150, 5)  # steps whose start is compared with their solution

# By the name of the file: those that take a start (`ccpbench list solvers`), but for sap: it needs
# compliant contacts, and the impacts of spook are rigid. ssn takes rigid ones alone.
SOLVERS = {"pgj": "pgj", "pgs": "pgs[law=coulomb]", "apgd": "apgd", "bb": "bb", "admm": "admm",
           "pqn": "pqn", "coulomb": "coulomb", "ssn": "ssn", "vipm": "vipm"}
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
    elastic: bool = False            # contacts are compliant, and the start `model` is there


# A scene file: six courses in running bond, which stand for 0.45 s.
WALL = """\
name: wall
description: a ball against a wall of blocks
dt: 0.01
until: 0.75
mu: 0.6
stepper: shake
solver: pgs[law=coulomb]
obstacles:
  - {name: ground, shape: plane}
bodies:
  - shape: {box: [0.1, 0.06, 0.05]}
    density: 2000
    position: [-0.3, 0, 0.05]
    copies: {count: [4, 1, 3], pitch: [0.2, 0, 0.2]}
  - shape: {box: [0.1, 0.06, 0.05]}
    density: 2000
    position: [-0.2, 0, 0.15]
    copies: {count: [3, 1, 3], pitch: [0.2, 0, 0.2]}
  - shape: {box: [0.05, 0.06, 0.05]}
    density: 2000
    position: [-0.35, 0, 0.15]
    copies: {count: [2, 1, 3], pitch: [0.7, 0, 0.2]}
  - name: ball
    shape: {sphere: 0.08}
    mass: 6
    position: [0.02, -1.5, 0.4]
    velocity: [0, 3, 2.3]
"""

# By the scene; "wall" stands for any scene file.
SUBJECTS = {
    "rotating-drum": Subject(
        "rotating-drum[spheres=48,drum=0.1,width=0.03,omega=1.5,rolling=0,mu=0.5,wait=0.05]",
        "drum that turns", 0.3, ({"omega": 0}, 0.3), ("--stepper", "shake")),
    "triaxial-cell": Subject(
        "triaxial-cell[spheres=64,wall=2,rolling=0,press=0.05]", "spheres under load", 0.3,
        ({"speed": 0}, 0.7), elastic=True),
    # Gaps below and beside the blade are two and a half spheres wide: in narrower ones they wedge.
    "blade": Subject(
        "blade[spheres=150,length=0.12,width=0.07,blade=0.015,edge=0.025,radius_min=0.004,"
        "radius_max=0.005,margin=0.002,wait=0.05]", "trench with a blade", 0.45,
        ({"speed": 0}, 0.3)),
    "wall": Subject("", "wall that a ball hits"),
}


def trajectory_of(folder: Path, kind: str, solver: str, start: str, residual: float) -> Path:
    return folder / f"{kind}-{solver}-{start}-{residual:.0e}.h5"


def solvers_of(subject: Subject) -> list[str]:
    """Those that a scene can have."""
    return [name for name in SOLVERS if name != "ssn" or not subject.elastic]


def starts_of(subject: Subject, solver: str) -> list[str]:
    """Of a solver."""
    if solver in FEWER:
        return ["cold", "previous"]
    return [name for name in STARTS if subject.elastic or name != "model"]


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
        if not subject.scene:  # ours
            wall = shop.folder / "wall.yaml"
            wall.write_text(WALL, encoding="utf-8")
            subject = replace(subject, scene=str(wall))
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
        for residual in RESIDUALS.values():
            for solver in solvers_of(subject):
                for start in starts_of(subject, solver):
                    jobs[trajectory_of(shop.folder, kind, solver, start, residual)] = [
                        *motion, "--solver", SOLVERS[solver], "--start", STARTS[start][1],
                        "--residual", residual, "--iterations", FEWER.get(solver, ITERATIONS)]
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
    sheet = Sheet(made, [], labels, len(kinds), len(RESIDUALS), None, APART, ONE_LINE, lines=False,
                  hollow=HOLLOW)
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
    sheet.x_label(len(kinds) - 1, "iterations a step")
    return sheet.figure


def read_all(folder: Path, kind: str, solver: str, residual: float) -> dict[str, Trajectory]:
    """By start."""
    paths = {start: trajectory_of(folder, kind, solver, start, residual)
             for start in starts_of(SUBJECTS[kind], solver)}
    if not all(path.exists() for path in paths.values()):
        raise Failure(f"{folder}: not all of the trajectories are there")
    return {start: read_trajectory(path) for start, path in paths.items()}


def draw_panel(axes: Any, folder: Path, kind: str, residual: float) -> None:
    """A line for each solver, a marker for each start, one below the other: some fall together."""
    motions = {solver: read_all(folder, kind, solver, residual)
               for solver in solvers_of(SUBJECTS[kind])}
    print(f"  residual {residual:.0e}: iterations a step (*: short in more than a tenth of them)")
    for place, (solver, row) in enumerate(motions.items()):
        mean = {start: float(motion.steps["outer"].mean()) for start, motion in row.items()}
        short = {start: short_of(motion, residual) for start, motion in row.items()}
        axes.hlines(place, min(mean.values()), max(mean.values()), color="0.75", linewidth=0.8,
                    zorder=0)
        krylov = [float(row[start].steps["krylov"].mean()) for start in ("cold", "previous")]
        print(f"    {solver:8}" + ", ".join(
            f"{start} {value:.1f}{'*' * (short[start] > FEW)}" for start, value in mean.items())
            + f"; previous/cold {mean['previous'] / mean['cold']:.2f}"
            + f"; Krylov {krylov[0]:.0f} and {krylov[1]:.0f}" * any(krylov))
    for number, (start, (title, _)) in enumerate(STARTS.items()):
        down = BELOW * (number - (len(STARTS) - 1) / 2)
        there = {place + down: row[start] for place, row in enumerate(motions.values())
                 if start in row}
        style = {**style_of(number), "linestyle": ""}
        every = {place: float(motion.steps["outer"].mean()) for place, motion in there.items()}
        hollow = {place: every[place] for place, motion in there.items()
                  if short_of(motion, residual) > FEW}
        if every:
            axes.plot(list(every.values()), list(every), gid=title, **style)
            axes.plot(list(hollow.values()), list(hollow),
                      **{**style, "markerfacecolor": "white", "zorder": 4})
    linear(axes, "", "")
    axes.set(xscale="log", ylim=(len(motions) - 0.5, -0.5), xlim=(0.8, 2 * ITERATIONS))
    axes.set_yticks(range(len(motions)), list(motions))


def short_of(motion: Trajectory, residual: float) -> float:
    """The part of its steps that ends above it."""
    return float((motion.steps["residual"] > residual).mean())
