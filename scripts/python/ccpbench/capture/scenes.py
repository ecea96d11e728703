"""Scenes for engines, a dozen lines each, as MJCF that MuJoCo, Pinocchio and Drake read. SI."""
import contextlib
import math
import re
import tempfile
import xml.etree.ElementTree
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOWN = "0 0 -9.81"
GROUND = '<geom name="ground" type="plane" size="20 20 1" friction="0.8"/>'


def mjcf(world: str, more: str = "") -> str:
    return (f'<mujoco model="scene"><compiler angle="degree"/><option timestep="0.005" '
            f'gravity="{DOWN}"/><worldbody>{world}</worldbody>{more}</mujoco>')


def free(name: str, at: tuple[float, float, float], geom: str) -> str:
    """A body without joints."""
    x, y, z = at
    return (f'<body name="{name}" pos="{x:g} {y:g} {z:g}"><freejoint/><geom {geom} density="500" '
            'friction="0.6"/></body>')


def boxes(count: int) -> str:
    """Towers of ten boxes of 20 cm, each a little off the one below."""
    return mjcf(GROUND + "".join(
        free(f"box{i}", (0.5 * (i // 10 % 8) + 0.01 * (i % 3), 0.5 * (i // 80) + 0.01 * (i % 2),
                         0.1 + 0.2005 * (i % 10)), 'type="box" size="0.1 0.1 0.1"')
        for i in range(count)))


def marbles(count: int) -> str:
    """Marbles of 3 cm that drop into a bowl of eight plates."""
    bowl = "".join(
        f'<geom name="plate{k}" type="box" size="0.02 0.12 0.4" pos="{0.3 * math.cos(a):.6f} '
        f'{0.3 * math.sin(a):.6f} 0.15" euler="0 0 {math.degrees(a):g}" friction="0.4"/>'
        for k, a in enumerate(math.tau * k / 8 for k in range(8)))
    return mjcf(GROUND + bowl + "".join(
        free(f"marble{i}", (0.07 * (i % 5 - 2) + 0.004 * (i // 25 % 3),
                            0.07 * (i // 5 % 5 - 2) + 0.003 * (i // 25 % 2),
                            0.04 + 0.062 * (i // 25)), 'type="sphere" size="0.03"')
        for i in range(count)))


def gripper(count: int) -> str:
    """Two fingers on slides press on a row of boxes and hold it."""
    held = "".join(free(f"box{i}", (0.1003 * i, 0, 1), 'type="box" size="0.05 0.05 0.05"')
                   for i in range(count))
    left, right = -0.071, 0.1003 * (count - 1) + 0.071
    fingers = "".join(
        f'<body name="finger{k}" pos="{x:.6f} 0 1"><joint name="slide{k}" type="slide" '
        f'axis="{axis} 0 0" damping="5"/><geom type="box" size="0.02 0.06 0.06" density="1000" '
        'friction="0.9"/></body>' for k, (x, axis) in enumerate(((left, 1), (right, -1))))
    motors = "".join(f'<motor name="motor{k}" joint="slide{k}" gear="{60 * count:g}"/>'
                     for k in range(2))
    return mjcf(GROUND + held + fingers, f"<actuator>{motors}</actuator>")


def limb(name: str, at: str, joints: str, along: str, size: str, inner: str = "") -> str:
    """A capsule on hinges, `along` its two ends, and what hangs on it."""
    return (f'<body name="{name}" pos="{at}">{joints}<geom type="capsule" fromto="{along}" '
            f'size="{size}" density="1000" friction="0.8"/>{inner}</body>')


def hinge(name: str, axis: str, low: float, high: float) -> str:
    return (f'<joint name="{name}" type="hinge" axis="{axis}" limited="true" range="{low:g} '
            f'{high:g}" damping="2" armature="0.01" stiffness="400"/>')


def exclusions(count: int, pairs: list[tuple[str, str]]) -> str:
    """Bodies on several joints in one place are no neighbours to every reader."""
    return "<contact>" + "".join(f'<exclude body1="{a}{k}" body2="{b}{k}"/>'
                                 for k in range(count) for a, b in pairs) + "</contact>"


def quadruped(count: int) -> str:
    """Robots on four legs of two capsules each, held by springs in their joints."""
    def leg(k: int, name: str, x: float, y: float) -> str:
        shank = limb(f"shank{name}{k}", "0 0 -0.25", hinge(f"knee{name}{k}", "0 1 0", -90, 10),
                     "0 0 0 0 0 -0.25", "0.025")
        return limb(f"thigh{name}{k}", f"{x} {y} 0", hinge(f"roll{name}{k}", "1 0 0", -40, 40)
                    + hinge(f"pitch{name}{k}", "0 1 0", -60, 60), "0 0 0 0 0 -0.25", "0.035", shank)
    return mjcf(GROUND + "".join(
        f'<body name="trunk{k}" pos="{0.9 * (k % 10):g} {0.7 * (k // 10):g} 0.53"><freejoint/>'
        '<geom type="box" size="0.25 0.1 0.06" density="800"/>'
        + "".join(leg(k, f"{x > 0:d}{y > 0:d}", x, y) for x in (-0.22, 0.22) for y in (-0.13, 0.13))
        + "</body>" for k in range(count)),
        exclusions(count, [("trunk", f"thigh{leg}") for leg in ("00", "01", "10", "11")]))


def humanoid(count: int) -> str:
    """People of capsules with 19 joints, standing on feet that are boxes."""
    def leg(k: int, side: str, y: float) -> str:
        foot = (f'<body name="foot{side}{k}" pos="0 0 -0.4">'
                + hinge(f"ankle{side}{k}", "0 1 0", -40, 40)
                + '<geom type="box" size="0.11 0.05 0.02" pos="0.04 0 -0.05" density="1000" '
                'friction="0.8"/></body>')
        shin = limb(f"shin{side}{k}", "0 0 -0.4", hinge(f"knee{side}{k}", "0 1 0", -5, 140),
                    "0 0 0 0 0 -0.38", "0.045", foot)
        hips = "".join(hinge(f"hip{axis[0]}{side}{k}", axis[1], -60, 60)
                       for axis in (("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1")))
        return limb(f"thigh{side}{k}", f"0 {y} -0.1", hips, "0 0 0 0 0 -0.36", "0.06", shin)

    def arm(k: int, side: str, y: float) -> str:
        fore = limb(f"fore{side}{k}", "0 0 -0.28", hinge(f"elbow{side}{k}", "0 1 0", -130, 5),
                    "0 0 0 0 0 -0.25", "0.035")
        return limb(f"arm{side}{k}", f"0 {y} 0.35", hinge(f"shoulder{side}{k}", "1 0 0", -90, 90)
                    + hinge(f"swing{side}{k}", "0 1 0", -90, 90), "0 0 0 0 0 -0.26", "0.04", fore)
    return mjcf(GROUND + "".join(
        f'<body name="pelvis{k}" pos="{1.2 * (k % 10):g} {1.2 * (k // 10):g} 0.971"><freejoint/>'
        '<geom type="capsule" fromto="0 -0.08 0 0 0.08 0" size="0.1" density="1000"/>'
         f'<body name="chest{k}" pos="0 0 0.12">' + hinge(f"waistx{k}", "1 0 0", -30, 30)
        + hinge(f"waisty{k}", "0 1 0", -30, 60) + hinge(f"waistz{k}", "0 0 1", -40, 40)
        + '<geom type="capsule" fromto="0 0 0.06 0 0 0.34" size="0.12" density="900"/>'
        + '<geom type="sphere" pos="0 0 0.62" size="0.1" density="900"/>'
        + arm(k, "l", 0.24) + arm(k, "r", -0.24) + "</body>"
        + leg(k, "l", 0.09) + leg(k, "r", -0.09) + "</body>" for k in range(count)),
        exclusions(count, [("pelvis", "chest"), ("pelvis", "thighl"), ("pelvis", "thighr"),
                           ("chest", "arml"), ("chest", "armr")]))


SCENES: Mapping[str, Callable[[int], str]] = {
    "boxes": boxes, "marbles": marbles, "gripper": gripper, "quadruped": quadruped,
    "humanoid": humanoid}


def parts(text: str) -> tuple[str, int, float]:
    """Name, count and slope [rad] of NAME or NAME[count=N,slope=DEGREES].

    @throws ValueError  there is no such scene, or an option is out of range
    """
    name, _, rest = text.partition("[")
    given = dict(part.split("=", 1) for part in rest.removesuffix("]").split(",") if "=" in part)
    try:
        count, slope = int(given.get("count", 1)), math.radians(float(given.get("slope", 0)))
    except ValueError:
        count, slope = 0, 0.0
    known = name in SCENES and given.keys() <= {"count", "slope"}
    if not known or count < 1 or not abs(slope) < math.pi / 2:
        raise ValueError(f"{text}: expected a file, or one of {', '.join(SCENES)} with "
                         "[count=N,slope=DEGREES], N at least 1, less than 90 degrees")
    return name, count, slope


def is_scene(text: str) -> bool:
    """Not a file."""
    return not Path(text).is_file()


def gravity(text: str) -> tuple[float, float, float]:
    """m/s^2; on a slope it is turned towards +x."""
    slope = parts(text)[2]
    return (9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope))


def scene(text: str) -> str:
    """MJCF. @throws ValueError  as `parts` does"""
    name, count, _ = parts(text)
    return SCENES[name](count).replace(DOWN, " ".join(f"{part:.9g}" for part in gravity(text)))


@contextlib.contextmanager
def file_of(source: str) -> Iterator[str]:
    """Path of MJCF, while it is in use: the file itself, or one that is made of a scene.

    @throws ValueError  as `parts` does
    """
    if not is_scene(source):
        yield source
        return
    with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as made:
        made.write(scene(source))
        made.flush()
        yield made.name


def stated_gravity(path: str) -> list[float] | None:
    """Of an MJCF file, m/s^2, as not all readers look at it."""
    found = re.search(r'gravity="([^"]*)"', Path(path).read_text("utf-8"))
    return [float(part) for part in found[1].split()] if found else None


def expect_one_free_body(path: str, source: str) -> None:
    """For readers that take the first body only.

    @throws ValueError  more bodies of the MJCF file move freely
    """
    free = Path(path).read_text("utf-8").count("<freejoint")
    if free > 1:
        raise ValueError(f"{source}: expected one body that moves freely, found {free}: the "
                         "engine's reader takes the first one only")


@dataclass
class Solid:
    """A box (size: half its edges), a sphere (size: its radius) or a plane, alone in its body."""
    kind: str
    size: list[float]      # m
    mass: float            # kg; 0: immovable
    position: list[float]  # [3], m
    euler: list[float]     # [3], degrees
    friction: float


def solids(source: str) -> list[Solid]:
    """Those of a scene, for engines that read no MJCF.

    @throws ValueError  a body has joints; or as `parts` does
    """
    root: Any = xml.etree.ElementTree.fromstring(scene(source)).find("worldbody")
    found = []
    for body in root:
        geom = body if body.tag == "geom" else body.find("geom")
        moves = body.tag == "body"
        if moves and (body.find("freejoint") is None or body.find("body") is not None):
            raise ValueError(f"{source}: expected bodies that are free of joints, found "
                             f"{body.get('name')}")

        def numbers(element: Any, name: str, otherwise: str = "0 0 0") -> list[float]:
            return [float(part) for part in element.get(name, otherwise).split()]
        kind, size = geom.get("type"), numbers(geom, "size")
        density = float(geom.get("density", 0)) if moves else 0.0
        mass = (density * 4 / 3 * math.pi * size[0]**3 if kind == "sphere"
                else density * (8 * math.prod(size)))
        found.append(Solid(kind, size, mass, numbers(body, "pos"), numbers(body, "euler"),
                           numbers(geom, "friction", "1")[0]))
    return found
