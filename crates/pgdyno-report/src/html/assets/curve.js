// Percentile curves: the latency that a share of transactions does not exceed, on an axis of nines.

const NINES = [[0, "min"], [Math.log10(2), "50 %"], [1, "90 %"], [2, "99 %"], [3, "99.9 %"], [4, "99.99 %"]];
const CURVES_MAX = 8;
const percentText = (nines) => `${Number((100 * (1 - 10 ** -nines)).toPrecision(nines > 2 ? 5 : 4))} %`;

// All curves of a run in one chart; of several runs a chart for each name, in which each run is a curve.
function curveCharts(curves) {
  if (!curves.length) return [];
  if (alone) return [curveChart(curves, "", true)];
  const names = [...new Set(curves.map((curve) => curve.name))];
  return names.slice(0, CURVES_MAX).map((name) => curveChart(curves.filter((curve) => curve.name === name), `: ${name}`, false));
}

function curveChart(curves, of, wide) {
  const legend = curves.map((curve, key) => {
    const alone = { name: curve.name, colour: colour(key), dash: DASHES[Math.floor(key / COLOURS) % DASHES.length] };
    return { key, ...(of ? { name: DATA.runs[curve.run].name, ...runLook(curve.run) } : alone) };
  });
  const at = (curve, nines) => (nines > curve.points[curve.points.length - 1][0] + 1e-9 ? null : curve.points[nearest(curve.points.map(([x]) => x), nines)][1]);
  const table = () => [
    tableOf(["share", ...legend.map((entry) => `${entry.name}, ms`)], NINES.map(([nines, words]) => [words, ...curves.map((curve) => number(at(curve, nines)))])),
  ];
  const note = "The response time that a share of the transactions did not exceed, in the measured window. Each further nine has the same width.";
  const chart = frame({ title: `Response times by percentile${of}`, note, unit: "ms", height: wide ? 290 : 230, wide, legend, table, draw });
  const words = curves.map((curve, nth) => `${legend[nth].name}: median ${number(at(curve, Math.log10(2)))}, 99 % ${number(at(curve, 2))} ms`);
  chart.plot.setAttribute("aria-label", `Percentile curve. ${words.join("; ")}`);
  const last = Math.max(1, ...curves.map((curve) => curve.points[curve.points.length - 1][0]));
  const visible = () => curves.map((curve, key) => ({ curve, key })).filter(({ key }) => !chart.hidden.has(key));
  const scale = () => linear(0, last, inside(chart).left, inside(chart).right);

  function draw() {
    const box = inside(chart);
    const x = scale();
    const shown = visible();
    const all = shown.flatMap(({ curve }) => curve.points.map(([, ms]) => ms)).filter((ms) => ms > 0);
    const [low, high] = [Math.min(...all, Infinity), Math.max(...all, 0)];
    const [from, until] = all.length ? [low / 1.15, high * 1.15] : [1, 10];
    const y = logarithmic(from, until, box.bottom, box.top);
    axes(chart, {
      x,
      xTicks: NINES.map(([nines]) => nines).filter((nines) => nines <= last + 1e-9),
      xText: (tick) => NINES.find(([nines]) => nines === tick)[1],
      xName: "share of transactions",
      y,
      yTicks: logTicks(from, until),
    });
    const pieces = shown.map(({ curve, key }) => {
      const path = curve.points.map(([nines, ms]) => `${x(nines).toFixed(1)} ${y(ms).toFixed(1)}`).join("L");
      const look = { fill: "none", stroke: legend[key].colour, "stroke-width": legend[key].thin ? 1 : 1.8, "stroke-dasharray": legend[key].dash || "none" };
      return svg("path", { d: curve.points.length > 1 ? `M${path}` : `M${path}h.01`, "stroke-linecap": "round", ...look });
    });
    clipped(chart, pieces);
    return pieces.length;
  }

  const read = (nines, y) => {
    const box = inside(chart);
    chart.cursor = Math.min(Math.max(nines, 0), last);
    chart.plot.querySelectorAll(".cursor").forEach((line) => line.remove());
    const pixel = scale()(chart.cursor);
    chart.plot.append(svg("path", { class: "cursor", d: `M${pixel} ${box.top}V${box.bottom}`, stroke: "var(--ink)", "stroke-opacity": 0.5 }));
    const lines = visible().map(({ curve, key }) => ({ entry: legend[key], text: `${legend[key].name} ${number(at(curve, chart.cursor))} ms` }));
    showTip(chart, pixel, y, percentText(chart.cursor), lines);
  };
  const leave = () => {
    chart.plot.querySelectorAll(".cursor").forEach((line) => line.remove());
    chart.tip.hidden = true;
  };
  chart.plot.addEventListener("pointermove", (event) => {
    const box = chart.plot.getBoundingClientRect();
    const pixels = chart.width / box.width;
    read(scale().invert((event.clientX - box.left) * pixels), (event.clientY - box.top) * pixels);
  });
  chart.plot.addEventListener("pointerleave", leave);
  chart.plot.addEventListener("blur", leave);
  chart.plot.addEventListener("keydown", (event) => {
    const side = { ArrowLeft: -0.1, ArrowRight: 0.1 }[event.key];
    if (!side) return;
    event.preventDefault();
    read((chart.cursor ?? 1) + side, inside(chart).top + 10);
    chart.said.textContent = chart.tip.textContent;
  });
  return chart;
}
