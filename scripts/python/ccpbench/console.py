"""What the commands have in common."""
import argparse
import math
import signal
import sys
from pathlib import Path


def complain(message: object) -> None:
    """A line on standard error, after the name that the program was called by."""
    print(f"{Path(sys.argv[0]).stem}: {message}", file=sys.stderr)


def positive_number(text: str) -> float:
    """A number for argparse: no NaN, infinity, zero or less."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number > 0, found '{text[:40]}'")
    return value


def end_with_the_reader() -> None:
    """`plot DIR | head` is no error."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
