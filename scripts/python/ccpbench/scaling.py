"""How runs on several ranks scale: the figure `scaling` of scripts/plot.

A line is a solver: on one problem over numbers of ranks (strong scaling), or over problems that
grow as the ranks do (weak scaling). Efficiency is that of a product: contacts times products, per
second and rank, relative to the point of the line with the fewest ranks. What ranks spend with each
other is in their result files (/ranks); the rest of the solve is called compute.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

from ccpbench.figures import FONT, SMALL, Sheet, limits
from ccpbench.results import Run, Series, Table
from ccpbench.styles import style_of

ALIKE = 0.1  # contacts per rank of a line of weak scaling differ by at most so much
PARTS = {"compute": "0.8", "exchange": "#56B4E9", "reduction": "#D55E00"}


@dataclass
class Point:
    """A solver on one problem, on so many ranks."""
    ranks: int
    contacts: int
    instance: str
    parts: dict[str, float]  # s per product, means over the ranks
    iterations: int
    reached: bool

    @property
    def product(self) -> float:
        """Seconds per product."""
        return sum(self.parts.values())

    @property
    def rate(self) -> float:
        """Contacts times products, per second and rank."""
        return self.contacts / self.product / self.ranks


@dataclass
class Chain:
    """A row of the figure."""
    title: str
    lines: dict[str, list[Point]]  # of solvers, by ascending ranks


def per_product(run: Run) -> float:
    return run.solve_time / float(run.work["applies"].max(initial=0))


def point_of(one: Series) -> Point | None:
    """The repetition in the middle by its time per product; None where there was no product."""
    runs = sorted((run for run in one.runs if run.work["applies"].max(initial=0) > 0
                   and run.solve_time > 0), key=per_product)
    if not runs:
        return None
    run = runs[len(runs) // 2]
    applies = float(run.work["applies"].max())
    spent = {part: float(np.mean(run.rank_times.get(f"{part}_time", 0))) / applies
             for part in ("exchange", "reduction")}
    parts = {"compute": per_product(run) - sum(spent.values()), **spent}
    return Point(run.ranks, run.instance[0], run.instance[1], parts,
                 int(run.work[one.iterations].max()), run.reached)


def points_of(table: Table) -> dict[str, list[Point]]:
    """By solver, without the ranks in its label; smaller problems and fewer ranks first."""
    points: dict[str, list[Point]] = {}
    for series in table.values():
        for label, one in series.items():
            if point := point_of(one):
                name = label.replace(f" ranks {point.ranks}", "")
                points.setdefault(name, []).append(point)
    return {name: sorted(some, key=lambda point: (point.contacts, point.instance, point.ranks))
            for name, some in sorted(points.items())}


def chains_of(table: Table) -> list[Chain]:
    """All that there is to compare: what grows with the ranks, then problem by problem."""
    points = points_of(table)
    weak: dict[str, list[Point]] = {}
    for name, some in points.items():
        load = some[0].contacts / some[0].ranks
        line = {point.ranks: point for point in reversed(some)
                if abs(point.contacts / point.ranks / load - 1) <= ALIKE}
        if len({point.contacts for point in line.values()}) > 1:
            weak[name] = [line[ranks] for ranks in sorted(line)]
    chains = []
    if weak:
        start = next(iter(weak.values()))[0]
        chains.append(Chain(f"about {start.contacts // start.ranks:,} contacts a rank", weak))
    for contacts, instance, _ in table:
        lines = {name: [point for point in some if (point.contacts, point.instance) ==
                        (contacts, instance)] for name, some in points.items()}
        lines = {name: line for name, line in lines.items() if len(line) > 1}
        if lines:
            chains.append(Chain(f"{instance}, {contacts:,} contacts", lines))
    return chains


def set_ranks(axes: Any, chain: Chain) -> None:
    """The x axis: the numbers of ranks that there are."""
    ranks = sorted({point.ranks for line in chain.lines.values() for point in line})
    axes.set(xscale="log", xlim=(ranks[0] / 1.15, ranks[-1] * 1.15))
    axes.xaxis.set_major_locator(FixedLocator(ranks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(ScalarFormatter())


def draw_efficiency(axes: Any, chain: Chain, labels: Sequence[str]) -> None:
    best = 1.0
    for name, line in chain.lines.items():
        efficiency = [point.rate / line[0].rate for point in line]
        axes.plot([point.ranks for point in line], efficiency, gid=name,
                  **style_of(labels.index(name)))
        best = max(best, *efficiency)
    axes.axhline(1, color="0.45", linestyle=(0, (3, 2)), linewidth=0.6, zorder=1)
    axes.set_ylim(0, 1.1 * best)
    set_ranks(axes, chain)


def draw_iterations(axes: Any, chain: Chain, labels: Sequence[str]) -> None:
    """Of those who reached their stop: the others were cut off somewhere."""
    seen = []
    for name, line in chain.lines.items():
        if shown := [point for point in line if point.reached and point.iterations > 0]:
            axes.plot([point.ranks for point in shown], [point.iterations for point in shown],
                      gid=name, **style_of(labels.index(name)))
            seen += [point.iterations for point in shown]
    if seen:
        axes.set(yscale="log", ylim=limits(seen))
    else:
        axes.text(0.5, 0.5, "no run reached its stop", transform=axes.transAxes, ha="center",
                  fontsize=SMALL)
    set_ranks(axes, chain)


def draw_parts(axes: Any, chain: Chain, labels: Sequence[str]) -> None:
    """A bar per solver and number of ranks: the shares of a product, and above it its time."""
    bars = [(name, point) for name, line in chain.lines.items() for point in line]
    at = np.arange(len(bars)) + 0.6 * np.array([labels.index(name) for name, _ in bars])
    bottom = np.zeros(len(bars))
    axes.cells = []
    for part, colour in PARTS.items():
        shares = np.array([point.parts[part] / point.product for _, point in bars])
        axes.bar(at, shares, bottom=bottom, color=colour, edgecolor="black", linewidth=0.3,
                 width=0.85, label=part)
        bottom += shares
        axes.cells += [[name, f"{part} on {point.ranks}", point.parts[part]]
                       for name, point in bars]
    for x, (_, point) in zip(at, bars, strict=True):
        axes.annotate(f"{1e3 * point.product:.3g} ms", (x, 1), (0, 2), ha="center", va="bottom",
                      rotation=90, fontsize=SMALL - 1, textcoords="offset points")
    axes.set(ylim=(0, 1.35), yticks=[0, 0.5, 1])
    axes.set_xticks(at, [str(point.ranks) for _, point in bars])
    for tick, (name, _) in zip(axes.get_xticklabels(), bars, strict=True):
        tick.set_color(style_of(labels.index(name))["color"])


def draw_scaling(runs: list[Run], table: Table, _rows: Sequence[Any],
                 title: str | None) -> Figure:
    """A row of three panels per chain."""
    chains = chains_of(table)
    labels = sorted({name for chain in chains for name in chain.lines})
    sheet = Sheet(runs, [], labels, len(chains), 3, title, gap=0.55)
    grid = sheet.grid()
    draws = ((draw_efficiency, "efficiency of a product"),
             (draw_iterations, "iterations to the stop"), (draw_parts, "share of a product"))
    for number, (row, chain) in enumerate(zip(grid, chains, strict=True)):
        for axes, (draw, y_label) in zip(row, draws, strict=True):
            draw(axes, chain, labels)
            axes.set_ylabel(y_label)
            axes.grid(color="0.9", linewidth=0.5, axis="y")
            axes.set_axisbelow(True)
        row[0].set_title(chain.title, fontsize=FONT, loc="left")
        sheet.x_label(number, "ranks")
    grid[0][2].legend(fontsize=SMALL, ncol=3, loc="lower center", bbox_to_anchor=(0.5, 1),
                      frameon=False, handlelength=1, columnspacing=1, borderaxespad=0.2)
    return sheet.figure
