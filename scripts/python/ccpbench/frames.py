"""Results as rows and as tables of pandas; `scripts/export` writes the same rows to files."""
import math
from collections.abc import Iterable, Iterator
from typing import Any

from ccpbench.results import WORK, Run, measures_of
from ccpbench.tables import target_text

Row = dict[str, Any]


def run_rows(runs: Iterable[Run]) -> list[Row]:
    """A row per run: what was solved, by what, how it ended; `final_MEASURE` of the answer;
    `time_to MEASURE=VALUE` and `outer_to ...` of every target (s; NaN: not reached); how it was
    made."""
    runs = list(runs)
    measures = measures_of(runs)
    targets = list(dict.fromkeys(target for run in runs for target in run.targets))
    rows = []
    for run in runs:
        row: Row = {
            "file": run.path.name, "study": run.study, "instance": run.instance[1],
            "instance_hash": run.instance[2], "contacts": run.instance[0], "bodies": run.bodies,
            "form": run.form, "solver": run.solver, "solver_id": run.solver_id, "law": run.law,
            "start": run.start, "repetition": run.repetition,
            "threads": run.made.get("threads", ""), "ranks": run.made.get("ranks", ""),
            "status": run.status, "reached": run.reached,
            "stop": ",".join(target_text(*stop) for stop in run.stops), "message": run.message,
            "time_limit": run.time_limit, "solve_time": run.solve_time,
            "setup_time": run.timers.get("setup", math.nan)}
        for column in WORK[1:]:
            counted = run.counts(column) and len(run.work[column]) > 0
            row[column] = int(run.work[column][-1]) if counted else None
        for name in measures:
            row["final_" + name] = run.final(name)
        for measure, value in targets:
            asked = (measure, value) in run.targets
            for column, what in (("time", "time_to"), ("outer", "outer_to")):
                first = run.first(column, measure, value) if asked else math.inf
                row[f"{what} {target_text(measure, value)}"] = (
                    first if math.isfinite(first) else math.nan)
        for name in ("machine", "commit", "cpu", "gpu", "backend", "host", "jobs", "date_utc"):
            row[name] = run.made.get(name, "")
        rows.append(row)
    return rows


def curve_rows(runs: Iterable[Run]) -> Iterator[Row]:
    """A row per look at an iterate: run, work so far, all measures."""
    runs = list(runs)
    measures = measures_of(runs)
    for run in runs:
        for at in range(len(run.work["time"])):
            yield {"file": run.path.name, "instance": run.instance[1], "solver": run.solver,
                   "repetition": run.repetition, "look": at,
                   **{column: run.work[column][at].item() for column in WORK},
                   **{name: float(run.values[name][at]) for name in measures}}


def frame(rows: Iterable[Row]) -> Any:
    """A pandas DataFrame. @throws ImportError  without pandas"""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a DataFrame needs pandas: pip install 'ccpbench[frames]', or Debian's "
                          "python3-pandas; ccpbench.frames has the rows without it") from error
    return pandas.DataFrame(list(rows))
