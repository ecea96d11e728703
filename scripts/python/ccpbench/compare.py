"""Compares two folders of results, run by run: how much longer the second one took.

Runs are paired by instance, solver and threads. For each pair it prints the time to the target in
both (medians of the repetitions), their ratio B/A and the range in which repetitions leave it, and
the iterations. What got worse beyond noise comes first: a target that is no longer reached, then
times whose ranges do not overlap and that differ by more than the repetitions do among themselves,
and by more than 15 % (5 % from five repetitions on). Usually started as `ccpbench compare`.

Folders are refused that hold different problems of one name, or results of different referee
versions; --mixed compares them all the same.

Exit codes: 0 nothing got worse; 1 bad input, or files were skipped; 2 usage; 3 something got worse.
"""
import argparse
import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ccpbench.console import complain, end_with_the_reader, positive_number
from ccpbench.measures import known_measures
from ccpbench.results import NOISY, Run, Series, Target, measures_of, name_alike, read_folder
from ccpbench.tables import target_text

Key = tuple[tuple[str, str], str, str]  # (instance, its hash), solver, threads

VERDICTS = ["lost", "slower", "faster", "won", "same", "not reached"]  # in the order of the table
WORSE = ("lost", "slower")
ENOUGH = 5  # repetitions; with fewer, ranges are apart by chance too often
# Differences that go without saying: every run has its own.
OWN = ("command_line", "date_utc", "load_average", "affinity", "memory_bytes")


def pairs_of(runs: Iterable[Run], mixed: bool) -> dict[Key, Series]:
    """{(instance, solver, threads): Series}; instances by name alone if mixed."""
    groups: dict[Key, list[Run]] = {}
    for run in runs:
        instance = (run.instance[1], "" if mixed else run.instance[2])
        solver = f"{run.solver} machine {run.machine}" if run.machine else run.solver
        if run.made.get("ranks", "1") != "1":
            solver += f" on {run.made['ranks']} ranks"
        key = (instance, solver, run.made.get("threads", "1"))
        groups.setdefault(key, []).append(run)
    return {key: Series(group) for key, group in groups.items()}


def common_target(a: Series, b: Series, wanted: Target | None) -> Target | None:
    """The target to compare at: as asked for, else the stop of both, else the strictest common."""
    if wanted:
        return wanted
    stops = {run.stop for one in (a, b) for run in one.runs}
    if len(stops) == 1 and None not in stops:
        return stops.pop()
    common = [target for target in a.runs[0].targets if target in b.runs[0].targets]
    return min(common, key=lambda target: (target[0] != common[0][0], target[1]), default=None)


def compare_pair(key: Key, a: Series, b: Series, wanted: Target | None) -> dict[str, Any]:
    """A row of the table as a dictionary."""
    (instance, _), solver, threads = key
    row: dict[str, Any] = {
        "instance": instance, "solver": solver, "threads": threads, "target": None,
        "verdict": "not reached", "a": None, "b": None, "ratio": None, "range": None,
        "iterations_a": None, "iterations_b": None, "status_a": a.status, "status_b": b.status}
    target = common_target(a, b, wanted)
    if target is None:
        return row
    row["target"] = target_text(*target)
    times = [one.first("time", *target) for one in (a, b)]
    spans = [one.span("time", *target) for one in (a, b)]
    for name, one, time in (("a", a, times[0]), ("b", b, times[1])):
        if time < math.inf:
            row[name], row["iterations_" + name] = time, one.first("outer", *target)
    if times[0] < math.inf and times[1] == math.inf:
        row["verdict"] = "lost"
    elif times[0] == math.inf and times[1] < math.inf:
        row["verdict"] = "won"
    elif times[0] < math.inf and times[0] > 0:
        ratio = times[1] / times[0]
        low = spans[1][0] / spans[0][1] if spans[0][1] > 0 else math.inf
        high = spans[1][1] / spans[0][0] if spans[0][0] > 0 else math.inf
        few = min(len(a.runs), len(b.runs)) < ENOUGH
        noise = max(a.spread, b.spread, NOISY if few else 0.05)
        apart = spans[1][0] > spans[0][1] or spans[1][1] < spans[0][0]
        beyond = apart and max(ratio, 1 / ratio if ratio > 0 else math.inf) > 1 + noise
        row["ratio"], row["range"] = ratio, [low, high]
        row["verdict"] = ("slower" if ratio > 1 else "faster") if beyond else "same"
    return row


def badness(row: dict[str, Any]) -> tuple[int, float, str, str]:
    return (VERDICTS.index(row["verdict"]), -(row["ratio"] or 0), row["instance"], row["solver"])


def differences(runs_a: Sequence[Run], runs_b: Sequence[Run]) -> list[list[str]]:
    """[name, values in A, values in B] of what differs in how the runs were made."""
    rows = []
    names = sorted({name for run in [*runs_a, *runs_b] for name in run.made} - set(OWN))
    for name in names:
        values = [sorted({run.made.get(name, "") or "none" for run in runs})
                  for runs in (runs_a, runs_b)]
        if values[0] != values[1]:
            rows.append([name, *(", ".join(v) for v in values)])
    return rows


def mixture(runs_a: Sequence[Run], runs_b: Sequence[Run]) -> str:
    """Why the two should not be compared, or ''."""
    versions = [runs[0].referee_version for runs in (runs_a, runs_b)]
    if versions[0] != versions[1]:
        return (f"referee version: expected the same in both, found {versions[0]} and "
                f"{versions[1]}: measures of different versions are not comparable")
    hashes = [{run.instance[1]: run.instance[2] for run in runs} for runs in (runs_a, runs_b)]
    for name, content in hashes[0].items():
        if hashes[1].get(name, content) != content:
            return (f"instance {name}: expected the same problem in both, found hashes "
                    f"{content[:12]} and {hashes[1][name][:12]}")
    return ""


def by_chance(count: int) -> float:
    """How often the ranges of two times `count` equal measurements do not overlap."""
    return 2 / math.comb(2 * count, count)


def seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def print_table(rows: Sequence[dict[str, Any]], changed: Sequence[Sequence[str]],
                only: dict[str, list[Key]], fewest: int) -> None:
    head = ["", "instance", "solver", "target", "A [s]", "B [s]", "B/A", "range", "iterations"]
    lines = []
    for row in rows:
        threads = f" t{row['threads']}" if row["threads"] != "1" else ""
        iterations = "-"
        if row["iterations_a"] is not None and row["iterations_b"] is not None:
            a, b = (f"{row['iterations_' + x]:,.0f}" for x in "ab")
            iterations = a if a == b else f"{a} -> {b}"
        lines.append([row["verdict"], row["instance"], row["solver"] + threads,
                      row["target"] or "-",
                      *(seconds(row[name]) for name in ("a", "b", "ratio")),
                      "{:.3g}..{:.3g}".format(*row["range"]) if row["range"] else "-", iterations])
    if lines:
        widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
        for line in [head, *lines]:
            cells = [cell.ljust(width) if number < 4 else cell.rjust(width)
                     for number, (cell, width) in enumerate(zip(line, widths, strict=True))]
            print("  ".join(cells).rstrip())
    if fewest < ENOUGH:
        print(f"\nNo more than {fewest} repetition(s) of a run: by chance alone, the times of "
              f"{by_chance(fewest):.0%} of all pairs do not overlap.")
    if changed:
        print("\nwhat differs (A, then B):")
        for name, a, b in changed:
            print(f"  {name}: {a} | {b}")
    for folder, keys in only.items():
        for (instance, _), solver, threads in keys:
            print(f"only in {folder}: {instance} x {solver} on {threads} thread(s)")
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}
    print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
          + "".join(f"; {len(keys)} only in {folder}" for folder, keys in only.items() if keys))


def parse_target(text: str) -> Target:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected MEASURE=VALUE, found '{text[:40]}'")
    return name, positive_number(value)


def parse_arguments() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="DIR_A", type=Path, help="results to compare with")
    parser.add_argument("b", metavar="DIR_B", type=Path, help="results that may have got worse")
    parser.add_argument("--target", metavar="MEASURE=VALUE", type=parse_target,
                        help="where to compare (default: the stop of the runs)")
    parser.add_argument("--mixed", action="store_true",
                        help="compare different problems of one name, and referee versions")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser, parser.parse_args()


def main() -> int:
    end_with_the_reader()
    parser, arguments = parse_arguments()
    folders = (arguments.a, arguments.b)
    sides: list[list[Run]] = []
    skipped = 0
    for folder in folders:
        runs, faults = read_folder(folder)
        for path, fault in faults.items():
            complain(f"skipped {path}: {fault}")
        skipped += len(faults)
        if not runs:
            what = "a folder without result files" if folder.is_dir() else "no such folder"
            complain(f"{folder}: expected a folder of result files, found {what}")
            return 1
        sides.append(runs)
    name_alike([run for side in sides for run in side])
    if arguments.target:
        name, value = arguments.target
        if name not in {*known_measures(), *(one for side in sides for one in measures_of(side))}:
            parser.error(f"--target: expected MEASURE=VALUE, found '{name}={value:g}'")
    fault = mixture(*sides)
    if fault and not arguments.mixed:
        complain(f"{fault} (--mixed compares all the same)")
        return 1
    a, b = (pairs_of(runs, arguments.mixed) for runs in sides)
    rows = sorted((compare_pair(key, a[key], b[key], arguments.target)
                   for key in a if key in b), key=badness)
    changed = differences(*sides)
    only = {str(folders[0]): sorted(set(a) - set(b)), str(folders[1]): sorted(set(b) - set(a))}
    if arguments.json:
        flat = {folder: [{"instance": key[0][0], "solver": key[1], "threads": key[2]}
                         for key in keys] for folder, keys in only.items()}
        for row in rows:
            if row["range"] and not all(map(math.isfinite, row["range"])):
                row["range"] = None
        print(json.dumps({"pairs": rows, "differences": changed, "only": flat}, indent=2,
                         allow_nan=False))
    else:
        fewest = min(len(one.runs) for side in (a, b) for one in side.values())
        print_table(rows, changed, only, fewest)
    if not rows:
        complain("no run of one folder has a partner in the other")
        return 1
    if skipped:
        return 1
    return 3 if any(row["verdict"] in WORSE for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
