"""Makes the runs of a figure: where the program, the problems and the results are."""
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ccpbench.places import ROOT

# The author's particle states of Test Problems 1 to 3, as his archive names them.
STATES = {1: "particles2048pile.vtu", 2: "particles5040pile.vtu", 3: "particles10192pile.vtu"}
RESULTS_TOO = (0, 3, 4)  # 3: some runs did not reach their stop; 4: some crashed


class Failure(Exception):
    """Ends the program with its text and exit code 1."""


@dataclass
class Choice:
    """What the command line says of all figures."""
    program: str
    output: Path
    problems: str = "ours"            # or "author", or a file, name or scene for all of them
    states: Path | None = None        # the author's files; with "author"
    time_limit: float | None = None   # s per run, instead of the study's own
    fresh: bool = False               # forget the runs of an earlier call


class Workshop:
    """Of one figure."""

    def __init__(self, choice: Choice, name: str, temporary: str | os.PathLike[str]):
        self.program, self.problems = choice.program, choice.problems
        self.states, self.time_limit = choice.states, choice.time_limit
        self.temporary = Path(temporary)
        other = "" if self.problems == "ours" else "-" + short_name(self.problems)
        self.name = name + other
        self.folder = choice.output / self.name
        if choice.fresh and self.folder.is_dir():
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, *arguments: object, accept: Sequence[int] = (0,)) -> None:
        """`ccpbench ARGUMENTS...`; exit codes that are not accepted are a Failure."""
        words = [str(word) for word in arguments]
        print("$ ccpbench " + " ".join(words), flush=True)
        code = subprocess.run([self.program, *words], check=False).returncode
        if code not in accept:
            raise Failure(f"ccpbench {words[0]}: exit code {code}")

    def each(self, jobs: Mapping[Path, Sequence[object]], accept: Sequence[int] = (0,)) -> None:
        """Makes the files that are not there yet, by the arguments of the program that write each
        to its `-o`, and says how far it is."""
        absent = {path: words for path, words in jobs.items() if not path.exists()}
        begun = time.monotonic()
        for done, (path, words) in enumerate(absent.items()):
            each = (time.monotonic() - begun) / done if done else 0
            left = f", {each * (len(absent) - done):.0f} s left" if done else ""
            print(f"[{done + 1}/{len(absent)}{left}] ", end="")
            path.parent.mkdir(parents=True, exist_ok=True)
            self.run(*words, "-o", path, "--quiet", "--force", accept=accept)

    def scene(self, ours: str) -> str:
        """What is simulated: the figure's own, or --problems with other options of that scene."""
        kind = ours.partition("[")[0]
        if self.problems == "ours":
            return ours
        if self.problems.partition("[")[0] != kind:
            raise Failure(f"--problems {self.problems}: expected {kind}[option=value,...]")
        return self.problems

    def motions(self, jobs: Mapping[str, Sequence[object]], accept: Sequence[int] = (0,)) -> None:
        """Trajectories NAME.h5 with a frame after every step, by the arguments of `simulate`."""
        self.each({self.folder / f"{name}.h5": ["simulate", *words, "--every", 1]
                   for name, words in jobs.items()}, accept)

    def problem(self, number: int | None) -> str:
        """What the program takes for Test Problem 1, 2 or 3; None: for all there are."""
        if self.problems == "ours":
            return f"test-problem-{number}"
        if self.problems != "author" or number is None or self.states is None:
            return self.problems
        path = self.temporary / f"author-test-problem-{number}.h5"
        if not path.exists():
            self.run("import", "kleinert", self.states / STATES[number], "--name", path.stem,
                     "-o", path)
        return str(path)

    def problem_file(self, number: int) -> Path:
        """Its file."""
        problem = Path(self.problem(number))
        if problem.suffix == ".h5":
            return problem
        return self.data / f"{problem}.h5"

    @property
    def data(self) -> Path:
        """The catalogue."""
        return Path(os.environ.get("CCPBENCH_DATA_DIR") or ROOT / "problems/data")

    def study(self, name: str, numbers: Iterable[int | None]) -> None:
        """Makes the runs of a study of `ccpbench list studies` that are not there yet.
        @param numbers  the Test Problems it is of; (None,): problems of its own"""
        problems = sorted({self.problem(number) for number in numbers})
        self.study_on(name, [] if self.problems == "ours" else problems)

    def study_on(self, name: str, problems: Sequence[str]) -> None:
        """The same on these problems; none: the study's own."""
        study: str | Path = name
        changes = []
        if problems:
            changes.append(f"problems: [{', '.join(map(repr, problems))}]")
        if self.time_limit:
            changes.append(f"time_limit: {self.time_limit:g}")
        if changes:
            study = self.temporary / f"{name}.yaml"
            study.write_text("\n".join([f"name: {name}", f"include: {name}", *changes, ""]),
                             encoding="utf-8")
        self.run("run", study, "-o", self.folder, "--resume", accept=RESULTS_TOO)


def short_name(problems: str) -> str:
    """For files and folders: of a path its stem, of SCENE[option=value,...] its letters."""
    if "[" in problems:
        return re.sub("[^A-Za-z0-9.]+", "-", problems).strip("-")
    return Path(problems).stem


def with_options(scene: str, **more: object) -> str:
    """SCENE or SCENE[...] with these options, in place of what it has of them."""
    kind, _, given = scene.rstrip("]").partition("[")
    options = {**dict(part.split("=", 1) for part in given.split(",") if part), **more}
    return f"{kind}[{','.join(f'{name}={value}' for name, value in options.items())}]"


def run_study(name: str, *numbers: int) -> Callable[[Workshop], None]:
    """A study on some of the Test Problems."""
    return lambda shop: shop.study(name, numbers)


def run_on_sequence(name: str) -> Callable[[Workshop], None]:
    """A study of steps of a sequence: its own, or those of --problems FILE#STEPS."""
    return lambda shop: shop.study(name, (None,))
