"""Puts the results of several machines into one folder, to report and draw them together.

Each folder is a machine, called like the folder or, with NAME=DIR, as you say. Result files are
copied and get the root attribute `machine`: what reads them makes a series of each machine and
never takes runs of two for repetitions of each other, not even where processor and host have one
name. Problems are told by their content: all machines must have solved the same files to be
compared. Usually started as `ccpbench merge`.

Exit codes: 0 done; 1 files were skipped (the others are merged), or a folder has nothing to merge;
2 usage.
"""
import argparse
import os
import re
import shutil
import sys
from pathlib import Path

import h5py

from ccpbench.console import complain
from ccpbench.results import Run, read_folder, why_nothing


def named(text: str) -> tuple[str, Path]:
    """NAME=DIR, or DIR."""
    name, equals, folder = text.partition("=")
    path = Path(folder if equals else text)
    return (name if equals else path.resolve().name), path


def target_of(run: Run, machine: str, output: Path) -> Path:
    """A name that no other machine's file has."""
    return output / f"{run.path.stem}__{re.sub(r'[^A-Za-z0-9.-]', '_', machine)}.h5"


def copy(run: Run, machine: str, target: Path) -> None:
    """Whole or not at all. A file that has been merged before keeps its machine."""
    temporary = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        shutil.copyfile(run.path, temporary)
        if not run.machine:
            with h5py.File(temporary, "a") as file:
                file.attrs["machine"] = machine
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="merge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", metavar="[NAME=]DIR", nargs="+", type=named,
                        help="folders of result files, one per machine")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True,
                        help="a folder without result files")
    arguments = parser.parse_args()
    names = [name for name, _ in arguments.folders]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or "" in names:
        found = f"{twice[0]} twice" if twice else "an empty one"
        parser.error(f"expected a name for each machine, found {found}; NAME=DIR gives one")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    output = arguments.output
    if any(output.glob("*.h5")):
        complain(f"{output}: expected a folder without result files, found some")
        return 1
    merged: dict[str, int] = {}
    code = 0
    versions: set[int] = set()
    for name, folder in arguments.folders:
        runs, faults = read_folder(folder)
        for path, fault in faults.items():
            complain(f"skipped {path}: {fault}")
        if faults or not runs:
            code = 1
        if not runs:
            complain(f"{folder}: nothing to merge, {why_nothing(folder, faults)}")
            continue
        try:
            output.mkdir(parents=True, exist_ok=True)
            for run in runs:
                copy(run, name, target_of(run, name, output))
        except OSError as error:
            complain(f"cannot write to {output}: {error}")
            return 1
        merged[name] = len(runs)
        versions |= {run.referee_version for run in runs}
    if len(versions) > 1:
        complain(f"referee versions {', '.join(map(str, sorted(versions)))}: only results of the "
                 "newest will be compared")
        code = 1
    if not merged:
        return 1
    print(f"wrote {sum(merged.values())} runs to {output}: "
          + ", ".join(f"{count} of {name}" for name, count in merged.items()))
    return code


if __name__ == "__main__":
    sys.exit(main())
