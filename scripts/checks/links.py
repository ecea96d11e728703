#!/usr/bin/env python3
"""links.py FILE.md...: links inside the project lead to a file, and to a heading of it."""
from __future__ import annotations

import re
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """What the headings of a page can be linked by: lower case, no signs, hyphens for blanks."""
    names = HEADING.findall(FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\]\([^)]*\)", "", name).lower()).replace(" ", "-")
            for name in names}


def faults(page: Path) -> list[str]:
    said = []
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            said.append(f"{page}: no file {target}")
        elif anchor and file.suffix == ".md" and anchor not in anchors(
                file.read_text(encoding="utf-8")):
            said.append(f"{page}: no heading {target}")
    return said


def main(names: list[str]) -> int:
    said = [fault for name in names for fault in faults(Path(name))]
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
