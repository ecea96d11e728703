"""Makes one HTML file of the results in a folder, which opens from disk without a network.

It shows convergence curves per instance, performance profiles, shares of targets reached, work to
each target, claims against the referee, failures, instances and provenance; measure, axes and
solvers can be chosen in it. docs/reports.md explains it. Usually started as `ccpbench report`.

Exit codes: 0 done; 1 files were skipped (the report lists them) or nothing is left to show; 2
usage.
"""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ccpbench.console import complain
from ccpbench.measures import in_order, known_measures
from ccpbench.report.data import page_data
from ccpbench.report.library import packed_library
from ccpbench.report.site import Site
from ccpbench.results import Run, measures_of, read_folder, why_nothing

MODULES = ("numbers.js", "figures.js", "page.js")  # each uses those before it


def inside_script(text: str) -> str:
    """Text that must not end the script element that it stands in."""
    return text.replace("</", "<\\/")


def page(data: dict[str, Any]) -> str:
    """The whole file."""
    def part(name: str) -> str:
        return (Path(__file__).parent / name).read_text(encoding="utf-8")
    values = {
        "TITLE": html.escape(data["title"]), "STYLE": part("style.css"),
        "DATA": inside_script(json.dumps(data, allow_nan=False, separators=(",", ":"),
                                         ensure_ascii=False)),
        "LIBRARY": packed_library(),
        "SCRIPT": "\n".join(map(part, MODULES)),
    }
    return re.sub("@([A-Z]+)@", lambda match: values[match[1]], part("page.html"))


def write(path: Path, text: str) -> None:
    """Whole or not at all. A page replaces nothing but a page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        if not path.is_file():
            raise OSError("expected a regular file, found something else")
        with open(path, "rb") as old:
            start = old.read(64)
        if start and not start.lower().startswith(b"<!doctype html"):
            raise OSError("expected an HTML page to replace, found another file")
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def parse_arguments() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(prog="report", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of result files (*.h5)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path,
                        help="the page (default: report.html beside the result files)")
    parser.add_argument("--measure", metavar="NAME",
                        help="what is shown first (default: that of the stop)")
    parser.add_argument("--title", help="instead of the study's name")
    parser.add_argument("--site", metavar="DIR", type=Path,
                        help="write pages to this folder instead: a profile per class of problem, "
                             "a page per instance and per solver, the result files")
    parser.add_argument("--figures", metavar="DIR", type=Path,
                        help="also write the figures as PNG and PDF there, as scripts/plot does")
    return parser, parser.parse_args()


def main() -> int:
    parser, arguments = parse_arguments()
    folder = arguments.folder
    runs, faults = read_folder(folder)
    names = in_order([*known_measures(), *measures_of(runs)])
    if arguments.measure and arguments.measure not in names:
        parser.error(f"--measure: expected one of {', '.join(names)}, found {arguments.measure}")
    for path, fault in faults.items():
        complain(f"skipped {path}: {fault}")
    if not runs:
        complain(f"{folder}: nothing to show, {why_nothing(folder, faults)}")
        return 1
    if arguments.site:
        return write_site(arguments, runs, faults)
    output = arguments.output or folder / "report.html"
    data = page_data(folder, runs, faults, arguments.measure, arguments.title)
    try:
        write(output, page(data))
    except OSError as error:
        complain(f"cannot write {output}: {error}")
        return 1
    print(f"wrote {output} ({len(runs)} runs)")
    code = 1 if faults else 0
    if arguments.figures:
        code = max(code, write_figures(folder, arguments.figures, data["measure"], arguments.title))
    return code


def write_site(arguments: argparse.Namespace, runs: list[Run], faults: dict[Path, str]) -> int:
    """Pages that link to each other; @return the exit code"""
    output = arguments.site
    if output.exists() and any(output.iterdir()) and not (output / "site.css").exists():
        complain(f"{output}: expected a new folder, or a site to replace, found another folder")
        return 1
    try:
        for old in (output / "instance", output / "solver", output / "raw"):
            shutil.rmtree(old, ignore_errors=True)
        site = Site(arguments.folder, runs, faults, arguments.title, arguments.measure)
        site.write(output)
    except OSError as error:
        complain(f"cannot write {output}: {error}")
        return 1
    print(f"wrote {output / 'index.html'} ({len(runs)} runs, {len(site.table)} instances, "
          f"{len(site.labels)} solvers)")
    return 1 if faults else 0


def write_figures(folder: Path, output: Path, measure: str, title: str | None) -> int:
    """What `plot` draws, as a process of its own. Its table, and its complaints about files, are
    those of the page and are left out; @return its exit code."""
    command = [sys.executable, "-m", "ccpbench.plot", str(folder), "-o", str(output),
               "--figure", "all", "--measure", measure, *(["--title", title] if title else [])]
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": path})
    print("\n".join(line for line in done.stdout.splitlines() if line.startswith("wrote ")))
    for line in done.stderr.splitlines():
        if ": skipped " not in line:
            print(line, file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
