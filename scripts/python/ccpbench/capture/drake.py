"""Drake: contact problems of steps of a discrete MultibodyPlant with point contact and SAP.

Forces are Drake's for the step that begins (its contact results), and J v_free is what is left of
its next velocities without them: joint limits and everything else are taken as Drake has them.
Dampers of joints are implicit, M_h = M + h D. Needs `drake`.
"""
import logging
from typing import Any

import numpy as np
from pydrake import all as drake

from ccpbench.arrays import Floats
from ccpbench.capture import freeze, scenes
from ccpbench.problem import Problem

STEP = 0.005  # s


class Simulation(freeze.Simulation):
    """Of a file (URDF, SDF, MJCF) or a scene."""
    engine = freeze.engine_name("Drake", "drake")

    def __init__(self, source: str, _contacts: str) -> None:
        logging.getLogger("drake").setLevel(logging.ERROR)  # what of MJCF it leaves out
        builder = drake.DiagramBuilder()
        plant, graph = drake.AddMultibodyPlant(drake.MultibodyPlantConfig(
            time_step=STEP, contact_model="point", discrete_contact_approximation="sap"), builder)
        with scenes.file_of(source) as path:
            drake.Parser(plant).AddModels(path)
        if scenes.is_scene(source):
            plant.mutable_gravity_field().set_gravity_vector(scenes.gravity(source))
        plant.Finalize()
        self.plant, self.simulator, self.made = plant, drake.Simulator(builder.Build()), 0
        self.context = plant.GetMyContextFromRoot(self.simulator.get_context())
        self.material = graph.model_inspector().GetProximityProperties
        self.bodies = [plant.get_body(drake.BodyIndex(k)) for k in range(1, plant.num_bodies())]
        self.damping = own = np.zeros(plant.num_velocities())
        for joint in map(plant.get_joint, plant.GetJointIndices()):
            own[joint.velocity_start():][:joint.num_velocities()] = joint.default_damping_vector()

    def touching(self) -> freeze.Touches:
        """Point pairs, with the forces of the step."""
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        for info in map(results.point_pair_contact_info, range(results.num_point_pair_contacts())):
            pair = info.point_pair()
            mu = drake.CalcContactFrictionFromSurfaceProperties(*(
                self.material(one).GetProperty("material", "coulomb_friction")
                for one in (pair.id_A, pair.id_B))).dynamic_friction()
            yield ((int(info.bodyA_index()) - 1, int(info.bodyB_index()) - 1),
                   info.contact_point(), -pair.nhat_BA_W, -pair.depth, mu, info.contact_force())

    def body(self, own: Any) -> tuple[float, Floats, Floats, Floats]:
        """Mass, inertia in its axes, centre of mass, and its axes in the world."""
        pose = self.plant.EvalBodyPoseInWorld(self.context, own)
        inertia = own.CalcSpatialInertiaInBodyFrame(self.context)
        own_axes = inertia.Shift(inertia.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
        return inertia.get_mass(), own_axes, pose @ inertia.get_com(), pose.rotation().matrix()

    def point(self, body: int, at: Floats) -> Floats:
        """Jacobian of its velocity, [3][v]."""
        own, world = self.bodies[body], self.plant.world_frame()
        inside = self.plant.EvalBodyPoseInWorld(self.context, own).inverse() @ at
        return np.asarray(self.plant.CalcJacobianTranslationalVelocity(
            self.context, drake.JacobianWrtVariable.kV, own.body_frame(), inside, world, world))

    def skip(self) -> None:
        self.made += 1
        self.simulator.AdvanceTo(self.made * STEP)

    def step(self) -> Problem:
        touch = freeze.Contacts.of(self.touching())
        j = touch.jacobian(self.point, len(self.damping))
        ahead = self.plant.CalcMassMatrix(self.context) + STEP * np.diag(self.damping)
        solved = freeze.solved(ahead, j)
        delassus = (freeze.of_bodies(touch, *zip(*map(self.body, self.bodies), strict=True))
                    if all(body.is_floating_base_body() for body in self.bodies)
                    else freeze.assembled(j, solved))
        self.skip()
        moves = self.plant.GetVelocities(self.context) - STEP * freeze.push(touch.force, solved)
        return freeze.problem(delassus, touch, j @ moves, STEP, self.engine)
