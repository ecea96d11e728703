"""Wang 2016 Figs. 5 and 6: a pile that is poured, its height by iterations a step and five
starts."""
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, by_iterations
from ccpbench.reproduce.wang2016_pile import SOLVER, STARTS, draw_section, height
from ccpbench.reproduce.workshop import Failure, Workshop, with_options
from ccpbench.styles import style_of
from ccpbench.trajectory import read_trajectory

SCENE = "pouring[spheres=200,settle=5]"
SEEDS = (1, 2)              # of the places in a layer: as many piles
ITERATIONS = (10, 30, 100)
SHOWN = 10                  # iterations of the sections
# Iterations of the reference, from history. The time step is that of all: how far spheres roll
# after they have hit the ground depends on it, more than on the iterations. In the paper 500, and
# a step of 0.2 ms for 5 ms.
REFERENCE = 300


def pile_file(folder: Path, start: str, count: int, seed: int) -> Path:
    return folder / f"{start}-{count}-{seed}.h5"


def reference_file(folder: Path, seed: int) -> Path:
    return folder / f"reference-{seed}.h5"


def run_pouring(shop: Workshop) -> None:
    """A pile by start and iterations, and one with many iterations, from each seed."""
    scene = shop.scene(SCENE)
    jobs: dict[Path, list[object]] = {}
    for seed in SEEDS:
        words = ["simulate", with_options(scene, seed=seed), *SOLVER]
        jobs[reference_file(shop.folder, seed)] = [
            *words, "--start", "history", "--iterations", REFERENCE]
        for count in ITERATIONS:
            for name, (_, start) in STARTS.items():
                jobs[pile_file(shop.folder, name, count, seed)] = [
                    *words, "--start", start, "--iterations", count]
    shop.each(jobs, accept=(0, 3))


def at_the_end(path: Path, value: str) -> float:
    """One of what the scene says of the spheres that lie."""
    with h5py.File(path) as file:
        return float(file["summary/values"].attrs[value])


@dataclass(frozen=True)
class Measure:
    """Of the heap at the end."""
    title: str
    read: Callable[[Path], float]  # m
    sign: int = -1                 # of its change as the heap melts

    def change(self, folder: Path, start: str, count: int) -> Floats:
        """[seeds], percent of the reference's."""
        return np.array([100 * self.sign * (self.read(pile_file(folder, start, count, seed))
                                            / self.read(reference_file(folder, seed)) - 1)
                         for seed in SEEDS])


MEASURED = (Measure("height lost", lambda path: at_the_end(path, "height")),
            Measure("mean height lost", lambda path: height(read_trajectory(path))),
            Measure("mean radius gained", lambda path: at_the_end(path, "mean_radius"), 1))


def draw_pouring(folder: Path) -> Figure:
    """Three sections; by how much the heap is lower and wider than the reference."""
    paths = [pile_file(folder, start, count, seed)
             for start in STARTS for count in ITERATIONS for seed in SEEDS]
    paths += [reference_file(folder, seed) for seed in SEEDS]
    if not all(path.exists() for path in paths):
        raise Failure(f"{folder}: not all of the trajectories are there")
    labels = [title for title, _ in STARTS.values()]
    sheet = Sheet([read_trajectory(path) for path in paths], [], labels, 2, 3, None, OWN_AXIS,
                  ONE_LINE)
    sections, changes = sheet.grid()
    for axes, path, title in (
            (sections[0], reference_file(folder, SEEDS[0]), f"history, {REFERENCE} iterations"),
            (sections[1], pile_file(folder, "history", SHOWN, SEEDS[0]), f"history, {SHOWN}"),
            (sections[2], pile_file(folder, "cold", SHOWN, SEEDS[0]), f"cold, {SHOWN}")):
        draw_section(axes, read_trajectory(path), title)
        axes.set(xlim=(-12, 12), ylim=(-1, 13))
    for axes, measure in zip(changes, MEASURED, strict=True):
        draw_changes(axes, folder, measure)
    return sheet.figure


def draw_changes(axes: Any, folder: Path, measure: Measure) -> None:
    """By iterations, the mean over the seeds and what they span."""
    print(f"{measure.title}, of the references' " + ", ".join(
        f"{1000 * measure.read(reference_file(folder, seed)):.1f}" for seed in SEEDS) + " mm:")
    for number, (start, (title, _)) in enumerate(STARTS.items()):
        rows = [measure.change(folder, start, count) for count in ITERATIONS]
        style = style_of(number)
        x = np.array(ITERATIONS) * 1.06 ** (number - 2)  # that lines do not hide each other
        axes.plot(x, [row.mean() for row in rows], gid=title, **style)
        axes.vlines(x, [row.min() for row in rows], [row.max() for row in rows],
                    color=style["color"], linewidth=0.7)
        print(f"  {title}: " + "; ".join(
            f"{count}: {row.mean():.1f} % ({row.min():.1f} to {row.max():.1f})"
            for count, row in zip(ITERATIONS, rows, strict=True)))
    by_iterations(axes, ITERATIONS, f"{measure.title} [%]")
