"""Result files (docs/result-format.md): what plot, report, compare and reproduce read.

Nothing here draws or prints. A folder's runs are read once, files that cannot be used are told
apart with their reasons, and runs that are repetitions of each other are put together.
"""
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccpbench.measures import in_order
from ccpbench.reading import opened, text_of

SCHEMA_VERSION = 1
WORK = ("time", "outer", "krylov", "applies")
OTHER_COLUMNS = ("time_excluded", "own_residual")  # of /curve, beside work and measures
FAILED = ("crashed", "killed", "out_of_memory")  # did not end by themselves
NOISY = 0.15  # spread above which times are flagged

Target = tuple[str, float]  # measure <= value
Instance = tuple[int, str, str]  # contacts, name, content hash


def made_of(file: Any) -> dict[str, str]:
    """How a result file was made: its provenance, with the commit cut short."""
    return told(file["provenance"].attrs)


def told(provenance: Mapping[str, str]) -> dict[str, str]:
    """Provenance as figures and tables say it: a line each, with the commit cut short."""
    made = {key: " ".join(text.split()) for key, text in provenance.items()}
    made["commit"] = re.sub("^([0-9a-f]{9})[0-9a-f]+", r"\1", made.get("commit", "?"))
    return made


class Run:
    """One result file: one solver on one problem, once."""

    def __init__(self, path: Path, file: Any, measures: Iterable[str] | None = None):
        """@param measures  those whose curves are read (default: all there are)"""
        root = file.attrs
        if root.get("format") != "ccpbench-result":
            raise ValueError("root attribute format: expected 'ccpbench-result', found "
                             f"{root.get('format')!r}")
        if root["version"] != SCHEMA_VERSION:
            raise ValueError(f"schema version: expected {SCHEMA_VERSION}, found {root['version']}")
        self.path = path
        self.referee_version = int(root["referee_version"])
        self.instance: Instance = (int(root["contacts"]), text_of(root, "instance"),
                                   text_of(root, "instance_hash"))
        self.form = text_of(root, "form", "")
        self.bodies = int(root.get("bodies", 0))
        self.solver = text_of(root, "solver")
        self.solver_id = text_of(root, "solver_id")
        self.study = text_of(root, "study")
        self.start = text_of(root, "start", "cold")
        if self.start != "cold":  # a curve of its own
            self.solver += " from " + self.start
        self.law = text_of(root, "law", "")
        self.repetition = int(root.get("repetition", 1))
        self.status = text_of(root, "status")
        self.reached = bool(root["stop_reached"])
        self.message = text_of(root, "message", "")
        self.time_limit = float(root.get("time_limit", 0))
        self.machine = text_of(root, "machine", "")  # as `merge` calls it
        self.made = {**made_of(file), **({"machine": self.machine} if self.machine else {})}
        asked = file["request"].attrs if "request" in file else {}
        self.study_description = text_of(asked, "study_description", "")
        self.options: dict[str, str] = (
            {name: text_of(file["options"].attrs, name) for name in file["options"].attrs}
            if "options" in file else {})
        self.timers = {key: float(value) for key, value in file["timers"].attrs.items()}
        self.descriptors = ({key: float(value) for key, value in file["instance"].attrs.items()}
                            if "instance" in file else {})
        names, values = file["targets/measure"].asstr()[()], file["targets/value"][()]
        self.targets: list[Target] = [(name, float(value))
                                      for name, value in zip(names, values, strict=True)]
        # What ends the solve, all of them together; the first one leads.
        stops = text_of(root, "stop").split(",")
        self.stops: list[Target] = [(name, float(value)) for name, value in
                                    (one.split("=") for one in stops if one)]
        self.stop: Target | None = self.stops[0] if self.stops else None
        self.targets += [stop for stop in self.stops if stop not in self.targets]
        self.ranks = int(self.made.get("ranks") or 1)
        # What each rank spent with the others, s and counts: `exchange_time`, ...; of one: nothing.
        self.rank_times: dict[str, NDArray[Any]] = (
            {name: file["ranks"][name][()] for name in file["ranks"]} if "ranks" in file else {})
        self.gamma: NDArray[np.float64] | None = None  # [n][3], N s, if asked for and kept
        self._read_curve(file["curve"], measures)

    def _read_curve(self, curve: Any, measures: Iterable[str] | None) -> None:
        for name in WORK:
            if name not in curve:
                raise ValueError(f"/curve/{name}: expected a dataset, found nothing")
        self.work: dict[str, NDArray[Any]] = {name: curve[name][()] for name in WORK}
        self.measures = [name for name in curve if name not in (*WORK, *OTHER_COLUMNS)]
        if not self.measures:
            raise ValueError("/curve: expected a measure, found none")
        # A measure that the file's program did not know yet is nowhere known.
        unknown = np.full(len(self.work["time"]), math.nan)
        self.values: dict[str, NDArray[np.float64]] = {
            name: curve[name][()] if name in curve else unknown
            for name in (self.measures if measures is None else measures)}
        for name, column in [*self.work.items(), *self.values.items()]:
            if column.dtype.kind not in "iuf":
                raise ValueError(f"/curve/{name}: expected numbers, found others")
            if column.shape != self.work["time"].shape or column.ndim != 1:
                raise ValueError(f"/curve/{name}: expected as many values as /curve/time")

    def final(self, measure: str) -> float:
        """Of the answer; NaN if there is none."""
        values = self.values.get(measure)
        if values is None or not values.size or self.status in FAILED:
            return math.nan
        return float(values[-1])

    def __repr__(self) -> str:
        measure = self.stop[0] if self.stop else "residual"
        return (f"<Run {self.solver} on {self.instance[1]}: {self.status}, "
                f"{measure} {self.final(measure):.2e} in {self.solve_time:.3g} s, "
                f"{'reached' if self.reached else 'not reached'}>")

    @property
    def solve_time(self) -> float:
        return self.timers.get("solve", math.nan)

    def counts(self, column: str) -> bool:
        """Whether there is such work in the run: a solver without inner linear solvers has no
        Krylov iterations, rather than 0 of them. Of a run without iterations nothing is known."""
        return bool(self.work[column].any()) or not self.work["outer"].any()

    def hit(self, measure: str, target: float) -> int:
        """The number of the first look that found it reached, or -1."""
        if measure not in self.values:
            return -1
        hits = np.flatnonzero(self.values[measure] <= target)
        return int(hits[0]) if hits.size else -1

    def first(self, column: str, measure: str, target: float) -> float:
        """Work until the target was first seen to hold; infinite if it never was, or if the solver
        has no such work. `total` is the time with setup."""
        at = self.hit(measure, target)
        if at < 0:
            return math.inf
        if column == "total":
            return float(self.work["time"][at]) + self.timers.get("setup", 0.0)
        if not self.counts(column):
            return math.inf
        return float(self.work[column][at])


def read_result(path: str | os.PathLike[str], measures: Iterable[str] | None = None,
                gamma: bool = False) -> Run:
    """One result file.
    @param gamma  the impulses as well, where they were kept

    @throws OSError    the file cannot be read
    @throws ValueError  it is no result file of this version, or a part of one
    """
    with opened(path) as file:
        run = Run(Path(path), file, measures)
        if gamma and "final/gamma" in file:
            run.gamma = file["final/gamma"][()]
        return run


def read_folder(folder: str | os.PathLike[str],
                measures: Sequence[str] | None = None) -> tuple[list[Run], dict[Path, str]]:
    """All runs of a folder that may be compared, and {path: why not} of the other files.
    @param measures  those whose curves are read (default: all that any file has)"""
    runs: dict[Path, Run] = {}
    faults: dict[Path, str] = {}
    for path in sorted(Path(folder).glob("*.h5")):
        try:
            runs[path] = read_result(path, measures)
        except (OSError, ValueError) as error:
            faults[path] = str(error).removeprefix(f"{path}: ")
    newest = max((run.referee_version for run in runs.values()), default=0)
    for path, run in list(runs.items()):
        if run.referee_version != newest:
            faults[path] = (f"referee version: expected {newest} as in other files here, found "
                            f"{run.referee_version}")
            del runs[path]
    names = measures_of(runs.values())
    for run in runs.values():  # all have the same columns
        for name in names if measures is None else ():
            run.values.setdefault(name, np.full(len(run.work["time"]), math.nan))
    name_alike(runs.values())
    return list(runs.values()), faults


def why_nothing(folder: Path, faults: Mapping[Path, str]) -> str:
    """Of a folder that `read_folder` finds no run in."""
    if faults:
        return "no other file"
    if folder.is_dir():
        return "no result file (*.h5) in it"
    return "a file and not a folder" if folder.exists() else "no such folder"


def name_alike(runs: Iterable[Run]) -> None:
    """Gives runs of one solver with the same options one name, the shortest that any of them has:
    files of earlier versions have the spelling of their study (`pgj[omega=0.30]` for `pgj`)."""
    names: dict[tuple[str, ...], str] = {}

    def key(run: Run) -> tuple[str, ...]:
        options = (f"{name}={value}" for name, value in sorted(run.options.items()))
        return (run.solver_id, run.start, *options)
    for run in runs:
        names[key(run)] = min(names.get(key(run), run.solver), run.solver,
                              key=lambda name: (len(name), name))
    for run in runs:
        run.solver = names[key(run)]


def measures_of(runs: Iterable[Run]) -> list[str]:
    """The measures that any of the files has, in the program's order."""
    return in_order(name for run in runs for name in run.measures)


def spread(times: Iterable[float]) -> float:
    """(largest - smallest) / median of what is finite and positive; 0 for less than two."""
    values = [value for value in times if math.isfinite(value) and value > 0]
    return (max(values) - min(values)) / float(np.median(values)) if len(values) > 1 else 0.0


class Series:
    """The repetitions of one solver on one instance."""

    def __init__(self, runs: Iterable[Run]):
        self.runs = sorted(runs, key=lambda run: run.repetition)
        self.solver_id, self.law = self.runs[0].solver_id, self.runs[0].law
        # Those of inner linear solvers, where there are: they compare with those of PGJ.
        inner = any(run.work["krylov"].any() for run in self.runs)
        self.iterations = "krylov" if inner else "outer"
        self.reached = sum(run.reached for run in self.runs)
        self.short = 2 * self.reached <= len(self.runs)
        states = Counter(run.status for run in self.runs)
        self.status = ", ".join(s if len(states) == 1 else f"{n} {s}" for s, n in states.items())
        self.spread = spread(run.solve_time for run in self.runs if run.status not in FAILED)
        bare = [run.timers["bare_solve"] / run.solve_time - 1 for run in self.runs
                if run.timers.get("bare_solve", 0) > 0 and run.solve_time > 0]
        self.bare = float(np.median(bare)) if bare else math.nan

    def counts(self, column: str) -> bool:
        """Whether there is such work in any of the runs."""
        return any(run.counts(column) for run in self.runs)

    def middle(self, runs: Sequence[Run], column: str) -> int:
        """The number of the run in the middle of some: half of the others needed at most as much
        until they ended, where one that ended short of its stop would have needed more than any
        that got there."""
        order = sorted(range(len(runs)), key=lambda i: (not runs[i].reached,
                                                        runs[i].work[column].max(initial=0)))
        return order[len(order) // 2]

    @property
    def noise(self) -> str:
        """What makes the times doubtful, or ''."""
        parts = [f"spread {self.spread:.0%}"] if self.spread > NOISY else []
        parts += [f"bare {self.bare:+.0%}"] if abs(self.bare) > NOISY else []
        return ", ".join(parts)

    def first(self, column: str, measure: str, target: float) -> float:
        """Median over the repetitions; infinite if half of them never got there."""
        return float(np.median([run.first(column, measure, target) for run in self.runs]))

    def span(self, column: str, measure: str, target: float) -> tuple[float, float]:
        """Smallest and largest over the repetitions."""
        values = [run.first(column, measure, target) for run in self.runs]
        return min(values), max(values)

    def smallest(self, measure: str) -> float:
        """Median over the repetitions of the smallest value seen; infinite for none."""
        seen = [run.values[measure][np.isfinite(run.values[measure])] for run in self.runs]
        return float(np.median([values.min() if values.size else math.inf for values in seen]))


Table = dict[Instance, dict[str, Series]]  # of each instance its solvers by label


def group(runs: Iterable[Run]) -> Table:
    """{instance: {label: Series}}, small instances first. Runs are repetitions of each other only
    if they were made alike; what differs becomes part of the label."""
    runs = list(runs)
    differing = [key for key in ("machine", "commit", "cpu", "gpu", "backend", "threads", "ranks",
                                 "jobs")
                 if len({run.made.get(key) for run in runs}) > 1]
    table: dict[Instance, dict[str, list[Run]]] = {}
    for run in sorted(runs, key=lambda run: run.instance):
        label = " ".join([run.solver, *(f"{key} {run.made.get(key)}" for key in differing)])
        table.setdefault(run.instance, {}).setdefault(label, []).append(run)
    return {instance: {label: Series(series[label]) for label in sorted(series)}
            for instance, series in table.items()}


def leading_measure(runs: Sequence[Run]) -> str:
    """What most runs were stopped by; where laws are mixed, those of the convex one."""
    convex = [run for run in runs if run.law == "convex"] or runs
    stops = [run.stop[0] for run in convex if run.stop]
    return max(in_order(stops), key=stops.count) if stops else "residual"


def labels_of(table: Table) -> list[str]:
    """All labels, sorted: a solver's place here decides its colour."""
    return sorted({label for series in table.values() for label in series})


def series_of(table: Table) -> list[Series]:
    """All series of a table."""
    return [one for series in table.values() for one in series.values()]
