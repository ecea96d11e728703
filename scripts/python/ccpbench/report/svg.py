"""Line charts as SVG text, for pages without scripts."""
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ccpbench.styles import COLOURS
from ccpbench.tables import number_text

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 20, 10, 44
DASHES = ("", "7 3", "6 2 1.5 2", "1.5 2")


@dataclass
class Chart:
    """Lines over axes; logarithmic axes leave out what is not positive."""
    x_title: str
    y_title: str
    x_log: bool = True
    y_log: bool = True
    lines: list[tuple[int, str, list[tuple[float, float]], bool]] = field(default_factory=list)
    levels: list[float] = field(default_factory=list)  # dashed, of y

    def add(self, style: int, title: str, points: Sequence[tuple[float, float]],
            stairs: bool = False) -> None:
        """@param style  the solver's number, which decides colour and dashes"""
        shown = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)
                 and (x > 0 or not self.x_log) and (y > 0 or not self.y_log)]
        if shown:
            self.lines.append((style, title, shown, stairs))

    def text(self) -> str:
        """The element; nothing of a chart without points."""
        points = [point for line in self.lines for point in line[2]]
        if not points:
            return ""
        x = Axis([point[0] for point in points], self.x_log, LEFT, WIDTH - RIGHT)
        y = Axis([point[1] for point in points], self.y_log, HEIGHT - BOTTOM, TOP)
        about = html.escape(f"{self.y_title} against {self.x_title}")
        size = f"0 0 {WIDTH} {HEIGHT}"
        parts = [f'<svg class="chart" viewBox="{size}" role="img" aria-label="{about}">']
        for value in x.ticks():
            at = f"{x.at(value):.1f}"
            parts.append(f'<path class="grid" d="M{at} {TOP}V{HEIGHT - BOTTOM}"/><text x="{at}" '
                         f'y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{x.label(value)}</text>')
        for value in y.ticks():
            at = f"{y.at(value):.1f}"
            parts.append(f'<path class="grid" d="M{LEFT} {at}H{WIDTH - RIGHT}"/>'
                         f'<text x="{LEFT - 6}" y="{float(at) + 4:.1f}" text-anchor="end">'
                         f"{y.label(value)}</text>")
        parts += [f'<path class="level" d="M{LEFT} {y.at(level):.1f}H{WIDTH - RIGHT}"/>'
                  for level in self.levels if y.low <= y.of(level) <= y.high]
        for style, title, line, stairs in self.lines:
            path = f"M{x.at(line[0][0]):.1f} {y.at(line[0][1]):.1f}" + "".join(
                (f"H{x.at(a):.1f}V{y.at(b):.1f}" if stairs else f"L{x.at(a):.1f} {y.at(b):.1f}")
                for a, b in line[1:])
            dash = f' stroke-dasharray="{DASHES[style % 4]}"' if style % 4 else ""
            parts.append(f'<path class="line" stroke="{COLOURS[style % 7]}"{dash} d="{path}">'
                         f"<title>{html.escape(title)}</title></path>"
                         f'<circle cx="{x.at(line[-1][0]):.1f}" cy="{y.at(line[-1][1]):.1f}" r="3" '
                         f'fill="{COLOURS[style % 7]}"/>')
        middle = (TOP + HEIGHT - BOTTOM) / 2
        parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
                     f"{html.escape(self.x_title)}</text>"
                     f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">'
                     f"{html.escape(self.y_title)}</text></svg>")
        return "".join(parts)


class Axis:
    """From values to places."""

    def __init__(self, values: Sequence[float], log: bool, begin: float, end: float):
        self.log, self.begin, self.end = log, begin, end
        places = [self.of(value) for value in values]
        self.low, self.high = min(places), max(places)
        if self.high - self.low < 1e-9:
            self.low, self.high = self.low - 0.5, self.high + 0.5

    def of(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def at(self, value: float) -> float:
        share = (self.of(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """At most some seven round values."""
        if not self.log:
            step = 10.0**math.floor(math.log10((self.high - self.low) / 2))
            while (self.high - self.low) / step > 7:
                step *= 2
            first = math.ceil(self.low / step - 1e-9)
            return [step * k for k in range(first, math.floor(self.high / step + 1e-9) + 1)]
        first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
        some = [10.0**k for k in range(first, last + 1, max(1, (last - first) // 6 + 1))]
        return some if len(some) > 1 else [10**self.low, 10**self.high]

    def label(self, value: float) -> str:
        return number_text(value) if self.log else f"{value:g}"
