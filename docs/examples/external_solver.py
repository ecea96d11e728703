#!/usr/bin/env python3
"""A solver for ccpbench in 30 lines: projected gradients with Nesterov's acceleration and restart.

Usage: external_solver.py PROBLEM.h5 OUTPUT.h5 TIME_LIMIT
"""
import sys
import time
import h5py
import numpy as np
from read_problem import contact_velocity  # u = N gamma + r, beside this file

def project(x, mu):
    """Onto the friction cones {mu n >= |t|}, contact by contact."""
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    top = np.where(t <= mu * n, n, np.maximum(n + mu * t, 0) / (1 + mu**2))
    scale = np.where(t <= mu * n, 1, mu * top / np.maximum(t, 1e-300))
    return np.column_stack([top, scale[:, None] * x[:, 1:]])

problem, output, time_limit = sys.argv[1], sys.argv[2], float(sys.argv[3])
with h5py.File(problem) as file:
    mu, zero = file["/ccp/mu"][()], np.zeros_like(file["/ccp/r"][()])
    r, x = contact_velocity(file, zero), np.ones_like(zero)
    start = time.perf_counter()
    for _ in range(30):  # the largest eigenvalue of N
        x /= np.linalg.norm(x)
        x = contact_velocity(file, x) - r
    step, gamma, y, theta, history = 1 / (1.1 * np.linalg.norm(x)), zero, zero, 1.0, []
    for k in range(1, 100001):
        new = project(y - step * contact_velocity(file, y), mu)
        faster = (1 + np.sqrt(1 + 4 * theta**2)) / 2
        if np.sum((y - new) * (new - gamma)) > 0:  # the wrong way: start again
            theta, faster = 1.0, 1.0
        y, theta, change = new + (theta - 1) / faster * (new - gamma), faster, abs(new - gamma).max()
        gamma, now = new, time.perf_counter() - start
        if not history or now > 1.2 * history[-1][0]:
            history.append((now, k, gamma))
        if now > time_limit or change <= 1e-12 * abs(gamma).max():
            break

with h5py.File(output, "w") as file:
    file["gamma"] = gamma
    file.attrs.update(solve_time=now, iterations=k, version=f"numpy {np.__version__}")
    for name, column in zip(("time", "iterations", "gamma"), zip(*history)):
        file[f"history/{name}"] = np.array(column)
