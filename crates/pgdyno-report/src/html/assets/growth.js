// A figure against what grows from run to run: means, with the reach from the minimum to the maximum run.

function growthChart(spec) {
  const single = spec.lines.length === 1;
  const legend = spec.lines.map((line, key) => ({ key, name: single ? "measured" : line.name, colour: colour(key), dash: DASHES[Math.floor(key / COLOURS)] }));
  const proportional = spec.proportion.some((value) => value !== null);
  if (proportional) legend.push({ key: "proportion", name: "in proportion to the first", colour: "var(--muted)", dash: DASHES[1] });
  const places = spec.lines[0].points;
  // Places that are no numbers stand side by side.
  const numbers = places.every((place) => place.at !== null);
  const table = () => [
    tableOf([spec.axis, ...spec.lines.map((line) => `${line.name}, ${spec.unit}`)], places.map((place, nth) => [place.label, ...spec.lines.map((line) => number(line.points[nth]?.mean))])),
  ];
  const note = `Mean of the runs at each point; a bar spans their minimum and maximum.`;
  const chart = frame({ title: spec.title, note, unit: spec.unit, height: 240, legend, table, draw });
  const words = spec.lines.map((line) => `${line.name}: ${line.points.map((point) => `${number(point.mean)} at ${point.label}`).join(", ")}`);
  chart.plot.setAttribute("aria-label", `${spec.title}. ${words.join("; ")}`);
  const visible = () => spec.lines.map((line, key) => ({ line, key })).filter(({ key }) => !chart.hidden.has(key));

  function scales() {
    const box = inside(chart);
    const last = Math.max(...places.map((place) => place.at ?? 0));
    const x = numbers ? linear(0, last * 1.05, box.left, box.right) : linear(-0.5, places.length - 0.5, box.left, box.right);
    const points = visible().flatMap(({ line }) => line.points);
    const high = Math.max(...points.map((point) => point.max), 0) || 1;
    // The line in proportion may leave the picture: what was measured is to be seen.
    const top = proportional && !chart.hidden.has("proportion") ? Math.max(high, Math.min(high * 2, ...[Math.max(...spec.proportion)])) : high;
    if (!spec.logarithmic) return { x, y: linear(0, top * 1.08, box.bottom, box.top), ticks: linearTicks(0, top * 1.08, 5) };
    const low = Math.min(...points.map((point) => point.min).filter((value) => value > 0), high);
    return { x, y: logarithmic(low / 1.2, high * 1.2, box.bottom, box.top), ticks: logTicks(low / 1.2, high * 1.2) };
  }

  function draw() {
    const { x, y, ticks } = scales();
    const place = (point, nth) => x(numbers ? point.at : nth);
    const at = places.map(place);
    axes(chart, { x: (nth) => at[nth], xTicks: places.map((_, nth) => nth), xText: (nth) => places[nth].label, xName: spec.axis, y, yTicks: ticks });
    const pieces = [];
    const path = (points) => `M${points.map(([px, value]) => `${px.toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`;
    if (proportional && !chart.hidden.has("proportion")) {
      const line = [[x(0), 0], ...spec.proportion.map((value, nth) => [at[nth], value])];
      pieces.push(svg("path", { d: path(line), fill: "none", stroke: "var(--muted)", "stroke-width": 1.3, "stroke-dasharray": DASHES[1] }));
    }
    for (const { line, key } of visible()) {
      const ink = legend[key].colour;
      const points = line.points.map((point, nth) => [place(point, nth), point.mean]);
      if (points.length > 1) pieces.push(svg("path", { d: path(points), fill: "none", stroke: ink, "stroke-width": 1.8, "stroke-dasharray": legend[key].dash || "none" }));
      line.points.forEach((point, nth) => {
        const [px, low, high] = [place(point, nth), y(point.min), y(point.max)];
        pieces.push(svg("path", { d: `M${px} ${low}L${px} ${high}M${px - 4} ${low}h8M${px - 4} ${high}h8`, stroke: ink, fill: "none" }));
        pieces.push(svg("circle", { cx: px, cy: y(point.mean), r: 3.5, fill: ink }));
      });
    }
    clipped(chart, pieces);
    return visible().length;
  }

  const leave = () => (chart.tip.hidden = true);
  const read = (nth, pointer) => {
    const { x } = scales();
    const point = places[nth];
    const lines = visible().map(({ line, key }) => {
      const { mean, min, max } = line.points[nth] || {};
      const reach = min === max ? "" : ` (${number(min)} to ${number(max)})`;
      return { entry: legend[key], text: `${legend[key].name} ${amount(mean, spec.unit)}${reach}` };
    });
    showTip(chart, x(numbers ? point.at : nth), pointer, `${spec.axis} ${point.label}`, lines);
  };
  chart.plot.addEventListener("pointermove", (event) => {
    const box = chart.plot.getBoundingClientRect();
    const pixels = chart.width / box.width;
    const { x } = scales();
    const away = places.map((point, nth) => Math.abs(x(numbers ? point.at : nth) - (event.clientX - box.left) * pixels));
    read(away.indexOf(Math.min(...away)), (event.clientY - box.top) * pixels);
  });
  chart.plot.addEventListener("pointerleave", leave);
  chart.plot.addEventListener("blur", leave);
  chart.plot.addEventListener("keydown", (event) => {
    const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!side) return;
    event.preventDefault();
    chart.at = Math.min(Math.max((chart.at ?? -side) + side, 0), places.length - 1);
    read(chart.at, inside(chart).top + 10);
    chart.said.textContent = chart.tip.textContent;
  });
  return chart;
}
