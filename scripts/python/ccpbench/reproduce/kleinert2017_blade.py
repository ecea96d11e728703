"""Kleinert 2017 Figs. 8 to 10 and Table 1: the draft force of a blade, by accuracy of the steps."""
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ccpbench.arrays import Floats
from ccpbench.figures import Sheet
from ccpbench.reproduce.drawing import ONE_LINE, OWN_AXIS, draw_spheres, linear, panel_title
from ccpbench.reproduce.workshop import Failure, Workshop, with_options
from ccpbench.styles import style_of
from ccpbench.trajectory import Trajectory, read_trajectory

SETTLED = 1.0    # s, in which the spheres come to rest
SPEED = 0.2      # m/s, of the blade
WAIT = 0.1       # s before the blade starts, for elastic contacts to take their load
DRAWN = 1 / 6    # of the trench, what the blade passes
AVERAGED = 0.1   # s, the running mean of the force
OF_DEM = 5e-5    # s, a time step
OF_PGJ, SWEEPS = 1e-3, 2000  # s and iterations of a step, as in the paper
ERRORS = ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6")  # of the IPM, as in Table 1
# By the name of the file: how the figure calls it.
NAMES = {**{f"ipm-{error}": f"IPM, error {error}" for error in ERRORS},
         "vipm-1e-8": "vipm, error 1e-8", "pgj": f"PGJ, {SWEEPS} iterations, h = {OF_PGJ:g} s",
         "coulomb": "Coulomb's law, pgs", "dem": "DEM"}
EXACT = "vipm-1e-8"
PANELS = (("IPM by its tolerance", [f"ipm-{error}" for error in ERRORS[1:]]),
          ("methods and laws", [EXACT, "pgj", "coulomb", "dem"]))
SECTIONS = (f"ipm-{ERRORS[0]}", f"ipm-{ERRORS[1]}", f"ipm-{ERRORS[-1]}")


def run_blades(shop: Workshop) -> None:
    """A bed at rest, and the blade through it by method and accuracy."""
    scene = shop.scene("blade")
    bed = shop.folder / "bed.h5"
    shop.each({bed: ["simulate", with_options(scene, speed=0), "--error", "1e-6",
                     "--until", SETTLED]})
    length = float(read_trajectory(bed).option["length"])
    until = WAIT + DRAWN * length / SPEED
    trench = {"wait": WAIT, "speed": SPEED}
    methods: dict[str, tuple[str, list[object]]] = {
        f"ipm-{error}": (with_options(scene, **trench),
                         ["--solver", "ipm", "--error", error, "--iterations", 300])
        for error in ERRORS}
    methods[EXACT] = (with_options(scene, **trench), ["--solver", "vipm", "--error", "1e-8"])
    methods["pgj"] = (with_options(scene, **trench, dt=OF_PGJ),
                      ["--solver", "pgj", "--iterations", SWEEPS, "--fixed-iterations",
                       "--every", 50])
    methods["coulomb"] = (with_options(scene, **trench),
                          ["--solver", "pgs[law=coulomb]", "--residual", "1e-4",
                           "--iterations", 20000])
    methods["dem"] = (with_options(scene, **trench, dt=OF_DEM),
                      ["--stepper", "dem", "--every", 1000])
    shop.each({shop.folder / f"{name}.h5": ["simulate", what, "--from", bed, "--until", until,
                                            *words]
               for name, (what, words) in methods.items()}, accept=(0, 3))


@dataclass
class Draft:
    """What the blade, the last obstacle, feels."""
    motion: Trajectory
    option: dict[str, str]
    time: Floats   # [s], s, since it moves
    force: Floats  # [s], N, against its motion

    @property
    def step(self) -> float:
        return float(self.option["dt"])

    @property
    def smooth(self) -> Floats:
        """[s], N, the mean of what there was of the last AVERAGED seconds."""
        width = round(AVERAGED / self.step)
        total = np.concatenate([[0.0], np.cumsum(self.force)])
        last = np.arange(1, total.size)
        first = np.maximum(0, last - width)
        return np.asarray((total[last] - total[first]) / (last - first))

    @property
    def late(self) -> Floats:
        """N, of the second half of the motion."""
        return np.asarray(self.force[self.time > 0.5 * self.time[-1]])

    @property
    def factor(self) -> float:
        """Seconds of computing for one that is simulated; without solver: not measured."""
        spent = self.motion.steps["solver_time"]
        return float(spent.sum() / (self.step * spent.size))


def read_draft(path: Path) -> Draft:
    motion = read_trajectory(path)
    if motion.obstacle_force is None:
        raise Failure(f"{path}: no forces of obstacles")
    option = motion.option
    time = motion.time - float(option["wait"])
    moving = time > 1e-9
    return Draft(motion, option, time[moving], -motion.obstacle_force[moving, -1, 0])


def draw_trench(axes: Any, draft: Draft, title: str) -> Any:
    """The last frame from the side, by speed in units of the blade's."""
    speed = float(draft.option["speed"])
    motion = draft.motion
    moving = np.linalg.norm(motion.velocity[-1, :, :3], axis=-1) / speed
    spheres = draw_spheres(axes, motion.position[-1], motion.body_size[:, 0], moving, "viridis",
                           Normalize(0, 1), "0.3")
    front, edge = 100 * speed * float(draft.time[-1]), 100 * float(draft.option["edge"])
    wide, _, high = 200 * motion.obstacle_size[-1]
    axes.add_patch(Rectangle((front - wide, edge), wide, high, color="tab:red", zorder=3))
    length = 100 * float(draft.option["length"])
    axes.set(xlim=(-0.04 * length, 1.01 * length), ylim=(0, 0.6 * length))
    panel_title(axes, title)
    return spheres


def draw_blades(folder: Path) -> Figure:
    """Three sections; draft force over time by tolerance and by method; the iterations."""
    paths = {name: folder / f"{name}.h5" for name in NAMES}
    if not all(path.exists() for path in paths.values()):
        raise Failure(f"{folder}: not all of the trajectories are there")
    drafts = {name: read_draft(path) for name, path in paths.items()}
    labels = [NAMES[name] for _, names in PANELS for name in names]
    sheet = Sheet([draft.motion for draft in drafts.values()], [], labels, 2, 3,
                  None, OWN_AXIS, ONE_LINE)
    sections, (tolerances, methods, counts) = sheet.grid()
    for axes, name in zip(sections, SECTIONS, strict=True):
        spheres = draw_trench(axes, drafts[name], NAMES[name])
    inside = sections[0].inset_axes((0.5, 0.9, 0.45, 0.05))
    sheet.figure.colorbar(spheres, cax=inside, orientation="horizontal", extend="max")
    inside.tick_params(labelsize=6)
    inside.set_xlabel("speed / blade's", fontsize=6, labelpad=1)
    for axes, (title, names) in zip((tolerances, methods), PANELS, strict=True):
        for name in names:
            draft = drafts[name]
            style = dict(style_of(labels.index(NAMES[name])), marker="")
            axes.plot(draft.time, draft.smooth, gid=NAMES[name], **style)
        linear(axes, "time since the blade moves [s]", "draft force [N]")
        axes.set_ylim(bottom=0)
        panel_title(axes, title)
    methods.set_ylim(tolerances.get_ylim())
    for draft, name in ((drafts[name], name) for name in PANELS[0][1]):
        krylov = np.asarray(draft.motion.steps["krylov"], float)[-draft.time.size:]
        counts.plot(draft.time, krylov, **dict(style_of(labels.index(NAMES[name])), marker=""))
    linear(counts, "time since the blade moves [s]", "Krylov iterations a step")
    counts.set_yscale("log")
    print_table(drafts)
    return sheet.figure


def print_table(drafts: dict[str, Draft]) -> None:
    """Table 1, and the force in the second half of the motion."""
    exact = drafts[EXACT].late.mean()
    for name, draft in drafts.items():
        steps = {key: np.asarray(draft.motion.steps[key], float)[-draft.time.size:]
                 for key in ("contacts", "outer", "krylov", "penetration")}
        solver = f", {draft.factor:,.0f} s a second" if name != "dem" else ""
        print(f"{NAMES[name]}: draft force {draft.late.mean():.4g} +- {draft.late.std():.2g} N, "
              f"{100 * (draft.late.mean() / exact - 1):+.1f} % of {NAMES[EXACT]}; a step: "
              f"{steps['contacts'].mean():,.0f} contacts, {steps['outer'].mean():,.1f} outer and "
              f"{steps['krylov'].mean():,.0f} Krylov iterations{solver}; overlap at most "
              f"{1000 * steps['penetration'].max():.2g} mm")
