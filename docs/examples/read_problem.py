#!/usr/bin/env python3
"""Reads a ccpbench problem file with h5py alone: content hash, u = N gamma + r, and cone distances.

Usage: read_problem.py PROBLEM.h5
"""
import hashlib
import struct
import sys

import h5py
import numpy as np

# The arrays of each form, in the order in which they are hashed, with their element types.
COMMON = [("/ccp/mu", "<f8"), ("/ccp/r", "<f8")]
BODIES = COMMON + [
    ("/bodies/inverse_mass", "<f8"), ("/bodies/inverse_inertia", "<f8"),
    ("/contacts/bodies", "<i4"), ("/contacts/frame", "<f8"),
    ("/contacts/arm_a", "<f8"), ("/contacts/arm_b", "<f8"),
    ("/contacts/gap", "<f8"), ("/contacts/stiffness", "<f8"),
    ("/bodies/position", "<f8"), ("/bodies/orientation", "<f8"),
    ("/bodies/radius", "<f8"), ("/bodies/velocity", "<f8"), ("/contacts/compliance", "<f8"),
    ("/rolling/contact", "<i4"), ("/rolling/rho", "<f8"), ("/rolling/r", "<f8"),
    ("/rolling/compliance", "<f8"), ("/rolling/rows", "<i4"),
    ("/equality/bodies", "<i4"), ("/equality/rows", "<i4"),
    ("/equality/jacobian_a", "<f8"), ("/equality/jacobian_b", "<f8"), ("/equality/r", "<f8"),
    ("/equality/compliance", "<f8")]
ASSEMBLED = COMMON + [
    ("/delassus/row_offsets", "<i8"), ("/delassus/columns", "<i4"),
    ("/delassus/blocks", "<f8"), ("/contacts/stiffness", "<f8"), ("/contacts/compliance", "<f8")]


def content_hash(file):
    form = file.attrs["form"]
    always = {"/ccp/mu", "/ccp/r"}  # these enter even with no elements
    if form == "bodies":
        always |= {"/bodies/inverse_mass", "/contacts/bodies", "/contacts/frame"}
        if "/bodies/inverse_inertia" in file and file["/bodies/inverse_inertia"].size:
            always |= {"/contacts/arm_a", "/contacts/arm_b"}
    else:
        always |= {"/delassus/row_offsets", "/delassus/columns", "/delassus/blocks"}
    digest = hashlib.sha256(f"ccpbench-problem 1\n{form}\n".encode())
    attributes = file["/ccp"].attrs
    digest.update(struct.pack("<4d", attributes.get("dt", 0.0),
                              *attributes.get("gravity", (0.0, 0.0, 0.0))))
    for path, element in BODIES if form == "bodies" else ASSEMBLED:
        data = file[path][()] if path in file else np.empty(0)
        if data.size == 0 and path not in always:
            continue
        digest.update(f"{path}\n".encode())
        digest.update(struct.pack("<Q", data.size))
        digest.update(np.ascontiguousarray(data, dtype=element).tobytes())
    return digest.hexdigest()


def contact_velocity(file, gamma):
    """u = (N + Sigma) gamma + r, [n][3]: N = D^T M^-1 D is applied body by body, never formed."""
    given_way = np.zeros_like(gamma)
    if "/contacts/compliance" in file:
        given_way = file["/contacts/compliance"][()][:, [0, 1, 1]] * gamma
    if file.attrs["form"] == "assembled":
        offsets, columns = file["/delassus/row_offsets"][()], file["/delassus/columns"][()]
        u = file["/ccp/r"][()]
        products = np.einsum("kij,kj->ki", file["/delassus/blocks"][()], gamma[columns])
        np.add.at(u, np.repeat(np.arange(len(u)), np.diff(offsets)), products)
        return u + given_way
    inverse_mass = np.append(file["/bodies/inverse_mass"][()], 0.0)  # the last body: immovable
    pairs = file["/contacts/bodies"][()]  # -1 is the last body in Python, too
    frame = file["/contacts/frame"][()]  # rows n, t1, t2: contact axes from world axes
    world = np.einsum("cij,ci->cj", frame, gamma)  # on body B; body A gets the opposite
    impulse = np.zeros((len(inverse_mass), 3))
    np.add.at(impulse, pairs[:, 1], world)
    np.add.at(impulse, pairs[:, 0], -world)
    v = inverse_mass[:, None] * impulse
    relative = v[pairs[:, 1]] - v[pairs[:, 0]]
    if "/bodies/inverse_inertia" in file:
        inverse_inertia = file["/bodies/inverse_inertia"][()]
        inverse_inertia = np.append(inverse_inertia, np.zeros((1, 3, 3)), axis=0)
        arm_a, arm_b = file["/contacts/arm_a"][()], file["/contacts/arm_b"][()]
        torque = np.zeros_like(impulse)
        np.add.at(torque, pairs[:, 1], np.cross(arm_b, world))
        np.add.at(torque, pairs[:, 0], -np.cross(arm_a, world))
        w = np.einsum("bij,bj->bi", inverse_inertia, torque)
        relative += np.cross(w[pairs[:, 1]], arm_b) - np.cross(w[pairs[:, 0]], arm_a)
    return np.einsum("cij,cj->ci", frame, relative) + file["/ccp/r"][()] + given_way


def main(path):
    with h5py.File(path, "r") as file:
        if file.attrs["format"] != "ccpbench-problem" or file.attrs["version"] != 1:
            sys.exit(f"{path}: not a ccpbench problem file of version 1")
        found, stored = content_hash(file), file.attrs["content_sha256"]
        mu = file["/ccp/mu"][()]
        print(f"{file.attrs['name']}: {file.attrs['form']} form, {len(mu)} contacts")
        print(f"hash   {found} ({'as stored' if found == stored else 'NOT as stored: ' + stored})")
        if "/reference" in file and len(mu):
            gamma = file["/reference/gamma"][()]
            u = contact_velocity(file, gamma)
            in_cone = mu * gamma[:, 0] - np.linalg.norm(gamma[:, 1:], axis=1)
            in_dual = u[:, 0] - mu * np.linalg.norm(u[:, 1:], axis=1)
            gamma_text = np.array2string(gamma, precision=6, prefix="gamma  ")
            print(f"gamma  {gamma_text}")
            u_text = np.array2string(u, precision=6, suppress_small=True, prefix="u      ")
            print(f"u      {u_text}")
            print(f"reference: |gamma.u|/n = {abs(np.sum(gamma * u)) / len(mu):.1e} J,"
                  f" mu gamma_n - |gamma_t| >= {in_cone.min():.1e} N s,"
                  f" u_n - mu |u_t| >= {in_dual.min():.1e} m/s")
        return 0 if found == stored else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
