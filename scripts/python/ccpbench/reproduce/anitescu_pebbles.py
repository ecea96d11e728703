"""The Anitescu slides' pebble bed: pebbles that are loaded into a vessel, and what carries them."""
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, draw_spheres, linear, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

LOADS = (125, 250, 500, 1000)    # pebbles
RADIUS, VESSEL = 0.03, 0.25      # m: about a tennis ball's, and the vessel's
DENSITY = 1700                   # kg/m^3
ROW, PITCH = 5, 0.064            # a layer of the start is a square of so many; m between centres
SHIFT = 0.015                    # m, at most: layers do not lie on each other
REST = 1                         # s, after the last pebble could have fallen
GRAVITY = 9.81
SHOWN, MIDDLES = (4, -1), (-0.45, 0.45)  # frames of EVERY steps, and where they are drawn, m
EVERY, LAST = 10, 100

SCENE = """\
name: pebbles
description: pebbles that fall into an upright cylinder
dt: 0.005
until: {until:.2f}
mu: 0.5
margin: 0.003
solver: vipm
obstacles:
  - {{name: floor, shape: plane}}
  - {{name: wall, shape: {{cylinder_inside: {vessel}}}}}
bodies:
"""

LAYER = """\
  - shape: {{sphere: {radius}}}
    density: {density}
    position: [{x:.4f}, {y:.4f}, {z:.4f}]
    copies: {{count: [{row}, {row}, 1], pitch: [{pitch}, {pitch}, 1]}}
"""


def scene_of(pebbles: int) -> str:
    """Layers of ROW * ROW, each shifted by chance, from the floor upwards."""
    layers = pebbles // ROW**2
    random = np.random.default_rng(1)
    highest = PITCH * layers
    text = SCENE.format(until=np.sqrt(2 * highest / GRAVITY) + REST, vessel=VESSEL)
    for layer in range(layers):
        x, y = -PITCH * (ROW - 1) / 2 + random.uniform(-SHIFT, SHIFT, 2)
        text += LAYER.format(radius=RADIUS, density=DENSITY, x=x, y=y, z=RADIUS + PITCH * layer,
                             row=ROW, pitch=PITCH)
    return text


def run_beds(shop: Workshop) -> None:
    """The vessel with each number of pebbles."""
    jobs = {}
    for pebbles in LOADS:
        scene = shop.folder / f"pebbles-{pebbles}.yaml"
        scene.write_text(scene_of(pebbles), encoding="utf-8")
        jobs[shop.folder / f"pebbles-{pebbles}.h5"] = ["simulate", scene, "--residual", 1e-6,
                                                       "--every", EVERY]
    shop.each(jobs, accept=(0, 3))


def carried(motion: Trajectory) -> Floats:
    """[steps][2], weights of all pebbles: what floor and wall hold them up with."""
    if motion.obstacle_force is None:
        raise Failure("expected the forces of the obstacles")
    mass = DENSITY * 4 / 3 * np.pi * RADIUS**3 * motion.position.shape[1]
    upwards: Floats = -motion.obstacle_force[:, :, 2] / (mass * GRAVITY)
    return upwards


def draw_vessel(axes: Any, motion: Trajectory, frame: int, middle: float) -> None:
    """From the side, the nearer the lighter.
    @param middle  m, of the vessel in the picture"""
    place = motion.position[frame]
    draw_spheres(axes, place + np.array([middle, 0, 0]), motion.body_size[:, 0], -place[:, 1],
                 "Greys_r", Normalize(-VESSEL, VESSEL), "0.2")
    top = 100 * (motion.position[0, :, 2].max() + RADIUS)
    edges = 100 * (middle + VESSEL * np.array([-1, -1, 1, 1]))
    axes.plot(edges, [top, 0, 0, top], color="black", linewidth=0.8)
    axes.set(xlim=(-100, 100), ylim=(-5, top + 5), xlabel="", xticks=100 * np.array(MIDDLES),
             xticklabels=[f"{motion.frame_time[k]:.1f} s" for k in SHOWN])


def draw_beds(folder: Path) -> Figure:
    """The vessel as it is filled and full; what carries the pebbles over time, and by number."""
    motions = {pebbles: read_trajectory(path) for pebbles in LOADS
               if (path := folder / f"pebbles-{pebbles}.h5").exists()}
    if len(motions) < len(LOADS):
        raise Failure(f"{folder}: not all of the trajectories are there")
    labels = ["floor", "wall"]
    sheet = Sheet(motions.values(), [], labels, 1, 3, None, OWN_AXIS, ONE_LINE)
    vessels, over_time, by_load = sheet.grid()[0]
    most = motions[LOADS[-1]]
    for middle, frame in zip(MIDDLES, SHOWN, strict=True):
        draw_vessel(vessels, most, frame, middle)
    rest = {pebbles: carried(motion)[-LAST:].mean(axis=0) for pebbles, motion in motions.items()}
    for number, label in enumerate(labels):
        over_time.plot(most.time, carried(most)[:, number], gid=f"{label}, {LOADS[-1]} pebbles",
                       **dict(style_of(number), marker=""))
        by_load.plot(LOADS, [rest[pebbles][number] for pebbles in LOADS], gid=label,
                     **style_of(number))
    for pebbles, motion in motions.items():
        steps = motion.steps
        print(f"{pebbles} pebbles: floor {rest[pebbles][0]:.3f}, wall {rest[pebbles][1]:.3f} of "
              f"the weight; top at {motion.position[-1, :, 2].max() + RADIUS:.2f} m, "
              f"{len(motion.time)} steps, {steps['contacts'][-1]} contacts at the end, "
              f"{steps['outer'].mean():.1f} iterations a step, {steps['solver_time'].sum():.3g} s, "
              f"{(steps['residual'] > 1e-6).sum()} steps not solved, overlap "
              f"{1000 * steps['penetration'].max():.2g} mm")
    linear(over_time, "time [s]", "carried, of the weight of all")
    panel_title(over_time, f"{LOADS[-1]:,} pebbles")
    linear(by_load, "pebbles", "carried, of the weight of all")
    panel_title(by_load, f"mean of the last {LAST} steps")
    by_load.set_ylim(-0.1, 1.1)
    return sheet.figure
