#!/usr/bin/env python3
"""words.py FILE...: what no text file of the project may say.

* A number in place of a paper ("seed" and three digits, or a figure of such a one):
  docs/glossary.md#sources has the names. Where a name of an earlier release is still read, the line
  says that it is an alias.
* A folder of somebody's own machine: /home/..., /root/..., /tmp/... A container's are its own.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

NUMBERS = re.compile(r"\bseeds? ?0\d\d\b|\b0\d\d-(?:fig|table|lcp|particle)|\bpaper-0\d\d",
                     re.IGNORECASE)
PATHS = re.compile(r"(?<![\w.$}/~])/(?:home|root|Users|work|tmp|mnt|media)/\w")
RULES = [(NUMBERS, "a paper goes by author and year"), (PATHS, "a path of one machine")]


def applies(pattern: re.Pattern[str], file: Path, line: str) -> bool:
    if not pattern.search(line):
        return False
    return file.name != "Containerfile" if pattern is PATHS else "alias" not in line


def faults(file: Path) -> list[str]:
    data = file.read_bytes()
    if b"\0" in data:
        return []
    said = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        said += [f"{file}:{number}: {reason}: {line.strip()[:100]}"
                 for pattern, reason in RULES
                 if applies(pattern, file, line)]
    return said


def main(names: list[str]) -> int:
    said = [fault for name in names if not Path(name).is_symlink() for fault in faults(Path(name))]
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
