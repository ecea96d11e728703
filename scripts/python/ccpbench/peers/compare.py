"""Our solvers against those of others, in one command and one report.

Makes a study of harness/studies/peers.yaml on the problems given (ccpbench problem files, names of
the catalogue, or FCLIB files, which are imported; without any, the study's own piles), leaves out
the peers that are not installed, with a note, runs it, and makes report.html.

    scripts/peers/setup                                  # once: the conic solvers
    scripts/peers/compare -o results/peers *.hdf5 test-problem-1
"""
import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from ccpbench.console import positive_number
from ccpbench.places import ROOT, find_program
from ccpbench.reading import opened

STUDY = ROOT / "harness/studies/peers.yaml"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "results/peers")
    parser.add_argument("--time-limit", type=positive_number, help="s a run (default: the study's)")
    parser.add_argument("--only", help="solvers with these names only, with commas between them")
    parser.add_argument("--program", help="the ccpbench program (default: the one at hand)")
    options = parser.parse_args()
    program = find_program(options.program)
    if program is None:
        parser.error(f"--program: expected the ccpbench program, found {options.program or 'none'}")
    options.output.mkdir(parents=True, exist_ok=True)

    files = [problem_file(path, options.output / "problems", program)
             for path in options.problems]
    lines = chosen(study_text(), options.only.split(",") if options.only else None,
                   rolling=any(map(has_rolling, files)))
    if options.time_limit:
        lines = [f"time_limit: {options.time_limit:g}" if line.startswith("time_limit:") else line
                 for line in lines]
    if options.problems:
        quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in files)
        lines = [f"problems: [{quoted}]" if line.startswith("problems:") else line
                 for line in lines]
    study = options.output / "peers.yaml"
    study.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run([program, "run", study, "-o", options.output, "--resume"],
                          check=False)
    if done.returncode not in (0, 3, 4):
        return done.returncode
    return subprocess.run([program, "report", options.output], check=False).returncode


def study_text() -> str:
    """The study, with its scripts where they are."""
    return STUDY.read_text(encoding="utf-8").replace("../../scripts", str(ROOT / "scripts"))


def chosen(study: str, only: Iterable[str] | None, rolling: bool = False) -> list[str]:
    """The lines of the study, without peers that are not installed or not asked for.

    @param rolling  some problem has rolling friction; peers that want it are left out if none has
    """
    kept = []
    for line in study.splitlines():
        external = re.match(r"  - external: \{name: ([^,]+),.*command: '(\S+ \S+ \S+) ", line)
        name = external.group(1) if external else line[4:].strip("'").split("[")[0]
        if line.startswith("  - ") and only and name not in only:
            continue
        if external and "features: [rolling]" in line and not rolling:
            continue
        if external:
            found = subprocess.run(external.group(2).split(), capture_output=True, text=True,
                                   check=False)
            if found.returncode != 0:
                words = (found.stderr.strip().splitlines() or ["it does not start"])[-1]
                print(f"note: without {name}: {words}", flush=True)
                continue
            print(f"{name} {found.stdout.strip()}", flush=True)
        kept.append(line)
    return kept


def problem_file(path: str, folder: Path, program: str) -> str:
    """The problem file of an argument; FCLIB files are imported to the folder."""
    if not Path(path).exists():
        return path  # of the catalogue, or ccpbench will say that it is not
    with opened(path) as file:
        if "format" in file.attrs:
            return str(Path(path).resolve())
    folder.mkdir(parents=True, exist_ok=True)
    imported = folder / f"{Path(path).stem}.h5"
    subprocess.run([program, "import", "fclib", path, "-o", imported, "--force"], check=True)
    return str(imported.resolve())


def has_rolling(path: str) -> bool:
    """Whether a problem file has it; none of the catalogue has."""
    if not Path(path).exists():
        return False
    with opened(path) as file:
        return "rolling" in file


if __name__ == "__main__":
    sys.exit(main())
