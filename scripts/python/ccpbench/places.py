"""Where the program and what comes with it are."""
import os
import shutil
from pathlib import Path

# Of the source tree or of PREFIX/share/ccpbench; both have scripts/python/ccpbench. After
# `pip install` alone there is neither, and everything here comes from the program or the path.
# (An installation may lie so close to the root that there is nothing so far up.)
ROOT = Path(os.path.normpath(Path(__file__).resolve() / "../../../.."))


def find_program(given: str | None = None) -> str | None:
    """The ccpbench program: `given` or none, else $CCPBENCH, the build tree's, the prefix' own, or
    the first on the path."""
    places = [given] if given else [os.environ.get("CCPBENCH"),
                                    ROOT / "build/serial/harness/ccpbench",
                                    ROOT / "../../bin/ccpbench", "ccpbench"]
    for place in places:
        found = shutil.which(str(place)) if place else None
        if found:
            return str(Path(found).resolve())
    return None
