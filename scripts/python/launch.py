"""Starts a command of the package beside this file, from the source tree or an installed prefix.

The scripts one folder up are this and a line. Nothing is imported here that Python does not bring
along: the Python that comes first on the path may lack what the package needs.
"""
import importlib
import os
import sys

DEBIAN = "/usr/bin/python3"


def run(module: str) -> None:
    """Calls the module's main() and exits with what it returns."""
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    try:
        command = importlib.import_module(module).main
    except ImportError as missing:
        use_debian_python(missing)
    sys.exit(command())


def use_debian_python(error: ImportError) -> None:
    """Starts the program again with the Python that Debian's packages belong to."""
    if os.path.exists(DEBIAN) and os.path.realpath(sys.executable) != os.path.realpath(DEBIAN):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    package = "python3-" + (error.name or "matplotlib").split(".")[0]
    sys.exit(f"{os.path.basename(sys.argv[0])}: {error} (Debian package {package})")
