"""MuJoCo: contact problems of steps of a model.

Cones are elliptic, of three axes (higher dimensions of contact are cut to three); joint limits are
contacts without friction; what other constraints do is taken as MuJoCo has it. `rigid` problems
have hard contacts. Those of `engine` are MuJoCo's own: compliances efc_R, r = h (J a_free - a_ref),
see "Computation" in its documentation. Needs MuJoCo 3 or newer.
"""
from typing import Any

import mujoco
import numpy as np

from ccpbench.arrays import Floats
from ccpbench.capture import freeze, scenes
from ccpbench.problem import Problem

LIMITS = (mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT, mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON)


def load(source: str) -> Any:
    """A model, of a file (MJCF, URDF) or a scene, with the kind of contacts that we have."""
    with scenes.file_of(source) as path:
        model = mujoco.MjModel.from_xml_path(path)
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.geom_condim[:] = np.minimum(model.geom_condim, 3)
    model.pair_dim[:] = np.minimum(model.pair_dim, 3)
    return model


def freeze_step(model: Any, data: Any, name: str, contacts: str = "rigid") -> Problem:
    """The problem of the step that begins at `data`, after mj_forward."""
    h, touch, found = model.opt.timestep, data.contact, freeze.Contacts()
    body = model.body_weldid[model.geom_bodyid] - 1  # of geoms; the world's: -1
    for c in np.flatnonzero(touch.efc_address >= 0):
        found.add(body[touch.geom[c]], touch.pos[c], touch.frame[c].reshape(3, 3), touch.dist[c],
                  touch.friction[c, 0] * (touch.dim[c] == 3),
                  rows=touch.efc_address[c] + np.arange(touch.dim[c]))
    for row in map(int, np.flatnonzero(np.isin(data.efc_type, LIMITS))):
        found.add_row(model.nbody + data.efc_id[row], data.efc_pos[row], row)
    found.force = list(found.of_rows(data.efc_force))
    dense = jacobian(model, data)
    theirs = np.setdiff1d(np.arange(data.nefc), found.rows)
    a_free = data.qacc_smooth + solve(model, data, data.efc_force[theirs] @ dense[theirs])
    j = found.of_rows(dense)
    delassus = bodies_of(model, data, found) or freeze.assembled(j, solve(model, data, j))
    step = freeze.problem(delassus, found, j @ (data.qvel + h * a_free), h, Simulation.engine, name)
    if contacts == "engine":
        step.r = h * (j @ a_free - found.of_rows(data.efc_aref))
        step.compliance = found.of_rows(data.efc_R, first_for_all=True)
    return step


def jacobian(model: Any, data: Any) -> Floats:
    """Of all constraints, [nefc][nv]."""
    if not mujoco.mj_isSparse(model):
        return np.reshape(data.efc_J, (data.nefc, model.nv))
    return freeze.dense_rows((data.nefc, model.nv), data.efc_J, data.efc_J_rownnz,
                             data.efc_J_rowadr, data.efc_J_colind)


def solve(model: Any, data: Any, loads: Floats) -> Floats:
    """M^-1 times each of the loads [...][nv]."""
    found = np.zeros((loads.size // model.nv, model.nv))
    mujoco.mj_solveM(model, data, found, loads.reshape(found.shape))
    return found.reshape(loads.shape)


def bodies_of(model: Any, data: Any, found: freeze.Contacts) -> Any:
    """The bodies, if all are free of joints; else None."""
    # mjJNT_FREE is 0
    if model.nbody != model.njnt + 1 or model.jnt_type.any() or model.dof_armature.any():
        return None
    return freeze.of_bodies(found, model.body_mass[1:], map(np.diag, model.body_inertia[1:]),
                            data.xipos[1:], data.ximat[1:])


class Simulation(freeze.Simulation):
    engine, models = f"MuJoCo {mujoco.__version__}", ("rigid", "engine")

    def __init__(self, source: str, contacts: str) -> None:
        self.model, self.contacts = load(source), contacts
        self.data = mujoco.MjData(self.model)

    def skip(self) -> None:
        mujoco.mj_step(self.model, self.data)

    def step(self) -> Problem:
        mujoco.mj_forward(self.model, self.data)
        found = freeze_step(self.model, self.data, "step", self.contacts)
        self.skip()
        return found
