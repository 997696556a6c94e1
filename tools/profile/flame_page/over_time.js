// What was live over the time of the profile: an area for each site, one on the other.

const AREAS = 8; // colours of sites; what is no site is grey
const HEIGHT = 140; // pixels

// The name of SVG's elements, which looks like an address, is taken from one.
const maker = html("div");
maker.innerHTML = "<svg></svg>";

function shape(tag, attributes, ...children) {
  const element = document.createElementNS(maker.firstChild.namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const secondsText = (seconds) =>
  seconds < 120 ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : `${Math.round(seconds / 60)} min`;

// The looks at which each site begins and ends in height, the greatest site lowest.
function stacked(sites, looks) {
  const heights = Array(looks).fill(0);
  return sites.map(({ bytes }) => bytes.map((value, look) => [heights[look], (heights[look] += Math.max(value, 0))]));
}

function drawOverTime({ seconds, sites }, box, words, list) {
  const width = Math.max(box.clientWidth, 1),
    bands = stacked(sites, seconds.length),
    end = seconds[seconds.length - 1] || 1,
    most = Math.max(1, ...bands[bands.length - 1].map(([, top]) => top));
  const x = (look) => ((seconds[look] / end) * width).toFixed(1),
    y = (bytes) => (HEIGHT - (bytes / most) * (HEIGHT - 4)).toFixed(1),
    colour = (site) => (sites[site].function.startsWith("[") ? "var(--library)" : `var(--a${site % AREAS})`);
  const areas = bands.map((band, site) => {
    const upper = band.map(([, top], look) => `${x(look)},${y(top)}`),
      lower = band.map(([bottom], look) => `${x(look)},${y(bottom)}`).reverse();
    return shape("polygon", { points: [...upper, ...lower].join(" "), fill: colour(site), "data-site": site });
  });
  const line = shape("line", { y1: 0, y2: HEIGHT, class: "look" });
  const picture = shape("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, "aria-hidden": "true" }, ...areas, line);
  box.replaceChildren(picture);
  const items = sites.map(({ function: name, place, pool }, site) => {
    const colourBox = html("span", { class: "swatch" });
    colourBox.style.background = colour(site);
    const where = [place, pool].filter(Boolean).join(", "),
      amount = html("small", {}, "");
    return { element: html("li", {}, colourBox, `${name} `, where ? html("small", {}, `${where} `) : null, amount), amount };
  });
  list.replaceChildren(...items.map(({ element }) => element));
  const show = (look) => {
    line.setAttribute("x1", x(look));
    line.setAttribute("x2", x(look));
    items.forEach(({ amount }, site) => (amount.textContent = bytesText(Math.max(sites[site].bytes[look], 0))));
    const all = bands[bands.length - 1][look][1];
    words.textContent = `${bytesText(all)} live after ${secondsText(seconds[look])}; at most ${bytesText(most)}`;
  };
  picture.addEventListener("pointermove", (event) => {
    const at = ((event.clientX - box.getBoundingClientRect().left) / width) * end;
    const behind = seconds.findIndex((one) => one >= at);
    show(behind < 0 ? seconds.length - 1 : behind);
  });
  show(seconds.length - 1);
}

function putOverTime(overTime) {
  if (!overTime) return;
  byId("over-time").hidden = false;
  const draw = () => drawOverTime(overTime, byId("areas"), byId("look"), byId("sites"));
  draw();
  let lastWidth = byId("areas").clientWidth;
  new ResizeObserver(() => {
    if (byId("areas").clientWidth === lastWidth) return;
    lastWidth = byId("areas").clientWidth;
    draw();
  }).observe(byId("areas"));
}
