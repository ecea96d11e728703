"""MuJoCo: contact problems of steps of a model.

Cones are elliptic, of three axes (higher dimensions of contact are cut to three); joint limits are
contacts without friction; what other constraints do is taken as MuJoCo has it. `rigid` problems
have hard contacts. Those of `engine` are MuJoCo's own: compliances efc_R, r = h (J a_free - a_ref),
see "Computation" in its documentation. Needs MuJoCo 3 or newer.
"""
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from ccpbench.arrays import Floats
from ccpbench.capture import freeze, scenes
from ccpbench.problem import Problem

LIMITS = (mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT, mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON)
ENGINE = f"MuJoCo {mujoco.__version__}"


def load(source: str) -> Any:
    """A model, of a file (MJCF, URDF) or a scene, with the kind of contacts that we have."""
    model = (mujoco.MjModel.from_xml_path(source) if Path(source).is_file()
             else mujoco.MjModel.from_xml_string(scenes.scene(source)))
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.geom_condim[:] = np.minimum(model.geom_condim, 3)
    model.pair_dim[:] = np.minimum(model.pair_dim, 3)
    return model


def freeze_step(model: Any, data: Any, name: str, contacts: str = "rigid") -> Problem:
    """The problem of the step that begins at `data`, after mj_forward."""
    h, found, where = model.opt.timestep, freeze.Contacts(), []
    body = model.body_weldid[model.geom_bodyid] - 1  # of geoms; the world's: -1
    for c in np.flatnonzero(data.contact.efc_address >= 0):
        contact, row = data.contact[c], int(data.contact.efc_address[c])
        where.append([row, row + 1, row + 2] if contact.dim == 3 else [row, -1, -1])
        found.add((int(body[contact.geom[0]]), int(body[contact.geom[1]])), contact.pos,
                  contact.frame.reshape(3, 3), contact.dist,
                  contact.friction[0] if contact.dim == 3 else 0.0, np.zeros(3))
    for row in map(int, np.flatnonzero(np.isin(data.efc_type, LIMITS))):
        where.append([row, -1, -1])
        found.add((-1, model.nbody + int(data.efc_id[row])), np.zeros(3), np.eye(3),
                  data.efc_pos[row], 0.0, np.zeros(3))
    rows = np.reshape(where, (-1, 3)).astype(int)

    def of_ours(values: Floats) -> Floats:  # of a row that is not there: zeros
        ours: Floats = np.concatenate([values, np.zeros((1, *values.shape[1:]))])[rows]
        return ours
    dense = jacobian(model, data)
    found.force = list(of_ours(data.efc_force))
    theirs = np.setdiff1d(np.arange(data.nefc), rows)
    acceleration = data.qacc_smooth + solve(model, data, data.efc_force[theirs] @ dense[theirs])
    j = of_ours(dense)
    delassus = bodies_of(model, data, found) or freeze.assembled(j, solve(model, data, j))
    problem = freeze.problem(name, delassus, found, j @ (data.qvel + h * acceleration), h, ENGINE)
    if contacts == "engine":
        problem.r = h * (j @ acceleration - of_ours(data.efc_aref))
        problem.compliance = of_ours(data.efc_R)
        problem.compliance[rows < 0] = problem.compliance[(rows < 0).any(axis=1), :1].repeat(2)
    return problem


def jacobian(model: Any, data: Any) -> Floats:
    """Of all constraints, [nefc][nv]."""
    dense = np.zeros((data.nefc, model.nv))
    if not mujoco.mj_isSparse(model):
        dense[:] = np.reshape(data.efc_J, dense.shape)
        return dense
    mujoco.mju_sparse2dense(dense, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr,
                            data.efc_J_colind)
    return dense


def solve(model: Any, data: Any, loads: Floats) -> Floats:
    """M^-1 times each of the loads [...][nv]."""
    given = np.ascontiguousarray(loads.reshape(-1, model.nv))
    found = np.zeros_like(given)
    if given.size:
        mujoco.mj_solveM(model, data, found, given)
    return found.reshape(loads.shape)


def bodies_of(model: Any, data: Any, found: freeze.Contacts) -> Any:
    """The bodies, if all are free of joints; else None."""
    free = np.all(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE) and not model.dof_armature.any()
    if not free or model.nbody != model.njnt + 1:
        return None
    axes = data.ximat[1:].reshape(-1, 3, 3)
    return freeze.of_bodies(found, model.body_mass[1:],
                            axes * model.body_inertia[1:, None, :] @ axes.transpose(0, 2, 1),
                            data.xipos[1:])


def steps(source: str, contacts: str = "rigid", after: int = 0,
          every: int = 1) -> Iterator[tuple[int, Problem]]:
    """(number, problem) of steps after `after` from the model's first state, every so many."""
    model = load(source)
    data = mujoco.MjData(model)
    for number in range(freeze.MOST_STEPS):
        if freeze.is_wanted(number, after, every):
            mujoco.mj_forward(model, data)
            yield number, freeze_step(model, data, Path(source).stem, contacts)
        mujoco.mj_step(model, data)
