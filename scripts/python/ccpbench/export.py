"""Writes the results in a folder as one table, for spreadsheets, R, pandas and the like.

A row per run: what was solved by what and how it ended, work, setup and solve time [s], the
measures of the answer, time and iterations to every target, how it was made. With --curves a row
per look at an iterate instead: work so far and all measures. Cells that are not known, not defined
or not reached are empty. docs/export.md has the columns. Usually started as `ccpbench export csv`.

Exit codes: 0 done; 1 files were skipped (the others are written) or nothing is left to write; 2
usage.
"""
import argparse
import csv
import math
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from ccpbench.console import complain
from ccpbench.frames import Row, curve_rows, run_rows
from ccpbench.results import read_folder, why_nothing


def tidy(row: Row) -> Row:
    """What is not known is empty."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()}


def write_csv(path: Path, rows: Iterable[Row]) -> None:
    """RFC 4180, UTF-8, numbers with all their digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row))
                writer.writeheader()
            writer.writerow(row)


def write_parquet(path: Path, rows: Iterable[Row]) -> None:
    """@throws ImportError  without pyarrow"""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("parquet needs pyarrow: pip install 'ccpbench[parquet]'") from error
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)


WRITERS = {"csv": write_csv, "parquet": write_parquet}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="export", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(WRITERS), help="of file")
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of result files (*.h5)")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path,
                        help="default: runs.csv, curves.csv, ... beside the result files")
    parser.add_argument("--curves", action="store_true", help="a row per look, not per run")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    folder, kind = arguments.folder, arguments.kind
    runs, faults = read_folder(folder)
    for path, fault in faults.items():
        complain(f"skipped {path}: {fault}")
    if not runs:
        complain(f"{folder}: nothing to write, {why_nothing(folder, faults)}")
        return 1
    output = arguments.output or folder / f"{'curves' if arguments.curves else 'runs'}.{kind}"
    if output.suffix == ".h5":  # it might be a result
        complain(f"{output}: expected another name than that of a result file")
        return 1
    rows = map(tidy, curve_rows(runs) if arguments.curves else run_rows(runs))
    temporary = output.with_name(f"{output.name}.{os.getpid()}.part")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        WRITERS[kind](temporary, rows)
        temporary.replace(output)
    except (OSError, ImportError) as error:
        complain(f"cannot write {output}: {error}")
        return 1
    finally:
        temporary.unlink(missing_ok=True)
    print(f"wrote {output} ({len(runs)} runs)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
