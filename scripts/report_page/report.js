"use strict";
// Draws the report from the data that scripts/report wrote into the page. Everything that is shown
// is worked out here from the runs, so that hiding a solver changes every figure and table.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const DASHES = ["solid", "7px,3px", "8px,3px,2px,3px", "2px,2px"];
  const SVG_DASHES = ["", "6 2.5", "7 2.5 1.5 2.5", "1.5 1.5"];
  const SYMBOLS = ["circle", "square", "diamond", "triangle-down", "triangle-up", "pentagon", "x",
    "triangle-right", "cross"];
  const WORK = {
    time: "solve time [s]", total: "setup + solve time [s]", outer: "outer iterations",
    krylov: "Krylov iterations", applies: "operator applies",
  };
  const PER_PAGE = 6;
  const INK = "#1d2733", GRID = "#e6eaee";

  // ---- the data -----------------------------------------------------------------------------

  /** A column of numbers, kept as the bytes of little-endian 32-bit floats. */
  function decode(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  }
  for (const run of data.runs) {
    const packed = run.curve;
    run.curve = {};
    for (const name of Object.keys(packed)) {
      Object.defineProperty(run.curve, name, {
        configurable: true, enumerable: true,
        get() {
          const column = decode(packed[name]);
          Object.defineProperty(run.curve, name, { value: column, enumerable: true });
          return column;
        },
      });
    }
  }
  /** Repetitions: series[instance][solver] is a list of runs. */
  const series = data.instances.map(() => data.solvers.map(() => []));
  for (const run of data.runs) series[run.instance][run.solver].push(run);

  const state = {
    measure: data.measure, work: "time", target: data.target, law: data.laws[0], page: 0,
    filter: "", hidden: new Set(),
  };
  const visible = () => data.solvers.map((_, s) => s).filter(
    (s) => !state.hidden.has(s) && data.solvers[s].law === state.law);

  // ---- numbers ------------------------------------------------------------------------------

  function median(values) {
    if (values.length === 0) return Infinity;
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
  /** Work of one run until a target; infinite if it never got there. */
  function workTo(run, target, work) {
    const at = run.hits[target];
    if (at < 0) return Infinity;
    return work === "total" ? run.times[target] + run.setup
      : work === "time" ? run.times[target] : run.curve[work][at];
  }
  const medianWork = (runs, target, work) => median(runs.map((run) => workTo(run, target, work)));
  /** (largest - smallest) / median of the solve times of runs that ended by themselves. */
  function spread(runs) {
    const times = runs.filter((run) => !run.failed && run.time > 0).map((run) => run.time);
    return times.length < 2 ? 0 : (Math.max(...times) - Math.min(...times)) / median(times);
  }
  const bareDifference = (runs) => {
    const ratios = runs.filter((run) => run.bare > 0 && run.time > 0)
      .map((run) => run.bare / run.time - 1);
    return ratios.length ? median(ratios) : NaN;
  };
  /** What makes the times doubtful, or "". */
  function noise(runs) {
    const parts = [], wide = spread(runs), bare = bareDifference(runs);
    if (wide > data.noisy) parts.push("spread " + percent(wide));
    if (Math.abs(bare) > data.noisy) parts.push(`bare ${bare > 0 ? "+" : "−"}${percent(Math.abs(bare))}`);
    return parts.join(", ");
  }

  /** Dolan and More: for each solver its ratios to the best of the solvers shown, sorted. */
  function performanceProfile(solvers, target, work) {
    const ratios = new Map(solvers.map((s) => [s, []]));
    for (const row of series) {
      const needs = solvers.map((s) => medianWork(row[s], target, work));
      const best = Math.min(Infinity, ...needs);
      if (best === Infinity) continue;
      solvers.forEach((s, i) => {
        if (needs[i] < Infinity) {
          ratios.get(s).push(best > 0 ? needs[i] / best : needs[i] <= 0 ? 1 : Infinity);
        }
      });
    }
    for (const values of ratios.values()) values.sort((a, b) => a - b);
    return ratios;
  }
  /** [target, number] of those that solvers of the law shown are judged by. */
  function targetsOfLaw() {
    return data.targets.map((t, i) => [t, i]).filter(([t]) => t.laws.includes(state.law));
  }
  /** Work for each (instance, target) pair that a solver reached, sorted. */
  function runTimeDistribution(solvers, work) {
    return new Map(solvers.map((s) => [s, series.flatMap((row) => targetsOfLaw().map(
      ([, t]) => medianWork(row[s], t, work))).filter((w) => w < Infinity).sort((a, b) => a - b)]));
  }
  function smallest(run, measure) {
    let least = Infinity;
    for (const value of run.curve[measure]) if (value < least) least = value;
    return least;
  }
  /** The smallest value seen on each instance, sorted. */
  function solvedRatio(solvers, measure) {
    return new Map(solvers.map((s) => [s, series.filter((row) => row[s].length)
      .map((row) => median(row[s].map((run) => smallest(run, measure))))
      .filter((value) => value < Infinity).sort((a, b) => a - b)]));
  }
  /** exp(mean log(t + shift)) - shift over all instances; a miss counts as the time limit. */
  function shiftedMean(s, target, shift) {
    const logs = [];
    let missed = 0;
    for (const row of series) {
      if (row[s].length === 0) continue;
      let time = medianWork(row[s], target, "time");
      if (time === Infinity) {
        time = Math.max(...row[s].map((run) => run.limit));
        missed += 1;
      }
      logs.push(Math.log(time + shift));
    }
    const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
    return { mean: Math.exp(mean) - shift, missed, count: logs.length };
  }

  // ---- texts --------------------------------------------------------------------------------

  const grouped = (n) => Math.round(n).toLocaleString("en-US");
  const counted = (n, one, many) => `${grouped(n)} ${n === 1 ? one : many}`;
  function scientific(value) {
    if (value === null || Number.isNaN(value)) return "–";
    if (value === 0) return "0";
    return value.toExponential(2).replace("e+", "e");
  }
  function seconds(t) {
    if (!Number.isFinite(t)) return "–";
    if (t === 0) return "0";
    const digits = (x) => Number(x.toPrecision(3)).toString();
    return t < 1e-3 ? digits(t * 1e6) + " µs" : t < 1 ? digits(t * 1e3) + " ms"
      : t < 120 ? digits(t) + " s" : digits(t / 60) + " min";
  }
  const amount = (value, work) => (work === "time" || work === "total" ? seconds(value)
    : Number.isFinite(value) ? grouped(value) : "–");
  const percent = (x) => Math.round(100 * x) + " %";
  const measureTitle = (name) => {
    const unit = data.units[name];
    return name.replace(/_/g, " ") + (unit ? ` [${unit}]` : "");
  };
  const clear = (element) => { while (element.firstChild) element.removeChild(element.firstChild); };
  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }
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

  // ---- figures ------------------------------------------------------------------------------

  const styleOf = (s) => ({
    colour: data.colours[s % data.colours.length], dash: DASHES[s % DASHES.length],
    symbol: SYMBOLS[s % SYMBOLS.length],
  });
  function axis(title, more) {
    return Object.assign({
      title: { text: title, standoff: 8, font: { size: 13 } }, gridcolor: GRID, zeroline: false,
      linecolor: "#9aa5b1", ticks: "outside", ticklen: 4, tickcolor: "#9aa5b1", automargin: true,
    }, more);
  }
  const logAxis = (title, more) => axis(title, Object.assign(
    { type: "log", exponentformat: "power", dtick: 1, tickfont: { size: 12 } }, more));
  /** A logarithmic axis with room for its labels: powers of ten, not too many of them. */
  function fittedLogAxis(title, low, high, more) {
    const span = Math.log10(high / low);
    const air = 0.05 * span + 0.03;
    const dtick = span < 1 ? "D2" : Math.max(1, Math.ceil(span / 7));
    return logAxis(title, Object.assign(
      { range: [Math.log10(low) - air, Math.log10(high) + air], dtick }, more));
  }
  const layout = (more) => Object.assign({
    margin: { l: 62, r: 14, t: 28, b: 46 }, showlegend: false, hovermode: "closest",
    font: { family: "DejaVu Sans, Verdana, sans-serif", size: 12, color: INK },
    paper_bgcolor: "#fff", plot_bgcolor: "#fff",
    hoverlabel: { align: "left", bgcolor: "#fff", bordercolor: "#9aa5b1", font: { size: 12, color: INK } },
  }, more);
  const config = {
    displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "hoverClosestCartesian",
      "hoverCompareCartesian", "toggleSpikelines"],
    toImageButtonOptions: { format: "svg" },
  };
  /** Takes a plot out of the page. plotly.js may still be at work on it: it is freed later. */
  function discard(plot) {
    plot.remove();
    setTimeout(() => Plotly.purge(plot), 3000);
  }
  /** Draws into a box, or says that there is nothing to draw. */
  function show(box, traces, plan) {
    const old = box.querySelector(".js-plotly-plot");
    if (traces.length === 0) {
      if (old) discard(old);
      clear(box);
      box.appendChild(make("div", "nothing to draw", "empty"));
      return;
    }
    if (!old) clear(box);
    Plotly.react(old || box.appendChild(make("div", undefined, "fill")), traces, plan, config);
  }
  let resizing = 0;
  window.addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      for (const plot of document.querySelectorAll(".js-plotly-plot")) Plotly.Plots.resize(plot);
    }, 150);
  });

  /** The points of a run that logarithmic axes can show, without the initial guess. */
  function points(run, measure, work) {
    const value = run.curve[measure], outer = run.curve.outer;
    const x = run.curve[work === "total" ? "time" : work], setup = work === "total" ? run.setup : 0;
    const result = [];
    for (let i = 0; i < value.length; ++i) {
      const at = x[i] + setup;
      if (outer[i] > 0 && at > 0 && value[i] > 0 && Number.isFinite(value[i])) {
        result.push([at, value[i], i]);
      }
    }
    return result;
  }
  /** Value at x of a curve that is straight between its points on logarithmic axes. */
  function interpolate(curve, x) {
    if (x <= curve[0][0]) return curve[0][1];
    const last = curve[curve.length - 1];
    if (x >= last[0]) return last[1];
    let low = 0, high = curve.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (curve[middle][0] <= x) low = middle; else high = middle;
    }
    const [x0, y0] = curve[low], [x1, y1] = curve[high];
    if (x1 <= x0) return y1;
    const part = Math.log(x / x0) / Math.log(x1 / x0);
    return Math.exp(Math.log(y0) + part * Math.log(y1 / y0));
  }

  function curveTraces(instance, s) {
    const runs = series[instance][s], style = styleOf(s), name = data.solvers[s].label;
    const curves = runs.map((run) => points(run, state.measure, state.work))
      .filter((curve) => curve.length);
    if (curves.length === 0) return [];
    let x, middle, low, high;
    if (curves.length === 1) {
      x = curves[0].map((p) => p[0]);
      middle = curves[0].map((p) => p[1]);
    } else {
      const start = median(curves.map((c) => c[0][0]));
      const end = median(curves.map((c) => c[c.length - 1][0]));
      x = [...new Set([start, end, ...curves.flat().map((p) => p[0])])]
        .filter((value) => value >= start && value <= end).sort((a, b) => a - b);
      const values = x.map((at) => curves.map((c) => interpolate(c, at)));
      middle = values.map((v) => Math.exp(median(v.map(Math.log))));
      low = values.map((v) => Math.min(...v));
      high = values.map((v) => Math.max(...v));
    }
    const traces = [];
    if (low) {
      traces.push({
        x: [...x, ...[...x].reverse()], y: [...high, ...[...low].reverse()], fill: "toself",
        mode: "lines", line: { width: 0 }, fillcolor: style.colour, opacity: 0.22,
        hoverinfo: "skip", name: name + " band",
      });
    }
    // One run has all its counters to tell; a median has only what the axes show.
    const unit = state.work === "time" || state.work === "total" ? " s" : "";
    const columns = runs.find((run) => points(run, state.measure, state.work).length).curve;
    const what = low ? `median of ${curves.length} runs` : "%{customdata}";
    traces.push({
      x, y: middle, mode: "lines", name,
      customdata: low ? undefined : curves[0].map((p) => [`${seconds(columns.time[p[2]])}, `
        + `${grouped(columns.outer[p[2]])} outer, ${grouped(columns.krylov[p[2]])} Krylov, `
        + `${grouped(columns.applies[p[2]])} applies`]), line: { color: style.colour, dash: style.dash, width: 2 },
      hovertemplate: `<b>${name}</b><br>${state.measure} %{y:.2e}<br>`
        + `${WORK[state.work].replace(/ \[s\]/, "")} %{x:.3g}${unit}<br>${what}<extra></extra>`,
    });
    const reached = 2 * runs.filter((run) => run.reached).length > runs.length;
    traces.push({
      x: [x[x.length - 1]], y: [middle[middle.length - 1]], mode: "markers", name: name + " end",
      marker: {
        symbol: style.symbol, size: 10, color: reached ? style.colour : "#fff",
        line: { color: style.colour, width: 2 },
      },
      hovertemplate: `<b>${name}</b><br>ended: ${[...new Set(runs.map((r) => r.status))].join(", ")}`
        + "<br>%{y:.2e} at %{x:.3g}<extra></extra>",
    });
    return traces;
  }

  function shownInstances() {
    const word = state.filter.toLowerCase();
    return data.instances.map((_, i) => i)
      .filter((i) => data.instances[i].name.toLowerCase().includes(word));
  }

  function drawConvergence() {
    const instances = shownInstances(), pages = Math.max(1, Math.ceil(instances.length / PER_PAGE));
    state.page = Math.min(state.page, pages - 1);
    const here = instances.slice(state.page * PER_PAGE, (state.page + 1) * PER_PAGE);
    byId("page").textContent = instances.length === 0 ? "no instance of that name"
      : `${state.page * PER_PAGE + 1}–${state.page * PER_PAGE + here.length} of `
        + `${instances.length} instance${instances.length > 1 ? "s" : ""}`;
    byId("previous").disabled = state.page === 0;
    byId("next").disabled = state.page === pages - 1;
    byId("convergence-note").textContent = `${measureTitle(state.measure)} against `
      + `${WORK[state.work]}; lines are medians, bands reach from the smallest to the largest `
      + "repetition. A hollow marker: the solve ended short of its stop. Dashed: the targets of "
      + "this measure.";
    const box = byId("panels");
    for (const old of box.querySelectorAll(".js-plotly-plot")) discard(old);
    clear(box);
    const plots = [];  // all boxes first: their number decides how wide each is
    for (const i of here) {
      const instance = data.instances[i];
      const figure = box.appendChild(make("figure"));
      const caption = figure.appendChild(make("figcaption", instance.name));
      caption.appendChild(make("small", `${counted(instance.contacts, "contact", "contacts")}, `
        + counted(instance.bodies, "body", "bodies")));
      const noisy = visible().filter((s) => noise(series[i][s]));
      if (noisy.length) {
        caption.appendChild(make("small", "doubtful times: " + noisy.map(
          (s) => `${data.solvers[s].label} (${noise(series[i][s])})`).join(", "), "warning"));
      }
      const without = visible().filter((s) => series[i][s].length
        && curveTraces(i, s).length === 0);
      if (without.length) {
        caption.appendChild(make("small", "nothing to draw of " + without.map(
          (s) => `${data.solvers[s].label} (${series[i][s][0].status})`).join(", ")));
      }
      plots.push([i, figure.appendChild(make("div", undefined, "plot"))]);
    }
    for (const [i, plot] of plots) {
      const traces = visible().flatMap((s) => curveTraces(i, s));
      if (traces.length === 0) {
        show(plot, [], null);
        continue;
      }
      const xs = traces.flatMap((t) => t.x), lines = traces.filter((t) => t.mode === "lines");
      const starts = lines.map((t) => t.y[0]);
      const targets = data.targets.filter((t) => t.measure === state.measure);
      // A solve that diverges may leave its panel: it must not squeeze the others.
      const ceiling = Math.max(10 * Math.max(...starts), ...targets.map((t) => t.value));
      const ys = lines.flatMap((t) => t.y).concat(targets.map((t) => t.value))
        .map((y) => Math.min(y, ceiling));
      const x = fittedLogAxis(WORK[state.work], minimum(xs), maximum(xs));
      show(plot, traces, layout({
        xaxis: x, yaxis: fittedLogAxis(measureTitle(state.measure), minimum(ys), maximum(ys)),
        shapes: targets.map((t) => ({
          type: "line", xref: "paper", x0: 0, x1: 1, y0: t.value, y1: t.value, layer: "below",
          line: { color: "#8a949e", width: 1, dash: "4px,3px" },
        })),
      }));
    }
  }
  const minimum = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const maximum = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

  /** Staircases: the share of `count` that is at most x. */
  function stairs(element, values, count, x, y, hover) {
    const finite = [...values.values()].flat().filter((v) => v > 0 && v < Infinity);
    if (finite.length === 0) {
      show(element, [], null);
      return;
    }
    const low = minimum(finite), high = Math.max(maximum(finite), low * 1.0001);
    const span = Math.max(high / low, 10);
    const left = low / Math.pow(span, 0.04), right = high * Math.pow(span, 0.06);
    const traces = [...values].map(([s, numbers]) => {
      const style = styleOf(s), name = data.solvers[s].label;
      const inside = numbers.map((v) => Math.min(Math.max(v, left), right));
      return {
        x: [left, ...inside, right], mode: "lines", name,
        y: [0, ...inside.map((_, i) => (i + 1) / count), inside.length / count],
        line: { shape: "hv", color: style.colour, dash: style.dash, width: 2 },
        hovertemplate: `<b>${name}</b><br>%{y:.0%} ${hover} %{x:.3g}<extra></extra>`,
      };
    });
    show(element, traces, layout({
      xaxis: fittedLogAxis(x, left, right),
      yaxis: axis(y, { range: [-0.03, 1.05], tickformat: ".0%", dtick: 0.25 }),
    }));
  }

  function drawAggregates() {
    const solvers = visible(), target = data.targets[state.target];
    const n = data.instances.length;
    const plain = WORK[state.work].replace(" [s]", "");
    byId("aggregates-note").textContent = `${n} instance${n > 1 ? "s" : ""}; of repetitions the `
      + "median. Hidden solvers do not count: the profile compares with the best of those shown."
      + (data.laws.length > 1 ? ` Only solvers of the ${state.law} law.` : "");
    byId("profile-title").textContent = target ? `Performance profile to ${target.text}`
      : "Performance profile";
    const count = targetsOfLaw().length;
    byId("ecdf-title").textContent = `Targets reached (${count} per instance)`;
    byId("means-title").textContent = target ? `Mean time to ${target.text}` : "Mean time";
    byId("means-title").appendChild(make("small", "shifted geometric mean (10 ms) over the "
      + "instances; a miss counts as the time limit"));
    byId("solved-title").textContent = `Solved to a tolerance of ${state.measure.replace(/_/g, " ")}`;
    if (target) {
      stairs(byId("profile"), performanceProfile(solvers, state.target, state.work), n,
        `${plain} / that of the best`, "share of instances", "within a factor of");
      stairs(byId("ecdf"), runTimeDistribution(solvers, state.work), n * count,
        WORK[state.work], "share of (instance, target) pairs", "within");
    } else {
      show(byId("profile"), [], null);
      show(byId("ecdf"), [], null);
    }
    stairs(byId("solved"), solvedRatio(solvers, state.measure), n,
      `tolerance: ${measureTitle(state.measure)}`, "share of instances", "solved to");
    drawMeans(solvers, target);
  }

  function drawMeans(solvers, target) {
    const shift = 0.01;
    const rows = !target ? [] : solvers.filter((s) => series.some((row) => row[s].length))
      .map((s) => Object.assign({ s }, shiftedMean(s, state.target, shift)))
      .sort((a, b) => b.mean - a.mean);
    const short = (text) => (text.length > 30 ? text.slice(0, 29) + "…" : text);
    // Two labels that are shortened to the same text would share one bar.
    const labels = rows.map((r, i) => short(data.solvers[r.s].label) + "\u200b".repeat(i));
    show(byId("means"), rows.length === 0 ? [] : [{
      type: "bar", orientation: "h", x: rows.map((r) => r.mean), y: labels,
      marker: { color: rows.map((r) => styleOf(r.s).colour), opacity: 0.85 },
      text: rows.map((r) => seconds(r.mean) + (r.missed ? ` (${r.missed} missed)` : "")),
      textposition: "auto", textangle: 0, cliponaxis: false, insidetextanchor: "end",
      hovertemplate: "%{y}<br>%{text}<extra></extra>",
    }], layout({
      margin: { l: 20, r: 20, t: 28, b: 46 },
      xaxis: axis("mean time [s]", { rangemode: "tozero" }),
      yaxis: { automargin: true, ticks: "", tickfont: { size: 11 } }, bargap: 0.35,
    }));
  }

  // ---- tables -------------------------------------------------------------------------------

  function drawTable() {
    const work = state.work, solvers = visible();
    const targets = targetsOfLaw();
    byId("table-note").textContent = `${WORK[work]}; median of the repetitions and, below, their `
      + `smallest and largest. “–” is not reached; ⚠ marks times that differ by more than `
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
          const cell = make("td", amount(value, work), value === Infinity ? "missed"
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
  // What tests compare with scripts/ccp_results.py.
  window.ccpReport = {
    data, state, visible, performanceProfile, runTimeDistribution, solvedRatio, shiftedMean,
  };
}());
