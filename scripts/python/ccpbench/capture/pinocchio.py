"""Pinocchio: contact problems of steps of a model, with Coal's contacts and Pinocchio's ADMM.

The steps are ours: M_h v_next = M v + h (springs - nonlinear effects) + J^T gamma with dampers and
springs of the joints linearly implicit, M_h = M + h D + h^2 K (N is made with M_h), and ADMM solves
Coulomb's law for gamma. Joint limits are not there. Needs Pinocchio 4 (`pin`) and scipy.
"""
import itertools

import numpy as np
import pinocchio

from ccpbench.arrays import Floats
from ccpbench.capture import freeze, scenes
from ccpbench.peers.pinocchio_contact import impulses
from ccpbench.problem import Problem

# s; N m/rad, of springs at the first posture; 1; m, of gaps that are contacts
STEP, STIFFNESS, FRICTION, REACH = 0.005, 400.0, 0.8, 0.005


class Simulation(freeze.Simulation):
    """Of MJCF, a file or a scene, with one body without a joint."""
    engine = f"Pinocchio {pinocchio.__version__}"

    def __init__(self, source: str, _contacts: str) -> None:
        with scenes.file_of(source) as path:
            scenes.expect_one_free_body(path, source)
            model, *_, geometry = pinocchio.buildModelsFromMJCF(
                path, geometry_types=pinocchio.GeometryType.COLLISION)
            model.gravity.linear = np.array(scenes.stated_gravity(path) or model.gravity.linear)
        joints = [one.parentJoint for one in geometry.geometryObjects]
        for (i, a), (k, b) in itertools.combinations(enumerate(joints), 2):
            if a != b and not (a * b and (model.parents[a] == b or model.parents[b] == a)):
                geometry.addCollisionPair(pinocchio.CollisionPair(i, k))
        self.model, self.geometry = model, geometry
        self.data, self.found = model.createData(), geometry.createData()
        for request in self.found.collisionRequests:
            request.security_margin = REACH
        known = model.referenceConfigurations
        self.q = self.first = known["qpos0"] if "qpos0" in known else pinocchio.neutral(model)
        self.v = np.zeros(model.nv)
        self.stiff = np.concatenate([np.full(n, STIFFNESS * (n == 1)) for n in list(model.nvs)[1:]])

    def touching(self) -> freeze.Touches:
        """The corners of the patches in which geometries touch."""
        geometry, found = self.geometry, self.found
        pinocchio.computeCollisions(self.model, self.data, geometry, found, self.q)
        pinocchio.computeContactPatches(geometry, found)
        for pair, result in zip(geometry.collisionPairs, found.contactPatchResults, strict=True):
            ends = [geometry.geometryObjects[k].parentJoint - 1 for k in (pair.first, pair.second)]
            for patch in map(result.getContactPatch, range(result.numContactPatches())):
                for corner in map(patch.getPoint, range(patch.size())):
                    yield (ends, corner, patch.getNormal(), patch.penetration_depth, FRICTION,
                           freeze.NO_FORCE)

    def point(self, body: int, at: Floats) -> Floats:
        """Jacobian of its velocity, [3][v]."""
        moves = pinocchio.getJointJacobian(self.model, self.data, body + 1,
                                           pinocchio.LOCAL_WORLD_ALIGNED)
        arm = pinocchio.skew(at - self.data.oMi[body + 1].translation)
        return np.asarray(moves[:3] - arm @ moves[3:])

    def step(self) -> Problem | None:
        model, data, found = self.model, self.data, None
        pinocchio.computeJointJacobians(model, data, self.q)
        mass = freeze.symmetric(pinocchio.crba(model, data, self.q))
        ahead = mass + np.diag(STEP * model.damping + STEP**2 * self.stiff)
        loads = (self.stiff * pinocchio.difference(model, self.q, self.first)
                 - pinocchio.nonLinearEffects(model, data, self.q, self.v))
        self.v = np.linalg.solve(ahead, mass @ self.v + STEP * loads)
        touch = freeze.Contacts.of(self.touching())
        if touch.pair:
            j = touch.jacobian(self.point, model.nv)
            moved = freeze.solved(ahead, j)
            found = freeze.problem(freeze.assembled(j, moved), touch, j @ self.v, STEP, self.engine)
            found.guesses["engine"] = impulses(found, 1e-8)
            self.v = self.v + freeze.push(found.guesses["engine"], moved)
        self.q = pinocchio.integrate(model, self.q, STEP * self.v)
        return found
