"use strict";
// The report's tables and controls; starts the page.
(function (numbers, figures) {
  const {
    data, state, series, visible, WORK, counts, countedOn, median, middle, workTo, medianWork, noise,
    performanceProfile, targetsOfLaw, runTimeDistribution, solvedRatio, shiftedMean, grouped, scientific, seconds,
    amount, percent,
  } = numbers;
  const {
    byId, make, clear, styleOf, points, bandOf, drawConvergence, drawAggregates, shownInstances,
  } = figures;
  const SVG_DASHES = ["", "6 2.5", "7 2.5 1.5 2.5", "1.5 1.5"];

  function fill(table, head, rows) {
    clear(table);
    const top = make("tr");
    for (const [text, kind] of head) top.appendChild(make("th", text, kind));
    table.appendChild(make("thead")).appendChild(top);
    const body = table.appendChild(make("tbody"));
    for (const row of rows) body.appendChild(row);
  }
  function rowOf(cells) {
    const row = make("tr");
    for (const cell of cells) {
      row.appendChild(cell instanceof Node ? cell : make("td", cell[0], cell[1]));
    }
    return row;
  }
  function groupRow(text, columns) {
    const row = make("tr", undefined, "group");
    const cell = make("td", text);
    cell.colSpan = columns;
    row.appendChild(cell);
    return row;
  }

  // ---- tables -------------------------------------------------------------------------------

  function drawTable() {
    const work = state.work, solvers = visible();
    const targets = targetsOfLaw();
    byId("table-note").textContent = `${WORK[work]}; median of the repetitions and, below, their `
      + `smallest and largest. “–” is not reached, “n/a” is work that the solver does not have; ⚠ marks times that differ by more than `
      + `${percent(data.noisy)} between repetitions, or between observed and bare solve.`;
    const head = [["solver", "text"], ...targets.map(([t]) => [t.text]), ["solve time"],
      ["final " + state.measure.replace(/_/g, " ")], ["reached"], ["status", "text"]];
    const rows = [];
    for (const i of shownInstances()) {
      const here = solvers.filter((s) => series[i][s].length);
      if (here.length === 0) continue;
      rows.push(groupRow(`${data.instances[i].name}, ${grouped(data.instances[i].contacts)} contacts`,
        head.length));
      const best = targets.map(([, t]) => Math.min(Infinity,
        ...here.map((s) => medianWork(series[i][s], t, work))));
      for (const s of here) {
        const runs = series[i][s], cells = [[data.solvers[s].label, "text"]];
        targets.forEach(([, t], k) => {
          const all = runs.map((run) => workTo(run, t, work)), value = median(all);
          const has = counts(runs, work);
          const cell = make("td", has ? amount(value, work) : "n/a", value === Infinity ? "missed"
            : value === best[k] && here.length > 1 ? "best" : "");
          if (runs.length > 1 && value < Infinity) {
            cell.appendChild(make("br"));
            cell.appendChild(make("small", `${amount(Math.min(...all), work)} … `
              + amount(Math.max(...all), work)));
          }
          cells.push(cell);
        });
        const time = make("td", seconds(median(runs.map((run) => run.time))));
        if (noise(runs)) time.appendChild(make("span", " ⚠ " + noise(runs), "flag"));
        const finals = runs.map((run) => run.final[state.measure]).filter((v) => v !== null);
        const reached = runs.filter((run) => run.reached).length;
        const states = [...new Set(runs.map((run) => run.status))].join(", ");
        cells.push(time, [finals.length ? scientific(median(finals)) : "–"],
          [`${reached}/${runs.length}`, reached < runs.length ? "missed" : ""],
          [states, runs.some((run) => run.failed) ? "text bad-text" : "text"]);
        rows.push(rowOf(cells));
      }
    }
    fill(byId("table"), head, rows);
  }

  function drawClaims() {
    const rows = visible().map((s) => {
      const runs = series.flatMap((row) => row[s]);
      const claims = runs.filter((run) => run.status === "converged");
      const right = claims.filter((run) => run.reached).length;
      const silent = runs.filter((run) => run.reached && run.status !== "converged").length;
      const rate = claims.length ? right / claims.length : NaN;
      return rowOf([[data.solvers[s].label, "text"], [data.solvers[s].law, "text"],
        [String(runs.length)], [String(claims.length)], [String(right)],
        [claims.length ? percent(rate) : "–", rate < 1 ? "bad-text" : ""], [String(silent)]]);
    });
    fill(byId("claims"), [["solver", "text"], ["law", "text"], ["runs"], ["claims"],
      ["confirmed"], ["rate"], ["reached without a claim"]], rows);
  }

  function drawFailures() {
    const bad = data.runs.filter((run) => run.failed || ["numerical_error", "diverged",
      "unsupported", "stagnated"].includes(run.status));
    const rows = bad.map((run) => rowOf([[data.instances[run.instance].name, "text"],
      [data.solvers[run.solver].label, "text"], [String(run.repetition)],
      [run.status, run.failed ? "text bad-text" : "text"], [run.message || "–", "text wrap"]]));
    for (const file of data.skipped) {
      rows.push(rowOf([["file skipped", "text"], [file.name, "text"], [""],
        ["unusable", "text bad-text"], [file.reason, "text wrap"]]));
    }
    fill(byId("failures"), [["instance", "text"], ["solver", "text"], ["repetition"],
      ["status", "text"], ["reason", "text"]],
    rows.length ? rows : [rowOf([["none", "text"], ["", ""], ["", ""], ["", ""], ["", ""]])]);
  }

  function drawInstances() {
    const names = data.descriptors;
    const round = (v) => (v === undefined ? "–" : Number.isInteger(v) ? grouped(v)
      : Number(v.toPrecision(4)).toString());
    fill(byId("instances"), [["instance", "text"], ["form", "text"],
      ...names.map((name) => [name.replace(/_/g, " ")]), ["hash", "text"]],
    data.instances.map((instance) => rowOf([[instance.name, "text"], [instance.form, "text"],
      ...names.map((name) => [round(instance.descriptors[name])]),
      [instance.hash.slice(0, 12), "text"]])));
  }

  function drawProvenance() {
    fill(byId("provenance"), [["of the runs", "text"], ["", "text"]],
      data.provenance.map(([name, value]) => rowOf([[name, "text"], [value, "text wrap"]])));
  }

  // ---- controls -----------------------------------------------------------------------------

  function chip(s) {
    const style = styleOf(s), button = make("button", undefined, "chip");
    button.type = "button";
    button.dataset.solver = data.solvers[s].label;
    button.title = "click to hide or show; double-click to show it alone";
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("width", "30");
    svg.setAttribute("height", "12");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, value] of Object.entries({
      x1: 1, x2: 29, y1: 6, y2: 6, stroke: style.colour, "stroke-width": 3,
      "stroke-dasharray": SVG_DASHES[s % SVG_DASHES.length],
    })) line.setAttribute(name, value);
    svg.appendChild(line);
    button.appendChild(svg);
    button.appendChild(make("span", data.solvers[s].label));
    button.addEventListener("click", () => {
      if (state.hidden.has(s)) state.hidden.delete(s); else state.hidden.add(s);
      draw();
    });
    button.addEventListener("dblclick", () => {
      state.hidden = new Set(data.solvers.map((_, other) => other).filter((o) => o !== s));
      draw();
    });
    return button;
  }
  function drawChips() {
    for (const button of byId("solvers").children) {
      const s = data.solvers.findIndex((solver) => solver.label === button.dataset.solver);
      button.setAttribute("aria-pressed", String(!state.hidden.has(s)));
      button.style.display = data.solvers[s].law === state.law ? "" : "none";
    }
  }
  function options(select, entries, chosen, change) {
    for (const [value, text] of entries) {
      const option = select.appendChild(make("option", text));
      option.value = value;
    }
    select.value = chosen;
    select.addEventListener("change", () => {
      change(select.value);
      draw();
    });
  }

  function offerTargets() {
    const offered = targetsOfLaw().map(([, i]) => i);
    for (const one of byId("target").options) one.hidden = !offered.includes(Number(one.value));
  }
  /** The other law's solvers, and of its targets the one that corresponds. */
  function chooseLaw(law) {
    const plain = (t) => t.text.replace("coulomb_", ""), before = data.targets[state.target];
    state.law = law;
    const ours = targetsOfLaw();
    const [target, number] = ours.find(([t]) => before && plain(t) === plain(before))
      || ours[ours.length - 1] || [undefined, state.target];
    if (target && before && state.measure === before.measure) state.measure = target.measure;
    state.target = number;
    byId("target").value = String(number);
    byId("measure").value = state.measure;
    offerTargets();
  }

  function draw() {
    drawChips();
    drawConvergence();
    drawAggregates();
    drawTable();
    drawClaims();
  }

  byId("title").textContent = data.title;
  byId("subtitle").textContent = data.subtitle;
  for (const [text, kind] of data.badges) byId("badges").appendChild(make("span", text, "badge " + kind));
  byId("foot").textContent = data.foot;
  options(byId("measure"), data.measures.map((m) => [m, m.replace(/_/g, " ")]), state.measure,
    (value) => { state.measure = value; });
  options(byId("work"), Object.entries(WORK), state.work, (value) => { state.work = value; });
  options(byId("target"), data.targets.map((t, i) => [String(i), t.text]), String(state.target),
    (value) => { state.target = Number(value); });
  options(byId("law"), data.laws.map((law) => [law, law]), state.law, chooseLaw);
  offerTargets();
  byId("law-label").style.display = data.laws.length > 1 ? "" : "none";
  data.solvers.forEach((_, s) => byId("solvers").appendChild(chip(s)));
  byId("all").addEventListener("click", () => { state.hidden.clear(); draw(); });
  byId("none").addEventListener("click", () => {
    data.solvers.forEach((_, s) => state.hidden.add(s));
    draw();
  });
  byId("previous").addEventListener("click", () => { state.page -= 1; drawConvergence(); });
  byId("next").addEventListener("click", () => { state.page += 1; drawConvergence(); });
  byId("filter").addEventListener("input", () => {
    state.filter = byId("filter").value;
    state.page = 0;
    drawConvergence();
    drawTable();
  });
  drawFailures();
  drawInstances();
  drawProvenance();
  draw();
  // What tests compare with ccpbench/profiles.py.
  window.ccpReport = {
    data, state, series, visible, countedOn, middle, points, bandOf, performanceProfile,
    runTimeDistribution, solvedRatio, shiftedMean,
  };
}(ccpNumbers, ccpFigures));
