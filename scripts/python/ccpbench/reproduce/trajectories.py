"""Trajectories of `ccpbench simulate`, read for figures."""
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ccpbench.results import made_of

Floats = NDArray[np.float64]


@dataclass
class Trajectory:
    """A file of docs/trajectory-format.md with a frame after every step; SI units."""
    made: dict[str, str]
    step: dict[str, NDArray[Any]]  # columns of /steps, each [steps]
    time: Floats                   # [frames], the first is 0
    position: Floats               # [frames][bodies][3]
    orientation: Floats            # [frames][bodies][4], w, x, y, z
    velocity: Floats               # [frames][bodies][6], linear, then angular
    force: Floats                  # [steps][obstacles][3], mean over the step

    @property
    def dt(self) -> float:
        return float(self.time[1] - self.time[0])

    def impulse(self) -> Floats:
        """N s that the first obstacle gave to the bodies, upwards, step by step."""
        return np.asarray(-self.force[:, 0, 2] * self.dt)


def read_trajectory(path: Path) -> Trajectory:
    with h5py.File(path) as file:
        columns = {name: data[()] for name, data in file["steps"].items()}
        if file["frames/step"].size != columns["time"].size + 1:
            raise ValueError(f"{path}: expected a frame after every step")
        bodies = file["bodies"]
        return Trajectory(made_of(file), columns, np.concatenate([[0.0], columns["time"]]),
                          bodies["position"][()], bodies["orientation"][()],
                          bodies["velocity"][()], file["obstacles/force"][()])
