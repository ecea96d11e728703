#!/usr/bin/env python3
"""Runs scripts/report and scripts/compare on made-up result files.

The page is opened in a headless browser, if there are one and python3-selenium: what it draws is
compared with ccpbench.profiles, and solvers are hidden by clicks.
"""
import csv
import io
import json
import os
import re
import sys
import time
import unittest

from folder_case import ROOT, FolderCase

from made_up import IPM, PGJ, np, write_result

sys.path.insert(0, str(ROOT / "scripts/python"))
from ccpbench import figures, plot, profiles, results
from ccpbench.report import library

BROWSER, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
LIAR = "liar[factor=2]"


def golden(name, text):
    """Compares with tests/golden; CCPBENCH_WRITE_GOLDEN=1 writes the files anew."""
    path = ROOT / "tests" / "golden" / name
    if os.environ.get("CCPBENCH_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


class ScriptTest(FolderCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.a, self.b = self.folder / "a", self.folder / "b"
        self.a.mkdir()
        self.b.mkdir()


def make_study(folder):
    """Three piles, three solvers, two repetitions: the faster at the end is slower at first, one
    lies on every instance, and one run has crashed."""
    for pile in range(3):
        instance = {"instance": f"pile-{pile}", "content": f"0{pile}", "contacts": 100 * 10**pile}
        for repetition in (1, 2):
            pace = (1 + pile) * (1 + 0.3 * (repetition - 1))
            write_result(folder / f"pgj-{pile}-{repetition}.h5", repetition=repetition,
                         time=pace * np.array((0, 0.1, 0.4, 4)), error=(1, 0.06, 0.02, 9e-4),
                         **instance)
            write_result(folder / f"ipm-{pile}-{repetition}.h5", IPM, repetition=repetition,
                         time=pace * np.array((0, 0.2, 0.5, 1)), error=(1, 0.3, 0.03, 5e-4),
                         krylov=(0, 10, 20, 30), **instance)
        write_result(folder / f"liar-{pile}.h5", LIAR, time=(0, 1), error=(1, 0.2),
                     status="converged", **instance)
    write_result(folder / "crashed.h5", IPM, repetition=3, time=(0, 0.2), error=(1, 0.5),
                 status="crashed", message="ended by signal 6 (Aborted): <b>singular</b> </script>",
                 instance="pile-2", content="02", contacts=10000)
    (folder / "text.h5").write_text("no HDF5\n")


class ReportTest(ScriptTest):
    def data_of(self, page):
        text, = re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)
        return json.loads(text)

    def test_the_page_holds_everything_and_needs_no_network(self):
        make_study(self.a)
        output, errors = self.script("report", "a", "-o", "page/report.html", expect=1)
        self.assertIn("(16 runs)", output)
        self.assertIn("skipped a/text.h5: expected an HDF5 file", errors)
        page = (self.folder / "page/report.html").read_text(encoding="utf-8")
        self.assertEqual(os.listdir(self.folder / "page"), ["report.html"])
        self.assertIsNone(re.search(r'<(script|link|img)[^>]*\b(src|href)=', page[:20000]))
        whole = library.get_plotlyjs()  # of Debian's a part is enough
        self.assertLess(len(page), 1.5e6 if len(library.part_of(whole)) < len(whole) else 2.5e6)
        data = self.data_of(page)
        self.assertEqual([i["name"] for i in data["instances"]], ["pile-0", "pile-1", "pile-2"])
        self.assertEqual([s["label"] for s in data["solvers"]], [IPM, LIAR, PGJ])
        self.assertEqual(data["targets"][data["target"]]["text"], "error ≤ 1e-3")
        self.assertEqual(len(data["runs"]), 16)
        self.assertEqual([f["name"] for f in data["skipped"]], ["text.h5"])
        self.assertIn("singular", data["runs"][-1]["message"] + json.dumps(data["runs"]))
        self.assertIn(["1 crashed or were killed", "bad"], data["badges"])
        self.assertIn(["6 with doubtful times (differences above 15%)", "warn"], data["badges"])

    def test_a_part_of_the_library(self):
        """Of a bundle of numbered modules, what core and bar need; another bundle as it is."""
        body = "function(need,module,exports){%s\n}"
        modules = [body % "one()", body % "two('</script>')", body % "need('./core')",
                   body % "1:[function(a,b,c){inner()}]", body % "maps()"]
        needs = [{}, {"../one": 1}, {"./core": 2, "./bar": 4, "./scatter3d": 5}, {"x": 2},
                 {"../one": 1}]
        entries = ",".join(f"{number}:[{text},{json.dumps(some, separators=(',', ':'))}]" for
                           number, (text, some) in enumerate(zip(modules, needs, strict=True), 1))
        bundle = "(function(f){f()})(function(){return x({" + entries + "},{},[3])(3)\n});\n"
        part = library.part_of(bundle)
        self.assertEqual(re.findall(r"(\w+)\(\)", part), ["f", "function", "one", "inner"])
        self.assertIn("need('./bar')", part)
        self.assertIn('{"./core": 2, "./bar": 4}', part)
        self.assertTrue(part.endswith("},{},[3])(3)\n});\n"))
        for other in ("!function(e,t){}()", bundle.replace("./scatter3d", "./other"), bundle[:-9]):
            self.assertEqual(library.part_of(other), other)

    def test_nothing_to_show(self):
        _, errors = self.script("report", "a", expect=1)
        self.assertIn("a: nothing to show, no result file", errors)
        _, errors = self.script("report", "nowhere", expect=1)
        self.assertIn("no such folder", errors)
        write_result(self.a / "r.h5")
        _, errors = self.script("report", "a", "-o", "a/r.h5/x.html", expect=1)
        self.assertIn("cannot write a/r.h5/x.html", errors)
        self.script("report", "a", "--measure", "eror", expect=2)

    def test_runs_without_a_curve_can_be_shown(self):
        write_result(self.a / "r.h5", time=(), error=(), status="killed", message="killed")
        self.script("report", "a")
        self.assertTrue((self.a / "report.html").exists())

    def test_figures_for_papers(self):
        write_result(self.a / "r.h5")
        output, _ = self.script("report", "a", "--figures", "figures")
        names = {f"made-up{kind}.{ending}" for kind in ("", "-profile", "-ecdf", "-solved")
                 for ending in ("png", "pdf")}
        self.assertEqual(set(os.listdir(self.folder / "figures")), names)
        self.assertEqual(output.count("wrote "), 9)


class PageTest(ScriptTest):
    def setUp(self):
        super().setUp()
        try:
            from selenium import webdriver
            from selenium.webdriver.chrome.service import Service
        except ImportError:
            self.skipTest("no python3-selenium")
        if not (os.path.exists(BROWSER) and os.path.exists(DRIVER)):
            self.skipTest("no chromium with its driver")
        make_study(self.a)
        self.script("report", "a", "-o", "report.html", expect=1)
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         "--window-size=1500,2400", f"--user-data-dir={self.folder}/browser"):
            options.add_argument(argument)
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.addCleanup(self.driver.quit)
        self.driver.set_page_load_timeout(120)
        self.driver.get((self.folder / "report.html").as_uri())
        self.wait_for(lambda: self.driver.execute_script("return 'ccpReport' in window"))

    def find(self, selector):
        return self.driver.find_elements("css selector", selector)

    def wait_for(self, condition):
        for _ in range(200):
            if condition():
                return
            time.sleep(0.05)
        self.fail("the page did not get there")

    def numbers(self, call):
        return self.driver.execute_script(
            f"const r = window.ccpReport; return Array.from({call}, ([s, v]) => "
            "[r.data.solvers[s].label, v]);")

    def assert_same(self, shown, computed):
        self.assertEqual(sorted(label for label, _ in shown), sorted(computed))
        for label, values in shown:
            np.testing.assert_allclose(values, computed[label], rtol=1e-6)

    def open(self, folder, *arguments):
        """A page of the folder, in the browser."""
        self.script("report", folder, "-o", "page.html", *arguments)
        self.driver.get((self.folder / "page.html").as_uri())
        self.wait_for(lambda: self.driver.execute_script("return 'ccpReport' in window"))

    def choose(self, selector, value):
        self.driver.execute_script(
            "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change'));", selector, value)

    def traces(self, box):
        return self.driver.execute_script(
            f"const p = document.querySelector('{box} .js-plotly-plot');"
            "return p.data.map((t) => ({name: t.name, x: t.x, y: t.y, marker: t.marker}))")

    def test_curves_are_those_of_the_figures_for_papers(self):
        """Line, band, end and filling, of repetitions of which 0 to 3 reach their stop."""
        for reached in range(4):
            for number, factor in enumerate((1, 1.3, 2)):
                write_result(self.b / f"{number}.h5", repetition=number + 1,
                             time=factor * np.array((0, 0.5, 1, 2)), error=(1, 0.1, 0.02, 9e-4),
                             status="stopped_by_observer" if number < reached else "time_limit")
            self.open("b")
            traces = {trace["name"]: trace for trace in self.traces("#panels")}
            runs, _ = results.read_folder(self.b)
            table = results.group(runs)
            one, = next(iter(table.values())).values()
            curve = figures.median_curve(one, "error", "time")
            assert curve and curve.band
            line, end, band = (traces[PGJ + part] for part in ("", " end", " band"))
            np.testing.assert_allclose(line["x"], curve.x, rtol=1e-6)
            np.testing.assert_allclose(line["y"], curve.y, rtol=1e-6)
            np.testing.assert_allclose([end["x"][0], end["y"][0]], [curve.x[-1], curve.y[-1]],
                                       rtol=1e-6)
            x, low, high = curve.band
            np.testing.assert_allclose(band["x"], [*x, *x[::-1]], rtol=1e-6)
            np.testing.assert_allclose(band["y"], [*high, *low[::-1]], rtol=1e-6)
            drawn = plot.draw_curves(runs, table, [("error", [], True)], None).axes[0].get_lines()
            hollow = {line.get_markerfacecolor() == "white" for line in drawn}
            self.assertEqual(hollow, {end["marker"]["color"] == "#fff"})
            self.assertEqual(hollow, {reached < 2})

    def test_what_nobody_solves_and_what_a_solver_does_not_have(self):
        """Of two piles one is solved; pgj has no Krylov iterations."""
        for pile, end in enumerate((1e-4, 0.5)):
            instance = {"instance": f"pile-{pile}", "content": f"0{pile}"}
            write_result(self.b / f"a{pile}.h5", time=(0, 1, 2), error=(1, 0.6, end), **instance)
            write_result(self.b / f"b{pile}.h5", IPM, time=(0, 1, 6), error=(1, 0.6, end),
                         krylov=(0, 10, 20), **instance)
        self.open("b")
        profile = {trace["name"]: [*zip(trace["x"], trace["y"], strict=True)]
                   for trace in self.traces("#profile")}
        self.assertEqual(profile[PGJ][0], (1, 0.5))    # from ratio 1 on, of all instances
        self.assertEqual(profile[IPM][:2], [(1, 0), (3, 0.5)])
        self.assertEqual(self.driver.execute_script(
            "return document.querySelector('#profile .js-plotly-plot').layout.xaxis.range[0]"), 0)
        self.choose("work", "krylov")
        for box in ("#profile", "#ecdf"):
            self.assertEqual([trace["name"] for trace in self.traces(box)], [IPM])
        self.assertIn("Without Krylov iterations, hence not in the first two: " + PGJ,
                      self.find("#aggregates-note")[0].text)
        rows = {row.find_elements("css selector", "td")[0].text: row
                for row in self.find("#table tbody tr")[:3]}
        cells = {name: rows[name].find_elements("css selector", "td") for name in (PGJ, IPM)}
        column = [th.text for th in self.find("#table th")].index("error ≤ 1e-3")
        self.assertEqual([cells[name][column].text for name in (PGJ, IPM)], ["n/a", "20"])
        self.assertIn("best", cells[IPM][column].get_attribute("class"))
        self.assertIn(f"nothing to draw of {PGJ} (has no Krylov iterations)",
                      self.find("#panels figcaption")[0].text)
        self.assertEqual(self.driver.get_log("browser"), [])

    def view(self):
        return self.driver.execute_script(
            "const r = window.ccpReport, s = r.state; return {measure: s.measure, work: s.work,"
            " target: r.data.targets[s.target].text, law: s.law, filter: s.filter, page: s.page,"
            " hidden: [...s.hidden].map((i) => r.data.solvers[i].label),"
            " shown: ['measure', 'work', 'law', 'filter'].map("
            "  (id) => document.getElementById(id).value)}")

    def test_an_address_is_a_view(self):
        """Whoever opens it sees the same: on a fresh page, and on one that is open."""
        opened = self.view()
        self.assertNotIn("#", self.driver.current_url)
        self.choose("measure", "cost")
        self.choose("work", "krylov")
        self.choose("target", "0")
        next(c for c in self.find("#solvers .chip") if c.text.startswith("ipm")).click()
        self.find("#filter")[0].send_keys("pile-2")
        view, address = self.view(), self.driver.current_url
        self.assertEqual(view["hidden"], [IPM])
        self.assertEqual(view["shown"], ["cost", "krylov", "convex", "pile-2"])
        self.driver.get((self.folder / "report.html").as_uri() + "#page=1")
        self.driver.refresh()
        self.wait_for(lambda: self.driver.execute_script("return 'ccpReport' in window"))
        self.assertEqual(self.view(), opened)
        self.driver.get(address)  # another hash of the same page
        self.wait_for(lambda: self.view() == view)
        self.driver.refresh()
        self.wait_for(lambda: self.driver.execute_script("return 'ccpReport' in window"))
        self.assertEqual(self.view(), view)
        self.assertEqual(len(self.find("#panels figure")), 1)
        # What a page does not have is left as it opens.
        self.driver.get(address.split("#")[0] + "#measure=nonsense&target=x&law=none&page=-3&hide=me")
        self.wait_for(lambda: self.view() == opened)
        self.assertEqual(self.driver.get_log("browser"), [])

    def rows(self, of):
        text = self.driver.execute_script(f"return window.ccpReport.csvOf('{of}')")
        return list(csv.DictReader(io.StringIO(text)))

    def test_numbers_can_be_taken_along(self):
        """Every button has rows, with numbers as they are and not as they are shown."""
        self.wait_for(lambda: len(self.find("#means .js-plotly-plot")) > 0)
        buttons = [button.get_attribute("data-of") for button in self.find("button.csv")]
        self.assertEqual(set(buttons), {"convergence", "profile", "ecdf", "solved", "means", "table",
                                        "claims", "failures", "measures", "instances", "provenance"})
        for of in buttons:
            self.assertTrue(self.rows(of), of)
        runs, _ = results.read_folder(self.a)
        looks = self.rows("convergence")
        self.assertEqual(len(looks), sum((figures.curve_of(run, "error", "time")[0].size)
                                         for run in runs))
        first = [row for row in looks if row["solver"] == PGJ and row["instance"] == "pile-0"
                 and row["repetition"] == "2"]
        np.testing.assert_allclose([float(row["solve time [s]"]) for row in first],
                                   [0.13, 0.52, 5.2], rtol=1e-6)
        row = next(row for row in self.rows("table") if row["solver"] == IPM)
        self.assertEqual(row["group"], "pile-0, 100 contacts")
        self.assertAlmostEqual(float(row["error ≤ 1e-3"]), 1.15)
        self.assertEqual(row["residual ≤ 1e-6"], "")
        failure = self.rows("failures")[0]
        self.assertEqual(failure["reason"], "ended by signal 6 (Aborted): <b>singular</b> </script>")
        measures = {row["measure"]: row for row in self.rows("measures")}
        self.assertEqual(measures["error"]["formula"], "max(cost, feas)")
        means = {row["solver"] for row in self.rows("means")}
        self.assertEqual(means, {PGJ, IPM, LIAR})

    def test_measures_and_targets_have_their_names(self):
        self.wait_for(lambda: len(self.find("#panels .js-plotly-plot")) > 0)
        self.assertTrue(self.find("#measure-note")[0].text.startswith(
            "error [J, m/s, N s] = max(cost, feas); cost or feas, whichever is larger"))
        labels = self.driver.execute_script(
            "return document.querySelector('#panels .js-plotly-plot').layout.annotations"
            ".map((a) => [a.text, a.y])")
        np.testing.assert_allclose([y for _, y in labels], np.log10([1e-3, 0.05]))
        self.assertEqual([text for text, _ in labels], ["1e-3", "5e-2"])
        headings = self.driver.execute_script(
            "return [...document.querySelectorAll('#measure optgroup')].map((g) => g.label)")
        self.assertEqual(headings, ["of the convex law", "of the coulomb law", "other"])
        self.assertEqual(self.find("#description")[0].text, "Piles, made up & <quick>")

    def test_wide_tables_say_that_there_is_more(self):
        for width in (400, 1400):
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            self.wait_for(lambda width=width: self.driver.execute_script(
                "return document.querySelector('#profile .main-svg').clientWidth") < width - 30)
            boxes = self.driver.execute_script(
                "return [...document.querySelectorAll('.scroll')].map((b) =>"
                " [b.scrollWidth > b.clientWidth + 1, b.classList.contains('more')])")
            self.assertTrue(all(wide == more for wide, more in boxes), (width, boxes))
            self.assertTrue(width > 400 or any(wide for wide, _ in boxes))
            # The page itself never scrolls to the side.
            self.assertLessEqual(self.driver.execute_script(
                "return document.documentElement.scrollWidth"), width)

    def test_each_law_has_its_targets(self):
        """Solvers of one law are not ranked by what only those of the other are judged by."""
        for law, prefix, solver in (("convex", "", "vipm"), ("coulomb", "coulomb_", "nsgs")):
            for number in range(1 if law == "convex" else 3):
                write_result(self.b / f"{law}-{number}.h5", solver, repetition=number + 1, law=law,
                             time=(0, 1, 2), error=(1, 1e-2, 1e-5), stop=f"{prefix}residual=0.0001",
                             targets=((f"{prefix}residual", 1e-2), (f"{prefix}residual", 1e-4)))
        self.script("report", "b", "-o", "laws.html")
        self.driver.get((self.folder / "laws.html").as_uri())
        self.wait_for(lambda: self.driver.execute_script("return 'ccpReport' in window"))

        def shown():
            return self.driver.execute_script(
                "const r = window.ccpReport, t = document.getElementById('target');"
                "return [r.state.measure, r.data.targets[r.state.target].text,"
                " [...t.options].filter((o) => !o.hidden).map((o) => o.textContent),"
                " t.selectedOptions[0].textContent]")

        for prefix, other in (("", "coulomb_"), ("coulomb_", "")):
            names = [f"{prefix}residual ≤ {value}" for value in ("1e-2", "1e-4")]
            self.assertEqual(shown(), [f"{prefix}residual", names[1], names, names[1]])
            head = self.find("#table thead")[0].text
            self.assertIn(names[0], head)
            self.assertEqual(head.count("≤"), 2)
            self.assertIn("(2 per instance)", self.find("#ecdf-title")[0].text)
            if other:
                self.driver.execute_script(
                    "const s = document.getElementById('law'); s.value = 'coulomb';"
                    "s.dispatchEvent(new Event('change'));")
        self.assertEqual(self.driver.get_log("browser"), [])

    def test_what_is_drawn_and_what_a_click_changes(self):
        self.wait_for(lambda: len(self.find(".js-plotly-plot .main-svg")) > 0)
        self.assertEqual(self.driver.get_log("browser"), [])  # no error, nothing not found
        self.assertEqual(self.find("#title")[0].text, "made-up")
        self.assertEqual(len(self.find("#panels .js-plotly-plot")), 3)
        self.assertEqual(len(self.find("#aggregates .js-plotly-plot")), 4)
        self.assertEqual(len(self.find("#solvers .chip")), 3)
        self.assertGreater(len(self.find("#panels .scatterlayer .trace")), 8)
        self.assertIn("doubtful times: ipm", self.find("#panels figcaption")[0].text)
        table = self.find("#table")[0].text
        self.assertIn("error ≤ 1e-3", table)
        self.assertIn("1.15 s", table)  # ipm on pile-0: 1 s and 1.3 s
        self.assertIn("⚠ spread 26 %", table)
        failures = self.find("#failures")[0].text
        self.assertIn("<b>singular</b> </script>", failures)
        self.assertIn("text.h5", failures)
        claims = {row.text.split()[0]: row.text.split()[-5:]
                  for row in self.find("#claims tbody tr")}
        self.assertIn("convex", claims)  # grouped by law
        self.assertEqual(claims[LIAR], ["3", "0", "0", "%", "0"])  # claims, confirmed, rate, silent
        picture = self.folder / "page.png"
        self.driver.save_screenshot(str(picture))
        self.assertGreater(picture.stat().st_size, 50000)

        # The numbers behind the figures are those of the Python functions.
        runs, _ = results.read_folder(self.a)
        tables = results.group(runs)
        labels = results.labels_of(tables)
        targets = [("error", 0.05), ("error", 1e-3), ("residual", 1e-6)]
        number = self.driver.execute_script("return window.ccpReport.state.target")
        profile = f"r.performanceProfile(r.visible(), {number}, 'time')"
        computed, count = profiles.performance_profile(tables, labels, "time", "error", 1e-3)
        self.assertEqual(count, 3)
        self.assertEqual(computed[IPM], [1, 1, 1])
        self.assert_same(self.numbers(profile), computed)
        self.assert_same(self.numbers("r.runTimeDistribution(r.visible(), 'applies')"),
                         profiles.run_time_distribution(tables, labels, "applies", targets)[0])
        self.assert_same(self.numbers("r.solvedRatio(r.visible(), 'error')"),
                         profiles.solved_ratio(tables, labels, "error")[0])

        # Hide the best one: the profile is made anew, of the others.
        chip = next(c for c in self.find("#solvers .chip") if c.text.startswith("ipm"))
        self.assertEqual(chip.get_attribute("aria-pressed"), "true")
        chip.click()
        self.assertEqual(chip.get_attribute("aria-pressed"), "false")
        rest = [label for label in labels if label != IPM]
        computed, _ = profiles.performance_profile(tables, rest, "time", "error", 1e-3)
        self.assertEqual(computed[PGJ], [1, 1, 1])
        self.assert_same(self.numbers(profile), computed)
        self.assertNotIn(IPM, self.find("#table")[0].text)
        names = self.driver.execute_script(
            "return document.querySelector('#profile .js-plotly-plot')"
            ".data.map((trace) => trace.name)")
        self.assertEqual(names, rest)

        # Another measure and another axis.
        self.choose("measure", "cost")
        self.choose("work", "applies")
        plan = self.driver.execute_script(
            "const p = document.querySelector('#panels .js-plotly-plot');"
            "return [p.layout.xaxis.title.text, p.layout.yaxis.title.text, p.data[0].hovertemplate]")
        self.assertEqual(plan[:2], ["operator applies", "cost [J]"])
        filter_box = self.find("#filter")[0]
        filter_box.send_keys("pile-1")
        self.assertEqual(len(self.find("#panels figure")), 1)
        self.find("#none")[0].click()
        self.assertEqual(len(self.find("#profile .empty")), 1)
        self.find("#all")[0].click()
        self.find("#all")[0].click()  # while the first one is still being drawn
        self.driver.set_window_size(900, 1200)
        self.wait_for(lambda: self.driver.execute_script(
            "return document.querySelector('#profile .main-svg').clientWidth") < 880)
        self.assertEqual(self.driver.get_log("browser"), [])


class CompareTest(ScriptTest):
    def fill(self, folder, pile, factors, solver=PGJ, error=(1, 0.1, 0.01, 9e-4), **more):
        for repetition, factor in enumerate(factors, 1):
            write_result(folder / f"{solver[:3]}-{pile}-{repetition}.h5", solver,
                         time=np.multiply((0, 0.5, 1, 2), factor), repetition=repetition,
                         error=error, **{"instance": f"pile-{pile}", "content": f"0{pile}", **more})

    def test_regressions_come_first_and_noise_is_told_apart(self):
        calm = (1, 1.01, 1.02, 1.03, 1.04)
        for pile, factors, more in (
                (0, calm, {}),                                  # the same
                (1, np.multiply(calm, 1.5), {}),                # slower
                (2, np.multiply(calm, 0.5), {}),                # faster
                (3, calm, {"error": (1, 0.1, 0.01, 2e-3)}),     # no longer reached
                (4, (0.9, 1.0, 1.1, 1.2, 1.3), {}),             # wild, but its range overlaps
        ):
            self.fill(self.a, pile, calm)
            self.fill(self.b, pile, factors, commit="f" * 40, **more)
        self.fill(self.b, 5, calm)
        output, errors = self.script("compare", "a", "b", expect=3)
        self.assertEqual(errors, "")
        self.assertEqual(output, golden("compare.txt", output))
        verdicts = [line.split()[:2] for line in output.splitlines()[1:6]]
        self.assertEqual(verdicts, [["lost", "pile-3"], ["slower", "pile-1"], ["faster", "pile-2"],
                                    ["same", "pile-4"], ["same", "pile-0"]])
        data = json.loads(self.script("compare", "a", "b", "--json", expect=3)[0])
        self.assertEqual(data["pairs"][1]["verdict"], "slower")
        self.assertAlmostEqual(data["pairs"][1]["ratio"], 1.5)
        self.assertEqual(data["differences"], [["commit", "012345678-dirty",
                                                "012345678-dirty, fffffffff"]])
        # Nothing got worse the other way round, but for the one that is slower there.
        output, _ = self.script("compare", "b", "a", expect=3)
        self.assertIn("won", output)
        self.script("compare", "a", "a")
        self.script("compare", "a", "b", "--target", "error=0.05", expect=3)

    def test_few_repetitions_are_said_to_be_few(self):
        self.fill(self.a, 0, (1, 1.01))
        self.fill(self.b, 0, (1.1, 1.11))  # apart, but not by more than 15 %
        output, _ = self.script("compare", "a", "b")
        self.assertIn("the times of 33% of all pairs do not overlap", output)

    def test_mixtures_are_refused_unless_told(self):
        self.fill(self.a, 0, (1,))
        self.fill(self.b, 0, (1,), content="99")
        _, errors = self.script("compare", "a", "b", expect=1)
        self.assertIn("instance pile-0: expected the same problem in both", errors)
        self.script("compare", "a", "b", "--mixed")
        self.fill(self.b, 0, (1,), referee_version=2)
        _, errors = self.script("compare", "a", "b", expect=1)
        self.assertIn("referee version: expected the same in both, found 1 and 2", errors)

    def test_bad_folders(self):
        self.fill(self.a, 0, (1,))
        self.assertIn("a folder without result files", self.script("compare", "a", "b", expect=1)[1])
        self.assertIn("no such folder", self.script("compare", "a", "c", expect=1)[1])
        self.fill(self.b, 1, (1,))
        self.assertIn("has a partner", self.script("compare", "a", "b", expect=1)[1])
        self.fill(self.b, 0, (1,))
        (self.b / "text.h5").write_text("no HDF5\n")
        self.assertIn("skipped b/text.h5", self.script("compare", "a", "b", expect=1)[1])
        self.script("compare", "a", "b", "--target", "eror=1", expect=2)


if __name__ == "__main__":
    unittest.main()
