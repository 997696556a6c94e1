// Numbers in words, and elements, for the pages of `tarn map` and `tarn profile`.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

function bytesText(bytes) {
  let unit = 0,
    value = bytes;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

const countText = (count) => count.toLocaleString("en-US");
const counted = (count, word) => `${countText(count)} ${word}${count === 1 ? "" : "s"}`;

function percentText(part, whole) {
  if (!(whole > 0) || !(part > 0)) return "0 %";
  const percent = (100 * part) / whole;
  return `${percent.toFixed(percent >= 9.95 ? 0 : 1)} %`;
}

function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const byId = (id) => document.getElementById(id);
