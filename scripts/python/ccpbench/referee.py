"""The referee's measures (docs/measures.md) in NumPy: what the program measures of an iterate.

A second implementation, by the definitions. Tests hold it against `harness/measure/referee.cpp`.
"""
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ccpbench.problem import Bodies, Floats, Problem

REFEREE_VERSION = 2


def project(x: Floats, mu: Floats) -> Floats:
    """The nearest points of the friction cones {mu n >= |t|}; x [n][3], mu [n]."""
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    apex = n + mu * t <= 0
    inside = ~apex & (t <= mu * n)
    along = (n + mu * t) / (1 + mu**2)
    scale = mu * along / np.where(t > 0, t, 1)
    projected = np.where(inside[:, None], x, np.column_stack([along, scale[:, None] * x[:, 1:]]))
    projected[apex] = 0
    return projected


def distance_to_cone(x: Floats, mu: Floats) -> Floats:
    """Of x [n][3] to K_mu, [n]."""
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    distance: Floats = np.where(
        n + mu * t <= 0, np.hypot(n, t),
        np.where(t <= mu * n, 0, (t - mu * n) / np.sqrt(1 + mu**2)))
    return distance


def distance_to_dual_cone(u: Floats, mu: Floats) -> Floats:
    """Of u [n][3] to K_mu* = {n >= mu |t|}, [n]; with mu = 0 the half-space n >= 0."""
    n, t = u[:, 0], np.linalg.norm(u[:, 1:], axis=1)
    distance: Floats = np.where(
        n >= mu * t, 0, np.where((t + mu * n <= 0) & (mu > 0), np.hypot(n, t),
                                 (mu * t - n) / np.sqrt(1 + mu**2)))
    return distance


@dataclass
class Scales:
    """What makes measures free of units."""
    s: float         # trace(N) / 3n, 1/kg
    q: float         # rms(r), m/s
    weight: Floats   # [n][3][3], kg: N_cc^-1, or what stands for it where N_cc is singular
    merit: float     # sum r_c.N_cc^-1 r_c, J


def scales_of(problem: Problem) -> Scales:
    blocks = problem.diagonal_blocks()
    trace = float(np.trace(blocks, axis1=1, axis2=2).sum())
    s = trace / (3 * problem.contacts) if trace > 0 else 1.0
    q = math.sqrt(float((problem.r**2).sum()) / problem.r.size) or 1.0
    weight: Floats = np.linalg.inv(regular(blocks, s)).astype(float, copy=False)
    return Scales(s, q, weight, float(np.einsum("ci,cij,cj->", problem.r, weight, problem.r)))


def regular(blocks: Floats, spare: float) -> Floats:
    """The blocks, with A + trace(A)/3 for a singular A and `spare` for zero."""
    mean = np.trace(blocks, axis1=1, axis2=2) / 3
    minor = blocks[:, 0, 0] * blocks[:, 1, 1] - blocks[:, 0, 1]**2
    fine = (blocks[:, 0, 0] > 0) & (minor > 0) & (np.linalg.det(blocks) > 1e-12 * mean**3)
    shift = np.where(fine, 0, np.where(mean > 0, mean, spare))
    shifted: Floats = blocks + shift[:, None, None] * np.eye(3)
    return shifted


def of_law(problem: Problem, scales: Scales, gamma: Floats, v: Floats,
           primal: float) -> dict[str, float]:
    """The measures that both laws have.
    @param v  u, or for Coulomb's law De Saxcé's u + (mu |u_t|, 0, 0)"""
    n, s, q, mu = problem.contacts, scales.s, scales.q, problem.mu
    dual = float(distance_to_dual_cone(v, mu).max()) / q
    gap = abs(float((gamma * v).sum())) * s / (n * q * q)
    step = gamma - project(gamma - v / s, mu)
    violation = gamma - project(gamma - v, mu)
    merit = float(np.einsum("ci,cij,cj->", violation, scales.weight, violation))
    return {"dual": dual, "complementarity": gap, "residual": max(dual, primal, gap),
            "natural_map": float(np.abs(step).max()) * s / q,
            "merit": merit / scales.merit if scales.merit > 0 else merit,
            "normal_residual": float(np.abs(step[:, 0]).sum()) * s / n}


def residuals(problem: Problem, gamma: ArrayLike) -> dict[str, float]:
    """All measures of impulses, in the order of `ccpbench list measures`. NaN: not defined, as
    where there is no reference, and all of them for impulses that are not finite.

    @param gamma  [n][3] or [3n], N s, contact axes

    @throws ValueError  it has another size, or the problem has more than contacts
    """
    if problem.others:
        raise ValueError(f"{problem.name}: expected contacts alone, found "
                         + ", ".join(f"/{path}" for path in problem.others))
    gamma = np.asarray(gamma, float)
    if gamma.size != problem.r.size:
        raise ValueError(f"gamma: expected {problem.r.size} values (3 per contact), found "
                         f"{gamma.size}")
    gamma = gamma.reshape(-1, 3)
    n, mu = problem.contacts, problem.mu
    if n == 0:
        return dict.fromkeys(NAMES, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        u = problem.velocity(gamma)
        if not np.isfinite(gamma).all() or not np.isfinite(u).all():
            return dict.fromkeys(NAMES, math.nan)
    scales = scales_of(problem)
    u_t, gamma_t = (np.linalg.norm(x[:, 1:], axis=1) for x in (u, gamma))
    pulls = np.where(mu == 0, -gamma[:, 0], 0)  # where mu = 0 the other two are blind to it
    feas = float(np.max([np.zeros(n), mu * u_t - u[:, 0], gamma_t - mu * gamma[:, 0], pulls]))
    cost = abs(float((gamma * u).sum())) / n
    primal = float(distance_to_cone(gamma, mu).max()) * scales.s / scales.q
    convex = of_law(problem, scales, gamma, u, primal)
    v = u + np.column_stack([mu * u_t, np.zeros((n, 2))])
    coulomb = of_law(problem, scales, gamma, v, primal)
    values = {"cost": cost, "feas": feas, "error": max(cost, feas), "primal": primal, **convex,
              "energy": math.sqrt(2 * convex["complementarity"]),
              **against_reference(problem, gamma, u),
              **{"coulomb_" + name: value for name, value in coulomb.items()}}
    return {name: values[name] for name in NAMES}


def against_reference(problem: Problem, gamma: Floats, u: Floats) -> dict[str, float]:
    """What compares with the reference solution of the problem."""
    known = {"velocity": math.nan, "objective_gap": math.nan, "multiplier": math.nan}
    reference = problem.reference
    if reference is None:
        return known

    def objective(x: Floats, at: Floats) -> float:
        return float(0.5 * (x * (at + problem.r)).sum())
    known["objective_gap"] = (objective(gamma, u)
                              - objective(reference, problem.velocity(reference)))
    if isinstance(problem.delassus, Bodies):
        apart = problem.delassus.velocities(gamma) - problem.delassus.velocities(reference)
        known["velocity"] = float(np.linalg.norm(apart, axis=1).max(initial=0))
    presses = (reference[:, 0] > 0) & (reference[:, 0] >= 1e-3 * reference[:, 0].mean())
    relative = np.abs(gamma[presses, 0] - reference[presses, 0]) / reference[presses, 0]
    known["multiplier"] = float(relative.mean()) if presses.any() else 0.0
    return known


NAMES = ("cost", "feas", "error", "dual", "primal", "complementarity", "residual", "natural_map",
         "velocity", "energy", "objective_gap", "merit", "coulomb_residual",
         "coulomb_natural_map", "coulomb_merit", "normal_residual", "coulomb_normal_residual",
         "multiplier")
