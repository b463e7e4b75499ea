// Series over time, as lines or as areas one on the other.

// Points that are as near as this, in pixels, are drawn as one.
const SPOT = 3;

function linesChart(spec) {
  const several = DATA.runs.length > 1;
  const names = [...new Set(spec.series.map((series) => series.name))];
  const legend = spec.series.map((series, index) => {
    const byRun = names.length === 1;
    return {
      key: index,
      name: several ? `${series.name}, ${DATA.runs[series.run]}` : series.name,
      colour: colour(byRun ? series.run : names.indexOf(series.name)),
      dash: byRun ? "" : DASHES[series.run % DASHES.length],
      area: spec.stacked,
    };
  });
  const table = () =>
    [...new Set(spec.series.map((series) => series.axis))].map((axis) => {
      const of = spec.series.map((series, index) => ({ series, index })).filter(({ series }) => series.axis === axis);
      const columns = ["time", ...of.map(({ index }) => `${legend[index].name}, ${spec.unit}`)];
      return tableOf(columns, DATA.axes[axis].map((at, row) => [clock(at), ...of.map(({ series }) => number(series.values[row]))]));
    });
  const chart = frame({ title: spec.title, note: spec.note, unit: spec.unit, height: 230, legend, table, draw });

  // A line of words for those who do not see the drawing.
  const words = spec.series.map((series, index) => {
    const values = series.values.filter((value) => value !== null).sort((a, b) => a - b);
    if (!values.length) return `${legend[index].name}: no values`;
    const of = (share) => number(values[Math.floor((values.length - 1) * share)]);
    return `${legend[index].name}: from ${of(0)} to ${of(1)}, median ${of(0.5)} ${spec.unit}`;
  });
  chart.plot.setAttribute("aria-label", `${spec.title} over time. ${words.join("; ")}`);

  function visible() {
    return spec.series.map((series, index) => ({ series, index })).filter(({ index }) => !chart.hidden.has(index));
  }

  function draw() {
    const box = inside(chart);
    const x = timeScale(chart);
    const shown = (spec.stacked ? stack : same)(visible());
    let [low, high] = [Infinity, 0];
    for (const { axis, values } of shown) {
      axis.forEach((at, nth) => {
        const value = values[nth];
        if (value === null || at < view.from || at > view.until) return;
        if (value > high) high = value;
        if (value < low && value > 0) low = value;
      });
    }
    if (high <= 0) high = 1;
    const y = spec.logarithmic && low < high
      ? logarithmic(low / 1.15, high * 1.15, box.bottom, box.top)
      : linear(0, high * 1.12, box.bottom, box.top);
    const yTicks = spec.logarithmic && low < high ? logTicks(low / 1.15, high * 1.15) : linearTicks(0, high * 1.12, 5);
    axes(chart, { x, xTicks: timeTicks(view.from, view.until, chart.width / 90), xText: clock, xName: "time since the clients began", y, yTicks });
    const pieces = markings(chart, x);
    // Areas are drawn from the top of the stack down, each over the one above it.
    const order = spec.stacked ? [...shown].reverse() : shown;
    let drawn = 0;
    for (const { index, axis, values } of order) {
      const parts = segments(axis, values, x);
      const { colour: ink, dash } = legend[index];
      if (!parts.length) continue;
      drawn += 1;
      if (spec.stacked) {
        pieces.push(svg("path", { d: areaPath(parts, y, box.bottom), fill: ink, stroke: "var(--card)", "stroke-width": 0.5 }));
        continue;
      }
      const line = { fill: "none", stroke: ink, "stroke-width": 1.7, "stroke-linecap": "round", "stroke-linejoin": "round", "stroke-dasharray": dash || "none" };
      pieces.push(svg("path", { d: bandPath(parts, y), fill: ink, "fill-opacity": shown.length > 2 ? 0.1 : 0.2 }), svg("path", { d: linePath(parts, y), ...line }));
    }
    clipped(chart, pieces);
    return drawn;
  }

  chart.readAt = (at) => {
    const x = timeScale(chart);
    const lines = [];
    let moment = at;
    for (const { series, index } of visible()) {
      const axis = DATA.axes[series.axis];
      const nth = nearest(axis, at);
      if (axis.length === 0) continue;
      if (lines.length === 0) moment = axis[nth];
      lines.push({ entry: legend[index], text: `${legend[index].name} ${number(series.values[nth])} ${spec.unit}` });
    }
    showTip(chart, x(at), chart.pointerY ?? inside(chart).top + 10, clock(moment), lines.concat(markedAt(chart, at)));
  };

  chart.step = (at, side) => {
    const axis = DATA.axes[spec.series[0].axis];
    return axis[Math.min(Math.max(nearest(axis, at) + side, 0), axis.length - 1)];
  };
  return chart;
}

const same = (series) => series.map(({ series: { axis, values }, index }) => ({ index, axis: DATA.axes[axis], values }));

// Sums from below. Series that are stacked share their moments.
function stack(series) {
  const sums = [];
  return same(series).map(({ index, axis, values }) => {
    const stacked = values.map((value, nth) => {
      sums[nth] = (sums[nth] || 0) + (value || 0);
      return value === null ? null : sums[nth];
    });
    return { index, axis, values: stacked };
  });
}

// Points in view, those within a few pixels as one: their median, least and greatest. A gap stays a gap.
function segments(axis, values, x) {
  const all = [];
  let [segment, spot] = [null, null];
  axis.forEach((at, nth) => {
    // One beyond each edge, so that lines go on to it.
    if ((axis[nth + 1] ?? at) < view.from || (axis[nth - 1] ?? at) > view.until) return;
    const value = values[nth];
    if (value === null) {
      segment = null;
      return;
    }
    if (!segment) {
      [segment, spot] = [[], null];
      all.push(segment);
    }
    const place = Math.floor(x(at) / SPOT);
    if (!spot || spot.place !== place) segment.push((spot = { place, from: at, until: at, values: [] }));
    spot.until = at;
    spot.values.push(value);
  });
  for (const each of all.flat()) {
    const sorted = each.values.sort((a, b) => a - b);
    each.x = x((each.from + each.until) / 2).toFixed(1);
    Object.assign(each, { low: sorted[0], middle: sorted[sorted.length >> 1], high: sorted[sorted.length - 1] });
  }
  return all;
}

// A line through the medians; a point alone is a dot.
function linePath(parts, y) {
  const points = (segment) => segment.map((spot) => `${spot.x} ${y(spot.middle).toFixed(1)}`);
  return parts.map((segment) => `M${points(segment).join("L")}${segment.length === 1 ? "h.01" : ""}`).join("");
}

// From the least to the greatest, where points share a place.
function bandPath(parts, y) {
  const shared = parts.filter((segment) => segment.some((spot) => spot.values.length > 1));
  const edge = (segment, of) => segment.map((spot) => `${spot.x} ${y(spot[of]).toFixed(1)}`);
  return shared.map((segment) => `M${[...edge(segment, "high"), ...edge(segment, "low").reverse()].join("L")}Z`).join("");
}

// Down to the axis.
function areaPath(parts, y, floor) {
  const points = (segment) => segment.map((spot) => `${spot.x} ${y(spot.middle).toFixed(1)}`).join("L");
  return parts.map((segment) => `M${segment[0].x} ${floor}L${points(segment)}L${segment[segment.length - 1].x} ${floor}Z`).join("");
}
