"""Judges result files of others again, and copies those that hold into a folder of results.

A file must have its impulses (`solve --keep-gamma`) and be of a problem that is at hand, which is
told by its content hash: of the catalogue, or below --problems (files, and steps of sequences). The
NumPy referee measures the impulses; what the file says of them must agree, or it is refused with
the measure, what it says and what was found. Times and the curve on the way remain its own word.
Usually started as `ccpbench submit`.

Exit codes: 0 all are there; 1 some were refused (the others are there); 2 usage.
"""
import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py

from ccpbench.console import complain
from ccpbench.places import ROOT
from ccpbench.problem import Problem, read_problem
from ccpbench.referee import REFEREE_VERSION, residuals
from ccpbench.results import Run, read_result

MEASURES = ("dual", "primal", "complementarity", "residual", "natural_map", "coulomb_residual",
            "coulomb_natural_map")  # those without units
RELATIVE, ABSOLUTE = 1e-6, 1e-12  # how well a file and the referee must agree


def places(folder: Path) -> Iterator[tuple[str, str]]:
    """(content hash, place) of every problem below a folder."""
    for path in sorted(folder.rglob("*.h5")):
        try:
            with h5py.File(path, "r") as file:
                kind = file.attrs.get("format")
                if kind == "ccpbench-problem":
                    yield file.attrs["content_sha256"], str(path)
                elif kind == "ccpbench-sequence":
                    for name, step in file["steps"].items():
                        yield step.attrs["content_sha256"], f"{path}#{int(name)}"
        except (OSError, KeyError):
            continue  # no problem of ours


def fault_of(run: Run, problem: Problem) -> str:
    """Why the file does not hold; empty if it does."""
    if problem.content_hash() != run.instance[2]:
        return "the problem at hand is damaged: its content has another hash than it says"
    if run.gamma is None:
        return "expected the impulses, /final/gamma (solve --keep-gamma), found none"
    if run.gamma.size != 3 * problem.triples:
        return f"/final/gamma: expected {3 * problem.triples} values, found {run.gamma.size}"
    if run.referee_version != REFEREE_VERSION:
        return f"expected referee version {REFEREE_VERSION}, found {run.referee_version}"
    found = residuals(problem, run.gamma)
    for name in MEASURES:
        said, is_so = run.final(name), found[name]
        if name in run.values and not abs(said - is_so) <= ABSOLUTE + RELATIVE * abs(is_so):
            return f"{name}: it says {said:.6e}, the referee finds {is_so:.6e}"
    wrong = [name for name, value in run.stops if not found.get(name, 0.0) <= value]
    if run.reached and wrong:
        return f"it says that the stop is reached, the referee finds {wrong[0]} above it"
    return ""


def copy(run: Run, target: Path) -> None:
    """Whole or not at all, with a note that it was judged."""
    temporary = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        shutil.copyfile(run.path, temporary)
        with h5py.File(temporary, "a") as file:
            file.attrs["judged_again"] = f"referee version {REFEREE_VERSION}, the last iterate"
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="submit", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    parser.add_argument("--to", metavar="DIR", type=Path, required=True,
                        help="the folder of results")
    parser.add_argument("--problems", metavar="DIR", type=Path,
                        help="where the problems are, beside the catalogue's")
    return parser.parse_args()


def result_of(path: Path) -> Run:
    """With its impulses. @throws ValueError  it is no result file that can be read"""
    try:
        return read_result(path, gamma=True)
    except (OSError, ValueError) as error:
        raise ValueError(str(error).removeprefix(f"{path}: ")) from error


def main() -> int:
    arguments = parse_arguments()
    folders = [ROOT / "problems/data", *([arguments.problems] if arguments.problems else [])]
    known = {content: place for folder in folders for content, place in places(folder)}
    taken = 0
    for path in arguments.files:
        target = arguments.to / path.name
        try:
            run = result_of(path)
            place = known.get(run.instance[2])
            if place is None:
                fault = (f"expected a problem that is at hand, found {run.instance[1]} with the "
                         f"hash {run.instance[2][:8]}… (--problems)")
            elif target.exists():
                fault = f"{target} is there"
            else:
                fault = fault_of(run, read_problem(place))
            if not fault:
                arguments.to.mkdir(parents=True, exist_ok=True)
                copy(run, target)
                taken += 1
        except (OSError, ValueError) as error:
            fault = " ".join(str(error).split())
        if fault:
            complain(f"refused {path}: {fault}")
    print(f"{taken} of {len(arguments.files)} results judged and copied to {arguments.to}")
    return 0 if taken == len(arguments.files) else 1


if __name__ == "__main__":
    sys.exit(main())
