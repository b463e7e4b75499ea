"use strict";
// Asks for what is new every second, and draws the last minutes of it.
(() => {
  const EVERY_MS = 1000; // How often it asks.
  const AFTER_ERROR_MS = 3000;
  const SPAN_S = 900; // So much is kept, as the first answer has.
  const AGAIN_S = 5; // Looks that are written late are asked for once more.
  const GAP_S = 5; // A line does not cross a longer silence.
  const NAMES_MAX = 7; // Areas that a chart tells apart; the colours of a report, but for the one of the rest.
  const ORDER = ["p50", "p95", "p99", "max"];
  const REST = "the rest";
  const COLOURS = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c7"];
  const REST_COLOUR = "--c6";
  const PHASES = { ramp: ", warm-up", measure: ", measured window", drain: ", last transactions" };
  const MARGIN = { left: 52, right: 10, top: 8, bottom: 22 };

  const live = document.getElementById("live");
  const root = document.documentElement;
  const title = document.title;
  const charts = new Map();
  let since = null;

  const number = (value) => {
    const digits = Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
    return new Intl.NumberFormat("en", digits).format(value);
  };
  const clock = (seconds) => {
    const whole = Math.round(Math.abs(seconds));
    const minutes = Math.floor(whole / 60);
    return `${seconds < 0 ? "−" : ""}${minutes}:${String(whole % 60).padStart(2, "0")}`;
  };
  const element = (name, attributes, parent, text) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  const shape = (name, attributes, parent, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };

  // Steps of 1, 2 or 5 times a power of ten, about so many in a span.
  const step = (span, about) => {
    const rough = Math.max(span / about, 1e-9);
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  };

  class Chart {
    constructor({ title, unit, drawn }) {
      this.drawn = drawn;
      this.rows = new Map();
      this.colours = new Map();
      this.figure = element("figure", {}, document.getElementById("charts"));
      const caption = element("figcaption", {}, this.figure);
      element("h3", {}, caption, title);
      element("small", {}, caption, unit);
      this.keys = element("ul", { class: "keys" }, this.figure);
      this.plot = element("div", { class: "plot" }, this.figure);
      this.title = title;
    }

    add(rows) {
      for (const [at, values] of rows) this.rows.set(at, values);
      const moments = [...this.rows.keys()].sort((a, b) => a - b);
      const last = moments.at(-1);
      for (const at of moments) if (at < last - SPAN_S) this.rows.delete(at);
    }

    // The names that have a colour: as an order is known, or the weightiest first. A name keeps its colour.
    names() {
      const sums = new Map();
      for (const values of this.rows.values()) {
        for (const [name, value] of Object.entries(values)) sums.set(name, (sums.get(name) ?? 0) + value);
      }
      let names = [...sums.keys()];
      if (this.drawn === "areas") names.sort((a, b) => sums.get(b) - sums.get(a));
      else names.sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
      names = names.slice(0, NAMES_MAX);
      for (const name of [...this.colours.keys()]) if (!names.includes(name)) this.colours.delete(name);
      for (const name of names) {
        const taken = new Set(this.colours.values());
        if (!this.colours.has(name)) this.colours.set(name, COLOURS.find((colour) => !taken.has(colour)));
      }
      return { names, more: sums.size > names.length };
    }

    // All charts have the same moments below each other.
    draw(from, until) {
      const moments = [...this.rows.keys()].sort((a, b) => a - b);
      const { names, more } = this.names();
      this.figure.hidden = names.length === 0;
      if (names.length === 0) return;
      const areas = this.drawn === "areas";
      const series = names.map((name) => ({
        name,
        colour: this.colours.get(name),
        values: moments.map((at) => this.rows.get(at)[name] ?? (areas ? 0 : null)),
      }));
      if (more) {
        const rest = (values) => Object.entries(values)
          .reduce((sum, [name, value]) => sum + (names.includes(name) ? 0 : value), 0);
        series.push({ name: REST, colour: REST_COLOUR, values: moments.map((at) => rest(this.rows.get(at))) });
      }
      this.key(series);
      const width = Math.max(this.plot.clientWidth, 240);
      const height = 190;
      const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" }, document.createDocumentFragment());
      svg.setAttribute("aria-label", `${this.title}: ${series.map((s) => `${s.name} ${this.last(s)}`).join(", ")}`);
      const x = (at) => MARGIN.left + (at - from) / (until - from) * (width - MARGIN.left - MARGIN.right);
      const y = this.scale(svg, series, width, height);
      const seconds = [5, 10, 15, 30, 60, 120, 300].find((s) => (until - from) / s <= width / 90) ?? 600;
      for (let at = Math.ceil(from / seconds) * seconds; at <= until; at += seconds) {
        shape("text", { x: x(at), y: height - 6, "text-anchor": "middle" }, svg, clock(at));
      }
      if (areas) this.areas(svg, series, moments, x, y);
      else this.lines(svg, series, moments, x, y);
      this.plot.replaceChildren(svg);
    }

    last(series) {
      const value = series.values.at(-1);
      return value === null || value === undefined ? "–" : number(value);
    }

    key(series) {
      this.keys.replaceChildren();
      for (const one of series) {
        const item = element("li", {}, this.keys);
        const patch = shape("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, item);
        shape("rect", { width: 10, height: 10, rx: 2, fill: `var(${one.colour})` }, patch);
        item.append(`${one.name} `);
        element("b", {}, item, this.last(one));
      }
    }

    // The axis with its grid; gives where a value stands.
    scale(svg, series, width, height) {
      const bottom = height - MARGIN.bottom;
      const tall = bottom - MARGIN.top;
      const all = series.flatMap((one) => one.values).filter((value) => value !== null);
      const line = (value, at) => {
        shape("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at, class: "grid" }, svg);
        shape("text", { x: MARGIN.left - 6, y: at + 4, "text-anchor": "end" }, svg, number(value));
      };
      const positive = all.filter((value) => value > 0);
      if (this.drawn === "logarithmic" && positive.length > 0) {
        const low = Math.floor(Math.log10(Math.min(...positive)));
        const high = Math.max(Math.ceil(Math.log10(Math.max(...positive))), low + 1);
        const y = (value) => bottom - (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low) * tall;
        for (let power = low; power <= high; power += 1) line(10 ** power, y(10 ** power));
        return y;
      }
      const stacked = series[0].values.map((_, nth) => series.reduce((sum, one) => sum + (one.values[nth] ?? 0), 0));
      const most = Math.max(...(this.drawn === "areas" ? stacked : all), 1e-9);
      const by = step(most, 4);
      const top = Math.ceil(most / by) * by;
      const y = (value) => bottom - value / top * tall;
      for (let nth = 0; nth * by <= top * 1.0001; nth += 1) line(nth * by, y(nth * by));
      return y;
    }

    lines(svg, series, moments, x, y) {
      for (const one of series) {
        let path = "";
        let before = null;
        one.values.forEach((value, nth) => {
          if (value !== null) {
            const joins = before !== null && moments[nth] - before < GAP_S;
            // A point of its own is drawn as a dot.
            path += `${joins ? "L" : "M"}${x(moments[nth]).toFixed(1)} ${y(value).toFixed(1)}${joins ? "" : "h.1"}`;
            before = moments[nth];
          }
        });
        shape("path", { d: path, class: "line", stroke: `var(${one.colour})` }, svg);
      }
    }

    areas(svg, series, moments, x, y) {
      let below = moments.map(() => 0);
      for (const one of series) {
        const above = one.values.map((value, nth) => below[nth] + value);
        const point = (values) => (at, nth) => `${x(at).toFixed(1)} ${y(values[nth]).toFixed(1)}`;
        const back = moments.map(point(below)).reverse();
        const path = `M${moments.map(point(above)).join("L")}L${back.join("L")}Z`;
        shape("path", { d: path, fill: `var(${one.colour})`, "fill-opacity": 0.85 }, svg);
        below = above;
      }
    }
  }

  const sentence = (news) => {
    const at = news.until_s === null ? "" : `, ${clock(news.until_s)} since the clients began`;
    switch (news.state) {
      case "preparing": return "preparing: the clients have not begun yet";
      case "running": return `running${PHASES[news.phase] ?? ""}${at}`;
      case "lost": return "interrupted: its process is gone without an end; what was measured stands";
      default: return `ended: ${news.status}${news.reason ? `, ${news.reason}` : ""}`;
    }
  };

  const show = (news) => {
    const over = news.state === "ended" || news.state === "lost";
    const state = document.getElementById("state");
    document.getElementById("what").textContent = news.what;
    state.textContent = sentence(news);
    state.className = over ? (news.status === "complete" ? "good all" : "bad all") : "";
    element("a", { href: live.dataset.report }, state, over ? "its report" : "report so far").before(" – ");
    const progress = document.getElementById("progress");
    progress.hidden = over || news.planned_s === null || news.until_s === null;
    if (!progress.hidden) progress.value = Math.min(news.until_s / news.planned_s, 1);
    const tiles = document.getElementById("figures");
    tiles.replaceChildren();
    for (const [name, value] of news.figures) {
      const tile = element("div", {}, tiles);
      element("dt", {}, tile, name);
      element("b", {}, element("dd", {}, tile), value);
    }
    for (const chart of news.charts) {
      if (!charts.has(chart.title)) charts.set(chart.title, new Chart(chart));
      charts.get(chart.title).add(chart.rows);
    }
    draw();
    const [first] = news.figures;
    const glance = over ? (news.state === "lost" ? "interrupted" : news.status) : `${first ? `${first[1]} ${first[0]}` : news.state}`;
    document.title = `${glance} · ${news.until_s === null ? "" : `${clock(news.until_s)} · `}${title}`;
    root.dataset.state = news.state;
    root.dataset.until = news.until_s ?? "";
    root.dataset.points = charts.get("Throughput")?.rows.size ?? 0;
    if (news.until_s !== null) since = news.until_s - AGAIN_S;
    return over;
  };

  const draw = () => {
    const moments = [...charts.values()].flatMap((chart) => [...chart.rows.keys()]);
    const last = moments.reduce((a, b) => Math.max(a, b), -Infinity);
    const from = Math.max(moments.reduce((a, b) => Math.min(a, b), Infinity), last - SPAN_S);
    for (const chart of charts.values()) chart.draw(from, Math.max(last, from + 10));
  };

  const turn = async () => {
    let wait = EVERY_MS;
    try {
      const answer = await fetch(live.dataset.news + (since === null ? "" : `?since=${since}`));
      if (!answer.ok) throw new Error(`it answers ${answer.status}`);
      // A run that has ended has no news any more.
      if (show(await answer.json())) return;
    } catch (error) {
      const state = document.getElementById("state");
      state.textContent = `no news (${error.message}); is pgdyno serve still there? Trying again …`;
      state.className = "bad all";
      wait = AFTER_ERROR_MS;
    }
    setTimeout(turn, wait);
  };

  let drawing = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(draw);
  });
  turn();
})();
