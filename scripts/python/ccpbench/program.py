"""Drives the program from Python: `solve` for one run, `run` for a study.

Every run is the program's own process with its clock and its referee; nothing is measured here.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccpbench.functions import External, Host
from ccpbench.places import find_program
from ccpbench.problem import Problem, read_problem, write_problem
from ccpbench.results import Run, group, leading_measure, read_folder, read_result
from ccpbench.tables import target_table
from ccpbench.trajectory import Trajectory, read_trajectory

AnyPath = str | os.PathLike[str]
Limits = str | Mapping[str, float] | Sequence[str]  # residual=1e-6, {"residual": 1e-6}, a list
Progress = Callable[[dict[str, Any]], None]


class ProgramError(RuntimeError):
    """The program refused what it was asked, or could not be found."""


def program_of(given: AnyPath | None = None) -> str:
    """@throws ProgramError  there is none"""
    found = find_program(os.fspath(given) if given else None)
    if found is None:
        raise ProgramError(f"expected the program ccpbench, found none{' at ' if given else ''}"
                           f"{given or ' in $CCPBENCH or on the path'}")
    return found


def generate(what: str, *words: str, output: AnyPath | None = None,
             program: AnyPath | None = None, **options: object) -> Problem:
    """Makes a problem: `generate("pile", spheres=200, contacts=700)` is `ccpbench generate pile
    --spheres 200 --contacts 700`, and `generate("scene", "stack")` one of `ccpbench list scenes`.

    @param output  a file to keep it in; there must be none of that name

    @throws ProgramError  the program refused it, or is not there
    """
    with tempfile.TemporaryDirectory(prefix="ccpbench-") as scratch:
        path = Path(output) if output is not None else Path(scratch) / "problem.h5"
        given = [word for name, value in options.items()
                 for word in ("--" + name.replace("_", "-"), str(value))]
        done = subprocess.run([program_of(program), "generate", what, *words, *given, "-o",
                               str(path)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ProgramError(complaint(done.stderr, done.returncode))
        return read_problem(path)


def simulate(scene: str, *, output: AnyPath | None = None, program: AnyPath | None = None,
             **options: object) -> Trajectory:
    """Moves the bodies of a scene: `simulate("bouncing-ball[height=0.5]", until=2)` is `ccpbench
    simulate 'bouncing-ball[height=0.5]' --until 2` (docs/trajectory-format.md).

    @param output  a file to keep the trajectory in; there must be none of that name

    @throws ProgramError  the program refused it, a body got too fast, or it is not there
    """
    with tempfile.TemporaryDirectory(prefix="ccpbench-") as scratch:
        path = Path(output) if output is not None else Path(scratch) / "trajectory.h5"
        given = [word for name, value in options.items()
                 for word in ("--" + name.replace("_", "-"), str(value))]
        done = subprocess.run([program_of(program), "simulate", scene, *given, "-o", str(path)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ProgramError(complaint(done.stderr, done.returncode))
        return read_trajectory(path)


def limits_text(limits: Limits) -> str:
    """As the command line has them."""
    if isinstance(limits, str):
        return limits
    if isinstance(limits, Mapping):
        return ",".join(f"{name}={value!r}" for name, value in limits.items())
    return ",".join(limits)


def complaint(errors: str, code: int) -> str:
    """What the program said, without its own name."""
    lines = [line.removeprefix("ccpbench: ") for line in errors.splitlines() if line.strip()]
    return "\n".join(lines) or f"ccpbench ended with exit code {code}"


def solve(problem: AnyPath | Problem, solver: str | External, *, stop: Limits = "residual=1e-6",
          targets: Limits = (), time_limit: float = 60.0, start: str = "cold", threads: int = 1,
          more: Sequence[str] = (), output: AnyPath | None = None,
          program: AnyPath | None = None) -> Run:
    """Solves one problem with one solver; what the referee measured, with the impulses (`gamma`).

    @param problem     a file, FILE#STEP, a name of `ccpbench list problems`, or a Problem
    @param solver      `id[option=value,...]`, or a function made with `external`
    @param stop        the solve ends when the referee measures this
    @param targets     when these are first reached is recorded
    @param time_limit  s of solving
    @param more        further options of `ccpbench solve`, as words
    @param output      a file to keep the result in; there must be none of that name
    @param program     the program (default: $CCPBENCH, the build tree's, the first on the path)

    @throws ProgramError  the program refused it, or is not there
    """
    with ExitStack() as ends:
        scratch = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="ccpbench-")))
        if isinstance(problem, Problem):
            name = "".join(c if c.isalnum() or c in "-_." else "_" for c in problem.name)
            write_problem(scratch / f"{name}.h5", problem)
            problem = scratch / f"{name}.h5"
        path = Path(output) if output is not None else scratch / "result.h5"
        words = [program_of(program), "solve", os.fspath(problem), "--stop", limits_text(stop),
                 "--time-limit", repr(float(time_limit)), "--start", start, "--threads",
                 str(threads), "--keep-gamma", "--quiet", "-o", str(path), *more]
        if targets:
            words += ["--targets", limits_text(targets)]
        host = ends.enter_context(Host([solver] if isinstance(solver, External) else []))
        if isinstance(solver, External):
            words += ["--solver", solver.name, "--law", solver.law, "--external",
                      " ".join(map(quoted, host.command(solver)))]
            words += ["--features", ",".join(solver.features)] if solver.features else []
        else:
            words += ["--solver", solver]
        done = subprocess.run(words, capture_output=True, text=True, check=False,
                              env=host.environment)
        if done.returncode in (1, 2) or not path.exists():
            raise ProgramError(complaint(done.stderr, done.returncode))
        return read_result(path, gamma=True)


def quoted(word: str) -> str:
    """For the program's own reading of a command: quotes as in a shell."""
    return word if word.startswith("{") else "'" + word.replace("'", "'\\''") + "'"


@dataclass
class Results:
    """The runs of a folder of results."""
    folder: Path
    runs: list[Run]
    faults: dict[Path, str]  # files that cannot be used, and why

    def table(self, measure: str | None = None, targets: Sequence[float] | None = None) -> str:
        """When each target was reached, as text.
        @param measure  default: that of the stop  @param targets  default: those of the runs"""
        measure = measure or leading_measure(self.runs)
        if targets is None:
            targets = sorted({value for run in self.runs for name, value in run.targets
                              if name == measure}, reverse=True)
        return target_table(group(self.runs), targets, measure)

    def figure(self, measure: str | None = None) -> Any:
        """What `scripts/plot` draws: a matplotlib Figure of curves against time and iterations."""
        from ccpbench.plot import draw_curves
        measure = measure or leading_measure(self.runs)
        targets = sorted({value for run in self.runs for name, value in run.targets
                          if name == measure}, reverse=True)
        rows = [(measure, targets, True), (measure, targets, False)]
        return draw_curves(self.runs, group(self.runs), rows, None)

    def frame(self) -> Any:
        """A pandas DataFrame with a row per run (frames.run_rows has the columns)."""
        from ccpbench.frames import frame, run_rows
        return frame(run_rows(self.runs))

    def curves(self) -> Any:
        """A pandas DataFrame with a row per look at an iterate."""
        from ccpbench.frames import curve_rows, frame
        return frame(curve_rows(self.runs))


def read_results(folder: AnyPath) -> Results:
    """All runs of a folder that may be compared with each other."""
    runs, faults = read_folder(folder)
    return Results(Path(folder), runs, faults)


def show_progress(event: dict[str, Any]) -> None:
    """A line on standard error for each run."""
    if "run" not in event:
        return
    residual = "" if event.get("residual") is None else f", residual {event['residual']:.2e}"
    how = "reached" if event["stop_reached"] else event["status"]
    kept = ", kept" if event["kept"] else f" in {event['time'] or 0:.3g} s"
    print(f"[{event['run']}/{event['of']}] {event['instance']} × {event['solver']}: "
          f"{how}{residual}{kept}", file=sys.stderr, flush=True)


def run(study: AnyPath | Mapping[str, Any], output: AnyPath | None = None, *, resume: bool = True,
        force: bool = False, jobs: int = 1, progress: Progress | bool = True,
        program: AnyPath | None = None) -> Results:
    """Makes all runs of a study (docs/studies.md) and reads the results.

    @param study     a file, a name of `ccpbench list studies`, or its keys as a dictionary, where
                     problems may be Problems and solvers functions made with `external`
    @param output    the folder (default: results/NAME)
    @param resume    keep what is there and still valid, make the others  @param force  make all
    @param jobs      runs at a time
    @param progress  True: a line per run on standard error; or called with what `run --json` prints

    @throws ProgramError  the program refused it, or is not there
    """
    with ExitStack() as ends:
        solvers = several(study.get("solvers", ())) if isinstance(study, Mapping) else []
        host = ends.enter_context(Host([one for one in solvers if isinstance(one, External)]))
        if isinstance(study, Mapping):
            folder = Path(output or Path("results") / str(study.get("name", "")))
            keys = {**study, "solvers": [entry_of(one, host) for one in solvers], "problems": [
                on_disk(one, folder) for one in several(study.get("problems", ()))]}
            scratch = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="ccpbench-")))
            study, output = scratch / "study.yaml", folder
            study.write_text(json.dumps(keys), encoding="utf-8")  # which is YAML, too
        words = [program_of(program), "run", os.fspath(study), "--json", "-j", str(jobs),
                 *(["-o", os.fspath(output)] if output is not None else []),
                 *(["--force"] if force else ["--resume"] if resume else [])]
        tell = show_progress if progress is True else progress or (lambda _: None)
        return read_results(started(words, host.environment, tell))


def several(value: Any) -> list[Any]:
    """A list, or one."""
    return [value] if isinstance(value, (str, Problem, External, Mapping)) else list(value)


def on_disk(problem: Any, output: Path) -> str:
    """A problem as a study names it; one of this session is written below the results."""
    if not isinstance(problem, Problem):
        return str(Path(problem).absolute() if os.path.exists(problem) else problem)
    path = output.absolute() / "problems" / f"{problem.name}.h5"
    if path.exists() and read_problem(path).content_sha256 == problem.content_hash():
        return str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_problem(path, problem, force=True)
    return str(path)


def entry_of(solver: Any, host: Host) -> Any:
    """A solver as a study names it."""
    if not isinstance(solver, External):
        return solver
    features = {"features": list(solver.features)} if solver.features else {}
    return {"external": {"name": solver.name, "law": solver.law, "command": host.command(solver),
                         **features}}


def started(words: Sequence[str], environment: Mapping[str, str], tell: Progress) -> str:
    """Runs a study, telling its events; @return the folder. Ctrl-C ends the study as well."""
    folder = ""
    with tempfile.TemporaryFile("w+") as errors, \
            subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True,
                             env=dict(environment)) as process:
        try:
            for line in process.stdout or ():
                event = json.loads(line)
                folder = str(event.get("folder", folder))
                tell(event)
        except BaseException:
            process.send_signal(signal.SIGINT)
            raise
        code = process.wait()
        if code not in (0, 3, 4) or not folder:
            errors.seek(0)
            raise ProgramError(complaint(errors.read(), code))
    return folder
