"""What solvers, peers and the engines' own impulses reach on captured steps, by the referee.

    ccpbench capture review DIR -o results/review      # DIR of `ccpbench capture collection`

Runs our solvers and the peers that are installed on the files of DIR (`--steps N`: N steps of each,
from the first to the last), 5 s a run, each until its own law holds to 1e-8 or it ends. Goes on
where it was interrupted. Writes `review.md` (shares of the problems on which the answer has a
residual of at most 1e-4, 1e-6 and 1e-8, by the convex law and by Coulomb's, in a column per
engine) and `review.png`.
"""
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ccpbench.figures import Sheet, save
from ccpbench.peers.compare import chosen, study_text
from ccpbench.problem import read_sequence
from ccpbench.program import run
from ccpbench.referee import residuals
from ccpbench.results import Run
from ccpbench.styles import style_of

OURS: tuple[str, ...] = ("vipm", "apgd", "ssn", "admm", "pgs", "coulomb", "pgs[law=coulomb]")
PEERS: tuple[str, ...] = ("clarabel", "siconos-nsgs", "pinocchio-admm", "pinocchio-admm-convex",
                          "pinocchio-pgs")
MUJOCO = ("mujoco-newton", "mujoco-cg", "mujoco-pgs")  # on MuJoCo's steps alone
LAWS = {"residual": "convex law", "coulomb_residual": "Coulomb's law"}
LEVELS = (1e-4, 1e-6, 1e-8)
LIMIT = 5  # s a run
OWN = "engine's impulses"

Answers = dict[str, dict[str, list[dict[str, float]]]]  # solver -> class -> measures of answers


def class_of(name: str) -> str:
    """Of a problem's name: its engine, with `engine` where the contacts are the engine's own."""
    engine = name.partition("-")[0]
    return f"{engine} engine" if re.search(r"-engine(-\d+)?$", name) else f"{engine} rigid"


def places(path: Path, count: int | None) -> list[int]:
    """The steps of a file that are looked at: all, or so many from the first to the last."""
    total = len(read_sequence(path))
    some = np.linspace(0, total - 1, min(count or total, total))
    return sorted({round(one) for one in some})


def solved(problems: Sequence[str], only: Sequence[str], ours: Sequence[str],
           output: Path) -> list[Run]:
    """The runs of a study of ours and the peers that are there. One tolerance of each, the least:
    what counts is where it ends."""
    peers = [re.sub(r"tolerances: \[[^]]*\]", "tolerances: [1e-10]", line)
             for line in (chosen(study_text(), only) if only else ()) if "external:" in line]
    quoted = ", ".join("'" + one.replace("'", "''") + "'" for one in problems)
    output.mkdir(parents=True, exist_ok=True)
    study = output / "review.yaml"
    study.write_text("\n".join([
        "name: review", f"problems: [{quoted}]", "solvers:", *(f"  - '{one}'" for one in ours),
        *peers, "stop: residual=1e-8", f"time_limit: {LIMIT}", ""]), encoding="utf-8")
    return run(study, output).runs if ours or peers else []


def engines_own(files: dict[Path, list[int]]) -> dict[str, list[dict[str, float]]]:
    """Measures of the impulses that the engines had."""
    found = defaultdict(list)
    for path, steps in files.items():
        problems = read_sequence(path)
        for step in steps:
            problem = problems[step]
            found[class_of(problem.name)].append(residuals(problem, problem.guesses["engine"]))
    return dict(found)


def answers_of(runs: Iterable[Run]) -> Answers:
    """What does not take a problem is not asked; without an answer nothing is reached."""
    found: Answers = defaultdict(lambda: defaultdict(list))
    for one in runs:
        if one.status != "unsupported":
            label = f"{one.solver} ({one.law})"
            found[label][class_of(one.instance[1])].append(
                {law: one.final(law) for law in LAWS})
    return found


def shares(answers: Sequence[dict[str, float]], law: str, levels: Iterable[float]) -> list[float]:
    """Of the answers that reach each level; a NaN reaches none."""
    values = np.array([one[law] for one in answers])
    return [float(np.mean(values <= level)) for level in levels]


def table(found: Answers, law: str) -> str:
    """Percentages that reach 1e-4, 1e-6, 1e-8; a column per class, a row per solver."""
    classes = sorted({name for one in found.values() for name in one})
    most = {name: max(len(one.get(name, ())) for one in found.values()) for name in classes}
    lines = [f"| | {' | '.join(f'{name} ({most[name]})' for name in classes)} |",
             "|---" * (len(classes) + 1) + "|"]
    for solver, by_class in found.items():
        cells = [" / ".join(f"{100 * share:.0f}" for share in shares(by_class[name], law, LEVELS))
                 if name in by_class else "" for name in classes]
        lines.append(f"| {solver} | {' | '.join(cells)} |")
    return "\n".join(lines)


def figure(found: Answers, runs: Sequence[Run], path: Path) -> None:
    """Share of the problems that are solved to a residual, by both laws."""
    levels = np.logspace(0, -9, 91)
    sheet = Sheet(runs, [], list(found), 1, 2, "captured steps: share with at most a residual",
                  gap=0.3)
    for axes, (law, title) in zip(sheet.grid(sharey=True)[0], LAWS.items(), strict=True):
        for number, by_class in enumerate(found.values()):
            every = [one for some in by_class.values() for one in some]
            style: Any = {**style_of(number), "markevery": (number, 20)}
            axes.plot(levels, shares(every, law, levels), **style)
        axes.set(title=title, xscale="log", xlim=(1, 1e-9), ylim=(-0.02, 1.02))
        axes.grid(alpha=0.3, linewidth=0.4)
    sheet.figure.axes[0].set_ylabel("share of the problems")
    sheet.x_label(0, "residual of the answer")
    save(sheet.figure, [path])


def review(folder: Path, output: Path, count: int | None) -> int:
    """@param count  steps of each file (default: all)  @return the exit code"""
    files = {path.resolve(): places(path, count) for path in sorted(folder.glob("*.h5"))}
    if not files:
        raise ValueError(f"{folder}: expected files of captured steps (*.h5), found none")
    words = {path: [f"{path}#{step}" for step in steps] for path, steps in files.items()}
    runs = solved([one for some in words.values() for one in some], PEERS, OURS, output / "all")
    of_mujoco = [one for path, some in words.items() if path.name.startswith("mujoco-")
                 for one in some]
    if of_mujoco:
        runs += solved(of_mujoco, MUJOCO, (), output / "mujoco")
    found = {**answers_of(runs), OWN: engines_own(files)}
    total = sum(map(len, files.values()))
    (output / "review.md").write_text("\n\n".join(
        [f"{total} steps of {len(files)} files, {LIMIT} s a run; percent of the problems with a "
         "residual of at most " + " / ".join(f"{level:.0e}" for level in LEVELS) + "."]
        + [f"### {title[0].upper()}{title[1:]}\n\n{table(found, law)}"
           for law, title in LAWS.items()]) + "\n", encoding="utf-8")
    figure(found, runs, output / "review.png")
    print(f"wrote {output / 'review.md'} and review.png", file=sys.stderr)
    return 0
