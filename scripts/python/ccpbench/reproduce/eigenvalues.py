"""Frozen Newton systems and the ends of their spectra, for Kleinert 2014 and 2017."""
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ccpbench.reproduce.drawing import set_scale
from ccpbench.reproduce.workshop import Workshop
from ccpbench.results import Instance, made_of
from ccpbench.spectrum import write_bounds
from ccpbench.styles import style_of

SPREAD_AT = "0:60:3"  # outer iterations whose systems are looked at

Ends = dict[str, list[NDArray[Any]]]  # {preconditioner: [outer, low, high]}


@dataclass
class Spectra:
    """A file of `ccpbench precond`: where it comes from, and what it holds."""
    made: dict[str, str]
    instance: Instance
    ends: Ends


def freeze(shop: Workshop, file: str, solver: str, preconditioners: str, steps: int) -> None:
    """Frozen systems of a solve of Test Problem 1, and the ends of their spectra: FILE.h5 and
    FILE-ends.h5.
    @param steps  of Lanczos' method"""
    systems, ends = (shop.folder / f"{file}{part}.h5" for part in ("", "-ends"))
    source = shop.problem(1)
    if not systems.exists():  # 3: the solve ended before the last system
        shop.run("freeze-systems", source, "--solver", solver, "--at", SPREAD_AT, "-o", systems,
                 accept=(0, 3))
    if not ends.exists():
        shop.run("precond", systems, "--problem", source, "--preconditioner", preconditioners,
                 "--max-iterations", 1, "--eigenvalue-steps", steps, "--quiet", "-o", ends)


def bound(shop: Workshop, *files: str) -> None:
    """Bounds on the low ends of those, where Lanczos' method does not see them: bounds.h5."""
    path = shop.folder / "bounds.h5"
    if not path.exists():
        write_bounds(path, shop.problem_file(1),
                     {file: shop.folder / f"{file}.h5" for file in files})


def read_ends(path: Path) -> Spectra:
    """Where bounds on the low end are known, these."""
    with h5py.File(path) as file:
        rows = file["rows"]
        name = rows["preconditioner"].asstr()[()]
        columns = [rows[key][()] for key in ("outer", "eigenvalue_low", "eigenvalue_high")]
        instance = int(file.attrs["contacts"]), str(file.attrs["instance"]), ""
        made = made_of(file)
    ends = {one: [column[name == one] for column in columns] for one in dict.fromkeys(name)}
    with h5py.File(path.parent / "bounds.h5") as file:
        for name in {"none", "block_diagonal"} & set(ends):
            ends[name][1] = file[path.stem.replace("-ends", "")][name][()]
    return Spectra(made, instance, ends)


def draw_ends(axes: Any, ends: Ends, labels: Sequence[str]) -> None:
    """Bands from the smallest to the largest eigenvalue; a low end below 0 is left out."""
    x: list[float] = [1]
    y: list[float] = []
    for name, (outer, low, high) in ends.items():
        number = labels.index(name)
        style = dict(style_of(number), markevery=(number % 3, 4))
        for end, value in (("low", low), ("high", high)):
            shown = np.isfinite(value) & (value > 0)
            axes.plot(outer[shown], value[shown], gid=f"{name} {end}", **style)
            x += list(outer[shown])
            y += list(value[shown])
        both = np.isfinite(low) & np.isfinite(high) & (low > 0)
        axes.fill_between(outer[both], low[both], high[both], color=style["color"], alpha=0.1,
                          linewidth=0)
    set_scale(axes, x, [min(max(value, 1e-15), 1e15) for value in y], False)
    axes.set(xlabel="outer iterations done", ylabel="smallest and largest eigenvalue")
