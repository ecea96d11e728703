"use strict";
// The report's data, and the numbers and texts made from them. Everything that is shown is worked out
// here from the runs, so that hiding a solver changes every figure and table.
const ccpNumbers = (function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const WORK = {
    time: "solve time [s]", total: "setup + solve time [s]", outer: "outer iterations",
    krylov: "Krylov iterations", applies: "operator applies",
  };

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
  /** Whether there is such work in one of the runs: a solver without inner linear solvers has no
   *  Krylov iterations, rather than 0 of them. */
  const counts = (runs, work) => runs.some((run) => !run.uncounted.includes(work));
  const countedOn = (work) => visible().filter((s) => series.some((row) => counts(row[s], work)));
  /** Work of one run until a target; infinite if it never got there, or has no such work. */
  function workTo(run, target, work) {
    const at = run.hits[target];
    if (at < 0 || run.uncounted.includes(work)) return Infinity;
    return work === "total" ? run.times[target] + run.setup
      : work === "time" ? run.times[target] : run.curve[work][at];
  }
  const medianWork = (runs, target, work) => median(runs.map((run) => workTo(run, target, work)));
  /** More than half of the runs must have reached their stop. */
  const short = (runs) => 2 * runs.filter((run) => run.reached).length <= runs.length;
  /** Of [run, points] the one in the middle by the work until the end, where a run that ended short
   *  of its stop would have needed more than any that got there. */
  function middle(drawable, work) {
    const column = work === "total" ? "time" : work;
    const end = (run) => run.curve[column].reduce((a, b) => Math.max(a, b), 0);
    const order = [...drawable].sort(([a], [b]) => a.reached === b.reached
      ? end(a) - end(b) : a.reached ? -1 : 1);
    return order[order.length >> 1];
  }
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
  const about = (name) => data.about[name] || { title: name.replace(/_/g, " "), laws: [] };
  const measureTitle = (name) => about(name).title;
  /** What a measure is, in a line. */
  const measureLine = (name) => [about(name).formula, about(name).summary].filter(Boolean).join("; ");
  /** Names of measures, by the laws that they judge: [heading, names]. */
  function measuresByLaw(names) {
    const heading = (name) => {
      const laws = about(name).laws;
      return laws.length > 1 ? "of both laws" : laws.length === 1 ? `of the ${laws[0]} law` : "other";
    };
    const headings = [...new Set(names.map(heading))];
    return headings.map((text) => [text, names.filter((name) => heading(name) === text)]);
  }
  /** Solvers that are not hidden, by law: [law, solvers]. */
  const solversByLaw = () => data.laws.map((law) => [law, data.solvers.map((_, s) => s).filter(
    (s) => !state.hidden.has(s) && data.solvers[s].law === law)]).filter(([, some]) => some.length);

  return {
    data, state, series, visible, WORK, counts, countedOn, median, short, middle, workTo, medianWork,
    noise, performanceProfile, targetsOfLaw, runTimeDistribution, solvedRatio, shiftedMean, grouped, counted, scientific,
    seconds, amount, percent, about, measureTitle, measureLine, measuresByLaw, solversByLaw,
  };
}());
