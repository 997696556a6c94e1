// From values to places, with the values that are worth a line.

function linearScale(values, from, to, unit, gap) {
  const most = Math.max(0, ...values) || 1;
  const { size } = stepOf(most, unit);
  const least = (most / size / Math.abs(to - from)) * gap;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= least) * size;
  const ticks = Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
  return { place: (value) => from + (value / most) * (to - from), ticks };
}

// The finest of these that leaves room between two ticks.
const DECADES = [
  Array.from({ length: 90 }, (_, i) => 1 + i / 10),
  [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8],
  [1, 1.5, 2, 3, 5, 7],
  [1, 2, 5],
  [1, 3],
  [1],
];
const powers = (base, low, high) => {
  const first = Math.floor(Math.log(low) / Math.log(base)) - 1;
  const last = Math.ceil(Math.log(high) / Math.log(base));
  return Array.from({ length: last - first + 1 }, (_, i) => base ** (first + i));
};

function logScale(values, from, to, unit, gap) {
  const positive = values.filter((value) => value > 0);
  const [least, most] = positive.length ? [Math.min(...positive), Math.max(...positive)] : [1, 1];
  const margin = Math.max(1.03, (1.3 / (most / least)) ** 0.5);
  const [low, high] = [least / margin, most * margin];
  const place = (value) => from + (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * (to - from);
  const choices = unit === "bytes"
    ? [2, 4, 16, 64, 1024].map((base) => powers(base, low, high))
    : [...DECADES.map((parts) => powers(10, low, high).flatMap((power) => parts.map((part) => part * power))),
      powers(100, low, high)];
  const inside = choices.map((ticks) => ticks.filter((tick) => tick >= low && tick <= high));
  const hasRoom = (ticks) =>
    ticks.every((tick, i) => i === 0 || Math.abs(place(tick) - place(ticks[i - 1])) >= gap);
  return { place, ticks: inside.find((ticks) => ticks.length > 0 && hasRoom(ticks)) ?? [least] };
}

const scaleOf = (axis, values, from, to, gap) =>
  (axis.log ? logScale : linearScale)(values, from, to, axis.unit, gap);

// Places at least `step` apart that stay near to what was wished.
function spreadApart(wished, step, top, bottom) {
  const order = wished.map((place, i) => [place, i]).sort((a, b) => a[0] - b[0]);
  const places = [];
  order.forEach(([place, i], nth) => {
    places[i] = Math.max(place, nth ? places[order[nth - 1][1]] + step : top);
  });
  [...order].reverse().forEach(([, i], nth) => {
    const limit = nth ? places[order[order.length - nth][1]] - step : bottom;
    places[i] = Math.min(places[i], limit);
  });
  return places;
}
