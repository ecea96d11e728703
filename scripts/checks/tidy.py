#!/usr/bin/env python3
"""tidy.py BUILD [--jobs N] [--changed-from REF]: clang-tidy with the project's .clang-tidy.

Looks at every source that BUILD/compile_commands.json has, or at those that differ from REF. A
header is looked at through its own source, or else through the first one that includes it.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GROUP = 8  # files looked at as one


def sources_of(build: Path) -> dict[str, list[str]]:
    """What the build compiles and a person wrote: path from the root, words of the compiler."""
    sources = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
            words = shlex.split(entry["command"])[1:]
            sources[str(path.relative_to(ROOT))] = words[:words.index("-o")]
    return dict(sorted(sources.items()))


def changed_from(reference: str, sources: Iterable[str]) -> list[str]:
    """Those of `sources` that show what differs from the commit."""
    words = ["git", "diff", "--name-only", "--diff-filter=d", reference, "--", "*.cpp", "*.hpp"]
    changed = set(subprocess.run(words, cwd=ROOT, capture_output=True, text=True,
                                 check=True).stdout.split())
    chosen = changed & set(sources)
    for header in sorted(name for name in changed if name.endswith(".hpp")):
        own = str(Path(header).with_suffix(".cpp"))
        if own in sources:
            chosen.add(own)
            continue
        line = f'#include "{header}"'
        chosen.update([name for name in sources
                       if line in (ROOT / name).read_text(encoding="utf-8")][:1])
    return sorted(chosen)


def groups_of(names: list[str], sources: dict[str, list[str]]) -> list[list[str]]:
    """Neighbours that are compiled with the same words: the libraries' headers, which take nearly
    all the time, are read once for each group."""
    groups: list[list[str]] = []
    for name in names:
        last = groups[-1] if groups else []
        if 0 < len(last) < GROUP and sources[last[0]] == sources[name]:
            last.append(name)
        else:
            groups.append([name])
    return groups


class Tidy:
    """clang-tidy on sources of one build."""

    def __init__(self, program: str, build: Path, sources: dict[str, list[str]]):
        self.program, self.sources = program, sources
        self.folder = (build / "groups").resolve()
        self.folder.mkdir(exist_ok=True)

    def look(self, group: list[str]) -> str:
        """What it finds in these files. Those that do not compile as one are taken apart."""
        file = ROOT / group[0]
        if len(group) > 1:
            file = self.folder / (group[0].replace("/", "-"))
            file.write_text("".join(f'#include "{ROOT / name}"\n' for name in group),
                            encoding="utf-8")
        words = [self.program, "--quiet", "--warnings-as-errors=*", "--config-file=.clang-tidy",
                 *(["--checks=-bugprone-suspicious-include"] if len(group) > 1 else []),
                 str(file), "--", *self.sources[group[0]]]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if not done.returncode:
            return ""
        if "clang-diagnostic" in done.stdout and len(group) > 1:
            middle = len(group) // 2
            return self.look(group[:middle]) + self.look(group[middle:])
        return re.sub(re.escape(str(ROOT)) + os.sep, "", done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--changed-from", metavar="REF")
    arguments = parser.parse_args()
    program = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not program:
        print("tidy.py: no clang-tidy", file=sys.stderr)
        return 1
    sources = sources_of(arguments.build)
    names = list(sources)
    if arguments.changed_from:
        names = changed_from(arguments.changed_from, names)
    groups = groups_of(names, sources)
    tidy = Tidy(program, arguments.build, sources)
    bad, looked = 0, 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for group, found in zip(groups, pool.map(tidy.look, groups), strict=True):
            looked += len(group)
            print(f"[{looked}/{len(names)}] {' '.join(group)}", *([found] if found else []),
                  sep="\n", flush=True)
            bad += bool(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
