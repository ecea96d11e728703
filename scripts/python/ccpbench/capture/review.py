"""What is in a folder of captured steps, as the table of docs/capture.md: python3 -m
ccpbench.capture.review DIR, in an environment that has the program.

Per file: contacts; the smallest eigenvalue of N over its largest (up to 200 contacts); the residual
of the engine's impulses by both laws (median over the steps); how many steps `vipm` and `coulomb`
solve to 1e-8 by the law that is theirs, in 20 s each, and the worst residual.
"""
import sys
from pathlib import Path

import numpy as np

from ccpbench.problem import Problem, read_sequence
from ccpbench.program import solve
from ccpbench.referee import residuals

STOP, LIMIT, DENSE = 1e-8, 20.0, 200


def smallest(problem: Problem) -> float:
    """Eigenvalue of N over the largest one; N is symmetric by how it is stored and applied."""
    n = problem.contacts
    columns = [problem.delassus.product(column.reshape(n, 3)).ravel() for column in np.eye(3 * n)]
    matrix = np.array(columns)
    if np.abs(matrix - matrix.T).max() > 1e-12 * np.abs(matrix).max():
        return float("nan")
    values = np.linalg.eigvalsh(matrix)
    return float(values[0] / values[-1])


def row_of(path: Path) -> str:
    """A line of the table."""
    steps = read_sequence(path)
    sizes = [step.contacts for step in steps]
    small = [smallest(step) for step in steps if step.contacts <= DENSE]
    own = [residuals(step, step.guesses["engine"]) for step in steps]
    cells = [path.stem, str(len(steps)), f"{min(sizes)}–{max(sizes)}",
             f"{min(small):.0e}" if small else "",
             *(f"{np.median([one[name] for one in own]):.0e}"
               for name in ("residual", "coulomb_residual"))]
    for solver, measure in (("vipm", "residual"), ("coulomb", "coulomb_residual")):
        found = [solve(step, solver, stop=f"{measure}={STOP}", time_limit=LIMIT) for step in steps]
        worst = max(run.final(measure) for run in found)
        cells.append(f"{sum(run.reached for run in found)}, {worst:.0e}")
    return f"| {' | '.join(cells)} |"


def main() -> int:
    for path in sorted(Path(sys.argv[1]).glob("*.h5")):
        print(row_of(path), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
