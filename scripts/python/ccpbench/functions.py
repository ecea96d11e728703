"""Solvers written as Python functions, judged like all others.

The program starts somebody else's solver as a process (docs/add-an-external-solver.md). Here that
process (`client.py`) asks the Python session that has the function: `Host` answers by a fork of the
session, which computes and writes the answer. So a function may use whatever the session has, is
killed when its time is over, and a crash of it is a row of the table.
"""
import contextlib
import hashlib
import inspect
import json
import os
import platform
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from ccpbench.arrays import Floats
from ccpbench.client import SOCKET
from ccpbench.problem import Problem, read_problem, write_answer

FEATURES = {"compliant": "compliant contacts (/contacts/compliance)",
            "rolling": "rolling resistance (/rolling)",
            "equality": "equality constraints (/equality)"}  # as solvers/registry.cpp names them
APART = 1.1  # kept iterates are so many times as late as the one before


class OutOfTime(Exception):
    """Ends a function at its time limit; the last iterate that it reported is its answer."""


class Look:
    """What a function calls with its iterates, `look(gamma)`; its clock stands still meanwhile."""

    def __init__(self, time_limit: float = float("inf")):
        self.time_limit = time_limit
        self.iterations = 0
        self.kept: list[tuple[float, int, Floats]] = []
        self.last: Floats | None = None
        self._begin = time.perf_counter()
        self._excluded = 0.0

    @property
    def time(self) -> float:
        """Seconds of solving so far."""
        return time.perf_counter() - self._begin - self._excluded

    def __call__(self, gamma: ArrayLike) -> None:
        """@param gamma  impulses, [t][3] or [3t], N s. @throws OutOfTime"""
        now, begin = self.time, time.perf_counter()
        self.iterations += 1
        self.last = np.array(gamma, float)
        if not self.kept or now >= APART * self.kept[-1][0]:
            self.kept.append((now, self.iterations, self.last))
        self._excluded += time.perf_counter() - begin
        if now > self.time_limit:
            raise OutOfTime


class External:
    """A solver of the reader's own; `external` makes it of a function."""

    def __init__(self, function: Callable[..., ArrayLike], name: str, law: str = "convex",
                 features: Sequence[str] = ()):
        features = (features,) if isinstance(features, str) else tuple(features)
        if law not in ("convex", "coulomb"):
            raise ValueError(f"law: expected convex or coulomb, found {law}")
        for feature in features:
            if feature not in FEATURES:
                raise ValueError(f"features: expected some of {', '.join(FEATURES)}, found "
                                 f"{feature}")
        self.function, self.name, self.law, self.features = function, name, law, features
        self.looks = len(inspect.signature(function).parameters) > 1

    def __call__(self, problem: Problem, look: Callable[[ArrayLike], None] | None = None) -> Any:
        """Calls the function, unjudged.

        @throws ValueError  the problem has something that it does not say it takes
        """
        for feature in problem.features:
            if feature not in self.features:
                raise ValueError(f"{self.name} does not say that it takes problems with "
                                 f"{FEATURES[feature]} (features: {feature})")
        if not self.looks:
            return self.function(problem)
        return self.function(problem, Look() if look is None else look)

    @property
    def digest(self) -> str:
        """Changes with the function's text: studies make its runs again then."""
        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):  # typed into a session that keeps no sources
            text = repr(self.function.__code__.co_code)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def answer(self, problem_path: str, output: str, time_limit: float) -> None:
        """Solves a problem file, and writes what the program reads.

        @throws ValueError  the function returned no impulses
        """
        problem = read_problem(problem_path)
        look = Look(time_limit)
        try:
            gamma: Any = self(problem, look)
        except OutOfTime:
            gamma = look.last
        elapsed = look.time
        found = np.asarray(gamma if gamma is not None else np.zeros(0), float)
        if found.size != 3 * problem.triples:
            what = "triple" if problem.pools else "contact"
            raise ValueError(f"{self.name} returned {found.size} numbers; expected impulses, "
                             f"{3 * problem.triples} numbers (3 per {what})")
        write_answer(output, found, look.kept, solve_time=elapsed,
                     iterations=max(look.iterations, 1),
                     version=f"Python {platform.python_version()}, NumPy {np.__version__}")


def external(function: Callable[..., ArrayLike] | None = None, *, name: str | None = None,
             law: str = "convex", features: Sequence[str] = ()) -> Any:
    """Makes a solver of a function: `@ccpbench.external` above `def mine(problem)`, or above
    `def mine(problem, look)` to report iterates on the way, as `look(gamma)`.

    The function gets a Problem and returns impulses, [t][3] or [3t], N s, in contact axes, with
    t = n triples where there are only contacts. Its
    clock runs from its call to its return, less what `look` takes; at the time limit `look` ends
    it.

    @param name  what tables call it: letters, digits, -, _ and . (default: the function's)
    @param law   which problem it solves: convex or coulomb
    @param features  what of problems it takes beyond plain contacts, of compliant, rolling and
                     equality; problems that have something else are not given to it
    """
    def made(function: Callable[..., ArrayLike]) -> External:
        return External(function, name or function.__name__, law, features)
    return made if function is None else made(function)


class Host:
    """Answers the program's processes for the functions of this session; a context manager."""

    def __init__(self, solvers: Sequence[External]):
        self.solvers: Mapping[str, External] = {solver.name: solver for solver in solvers}
        if len(self.solvers) < len(solvers):
            raise ValueError("solvers: expected a name of its own for each function, found "
                             + ", ".join(solver.name for solver in solvers))

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="ccpbench-")
        self.path = str(Path(self._folder.name) / "socket")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.path)
        self._socket.listen()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._folder.cleanup()

    @property
    def environment(self) -> dict[str, str]:
        """What the program is to be started with."""
        return {**os.environ, SOCKET: self.path} if self.solvers else dict(os.environ)

    def command(self, solver: External) -> list[str]:
        """What the program is to start for a solver; the same in every session."""
        client = Path(__file__).with_name("client.py")
        return [sys.executable, str(client), solver.name, solver.digest, "{problem}", "{output}",
                "{time_limit}"]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            words = json.loads(connection.makefile().readline())
            sys.stdout.flush()
            with warnings.catch_warnings():  # of threads: the child does not touch them
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                self._work(connection, words)
            code: int | None = None
            while code is None:
                gone, _, _ = select.select([connection], [], [], 0.02)
                if gone and not connection.recv(1):
                    os.kill(child, signal.SIGKILL)  # whoever asked has been killed
                done, status = os.waitpid(child, os.WNOHANG)
                code = os.waitstatus_to_exitcode(status) if done else None
            if code != 0:  # by a signal: it told nothing itself
                with contextlib.suppress(OSError):
                    connection.sendall(f"ended by signal {-code}\n".encode())

    def _work(self, connection: socket.socket, words: Sequence[str]) -> NoReturn:
        """What the fork does, and nothing else; what goes wrong is told in a line."""
        trouble = ""
        try:
            name, problem, output, time_limit = words
            self.solvers[name].answer(problem, output, float(time_limit))
        except BaseException as error:  # noqa: BLE001  (it ends this process, whatever it is)
            place = traceback.extract_tb(error.__traceback__)[-1]
            trouble = f"{type(error).__name__}: {error} (line {place.lineno}, {place.name})"
        with contextlib.suppress(OSError):
            connection.sendall(" ".join(trouble.split()).encode() + b"\n")
        sys.stdout.flush()
        os._exit(0)
