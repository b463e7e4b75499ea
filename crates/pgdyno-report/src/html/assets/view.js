// The span of time that all charts over time show together: zoom, pan, and the moment that is read.

const view = { whole: [0, 1], from: 0, until: 1, cursor: null, charts: [] };

function joinView(chart) {
  view.charts.push(chart);
  chart.reset.addEventListener("click", () => look(...view.whole));
  pointer(chart);
  chart.plot.addEventListener("keydown", (event) => {
    if (key(chart, event)) event.preventDefault();
  });
  chart.plot.addEventListener("blur", () => read(chart, null));
}

const timeScale = (chart) => linear(view.from, view.until, inside(chart).left, inside(chart).right);

// Shows a span, within the whole, no shorter than a tenth of a second.
function look(from, until) {
  const [first, last] = view.whole;
  const length = Math.min(Math.max(until - from, 0.1), last - first);
  view.from = Math.min(Math.max(from, first), last - length);
  view.until = view.from + length;
  const all = length >= last - first - 1e-9;
  for (const chart of view.charts) {
    chart.reset.hidden = all;
    chart.redraw();
  }
  document.documentElement.dataset.view = `${view.from.toFixed(2)} ${view.until.toFixed(2)}`;
}

const pan = (by) => look(view.from + by, view.until + by);

function zoom(factor) {
  const middle = view.cursor ?? (view.from + view.until) / 2;
  look(middle - (middle - view.from) * factor, middle + (view.until - middle) * factor);
}

// Reads a moment: a line in all charts, values in this one.
function read(chart, at) {
  view.cursor = at;
  for (const other of view.charts) {
    other.plot.querySelectorAll(".cursor").forEach((line) => line.remove());
    if (other !== chart || at === null) other.tip.hidden = true;
    if (at === null) continue;
    const box = inside(other);
    const x = timeScale(other)(at);
    other.plot.append(svg("path", { class: "cursor", d: `M${x} ${box.top}V${box.bottom}`, stroke: "var(--ink)", "stroke-opacity": 0.5 }));
  }
  if (at !== null) chart.readAt(at);
}

function pointer(chart) {
  const { plot } = chart;
  let begun = null;
  const place = (event) => {
    const box = plot.getBoundingClientRect();
    const scale = chart.width / box.width;
    const limits = inside(chart);
    const x = (event.clientX - box.left) * scale;
    return { x: Math.min(Math.max(x, limits.left), limits.right), y: (event.clientY - box.top) * scale };
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    begun = { x: place(event).x, from: view.from, until: view.until, pans: event.shiftKey };
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointermove", (event) => {
    const { x, y } = place(event);
    const moment = timeScale(chart).invert(x);
    chart.pointerY = y;
    if (begun && begun.pans) {
      const perPixel = (begun.until - begun.from) / (inside(chart).right - inside(chart).left);
      look(begun.from - (x - begun.x) * perPixel, begun.until - (x - begun.x) * perPixel);
      return;
    }
    read(chart, moment);
    plot.querySelectorAll(".band").forEach((band) => band.remove());
    if (begun && Math.abs(x - begun.x) > 4) {
      const box = inside(chart);
      const band = { x: Math.min(x, begun.x), y: box.top, width: Math.abs(x - begun.x), height: box.bottom - box.top };
      plot.append(svg("rect", { class: "cursor band", ...band, fill: "var(--c0)", "fill-opacity": 0.18 }));
    }
  });
  const end = (event) => {
    if (!begun) return;
    const { x } = place(event);
    const scale = timeScale(chart);
    const ends = [scale.invert(Math.min(x, begun.x)), scale.invert(Math.max(x, begun.x))];
    const zooms = !begun.pans && Math.abs(x - begun.x) > 8 && event.type === "pointerup";
    begun = null;
    plot.querySelectorAll(".band").forEach((band) => band.remove());
    if (zooms) look(...ends);
  };
  plot.addEventListener("pointerup", end);
  plot.addEventListener("pointercancel", end);
  plot.addEventListener("pointerleave", () => begun || read(chart, null));
  plot.addEventListener("dblclick", () => look(...view.whole));
}

// What a key does; false where it is none of ours.
function key(chart, event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return false;
  const length = view.until - view.from;
  const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (side && event.shiftKey) pan((side * length) / 4);
  else if (side) {
    const at = chart.step(view.cursor ?? (view.from + view.until) / 2, side);
    if (at < view.from || at > view.until) pan((side * length) / 2);
    chart.pointerY = undefined;
    read(chart, at);
    chart.said.textContent = chart.tip.textContent;
  } else if (event.key === "+" || event.key === "=") zoom(0.5);
  else if (event.key === "-") zoom(2);
  else if (event.key === "0" || event.key === "Home") look(...view.whole);
  else if (event.key === "Escape") read(chart, null);
  else return false;
  return true;
}
