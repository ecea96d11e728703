"""The referee's measures: which there are, in which order, and their units.

The program's own table (`ccpbench list measures --json`) is the source. Result files of a program
that is not at hand bring the names of their measures along; what they do not say is left open.
"""
import functools
import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from ccpbench.places import find_program


@dataclass(frozen=True)
class Measure:
    """One row of the table."""
    name: str
    unit: str = ""  # empty: none, or not known
    summary: str = ""
    formula: str = ""
    laws: tuple[str, ...] = ()  # those that it judges

    @property
    def title(self) -> str:
        """For axes and heads of tables: `objective gap [J]`."""
        return self.name.replace("_", " ") + (f" [{self.unit}]" if self.unit else "")


@functools.cache
def known_measures() -> dict[str, Measure]:
    """Those of the program at hand, in its order; empty without a program."""
    program = find_program()
    if program is None:
        return {}
    listed = subprocess.run([program, "list", "measures", "--json"], capture_output=True, text=True,
                            check=False)
    if listed.returncode != 0:  # a program that is older than this command
        return {}
    return {row["name"]: Measure(row["name"], row.get("unit", ""), row.get("summary", ""),
                                 row.get("formula", ""), tuple(row.get("laws", ())))
            for row in json.loads(listed.stdout)}


def measure(name: str) -> Measure:
    """What is known of a measure."""
    return known_measures().get(name, Measure(name))


def in_order(names: Iterable[str]) -> list[str]:
    """The names as the program lists them; then those that it does not know, as they come."""
    names, known = list(dict.fromkeys(names)), known_measures()
    return [name for name in known if name in names] + [name for name in names if name not in known]
