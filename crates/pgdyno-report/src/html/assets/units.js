// Numbers as people read them, with their unit.

// Three to four digits, with thousands apart.
function number(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  if (size >= 1e-4) return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
  return value.toExponential(1);
}

const POWERS = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];

const BINARY = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];

// What values up to `size` are divided by to be read, and their unit then: MiB/s for millions of bytes/s.
function readable(size, unit) {
  if (!unit.startsWith("bytes")) return [1, unit];
  const [factor, name] = BINARY.find(([power]) => Math.abs(size) >= power) || [1, "B"];
  return [factor, name + unit.slice("bytes".length)];
}

// A value with its unit.
function amount(value, unit) {
  if (value === null || value === undefined) return "–";
  const [factor, name] = readable(value, unit);
  return `${number(value / factor)} ${name}`;
}

// A number for a tick, where space is short: 12k, 3M.
function tickText(value) {
  const [factor, letter] = POWERS.find(([power]) => Math.abs(value) >= (power === 1e3 ? 1e4 : power)) || [1, ""];
  return letter ? `${Number((value / factor).toPrecision(3))}${letter}` : number(value);
}

// The end of the value axis that nothing is below; of shares near the whole, what distinguishes them.
function axisFloor(unit, low) {
  return unit === "%" ? [99, 90, 50].find((floor) => low >= floor) || 0 : 0;
}
