"""What all figures for papers have in common: styles, axes, legend, page, saving.

The modules `plot` and `reproduce` draw with it. Nothing here reads a file or knows what a figure
shows. All lengths are inches, all sizes of text points.
"""
import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from ccpbench.measures import measure as measure_of
from ccpbench.results import Run, Series
from ccpbench.styles import style_of
from ccpbench.tables import Made, provenance_line, target_text

Floats = NDArray[np.float64]

FONT, SMALL = 8, 6.5
# With these, a figure of one panel fits a column and one of three fits a page.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, GAP, ROW_GAP = 2.0, 1.85, 0.6, 0.45, 0.4, 0.12, 0.55
BAR = 0.4  # of a bar of colours with its numbers and its text


def axis_label(measure: str) -> str:
    """A measure with its unit."""
    return measure_of(measure).title


@dataclass
class Curve:
    """Of a series; logarithmic axes can show it."""
    x: Floats
    y: Floats
    band: tuple[Floats, Floats, Floats] | None  # x, smallest, largest; NaN where there is none

    @property
    def width(self) -> list[float]:
        """From where to where it goes."""
        reach = self.x if self.band is None else self.band[0]
        return [float(reach[0]), float(reach[-1])]

    @property
    def height(self) -> list[float]:
        values = [self.y] if self.band is None else [self.y, *self.band[1:]]
        return [float(min(map(np.nanmin, values))), float(max(map(np.nanmax, values)))]


def curve_of(run: Run, measure: str, column: str) -> tuple[Floats, Floats]:
    """The points that a log-log plot can show; the initial guess is none of them."""
    x, value = run.work[column].astype(float), run.values[measure]
    shown = (run.work["outer"] > 0) & (x > 0) & np.isfinite(value) & (value > 0)
    return x[shown], value[shown]


def median_curve(one: Series, measure: str, column: str) -> Curve | None:
    """That of the repetition in the middle, from its first look to its end, and what the others
    span; None if there is nothing to draw."""
    drawable = [(run, curve) for run in one.runs
                if (curve := curve_of(run, measure, column))[0].size]
    if not drawable:
        return None
    x, y = drawable[one.middle([run for run, _ in drawable], column)][1]
    return Curve(x, y, band_of([curve for _, curve in drawable]) if len(drawable) > 1 else None)


def band_of(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats, Floats]:
    """x, smallest and largest value of the curves that there are at x: none goes on after its end
    or begins before its start. At an end the band has two values, with and without that curve."""
    logs = [(np.log(x), np.log(y)) for x, y in curves]
    grid = np.unique(np.concatenate([x for x, _ in logs]))
    if len(grid) == 1:
        grid = np.repeat(grid, 2)
    between = np.stack([grid[:-1], grid[1:]], axis=1)  # piece by piece
    values = np.array([np.where(((x[0] <= between[:, :1]) & (between[:, 1:] <= x[-1])),
                                np.interp(between, x, y), math.nan) for x, y in logs])
    there = np.isfinite(values).any(axis=0)
    low = np.where(there, np.where(np.isnan(values), math.inf, values).min(axis=0), math.nan)
    high = np.where(there, np.where(np.isnan(values), -math.inf, values).max(axis=0), math.nan)
    return np.exp(between).ravel(), np.exp(low).ravel(), np.exp(high).ravel()


def limits(values: Iterable[float]) -> tuple[float, float]:
    """Axis limits with some air, and at least two powers of ten between them."""
    values = list(values)
    low, high = math.log10(min(values)), math.log10(max(values))
    air = 0.06 * (high - low) + 0.02
    low, high = low - air, high + air
    if math.floor(high) - math.ceil(low) < 1:
        low, high = math.floor(low), math.ceil(high)
    return 10**low, 10**high


def draw_series(axes: Any, one: Series, curve: Curve, number: int,
                name: str | None = None) -> None:
    """A curve; its markers say by their filling whether the solve reached its stop.
    @param name  what `drawn` calls it"""
    style = style_of(number)
    filling = "white" if one.short else style["color"]
    axes.plot(curve.x, curve.y, markevery=(0.04 * (number % 4), 0.16), gid=name,
              **{**style, "markerfacecolor": filling})
    if curve.band:
        x, low, high = curve.band
        axes.fill_between(x, low, high, where=np.isfinite(low), color=style["color"], alpha=0.25,
                          linewidth=0.4)
    axes.plot(curve.x[-1], curve.y[-1], marker=style["marker"], markersize=5.5,
              color=style["color"], markerfacecolor=filling, zorder=4)


def set_ticks(axis: Any, low: float, high: float) -> None:
    """Powers of ten, and between them small ticks if these do not crowd."""
    axis.set_major_locator(LogLocator(numticks=8))
    few = math.log10(high / low) < 6
    axis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=99) if few else NullLocator())
    axis.set_minor_formatter(NullFormatter())


def make_legend(figure: Figure, every: Sequence[Series], labels: Sequence[str], lines: bool = True,
                hollow: str | None = None) -> tuple[Any, float]:
    """One legend for all panels, in as many columns as fit, and its height; None without labels.
    @param lines   curves are lines; else markers alone
    @param hollow  what hollow markers are; None: ends of `every` that are short of their stop"""
    if not labels:
        return None, 0.0
    letters = int(72 * figure.get_figwidth() / (0.57 * FONT)) - 10
    handles: list[Line2D | Patch] = []
    for number, label in enumerate(labels):  # long ones are broken after a comma
        label = textwrap.fill(label.replace(",", ", "), letters).replace(", ", ",")
        handles.append(Line2D([], [], label=label, **style_of(number)))
        if not lines:
            handles[-1].set_linestyle("")
    short_of = {tuple(run.stops) for one in every if one.short for run in one.runs}
    if short_of and not hollow:
        stops = short_of.pop() if len(short_of) == 1 else ()
        target = " and ".join(target_text(*stop) for stop in stops) or "its stop"
        hollow = f"ended short of {target}"
    if hollow:
        handles.append(Line2D([], [], color="0.3", marker="o", markerfacecolor="white",
                              linestyle="", label=hollow))
    if any(len(one.runs) > 1 for one in every):
        handles.append(Patch(color="0.75", label="between the repetitions that still run"))
    for columns in range(min(4, len(handles)), 0, -1):
        legend = figure.legend(handles=handles, loc="lower center", ncol=columns, frameon=False,
                               borderaxespad=0, borderpad=0, handlelength=3.2 if lines else 1,
                               columnspacing=1.5, labelspacing=0.3)
        size = legend.get_window_extent(figure.canvas.get_renderer()).size / figure.dpi
        if size[0] < figure.get_figwidth() - 0.1:
            break
        if columns > 1:
            legend.remove()
    return legend, float(size[1])


class Sheet:
    """A figure of panels over one legend and a line that says where the numbers come from."""

    def __init__(self, sources: Iterable[Made], every: Sequence[Series], labels: Sequence[str],
                 rows: int, columns: int, title: str | None, gap: float = GAP, head: float = TOP,
                 bar: bool = False, lines: bool = True, hollow: str | None = None):
        """@param sources  what the figure is made from
        @param every    the series whose ends and bands the legend explains
        @param gap      between panels; those with a y axis of their own need some
        @param head     for the titles of the upper panels
        @param bar      there is a `colour_bar`; for figures without labels
        @param lines, hollow  of `make_legend`"""
        self.figure = self.blank()
        self.panel = WIDTH if columns > 1 else 1.2 * WIDTH
        self.width = LEFT + columns * self.panel + (columns - 1) * gap + RIGHT
        self.figure.set_size_inches(self.width, 1)
        note = textwrap.wrap(provenance_line(sources), int(self.width * 72 / (0.56 * SMALL)))
        legend, legend_height = make_legend(self.figure, every, labels, lines, hollow)

        # Inches from below: footer, legend, rows of panels, titles.
        self.legend_at = legend_at = 0.08 + 0.11 * len(note)
        self.row_at = [legend_at + legend_height + BAR * bar + 0.5 + row * (HEIGHT + ROW_GAP)
                       for row in reversed(range(rows))]
        top = self.row_at[0] + HEIGHT
        self.height = top + head + (0.22 if title else 0)
        self.figure.set_size_inches(self.width, self.height)
        if legend:
            legend.set_bbox_to_anchor((0.5, legend_at / self.height))
        self.figure.text(0.5, 0.04 / self.height, "\n".join(note), ha="center",
                         fontsize=SMALL - 1, color="0.35")
        self.place = {"left": LEFT / self.width, "right": 1 - RIGHT / self.width,
                      "bottom": self.row_at[-1] / self.height, "top": top / self.height,
                      "wspace": gap / self.panel, "hspace": ROW_GAP / HEIGHT}
        self.rows, self.columns = rows, columns
        if title:
            self.figure.suptitle(title, fontsize=FONT + 1, y=1 - 0.06 / self.height, va="top")

    @staticmethod
    def blank() -> Figure:
        """A figure without size, with the settings that all have."""
        matplotlib.rcdefaults()  # the same figure for every user
        matplotlib.rcParams.update({"font.size": FONT, "xtick.labelsize": FONT - 1,
                                    "ytick.labelsize": FONT - 1, "legend.fontsize": FONT - 0.5,
                                    "pdf.fonttype": 42, "axes.linewidth": 0.6,
                                    "xtick.minor.size": 1.5, "ytick.minor.size": 1.5})
        figure = Figure()
        FigureCanvasAgg(figure)
        return figure

    def grid(self, **shared: Any) -> Any:
        """The panels, [rows][columns]."""
        return self.figure.subplots(self.rows, self.columns, squeeze=False, gridspec_kw=self.place,
                                    **shared)

    def colour_bar(self, shown: Any, text: str) -> None:
        """What the colours of all panels mean, in place of a legend."""
        axes = self.figure.add_axes((0.3, (self.legend_at + 0.34) / self.height, 0.4,
                                     0.07 / self.height))
        self.figure.colorbar(shown, cax=axes, orientation="horizontal")
        axes.tick_params(labelsize=SMALL, length=2, pad=1.5)
        axes.set_xlabel(text, fontsize=FONT - 0.5, labelpad=1)

    def x_label(self, row: int, text: str) -> None:
        """One label for all panels of a row."""
        middle = (LEFT + self.width - RIGHT) / 2 / self.width
        self.figure.text(middle, (self.row_at[row] - 0.22) / self.height, text, ha="center",
                         va="top")


class HeatSheet:
    """A figure of heat maps: rows of panels, each with a colour bar; no legend."""

    PANEL, HIGH, GAP, ROWS_APART, SIDE = 1.75, 1.5, 0.95, 0.75, 0.75

    def __init__(self, sources: Iterable[Made], rows: int, columns: int, title: str):
        self.figure = Sheet.blank()
        width = self.SIDE + columns * self.PANEL + (columns - 1) * self.GAP + 0.7
        note = textwrap.wrap(provenance_line(sources), int(width * 72 / (0.56 * SMALL)))
        bottom = 0.55 + 0.11 * len(note)
        top = bottom + rows * self.HIGH + (rows - 1) * self.ROWS_APART
        height = top + 0.5
        self.figure.set_size_inches(width, height)
        self.figure.suptitle(title, fontsize=FONT + 1, y=1 - 0.06 / height, va="top")
        self.figure.text(0.5, 0.04 / height, "\n".join(note), ha="center", fontsize=SMALL - 1,
                         color="0.35")
        self.grid: Any = self.figure.subplots(rows, columns, squeeze=False, gridspec_kw={
            "left": self.SIDE / width, "right": 1 - 0.7 / width, "bottom": bottom / height,
            "top": top / height, "wspace": self.GAP / self.PANEL,
            "hspace": self.ROWS_APART / self.HIGH})

    def draw(self, axes: Any, values: Any, columns: Sequence[str], rows: Sequence[str],
             log: bool = True) -> None:
        """A map of values[row][column]; NaN: no value.
        @param columns, rows  what is written at the cells"""
        values = np.array(values, float)
        shown = values[np.isfinite(values)]
        cells = [(*at, value) for at, value in np.ndenumerate(values) if np.isfinite(value)]
        if log and shown.size and (shown > 0).all():
            scale: Normalize = LogNorm(shown.min(), max(shown.max(), 1.01 * shown.min()))
        else:
            scale = Normalize(min(0, *shown), max(1, *shown))
        mesh = axes.pcolormesh(np.ma.masked_invalid(values), cmap="viridis", norm=scale,
                               edgecolors="white", linewidth=0.5)
        bar = self.figure.colorbar(mesh, ax=axes, fraction=0.08, pad=0.03)
        bar.ax.tick_params(labelsize=SMALL)
        middle = mesh.norm(shown).mean() if shown.size else 0
        for row, column, value in cells:
            dark = mesh.norm(value) < max(middle, 0.6)
            axes.text(column + 0.5, row + 0.5, f"{value:.2g}" if value < 100 else f"{value:.0f}",
                      ha="center", va="center", fontsize=4.5, color="white" if dark else "black")
        axes.set_xticks(np.arange(len(columns)) + 0.5, columns)
        axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
        axes.tick_params(labelsize=SMALL, length=0)
        axes.cells = [[rows[row], columns[column], value] for row, column, value in cells]


def drawn(figure: Figure) -> list[list[Any]]:
    """[panel, curve, x, y] of every point of the curves that have a name, as they were drawn; of a
    heat map [panel, row, column, value] of every cell."""
    return [[panel, *point] for panel, axes in enumerate(figure.axes, 1)
            for point in [*getattr(axes, "cells", []),
                          *([line.get_gid(), x, y] for line in axes.get_lines() if line.get_gid()
                            for x, y in zip(*line.get_data(orig=True), strict=True))]]


def save(figure: Figure, paths: Iterable[Path]) -> None:
    """The same results make the same bytes: no dates in the files."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        dateless = {"CreationDate": None} if path.suffix == ".pdf" else None
        figure.savefig(path, dpi=250, metadata=dateless)
