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
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def sources_of(build: Path) -> list[str]:
    """Paths from the root of what the build compiles and a person wrote."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    paths = {Path(entry["directory"], entry["file"]).resolve() for entry in entries}
    return sorted(str(path.relative_to(ROOT)) for path in paths
                  if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"))


def changed_from(reference: str, sources: list[str]) -> list[str]:
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
    if arguments.changed_from:
        sources = changed_from(arguments.changed_from, sources)

    def look(name: str) -> tuple[str, str]:
        done = subprocess.run([program, "-p", arguments.build, "--quiet", "--warnings-as-errors=*",
                               name], cwd=ROOT, capture_output=True, text=True, check=False)
        found = re.sub(re.escape(str(ROOT)) + os.sep, "", done.stdout)
        return name, found if done.returncode else ""

    bad = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for number, (name, found) in enumerate(pool.map(look, sources), 1):
            print(f"[{number}/{len(sources)}] {name}", *([found] if found else []), sep="\n",
                  flush=True)
            bad += bool(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
