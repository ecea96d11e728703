"""PyBullet: contact problems of steps of bodies that are free of joints.

Takes scenes of `scenes.py` whose bodies are boxes and spheres. v_free is v + h g: gyroscopic forces
are left out, damping is switched off. Contacts are those that Bullet found as the step began,
at the middle of its two points; poses are of that moment, too. Needs `pybullet`.
"""
import importlib.metadata
import xml.etree.ElementTree
from collections.abc import Iterator
from typing import Any

import numpy as np
import pybullet

from ccpbench.arrays import Floats
from ccpbench.capture import freeze, scenes
from ccpbench.problem import Problem

ENGINE, STEP = f"PyBullet {importlib.metadata.version('pybullet')}", 0.005  # s


def numbers(element: Any, name: str, otherwise: str) -> list[float]:
    return [float(part) for part in element.get(name, otherwise).split()]


def load(source: str) -> list[int]:
    """Makes the scene; Bullet's numbers of the bodies that move.

    @throws ValueError  a body has joints, or another shape than a box, a sphere or a plane
    """
    root: Any = xml.etree.ElementTree.fromstring(scenes.scene(source)).find("worldbody")
    if not pybullet.isConnected():
        pybullet.connect(pybullet.DIRECT)
    pybullet.resetSimulation()  # there is one world: that of another scene ends here
    pybullet.setTimeStep(STEP)
    pybullet.setGravity(*scenes.gravity(source))
    moving = []
    for body in root:
        geom = body if body.tag == "geom" else body.find("geom")
        free = body.find("freejoint") is not None and body.find("body") is None
        if geom is None or (body.tag == "body" and not free):
            raise ValueError(f"{source}: expected bodies that are free of joints, found "
                             f"{body.get('name')}")
        kind, size = geom.get("type"), numbers(geom, "size", "")
        if kind == "sphere":
            shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=size[0])
            mass = float(geom.get("density", 0)) * 4 / 3 * np.pi * size[0]**3
        elif kind == "box":
            shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=size)
            mass = float(geom.get("density", 0)) * float(8 * np.prod(size))
        else:
            shape, mass = pybullet.createCollisionShape(pybullet.GEOM_PLANE), 0.0
        turn = pybullet.getQuaternionFromEuler(np.radians(numbers(body, "euler", "0 0 0")))
        number = pybullet.createMultiBody(mass if body.tag == "body" else 0, shape, -1,
                                          numbers(body, "pos", "0 0 0"), turn)
        pybullet.changeDynamics(number, -1, lateralFriction=numbers(geom, "friction", "1")[0],
                                linearDamping=0, angularDamping=0)
        if body.tag == "body":
            moving.append(number)
    return moving


def state(moving: list[int]) -> tuple[Any, Any, Any, Floats]:
    """Masses, inertias about world axes, positions and (v, w), [b][6], of the bodies."""
    mass, inertia, at, velocity = [], [], [], []
    for body in moving:
        known = pybullet.getDynamicsInfo(body, -1)
        pose = pybullet.getBasePositionAndOrientation(body)
        turn = np.reshape(pybullet.getMatrixFromQuaternion(pose[1]), (3, 3))
        mass.append(known[0])
        inertia.append(turn * known[2] @ turn.T)
        at.append(np.array(pose[0]))
        velocity.append(np.concatenate(pybullet.getBaseVelocity(body)))
    return mass, inertia, at, np.array(velocity)


def touching(moving: list[int]) -> freeze.Contacts:
    """Of the last step, with its forces."""
    contacts = freeze.Contacts()
    known = {number: k for k, number in enumerate(moving)}
    for point in pybullet.getContactPoints():
        (a, b), normal, gap, push = point[1:3], np.array(point[7]), point[8], point[9]
        frame = freeze.frame_of(normal)  # from b to a
        force = push * normal + point[10] * np.array(point[11]) + point[12] * np.array(point[13])
        mu = np.prod([pybullet.getDynamicsInfo(one, -1)[1] for one in (a, b)])
        contacts.add((known.get(b, -1), known.get(a, -1)),
                     (np.array(point[5]) + np.array(point[6])) / 2, frame, gap, float(mu),
                     frame @ force)
    return contacts


def steps(source: str, contacts: str = "rigid", after: int = 0,
          every: int = 1) -> Iterator[tuple[int, Problem]]:
    """(number, problem) of steps with a contact, after `after` from the scene's first state, every
    so many."""
    if contacts != "rigid":
        raise ValueError(f"{ENGINE}: expected rigid contacts, found {contacts}")
    moving = load(source)
    for number in range(freeze.MOST_STEPS):
        mass, inertia, at, velocity = state(moving)
        pybullet.stepSimulation()
        touch = touching(moving)
        if touch.pair and freeze.is_wanted(number, after, every):
            bodies = freeze.of_bodies(touch, mass, inertia, at)
            velocity[:, :3] += STEP * np.array(scenes.gravity(source))
            still = np.zeros((1, 3))  # what is immovable
            free = bodies.relative((np.vstack([velocity[:, :3], still]),
                                    np.vstack([velocity[:, 3:], still])))
            yield number, freeze.problem(source, bodies, touch, free, STEP, ENGINE)
