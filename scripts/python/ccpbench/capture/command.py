"""Freezes contact problems of real steps of other engines, one file of steps per scene.

    ccpbench capture mujoco humanoid --steps 10 -o humanoid.h5
    ccpbench capture mujoco my_robot.xml --after 100 --every 5 -o robot.h5
    ccpbench capture collection -o DIR            # all scenes of the engines that are installed
    ccpbench capture review DIR -o results/review # what solvers, peers and engines reach on them

ENGINE is mujoco, pinocchio, drake or pybullet, each with its package (scripts/peers/setup engines).
SCENE is a file that the engine reads, or one of ours: boxes, marbles, gripper, quadruped, humanoid,
with [count=N,slope=DEGREES]. The problems have the engine's own impulses as the guess `engine`.
`--contacts engine` freezes MuJoCo's own model of contacts, regularised, instead of rigid ones.
docs/capture.md says what is in them.

Exit codes: 0 done; 1 nothing or not all could be captured; 2 usage; 3 the collection is there, but
not all of it is as recorded.
"""
import argparse
import csv
import importlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ccpbench.capture import freeze
from ccpbench.console import complain
from ccpbench.problem import Problem, write_sequence

ENGINES = ("mujoco", "pinocchio", "drake", "pybullet")
TABLE = Path(__file__).with_name("collection.csv")
# engine, scene, contacts, the first step that is frozen, every which, how many
COLLECTION = [
    *[("mujoco", f"boxes[count={n},slope={s}]", "rigid", after, 5, 5)
      for n, s, after in ((1, 0, 5), (3, 0, 10), (10, 0, 20), (10, 12, 20), (30, 0, 20),
                          (80, 0, 10), (160, 8, 10))],
    *[("mujoco", f"marbles[count={n}]", "rigid", after, 10, 5)
      for n, after in ((5, 20), (25, 30), (60, 40), (125, 40))],
    ("mujoco", "marbles[count=250]", "rigid", 20, 5, 4),
    ("mujoco", "boxes[count=480]", "rigid", 8, 4, 3),
    ("mujoco", "marbles", "rigid", 20, 5, 2),
    *[("mujoco", f"{robot}[count={n},slope={s}]", "rigid", 10, 10, 10)
      for robot, n, s in (("gripper", 1, 0), ("gripper", 4, 0), ("quadruped", 1, 0),
                          ("quadruped", 1, 20), ("quadruped", 10, 12), ("humanoid", 1, 0),
                          ("humanoid", 1, 15), ("humanoid", 8, 10))],
    *[("mujoco", scene, "engine", 20, 10, 4)
      for scene in ("boxes[count=30]", "marbles[count=60]", "gripper[count=4]",
                    "quadruped[count=10,slope=12]", "humanoid[slope=15]", "humanoid[count=8]")],
    *[("pinocchio", f"{robot}[slope={s}]", "rigid", 10, 5, 6)
      for robot in ("quadruped", "humanoid") for s in (5, 15, 30)],
    *[("drake", scene, "rigid", 10, 5, 5)
      for scene in ("quadruped", "quadruped[slope=15]", "humanoid", "marbles[count=25]")],
    *[("pybullet", scene, "rigid", 20, 5, 5)
      for scene in ("boxes[count=10]", "boxes[count=80,slope=5]", "marbles[count=60]",
                    "marbles[count=250]")],
]


def captured(engine: str, source: str, contacts: str, after: int, every: int,
             count: int) -> list[Problem]:
    """So many steps, those with a contact, named by what they are.

    @throws ImportError  the engine is not there
    @throws ValueError   it cannot make this
    """
    module = importlib.import_module(f"ccpbench.capture.{engine}")
    stem = "".join(c if c.isalnum() else "-" for c in f"{engine}-{Path(source).stem}").strip("-")
    stem += "" if contacts == "rigid" else f"-{contacts}"
    some = freeze.steps(module.Simulation, source, contacts, after, every)
    found = list(itertools.islice(some, count))
    for index, (number, problem) in enumerate(found):
        problem.name = f"{stem}-{index:04d}"
        scene = source if not Path(source).is_file() else Path(source).name
        problem.source |= {"generator": f"ccpbench capture {engine} '{scene}' --contacts {contacts}"
                                        f" --after {after} --every {every} --steps {count}",
                           "parameters": json.dumps({"engine": engine, "scene": scene,
                                                     "contacts": contacts, "step": number})}
    return [problem for _, problem in found]


def row_of(problem: Problem, file: Path, number: int) -> dict[str, Any]:
    """Of the table of a collection."""
    return {"problem": f"{file.name}#{number}", "form": problem.form, "contacts": problem.contacts,
            "sha256": problem.content_hash()}


def collect(folder: Path) -> int:
    """Writes the collection and its table; @return the exit code"""
    folder.mkdir(parents=True, exist_ok=True)
    with TABLE.open(newline="", encoding="utf-8") as file:
        recorded = {row["problem"]: row["sha256"] for row in csv.DictReader(file)}
    rows, missing = [], set()
    for engine, source, contacts, after, every, count in COLLECTION:
        if engine in missing:
            continue
        try:
            problems = captured(engine, source, contacts, after, every, count)
        except ImportError as error:
            complain(f"without {engine}: {error}")
            missing.add(engine)
            continue
        path = folder / f"{problems[0].name.rsplit('-', 1)[0]}.h5"
        write_sequence(path, path.stem, problems, force=True)
        rows += [row_of(problem, path, k) for k, problem in enumerate(problems)]
        print(f"{path}: {len(problems)} steps, {problems[0].contacts} to "
              f"{max(problem.contacts for problem in problems)} contacts", flush=True)
    with (folder / "collection.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["problem"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    same = sum(recorded.get(row["problem"]) == row["sha256"] for row in rows)
    print(f"{len(rows)} problems in {folder}, {same} with the recorded hash (of {len(recorded)})")
    return 1 if not rows else 0 if same == len(recorded) else 3


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="capture", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=[*ENGINES, "collection", "review"],
                        metavar="ENGINE")
    parser.add_argument("scene", nargs="?", metavar="SCENE",
                        help="a file or a scene of ours; of a review: the folder")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True,
                        help="the file of steps; of the collection: its folder")
    parser.add_argument("--steps", type=int, metavar="N",
                        help="so many (default 10); in a review: of each file (default all)")
    parser.add_argument("--after", type=int, default=0, metavar="K",
                        help="the first is the K-th step of the engine (default 0)")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="every K-th (default 1)")
    parser.add_argument("--contacts", choices=("rigid", "engine"), default="rigid",
                        help="whose model of contacts (default rigid)")
    parser.add_argument("--force", action="store_true", help="replace FILE")
    arguments = parser.parse_args()
    if (arguments.scene is None) != (arguments.engine == "collection"):
        parser.error("expected ENGINE SCENE, review DIR, or collection alone")
    steps = 1 if arguments.steps is None else arguments.steps
    if min(steps, arguments.every, arguments.after + 1) < 1:
        parser.error("expected --steps and --every of at least 1, --after of at least 0")
    return arguments


def reviewed(arguments: argparse.Namespace) -> int:
    try:
        from ccpbench.capture.review import review
        return review(Path(arguments.scene), arguments.output, arguments.steps)
    except (ImportError, ValueError, RuntimeError) as error:
        complain(" ".join(str(error).split()))
        return 1


def main() -> int:
    arguments = parse_arguments()
    if arguments.engine == "collection":
        return collect(arguments.output)
    if arguments.engine == "review":
        return reviewed(arguments)
    if arguments.output.exists() and not arguments.force:
        complain(f"{arguments.output}: exists (--force replaces it)")
        return 1
    try:
        problems = captured(arguments.engine, arguments.scene, arguments.contacts, arguments.after,
                            arguments.every, arguments.steps or 10)
    except ImportError as error:
        complain(f"{error} (scripts/peers/setup engines, or pip install "
                 f"'ccpbench[{arguments.engine}]')")
        return 1
    except (ValueError, RuntimeError) as error:  # engines throw both at what they cannot read
        text = " ".join(str(error).split())
        complain(text if arguments.scene in text else f"{arguments.scene}: {text}")
        return 1
    if not problems:
        complain(f"{arguments.scene}: expected a step with a contact, found none")
        return 1
    write_sequence(arguments.output, arguments.output.stem, problems, force=True)
    sizes = np.array([problem.contacts for problem in problems])
    print(f"wrote {arguments.output}: {len(problems)} steps, {sizes.min()} to {sizes.max()} "
          f"contacts, {problems[0].form} form")
    return 0


if __name__ == "__main__":
    sys.exit(main())
