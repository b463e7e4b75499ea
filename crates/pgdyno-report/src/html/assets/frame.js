// What every chart has: title, legend, buttons, drawing, tooltip, and its values as a table.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 52, right: 14, top: 18, bottom: 30, compact: 20 };
// The height of a lane of events below a chart.
const LANE = 13;
const DASHES = ["", "7 4", "2 3", "9 3 2 3"];
const COLOURS = 8;

function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function svg(name, attributes = {}, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const colour = (index) => `var(--c${index % COLOURS})`;

// A chart of the first screen is lower where the screen is narrow, and has its events above instead of in lanes below.
const NARROW = { width: 480, height: 98 };

// A figure in the page. One that is compact has its legend beside the title and its note folded. `draw(chart)` fills `chart.plot` and answers how many things it has drawn.
function frame({ title, note, unit, height, wide = false, compact = false, lanes = [], legend, draw, table }) {
  const plot = svg("svg", { role: "img", height, tabindex: 0, focusable: "true" });
  const tip = html("div", { class: "tip", hidden: "" });
  const said = html("p", { class: "said", "aria-live": "polite" });
  const save = (kind, word) => html("button", { type: "button", "data-save": kind, "aria-label": `save “${title}” as ${word}` }, word);
  const reset = html("button", { type: "button", class: "reset", hidden: "" }, "whole run");
  const keys = html("div", { class: "legend" });
  const body = html("div", { class: "values wide" });
  const about = html("p", { class: "note" }, compact ? `${note} Time is since the clients began.` : note);
  const details = html("details", {}, html("summary", {}, "Values as a table"), ...(compact ? [about] : []), body);
  const heading = html("h3", {}, title);
  const tools = html("span", { class: "tools" }, reset, save("png", "PNG"), save("svg", "SVG"));
  const caption = html("figcaption", {}, heading, ...(compact ? [keys] : []), tools);
  const figure = html(
    "figure",
    { class: wide ? "whole" : compact ? "compact" : "half" },
    caption,
    ...(compact ? [] : [about, keys]),
    html("div", { class: "plot" }, plot, tip),
    said,
    details,
  );
  const chart = { title, unit, height, wide, compact, lanes: [], figure, plot, tip, said, reset, legend, hidden: new Set(), width: 0 };
  chart.widen = () => {
    chart.wide = true;
    figure.className = "whole";
  };
  chart.redraw = (width = plot.parentElement.clientWidth) => {
    chart.width = Math.max(280, Math.round(width) || 720);
    const narrow = compact && chart.width < NARROW.width;
    chart.lanes = narrow ? [] : lanes;
    chart.height = (narrow ? NARROW.height : height) + chart.lanes.length * LANE;
    plot.setAttribute("height", chart.height);
    plot.setAttribute("viewBox", `0 0 ${chart.width} ${chart.height}`);
    plot.replaceChildren();
    chart.drawn = draw(chart);
  };
  for (const entry of legend) {
    const key = html("button", { type: "button", "aria-pressed": "true" });
    key.append(swatch(entry), entry.name);
    key.addEventListener("click", () => {
      const hide = !chart.hidden.has(entry.key);
      chart.hidden[hide ? "add" : "delete"](entry.key);
      key.setAttribute("aria-pressed", String(!hide));
      chart.redraw();
    });
    if (entry.fixed) key.disabled = true;
    keys.append(key);
  }
  // One line alone is what the title says, unless it could be any run's.
  if (legend.length < 2 && alone) keys.hidden = true;
  figure.querySelectorAll("[data-save]").forEach((button) => {
    button.addEventListener("click", () => saveChart(chart, button.dataset.save));
  });
  // A table of an hour is long: it is made when somebody wants it.
  details.addEventListener("toggle", () => {
    if (details.open && !body.firstChild) body.append(...table());
  });
  return chart;
}

function swatch(entry) {
  const picture = svg("svg", { width: 18, height: 10, "aria-hidden": "true" });
  if (entry.area) picture.append(svg("rect", { width: 18, height: 10, fill: entry.colour, "fill-opacity": entry.opacity ?? 1 }));
  else picture.append(svg("path", { d: "M0 5H18", stroke: entry.colour, "stroke-width": 2.5, "stroke-dasharray": entry.dash || "none" }));
  return picture;
}

// The inner rectangle of a chart.
function inside(chart) {
  const bottom = chart.height - (chart.compact ? MARGIN.compact : MARGIN.bottom) - chart.lanes.length * LANE;
  return { left: MARGIN.left, right: chart.width - MARGIN.right, top: MARGIN.top, bottom };
}

// Grid lines and their numbers, the unit above, the name of the axis below.
function axes(chart, { x, xTicks, xText, xName, y, yTicks, yText = tickText, unit = chart.unit }) {
  const box = inside(chart);
  const text = { "font-size": 11, fill: "var(--muted)", "font-family": "system-ui, sans-serif" };
  for (const tick of yTicks) {
    const at = y(tick);
    chart.plot.append(
      svg("path", { d: `M${box.left} ${at}H${box.right}`, stroke: "var(--grid)", "stroke-width": 1 }),
      svg("text", { ...text, x: box.left - 6, y: at + 4, "text-anchor": "end" }, yText(tick)),
    );
  }
  let free = -Infinity;
  for (const tick of xTicks) {
    const at = x(tick);
    chart.plot.append(svg("path", { d: `M${at} ${box.bottom}v4`, stroke: "var(--muted)" }));
    const words = xText(tick);
    const half = words.length * 3.2;
    if (at - half < free || at + half > chart.width) continue;
    chart.plot.append(svg("text", { ...text, x: at, y: box.bottom + 15, "text-anchor": "middle" }, words));
    free = at + half + 6;
  }
  chart.plot.append(
    svg("path", { d: `M${box.left} ${box.bottom}H${box.right}`, stroke: "var(--muted)" }),
    svg("text", { ...text, x: 2, y: 11 }, unit),
  );
  // A compact chart says it in its note.
  if (!chart.compact) chart.plot.append(svg("text", { ...text, x: box.right, y: chart.height - 3, "text-anchor": "end" }, xName));
}

// Several pieces of a picture in one clip, so that a zoom does not paint over the axes.
function clipped(chart, pieces) {
  const box = inside(chart);
  const id = `clip-${chart.index}`;
  const clip = svg("clipPath", { id });
  clip.append(svg("rect", { x: box.left, y: box.top - 1, width: box.right - box.left, height: box.bottom - box.top + 2 }));
  const group = svg("g", { "clip-path": `url(#${id})` });
  group.append(...pieces);
  chart.plot.append(clip, group);
}

// A tooltip at a place of the drawing; each line is a swatch's colour and words.
function showTip(chart, x, y, heading, lines) {
  chart.tip.replaceChildren(html("b", {}, heading));
  for (const line of lines) {
    const entry = html("div");
    if (line.entry) entry.append(swatch(line.entry));
    entry.append(line.text);
    chart.tip.append(entry);
  }
  chart.tip.hidden = false;
  const scale = chart.plot.clientWidth / chart.width || 1;
  const room = chart.plot.clientWidth - chart.tip.offsetWidth - 4;
  const beside = x * scale + 14;
  chart.tip.style.left = `${Math.max(0, beside > room ? x * scale - chart.tip.offsetWidth - 14 : beside)}px`;
  chart.tip.style.top = `${Math.max(0, y * scale - 10)}px`;
}

// The values of a chart: rows of cells under a heading.
function tableOf(columns, rows) {
  const head = html("tr", {}, ...columns.map((name) => html("th", { scope: "col", class: "n" }, name)));
  const body = html("tbody");
  for (const row of rows) body.append(html("tr", {}, ...row.map((cell) => html("td", { class: "n" }, cell))));
  return html("table", {}, html("thead", {}, head), body);
}
