"""PyBullet: contact problems of steps of bodies that are free of joints.

Takes scenes of `scenes.py` whose bodies are boxes and spheres. v_free is v + h g: gyroscopic forces
are left out, damping is switched off. Contacts are those that Bullet found as the step began,
at the middle of its two points; poses are of that moment, too. Needs `pybullet`.
"""
from typing import Any

import numpy as np
import pybullet

from ccpbench.arrays import Floats
from ccpbench.capture import freeze, scenes
from ccpbench.problem import Problem

STEP = 0.005  # s
KINDS = {"box": pybullet.GEOM_BOX, "sphere": pybullet.GEOM_SPHERE, "plane": pybullet.GEOM_PLANE}


def add(solid: scenes.Solid) -> int:
    """Bullet's number of a body that it becomes."""
    sizes: dict[str, dict[str, Any]] = {"box": {"halfExtents": solid.size},
                                        "sphere": {"radius": solid.size[0]}, "plane": {}}
    shape = pybullet.createCollisionShape(KINDS[solid.kind], **sizes[solid.kind])
    turn = pybullet.getQuaternionFromEuler(np.radians(solid.euler))
    number: int = pybullet.createMultiBody(solid.mass, shape, -1, solid.position, turn)
    pybullet.changeDynamics(number, -1, lateralFriction=solid.friction, linearDamping=0,
                            angularDamping=0)
    return number


class Simulation(freeze.Simulation):
    """Bullet has one world: that of another scene ends where one begins."""
    engine = freeze.engine_name("PyBullet", "pybullet")

    def __init__(self, source: str, _contacts: str) -> None:
        solids = scenes.solids(source)
        if not pybullet.isConnected():
            pybullet.connect(pybullet.DIRECT)
        pybullet.resetSimulation()
        pybullet.setTimeStep(STEP)
        self.gravity = np.array(scenes.gravity(source))
        pybullet.setGravity(*self.gravity)
        numbers = [add(solid) for solid in solids]
        moving = [number for number, solid in zip(numbers, solids, strict=True) if solid.mass]
        self.moving = {number: k for k, number in enumerate(moving)}

    def touching(self) -> freeze.Touches:
        """Of the last step, with its forces."""
        for point in pybullet.getContactPoints():
            (a, b), normal = point[1:3], np.array(point[7])  # from b to a
            force: Floats = sum((point[k] * np.array(point[k + 1]) for k in (10, 12)),
                                start=point[9] * normal)
            mu = np.prod([pybullet.getDynamicsInfo(one, -1)[1] for one in (a, b)])
            middle = (np.array(point[5]) + np.array(point[6])) / 2
            yield ((self.moving.get(b, -1), self.moving.get(a, -1)), middle, normal, point[8],
                   float(mu), force)

    def skip(self) -> None:
        pybullet.stepSimulation()

    def step(self) -> Problem:
        known = [pybullet.getDynamicsInfo(body, -1) for body in self.moving]
        poses = [pybullet.getBasePositionAndOrientation(body) for body in self.moving]
        velocity = np.array([pybullet.getBaseVelocity(body) for body in self.moving])
        self.skip()
        touch = freeze.Contacts.of(self.touching())
        bodies = freeze.of_bodies(
            touch, [one[0] for one in known], [np.diag(one[2]) for one in known],
            [at for at, _ in poses], [pybullet.getMatrixFromQuaternion(q) for _, q in poses])
        velocity[:, 0] += STEP * self.gravity
        linear, angular = np.concatenate([velocity, np.zeros((1, 2, 3))]).swapaxes(0, 1)
        return freeze.problem(bodies, touch, bodies.relative((linear, angular)), STEP, self.engine)
