// A chart as a file: the drawing with its title and legend, in the colours that the page has now.

const TITLE_HEIGHT = 26;
const KEY_HEIGHT = 18;

function resolved(text) {
  const style = getComputedStyle(document.documentElement);
  return text.replace(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

// The legend in as many rows as it needs, below the title; answers where it ends.
function keys(chart, picture, text) {
  let [x, y] = [8, TITLE_HEIGHT];
  for (const entry of chart.legend.filter((known) => !chart.hidden.has(known.key))) {
    const room = 40 + entry.name.length * 6.8;
    if (x > 8 && x + room > chart.width) [x, y] = [8, y + KEY_HEIGHT];
    const key = swatch(entry).firstChild;
    key.setAttribute("transform", `translate(${x} ${y + 2})`);
    picture.append(key, svg("text", { ...text, x: x + 23, y: y + 11, "font-size": 12 }, entry.name));
    x += room;
  }
  return y + KEY_HEIGHT;
}

// The drawing as a file of its own, and its size.
function standalone(chart) {
  const picture = svg("svg");
  const text = { "font-family": "system-ui, sans-serif", fill: "var(--ink)" };
  picture.append(
    svg("rect", { width: "100%", height: "100%", fill: "var(--card)" }),
    svg("text", { ...text, x: 8, y: 19, "font-size": 15, "font-weight": "bold" }, `${chart.title} – ${document.querySelector("h1").textContent}`),
  );
  const top = keys(chart, picture, text);
  const [width, height] = [chart.width, chart.height + top];
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) picture.setAttribute(name, value);
  const drawing = svg("g", { transform: `translate(0 ${top})` });
  drawing.append(...[...chart.plot.cloneNode(true).childNodes].filter((node) => !node.classList.contains("cursor")));
  picture.append(drawing);
  return { width, height, text: resolved(new XMLSerializer().serializeToString(picture)) };
}

function download(url, chart, kind) {
  const run = document.title.replace(/[^A-Za-z0-9-]+/g, "-").slice(0, 40);
  html("a", { href: url, download: `${run}-${chart.title.replace(/[^A-Za-z0-9]+/g, "-")}.${kind}` }).click();
}

const asUrl = (text) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;

function saveChart(chart, kind) {
  const { width, height, text } = standalone(chart);
  const url = asUrl(text);
  if (kind === "svg") {
    download(url, chart, kind);
    return;
  }
  const image = new Image();
  image.onload = () => {
    const canvas = html("canvas", { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    download(canvas.toDataURL("image/png"), chart, kind);
  };
  image.src = url;
}
