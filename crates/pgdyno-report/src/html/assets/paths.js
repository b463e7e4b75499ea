// Points on their way to be paths: one on the other, those too close to be distinguished as one, lines, bands and areas.

// Points that are as near as this, in pixels, are drawn as one.
const SPOT = 3;

// Sums from below: each series between the sum of those before it and its own. Series that are stacked share their moments.
function stack(series) {
  const sums = [];
  return series.map(({ index, axis, values }) => {
    const floor = values.map((value, nth) => (value === null ? null : sums[nth] || 0));
    const tops = values.map((value, nth) => {
      sums[nth] = (sums[nth] || 0) + (value || 0);
      return value === null ? null : sums[nth];
    });
    return { index, axis, floor, values: tops };
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

const edge = (segment, y, of) => segment.map((spot) => `${spot.x} ${y(spot[of]).toFixed(1)}`);

// A line through the medians; a point alone is a dot.
function linePath(parts, y) {
  return parts.map((segment) => `M${edge(segment, y, "middle").join("L")}${segment.length === 1 ? "h.01" : ""}`).join("");
}

// From the minimum to the maximum, where points share a place.
function bandPath(parts, y) {
  const shared = parts.filter((segment) => segment.some((spot) => spot.values.length > 1));
  return shared.map((segment) => `M${[...edge(segment, y, "high"), ...edge(segment, y, "low").reverse()].join("L")}Z`).join("");
}

// From the floor to the top; both have the same moments. A point alone is as wide as one that is seen.
function areaPath(floors, tops, y) {
  return tops
    .map((top, nth) => {
      const outline = [...edge(top, y, "middle"), ...edge(floors[nth], y, "middle").reverse()].join("L");
      return top.length === 1 ? `M${outline}h2V${y(top[0].middle).toFixed(1)}Z` : `M${outline}Z`;
    })
    .join("");
}
