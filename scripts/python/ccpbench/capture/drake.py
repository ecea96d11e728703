"""Drake: contact problems of steps of a discrete MultibodyPlant with point contact and SAP.

Forces are Drake's for the step that begins (its contact results), and J v_free is what is left of
its next velocities without them: joint limits and everything else are taken as Drake has them.
Dampers of joints are implicit, M_h = M + h D. Needs `drake`.
"""
import importlib.metadata
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pydrake import all as drake

from ccpbench.arrays import Floats
from ccpbench.capture import freeze, scenes
from ccpbench.problem import Problem

ENGINE, STEP = f"Drake {importlib.metadata.version('drake')}", 0.005  # s
WRT_V = drake.JacobianWrtVariable.kV


def load(source: str) -> tuple[Any, Any, Any]:
    """Diagram, plant and scene graph of a file (URDF, SDF, MJCF) or a scene."""
    logging.getLogger("drake").setLevel(logging.ERROR)  # what of MJCF it leaves out
    builder = drake.DiagramBuilder()
    plant, graph = drake.AddMultibodyPlantSceneGraph(builder, STEP)
    plant.set_contact_model(drake.ContactModel.kPoint)
    plant.set_discrete_contact_approximation(drake.DiscreteContactApproximation.kSap)
    if Path(source).is_file():
        drake.Parser(plant).AddModels(source)
    else:
        drake.Parser(plant).AddModelsFromString(scenes.scene(source), "xml")
        plant.mutable_gravity_field().set_gravity_vector(scenes.gravity(source))
    plant.Finalize()
    return builder.Build(), plant, graph


def touching(plant: Any, context: Any, friction: Any) -> freeze.Contacts:
    """Point pairs, with the forces of the step. @param friction  of a geometry"""
    contacts = freeze.Contacts()
    results = plant.get_contact_results_output_port().Eval(context)
    for info in map(results.point_pair_contact_info, range(results.num_point_pair_contacts())):
        pair = info.point_pair()
        frame = freeze.frame_of(-pair.nhat_BA_W)
        both = drake.CalcContactFrictionFromSurfaceProperties(friction(pair.id_A),
                                                              friction(pair.id_B))
        contacts.add((int(info.bodyA_index()) - 1, int(info.bodyB_index()) - 1),
                     info.contact_point(), frame, -pair.depth, both.dynamic_friction(),
                     frame @ info.contact_force())
    return contacts


def bodies_of(plant: Any, context: Any, contacts: freeze.Contacts) -> Any:
    """The bodies, if all are free of joints; else None."""
    bodies = [plant.get_body(drake.BodyIndex(k)) for k in range(1, plant.num_bodies())]
    if not all(body.is_floating_base_body() for body in bodies):
        return None
    poses = [plant.EvalBodyPoseInWorld(context, body) for body in bodies]
    spatial = [body.CalcSpatialInertiaInBodyFrame(context) for body in bodies]
    turns = [pose.rotation().matrix() for pose in poses]
    inertia = [one.Shift(one.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
               for one in spatial]
    centre = [pose @ one.get_com() for pose, one in zip(poses, spatial, strict=True)]
    return freeze.of_bodies(contacts, [one.get_mass() for one in spatial],
                            [turn @ own @ turn.T
                             for turn, own in zip(turns, inertia, strict=True)], centre)


def steps(source: str, contacts: str = "rigid", after: int = 0,
          every: int = 1) -> Iterator[tuple[int, Problem]]:
    """(number, problem) of steps with a contact, after `after` from the model's first state, every
    so many."""
    if contacts != "rigid":
        raise ValueError(f"{ENGINE}: expected rigid contacts, found {contacts}")
    diagram, plant, graph = load(source)
    simulator = drake.Simulator(diagram)
    context = plant.GetMyContextFromRoot(simulator.get_context())
    inspector, world = graph.model_inspector(), plant.world_frame()
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    damping = np.zeros(plant.num_velocities())
    for joint in joints:
        damping[joint.velocity_start():][:joint.num_velocities()] = joint.default_damping_vector()

    def friction(geometry: Any) -> Any:
        return inspector.GetProximityProperties(geometry).GetProperty("material",
                                                                      "coulomb_friction")

    def point(body: int, at: Floats) -> Floats:
        own = plant.get_body(drake.BodyIndex(body + 1)).body_frame()
        inside = plant.EvalBodyPoseInWorld(context, own.body()).inverse() @ at
        moves: Floats = plant.CalcJacobianTranslationalVelocity(context, WRT_V, own, inside, world,
                                                                world)
        return moves
    for number in range(freeze.MOST_STEPS):
        if not freeze.is_wanted(number, after, every):
            simulator.AdvanceTo((number + 1) * STEP)
            continue
        touch = touching(plant, context, friction)
        j = touch.jacobian(point) if touch.pair else np.zeros((0, 3, plant.num_velocities()))
        ahead = plant.CalcMassMatrix(context) + STEP * np.diag(damping)
        solved = np.linalg.solve(ahead, j.reshape(-1, ahead.shape[0]).T).T.reshape(j.shape)
        bodies = bodies_of(plant, context, touch)
        simulator.AdvanceTo((number + 1) * STEP)
        if touch.pair:
            push = STEP * np.einsum("ci,cij->j", np.array(touch.force), solved)
            free = j @ (plant.GetVelocities(context) - push)
            yield number, freeze.problem(Path(source).stem, bodies or freeze.assembled(j, solved),
                                         touch, free, STEP, ENGINE)
