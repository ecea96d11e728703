#!/usr/bin/env python3
"""What docs/ prints, made to compile and run.

    tutorials.py extract FOLDER          the files of docs/add-a-*.md, and what registers their rows
    tutorials.py list                    the documents that have commands to run
    tutorials.py run PROGRAM DOCUMENT    those commands, with PROGRAM as `ccpbench`

A fenced block is taken if the line above it says what it is:

    <!-- file: solvers/half_jacobi/half_jacobi.cpp -->   (a part of) that file
    <!-- row: solvers/registry.cpp -->                   a row to be added to the table in that file
    <!-- run -->                                         commands that must succeed, in this order

A row of C++ is added by the one function add_x(XEntry) that a header beside its table declares,
with the tutorial's own headers (and `#include` lines of the block itself) in sight. A row of a
CMakeLists.txt must name a file of the tutorial. Commands see a copy of scripts/ with the tutorial's
Python files in it, and its rows added by the add_x() of their module. A tutorial touches at most
one folder, tests and documents apart, and one table.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"<!-- *(\w+)(?:: *(\S+))? *-->")
FENCE = re.compile(r"(`{3,})\w*")
PYTHON_ADDS = re.compile(r"^def (add_\w+)\(", re.MULTILINE)
ADDS = re.compile(r"^void (add_\w+)\(\w*Entry\b", re.MULTILINE)
RUN_LIMIT = 300  # seconds a block


class Fault(Exception):
    """Something a document says that cannot be, with its place."""


@dataclass
class Block:
    """One marked block: `kind` of `path` at `line` of its document."""

    kind: str
    path: str
    line: int
    text: str


@dataclass
class Document:
    """The marked blocks of one Markdown file; `name` is its path from the root."""

    name: str
    blocks: list[Block] = field(default_factory=list)

    def of(self, kind: str) -> list[Block]:
        return [block for block in self.blocks if block.kind == kind]

    def fault(self, line: int, words: str) -> Fault:
        return Fault(f"{self.name}:{line}: {words}")

    def files(self) -> dict[str, str]:
        """path -> contents: the blocks with one path stand behind each other."""
        found: dict[str, str] = {}
        for block in self.of("file"):
            before = found.get(block.path)
            found[block.path] = block.text if before is None else f"{before}\n{block.text}"
        return found


def read_document(name: str, text: str) -> Document:
    """@raises Fault for a mark that is not above a block, or is no mark we know"""
    document = Document(name)
    is_tutorial = Path(name).name.startswith("add-a")
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        mark, fence = COMMENT.fullmatch(lines[at].strip()), FENCE.match(lines[at])
        if mark and mark[1] in ("file", "row", "run"):
            if (mark[2] is None) != (mark[1] == "run"):
                raise document.fault(at + 1, "expected <!-- run -->, <!-- file: PATH --> or "
                                     f"<!-- row: PATH -->, found {lines[at]}")
            fence = FENCE.match(lines[at + 1]) if at + 1 < len(lines) else None
            if not fence:
                raise document.fault(at + 1, "no fenced block below the mark")
            at += 1
        elif is_tutorial and lines[at].lstrip().startswith("<!--"):
            raise document.fault(at + 1, f"not a mark of a tutorial: {lines[at]}")
        if fence:
            start = at + 1
            at = start
            while at < len(lines) and lines[at].rstrip() != fence[1]:
                at += 1
            if at == len(lines):
                raise document.fault(start, "the block has no end")
            if mark and mark[1] in ("file", "row", "run"):
                document.blocks.append(
                    Block(mark[1], mark[2] or "", start + 1, "\n".join(lines[start:at]) + "\n"))
        at += 1
    return document


def documents() -> list[Document]:
    """Everything a reader types from: README and docs."""
    paths = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    found = [read_document(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
             for path in paths]
    return [document for document in found if document.blocks]


# ---- what is compiled ----------------------------------------------------------------------------

def adder(document: Document, row: Block) -> tuple[str, str]:
    """(header, function) that adds to the table in row.path."""
    table = ROOT / row.path
    if not table.is_file():
        raise document.fault(row.line, f"no file {row.path}")
    own = table.with_suffix(".hpp")
    for headers in ([own] if own.is_file() else [], sorted(table.parent.glob("*.hpp"))):
        found = [(str(header.relative_to(ROOT)), name) for header in headers
                 for name in ADDS.findall(header.read_text(encoding="utf-8"))]
        if len(found) == 1:
            return found[0]
        if found:
            raise document.fault(row.line, f"more than one add_...() beside {row.path}")
    raise document.fault(row.line, f"no header beside {row.path} declares an add_...()")


def split_row(row: Block, *heads: str) -> tuple[list[str], str]:
    """Lines that begin with one of `heads`; the entry without its comma."""
    lines = row.text.splitlines()
    own = [line for line in lines if line.startswith(heads)]
    entry = "\n".join(line for line in lines if not line.startswith(heads))
    return own, textwrap.dedent(entry).strip().rstrip(",")


def registration(document: Document) -> str:
    """The source that adds the document's rows before main() begins; "" if it has none."""
    rows = [row for row in document.of("row") if row.path.endswith(".cpp")]
    includes = [f'#include "{path}"' for path in document.files() if path.endswith(".hpp")]
    body = []
    for number, row in enumerate(rows):
        header, function = adder(document, row)
        own, entry = split_row(row, "#include")
        includes += [f'#include "{header}"', *own]
        body.append(f'#line {row.line} "{ROOT / document.name}"\n'
                    f"const bool added_{number} = ({function}(\n{entry}\n), true);")
    if not rows:
        return ""
    return "\n".join([f"// Rows of {document.name}.", *dict.fromkeys(includes), "",
                      "namespace ccp {", "namespace {", *body, "}", "}", ""])


def check_shape(document: Document) -> None:
    """One folder, one row of one table; what a CMakeLists.txt gets is a file of the tutorial."""
    files = document.files()
    folders = {str(Path(path).parent) for path in files
               if Path(path).parts[0] not in ("tests", "docs")}
    if len(folders) > 1:
        raise document.fault(1, f"files in more than one folder: {', '.join(sorted(folders))}")
    rows = [row for row in document.of("row") if Path(row.path).name != "CMakeLists.txt"]
    if len(rows) > 1:
        raise document.fault(rows[1].line, "a second row of a table")
    for row in document.of("row"):
        if row in rows:
            continue
        for name in row.text.split():
            if str(Path(row.path).parent / name) not in files:
                raise document.fault(row.line, f"{name} is no file of this tutorial")


def extract(folder: Path) -> None:
    """Writes every file and registration below `folder`, and prints the C++ sources. What is there
    already stays untouched, or all of it would be compiled again."""
    wanted: dict[str, str] = {}
    for document in documents():
        if not document.of("file") and not document.of("row"):
            continue
        check_shape(document)
        for name, text in document.files().items():
            if name in wanted:
                raise document.fault(1, f"{name} is in another tutorial, too")
            if (ROOT / name).exists():
                raise document.fault(1, f"{name} exists already")
            wanted[name] = text
        source = registration(document)
        if source:
            wanted[f"rows/{Path(document.name).stem.replace('-', '_')}.cpp"] = source
    for old in [path for path in folder.rglob("*") if path.is_file()]:
        if str(old.relative_to(folder)) not in wanted:
            old.unlink()
    for name, text in wanted.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    print("\n".join(name for name in wanted if name.endswith(".cpp")))


# ---- what is run ---------------------------------------------------------------------------------

def copy_scripts(document: Document, folder: Path) -> None:
    """scripts/ with what the document adds to it."""
    shutil.copytree(ROOT / "scripts", folder / "scripts", symlinks=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in document.files().items():
        if path.startswith("scripts/"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    for row in document.of("row"):
        if not row.path.endswith(".py"):
            continue
        table = folder / row.path
        adds = PYTHON_ADDS.findall(table.read_text(encoding="utf-8")) if table.is_file() else []
        if len(adds) != 1:
            raise document.fault(row.line, f"expected one add_...() in {row.path}, found {adds}")
        own, entry = split_row(row, "import ", "from ")
        with table.open("a", encoding="utf-8") as out:
            out.write("\n".join(["", *own, f"{adds[0]}({entry})", ""]))


def run(program: Path, name: str) -> None:
    """The commands of one document, in a folder that looks like the project's and is not it."""
    document = read_document(name, (ROOT / name).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "bin").mkdir()
        (folder / "bin/ccpbench").symlink_to(program.resolve())
        for shared in ("docs", "harness", "problems"):
            (folder / shared).symlink_to(ROOT / shared)
        copy_scripts(document, folder)
        environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        for block in document.of("run"):
            try:
                done = subprocess.run(["bash", "-e", "-u", "-o", "pipefail", "-c", block.text],
                                      cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      timeout=RUN_LIMIT, check=False)
            except subprocess.TimeoutExpired:
                raise document.fault(block.line, f"not done after {RUN_LIMIT} s") from None
            print(done.stdout, end="")
            if done.returncode != 0:
                raise document.fault(block.line, f"exit code {done.returncode}\n{block.text}")


def main(words: list[str]) -> int:
    try:
        if len(words) == 2 and words[0] == "extract":
            extract(Path(words[1]))
        elif words == ["list"]:
            print("\n".join(one.name for one in documents() if one.of("run")))
        elif len(words) == 3 and words[0] == "run":
            run(Path(words[1]), words[2])
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
