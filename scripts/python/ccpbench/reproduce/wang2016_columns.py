"""Wang 2016 Fig. 2: columns of spheres by iterations a step, cold and from history."""
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, linear, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

SCENE, SOLVER = "column[spheres=25]", "pgs[law=coulomb,tolerance=0]"
COLUMNS = (("cold", 10), ("cold", 50), ("cold", 500), ("history", 10), ("history", 5))
UNTIL, LAST = 20, 1  # s; the last of them are looked at
PITCH = 6            # cm, between the columns that are drawn


def file_of(folder: Path, start: str, count: int) -> Path:
    return folder / f"{start}-{count}.h5"


def run_pictures(shop: Workshop) -> None:
    """A column each."""
    scene = shop.scene(SCENE)
    shop.motions({file_of(shop.folder, start, count).stem: [
        scene, "--solver", SOLVER, "--fixed-iterations", "--start", start, "--iterations", count,
        "--until", UNTIL] for start, count in COLUMNS}, accept=(0, 3))


def theory(path: Path) -> float:
    """m, of Hertz's law."""
    with h5py.File(path) as file:
        return float(file["summary/values"].attrs["theory"])


def draw_column(axes: Any, motion: Trajectory, place: float, colour: str) -> None:
    """The last frame, in cm."""
    axes.add_collection(PatchCollection(
        [Circle((place, 100 * z), 100 * radius) for z, radius in zip(
            motion.position[-1, :, 2], motion.body_size[:, 0], strict=True)],
        facecolor=colour, alpha=0.5, edgecolor="0.2", linewidth=0.3))


def draw_pictures(folder: Path) -> Figure:
    """The columns; their overlaps by depth; their heights at the end."""
    paths = [file_of(folder, start, count) for start, count in COLUMNS]
    if not all(path.exists() for path in paths):
        raise Failure(f"{folder}: not all of the trajectories are there")
    motions = [read_trajectory(path) for path in paths]
    labels = [f"{start}, {count} iterations" for start, count in COLUMNS]
    sheet = Sheet(motions, [], labels, 1, 3, None, OWN_AXIS, ONE_LINE)
    picture, overlaps, heights = sheet.grid()[0]
    for number, (motion, label, path) in enumerate(zip(motions, labels, paths, strict=True)):
        style = style_of(number)
        draw_column(picture, motion, PITCH * number, style["color"])
        height = theory(path)
        late = motion.frame_time > motion.frame_time[-1] - LAST
        z, radius = motion.position[late, :, 2], motion.body_size[0, 0]
        sunk = 1000 * (2 * radius - np.diff(z, axis=1)).mean(axis=0)
        overlaps.plot(np.arange(sunk.size, 0, -1), sunk, gid=f"overlap, {label}",
                      **dict(style, markevery=4))
        off = 100 * ((z.max(axis=1) + radius) / height - 1)
        heights.plot(motion.frame_time[late] - UNTIL + LAST, off, gid=f"height, {label}",
                     **dict(style, markevery=20))
        print(f"{label}: height {1000 * height * (1 + off.mean() / 100):.2f} mm, off by "
              f"{off.mean():.3f} % ({off.min():.3f} to {off.max():.3f}); overlap at the bottom "
              f"{sunk[0]:.3f} mm; Hertz {1000 * height:.2f} mm")
    picture.axhline(0, color="black", linewidth=0.6)
    picture.axhline(100 * theory(paths[0]), color="black", linewidth=0.6, linestyle="--")
    picture.set(aspect="equal", xlim=(-PITCH / 2, PITCH * (len(COLUMNS) - 0.5)),
                ylim=(-0.5, 104 * theory(paths[0])), ylabel="z [cm]", xticks=[])
    panel_title(picture, "dashed: height of Hertz's law")
    linear(overlaps, "spheres that rest on a contact", f"mean overlap, last {LAST} s [mm]")
    linear(heights, f"time in the last {LAST} s [s]", "height against Hertz's [%]")
    return sheet.figure
