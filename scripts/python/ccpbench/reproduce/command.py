"""Makes a figure of the papers again: runs what it needs and draws it, in one command.

NAME is a figure of `scripts/reproduce --list`. Result files go to DIR/NAME (DIR/NAME-PROBLEMS with
other problems than ours), the figure to DIR/NAME.png and .pdf, the points drawn to DIR/NAME.csv.
Finished runs are kept: a second call only draws. docs/reproduce/ compares with the papers.

The program is sought in --program, $CCPBENCH, build/serial/harness and on the path. The author's
states are sought in --states, $CCPBENCH_STATES and ../shared/data/kleinert; they are imported to a
temporary folder.

Exit codes: 0 done; 1 a program failed, or nothing can be drawn; 2 usage.
"""
import os

# Vectors are short here: threads of the BLAS only wait for each other. All runs have one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import sys
import tempfile
from pathlib import Path

from ccpbench.console import complain, end_with_the_reader, positive_number
from ccpbench.figures import drawn, save
from ccpbench.places import ROOT, find_program
from ccpbench.reproduce.figures import FIGURES, Figure, find_figure
from ccpbench.reproduce.workshop import STATES, Choice, Failure, Workshop


def default_output() -> Path:
    """In the source tree or the prefix that this belongs to, else in the folder we are in."""
    return (ROOT if (ROOT / "scripts/reproduce").is_file() else Path()) / "results/reproduce"


def parse_arguments() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="reproduce", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help="figures, or `all`")
    parser.add_argument("--list", action="store_true",
                        help="the figures there are, and about how long their runs take on 2 cores")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, default=default_output(),
                        help="default: results/reproduce")
    parser.add_argument("--program", metavar="P", help="the ccpbench program")
    parser.add_argument("--problems", metavar="WHICH", default="ours",
                        help="ours (default), author, or a problem file, name or scene for all of "
                             "them")
    parser.add_argument("--states", metavar="DIR", type=Path,
                        help="folder with the author's three .vtu files")
    parser.add_argument("--time-limit", metavar="S", type=positive_number,
                        help="seconds per run of a study, instead of the study's own")
    parser.add_argument("--fresh", action="store_true", help="forget the runs of an earlier call")
    parser.add_argument("--draw-only", action="store_true", help="draw what is there, run nothing")
    return parser, parser.parse_args()


def wanted_figures(parser: argparse.ArgumentParser, names: list[str]) -> list[Figure]:
    """The rows of the names; a wrong one ends the program."""
    if not names:
        parser.error("expected the NAME of a figure, or --list")
    if names == ["all"]:
        return FIGURES
    rows = []
    for name in names:
        row = find_figure(name)
        if row is None:
            known = ", ".join(one.name for one in FIGURES)
            parser.error(f"unknown figure '{name}'; there are {known}")
        rows.append(row)
    return rows


def choice_of(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> Choice:
    """What holds for all figures; whatever is wrong with it ends the program."""
    choice = Choice("", arguments.output, arguments.problems, arguments.states,
                    arguments.time_limit, arguments.fresh)
    if choice.time_limit is not None and not choice.time_limit > 0:
        parser.error(f"--time-limit: expected a number > 0, found {choice.time_limit:g}")
    if choice.problems.endswith(".h5"):
        choice.problems = str(Path(choice.problems).resolve())
    if arguments.draw_only:
        return choice
    choice.program = find_program(arguments.program) or ""
    if not choice.program:
        parser.error("--program: expected the ccpbench program, found "
                     f"{arguments.program or 'none (scripts/quickstart builds it)'}")
    if choice.problems == "author":
        choice.states = Path(choice.states or os.environ.get("CCPBENCH_STATES") or
                             ROOT.parent / "shared/data/kleinert").resolve()
        absent = [file for file in STATES.values() if not (choice.states / file).is_file()]
        if absent:
            parser.error(f"--states: expected {', '.join(STATES.values())} of Kleinert's Nonsmooth "
                         f"granular benchmarks in {choice.states}, {absent[0]} is not there")
    return choice


def make(row: Figure, choice: Choice, draw_only: bool) -> list[Path]:
    """One figure; @return the files that were written."""
    with tempfile.TemporaryDirectory() as temporary:
        shop = Workshop(choice, row.name, temporary)
        if not draw_only:
            row.run(shop)
    figure = row.draw(shop.folder)
    paths = [choice.output / f"{shop.name}.{ending}" for ending in ("png", "pdf", "csv")]
    save(figure, paths[:2])
    with open(paths[2], "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["panel", "curve", "x", "y"], *drawn(figure)])
    return paths


def main() -> int:
    end_with_the_reader()
    parser, arguments = parse_arguments()
    if arguments.list:
        width = max(len(row.name) for row in FIGURES)
        for row in FIGURES:
            print(f"{row.name:{width}} {row.minutes:4g} min  {row.summary}")
        return 0
    rows, choice = wanted_figures(parser, arguments.names), choice_of(parser, arguments)
    for row in rows:
        if not arguments.draw_only:
            print(f"{row.name}: its runs take some {row.minutes:g} min on 2 cores; those of an "
                  f"earlier call in {choice.output} are kept", flush=True)
        try:
            paths = make(row, choice, arguments.draw_only)
        except (Failure, OSError, KeyError, ValueError) as error:
            complain(f"{row.name}: {error}")
            return 1
        for path in paths:
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
