"use strict";
// The report's tables and controls; starts the page.
(function (numbers, figures) {
  const {
    data, state, series, visible, WORK, counts, countedOn, median, middle, workTo, medianWork, noise,
    performanceProfile, targetsOfLaw, runTimeDistribution, solvedRatio, shiftedMean, grouped, counted,
    scientific, seconds,
    amount, percent, about, measureLine, measuresByLaw, solversByLaw,
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
  /** @param cells  elements, or [text, class, value]: the value is what a CSV has of the cell */
  function rowOf(cells) {
    const row = make("tr");
    for (const cell of cells) {
      const element = row.appendChild(cell instanceof Node ? cell : make("td", cell[0], cell[1]));
      if (!(cell instanceof Node) && cell[2] !== undefined) element.dataset.value = cell[2];
    }
    return row;
  }
  const number = (value) => (value === null || !Number.isFinite(value) ? "" : String(value));
  const digits = (n) => [grouped(n), "", String(n)];
  function groupRow(text, columns) {
    const row = make("tr", undefined, "group");
    const cell = make("td");
    cell.colSpan = columns;
    cell.appendChild(make("span", text));
    row.appendChild(cell);
    return row;
  }

  // ---- tables -------------------------------------------------------------------------------

  function drawTable() {
    const work = state.work, solvers = visible();
    const targets = targetsOfLaw();
    byId("table-note").textContent = `${WORK[work]}; median of the repetitions and, below, their `
      + `smallest and largest. “–” is not reached, “n/a” is work that the solver does not have; `
      + "⚠ marks times that differ by more than "
      + `${percent(data.noisy)} between repetitions, or between observed and bare solve.`;
    const head = [["solver", "text"], ...targets.map(([t]) => [t.text]), ["solve time"],
      ["final " + state.measure.replace(/_/g, " ")], ["reached"], ["status", "text"]];
    const rows = [];
    for (const i of shownInstances()) {
      const here = solvers.filter((s) => series[i][s].length);
      if (here.length === 0) continue;
      const contacts = counted(data.instances[i].contacts, "contact", "contacts");
      rows.push(groupRow(`${data.instances[i].name}, ${contacts}`, head.length));
      const best = targets.map(([, t]) => Math.min(Infinity,
        ...here.map((s) => medianWork(series[i][s], t, work))));
      for (const s of here) {
        const runs = series[i][s], cells = [[data.solvers[s].label, "text"]];
        targets.forEach(([, t], k) => {
          const all = runs.map((run) => workTo(run, t, work)), value = median(all);
          const has = counts(runs, work);
          const cell = make("td", has ? amount(value, work) : "n/a", value === Infinity ? "missed"
            : value === best[k] && here.length > 1 ? "best" : "");
          cell.dataset.value = number(value);
          if (runs.length > 1 && value < Infinity) {
            cell.appendChild(make("br"));
            cell.appendChild(make("small", `${amount(Math.min(...all), work)} … `
              + amount(Math.max(...all), work)));
          }
          cells.push(cell);
        });
        const time = make("td", seconds(median(runs.map((run) => run.time))));
        time.dataset.value = number(median(runs.map((run) => run.time)));
        if (noise(runs)) time.appendChild(make("span", " ⚠ " + noise(runs), "flag"));
        const finals = runs.map((run) => run.final[state.measure]).filter((v) => v !== null);
        const reached = runs.filter((run) => run.reached).length;
        const states = [...new Set(runs.map((run) => run.status))].join(", ");
        cells.push(time, [finals.length ? scientific(median(finals)) : "–", "",
          number(median(finals))],
          [`${reached}/${runs.length}`, reached < runs.length ? "missed" : ""],
          [states, runs.some((run) => run.failed) ? "text bad-text" : "text"]);
        rows.push(rowOf(cells));
      }
    }
    fill(byId("table"), head, rows);
  }

  function drawClaims() {
    const head = [["solver", "text"], ["runs"], ["claims"], ["confirmed"], ["rate"],
      ["reached without a claim"]];
    const rowFor = (s) => {
      const runs = series.flatMap((row) => row[s]);
      const claims = runs.filter((run) => run.status === "converged");
      const right = claims.filter((run) => run.reached).length;
      const silent = runs.filter((run) => run.reached && run.status !== "converged").length;
      const rate = claims.length ? right / claims.length : NaN;
      return rowOf([[data.solvers[s].label, "text"], [String(runs.length)],
        [String(claims.length)], [String(right)],
        [claims.length ? percent(rate) : "–", rate < 1 ? "bad-text" : "", number(rate)],
        [String(silent)]]);
    };
    fill(byId("claims"), head, solversByLaw().flatMap(([law, solvers]) => [
      groupRow(law + " law", head.length), ...solvers.map(rowFor)]));
  }

  function drawFailures() {
    const bad = data.runs.filter((run) => run.failed || ["numerical_error", "diverged",
      "unsupported", "stagnated"].includes(run.status));
    const head = [["instance", "text"], ["solver", "text"], ["repetition"], ["status", "text"],
      ["reason", "text"]];
    const rowFor = (run) => rowOf([[data.instances[run.instance].name, "text"],
      [data.solvers[run.solver].label, "text"], [String(run.repetition)],
      [run.status, run.failed ? "text bad-text" : "text"], [run.message || "–", "text wrap"]]);
    const rows = data.laws.flatMap((law) => {
      const ours = bad.filter((run) => data.solvers[run.solver].law === law);
      return ours.length ? [groupRow(law + " law", head.length), ...ours.map(rowFor)] : [];
    });
    if (data.skipped.length) rows.push(groupRow("files", head.length));
    for (const file of data.skipped) {
      rows.push(rowOf([["file skipped", "text"], [file.name, "text"], [""],
        ["unusable", "text bad-text"], [file.reason, "text wrap"]]));
    }
    fill(byId("failures"), head, rows.length ? rows
      : [rowOf([["none", "text"], ["", ""], ["", ""], ["", ""], ["", ""]])]);
  }

  function drawInstances() {
    const names = data.descriptors;
    const round = (v) => (v === undefined || v === null ? "–" : Number.isInteger(v) ? grouped(v)
      : Number(v.toPrecision(4)).toString());
    fill(byId("instances"), [["instance", "text"], ["form", "text"],
      ...names.map((name) => [name.replace(/_/g, " ")]), ["hash", "text"]],
    data.instances.map((instance) => rowOf([[instance.name, "text"], [instance.form, "text"],
      ...names.map((name) => [round(instance.descriptors[name]), "",
        number(instance.descriptors[name])]),
      [instance.hash.slice(0, 12), "text", instance.hash]])));
  }

  function drawProvenance() {
    fill(byId("provenance"), [["of the runs", "text"], ["", "text"]],
      data.provenance.map(([name, value]) => rowOf([[name, "text"], [value, "text wrap"]])));
  }

  function drawMeasures() {
    const head = [["measure", "text"], ["unit", "text"], ["formula", "text"], ["what", "text"]];
    fill(byId("measures"), head, measuresByLaw(data.measures).flatMap(([heading, names]) => [
      groupRow(heading, head.length), ...names.map((name) => rowOf([
        [name.replace(/_/g, " "), "text"], [about(name).unit || "–", "text"],
        [about(name).formula || "–", "text wrap"], [about(name).summary || "–", "text wrap"]]))]));
  }
  /** Marks boxes that have more to the right than they show. */
  function showEdges() {
    for (const box of document.querySelectorAll(".scroll")) {
      box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
    }
  }

  // ---- CSV ----------------------------------------------------------------------------------

  /** RFC 4180. */
  const csvText = (rows) => rows.map((row) => row.map((value) => {
    const text = String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  }).join(",") + "\r\n").join("");

  function tableRows(table) {
    const value = (cell) => cell.dataset.value ?? cell.textContent;
    const groups = table.querySelector("tr.group") !== null, rows = [];
    let group = "";
    for (const row of table.rows) {
      const cells = [...row.cells].map(value);
      if (row.className === "group") group = cells[0];
      else rows.push(groups ? [rows.length ? group : "group", ...cells] : cells);
    }
    return rows;
  }
  /** Every look of every run shown. */
  function convergenceRows() {
    const rows = [["instance", "solver", "repetition", WORK[state.work],
      about(state.measure).title]];
    for (const i of shownInstances()) {
      for (const s of visible()) {
        for (const run of series[i][s]) {
          for (const [x, y] of points(run, state.measure, state.work)) {
            rows.push([data.instances[i].name, data.solvers[s].label, run.repetition, x, y]);
          }
        }
      }
    }
    return rows;
  }
  /** What is drawn in a box. */
  function figureRows(box) {
    const plot = box.querySelector(".js-plotly-plot");
    if (!plot) return [["solver"]];
    const { xaxis, yaxis } = plot.layout;
    const traces = plot.data.flatMap((t) => Array.from(t.x, (x, k) => (t.type === "bar"
      ? [t.customdata[k], x] : [t.name, x, t.y[k]])));
    return [["solver", xaxis.title.text, ...(yaxis.title ? [yaxis.title.text] : [])], ...traces];
  }
  function csvOf(id) {
    const element = byId(id);
    return csvText(id === "convergence" ? convergenceRows()
      : element.tagName === "TABLE" ? tableRows(element) : figureRows(element));
  }
  function download(name, text) {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // ---- the address of a view ----------------------------------------------------------------

  /** What of the view is not as the page opens. */
  function address() {
    const hash = new URLSearchParams();
    if (state.law !== data.laws[0]) hash.set("law", state.law);
    if (state.measure !== data.measure) hash.set("measure", state.measure);
    if (state.work !== "time") hash.set("against", state.work);
    const target = data.targets[state.target];
    if (target && state.target !== data.target) hash.set("target", `${target.measure}=${target.short}`);
    if (state.filter) hash.set("filter", state.filter);
    if (state.page) hash.set("page", state.page + 1);
    for (const s of state.hidden) hash.append("hide", data.solvers[s].label);
    return "#" + hash;
  }
  /** The view of an address; what it names and this page does not have is left as it opens. */
  function restore(text) {
    const hash = new URLSearchParams(text.replace(/^#/, ""));
    const among = (value, list, otherwise) => (list.includes(value) ? value : otherwise);
    state.law = among(hash.get("law"), data.laws, data.laws[0]);
    state.measure = among(hash.get("measure"), data.measures, data.measure);
    state.work = among(hash.get("against"), Object.keys(WORK), "time");
    const target = data.targets.findIndex((t) => `${t.measure}=${t.short}` === hash.get("target"));
    state.target = target >= 0 ? target : data.target;
    state.filter = hash.get("filter") || "";
    state.page = Math.max(0, (parseInt(hash.get("page"), 10) || 1) - 1);
    const hidden = hash.getAll("hide");
    state.hidden = new Set(data.solvers.map((_, s) => s)
      .filter((s) => hidden.includes(data.solvers[s].label)));
    byId("filter").value = state.filter;
    offerTargets();
  }
  let address_shown = "";
  function showAddress() {
    address_shown = address();
    if (address_shown !== "#" || location.hash) history.replaceState(null, "", address_shown);
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
  /** @param groups  [heading, [value, text] of each]; of a single one there is no heading */
  function options(select, groups, change) {
    for (const [heading, entries] of groups) {
      const box = groups.length > 1 ? select.appendChild(make("optgroup")) : select;
      if (box !== select) box.label = heading;
      for (const [value, text] of entries) {
        const option = box.appendChild(make("option", text));
        option.value = value;
      }
    }
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
    offerTargets();
  }

  function draw() {
    for (const [id, value] of [["measure", state.measure], ["work", state.work],
      ["target", String(state.target)], ["law", state.law]]) byId(id).value = value;
    drawChips();
    drawPanels();
    drawAggregates();
    drawTable();
    drawClaims();
    showEdges();
  }
  function drawPanels() {
    drawConvergence();
    showAddress();
  }

  byId("title").textContent = data.title;
  byId("description").textContent = data.description;
  byId("subtitle").textContent = data.subtitle;
  for (const [text, kind] of data.badges) byId("badges").appendChild(make("span", text, "badge " + kind));
  byId("foot").textContent = data.foot;
  options(byId("measure"), measuresByLaw(data.measures).map(([heading, names]) => [heading,
    names.map((name) => [name, name.replace(/_/g, " ")])]), (value) => { state.measure = value; });
  options(byId("work"), [["", Object.entries(WORK)]], (value) => { state.work = value; });
  options(byId("target"), [["", data.targets.map((t, i) => [String(i), t.text])]],
    (value) => { state.target = Number(value); });
  options(byId("law"), [["", data.laws.map((law) => [law, law])]], chooseLaw);
  restore(location.hash);
  byId("law-label").style.display = data.laws.length > 1 ? "" : "none";
  data.solvers.forEach((_, s) => byId("solvers").appendChild(chip(s)));
  byId("all").addEventListener("click", () => { state.hidden.clear(); draw(); });
  byId("none").addEventListener("click", () => {
    data.solvers.forEach((_, s) => state.hidden.add(s));
    draw();
  });
  byId("previous").addEventListener("click", () => { state.page -= 1; drawPanels(); });
  byId("next").addEventListener("click", () => { state.page += 1; drawPanels(); });
  byId("filter").addEventListener("input", () => {
    state.filter = byId("filter").value;
    state.page = 0;
    drawPanels();
    drawTable();
  });
  window.addEventListener("hashchange", () => {
    if (location.hash === address_shown) return;
    restore(location.hash);
    draw();
  });
  byId("link").addEventListener("click", async () => {
    const button = byId("link");
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "copied";
    } catch (error) {  // no clipboard without a permission, but everybody can copy the address
      button.textContent = "see the address bar";
    }
    setTimeout(() => { button.textContent = "copy link"; }, 2000);
  });
  for (const button of document.querySelectorAll("button.csv")) {
    button.type = "button";
    button.textContent = "CSV";
    button.title = "Save these numbers as a file of comma-separated values";
    button.addEventListener("click", () => download(
      `${data.title.replace(/[^\w.-]+/g, "_")}-${button.dataset.of}.csv`, csvOf(button.dataset.of)));
  }
  for (const box of document.querySelectorAll(".scroll")) box.addEventListener("scroll", showEdges);
  window.addEventListener("resize", showEdges);
  drawFailures();
  drawMeasures();
  drawInstances();
  drawProvenance();
  draw();
  // What tests compare with ccpbench/profiles.py.
  window.ccpReport = {
    data, state, series, visible, csvOf, countedOn, middle, points, bandOf, performanceProfile,
    runTimeDistribution, solvedRatio, shiftedMean,
  };
}(ccpNumbers, ccpFigures));
