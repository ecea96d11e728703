"""Shares over instances: what performance profiles and their like are drawn from."""
import math
from collections.abc import Iterable, Sequence

from ccpbench.results import Table, Target

Staircases = dict[str, list[float]]  # {label: sorted values}


def counted(table: Table, labels: Sequence[str], column: str) -> list[str]:
    """Those of the labels that have such work at all: others would be ranked by a 0 they never
    counted."""
    return [label for label in labels
            if any(label in series and series[label].counts(column) for series in table.values())]


def performance_profile(table: Table, labels: Sequence[str], column: str, measure: str,
                        target: float) -> tuple[Staircases, int]:
    """Dolan and Moré (2002): {label: sorted ratios to the best of these solvers}, one per instance
    that the solver got to the target, and the number of instances, solved by anybody or not."""
    ratios: Staircases = {label: [] for label in labels}
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


def run_time_distribution(table: Table, labels: Sequence[str], column: str,
                          targets: Iterable[Target]) -> tuple[Staircases, int]:
    """{label: sorted work}, one per (instance, target) pair reached, and the number of pairs."""
    targets = list(targets)
    work: Staircases = {label: [] for label in labels}
    for series in table.values():
        for measure, target in targets:
            for label in labels:
                if label in series:
                    value = series[label].first(column, measure, target)
                    if value < math.inf:
                        work[label].append(value)
    return {label: sorted(values) for label, values in work.items()}, len(table) * len(targets)


def solved_ratio(table: Table, labels: Sequence[str], measure: str) -> tuple[Staircases, int]:
    """{label: sorted smallest values}, one per instance: the share of instances solved to a
    tolerance is the share of values below it; and the number of instances."""
    values: Staircases = {label: [] for label in labels}
    for series in table.values():
        for label in labels:
            if label in series:
                smallest = series[label].smallest(measure)
                if smallest < math.inf:
                    values[label].append(smallest)
    return {label: sorted(numbers) for label, numbers in values.items()}, len(table)
