// The page comes alive: theme, charts, and what the tests of the page look at.

// The width of the page on paper, and of a chart that shares it with another.
const PAPER = { whole: 800, half: 385 };
const root = document.documentElement;
const complain = (what) => {
  root.dataset.error = `${root.dataset.error || ""}${what}\n`;
};
window.addEventListener("error", (event) => complain(event.message));
document.addEventListener("securitypolicyviolation", (event) => complain(`${event.violatedDirective}: ${event.blockedURI}`));

const DATA = JSON.parse(document.getElementById("data").textContent);
const alone = DATA.runs.length === 1;

function theme() {
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const now = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const label = () => {
    button.textContent = now() === "dark" ? "light" : "dark";
    button.setAttribute("aria-label", `show in ${button.textContent} colours`);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = button.textContent;
    label();
  });
  dark.addEventListener("change", label);
  label();
}

function wholeTime() {
  const ends = DATA.axes.flatMap((axis) => [axis[0], axis[axis.length - 1]]);
  const columns = DATA.heats.flatMap((heat) => [heat.columns[0][0], heat.columns[heat.columns.length - 1][1]]);
  const phases = DATA.phases.flatMap((phase) => [phase.from, phase.until]);
  const all = [...ends, ...columns, ...phases].filter((at) => at !== undefined);
  return all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
}

// The charts of each part of the page, in its order.
function parts(place) {
  const heats = DATA.heats.map(heatChart);
  const lines = DATA.charts.map((spec) => ({ part: spec.first ? null : spec.part, chart: linesChart(spec) }));
  [...lines.map(({ chart }) => chart), ...heats].forEach(joinView);
  // The heat map of one run is near the top of its page.
  const top = document.getElementById("heat");
  if (top) top.append(...grid(heats).children);
  const latencies = [...(top ? [] : heats), ...curveCharts(DATA.curves)];
  const growth = DATA.growth.map(growthChart);
  const overTime = lines.filter(({ part }) => part === null).map(({ chart }) => chart);
  document.getElementById("over-time").append(...overTime.map((chart) => chart.figure));
  const all = [...overTime, ...(top ? heats : []), ...growth];
  for (const title of new Set([DATA.first, ...lines.map(({ part }) => part).filter((part) => part !== null)])) {
    const own = lines.filter(({ part }) => part === title).map(({ chart }) => chart);
    const [wide, halves] = [own.filter((chart) => chart.wide), own.filter((chart) => !chart.wide)];
    // Latencies as lines, as a heat map and as curves stand together.
    const grids = title !== DATA.first ? [[...wide, ...halves]] : alone ? [[...wide, ...latencies, ...halves]] : [[...wide, ...halves], latencies];
    if (!grids.flat().length) continue;
    place.append(html("h2", {}, title), ...grids.map(grid));
    all.push(...grids.flat());
  }
  if (growth.length) document.getElementById("growth").append(grid(growth));
  return all;
}

// Two by two; one that would stand alone has the whole width.
function grid(charts) {
  let alone = null;
  for (const chart of charts) {
    if (chart.wide && alone) alone.widen();
    alone = chart.wide || alone ? null : chart;
  }
  if (alone) alone.widen();
  return html("div", { class: "grid" }, ...charts.map((chart) => chart.figure));
}

function start() {
  theme();
  const place = document.getElementById("charts");
  const charts = parts(place);
  charts.forEach((chart, nth) => (chart.index = nth));
  if (!charts.length) place.append(html("p", {}, "No interval was recorded, so there is nothing to draw."));
  view.whole = wholeTime();
  look(...view.whole);
  const redraw = (paper) => {
    charts.forEach((chart) => chart.redraw(paper && paper[chart.wide ? "whole" : "half"]));
    root.dataset.charts = charts.length;
    root.dataset.drawn = charts.filter((chart) => chart.drawn > 0).length;
  };
  redraw();
  // Paper is as wide whatever the window is, and nobody can unfold warnings on it.
  const warnings = document.querySelectorAll(".trust details");
  window.addEventListener("beforeprint", () => {
    warnings.forEach((details) => (details.open = true));
    redraw(PAPER);
  });
  window.addEventListener("afterprint", () => {
    warnings.forEach((details) => (details.open = false));
    redraw();
  });
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    redraw();
  }).observe(place);
}

start();
