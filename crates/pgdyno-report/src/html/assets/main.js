// The page comes alive: theme, charts, and what the tests of the page look at.

const PAPER = 900;
const root = document.documentElement;
const complain = (what) => {
  root.dataset.error = `${root.dataset.error || ""}${what}\n`;
};
window.addEventListener("error", (event) => complain(event.message));
document.addEventListener("securitypolicyviolation", (event) => complain(`${event.violatedDirective}: ${event.blockedURI}`));

const DATA = JSON.parse(document.getElementById("data").textContent);

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

function start() {
  theme();
  const place = document.getElementById("charts");
  const heats = DATA.heats.map(heatChart);
  const lines = DATA.charts.map(linesChart);
  // Latency as lines and as a heat map stand together.
  const timed = [...lines.slice(0, 2), ...heats, ...lines.slice(2)];
  timed.forEach(joinView);
  const charts = DATA.curves.length ? [...timed, curveChart(DATA.curves, timed.length)] : timed;
  if (!charts.length) place.append(html("p", {}, "No interval was recorded, so there is nothing to draw."));
  place.append(...charts.map((chart) => chart.figure));
  view.whole = wholeTime();
  look(...view.whole);
  const redraw = (fixed) => {
    charts.forEach((chart) => chart.redraw(fixed));
    root.dataset.charts = charts.length;
    root.dataset.drawn = charts.filter((chart) => chart.drawn > 0).length;
  };
  redraw();
  // Paper is as wide whatever the window is.
  window.addEventListener("beforeprint", () => redraw(PAPER));
  window.addEventListener("afterprint", () => redraw());
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    redraw();
  }).observe(place);
}

start();
