"""Beyond the papers: what the choice of the contact law does to a step."""
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.problem import Problem, read_problem, write_problem
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, set_scale
from ccpbench.reproduce.workshop import RESULTS_TOO, Workshop
from ccpbench.results import made_of
from ccpbench.styles import style_of
from ccpbench.tables import Origin

STEPS = range(1, 6)  # of collapsing-pile


@dataclass(frozen=True)
class Law:
    """One choice."""
    solver: str
    measure: str             # that ends the solve
    compliance: float = 0.0  # in mean diagonal entries of N


LAWS = {
    "Coulomb": Law("coulomb", "coulomb_residual"),
    "convex": Law("vipm", "residual"),
    "LCP, 4 edges": Law("lcp[edges=4]", "coulomb_residual"),
    "LCP, 8 edges": Law("lcp", "coulomb_residual"),
    "compliant, 1 %": Law("coulomb", "coulomb_residual", 0.01),
    "compliant, 10 %": Law("coulomb", "coulomb_residual", 0.1),
}


def step_file(folder: Path, step: int, compliance: float) -> Path:
    return folder / "problems" / f"step-{step}-compliance-{compliance:g}.h5"


def result_file(folder: Path, step: int, name: str) -> Path:
    word = name.replace(", ", "-").replace(" ", "-").replace("%", "percent")
    return folder / f"step-{step}-{word}.h5"


def run_laws(shop: Workshop) -> None:
    """Every law on the same steps."""
    (shop.folder / "problems").mkdir(exist_ok=True)
    jobs = {}
    for step in STEPS:
        for name, law in LAWS.items():
            path = step_file(shop.folder, step, law.compliance)
            if not path.exists():
                problem = read_problem(f"{shop.data / 'collapsing-pile'}.h5#{step}")
                mean = np.trace(problem.diagonal_blocks(), axis1=1, axis2=2).mean() / 3
                if law.compliance:
                    problem = replace(problem, reference=None, reference_velocity=None, guesses={},
                                      certificate={},
                                      compliance=np.full((problem.contacts, 3),
                                                         law.compliance * mean))
                write_problem(path, replace(problem, name=path.stem))
            jobs[result_file(shop.folder, step, name)] = [
                "solve", path, "--solver", law.solver, "--stop", f"{law.measure}=1e-9",
                "--time-limit", shop.time_limit or 120, "--keep-gamma"]
    shop.each(jobs, accept=RESULTS_TOO)


def friction_of(problem: Problem, gamma: Floats) -> tuple[float, float, float]:
    """Of impulses [n][3]: the speed at which loaded contacts open, m/s; what friction dissipates,
    J; what all impulses take from the kinetic energy, J."""
    rigid = replace(problem, compliance=None)
    u = rigid.velocity(gamma)
    lift = float(gamma[:, 0] @ u[:, 0] / gamma[:, 0].sum())
    friction = float(-(gamma[:, 1:] * u[:, 1:]).sum())
    before = problem.r.copy()
    if problem.gap is not None:
        before[:, 0] -= problem.gap / problem.dt
    taken = -float((gamma * (before + 0.5 * rigid.product(gamma))).sum())
    return lift, friction, taken


def apart(problem: Problem, gamma: Floats, other: Floats) -> float:
    """m/s, the difference of the bodies' velocities, root mean square by mass."""
    change = gamma - other
    mass = (1 / problem.delassus.inverse_mass).sum()  # type: ignore[union-attr]
    square = float((change * replace(problem, compliance=None).product(change)).sum())
    return float(np.sqrt(max(square, 0) / mass))


def read_gamma(path: Path) -> tuple[Floats, dict[str, str]]:
    with h5py.File(path) as file:
        return file["final/gamma"][()].reshape(-1, 3), made_of(file)


def draw_laws(folder: Path) -> Figure:
    """Lift, dissipation of friction, and the distance from Coulomb's law, step by step."""
    made = read_gamma(result_file(folder, STEPS[0], "Coulomb"))[1]
    sheet = Sheet([Origin(made)], [], list(LAWS), 1, 3, None, OWN_AXIS, ONE_LINE)
    grid = sheet.grid()[0]
    units = ("$|u_n|$ of loaded contacts [m/s]", "dissipated by friction [J]",
             "velocities from Coulomb's [m/s]")
    heights: list[list[float]] = [[], [], []]
    for number, name in enumerate(LAWS):
        columns: list[list[float]] = [[], [], []]
        taken = []
        for step in STEPS:
            problem = read_problem(step_file(folder, step, 0))
            gamma = read_gamma(result_file(folder, step, name))[0]
            exact = read_gamma(result_file(folder, step, "Coulomb"))[0]
            lift, friction, all_of_it = friction_of(problem, gamma)
            taken.append(all_of_it)
            for column, value in zip(columns, (abs(lift), friction, apart(problem, gamma, exact)),
                                     strict=True):
                column.append(value)
        print(f"{name}: mean lift {np.mean(columns[0]):.3g} m/s, friction "
              f"{np.mean(columns[1]):.3g} J, all impulses {np.mean(taken):.3g} J, from Coulomb "
              f"{np.mean(columns[2]):.3g} m/s")
        for axes, column, height in zip(grid, columns, heights, strict=True):
            if max(column) < 1e-6:
                continue  # zero but for rounding: Coulomb's lift and its distance from itself
            axes.plot(list(STEPS), column, gid=name, **style_of(number))
            height += column
    for axes, unit, height in zip(grid, units, heights, strict=True):
        set_scale(axes, list(STEPS), height, False)
        axes.set(xlabel="step", ylabel=unit, xlim=(0.7, 5.3))
    return sheet.figure
