"""Pinocchio: contact problems of steps of a model, with Coal's contacts and Pinocchio's ADMM.

The steps are ours: M_h v_next = M v + h (springs - nonlinear effects) + J^T gamma with dampers and
springs of the joints linearly implicit, M_h = M + h D + h^2 K (N is made with M_h), and ADMM solves
Coulomb's law for gamma. Joint limits are not there. Needs Pinocchio 4 (`pin`) and scipy.
"""
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

from ccpbench.arrays import Floats
from ccpbench.capture import freeze, scenes
from ccpbench.peers.pinocchio_contact import solve
from ccpbench.peers.problem import delassus_matrix
from ccpbench.problem import Problem

ENGINE = f"Pinocchio {pinocchio.__version__}"
STEP, STIFFNESS, FRICTION = 0.005, 400.0, 0.8  # s, N m/rad of springs at the first posture
REACH = 0.005  # m, of gaps that are contacts


def load(source: str) -> tuple[Any, Any]:
    """Model and geometry of MJCF, a file or a scene.

    @throws ValueError  more than one body is without a joint: the reader sees the first one only
    """
    text = Path(source).read_text("utf-8") if Path(source).is_file() else scenes.scene(source)
    if text.count("<freejoint") > 1:
        raise ValueError(f"{source}: expected one body that moves freely, found "
                         f"{text.count('<freejoint')}: Pinocchio's reader takes the first one only")
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as made:
        made.write(text)
        made.flush()
        model, *_, geometry = pinocchio.buildModelsFromMJCF(
            source if Path(source).is_file() else made.name,
            geometry_types=pinocchio.GeometryType.COLLISION)
    gravity = re.search(r'gravity="([^"]*)"', text)
    if gravity:  # which the reader does not look at
        model.gravity.linear = np.array(gravity[1].split(), float)
    joint = [one.parentJoint for one in geometry.geometryObjects]
    for i, a in enumerate(joint):
        for k, b in list(enumerate(joint))[i + 1:]:
            if a != b and not (a * b and (model.parents[a] == b or model.parents[b] == a)):
                geometry.addCollisionPair(pinocchio.CollisionPair(i, k))
    return model, geometry


def touching(model: Any, data: Any, geometry: Any, found: Any, q: Floats) -> freeze.Contacts:
    """The corners of the patches in which geometries touch. @param found  the geometry's data"""
    contacts = freeze.Contacts()
    pinocchio.computeCollisions(model, data, geometry, found, q)
    pinocchio.computeContactPatches(geometry, found)
    for pair, result in zip(geometry.collisionPairs, found.contactPatchResults, strict=True):
        a, b = (geometry.geometryObjects[k].parentJoint - 1 for k in (pair.first, pair.second))
        for patch in (result.getContactPatch(k) for k in range(result.numContactPatches())):
            for corner in range(patch.size()):
                contacts.add((a, b), patch.getPoint(corner), freeze.frame_of(patch.getNormal()),
                             patch.penetration_depth, FRICTION, np.zeros(3))
    return contacts


def impulses(problem: Problem) -> Floats:
    """By ADMM, as far as it gets, [n][3]."""
    matrix: Any = delassus_matrix(problem).toarray()
    s, q = np.trace(matrix) / len(matrix), np.sqrt(np.mean(problem.r**2))
    gamma, *_ = solve("admm", matrix / s, problem.r / q, problem.mu, 1e-8)
    scaled: Floats = q / s * gamma
    return scaled


def steps(source: str, contacts: str = "rigid", after: int = 0,
          every: int = 1) -> Iterator[tuple[int, Problem]]:
    """(number, problem) of steps with a contact, after `after` from the model's first state, every
    so many."""
    if contacts != "rigid":
        raise ValueError(f"{ENGINE}: expected rigid contacts, found {contacts}")
    model, geometry = load(source)
    data, found = model.createData(), geometry.createData()
    for request in found.collisionRequests:
        request.security_margin = REACH
    q = first = pinocchio.neutral(model)
    if "qpos0" in model.referenceConfigurations:
        q = first = model.referenceConfigurations["qpos0"]
    v = np.zeros(model.nv)
    hinges = np.concatenate([np.full(joint.nv, joint.nv == 1) for joint in list(model.joints)[1:]])

    def point(body: int, at: Floats) -> Floats:
        moves = pinocchio.getJointJacobian(model, data, body + 1, pinocchio.LOCAL_WORLD_ALIGNED)
        arm = pinocchio.skew(at - data.oMi[body + 1].translation)
        moved: Floats = moves[:3] - arm @ moves[3:]
        return moved
    for number in range(freeze.MOST_STEPS):
        pinocchio.computeJointJacobians(model, data, q)
        mass = pinocchio.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        stiff = np.where(hinges, STIFFNESS, 0.0)
        ahead = mass + np.diag(STEP * model.damping + STEP**2 * stiff)
        springs = stiff * pinocchio.difference(model, q, first)
        effects = pinocchio.nonLinearEffects(model, data, q, v)
        v = np.linalg.solve(ahead, mass @ v + STEP * (springs - effects))
        touch = touching(model, data, geometry, found, q)
        if touch.pair:
            j = touch.jacobian(point)
            solved = np.linalg.solve(ahead, j.reshape(-1, model.nv).T).T.reshape(j.shape)
            problem = freeze.problem(Path(source).stem, freeze.assembled(j, solved), touch, j @ v,
                                     STEP, ENGINE)
            gamma = problem.guesses["engine"] = impulses(problem)
            if freeze.is_wanted(number, after, every):
                yield number, problem
            v = v + np.einsum("ci,cij->j", gamma, solved)
        q = pinocchio.integrate(model, q, STEP * v)
