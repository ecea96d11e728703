"""What the page knows: runs, instances, targets, badges and provenance, as JSON can hold them."""
import base64
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccpbench.measures import in_order, measure as measure_of
from ccpbench.results import (
    FAILED,
    NOISY,
    WORK,
    Run,
    Table,
    Target,
    group,
    labels_of,
    leading_measure,
    measures_of,
)
from ccpbench.styles import COLOURS
from ccpbench.tables import number_text


def packed(column: NDArray[Any]) -> str:
    """Numbers as the page unpacks them: base64 of little-endian 32-bit floats."""
    return base64.b64encode(np.asarray(column, "<f4").tobytes()).decode("ascii")


def finite(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    return value if isinstance(value, (int, str)) or math.isfinite(value) else None


def one_run(run: Run, instance: int, solver: int, measures: Sequence[str],
            targets: Sequence[Target]) -> dict[str, Any]:
    """What the page knows of a run. Targets are looked up here, in double precision."""
    hits = [run.hit(measure, value) for measure, value in targets]
    times = run.work["time"]
    return {
        "instance": instance, "solver": solver, "repetition": run.repetition,
        "status": run.status, "failed": run.status in FAILED, "reached": run.reached,
        "message": run.message, "time": finite(run.solve_time),
        "setup": finite(run.timers.get("setup", 0.0)), "limit": finite(run.time_limit),
        "bare": finite(run.timers.get("bare_solve", 0.0)),
        "uncounted": [column for column in WORK if not run.counts(column)],
        "hits": hits, "times": [float(times[hit]) if hit >= 0 else None for hit in hits],
        "final": {name: None if run.status in FAILED or not run.values[name].size
                  else finite(float(run.values[name][-1])) for name in measures},
        "curve": {**{name: packed(column) for name, column in run.work.items()},
                  **{name: packed(run.values[name]) for name in measures}},
    }


def provenance_rows(runs: Sequence[Run]) -> list[list[str]]:
    """[name, value] of everything the runs say about how they were made, with how many say what."""
    rows = []
    own = {"command_line", "date_utc", "load_average"}
    for name in sorted({name for run in runs for name in run.made} - own):
        counts: dict[str, int] = {}
        for run in runs:
            value = run.made.get(name, "")
            counts[value] = counts.get(value, 0) + 1
        parts = [value or "–" for value in counts]
        if len(counts) > 1:
            parts = [f"{value or '–'} ({count} runs)" for value, count in counts.items()]
        more = "; …" if len(parts) > 6 else ""
        rows.append([name.replace("_", " "), "; ".join(parts[:6]) + more])
    dates = sorted(run.made.get("date_utc", "") for run in runs)
    rows.append(["made (UTC)", dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"])
    loads = [float(run.made["load_average"].split()[0]) for run in runs
             if run.made.get("load_average", "").split()]
    if loads:
        rows.append(["load average (1 min) before a run",
                     f"median {np.median(loads):.2f}, {min(loads):.2f} to {max(loads):.2f}"])
    rows.append(["referee version", str(runs[0].referee_version)])
    return rows


def badges(runs: Sequence[Run], table: Table, faults: dict[Path, str]) -> list[list[str]]:
    """[text, kind] for the head of the page: what a sceptic asks first."""
    reached = sum(run.reached for run in runs)
    failed = sum(run.status in FAILED for run in runs)
    result = [[f"{len(runs)} runs", ""], [f"{reached} reached their stop", "good"]]
    short = len(runs) - reached - failed
    if short:
        result.append([f"{short} ended short of it", ""])
    if failed:
        result.append([f"{failed} crashed or were killed", "bad"])
    if faults:
        result.append([f"{len(faults)} files skipped", "bad"])
    noisy = sum(bool(one.noise) for series in table.values() for one in series.values())
    if noisy:
        result.append([f"{noisy} with doubtful times (differences above {NOISY:.0%})", "warn"])
    if max(len(one.runs) for series in table.values() for one in series.values()) == 1:
        result.append(["no repetitions: no spread known", "warn"])
    if any("-dirty" in run.made.get("commit", "") for run in runs):
        result.append(["built from changed sources", "warn"])
    if any(run.made.get("jobs", "1") != "1" for run in runs):
        result.append(["several runs at a time", "warn"])
    loaded = sum(overloaded(run) for run in runs)
    if loaded:
        result.append([f"others worked on the machine before {loaded} runs", "warn"])
    return result


def overloaded(run: Run) -> bool:
    """Whether the load before it was above the cores in use; as ccpbench warns (provenance.cpp)."""
    load = run.made.get("load_average", "").split()
    in_use = int(run.made.get("threads") or 1) * int(run.made.get("jobs") or 1)
    return bool(load) and float(load[0]) > in_use + 0.5


def choose_target(runs: Sequence[Run], targets: Sequence[Target], measure: str) -> int:
    """The number of the target that is shown first: the stop, else the strictest of the measure."""
    stops = [targets.index(run.stop) for run in runs if run.stop in targets]
    if stops:
        return max(set(stops), key=stops.count)
    ours = [i for i, target in enumerate(targets) if target[0] == measure]
    return ours[-1] if ours else 0


def page_data(folder: Path, runs: Sequence[Run], faults: dict[Path, str],
              measure: str | None = None, title: str | None = None) -> dict[str, Any]:
    """Everything; the keys are those that the modules of the page read.
    @param measure, title  what is shown first, and above it, if not what the runs suggest"""
    table = group(runs)
    labels = labels_of(table)
    order = measures_of(runs)
    measures = [name for name in order
                if any(np.isfinite(run.values[name]).any() for run in runs)]
    laws = sorted({run.law for run in runs}, key=lambda law: (law != "convex", law))
    shown_first = [run for run in runs if run.law == laws[0]]
    measure = measure or leading_measure(runs)
    if measure not in order:
        measure = order[0]
    if measure not in measures:
        measures.append(measure)
    every = {target for run in runs for target in run.targets}
    names = in_order([*order, *sorted(name for name, _ in every)])
    targets = sorted(every, key=lambda target: (names.index(target[0]), -target[1]))
    studies = sorted({run.study for run in runs if run.study})
    about = dict.fromkeys(run.study_description for run in runs if run.study_description)
    title = title or ", ".join(studies) or folder.resolve().name
    made = sorted({(run.made.get("cpu", "?"), run.made.get("backend", "?")) for run in runs})
    days = sorted({run.made.get("date_utc", "?")[:10] for run in runs})
    commits = sorted({run.made["commit"] for run in runs})
    subtitle = "  ·  ".join([
        ", ".join(" ".join(filter(None, pair)) for pair in made[:3]) + (" …" if made[3:] else ""),
        "threads " + ", ".join(sorted({run.made.get("threads", "?") for run in runs})),
        "commit " + ", ".join(commits[:3]) + (" …" if commits[3:] else ""),
        days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"])

    instances: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    descriptors: list[str] = []
    for number, (instance, series) in enumerate(table.items()):
        some = next(iter(series.values())).runs[0]
        known = {"contacts": some.instance[0], "bodies": some.bodies, **some.descriptors}
        descriptors += [name for name in known if name not in descriptors]
        instances.append({"name": instance[1], "contacts": instance[0], "bodies": some.bodies,
                          "form": some.form, "hash": instance[2],
                          "descriptors": {k: finite(v) for k, v in known.items()}})
        for label, one in series.items():
            rows += [one_run(run, number, labels.index(label), measures, targets)
                     for run in one.runs]
    law_of = {label: one.law for series in table.values() for label, one in series.items()}
    return {
        "title": title, "description": " / ".join(about), "subtitle": subtitle,
        "badges": badges(runs, table, faults),
        "measure": measure, "measures": measures,
        "about": {name: {"title": known.title, "summary": known.summary,
                         "formula": known.formula, "unit": known.unit, "laws": known.laws}
                  for name in order for known in [measure_of(name)]}, "noisy": NOISY,
        "targets": [{"measure": name, "value": value, "text": f"{name} ≤ {number_text(value)}",
                     "short": number_text(value),
                     "laws": [law for law in laws if any(
                         (name, value) in run.targets and run.law == law for run in runs)]}
                    for name, value in targets],
        "target": choose_target(shown_first, targets, measure), "colours": COLOURS, "laws": laws,
        "solvers": [{"label": label, "law": law_of[label]} for label in labels],
        "instances": instances, "descriptors": descriptors, "runs": rows,
        "skipped": [{"name": path.name, "reason": fault} for path, fault in faults.items()],
        "provenance": provenance_rows(runs),
        "foot": f"Made by ccpbench report from {len(runs)} result files. The files are the source; "
                "docs/measures.md has the measures, docs/measurement.md how they are taken. "
                "Drawn with plotly.js (MIT licence).",
    }
