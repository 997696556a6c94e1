// Figures as text, elements, and how each contender looks everywhere. Text is set as text, never as markup.

const STEPS = {
  ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]],
  bytes: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
  count: [[1e9, "G"], [1e6, "M"], [1e4, "k", 1e3], [1, ""]],
};

function threeDigits(value) {
  if (value === 0) return "0";
  if (value >= 99.95) return value.toFixed(0);
  return value >= 9.995 ? value.toFixed(1) : value >= 0.0995 ? value.toFixed(2) : value.toPrecision(2);
}

// The step of the unit that a value reads well in: its size and its name.
function stepOf(value, unit) {
  const steps = STEPS[unit] ?? [[1, unit]];
  const [from, name, size = from] = steps.find(([from]) => Math.abs(value) >= from) ?? steps.at(-1);
  return { size, name };
}

function figureText(value, unit, digits = threeDigits) {
  const { size, name } = stepOf(value, unit);
  const number = digits(value / size);
  const text = unit === "count" ? Number(number).toLocaleString("en-US") : number;
  return `${text}${name === "×" ? "" : " "}${name}`.trim();
}

// Nothing is nothing in each unit.
const tickText = (value, unit) =>
  value === 0 ? "0" : figureText(value, unit, (number) => String(Number(number.toPrecision(3))));

const ruler = document.createElement("canvas").getContext("2d");
function textWidth(text, isBold = false) {
  ruler.font = `${isBold ? "bold " : ""}12px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}

function shortened(text, width, isBold) {
  if (textWidth(text, isBold) <= width) return text;
  let kept = text;
  while (kept && textWidth(`${kept}…`, isBold) > width) kept = kept.slice(0, -1);
  return `${kept}…`;
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if ((value ?? false) !== false) element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter((child) => (child ?? false) !== false));
  return element;
}

const html = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

const MARKERS = [
  "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
  "M-3-3h6v6h-6z",
  "M0-4L4 3H-4z",
  "M0-4.5L4.5 0L0 4.5L-4.5 0z",
];
const DASHES = [null, "6 2", "2 2", "8 2 2 2"];
const COLOURS = { o: 4, c: 8 }; // of ours, of others: the style's variables

function looksOf(contenders) {
  const counts = { o: 0, c: 0 };
  return contenders.map((contender, index) => {
    const kind = contender.ours ? "o" : "c";
    const nth = counts[kind]++;
    const round = Math.floor(nth / COLOURS[kind]) % MARKERS.length;
    return { ...contender, index, colour: `var(--${kind}${nth % COLOURS[kind]})`, marker: MARKERS[round],
      dash: DASHES[round] };
  });
}
