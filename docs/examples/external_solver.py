#!/usr/bin/env python3
"""A solver for ccpbench: projected gradients with Nesterov's acceleration and restart."""
import sys
import time

import h5py
import numpy as np

from read_problem import contact_velocity  # u = N gamma + r, beside this file


def project(x, mu):
    """Onto the friction cones {mu n >= |t|}, contact by contact."""
    n, t = x[:, :1], np.linalg.norm(x[:, 1:], axis=1, keepdims=True)
    n = np.where(t <= mu * n, n, np.maximum(n + mu * t, 0) / (1 + mu**2))
    return np.hstack([n, x[:, 1:] * np.minimum(1, mu * n / np.maximum(t, 1e-300))])

problem, output, time_limit = sys.argv[1:]
with h5py.File(problem) as file, h5py.File(output, "w") as answer:
    mu, r, start = file["/ccp/mu"][()][:, None], file["/ccp/r"][()], time.perf_counter()
    x, gamma, y, k, age, now, change = r + 1, 0 * r, 0 * r, 0, 0, 0.0, 1.0
    history: list[tuple[float, int, np.ndarray]] = []
    for _ in range(30):  # |x| becomes the largest eigenvalue of N
        x = contact_velocity(file, x / np.linalg.norm(x)) - r
    while now < float(time_limit) and k < 100000 and change > 1e-12 * abs(gamma).max():
        new = project(y - contact_velocity(file, y) / (1.1 * np.linalg.norm(x)), mu)
        age = age + 1 if np.sum((y - new) * (new - gamma)) <= 0 else 0  # else: uphill, start again
        y, gamma, change = new + age / (age + 3) * (new - gamma), new, abs(new - gamma).max()
        k, now = k + 1, time.perf_counter() - start
        if k == 1 or now > 1.2 * history[-1][0]:
            history.append((now, k, gamma))
    for name, column in zip(("time", "iterations", "gamma"), zip(*history)):
        answer[f"history/{name}"] = np.array(column)
    answer["gamma"] = gamma
    answer.attrs.update(solve_time=now, iterations=k, version=f"numpy {np.__version__}")
