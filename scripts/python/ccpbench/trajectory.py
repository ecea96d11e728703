"""Trajectories of simulations (docs/trajectory-format.md): what every step was like, and where the
bodies were after every k-th."""
import os
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ccpbench.arrays import Floats, Integers
from ccpbench.problem import whole_or_not
from ccpbench.reading import opened
from ccpbench.results import told

VERSION = 1
Texts = list[str]


@dataclass
class Trajectory:
    """SI units, world axes; s steps, f frames of b bodies, o obstacles."""
    scene: str
    options: str                  # name=value,... of all of its options
    stepper: str
    solver: str
    steps: dict[str, NDArray[Any]]  # by name of the format, [s] each: time, contacts, outer, ...
    status: Texts                 # [s], of the solver
    frame_step: Integers          # [f], steps made before the frame; the first is the start
    position: Floats              # [f][b][3], m
    orientation: Floats           # [f][b][4], unit quaternions w, x, y, z
    velocity: Floats              # [f][b][6], m/s and rad/s
    body_shape: Texts             # [b]
    body_size: Floats             # [b][3], m
    obstacle_shape: Texts = field(default_factory=list)  # [o]
    obstacle_size: Floats = field(default_factory=lambda: np.zeros((0, 3)))  # [o][3], m
    obstacle_force: Floats | None = None  # [s][o][3], N, mean over the step
    provenance: dict[str, str] = field(default_factory=dict)
    deformation: Floats | None = None       # [f][b][3][3], F of pseudo-rigid bodies; zero of others
    deformation_rate: Floats | None = None  # [f][b][3][3], 1/s

    @property
    def made(self) -> dict[str, str]:
        """How it was made, as figures say it."""
        return told(self.provenance)

    @property
    def option(self) -> dict[str, str]:
        """Every option of the scene by its name."""
        return dict(part.split("=", 1) for part in self.options.split(",") if part)

    @property
    def time(self) -> Floats:
        """[s], s, at the end of each step."""
        return self.steps["time"]

    @property
    def frame_time(self) -> Floats:
        """[f], s."""
        times: Floats = np.append(0.0, self.time)[self.frame_step]
        return times


OF_STEPS = {"time": "<f8", "contacts": "<i8", "outer": "<i8", "krylov": "<i8", "solver_time": "<f8",
            "residual": "<f8", "penetration": "<f8", "kinetic": "<f8", "potential": "<f8"}
DEFORMATIONS = ("deformation", "deformation_rate")


def arrays_of(trajectory: Trajectory) -> dict[str, tuple[NDArray[Any], tuple[int, ...]]]:
    """By path in the file: the values, in its types, and the extents that they must have."""
    steps, frames = len(trajectory.status), len(trajectory.frame_step)
    bodies, obstacles = len(trajectory.body_shape), len(trajectory.obstacle_shape)
    arrays: dict[str, tuple[Any, str, tuple[int, ...]]] = {
        **{f"steps/{name}": (trajectory.steps[name], kind, (steps,))
           for name, kind in OF_STEPS.items()},
        "frames/step": (trajectory.frame_step, "<i8", (frames,)),
        "bodies/position": (trajectory.position, "<f8", (frames, bodies, 3)),
        "bodies/orientation": (trajectory.orientation, "<f8", (frames, bodies, 4)),
        "bodies/velocity": (trajectory.velocity, "<f8", (frames, bodies, 6)),
        "bodies/size": (trajectory.body_size, "<f8", (bodies, 3))}
    for name in DEFORMATIONS:
        if (values := getattr(trajectory, name)) is not None:
            arrays[f"bodies/{name}"] = (values, "<f8", (frames, bodies, 3, 3))
    if obstacles:
        force = trajectory.obstacle_force
        arrays["obstacles/force"] = (np.zeros((steps, obstacles, 3)) if force is None else force,
                                     "<f8", (steps, obstacles, 3))
        arrays["obstacles/size"] = (trajectory.obstacle_size, "<f8", (obstacles, 3))
    return {path: (np.asarray(values, kind), shape)
            for path, (values, kind, shape) in arrays.items()}


def check(trajectory: Trajectory, where: str) -> None:
    """@throws ValueError  extents do not fit, or times and frames do not ascend"""
    for path, (values, shape) in arrays_of(trajectory).items():
        if values.shape != shape:
            raise ValueError(f"{where}: /{path}: expected the shape {shape}, found {values.shape}")
    ascending: dict[str, Any] = {"steps/time": trajectory.time,
                                 "frames/step": trajectory.frame_step}
    for path, values in ascending.items():
        if not (np.diff(values) > 0).all():
            raise ValueError(f"{where}: /{path}: expected ascending values, found others")
    if len(trajectory.frame_step) and trajectory.frame_step[-1] > len(trajectory.time):
        raise ValueError(f"{where}: /frames/step: expected at most {len(trajectory.time)} steps, "
                         f"found {trajectory.frame_step[-1]}")


def read_trajectory(path: str | os.PathLike[str]) -> Trajectory:
    """A trajectory, or a checkpoint as far as it is one.

    @throws OSError    the file cannot be read
    @throws ValueError  it is no trajectory of this version, or a damaged one
    """
    where = os.fspath(path)
    with opened(path) as file:
        root = file.attrs
        if root.get("format") != "ccpbench-trajectory" or root.get("version") != VERSION:
            raise ValueError(f"{where}: expected a ccpbench trajectory file of version {VERSION}, "
                             f"found {root.get('format')!r} of version {root.get('version')}")
        moves = "obstacles/shape" in file
        trajectory = Trajectory(
            scene=str(root["scene"]), options=str(root["options"]),
            stepper=str(root["stepper"]), solver=str(root["solver"]),
            steps={name: file[f"steps/{name}"][()] for name in OF_STEPS},
            status=texts(file["steps/status"]), frame_step=file["frames/step"][()],
            position=file["bodies/position"][()], orientation=file["bodies/orientation"][()],
            velocity=file["bodies/velocity"][()], body_shape=texts(file["bodies/shape"]),
            body_size=file["bodies/size"][()],
            obstacle_shape=texts(file["obstacles/shape"]) if moves else [],
            obstacle_size=file["obstacles/size"][()] if moves else np.zeros((0, 3)),
            obstacle_force=file["obstacles/force"][()] if moves else None,
            **{name: file[f"bodies/{name}"][()] for name in DEFORMATIONS
               if f"bodies/{name}" in file},
            provenance={name: str(value) for name, value in
                        (file["provenance"].attrs.items() if "provenance" in file else ())})
        check(trajectory, where)
        return trajectory


def texts(dataset: Any) -> Texts:
    """Of a dataset of strings."""
    return [text.decode() if isinstance(text, bytes) else str(text) for text in dataset[()]]


def write_trajectory(path: str | os.PathLike[str], trajectory: Trajectory,
                     force: bool = False) -> None:
    """A file that `ccpbench check`, `info` and `export vtk --series` read.

    @throws FileExistsError  if there is one, without `force`
    @throws ValueError       an array has another shape than it should
    """
    check(trajectory, os.fspath(path))
    with whole_or_not(path, force) as file:
        file.attrs.update({"format": "ccpbench-trajectory", "version": np.int64(VERSION),
                           "scene": trajectory.scene, "options": trajectory.options,
                           "stepper": trajectory.stepper, "solver": trajectory.solver})
        for name, (values, _) in arrays_of(trajectory).items():
            file[name] = values
        of_text = {"steps/status": trajectory.status, "bodies/shape": trajectory.body_shape}
        if trajectory.obstacle_shape:
            of_text["obstacles/shape"] = trajectory.obstacle_shape
        for name, rows in of_text.items():
            file[name] = np.array(rows, h5py.string_dtype())
        file.create_group("provenance").attrs.update(trajectory.provenance)
