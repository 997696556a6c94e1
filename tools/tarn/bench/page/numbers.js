// Means, ratios and numbers as text. Nothing here knows of the page.

const KIB = 1024;
const MIB = KIB * KIB;
const GIB = MIB * KIB;

function geometricMean(values) {
  if (!values.length) return NaN;
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

function threeDigits(value) {
  if (value >= 99.95) return value.toFixed(0);
  if (value >= 9.995) return value.toFixed(1);
  return value >= 0.0995 || value === 0 ? value.toFixed(2) : value.toPrecision(2);
}

// The last unit also takes what is larger than its own step.
function withUnit(value, units, digits = threeDigits) {
  const [size, name] = units.find(([size]) => Math.abs(value) >= size) ?? units.at(-1);
  return `${digits(value / size)} ${name}`;
}

const TIME_UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const BYTE_UNITS = [
  [GIB, "GiB"],
  [MIB, "MiB"],
  [KIB, "KiB"],
  [1, "B"],
];
const roundNumber = (value) => String(Number(value.toPrecision(3)));

const UNITS = {
  ns: {
    text: (value) => withUnit(value, TIME_UNITS),
    tick: (value) => withUnit(value, TIME_UNITS, roundNumber),
    per: "ns per operation",
    steps: () => 1,
  },
  bytes: {
    text: (value) => withUnit(value, BYTE_UNITS),
    tick: (value) => withUnit(value, BYTE_UNITS, roundNumber),
    per: "bytes",
    steps: (value) => (BYTE_UNITS.find(([size]) => value >= size) ?? [1])[0],
  },
  ratio: { text: threeDigits, tick: roundNumber, per: "resident bytes per byte asked for", steps: () => 1 },
  times: {
    text: (value) => `${ratioText(value)}×`,
    tick: (value) => `${roundNumber(value)}×`,
    per: "times the best",
    steps: () => 1,
  },
};

const unitOf = (name) => UNITS[name] ?? { ...UNITS.ratio, text: (value) => `${threeDigits(value)} ${name}`, per: name };

// Two digits after the point as long as they tell something.
function ratioText(value) {
  return value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0);
}

// For the cells of a grid, where the caption names the unit.
function cellText(value, unit) {
  if (unit === "bytes") return UNITS.bytes.text(value);
  if (unit !== "ns") return value < 99.95 ? value.toFixed(2) : value.toFixed(0);
  if (value >= 999500) return `${(value / 1e6).toFixed(value < 9.95e6 ? 1 : 0)}M`;
  if (value >= 9999.5) return `${(value / 1e3).toFixed(0)}k`;
  return value < 9.95 ? value.toFixed(1) : value.toFixed(0);
}

function spreadPercent({ median, low, high }) {
  return median > 0 ? ((high - low) / 2 / median) * 100 : 0;
}

const mebibytes = (bytes) => (bytes > 0 ? threeDigits(bytes / MIB) : "–");

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// K and M, of 1024, only where they are exact for all large sizes beside it: 262143, 256K, 262145 would not read well.
function sizeLabel(bytes, all) {
  const areExact = all.every((other) => other < 32 * KIB || other % KIB === 0);
  if (bytes < 32 * KIB || !areExact) return String(bytes);
  return bytes % MIB === 0 ? `${bytes / MIB}M` : `${bytes / KIB}K`;
}

function unique(values) {
  return [...new Set(values)];
}

function groupedBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}
