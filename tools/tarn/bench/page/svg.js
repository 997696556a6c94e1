// Elements, scales and where labels fit. Charts are 360 units wide, so that on a phone a unit is about a pixel.

const WIDTH = 360;
const LABEL_SIZE = 11.5;
const LINE_STEP = 13;
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const canvas = document.createElement("canvas").getContext("2d");

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    node.setAttribute(name, typeof value === "number" ? Math.round(value * 100) / 100 : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG_NAMESPACE, name), attributes, children);

function chartFrame(height, label, ...children) {
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${Math.ceil(height)}`, role: "img", "aria-label": label }, ...children);
}

const widths = new Map(); // the same names and figures are measured for every chart

function textWidth(text, isBold = false, size = LABEL_SIZE) {
  const key = `${isBold} ${size} ${text}`;
  if (!widths.has(key)) {
    canvas.font = `${isBold ? 700 : 400} ${size}px system-ui, sans-serif`;
    widths.set(key, canvas.measureText(text).width);
  }
  return widths.get(key);
}

function shortened(text, width, isBold) {
  if (textWidth(text, isBold) <= width) return text;
  let length = text.length;
  while (length > 1 && textWidth(`${text.slice(0, length)}…`, isBold) > width) length--;
  return `${text.slice(0, length)}…`;
}

function markerAt(look, x, y, radius, tip) {
  return svg("path", {
    class: "mark",
    "data-c": look.index,
    "data-tip": tip,
    d: MARKER_PATHS[look.marker](radius),
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
  });
}

function contenderGroup(look, ...children) {
  return svg(
    "g",
    { class: look.isOurs ? "contender ours" : "contender", style: `--c:var(${look.colour})` },
    ...children,
  );
}

function nameText(look, x, y, width, anchor = "start") {
  const text = shortened(look.name, width, look.isOurs);
  const tip = text === look.name ? null : look.name;
  return svg("text", { class: look.isOurs ? "name bold" : "name", x, y, "text-anchor": anchor, "data-tip": tip }, text);
}

// The widest of these names, up to `limit`.
const nameWidth = (looks, limit) =>
  Math.min(limit, Math.max(0, ...looks.map((look) => textWidth(look.name, look.isOurs))) + 1);

// `room` is the least distance between two marks: the height of a label, or its width along a horizontal axis.
const ROOM_BELOW = 15;
const ROOM_BESIDE = 46;

function logScale(values, from, to, unit, { room = ROOM_BELOW, isRatio = false } = {}) {
  let low = Math.min(...values),
    high = Math.max(...values);
  if (isRatio) {
    high = Math.max(high, 1.5);
  } else {
    const missing = Math.sqrt(Math.max(1, 2 / (high / low)));
    low /= missing;
    high *= missing;
  }
  const pad = (high / low) ** 0.04;
  const [a, b] = [Math.log(low / pad), Math.log(high * pad)];
  const place = (value) => from + ((Math.log(value) - a) / (b - a)) * (to - from);
  return { place, ticks: logTicks(low / pad, high * pad, place, unit.steps(high), room) };
}

// The densest marks that leave room for their labels: even ones over a short span, else some or one of each decade.
function logTicks(low, high, place, step, room) {
  const within = (multiples, every = 1) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low / step)); power <= Math.log10(high / step); power++) {
      for (const multiple of power % every ? [] : multiples)
        found.push(Number((multiple * 10 ** power).toPrecision(3)) * step);
    }
    return found.filter((value) => value >= low && value <= high);
  };
  const choices = [
    ...[8, 5, 3].map(
      (count) => () => (high / low < 4 ? evenTicks(low / step, high / step, count).map((value) => value * step) : []),
    ),
    () => within([1, 2, 3, 4, 5, 6, 7, 8, 9]),
    () => within([1, 2, 5]),
    () => within([1, 3]),
    () => within([1]),
    () => within([1], 2),
    () => within([1], 3),
    () => within([1], 4),
  ];
  const hasRoom = (ticks) => ticks.slice(1).every((tick, i) => Math.abs(place(tick) - place(ticks[i])) >= room);
  for (const choice of choices) {
    const ticks = choice();
    if (ticks.length > 1 && hasRoom(ticks)) return ticks;
  }
  return within([1, 2, 5]).slice(0, 1);
}

function evenTicks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((multiple) => multiple * power).find((size) => size >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-9); i++) ticks.push(Number((i * step).toPrecision(6)));
  return ticks;
}

function zeroScale(values, from, to, unit, { room = ROOM_BELOW } = {}) {
  const high = Math.max(...values) * 1.04 || 1;
  const step = unit.steps(high);
  return {
    place: (value) => from + (value / high) * (to - from),
    ticks: evenTicks(0, high / step, Math.abs(to - from) / (room + 20)).map((value) => value * step),
  };
}

// Moves labels apart that want the same height, keeping their order; returns one height for each.
function spreadApart(wanted, step, top, bottom) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const placed = [];
  let floor = top;
  for (const i of order) {
    placed[i] = Math.max(wanted[i], floor);
    floor = placed[i] + step;
  }
  let ceiling = bottom;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i], ceiling);
    ceiling = placed[i] - step;
  }
  return placed;
}

const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function crosses(box, from, to) {
  for (let i = 0; i <= 12; i++) {
    const x = from.x + ((to.x - from.x) * i) / 12,
      y = from.y + ((to.y - from.y) * i) / 12;
    if (x > box.left && x < box.right && y > box.top && y < box.bottom) return true;
  }
  return false;
}

const NEAR_LABEL = 13;
const LABEL_DISTANCES = [8, 13, 19, 27, 37, 49, 63, 79, 97, 120];
const LABEL_ANGLES = [
  0, 180, 270, 90, 315, 45, 225, 135, 337, 23, 203, 157, 292, 248, 68, 112, 304, 56, 236, 124, 348, 12, 192, 168,
];

// For each point {x, y, width} a free place of its label near it, or null where there is none. Who chooses first can
// spoil it for the others, so that several orders are tried.
function placeLabels(points, bounds) {
  const crowd = ({ x, y }) => points.filter((other) => Math.abs(other.x - x) < 70 && Math.abs(other.y - y) < 25).length;
  const orders = [
    () => 0,
    (a, b) => a.x - b.x,
    (a, b) => b.x - a.x,
    (a, b) => a.y - b.y,
    (a, b) => b.y - a.y,
    (a, b) => b.width - a.width,
    (a, b) => crowd(b) - crowd(a),
  ];
  let best = null;
  for (const order of orders) {
    const attempt = placeInOrder(points, points.map((point, i) => ({ ...point, i })).sort(order), bounds);
    if (!best || attempt.cost < best.cost) best = attempt;
    if (!best.cost) break;
  }
  return best.places;
}

function placeInOrder(points, ordered, bounds) {
  const taken = points.map(({ x, y }) => ({ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 }));
  const leaders = [],
    places = points.map(() => null);
  let cost = 0;
  for (const point of ordered) {
    const place = freePlace(point, bounds, taken, leaders);
    cost += place ? Math.max(0, place.distance - NEAR_LABEL) ** 1.5 : 10000;
    if (!place) continue;
    places[point.i] = place;
    taken.push(place.box);
    if (place.isFar) leaders.push([point, place.near]);
  }
  return { places, cost };
}

function freePlace(point, bounds, taken, leaders) {
  for (const distance of LABEL_DISTANCES) {
    for (const angle of LABEL_ANGLES) {
      const place = labelPlace(point, distance, (angle * Math.PI) / 180);
      if (isFree(place, bounds, taken, leaders, point)) return { ...place, distance, isFar: distance > NEAR_LABEL };
    }
  }
  return null;
}

function labelPlace({ x, y, width }, distance, angle) {
  const near = { x: x + distance * Math.cos(angle), y: y + distance * Math.sin(angle) };
  const side = Math.abs(Math.cos(angle)) < 0.3 ? 0 : Math.sign(Math.cos(angle));
  const left = side > 0 ? near.x : side < 0 ? near.x - width : near.x - width / 2;
  const top = near.y - 6.5 + (side === 0 ? 5 * Math.sign(Math.sin(angle)) : 0);
  return { near, left, baseline: top + 10.5, box: { left: left - 1, right: left + width + 1, top, bottom: top + 13 } };
}

function isFree({ box, near }, bounds, taken, leaders, point) {
  if (box.left < bounds.left || box.right > bounds.right || box.top < bounds.top || box.bottom > bounds.bottom)
    return false;
  if (taken.some((other) => overlaps(box, other))) return false;
  if (leaders.some(([from, to]) => crosses(box, from, to))) return false;
  return !taken.some((other) => !isAround(other, point) && crosses(other, point, near));
}

const isAround = (box, { x, y }) => x > box.left && x < box.right && y > box.top && y < box.bottom;
