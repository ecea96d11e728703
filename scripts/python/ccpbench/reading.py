"""HDF5 files of anybody: whatever is wrong with one is told in one sentence, its name first."""
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import h5py


class DamagedFile(ValueError, OSError):
    """Of a file of somebody: foreign or damaged, whatever reads it."""


def text_of(attributes: Any, name: str, otherwise: str | None = None) -> str:
    """@param otherwise  where there is no such attribute (default: an error)
    @throws KeyError, ValueError  it is not there, or is no text"""
    found = attributes[name] if otherwise is None else attributes.get(name, otherwise)
    if not isinstance(found, str):
        raise ValueError(f"attribute {name}: expected a text, found {type(found).__name__}")
    return found


def unreadable(path: str | os.PathLike[str], error: OSError) -> str:
    """What is wrong with a file that HDF5 cannot open, in our words."""
    if os.path.isdir(path):
        return "expected a file, found a folder"
    if not os.path.exists(path):
        return "no such file"
    return ("expected an HDF5 file, found something else or a part of one "
            f"({' '.join(str(error).split())})")


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The open file.

    @throws OSError      it cannot be read (FileNotFoundError: it is not there)
    @throws DamagedFile  a ValueError: what is read of it, in the block, is not as it should be
    """
    try:
        with h5py.File(path, "r") as file, laid_out(os.fspath(path)):
            yield file
    except DamagedFile:
        raise
    except OSError as error:
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else OSError
        raise kind(f"{os.fspath(path)}: {unreadable(path, error)}") from error


@contextmanager
def laid_out(where: str) -> Iterator[None]:
    """Whatever another layout than that of its format makes of a reader is one DamagedFile.
    @param where  the file, and the place in it"""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, of values that are refused afterwards
            yield
    except DamagedFile:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError,
            RuntimeError) as error:
        text = " ".join(str(error.args[0] if error.args else error).split())
        if not isinstance(error, (KeyError, ValueError)):
            text = f"expected another layout ({type(error).__name__}: {text})"
        raise DamagedFile(text if text.startswith(where) else f"{where}: {text}") from error
