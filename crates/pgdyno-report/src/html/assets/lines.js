// Series over time, as lines or as areas one on the other.

const SHADE_OPACITY = [1, 0.68, 0.42, 0.26];

// How a run's line looks among those of other runs: by its side, else by its place.
function runLook(run, all = DATA.runs) {
  const { side } = all[run];
  if (side === null) return { colour: colour(run), dash: DASHES[Math.floor(run / COLOURS) % DASHES.length] };
  return { colour: colour(side), thin: all.filter((other) => other.side === side).length > 1 };
}

function linesChart(spec) {
  // On the same axes each line is a run: its name says all.
  const shared = !alone && spec.run === null;
  const legend = spec.series.map((series, index) => {
    const area = spec.stacked && !series.over;
    if (shared) return { key: index, name: DATA.runs[series.run].name, area, ...runLook(series.run) };
    const ink = series.ink ? `var(--${series.ink})` : colour(index);
    const dash = series.over ? DASHES[1] : series.ink ? "" : DASHES[Math.floor(index / COLOURS) % DASHES.length];
    return { key: index, name: series.name, colour: ink, opacity: SHADE_OPACITY[Math.min(series.shade || 0, 3)], dash, area };
  });
  const table = () =>
    [...new Set(spec.series.map((series) => series.axis))].map((axis) => {
      const of = spec.series.map((series, index) => ({ series, index })).filter(({ series }) => series.axis === axis);
      const columns = ["time", ...of.map(({ index }) => `${legend[index].name}, ${spec.unit}`)];
      return tableOf(columns, DATA.axes[axis].map((at, row) => [clock(at), ...of.map(({ series }) => number(series.values[row]))]));
    });
  const height = spec.first ? 166 : spec.wide ? 240 : 200;
  // Events have lanes below the first chart of a run.
  const lanes = alone && spec === DATA.charts.find(({ first }) => first) ? eventLanes() : [];
  const chart = frame({ title: spec.title, note: spec.note, unit: spec.unit, height, wide: spec.wide, compact: spec.first, lanes, legend, table, draw });
  chart.run = spec.run;

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

  // What is drawn: areas between their sums, and lines.
  function shown() {
    const plain = visible().map(({ series, index }) => ({ index, over: series.over, axis: DATA.axes[series.axis], values: series.values }));
    if (!spec.stacked) return plain;
    return [...stack(plain.filter(({ over }) => !over)), ...plain.filter(({ over }) => over)];
  }

  function valueScale(all, box) {
    let [low, high] = [Infinity, 0];
    for (const { axis, values } of all) {
      axis.forEach((at, nth) => {
        const value = values[nth];
        if (value === null || at < view.from || at > view.until) return;
        if (value > high) high = value;
        if (value < low && (value > 0 || !spec.logarithmic)) low = value;
      });
    }
    high = Math.max(high, spec.most || 0);
    if (spec.logarithmic && low < high) {
      return { y: logarithmic(low / 1.15, high * 1.15, box.bottom, box.top), yTicks: logTicks(low / 1.15, high * 1.15) };
    }
    const floor = spec.stacked ? 0 : axisFloor(spec.unit, low);
    const until = spec.unit === "%" ? Math.max(100, high) : (high > 0 ? high : 1) * 1.12;
    const [factor, unit] = readable(until, spec.unit);
    const yTicks = linearTicks(floor / factor, until / factor, 5).map((tick) => tick * factor);
    return { y: linear(floor, until, box.bottom, box.top), yTicks, yText: (tick) => tickText(tick / factor), unit };
  }

  function draw() {
    const box = inside(chart);
    const x = timeScale(chart);
    const all = shown();
    const scale = valueScale(all, box);
    const { y } = scale;
    axes(chart, { x, xTicks: timeTicks(view.from, view.until, chart.width / 90), xText: clock, xName: "time since the clients began", ...scale });
    drawLanes(chart, x);
    const marks = markings(chart, x);
    const pieces = [];
    let drawn = 0;
    for (const { index, axis, floor, values } of all) {
      const parts = segments(axis, values, x);
      const { colour: ink, opacity = 1, dash, thin } = legend[index];
      if (!parts.length) continue;
      drawn += 1;
      if (floor) {
        const area = { fill: ink, "fill-opacity": opacity, stroke: "var(--card)", "stroke-width": 0.4 };
        pieces.push(svg("path", { d: areaPath(segments(axis, floor, x), parts, y), ...area }));
        continue;
      }
      const line = { fill: "none", stroke: ink, "stroke-width": thin ? 1 : 1.7, "stroke-linecap": "round", "stroke-linejoin": "round", "stroke-dasharray": dash || "none" };
      const band = bandPath(parts, y);
      if (band && !thin) pieces.push(svg("path", { d: band, fill: ink, "fill-opacity": all.length > 2 ? 0.1 : 0.2 }));
      pieces.push(svg("path", { d: linePath(parts, y), ...line }));
    }
    // Areas would hide what is marked below them.
    clipped(chart, spec.stacked ? [...pieces, ...marks] : [...marks, ...pieces]);
    return drawn;
  }

  chart.readAt = (at) => {
    const x = timeScale(chart);
    const lines = [];
    let [moment, sum] = [null, 0];
    for (const { series, index } of visible()) {
      const axis = DATA.axes[series.axis];
      if (axis.length === 0) continue;
      const nth = nearest(axis, at);
      moment ??= axis[nth];
      const value = series.values[nth];
      if (legend[index].area) sum += value || 0;
      lines.push({ entry: legend[index], value, text: `${legend[index].name} ${amount(value, spec.unit)}` });
    }
    // From the top of the stack down, and only what is there.
    const values = spec.stacked ? lines.filter(({ value }) => value).reverse() : lines;
    if (spec.stacked) values.unshift({ text: `in total ${amount(sum, spec.unit)}` });
    showTip(chart, x(at), chart.pointerY ?? inside(chart).top + 10, clock(moment ?? at), values.concat(markedAt(chart, at)));
  };

  chart.step = (at, side) => {
    const axis = DATA.axes[spec.series[0].axis];
    return axis[Math.min(Math.max(nearest(axis, at) + side, 0), axis.length - 1)];
  };
  return chart;
}
