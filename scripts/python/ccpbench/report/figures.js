"use strict";
// The report's figures: plotly.js draws them into the boxes of page.html.
const ccpFigures = (function (numbers) {
  const {
    data, state, series, visible, WORK, counts, countedOn, short, middle, noise,
    performanceProfile, targetsOfLaw, runTimeDistribution, solvedRatio, shiftedMean, grouped, counted,
    seconds, measureTitle, measureLine,
  } = numbers;
  const byId = (id) => document.getElementById(id);
  const DASHES = ["solid", "7px,3px", "8px,3px,2px,3px", "2px,2px"];
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross",
    "triangle-left", "x", "triangle-right"];  // styles.py has the same
  const PER_PAGE = 6;
  const INK = "#1d2733", GRID = "#e6eaee";

  const clear = (element) => { while (element.firstChild) element.removeChild(element.firstChild); };
  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }

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
  /** Value at x of a curve that is straight between its points on logarithmic axes; x is on it. */
  function interpolate(curve, x) {
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

  /** [x, smallest, largest] of the curves that there are at x: none goes on after its end or begins
   *  before its start. At an end the band has two values, with and without that curve. */
  function bandOf(curves) {
    const grid = [...new Set(curves.flat().map((p) => p[0]))].sort((a, b) => a - b);
    const band = [];
    for (let i = 0; i < Math.max(grid.length - 1, 1); ++i) {
      const from = grid[i], to = grid[Math.min(i + 1, grid.length - 1)];
      const there = curves.filter((c) => c[0][0] <= from && to <= c[c.length - 1][0]);
      for (const x of [from, to]) {
        const values = there.map((c) => interpolate(c, x));
        band.push(there.length ? [x, Math.min(...values), Math.max(...values)] : null);
      }
    }
    return band;
  }
  /** The band as polygons, apart where no curve is. */
  function outline(band) {
    const x = [], y = [];
    let part = [];
    for (const point of [...band, null]) {
      if (point) {
        part.push(point);
      } else if (part.length) {
        x.push(...part.map((p) => p[0]), ...part.map((p) => p[0]).reverse(), null);
        y.push(...part.map((p) => p[2]), ...part.map((p) => p[1]).reverse(), null);
        part = [];
      }
    }
    return [x.slice(0, -1), y.slice(0, -1)];
  }

  function curveTraces(instance, s) {
    const runs = series[instance][s], style = styleOf(s), name = data.solvers[s].label;
    const drawable = runs.map((run) => [run, points(run, state.measure, state.work)])
      .filter(([, curve]) => curve.length);
    if (drawable.length === 0) return [];
    const [run, curve] = middle(drawable, state.work), columns = run.curve;
    const x = curve.map((p) => p[0]), y = curve.map((p) => p[1]);
    const traces = [];
    if (drawable.length > 1) {
      const [bandX, bandY] = outline(bandOf(drawable.map(([, c]) => c)));
      traces.push({
        x: bandX, y: bandY, fill: "toself", mode: "lines", opacity: 0.25, fillcolor: style.colour,
        line: { width: 0.5, color: style.colour }, hoverinfo: "skip", name: name + " band",
      });
    }
    const unit = state.work === "time" || state.work === "total" ? " s" : "";
    const which = drawable.length > 1
      ? `<br>repetition ${run.repetition}, the middle one of ${drawable.length}` : "";
    traces.push({
      x, y, mode: "lines", name, line: { color: style.colour, dash: style.dash, width: 2 },
      customdata: curve.map((p) => [`${seconds(columns.time[p[2]])}, `
        + `${grouped(columns.outer[p[2]])} outer, ${grouped(columns.krylov[p[2]])} Krylov, `
        + `${grouped(columns.applies[p[2]])} applies`]),
      hovertemplate: `<b>${name}</b><br>${state.measure} %{y:.2e}<br>`
        + `${WORK[state.work].replace(/ \[s\]/, "")} %{x:.3g}${unit}<br>%{customdata}${which}`
        + "<extra></extra>",
    });
    traces.push({
      x: [x[x.length - 1]], y: [y[y.length - 1]], mode: "markers", name: name + " end",
      marker: {
        symbol: style.symbol, size: 10, color: short(runs) ? "#fff" : style.colour,
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
    const line = measureLine(state.measure);
    byId("measure-note").textContent = line && `${measureTitle(state.measure)} = ${line}.`;
    byId("convergence-note").textContent = `${measureTitle(state.measure)} against `
      + `${WORK[state.work]}. A line is the repetition in the middle and ends where that run did; `
      + "bands span the repetitions that still run. A hollow marker: the solve ended short of its "
      + "stop. Dashed: the targets of this measure.";
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
          (s) => `${data.solvers[s].label} (${counts(series[i][s], state.work)
            ? series[i][s][0].status : "has no " + WORK[state.work]})`).join(", ")));
      }
      plots.push([i, figure.appendChild(make("div", undefined, "plot"))]);
    }
    for (const [i, plot] of plots) {
      const traces = visible().flatMap((s) => curveTraces(i, s));
      if (traces.length === 0) {
        show(plot, [], null);
        continue;
      }
      const shown = (axis) => (t) => t[axis].filter((v) => v !== null);  // null: a gap in a band
      const xs = traces.flatMap(shown("x")), lines = traces.filter((t) => t.mode === "lines");
      const starts = lines.map((t) => t.y[0]);
      const targets = data.targets.filter((t) => t.measure === state.measure);
      // A solve that diverges may leave its panel: it must not squeeze the others.
      const ceiling = Math.max(10 * Math.max(...starts), ...targets.map((t) => t.value));
      const ys = lines.flatMap(shown("y")).concat(targets.map((t) => t.value))
        .map((y) => Math.min(y, ceiling));
      const x = fittedLogAxis(WORK[state.work], minimum(xs), maximum(xs));
      const y = fittedLogAxis(measureTitle(state.measure), minimum(ys), maximum(ys));
      show(plot, traces, layout({
        xaxis: x, yaxis: y, margin: { l: 62, r: targets.length ? 46 : 14, t: 28, b: 46 },
        annotations: targetLabels(targets, y.range),
        shapes: targets.map((t) => ({
          type: "line", xref: "paper", x0: 0, x1: 1, y0: t.value, y1: t.value, layer: "below",
          line: { color: "#8a949e", width: 1, dash: "4px,3px" },
        })),
      }));
    }
  }
  /** At the right end of the dashed lines, those of them that have room for a label. */
  function targetLabels(targets, [low, high]) {
    const HEIGHT = 250, LETTERS = 12;  // pixels of the panel's inside and of a line of text
    const labels = [];
    let last = -Infinity;
    for (const target of [...targets].sort((a, b) => a.value - b.value)) {
      const at = Math.log10(target.value);
      if (at < low || at > high || (at - last) / (high - low) * HEIGHT < LETTERS) continue;
      labels.push({
        xref: "paper", x: 1, xanchor: "left", y: at, text: target.short, showarrow: false,
        font: { size: 11, color: "#5b6875" },
      });
      last = at;
    }
    return labels;
  }
  const minimum = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const maximum = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

  /** Staircases: the share of `count` that is at most x; x begins at `least`, where that is known. */
  function stairs(element, values, count, x, y, hover, least) {
    const finite = [...values.values()].flat().filter((v) => v > 0 && v < Infinity);
    if (finite.length === 0) {
      show(element, [], null);
      return;
    }
    const low = minimum(finite), high = Math.max(maximum(finite), low * 1.0001);
    const span = Math.max(high / low, 10);
    const left = least || low / Math.pow(span, 0.04), right = high * Math.pow(span, 0.06);
    const traces = [...values].map(([s, numbers]) => {
      const style = styleOf(s), name = data.solvers[s].label;
      // What is there from the start is no climb on the axis.
      const first = numbers.filter((v) => v <= left).length;
      const rest = numbers.slice(first).map((v) => Math.min(v, right));
      return {
        x: [left, ...rest, right], mode: "lines", name,
        y: [first, ...rest.map((_, i) => first + i + 1), numbers.length].map((k) => k / count),
        line: { shape: "hv", color: style.colour, dash: style.dash, width: 2 },
        hovertemplate: `<b>${name}</b><br>%{y:.0%} ${hover} %{x:.3g}<extra></extra>`,
      };
    });
    const xaxis = fittedLogAxis(x, left, right);
    if (least) xaxis.range[0] = Math.log10(least);
    show(element, traces, layout({
      xaxis,
      yaxis: axis(y, { range: [-0.03, 1.05], tickformat: ".0%", dtick: 0.25 }),
    }));
  }

  function drawAggregates() {
    const solvers = visible(), target = data.targets[state.target];
    const ranked = countedOn(state.work), without = solvers.filter((s) => !ranked.includes(s));
    const n = data.instances.length;
    const plain = WORK[state.work].replace(" [s]", "");
    byId("aggregates-note").textContent = `${n} instance${n > 1 ? "s" : ""}; of repetitions the `
      + "median. Hidden solvers do not count: the profile compares with the best of those shown."
      + (data.laws.length > 1 ? ` Only solvers of the ${state.law} law.` : "")
      + (without.length ? ` Without ${WORK[state.work]}, hence not in the first two: `
        + without.map((s) => data.solvers[s].label).join(", ") + "." : "");
    byId("profile-title").textContent = target ? `Performance profile to ${target.text}`
      : "Performance profile";
    const count = targetsOfLaw().length;
    byId("ecdf-title").textContent = `Targets reached (${count} per instance)`;
    byId("means-title").textContent = target ? `Mean time to ${target.text}` : "Mean time";
    byId("means-title").appendChild(make("small", "shifted geometric mean (10 ms) over the "
      + "instances; a miss counts as the time limit"));
    byId("solved-title").textContent = `Solved to a tolerance of ${state.measure.replace(/_/g, " ")}`;
    if (target) {
      stairs(byId("profile"), performanceProfile(ranked, state.target, state.work), n,
        `${plain} / that of the best`, "share of instances", "within a factor of", 1);
      stairs(byId("ecdf"), runTimeDistribution(ranked, state.work), n * count,
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
      textposition: "outside", textangle: 0, cliponaxis: false,
      customdata: rows.map((r) => data.solvers[r.s].label),
      hovertemplate: "%{customdata}<br>%{text}<extra></extra>",
    }], layout({
      margin: { l: 20, r: 20, t: 28, b: 46 },
      // Room for a text beside the longest bar.
      xaxis: axis("mean time [s]", { range: [0, 1.4 * maximum(rows.map((r) => r.mean))] }),
      yaxis: { automargin: true, ticks: "", tickfont: { size: 11 } }, bargap: 0.35,
    }));
  }

  return {
    byId, make, clear, styleOf, points, bandOf, drawConvergence, drawAggregates, shownInstances,
  };
}(ccpNumbers));
