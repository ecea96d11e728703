#!/usr/bin/env python3
"""The prepared run on a machine with a GPU: `scripts/test --cuda-pack` here, `--cuda` there.

pack  puts stripped programs of a build, and the libraries that they need but for those of CUDA's
      toolkit, which run looks for, into one archive of at most 60 MiB: the device build's program
      and kernels, those of a build for the processor beside it, then test programs in order of
      worth until the archive is full.
run   unit tests, then a table: products as a share of the copy bandwidth, and solves, on the device
      and beside it on the processor. Every part is a process with a time limit of its own: one that
      crashes or hangs costs its row. What is known is written after each part.

It needs Python's standard library alone. Exit code 0 if every part did what it should, 1 if one did
not, or if there is no GPU.
"""
from __future__ import annotations

import argparse
import contextlib
import csv
import json
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE = "carried.tar.xz"
LIMIT = 60 * 2**20  # bytes of an archive
PROGRAMS = ("harness/ccpbench", "harness/ccpbench-micro")
# What a device can break first; each is 9 MB packed, less what it shares with those before.
TESTS = ("test_cone", "test_constraint_map", "test_operators", "test_relaxation", "test_batch",
         "test_vipm", "test_methods", "test_linear", "test_allocations", "test_newton",
         "test_pools", "test_harness", "test_coulomb", "test_auto", "test_lcp", "test_claims",
         "test_golden")
# Of the machine: glibc, the driver, and what of CUDA's toolkit takes a gigabyte.
OF_THE_MACHINE = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|cuda))\.so(\.\d+)*$")
OF_THE_TOOLKIT = re.compile(r"lib(cublas|cublasLt|cusolver|cusparse|nvJitLink)\.so\.\d+$")

PROBLEM = ROOT / "problems/data/test-problem-3.h5"
PROBLEM_CONTACTS = 43409
COPIES = (1, 10, 100, 1000)
# Bytes that a process of ccpbench-micro holds per contact: on a processor 590, all together.
HOST_BYTES, DEVICE_BYTES = 800, 600
# Parts, and kernels of each by title; a copy of the same size goes before.
PRODUCTS = {"N·x": {"delassus_apply": "N·x"},
            "S·z": {"vipm_matrix_apply_natural": "S·z, bodies as they come",
                    "vipm_matrix_apply": "S·z, in vipm's order"}}
SOLVERS = ("pgj", "apgd", "ipm", "vipm",
           "vipm[linear_solver=cg,preconditioner=block_chebyshev]")
TARGETS = ("1e-4", "1e-6")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class Fault(Exception):
    """What ends the run, in a sentence."""


def say(text: str) -> None:
    print(f"[device] {text}", flush=True)


# ---- packing -------------------------------------------------------------------------------------

def libraries(program: Path) -> dict[str, Path]:
    """Shared libraries that a machine may not have, by name. @raises Fault if one is missing"""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Fault(f"{program}: expected a program with shared libraries, ldd says: "
                    f"{(done.stderr + done.stdout).strip()}")
    found = {}
    for name, path in re.findall(r"^\s*(\S+) => (not found|\S+)", done.stdout, re.M):
        if OF_THE_MACHINE.match(name) or OF_THE_TOOLKIT.match(name):
            continue
        if path == "not found":
            raise Fault(f"{program}: expected the library {name}, found none")
        found[name] = Path(path)
    return found


def toolkit_folders() -> list[str]:
    """Where this machine has libraries of CUDA's toolkit: beside nvcc, in /usr/local, or in Python
    packages, as PyTorch brings them."""
    nvcc = shutil.which("nvcc")
    homes = [Path(nvcc).resolve().parent.parent] if nvcc else []
    homes += sorted(Path("/usr/local").glob("cuda*"), reverse=True)
    folders = [home / name for home in homes for name in ("lib64", "lib")]
    folders += [found for site in sys.path for found in sorted(Path(site).glob("nvidia/*/lib"))]
    return [str(folder) for folder in dict.fromkeys(folders) if folder.is_dir()
            and any(OF_THE_TOOLKIT.match(path.name) for path in folder.iterdir())]


class Archive:
    """A tar.xz that is filled as long as there is room; a wide window packs what is twice once."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path, self.limit = path, limit
        self.opened = contextlib.ExitStack()
        self.stripped = self.opened.enter_context(tempfile.TemporaryDirectory())
        self.file = path.open("wb")
        self.opened.callback(self.file.close)
        window = {"id": lzma.FILTER_LZMA2, "preset": 2, "dict_size": 1 << 29}
        self.packed = lzma.LZMAFile(self.file, "wb", filters=[window])  # noqa: SIM115  it is closed
        self.opened.callback(self.packed.close)
        self.tar = tarfile.TarFile(fileobj=self.packed, mode="w")
        self.opened.callback(self.tar.close)
        self.names: set[str] = set()
        self.last = 0  # bytes that the last program took

    def size(self) -> int:
        return self.file.tell()

    def add(self, source: Path, name: str) -> None:
        if name in self.names:
            return
        self.names.add(name)
        target = Path(self.stripped, source.name)
        done = subprocess.run(["strip", "-o", target, source], capture_output=True, check=False)
        self.tar.add(target if done.returncode == 0 else source.resolve(), name)

    def add_program(self, source: Path, name: str) -> None:
        before = self.size()
        self.add(source, name)
        for library, path in libraries(source).items():
            self.add(path, f"lib/{library}")
        self.last = self.size() - before

    def has_room(self) -> bool:
        """For one more program like the last, and for what the packer holds back."""
        return self.size() + self.last * 1.5 + 2**21 <= self.limit

    def close(self) -> int:
        self.opened.close()
        return self.path.stat().st_size


def pack(build: Path, processor: Path | None, folder: Path) -> None:
    for root in [build, *([processor] if processor else [])]:
        for name in PROGRAMS:
            if not (root / name).is_file():
                raise Fault(f"{root}: expected the program {name}, found none (build it first)")
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{ARCHIVE}.part"
    archive = Archive(partial, LIMIT)
    for name in PROGRAMS:
        archive.add_program(build / name, f"device/{name}")
    if processor:
        for name in PROGRAMS:
            archive.add_program(processor / name, f"cpu/{name}")
    carried, left_out = [], []
    for test in TESTS:
        program = build / "tests" / test
        if program.is_file() and archive.has_room():
            archive.add_program(program, f"device/tests/{test}")
            carried.append(test)
        else:
            left_out.append(test if program.is_file() else f"{test} (not built)")
    size = archive.close()
    if size > LIMIT:
        partial.unlink()
        raise Fault(f"{folder / ARCHIVE}: expected at most {LIMIT / 2**20:.0f} MiB, found "
                    f"{size / 2**20:.1f} with {len(carried)} test programs")
    partial.replace(folder / ARCHIVE)
    say(f"{folder / ARCHIVE}: {size / 2**20:.1f} of {LIMIT / 2**20:.0f} MiB")
    say(f"test programs in it: {', '.join(carried) or 'none'}")
    if left_out:
        say(f"left out: {', '.join(left_out)}")
    if not processor:
        say("no build for the processor (--cpu-build): its columns will be empty, and no pile made")


# ---- running -------------------------------------------------------------------------------------

@dataclass
class Part:
    """A process that has been run: what it was for and how it ended."""
    kind: str      # device, test, kernels, pile, solve
    machine: str   # device or cpu
    name: str
    contacts: int | None
    outcome: str = ""  # "ok", or in words why not
    seconds: float = 0
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"


@dataclass
class Build:
    folder: Path
    backend: str = ""

    def environment(self, threads: int) -> dict[str, str]:
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "spread",
                       "OMP_PLACES": "threads", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        carried = self.folder.parent / "lib"
        if carried.is_dir():
            environment["LD_LIBRARY_PATH"] = ":".join([str(carried), *toolkit_folders()])
        return environment

    @property
    def threads(self) -> int:
        return len(os.sched_getaffinity(0)) if self.backend == "OpenMP" else 1

    def program(self, name: str) -> str:
        return str(self.folder / name)


def ending(code: int) -> str:
    """How a process ended that did not end well."""
    if code < 0:
        try:
            return f"crashed: {signal.Signals(-code).name}"
        except ValueError:
            return f"crashed: signal {-code}"
    return f"exit code {code}"


class Runner:
    def __init__(self, output: Path, budget: float) -> None:
        self.output, self.end, self.start = output, time.monotonic() + budget, time.monotonic()
        self.parts: list[Part] = []
        self.context: dict[str, Any] = {}
        self.running: list[subprocess.Popen[str]] = []
        output.mkdir(parents=True, exist_ok=True)
        self.log = (output / "log.txt").open("w", encoding="utf-8")  # closed by run()

    def left(self) -> float:
        return self.end - time.monotonic()

    def begin(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        self.log.write(f"\n==== {' '.join(command)}\n")
        self.log.flush()
        process = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT,
                                   errors="replace", start_new_session=True)
        self.running.append(process)
        return process

    def finish(self, process: subprocess.Popen[str], limit: float) -> tuple[int | None, str]:
        """Exit code and output; None if it had to be ended."""
        code: int | None
        try:
            said, _ = process.communicate(timeout=max(limit, 0.1))
            code = process.returncode
        except subprocess.TimeoutExpired:
            self.kill(process)
            try:
                said, _ = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:  # it hangs inside of the driver: go on without it
                said = ""
            code = None
        self.running.remove(process)
        self.log.write(said)
        self.log.flush()
        return code, said

    @staticmethod
    def kill(process: subprocess.Popen[str]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own session, see begin()

    def stop(self) -> None:
        for process in self.running:
            self.kill(process)

    def run(self, part: Part, command: list[str], environment: dict[str, str], limit: float,
            understand: Callable[[int, str], dict[str, Any]]) -> Part:
        """Runs a part. `understand` makes its result of exit code and output, and raises Fault."""
        limit = min(limit, self.left())
        if limit < 5:
            part.outcome = "not run: the time is over"
        else:
            began = time.monotonic()
            code, said = self.finish(self.begin(command, environment), limit)
            part.seconds = time.monotonic() - began
            part.outcome = f"ended after {limit:.0f} s" if code is None else "ok"
            if code is not None:
                try:
                    part.result = understand(code, said)
                except Fault as fault:
                    part.outcome = str(fault)
        return self.note(part)

    def note(self, part: Part) -> Part:
        self.parts.append(part)
        size = f", {part.contacts} contacts" if part.contacts else ""
        say(f"{part.machine}, {part.name}{size}: {part.outcome} ({part.seconds:.1f} s)")
        write_results(self)
        return part


def understand_tests(code: int, said: str) -> dict[str, Any]:
    """Catch2's last lines."""
    cases = re.search(r"^test cases:\s*(\d+)(.*)$", said, re.M)
    passed = re.search(r"All tests passed \(.* in (\d+) test cases?\)", said)
    failed = int(m.group(1)) if cases and (m := re.search(r"(\d+) failed", cases.group(2))) else 0
    result = {"cases": int(passed.group(1)) if passed else int(cases.group(1)) if cases else 0,
              "failed": failed}
    if code != 0 or result["cases"] == 0:
        raise Fault(f"{failed} of {result['cases']} test cases failed" if failed else ending(code))
    return result


def understand_kernels(path: Path, kernels: Iterable[str]) -> Callable[[int, str], dict[str, Any]]:
    """Seconds a call and bytes per second of each kernel, from Google Benchmark's file."""
    def understand(code: int, said: str) -> dict[str, Any]:
        if code != 0:
            raise Fault(f"{ending(code)}{last_line(said)}")
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            contacts = int(re.findall(r"(\d+) contacts", data["context"]["problem"])[0])
            result = {}
            for run in data["benchmarks"]:
                seconds = run["real_time"] * UNITS[run["time_unit"]]
                result[run["name"]] = {"seconds": seconds,
                                       "rate": run["bytes/contact"] * contacts / seconds}
        except (OSError, ValueError, KeyError, IndexError, ZeroDivisionError) as error:
            raise Fault(f"no numbers of ccpbench-micro: {error!r}") from error
        missing = [name for name in ("copy", *kernels) if name not in result]
        if missing:
            raise Fault(f"no numbers of {', '.join(missing)}")
        return result
    return understand


def understand_solve(code: int, said: str) -> dict[str, Any]:
    """When residuals were reached, from `solve --json`; not to reach one is no fault."""
    begin = said.find("{")
    if code not in (0, 3) or begin < 0:
        raise Fault(f"{ending(code)}{last_line(said)}")
    try:
        data, _ = json.JSONDecoder().raw_decode(said[begin:])
        result = {key: data[key] for key in ("contacts", "status", "setup_time", "time", "outer",
                                             "krylov")}
        result["residual"] = data["measures"]["residual"]
        for row in data["targets"]:
            text = next(t for t in TARGETS if float(t) == row["value"])
            if row["time"] is not None:
                result[f"time to {text}"], result[f"outer to {text}"] = row["time"], row["outer"]
    except (ValueError, KeyError, TypeError, StopIteration) as error:
        raise Fault(f"not the output of solve --json: {error!r}") from error
    if not result["residual"] >= 0:
        raise Fault(f"the residual is {result['residual']}")
    return result


def last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f": {lines[-1]}" if lines else ""


# ---- what is written -----------------------------------------------------------------------------

def number(value: Any, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}g}"


def kernel_rows(parts: list[Part]) -> list[list[str]]:
    rows = []
    runs = [part for part in parts if part.kind == "kernels"]
    for contacts, title in dict.fromkeys((part.contacts or 0, part.name) for part in runs):
        at = {part.machine: part for part in runs
              if (part.contacts, part.name) == (contacts, title)}
        for name, words in {"copy": f"copy, before {title}", **PRODUCTS[title]}.items():
            row = [f"{contacts:,}", words]
            for machine in ("device", "cpu"):
                part = at.get(machine)
                if part and part.ok:
                    mine, copy = part.result[name], part.result["copy"]
                    row += [number(1e6 * mine["seconds"]), number(1e-9 * mine["rate"]),
                            f"{mine['rate'] / copy['rate']:.2f}"]
                else:
                    row += [part.outcome if part else "–", "–", "–"]
            rows.append(row)
    return rows


def solve_rows(parts: list[Part]) -> list[list[str]]:
    rows = []
    runs = [part for part in parts if part.kind == "solve"]
    for contacts, name in dict.fromkeys((part.contacts, part.name) for part in runs):
        at = {part.machine: part for part in runs if (part.contacts, part.name) == (contacts, name)}
        row = [f"{contacts or 0:,}", f"`{name}`"]
        for machine in ("device", "cpu"):
            part = at.get(machine)
            if part and part.ok:
                row.append(number(part.result["setup_time"]))
                for text in TARGETS:
                    found = part.result.get(f"time to {text}")
                    outer = part.result.get(f"outer to {text}")
                    row.append("–" if found is None else f"{number(found)} ({outer})")
                row += [number(part.result["residual"], 2),
                        number(1e3 * part.result["time"] / max(part.result["outer"], 1))]
            else:
                row += [part.outcome if part else "–", "–", "–", "–", "–"]
        rows.append(row)
    return rows


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def table(runner: Runner) -> str:
    context = runner.context
    text = "# The run on a device\n\n"
    if context.get("rehearsal"):
        text += "**A rehearsal without a GPU**: the columns of the device are a processor's.\n\n"
    text += "".join(f"* {key}: {value}\n" for key, value in context.items())
    tests = [part for part in runner.parts if part.kind == "test"]
    good = sum(part.ok for part in tests)
    text += f"\n## Unit tests: {good} of {len(tests)} programs\n\n"
    text += markdown(["program", "cases", "outcome", "s"], [
        [part.name, str(part.result.get("cases", "–")), part.outcome, f"{part.seconds:.1f}"]
        for part in tests])
    text += ("\n## Products\n\nTime of a call, bytes that it must move over that time, and that as "
             "a share of what a copy of as\nmany bytes reaches.\n\n")
    text += markdown(["contacts", "", "device, µs", "GB/s", "share", "processor, µs", "GB/s",
                      "share"], kernel_rows(runner.parts))
    text += "\n## Solves\n\nSeconds (outer iterations) to a residual.\n\n"
    text += markdown(["contacts", "solver",
                      *(f"{machine}{name}" for machine in ("device: ", "processor: ")
                        for name in ("setup, s", *TARGETS, "reached", "ms an iteration"))],
                     solve_rows(runner.parts))
    bad = [part for part in runner.parts if not part.ok]
    if bad:
        text += "\n## What did not go well\n\n"
        text += "".join(f"* {part.machine}, {part.name}: {part.outcome}\n" for part in bad)
    return text


def write_results(runner: Runner) -> None:
    """results.json, results.csv and table.md, each whole or as it was before."""
    def replace(name: str, write: Callable[[Any], object]) -> None:
        partial = runner.output / f"{name}.part"
        with open(partial, "w", encoding="utf-8", newline="") as out:
            write(out)
        partial.replace(runner.output / name)

    parts = [vars(part) for part in runner.parts]
    replace("results.json", lambda out: json.dump({"context": runner.context, "parts": parts}, out,
                                                  indent=1))

    def as_csv(out: Any) -> None:
        writer = csv.writer(out)
        writer.writerow(["kind", "machine", "name", "contacts", "outcome", "seconds", "quantity",
                         "value"])
        for part in runner.parts:
            lead = [part.kind, part.machine, part.name, part.contacts, part.outcome,
                    f"{part.seconds:.2f}"]
            flat = [(f"{key} {inner}", x) for key, value in part.result.items()
                    if isinstance(value, dict) for inner, x in value.items()]
            flat += [(k, v) for k, v in part.result.items() if not isinstance(v, dict)]
            for key, value in flat or [("", "")]:
                writer.writerow([*lead, key, value])
    replace("results.csv", as_csv)
    replace("table.md", lambda out: out.write(table(runner)))


# ---- the parts, in order -------------------------------------------------------------------------

def find_gpu(needed: bool) -> tuple[str, float]:
    """Name of the GPU and its free memory, bytes. @raises Fault if one is needed and none there"""
    try:
        query = "--query-gpu=name,memory.total,memory.free,driver_version"
        done = subprocess.run(["nvidia-smi", query, "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, timeout=30, check=False)
        words = [word.strip() for word in done.stdout.splitlines()[0].split(",")]
        return f"{words[0]}, {words[1]} MiB, driver {words[3]}", float(words[2]) * 2**20
    except (OSError, IndexError, ValueError, subprocess.TimeoutExpired):
        if needed:
            raise Fault("there is no GPU here: nvidia-smi names none. Without one, --rehearse runs "
                        "everything with a build for the processor in its place") from None
        return "none", 0


def available_memory() -> float:
    text = Path("/proc/meminfo").read_text(encoding="utf-8")
    found = re.search(r"^MemAvailable:\s*(\d+) kB", text, re.M)
    return float(found.group(1)) * 1024 if found else 0


def know_build(runner: Runner, build: Build, machine: str) -> None:
    """Which back end it has. @raises Fault if the program does not start"""
    program = build.program("harness/ccpbench")
    if not Path(program).is_file():
        raise Fault(f"{build.folder}: expected the program harness/ccpbench, found none")
    code, said = runner.finish(runner.begin([program, "--version"], build.environment(1)), 60)
    found = re.search(r"^Kokkos\s+\S+, (\w+)", said, re.M)
    if code != 0 or not found:
        how = "it did not end" if code is None else ending(code)
        raise Fault(f"{program} --version: {how}{last_line(said)}")
    build.backend = found.group(1)
    commit = re.search(r"^commit\s+(\S+)", said, re.M)
    compiled = re.search(r"^compiler\s+(.+)", said, re.M)
    runner.context[machine] = (f"Kokkos {build.backend}, {build.threads} threads on the host, "
                               f"commit {commit.group(1)[:12] if commit else 'unknown'}, "
                               f"{compiled.group(1) if compiled else ''}")


def run_tests(runner: Runner, build: Build, together: float) -> None:
    end = runner.left() - together
    for test in TESTS:
        program = build.folder / "tests" / test
        if not program.is_file():
            continue
        part = Part("test", "device", test, None)
        if runner.left() <= end:
            part.outcome = f"not run: tests have {together:.0f} s together"
            runner.note(part)
            continue
        runner.run(part, [str(program)], build.environment(build.threads),
                   min(45, runner.left() - end + 5), understand_tests)


def run_products(runner: Runner, build: Build, machine: str, copies: int, limit: float,
                 memory: float) -> None:
    contacts = copies * PROBLEM_CONTACTS
    environment = {**build.environment(build.threads), "CCPBENCH_MICRO_COPIES": str(copies),
                   "CCPBENCH_MICRO_PROBLEM": str(PROBLEM)}
    needs = contacts * HOST_BYTES
    for title, kernels in PRODUCTS.items():
        part = Part("kernels", machine, title, contacts)
        if needs > 0.8 * available_memory() or (memory and contacts * DEVICE_BYTES > memory / 2):
            part.outcome = f"not run: {needs / 1e9:.0f} GB of memory are not there"
            runner.note(part)
            continue
        path = runner.output / f"kernels-{machine}-{copies}.json"
        names = "|".join(["copy", *kernels])
        command = [build.program("harness/ccpbench-micro"), f"--benchmark_filter=^({names})$",
                   "--benchmark_min_time=0.2", f"--benchmark_out={path}",
                   "--benchmark_out_format=json"]
        runner.run(part, command, environment, limit, understand_kernels(path, kernels))
        path.unlink(missing_ok=True)


def run_solve(runner: Runner, build: Build, machine: str, problem: Path, contacts: int,
              solver: str, seconds: float) -> None:
    command = [build.program("harness/ccpbench"), "solve", str(problem), "--solver", solver,
               "--stop", f"residual={TARGETS[-1]}", "--time-limit", f"{seconds:g}", "--json",
               "--threads", str(build.threads), "--targets",
               ",".join(f"residual={text}" for text in TARGETS)]
    runner.run(Part("solve", machine, solver, contacts), command, build.environment(build.threads),
               2 * seconds + 15, understand_solve)


def run(given: argparse.Namespace) -> int:
    gpu, memory = find_gpu(needed=not given.rehearse)
    with tempfile.TemporaryDirectory() as scratch:
        if given.build:
            device = Build(Path(given.build).resolve())
            processor = Build(Path(given.cpu_build).resolve()) if given.cpu_build else None
        else:
            device, processor = unpacked(Path(scratch))
        runner = Runner(Path(given.output), given.budget)
        runner.context["gpu"] = gpu
        try:
            return run_parts(runner, given, device, processor, memory, Path(scratch) / "pile.h5")
        finally:
            runner.stop()
            runner.log.close()


def unpacked(scratch: Path) -> tuple[Build, Build | None]:
    archive = ROOT / "build/device" / ARCHIVE
    if not archive.is_file():
        raise Fault(f"{archive.relative_to(ROOT)}: no such archive; scripts/test --cuda-pack makes "
                    "it of a build, or name a build with --build")
    say(f"unpacking {archive.relative_to(ROOT)}")
    with tarfile.open(archive) as packed:
        packed.extractall(scratch, filter="data")
    for name in ("device", "cpu"):
        if (scratch / name).is_dir():  # where a program finds problems: beside it, as if installed
            (scratch / name / "share").mkdir()
            (scratch / name / "share/ccpbench").symlink_to(ROOT)
    processor = scratch / "cpu"
    return Build(scratch / "device"), Build(processor) if processor.is_dir() else None


def run_parts(runner: Runner, given: argparse.Namespace, device: Build, processor: Build | None,
              memory: float, pile: Path) -> int:
    know_build(runner, device, "device")
    if device.backend != "Cuda" and not given.rehearse:
        raise Fault(f"{device.folder}: expected a build with Kokkos Cuda, found {device.backend}")
    runner.context["rehearsal"] = given.rehearse
    if processor:
        know_build(runner, processor, "cpu")

    # The pile is made on the processor while the device is tested.
    making = None
    pile_contacts = round(4.456 * given.pile_spheres)
    if processor and given.pile_spheres:
        making = runner.begin([processor.program("harness/ccpbench"), "generate", "tiled-pile",
                               "--spheres", str(given.pile_spheres), "--contacts",
                               str(pile_contacts), "--tiles", "2", "-o", str(pile)],
                              processor.environment(1))
    began = time.monotonic()
    run_tests(runner, device, given.tests_limit)
    largest = given.contacts
    copies = [k for k in COPIES if k == 1 or k * PROBLEM_CONTACTS <= 1.1 * largest]
    for k in copies:
        run_products(runner, device, "device", k, 20 + 0.1 * k, memory)
    for solver in SOLVERS:
        run_solve(runner, device, "device", PROBLEM, PROBLEM_CONTACTS, solver, given.seconds)
    if making:
        part = Part("pile", "cpu", "generate tiled-pile", pile_contacts)
        code, said = runner.finish(making, min(150 - (time.monotonic() - began), runner.left()))
        part.seconds = time.monotonic() - began
        part.outcome = ("ended: it took too long" if code is None else
                        "ok" if code == 0 else f"{ending(code)}{last_line(said)}")
        runner.note(part)
        if part.ok:
            for solver in SOLVERS[1:]:
                run_solve(runner, device, "device", pile, pile_contacts, solver, given.seconds)
    if processor:
        for k in copies[:3]:
            run_products(runner, processor, "cpu", k, 20 + 0.1 * k, 0)
        for solver in SOLVERS:
            run_solve(runner, processor, "cpu", PROBLEM, PROBLEM_CONTACTS, solver, given.seconds)
        if pile.is_file():
            for solver in SOLVERS[1:4]:
                run_solve(runner, processor, "cpu", pile, pile_contacts, solver, given.seconds)
    runner.context["seconds"] = round(time.monotonic() - runner.start)
    write_results(runner)
    print(table(runner))
    bad = [part for part in runner.parts if not part.ok]
    say(f"{runner.output}/results.json, results.csv, table.md, log.txt; "
        f"{runner.context['seconds']} s")
    if bad:
        say(f"{len(bad)} of {len(runner.parts)} parts did not go well")
    return 1 if bad else 0


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/test", description="see scripts/test --help")
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", prog="scripts/test --cuda-pack")
    packing.add_argument("--build", default="build/cuda", metavar="FOLDER",
                         help="build for the device (default: build/cuda)")
    packing.add_argument("--cpu-build", metavar="FOLDER", help="build for the processor")
    running = commands.add_parser("run", prog="scripts/test --cuda")
    running.add_argument("--build", metavar="FOLDER",
                         help="build to run (default: what --cuda-pack has packed)")
    running.add_argument("--cpu-build", metavar="FOLDER", help="build for the processor beside it")
    running.add_argument("--rehearse", action="store_true",
                         help="any back end will do in the place of CUDA")
    running.add_argument("--output", metavar="FOLDER", default=os.environ.get("OUT") or
                         "build/device/results", help="default: $OUT, else build/device/results")
    running.add_argument("--budget", type=float, default=460, metavar="S",
                         help="all parts together")
    running.add_argument("--tests-limit", type=float, default=120, metavar="S",
                         help="all unit tests together")
    running.add_argument("--seconds", type=float, default=10, metavar="S", help="of a solve")
    running.add_argument("--contacts", type=float, default=5e7, metavar="N",
                         help="products with up to so many")
    running.add_argument("--pile-spheres", type=int, default=100000, metavar="N",
                         help="of the large pile; 0: none")
    given = parser.parse_args(words)
    os.chdir(ROOT)
    try:
        if given.command == "run":
            if given.cpu_build and not given.build:
                raise Fault("--cpu-build is for a run with --build; an archive has its own")
            return run(given)
        if not shutil.which("strip"):
            raise Fault("no `strip` on the path (Debian: binutils)")
        pack(Path(given.build), Path(given.cpu_build) if given.cpu_build else None,
             ROOT / "build/device")
    except (Fault, OSError) as fault:
        print(f"[device] failed: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
