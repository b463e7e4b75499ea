// How many transactions took how long, when: columns of time, rows of latency, both as fine as they fit.

const SHADES = 8;

function heatChart(heat) {
  const run = !alone ? `: ${DATA.runs[heat.run].name}` : "";
  const rows = heat.cells[0].length;
  const most = heat.cells.reduce((all, column) => column.reduce((a, b) => Math.max(a, b), all), 1);
  // Shades are steps of equal ratio: few slow ones are seen beside many fast ones.
  const shade = (count) => Math.min(SHADES - 1, Math.floor((Math.log(count) / Math.log(most + 1)) * SHADES));
  const least = (nth) => Math.max(1, Math.ceil((most + 1) ** (nth / SHADES)));
  const legend = [];
  for (let nth = 0; nth < SHADES; nth += 1) {
    const [from, until] = [least(nth), nth === SHADES - 1 ? most : least(nth + 1) - 1];
    if (until < from) continue;
    legend.push({ key: nth, name: from === until ? number(from) : `${number(from)}–${number(until)}`, colour: `var(--h${nth})`, area: true, fixed: true });
  }
  const edge = (row) => heat.floor * heat.ratio ** row;
  // Runs beside each other have the same axis.
  const leastOf = Math.min(...DATA.heats.map((other) => other.floor));
  const mostOf = Math.max(...DATA.heats.map((other) => other.floor * other.ratio ** other.cells[0].length));
  const table = () => {
    const columns = ["time", "transactions", "fastest, ms", "most were in, ms", "slowest, ms"];
    const lines = heat.cells.map((column, nth) => {
      const all = column.reduce((a, b) => a + b, 0);
      const first = column.findIndex((count) => count > 0);
      const last = rows - 1 - [...column].reverse().findIndex((count) => count > 0);
      const top = column.indexOf(Math.max(...column));
      const span = all ? [number(edge(first)), `${number(edge(top))}–${number(edge(top + 1))}`, number(edge(last + 1))] : ["–", "–", "–"];
      return [clock(heat.columns[nth][0]), number(all), ...span];
    });
    return [tableOf(columns, lines)];
  };
  const note = "Each cell counts the transactions of a short time and a range of response times; darker (in dark mode, lighter) is more.";
  const chart = frame({ title: `Response times, as a heat map${run}`, note, unit: "ms", height: 270, wide: alone, legend, table, draw });
  chart.run = heat.run;
  const words = `from ${number(edge(0))} to ${number(edge(rows))} ms, at most ${number(most)} transactions in a cell`;
  chart.plot.setAttribute("aria-label", `Heat map of response times over time${run}: ${words}.`);

  function draw() {
    const box = inside(chart);
    const x = timeScale(chart);
    const y = logarithmic(leastOf, mostOf, box.bottom, box.top);
    const yTicks = logTicks(leastOf, mostOf);
    axes(chart, { x, xTicks: timeTicks(view.from, view.until, chart.width / 90), xText: clock, xName: "time since the clients began", y, yTicks });
    const paths = Array.from({ length: SHADES }, () => []);
    heat.cells.forEach((column, nth) => {
      const [from, until] = heat.columns[nth];
      if (until < view.from || from > view.until) return;
      const [left, right] = [x(from).toFixed(1), x(until).toFixed(1)];
      for (let row = 0; row < rows; row += 1) {
        if (column[row] === 0) continue;
        const level = shade(column[row]);
        const bottom = row;
        // Equal cells one above the other are one rectangle.
        while (row + 1 < rows && column[row + 1] > 0 && shade(column[row + 1]) === level) row += 1;
        paths[level].push(`M${left} ${y(edge(bottom)).toFixed(1)}H${right}V${y(edge(row + 1)).toFixed(1)}H${left}Z`);
      }
    });
    const full = paths.map((path, level) => ({ path, level })).filter(({ path }) => path.length);
    const pieces = full.map(({ path, level }) => svg("path", { d: path.join(""), fill: `var(--h${level})`, "shape-rendering": "crispEdges" }));
    const marks = markings(chart, x);
    clipped(chart, [...pieces, ...marks]);
    return full.length;
  }

  const columnAt = (at) => nearest(heat.columns.map(([from, until]) => (from + until) / 2), at);

  chart.readAt = (at) => {
    const nth = columnAt(at);
    const box = inside(chart);
    const pointed = leastOf * (mostOf / leastOf) ** ((box.bottom - (chart.pointerY ?? box.bottom)) / (box.bottom - box.top));
    const row = Math.floor(Math.log(pointed / heat.floor) / Math.log(heat.ratio));
    const column = heat.cells[nth];
    const all = column.reduce((a, b) => a + b, 0);
    const lines = [{ text: `${number(all)} transactions` }];
    if (row >= 0 && row < rows && chart.pointerY !== undefined) {
      lines.push({ text: `${number(column[row])} of them took ${number(edge(row))}–${number(edge(row + 1))} ms` });
    }
    showTip(chart, timeScale(chart)(at), chart.pointerY ?? box.top + 10, heat.columns[nth].map(clock).join(" to "), lines.concat(markedAt(chart, at)));
  };
  chart.step = (at, side) => {
    const [from, until] = heat.columns[Math.min(Math.max(columnAt(at) + side, 0), heat.columns.length - 1)];
    return (from + until) / 2;
  };
  return chart;
}
