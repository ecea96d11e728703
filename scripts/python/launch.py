"""Starts a command of the package beside this file, from the source tree or an installed prefix.

The scripts one folder up are this and a line. Nothing is imported here that Python does not bring
along: the Python that comes first on the path may lack what the package needs.
"""
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

DEBIAN = "/usr/bin/python3"


def run(module: str) -> None:
    """Calls the module's main() and exits with what it returns."""
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

    def command() -> int:
        try:
            main: Callable[[], int] = importlib.import_module(module).main
        except ImportError as missing:
            use_debian_python(missing)
        return main()
    guard(command)


class Interrupted(BaseException):
    """A signal that ends the process, as an exception: what is half written is then removed."""


def interrupt(number: int, _frame: object) -> NoReturn:
    raise Interrupted(number)


def guard(command: Callable[[], int]) -> NoReturn:
    """Exits with what the command returns. Whatever ends it instead is a line, no traceback
    (CCPBENCH_TRACEBACK=1 shows it): what cannot be written, an interrupt, and faults of our own."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, interrupt)
    name = os.path.basename(sys.argv[0])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files may be no text
            stream.reconfigure(errors="backslashreplace")
    try:
        code = command()
        sys.stdout.flush()
    except (KeyboardInterrupt, Interrupted) as end:
        # Whoever started us shall know.
        number = end.args[0] if isinstance(end, Interrupted) else signal.SIGINT
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        code = 128 + number
    except Exception as error:
        if os.environ.get("CCPBENCH_TRACEBACK"):
            raise
        kind = "" if isinstance(error, OSError) else f"internal error, {type(error).__name__}: "
        print(f"{name}: {kind}{error}", file=sys.stderr)
        code = 1
        if isinstance(error, OSError):  # what is left in the buffer cannot be written either
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


def use_debian_python(error: ImportError) -> NoReturn:
    """Starts the program again with the Python that Debian's packages belong to."""
    if os.path.exists(DEBIAN) and os.path.realpath(sys.executable) != os.path.realpath(DEBIAN):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    package = "python3-" + (error.name or "matplotlib").split(".")[0]
    sys.exit(f"{os.path.basename(sys.argv[0])}: {error} (Debian package {package})")
