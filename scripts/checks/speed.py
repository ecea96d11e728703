#!/usr/bin/env python3
"""speed.py BEFORE.json AFTER.json PERCENT: which kernels of ccpbench-micro got slower?

The files are Google Benchmark's (`ccpbench-micro --benchmark_out=FILE --benchmark_repetitions=5`,
best run in turns). Compared are medians of the CPU time over the repetitions of each kernel.
"""
from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def medians(path: str) -> dict[str, float]:
    """Seconds by kernel. @raises ValueError if the file has no kernel"""
    times: dict[str, list[float]] = {}
    for run in json.loads(Path(path).read_text(encoding="utf-8")).get("benchmarks", []):
        if run.get("run_type", "iteration") == "iteration" and "error_occurred" not in run:
            times.setdefault(run.get("run_name", run["name"]), []).append(
                run["cpu_time"] * UNITS[run["time_unit"]])
    if not times:
        raise ValueError(f"{path}: no kernel of ccpbench-micro")
    return {name: statistics.median(values) for name, values in times.items()}


def main(before_path: str, after_path: str, percent: str) -> int:
    try:
        before, after = medians(before_path), medians(after_path)
    except (OSError, ValueError, KeyError) as error:
        print(f"speed.py: {error}", file=sys.stderr)
        return 1
    slower = []
    print(f"{'kernel':<48} {'before':>10} {'after':>10}  change")
    for name, old in before.items():
        if name not in after:
            print(f"{name:<48} {old:>10.3g} {'-':>10}")
            continue
        change = 100 * (after[name] / old - 1)
        mark = "  slower" if change > float(percent) else ""
        print(f"{name:<48} {old:>10.3g} {after[name]:>10.3g} {change:>+6.1f} %{mark}")
        if mark:
            slower.append(name)
    for name in after.keys() - before.keys():
        print(f"{name:<48} {'-':>10} {after[name]:>10.3g}")
    if not before.keys() & after.keys():
        print("speed.py: the files have no kernel in common", file=sys.stderr)
        return 1
    if slower:
        print(f"more than {percent} % slower: {', '.join(slower)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else 2)
