// Spans and moments that are marked: the phases of a run, and what happened meanwhile.

const MARK_COLOURS = { checkpoint: "mark", autovacuum: "c2", vacuum: "c2", stall: "bad", restart: "bad" };
const markColour = (mark) => `var(--${MARK_COLOURS[mark.kind] || "muted"})`;
const LABEL_PIXELS = 5.6;
// A lane has room for words of so many letters.
const WORD_MAX = 12;

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

// The lanes of events: one for each kind; if there are many kinds, the last lane has all further ones.
const LANES_MAX = 4;
function eventLanes() {
  const kinds = [...new Set(DATA.marks.map((mark) => mark.kind))];
  return kinds.length <= LANES_MAX ? kinds : [...kinds.slice(0, LANES_MAX - 1), "others"];
}

function laneOf(mark, lanes) {
  const lane = lanes.indexOf(mark.kind);
  return lane < 0 ? lanes.length - 1 : lane;
}

// Phases are shaded. Events have a thin strip above: by kind or, of several runs, by run.
function markings(chart, x) {
  const box = inside(chart);
  const { phases, events } = marksOf(chart);
  const pieces = [];
  for (const mark of phases.filter(inView)) {
    const [from, until] = [Math.max(x(mark.from), box.left), Math.min(x(mark.until), box.right)];
    pieces.push(svg("rect", { x: from, y: box.top, width: Math.max(1, until - from), height: box.bottom - box.top, fill: "var(--shade)" }));
  }
  const several = !alone && (chart.run ?? null) === null;
  const lanes = eventLanes();
  for (const mark of chart.lanes.length ? [] : events.filter(inView)) {
    const strip = several ? Math.min(mark.run, LANES_MAX - 1) : laneOf(mark, lanes);
    const from = x(mark.from);
    const until = mark.until === null ? from : x(mark.until);
    pieces.push(svg("rect", { x: from - 1, y: box.top + strip * 4, width: Math.max(3, until - from), height: 3, fill: markColour(mark) }));
  }
  return pieces.concat(labels(chart, x, phases));
}

// The names of the phases that have room for them.
function labels(chart, x, phases) {
  const box = inside(chart);
  const halo = { stroke: "var(--card)", "stroke-width": 3, "paint-order": "stroke" };
  const text = { "font-size": 10, fill: "var(--muted)", "font-family": "system-ui, sans-serif", ...halo };
  const pieces = [];
  let free = -Infinity;
  for (const mark of phases.filter(inView).sort((a, b) => a.from - b.from)) {
    const at = Math.max(x(mark.from), box.left) + 3;
    const end = at + mark.kind.length * LABEL_PIXELS;
    if (at < free || end > Math.min(x(mark.until), box.right)) continue;
    pieces.push(svg("text", { ...text, x: at, y: box.top + 10 }, mark.kind));
    free = end + 6;
  }
  return pieces;
}

// Spans of one kind that overlap, or are nearer than one can see, are one.
function spans(events, x) {
  const all = [];
  for (const mark of events.filter(inView).sort((a, b) => a.from - b.from)) {
    const [from, until] = [x(mark.from), Math.max(x(mark.until ?? mark.from), x(mark.from) + 3)];
    const last = all[all.length - 1];
    if (last && from <= last.until + 1) last.until = Math.max(last.until, until);
    else all.push({ from, until });
  }
  return all;
}

// Draws the lanes below the axis of time.
function drawLanes(chart, x) {
  const box = inside(chart);
  const text = { "font-size": 10, fill: "var(--muted)", "font-family": "system-ui, sans-serif", "text-anchor": "end" };
  chart.lanes.forEach((kind, lane) => {
    const of = DATA.marks.filter((mark) => laneOf(mark, chart.lanes) === lane);
    const top = box.bottom + MARGIN.compact + lane * LANE;
    const word = kind.length > WORD_MAX ? `${kind.slice(0, WORD_MAX - 1)}…` : kind;
    const name = svg("text", { ...text, x: box.left - 4, y: top + 8, textLength: Math.min(word.length * LABEL_PIXELS, box.left - 6), lengthAdjust: "spacingAndGlyphs" }, word);
    name.append(svg("title", {}, kind));
    chart.plot.append(name);
    chart.plot.append(svg("path", { d: `M${box.left} ${top + 4}H${box.right}`, stroke: "var(--grid)" }));
    for (const { from, until } of spans(of, x)) {
      const [left, right] = [Math.max(from, box.left), Math.min(until, box.right)];
      chart.plot.append(svg("rect", { x: left, y: top, width: Math.max(1, right - left), height: 8, rx: 1, fill: markColour(of[0]) }));
    }
  });
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
