"""The referee's measures (docs/measures.md) in NumPy: what the program measures of an iterate.

A second implementation, by the definitions. Tests hold it against `harness/measure/referee.cpp`.
"""
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ccpbench.arrays import Floats
from ccpbench.pools import Equality, Rolling
from ccpbench.problem import Bodies, Problem

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


def project_rolling(x: Floats, mu: Floats, rho: Floats) -> Floats:
    """The nearest points of the cones {n >= 0, |t| <= mu n, |r| <= rho n}; x [n][6]: n, t, r.

    The normal part is the root of n - x_n - mu (|t| - mu n)_+ - rho (|r| - rho n)_+, the smallest
    of four increasing lines: the largest of their roots.
    """
    t, r = np.linalg.norm(x[:, 1:3], axis=1), np.linalg.norm(x[:, 3:], axis=1)
    roots = [(x[:, 0] + a * mu * t + b * rho * r) / (1 + a * mu**2 + b * rho**2)
             for a in (0, 1) for b in (0, 1)]
    n = np.maximum(np.max(roots, axis=0), 0)
    cut_t = np.where(t > mu * n, mu * n / np.where(t > 0, t, 1), 1)
    cut_r = np.where(r > rho * n, rho * n / np.where(r > 0, r, 1), 1)
    return np.column_stack([n, cut_t[:, None] * x[:, 1:3], cut_r[:, None] * x[:, 3:]])


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

    @param gamma  [t][3] or [3t], N s, contact axes; t = n but for problems with more than contacts

    @throws ValueError  it has another size
    """
    gamma = np.asarray(gamma, float)
    if gamma.size != 3 * problem.triples:
        what = "triple" if problem.pools else "contact"
        raise ValueError(f"gamma: expected {3 * problem.triples} values (3 per {what}), found "
                         f"{gamma.size}")
    gamma = gamma.reshape(-1, 3)
    if problem.triples == 0:
        return dict.fromkeys(NAMES, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        u = problem.velocity(gamma)
        if not np.isfinite(gamma).all() or not np.isfinite(u).all():
            return dict.fromkeys(NAMES, math.nan)
    convex, coulomb = (of_pools if problem.pools else of_contacts)(problem, gamma, u)
    values = {**convex, "error": float(np.maximum(convex["cost"], convex["feas"])),
              "energy": math.sqrt(2 * convex["complementarity"]),
              **against_reference(problem, gamma, u),
              **{"coulomb_" + name: value for name, value in coulomb.items()}}
    return {name: values[name] for name in NAMES}


def of_contacts(problem: Problem, gamma: Floats, u: Floats) -> list[dict[str, float]]:
    """The measures of the convex law and of Coulomb's, of contacts alone."""
    n, mu, scales = problem.contacts, problem.mu, scales_of(problem)
    u_t, gamma_t = (np.linalg.norm(x[:, 1:], axis=1) for x in (u, gamma))
    pulls = np.where(mu == 0, -gamma[:, 0], 0)  # where mu = 0 the other two are blind to it
    feas = float(np.max([np.zeros(n), mu * u_t - u[:, 0], gamma_t - mu * gamma[:, 0], pulls]))
    cost = abs(float((gamma * u).sum())) / n
    primal = float(distance_to_cone(gamma, mu).max()) * scales.s / scales.q
    v = u + np.column_stack([mu * u_t, np.zeros((n, 2))])
    both = {"cost": cost, "feas": feas, "primal": primal}
    return [both | of_law(problem, scales, gamma, w, primal) for w in (u, v)]


def pool_scales(problem: Problem, pool: Rolling | Equality) -> Floats:
    """Mean diagonals of the pool's blocks of N + Sigma, over the rows in use, [k]."""
    trace = np.trace(pool.diagonal_blocks(problem.bodies), axis1=1, axis2=2)
    mean: Floats = trace / pool.used.sum(axis=1)
    return mean


def length(wanted: Floats, own: Floats) -> Floats:
    """What makes impulses of a pool those of contacts: l^2 = wanted / own, 1 where one is zero."""
    known = (wanted > 0) & (own > 0)
    return np.sqrt(np.where(known, wanted, 1) / np.where(known, own, 1))


def of_pools(problem: Problem, gamma: Floats, u: Floats) -> list[dict[str, float]]:
    """The measures of both laws where there is rolling resistance or an equality constraint, which
    are measured in units of contacts: moments over a length, angular velocities times it."""
    n, mu = problem.contacts, problem.mu
    contact_scale = np.trace(problem.diagonal_blocks(), axis1=1, axis2=2) / 3
    s, count = float(contact_scale.mean()) if n else 0.0, 3.0 * n
    rho, roll, spin = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3))
    free, first = [problem.r], n
    twist = np.zeros(n)              # moments in rows that are not there
    joints = [np.zeros((0, 3))] * 2  # impulses and velocities
    outside = joints[0]              # impulses in rows that are not there
    for pool in problem.pools:
        own = pool_scales(problem, pool)
        if isinstance(pool, Equality) and n == 0:
            s = float((pool.rows * own).sum() / pool.rows.sum())
        some = slice(first, first + len(pool.r))
        if isinstance(pool, Rolling):
            scale = length(contact_scale[pool.contact], own)[:, None]
            rho[pool.contact] = pool.rho / scale[:, 0]
            moment = gamma[some] / scale
            roll[pool.contact] = np.where(pool.used, moment, 0)
            spin[pool.contact] = np.where(pool.used, u[some] * scale, 0)
            twist[pool.contact] = np.where(pool.used, 0, moment)[:, 0]
        else:
            scale = length(np.full(len(pool.r), s or 1.0), own)[:, None]
            joints = [gamma[some] / scale, np.where(pool.used, u[some] * scale, 0)]
            outside = np.where(pool.used, 0, joints[0])
        count += float(pool.used.sum())
        free.append(pool.r * scale)
        first += len(pool.r)
    s = s if s > 0 else 1.0
    q = math.sqrt(float((np.concatenate(free)**2).sum()) / count) or 1.0
    cones = n + len(joints[0])
    g = np.hstack([gamma[:n], roll])
    apart = np.column_stack([g - project_rolling(g, mu, rho), twist])
    primal = float(np.linalg.norm(apart, axis=1).max(initial=0))
    primal = max(primal, float(np.linalg.norm(outside, axis=1).max(initial=0)))
    slip = mu * np.linalg.norm(u[:n, 1:], axis=1) + rho * np.linalg.norm(spin, axis=1)
    laws = []
    for more in (0, slip):  # De Saxcé's, for Coulomb's law
        v = np.hstack([u[:n], spin])
        v[:, 0] += more
        work = float((g * v).sum() + (joints[0] * joints[1]).sum())
        apart = np.linalg.norm(project_rolling(-v, mu, rho), axis=1)  # Moreau: to the dual cone
        dual = max(float(apart.max(initial=0)),
                   float(np.linalg.norm(joints[1], axis=1).max(initial=0))) / q
        step = g - project_rolling(g - v / s, mu, rho)
        natural = max(float(np.abs(step).max(initial=0)),
                      float(np.abs(joints[1]).max(initial=0)) / s)
        gap = abs(work) * s / (cones * q * q)
        laws.append({"cost": abs(work) / cones, "dual": dual, "primal": primal * s / q,
                     "complementarity": gap, "residual": max(dual, primal * s / q, gap),
                     "natural_map": natural * s / q, "feas": math.nan, "merit": math.nan,
                     "normal_residual": math.nan})
    return laws


def against_reference(problem: Problem, gamma: Floats, u: Floats) -> dict[str, float]:
    """What compares with the reference solution of the problem."""
    known = {"velocity": math.nan, "objective_gap": math.nan, "multiplier": math.nan}
    reference = problem.reference
    if reference is None:
        return known

    def objective(x: Floats, at: Floats) -> float:
        return float(0.5 * (x * (at + problem.free_velocity)).sum())
    known["objective_gap"] = (objective(gamma, u)
                              - objective(reference, problem.velocity(reference)))
    if isinstance(problem.delassus, Bodies):
        apart = (problem.motion(gamma)[0] - problem.motion(reference)[0])[:-1]
        known["velocity"] = float(np.linalg.norm(apart, axis=1).max(initial=0))
    normal, given = reference[:problem.contacts, 0], gamma[:problem.contacts, 0]
    presses = (normal > 0) & (normal >= 1e-3 * normal.sum() / max(problem.contacts, 1))
    relative = np.abs(given[presses] - normal[presses]) / normal[presses]
    known["multiplier"] = float(relative.mean()) if presses.any() else 0.0
    return known


NAMES = ("cost", "feas", "error", "dual", "primal", "complementarity", "residual", "natural_map",
         "velocity", "energy", "objective_gap", "merit", "coulomb_residual",
         "coulomb_natural_map", "coulomb_merit", "normal_residual", "coulomb_normal_residual",
         "multiplier")
