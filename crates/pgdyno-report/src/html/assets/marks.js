// Spans and moments that are marked: the phases of a run, and what happened meanwhile.

const MARK_COLOURS = { checkpoint: "mark", autovacuum: "c2", vacuum: "c2", stall: "bad", restart: "bad" };
const markColour = (mark) => `var(--${MARK_COLOURS[mark.kind] || "muted"})`;
const LABEL_PIXELS = 5.6;

const unique = (marks, key) => [...new Map(marks.map((mark) => [key(mark), mark])).values()];

// The marks of a chart: those of its run, where it is of one alone; phases that runs share are shown once.
function marksOf(chart) {
  const mine = (mark) => chart.run === undefined || chart.run === null || mark.run === chart.run;
  const phases = unique(DATA.phases.filter(mine), (mark) => `${mark.text} ${Math.round(mark.from)} ${Math.round(mark.until)}`);
  return { phases, events: DATA.marks.filter(mine) };
}

function inView(mark) {
  return mark.from < view.until && (mark.until ?? mark.from) > view.from;
}

// Phases are shaded; what happened has a strip above, by its kind and, of several runs, by run. Its shade lies under what is
// drawn: over areas it would be another colour.
function markings(chart, x) {
  const box = inside(chart);
  const { phases, events } = marksOf(chart);
  const [under, pieces] = [[], []];
  for (const mark of phases.filter(inView)) {
    const [from, until] = [Math.max(x(mark.from), box.left), Math.min(x(mark.until), box.right)];
    pieces.push(svg("rect", { x: from, y: box.top, width: Math.max(1, until - from), height: box.bottom - box.top, fill: "var(--shade)" }));
  }
  const several = !alone && (chart.run ?? null) === null;
  const lanes = several ? DATA.runs.map((_, run) => run) : [...new Set(DATA.marks.map((mark) => mark.kind))];
  for (const { mark, from, until } of several ? [] : spans(events)) {
    under.push(svg("rect", { x: x(from), y: box.top, width: Math.max(1, x(until) - x(from)), height: box.bottom - box.top, fill: markColour(mark), "fill-opacity": 0.1 }));
  }
  for (const mark of events.filter(inView)) {
    const lane = Math.min(lanes.indexOf(several ? mark.run : mark.kind), 3);
    const [from, ink] = [x(mark.from), markColour(mark)];
    const until = mark.until === null ? from : x(mark.until);
    if (mark.until === null && !several) pieces.push(svg("path", { d: `M${from} ${box.top}V${box.bottom}`, stroke: ink, "stroke-dasharray": "3 3" }));
    pieces.push(svg("rect", { x: from - 1, y: box.top + lane * 4, width: Math.max(3, until - from), height: 3, fill: ink }));
  }
  return { under, over: pieces.concat(labels(chart, x, phases, several ? [] : events, box.top + Math.min(lanes.length, 4) * 4)) };
}

// Spans of one kind that overlap are one: drawn twice, their shade would be darker.
function spans(events) {
  const all = [];
  for (const mark of events.filter((event) => event.until !== null && inView(event)).sort((a, b) => a.from - b.from)) {
    const known = all.find((span) => span.mark.kind === mark.kind && mark.from <= span.until);
    if (known) known.until = Math.max(known.until, mark.until);
    else all.push({ mark, from: mark.from, until: mark.until });
  }
  return all;
}

// Words for what there is room for, from left to right.
function labels(chart, x, phases, events, top) {
  const box = inside(chart);
  const halo = { stroke: "var(--card)", "stroke-width": 3, "paint-order": "stroke" };
  const text = { "font-size": 10, fill: "var(--muted)", "font-family": "system-ui, sans-serif", ...halo };
  const pieces = [];
  let free = -Infinity;
  let said = null;
  const all = phases.map((mark) => ({ ...mark, wide: true })).concat(events).filter(inView);
  for (const mark of all.sort((a, b) => a.from - b.from)) {
    const at = Math.max(x(mark.from), box.left) + 3;
    const room = mark.kind.length * LABEL_PIXELS;
    const fits = !mark.wide || x(mark.until) - at > room;
    // The same word side by side says no more than once.
    if (at < free || at + room > box.right || !fits || (said && said.kind === mark.kind && at - said.at < room * 3)) continue;
    pieces.push(svg("text", { ...text, x: at, y: top + 10 }, mark.kind));
    free = at + room + 6;
    said = { kind: mark.kind, at };
  }
  return pieces;
}

// What is marked at a moment, in words.
function markedAt(chart, at) {
  const near = (view.until - view.from) / 150;
  const { phases, events } = marksOf(chart);
  const hits = phases.concat(events).filter((mark) => at >= mark.from - near && at <= (mark.until ?? mark.from + near));
  const several = !alone && (chart.run ?? null) === null;
  const text = (mark) => (several && !phases.includes(mark) ? `${DATA.runs[mark.run].name}: ${mark.text}` : mark.text);
  return [...new Set(hits.map(text))].slice(0, 6).map((words) => ({ text: words }));
}
