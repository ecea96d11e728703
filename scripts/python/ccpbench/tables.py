"""Results as text: numbers, targets, tables, and where they come from."""
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ccpbench.results import Table


class Made(Protocol):
    """What knows how it was made: a Run, a Trajectory, or an Origin."""

    @property
    def made(self) -> dict[str, str]: ...


@dataclass
class Origin:
    """How a file that is no run was made."""
    made: dict[str, str]


def number_text(value: float) -> str:
    """As one writes it in a study: 5e-4."""
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def target_text(measure: str, value: float) -> str:
    return f"{measure}={number_text(value)}"


def target_table(table: Table, targets: Sequence[float], measure: str) -> str:
    """When each target was reached: seconds and iterations."""
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
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
            lines.append("  " + "  ".join([row[0].ljust(widths[0]), *cells, row[-1]]))
        lines.append("")
    return "\n".join(lines)


def provenance_line(sources: Iterable[Made]) -> str:
    """Where the numbers come from, in one line."""
    sources = list(sources)

    def of(key: str) -> str:
        values = sorted({one.made.get(key, "?") for one in sources})
        return ", ".join(values) if len(values) < 4 else f"{values[0]} ... {values[-1]}"
    commit = re.sub("([0-9a-f]{9})[0-9a-f]{31}", r"\1", of("commit"))
    days = sorted({one.made.get("date_utc", "?")[:10] for one in sources})
    gpu = [of("gpu")] if "cuda" in of("backend").lower() else []
    return "   ".join([f"commit {commit}", of("cpu"), *gpu, of("backend"),
                       f"threads: {of('threads')}", " to ".join(days[:1] + days[1:][-1:])])
