// Numbers in words, and elements by their names.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
const byId = (id) => document.getElementById(id);

function bytesText(bytes) {
  let unit = 0,
    value = bytes;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${value.toFixed(unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${UNITS[unit]}`;
}

const counted = (count, word) => `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
const percentText = (part, whole) => `${(whole > 0 ? (100 * part) / whole : 0).toFixed(1)} %`;

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
