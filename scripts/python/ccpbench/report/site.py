"""Pages of a folder of results that link to each other: a front page with a profile for each class
of problem, a page per instance and per solver, and the result files. No scripts, no network.

Addresses stay: a solver's page is called after its spelling, an instance's after its name and the
beginning of its content hash, a run is an anchor of it.
"""
import hashlib
import html
import math
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ccpbench.export import tidy, write_csv
from ccpbench.frames import run_rows
from ccpbench.measures import measure as measure_of
from ccpbench.profiles import performance_profile
from ccpbench.report.data import badges, provenance_rows
from ccpbench.report.svg import Chart
from ccpbench.results import (
    Instance,
    Run,
    Series,
    Table,
    Target,
    group,
    labels_of,
    leading_measure,
)
from ccpbench.styles import COLOURS
from ccpbench.tables import number_text

LOOKS = 60  # of a curve that are drawn


def slug(text: str) -> str:
    """For addresses; different texts have different ones."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_")
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def class_of(name: str) -> str:
    """Of an instance: the words of its name before the first number or option."""
    words: list[str] = []
    for word in re.split(r"[-_ ]", name):
        if re.search(r"\d", word) or (words and word in ("count", "slope")):
            break
        words.append(word)
    return "-".join(words) or name


def instance_page(instance: Instance) -> str:
    return f"instance/{slug(instance[1])}-{instance[2][:8]}.html"


def solver_page(label: str) -> str:
    return f"solver/{slug(label)}.html"


def link(to: str, text: str) -> str:
    return f'<a href="{html.escape(to)}">{html.escape(text)}</a>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Of cells that are HTML already."""
    top = "".join(f"<th>{cell}</th>" for cell in head if any(head))
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return (f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
            "</div>")


def seconds(value: float) -> str:
    return f"{value:.3g} s" if math.isfinite(value) else "–"


class Site:
    """@param folder  of the result files  @param target  what profiles and tables count"""

    def __init__(self, folder: Path, runs: list[Run], faults: dict[Path, str], title: str | None,
                 measure: str | None):
        self.folder, self.runs, self.faults = folder, runs, faults
        self.table: Table = group(runs)
        self.labels = labels_of(self.table)
        studies = sorted({run.study for run in runs if run.study})
        self.title = title or ", ".join(studies) or folder.resolve().name
        self.law = {label: series[label].law for series in self.table.values() for label in series}
        self.measure = measure or leading_measure(runs)
        self.classes: dict[str, Table] = {}
        for instance, series in self.table.items():
            self.classes.setdefault(class_of(instance[1]), {})[instance] = series

    def target(self, law: str) -> Target:
        """The stop of most runs of a law, by the measure of that law."""
        stops = [run.stop for run in self.runs if run.law == law and run.stop]
        return max(sorted(set(stops)), key=stops.count) if stops else (self.measure, 1e-6)

    def target_text(self, law: str) -> str:
        measure, value = self.target(law)
        return f"{measure} ≤ {number_text(value)}"

    def write(self, output: Path) -> None:
        """All pages, the table of all runs, and the result files."""
        for name in ("instance", "solver", "raw"):
            (output / name).mkdir(parents=True, exist_ok=True)
        style = (Path(__file__).parent / "site.css").read_text(encoding="utf-8")
        (output / "site.css").write_text(style, encoding="utf-8")
        write_csv(output / "runs.csv", map(tidy, run_rows(self.runs)))
        for run in self.runs:
            shutil.copyfile(run.path, output / "raw" / run.path.name)
        self.page(output / "index.html", self.title, self.front(), "")
        for instance, series in self.table.items():
            self.page(output / instance_page(instance), instance[1],
                      self.of_instance(instance, series), "../")
        for label in self.labels:
            self.page(output / solver_page(label), label, self.of_solver(label), "../")

    def page(self, path: Path, title: str, body: str, up: str) -> None:
        back = f'<p>{link(up + "index.html", self.title)}</p>' if up else ""
        path.write_text(
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>{html.escape(title)}</title><link rel="stylesheet" href="{up}site.css"></head>'
            f"<body><header>{back}<h1>{html.escape(title)}</h1></header><main>{body}</main>"
            f"<footer>Made by ccpbench report --site. The result files are the source.</footer>"
            f"</body></html>\n", encoding="utf-8", errors="replace")

    def legend(self, labels: Iterable[str], up: str) -> str:
        return '<p class="legend">' + " ".join(
            f'<span><i style="background:{COLOURS[self.labels.index(label) % 7]}"></i>'
            f"{link(up + solver_page(label), label)}</span>" for label in labels) + "</p>"

    def profile(self, instances: Table, law: str) -> str:
        """Dolan and Moré's, of the solvers of a law."""
        labels = [label for label in self.labels if self.law[label] == law]
        shares, count = performance_profile(instances, labels, "time", *self.target(law))
        chart = Chart("times the fastest solver's time", "share of instances", y_log=False)
        largest = max((ratios[-1] for ratios in shares.values() if ratios), default=1.0)
        for label, ratios in shares.items():
            points = [(1.0, 0.0)] + [(max(ratio, 1.0), (k + 1) / count)
                                     for k, ratio in enumerate(ratios)]
            if ratios:
                chart.add(self.labels.index(label), label,
                          [*points, (max(largest, 10.0), len(ratios) / count)], stairs=True)
        caption = f"{law} law, {self.target_text(law)}, {count} instance{'s' * (count != 1)}"
        drawn = chart.text() or "Reached by none."
        return f"<figure><figcaption>{caption}</figcaption>{drawn}</figure>"

    def front(self) -> str:
        marks = "".join(f'<span class="badge {kind}">{html.escape(text)}</span>'
                        for text, kind in badges(self.runs, self.table, self.faults))
        laws = sorted(set(self.law.values()), key=lambda law: (law != "convex", law))
        profiles = "".join(
            f'<section id="class-{slug(name)}"><h2>{html.escape(name)}</h2><div class="charts">'
            + "".join(self.profile(some, law) for law in laws
                      if any(self.law[one] == law for series in some.values() for one in series))
            + "</div></section>" for name, some in self.classes.items())
        head = ["solver", "law", "target", *map(html.escape, self.classes)]
        solvers = table(head, ([link(solver_page(label), label), self.law[label],
                                self.target_text(self.law[label]),
                                *(self.share(label, some) for some in self.classes.values())]
                               for label in self.labels))
        instances = table(["instance", "class", "contacts", "bodies", "form", "hash"], (
            [link(instance_page(one), one[1]), html.escape(class_of(one[1])), f"{one[0]:,}",
             f"{next(iter(series.values())).runs[0].bodies:,}",
             next(iter(series.values())).runs[0].form, f"<code>{one[2][:8]}</code>"]
            for one, series in self.table.items()))
        skipped = table(["file", "why it is left out"], (
            [html.escape(path.name), html.escape(fault)] for path, fault in self.faults.items()))
        return (f'<p class="badges">{marks}</p><p>{link("runs.csv", "All runs as a table (CSV)")}.'
                " A time counts until the referee measures the target."
                f"</p>{self.legend(self.labels, '')}"
                f'<div class="classes">{profiles}</div>'
                f'<section id="solvers"><h2>Solvers: instances solved to the target</h2>{solvers}'
                f'</section><section id="instances"><h2>Instances</h2>{instances}</section>'
                + (f"<section><h2>Skipped</h2>{skipped}</section>" if self.faults else "")
                + '<section id="provenance"><h2>Provenance</h2>'
                + table(["", ""], ([html.escape(cell) for cell in row]
                                   for row in provenance_rows(self.runs))) + "</section>")

    def share(self, label: str, instances: Table) -> str:
        tried = [series[label] for series in instances.values() if label in series]
        solved = sum(one.first("time", *self.target(self.law[label])) < math.inf for one in tried)
        return f"{solved} of {len(tried)}" if tried else ""

    def of_instance(self, instance: Instance, series: dict[str, Series]) -> str:
        charts = ""
        for law in sorted({one.law for one in series.values()}, key=lambda law: law != "convex"):
            measure, value = self.target(law)
            chart = Chart("solve time [s]", measure_of(measure).title, levels=[value])
            for label, one in series.items():
                run = one.runs[one.middle(one.runs, "time")]
                if one.law == law and measure in run.values and len(run.work["time"]):
                    looks = np.unique(np.linspace(0, len(run.work["time"]) - 1, LOOKS).astype(int))
                    chart.add(self.labels.index(label), label, list(zip(
                        run.work["time"][looks], run.values[measure][looks], strict=True)))
            charts += f"<figure><figcaption>{law} law</figcaption>{chart.text()}</figure>"
        some = next(iter(series.values())).runs[0]
        known = {"contacts": instance[0], "bodies": some.bodies, **some.descriptors}
        facts = table(["", ""], [["form", some.form],
                                 ["content hash", f"<code>{instance[2]}</code>"],
                                 *([html.escape(name.replace("_", " ")), f"{value:.6g}"]
                                   for name, value in known.items())])
        return (f"{self.legend(series, '../')}<div class='charts'>{charts}</div>"
                + self.runs_table((label, run) for label, one in series.items()
                                  for run in one.runs) + f"<h2>The problem</h2>{facts}")

    def runs_table(self, rows: Iterable[tuple[str, Run]], by_solver: bool = True) -> str:
        """@param by_solver  named by their solvers, else by their instances"""
        lines = []
        for label, run in rows:
            measure, value = self.target(run.law)
            page = solver_page(label) if by_solver else instance_page(run.instance)
            anchor = slug(run.path.stem)
            lines.append([
                f'<span id="{anchor}"></span>'
                + link(f"../{page}", label if by_solver else run.instance[1]),
                html.escape(run.status), "yes" if run.reached else "no",
                seconds(run.first("time", measure, value)), seconds(run.solve_time),
                f"{run.final(measure):.1e}", link(f"../raw/{run.path.name}", "file"),
                link(f"#{anchor}", "¶")])
        return table(["solver" if by_solver else "instance", "status", "stop reached",
                      "time to target", "solve time", "last value", "raw", ""], lines)

    def of_solver(self, label: str) -> str:
        runs = [(label, run) for series in self.table.values() if label in series
                for run in series[label].runs]
        claims = [run for _, run in runs if run.status == "converged"]
        right = sum(run.reached for run in claims)
        options = table(["option", ""], ([html.escape(name), html.escape(text)]
                                         for name, text in sorted(runs[0][1].options.items())))
        return (f"<p>{self.law[label]} law, target {self.target_text(self.law[label])}. "
                f"{len(claims)} of {len(runs)} runs claim convergence, the referee confirms the "
                f"stop of {right}.</p>" + self.runs_table(runs, by_solver=False)
                + (f"<h2>Options</h2>{options}" if runs[0][1].options else ""))
