"""Reads result files (docs/result-format.md); what plot, report and compare share.

Nothing here draws or prints, but `complain`. A folder's runs are read once, files that cannot be
used are told apart with their reasons, and runs that are repetitions of each other are put together.
"""
import math
import os
import re
import sys
from collections import Counter
from pathlib import Path


def use_debian_python(program, error):
    """Starts the program again with the Python that Debian's packages belong to: another one may
    come first on the path. Call where an import failed."""
    debian = "/usr/bin/python3"
    if os.path.exists(debian) and os.path.realpath(sys.executable) != os.path.realpath(debian):
        os.execv(debian, [debian, *sys.argv])
    package = "python3-" + (error.name or "matplotlib").split(".")[0]
    sys.exit(f"{program}: {error} (Debian package {package})")


try:
    import h5py
    import numpy as np
except ImportError as missing:
    use_debian_python(Path(sys.argv[0]).name, missing)

SCHEMA_VERSION = 1
MEASURES = ["cost", "feas", "error", "dual", "primal", "complementarity", "residual", "natural_map",
            "velocity", "energy", "objective_gap", "merit", "coulomb_residual",
            "coulomb_natural_map", "coulomb_merit"]
UNITS = {"cost": "J", "feas": "m/s, N s", "velocity": "m/s", "objective_gap": "J"}  # others: none
WORK = ["time", "outer", "krylov", "applies"]
FAILED = ("crashed", "killed", "out_of_memory")  # did not end by themselves
NOISY = 0.15  # spread above which times are flagged
# Okabe and Ito's colours. With 4 line styles and 9 markers, 252 solvers pass before one looks like
# another, and neighbours differ in print without colour, too.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"]


def complain(message):
    print(f"{Path(sys.argv[0]).name}: {message}", file=sys.stderr)


def number_text(value):
    """As one writes it in a study: 5e-4."""
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def target_text(measure, value):
    return f"{measure}={number_text(value)}"


def made_of(file):
    """How a result file was made: its provenance, with the commit cut short."""
    made = {key: " ".join(text.split()) for key, text in file["provenance"].attrs.items()}
    made["commit"] = re.sub("^([0-9a-f]{9})[0-9a-f]+", r"\1", made.get("commit", "?"))
    return made


class Run:
    """One result file."""

    def __init__(self, path, file, measures):
        root = file.attrs
        if root.get("format") != "ccpbench-result":
            raise ValueError("root attribute format: expected 'ccpbench-result', found "
                             f"{root.get('format')!r}")
        if root["version"] != SCHEMA_VERSION:
            raise ValueError(f"schema version: expected {SCHEMA_VERSION}, found {root['version']}")
        self.path = path
        self.referee_version = int(root["referee_version"])
        self.instance = (int(root["contacts"]), root["instance"], root["instance_hash"])
        self.form, self.bodies = root.get("form", ""), int(root.get("bodies", 0))
        self.solver, self.solver_id, self.study = root["solver"], root["solver_id"], root["study"]
        self.start = root.get("start", "cold")
        if self.start != "cold":  # a curve of its own
            self.solver += " from " + self.start
        self.law, self.repetition = root.get("law", ""), int(root.get("repetition", 1))
        self.status, self.reached = root["status"], bool(root["stop_reached"])
        self.message, self.time_limit = root.get("message", ""), float(root.get("time_limit", 0))
        self.own_residual = float(root.get("own_residual", math.nan))
        self.own_residual_name = root.get("own_residual_name", "")
        self.key, self.peak_memory = root.get("key", ""), float(root.get("peak_memory", math.nan))
        self.made = made_of(file)
        self.options = dict(file["options"].attrs) if "options" in file else {}
        self.timers = {key: float(value) for key, value in file["timers"].attrs.items()}
        self.descriptors = ({key: float(value) for key, value in file["instance"].attrs.items()}
                            if "instance" in file else {})
        names, values = file["targets/measure"].asstr()[()], file["targets/value"][()]
        self.targets = [(name, float(value)) for name, value in zip(names, values)]
        name, _, value = root["stop"].partition("=")
        self.stop = (name, float(value)) if value else None
        if self.stop and self.stop not in self.targets:
            self.targets.append(self.stop)
        self.work = {name: file["curve/" + name][()] for name in WORK if "curve/" + name in file}
        self.values = {name: file["curve/" + name][()] for name in measures}
        for missing_column in set(WORK) - set(self.work):
            raise ValueError(f"/curve/{missing_column}: expected a dataset, found nothing")
        for name, column in [*self.work.items(), *self.values.items()]:
            if column.shape != self.work["time"].shape:
                raise ValueError(f"/curve/{name}: expected as many values as /curve/time")

    @property
    def solve_time(self):
        return self.timers.get("solve", math.nan)

    def hit(self, measure, target):
        """The number of the first look that found it reached, or -1."""
        hits = np.flatnonzero(self.values[measure] <= target)
        return int(hits[0]) if hits.size else -1

    def first(self, column, measure, target):
        """Work until the target was first seen to hold; infinite if it never was. `total` is the
        time with setup."""
        at = self.hit(measure, target)
        if at < 0:
            return math.inf
        if column == "total":
            return float(self.work["time"][at]) + self.timers.get("setup", 0.0)
        return float(self.work[column][at])


def read_folder(folder, measures=None):
    """All runs of a folder that may be compared, and {path: why not} of the other files."""
    runs, faults = {}, {}
    for path in sorted(Path(folder).glob("*.h5")):
        try:
            with h5py.File(path, "r") as file:
                runs[path] = Run(path, file, MEASURES if measures is None else measures)
        except OSError as error:
            faults[path] = f"expected an HDF5 file, found something else or a part of one ({error})"
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            faults[path] = str(error.args[0])
    newest = max((run.referee_version for run in runs.values()), default=0)
    for path, run in list(runs.items()):
        if run.referee_version != newest:
            faults[path] = (f"referee version: expected {newest} as in other files here, found "
                            f"{run.referee_version}")
            del runs[path]
    return list(runs.values()), faults


def spread(values):
    """(largest - smallest) / median of what is finite and positive; 0 for less than two."""
    values = [value for value in values if math.isfinite(value) and value > 0]
    return (max(values) - min(values)) / float(np.median(values)) if len(values) > 1 else 0.0


class Series:
    """The repetitions of one solver on one instance."""

    def __init__(self, runs, inner=False):
        self.runs, self.solver_id = sorted(runs, key=lambda run: run.repetition), runs[0].solver_id
        self.law = runs[0].law
        self.iterations = "krylov" if inner else "outer"
        self.reached = sum(run.reached for run in runs)
        self.short = 2 * self.reached <= len(runs)
        states = Counter(run.status for run in runs)
        self.status = ", ".join(s if len(states) == 1 else f"{n} {s}" for s, n in states.items())
        self.spread = spread([run.solve_time for run in runs if run.status not in FAILED])
        bare = [run.timers["bare_solve"] / run.solve_time - 1 for run in runs
                if run.timers.get("bare_solve", 0) > 0 and run.solve_time > 0]
        self.bare = float(np.median(bare)) if bare else math.nan

    @property
    def noise(self):
        """What makes the times doubtful, or ''."""
        parts = [f"spread {self.spread:.0%}"] if self.spread > NOISY else []
        parts += [f"bare {self.bare:+.0%}"] if abs(self.bare) > NOISY else []
        return ", ".join(parts)

    def first(self, column, measure, target):
        """Median over the repetitions; infinite if half of them never got there."""
        return float(np.median([run.first(column, measure, target) for run in self.runs]))

    def span(self, column, measure, target):
        """Smallest and largest over the repetitions."""
        values = [run.first(column, measure, target) for run in self.runs]
        return min(values), max(values)

    def smallest(self, measure):
        """Median over the repetitions of the smallest value seen; infinite for none."""
        seen = [run.values[measure][np.isfinite(run.values[measure])] for run in self.runs]
        return float(np.median([values.min() if values.size else math.inf for values in seen]))


def group(runs):
    """{instance: {label: Series}}, small instances first. Runs are repetitions of each other only
    if they were made alike; what differs becomes part of the label."""
    differing = [key for key in ("commit", "cpu", "gpu", "backend", "threads", "jobs")
                 if len({run.made.get(key) for run in runs}) > 1]
    table, krylov = {}, set()
    for run in sorted(runs, key=lambda run: run.instance):
        label = " ".join([run.solver, *(f"{key} {run.made.get(key)}" for key in differing)])
        table.setdefault(run.instance, {}).setdefault(label, []).append(run)
        if run.work["krylov"].any():
            krylov.add(label)
    return {instance: {label: Series(series[label], label in krylov) for label in sorted(series)}
            for instance, series in table.items()}


def labels_of(table):
    return sorted({label for series in table.values() for label in series})


def performance_profile(table, labels, column, measure, target):
    """Dolan and More: {label: sorted ratios to the best of these solvers}, one per instance that the
    solver got to the target, and the number of instances, solved by anybody or not."""
    ratios = {label: [] for label in labels}
    for series in table.values():
        work = {label: series[label].first(column, measure, target)
                for label in labels if label in series}
        best = min(work.values(), default=math.inf)
        if best == math.inf:
            continue
        for label, value in work.items():
            if value < math.inf:
                ratios[label].append(value / best if best > 0 else 1.0 if value <= 0 else math.inf)
    return {label: sorted(values) for label, values in ratios.items()}, len(table)


def run_time_distribution(table, labels, column, targets):
    """{label: sorted work}, one per (instance, target) pair reached, and the number of pairs."""
    work = {label: [] for label in labels}
    for series in table.values():
        for measure, target in targets:
            for label in labels:
                if label in series:
                    value = series[label].first(column, measure, target)
                    if value < math.inf:
                        work[label].append(value)
    return {label: sorted(values) for label, values in work.items()}, len(table) * len(targets)


def solved_ratio(table, labels, measure):
    """{label: sorted smallest values}, one per instance: the share of instances solved to a
    tolerance is the share of values below it; and the number of instances."""
    values = {label: [] for label in labels}
    for series in table.values():
        for label in labels:
            if label in series:
                smallest = series[label].smallest(measure)
                if smallest < math.inf:
                    values[label].append(smallest)
    return {label: sorted(numbers) for label, numbers in values.items()}, len(table)


def target_table(table, targets, measure):
    """When each target was reached, as text: seconds and iterations."""
    lines = []
    for (contacts, instance, _), series in table.items():
        lines.append(
            f"{instance}, {contacts:,} contacts: seconds / iterations until {measure} <= target")
        rows = [["solver", *map(number_text, targets), "stop", "status"]]
        for label, one in series.items():
            pairs = [[one.first(column, measure, target) for column in ("time", one.iterations)]
                     for target in targets]
            noise = f" ({one.noise})" if one.noise else ""
            rows.append([label + " (Krylov)" * (one.iterations == "krylov"),
                         *(f"{t:.3g} / {n:,.0f}" if t < math.inf else "-" for t, n in pairs),
                         f"{one.reached}/{len(one.runs)}", one.status + noise])
        widths = [max(map(len, column)) for column in zip(*rows)]
        for row in rows:
            cells = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:])]
            lines.append("  " + "  ".join([row[0].ljust(widths[0]), *cells, row[-1]]))
        lines.append("")
    return "\n".join(lines)


def provenance_line(runs):
    """Where the numbers come from, in one line."""
    def of(key):
        values = sorted({run.made.get(key, "?") for run in runs})
        return ", ".join(values) if len(values) < 4 else f"{values[0]} ... {values[-1]}"
    days = sorted({run.made.get("date_utc", "?")[:10] for run in runs})
    gpu = [of("gpu")] if "cuda" in of("backend").lower() else []
    return "   ".join([f"commit {of('commit')}", of("cpu"), *gpu, of("backend"),
                       f"threads: {of('threads')}", " to ".join(days[:1] + days[1:][-1:])])
