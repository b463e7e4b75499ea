// Scales: from values to pixels and back, the ticks between, and numbers as people read them.

function linear(from, until, start, end) {
  const slope = (end - start) / (until - from || 1);
  const scale = (value) => start + (value - from) * slope;
  scale.invert = (pixel) => from + (pixel - start) / slope;
  return scale;
}

function logarithmic(from, until, start, end) {
  const scale = linear(Math.log10(from), Math.log10(until), start, end);
  return (value) => scale(Math.log10(Math.max(value, from)));
}

// Steps of 1, 2 or 5 times a power of ten, about `count` of them.
function linearTicks(from, until, count) {
  const rough = (until - from) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const ticks = [];
  for (let nth = Math.ceil(from / step); nth * step <= until + step * 1e-6; nth += 1) ticks.push(nth * step);
  return ticks;
}

// Powers of ten, with 2 and 5 between where there are few.
function logTicks(from, until) {
  const decades = Math.log10(until / from);
  const factors = decades < 2.5 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(until); power += 1) {
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= from * 0.999 && tick <= until * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

const TIME_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

function timeTicks(from, until, count) {
  const rough = (until - from) / count;
  const step = TIME_STEPS.find((known) => known >= rough) || Math.ceil(rough / 86400) * 86400;
  const ticks = [];
  for (let nth = Math.ceil(from / step - 1e-9); nth * step <= until + 1e-9; nth += 1) ticks.push(nth * step);
  return ticks;
}

// A moment since the clients began: 42.5 s, 12:30, 1:02:30.
function clock(seconds) {
  const tenths = Math.round(Math.abs(seconds) * 10) / 10;
  const sign = seconds < 0 ? "−" : "";
  if (tenths < 60) return `${sign}${Math.round(tenths * 10) / 10} s`;
  const whole = Math.round(tenths);
  const two = (n) => String(n).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${sign}${minutes}:${two(whole % 60)}`;
  return `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

// The index of the moment nearest to `at` in an ascending list.
function nearest(list, at) {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low > 0 && at - list[low - 1] <= list[low] - at ? low - 1 : low;
}
