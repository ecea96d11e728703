"""What the commands have in common."""
import signal
import sys
from pathlib import Path


def complain(message: object) -> None:
    """A line on standard error, after the name that the program was called by."""
    print(f"{Path(sys.argv[0]).stem}: {message}", file=sys.stderr)


def end_with_the_reader() -> None:
    """`plot DIR | head` is no error."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
