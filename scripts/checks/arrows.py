#!/usr/bin/env python3
"""Includes may only point to the same room or an earlier one, and never around in a circle.

The order of the rooms is the block marked `<!-- rooms -->` in docs/architecture.md, a line for each
folder, the lines in order, too:

    problems: base < model < geometry
    solvers:  core < linear < * < registry

A room is a folder, or a file beside the folders without its suffix (solvers/registry.cpp). Rooms
with a comma between them do not know each other; nor do those that `*` stands for: all that have
no name of their own. A file and its header (stem.cpp, stem.hpp) are one node of the graph in which
circles are looked for.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path

SUFFIXES = {".cpp", ".hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ROOMS = re.compile(r"<!-- rooms -->\s*```\w*\n(.*?)```", re.DOTALL)


class Order:
    """The rooms of every folder, by level."""

    def __init__(self, text: str) -> None:
        block = ROOMS.search(text)
        if not block:
            raise ValueError("no block marked <!-- rooms -->")
        self.levels: dict[str, list[list[str]]] = {}
        for line in block.group(1).splitlines():
            if not line.strip():
                continue
            folder, _, rooms = line.partition(":")
            self.levels[folder.strip()] = [
                [room.strip() for room in level.split(",")] for level in rooms.split("<")]
        self.folders = list(self.levels)

    def place(self, file: Path) -> tuple[str, str, int] | None:
        """(folder, room, level) of a file, or None if its folder is in no line.
        @raises ValueError if the folder is there, but has no such room"""
        if file.parts[0] not in self.levels:
            return None
        folder = file.parts[0]
        room = file.parts[1] if len(file.parts) > 2 else file.stem
        catch_all = None
        for level, rooms in enumerate(self.levels[folder]):
            if room in rooms:
                return folder, room, level
            if "*" in rooms:
                catch_all = level
        if catch_all is None or len(file.parts) == 2:
            raise ValueError(f"{file}: no room '{room}' in the line '{folder}' of the rooms")
        return folder, room, catch_all

    def why_not(self, file: Path, included: Path) -> str:
        """Why `file` must not include `included`; "" if it may."""
        source, target = self.place(file), self.place(included)
        if source is None:
            return ""  # tests use all
        if target is None:
            return f"{source[0]} may not use {included.parts[0]}"
        if source[0] != target[0]:
            if self.folders.index(source[0]) > self.folders.index(target[0]):
                return ""
            return f"{source[0]} stands before {target[0]}"
        if source[1] == target[1] or source[2] > target[2]:
            return ""
        names = f"{source[0]}/{source[1]}", f"{target[0]}/{target[1]}"
        if source[2] == target[2]:
            return f"{names[0]} and {names[1]} do not know each other"
        return f"{names[0]} stands before {names[1]}"


def includes_of(root: Path, files: list[Path]) -> dict[Path, list[Path]]:
    """What each file includes of the others; paths from the root."""
    known = set(files)
    found: dict[Path, list[Path]] = {}
    for file in files:
        names = INCLUDE.findall((root / file).read_text(encoding="utf-8"))
        found[file] = [Path(name) for name in names if Path(name) in known]
    return found


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected parts with more than one node (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    parts: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for after in sorted(edges.get(node, ())):
            if after not in index:
                visit(after)
            if after in stack:
                low[node] = min(low[node], low[after])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                parts.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return parts


def faults(root: Path) -> list[str]:
    """Every include that must not be, a line each."""
    order = Order((root / "docs/architecture.md").read_text(encoding="utf-8"))
    files = sorted(path.relative_to(root) for folder in [*order.folders, "tests"]
                   for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)
    said = []
    edges: dict[str, set[str]] = {}
    for file, included in includes_of(root, files).items():
        node = str(file.with_suffix(""))
        for target in included:
            try:
                reason = order.why_not(file, target)
            except ValueError as error:
                reason = str(error)
            if reason:
                said.append(f"{file} includes {target}: {reason}")
            if str(target.with_suffix("")) != node:
                edges.setdefault(node, set()).add(str(target.with_suffix("")))
    said += ["these include one another: " + ", ".join(part) for part in circles(edges)]
    return said


def main() -> int:
    said = faults(Path(__file__).resolve().parents[2])
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
