// Puts the page together: switch, search, pointer and keyboard. A test waits for data-drawn, set after each drawing.

const ROW = 21;
const COLOURS = 5;
const graph = byId("graph");
const HINT =
  "Point at a call, tap it to zoom, or use the keys: arrows move, Enter zooms, Escape shows all. It is explained here.";
const shareText = (part, whole) => `${(whole > 0 ? (100 * part) / whole : 0).toFixed(1)} %`;
let measure = "live",
  zoomed = nodes[0],
  chosen = null,
  wanted = "",
  drawn = new Map();

const isFound = (node) => wanted !== "" && `${node.name} ${node.place}`.toLowerCase().includes(wanted);

function inWords(node) {
  const own = node[measure],
    whole = nodes[0][measure].bytes,
    place = node.place && ` (${node.place})`;
  const ofZoomed = zoomed.id === 0 ? "" : `, ${shareText(own.bytes, zoomed[measure].bytes)} of what is zoomed`;
  const amount = `${bytesText(own.bytes)} in ${counted(own.blocks, "block")} ${measure}`;
  return `${node.name}${place}: ${amount}, ${shareText(own.bytes, whole)} of all${ofZoomed}`;
}

function colourOf(node) {
  let sum = 0;
  for (const character of node.name) sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return `var(--c${sum % COLOURS})`;
}

function boxOf({ node, x, width, isAround }) {
  const box = html("div", {}, width > 24 ? node.name : "");
  box.className = [width <= 24 && "narrow", isAround && "around", isFound(node) && "hit", node === chosen && "chosen"]
    .filter(Boolean)
    .join(" ");
  Object.assign(box.style, {
    left: `${x}px`,
    top: `${node.depth * ROW}px`,
    width: `${width}px`,
    background: colourOf(node),
  });
  box.dataset.node = node.id;
  return box;
}

function draw() {
  const boxes = layOut(zoomed, measure, graph.clientWidth);
  drawn = new Map(boxes.map((box) => [box.node, box]));
  graph.style.height = `${2 + ROW * (1 + boxes.reduce((most, { node }) => Math.max(most, node.depth), 0))}px`;
  graph.replaceChildren(...boxes.map(boxOf));
  byId("found").textContent = foundInWords();
  for (const button of document.querySelectorAll("[data-measure]"))
    button.setAttribute("aria-pressed", String(button.dataset.measure === measure));
  document.documentElement.dataset.drawn = boxes.length;
}

// A call below one that is found is no more memory.
function foundInWords() {
  if (!wanted) return "";
  let bytes = 0;
  const isBelow = new Uint8Array(nodes.length);
  for (const node of nodes) {
    isBelow[node.id] = node.parent === null ? 0 : isBelow[node.parent];
    if (isBelow[node.id] || !isFound(node)) continue;
    isBelow[node.id] = 1;
    bytes += node[measure].bytes;
  }
  return `found: ${bytesText(bytes)}, ${shareText(bytes, nodes[0][measure].bytes)} of all`;
}

function show(node) {
  const before = graph.querySelector(".chosen");
  if (before) before.classList.remove("chosen");
  chosen = node;
  byId("words").textContent = node ? inWords(node) : HINT;
  if (node) graph.querySelector(`[data-node="${node.id}"]`)?.classList.add("chosen");
}

function zoom(node) {
  zoomed = node;
  chosen = node;
  draw();
  show(node);
}

function beside(node, step) {
  if (node.parent === null) return node;
  const row = childrenBySize(nodes[node.parent], measure).filter((one) => drawn.has(one));
  return row[row.indexOf(node) + step] ?? node;
}

const KEYS = {
  ArrowUp: (node) => (node.parent === null ? node : nodes[node.parent]),
  ArrowDown: (node) => childrenBySize(node, measure).find((child) => drawn.has(child)) ?? node,
  ArrowLeft: (node) => beside(node, -1),
  ArrowRight: (node) => beside(node, 1),
  Home: () => nodes[0],
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") return zoom(nodes[0]);
  if (event.key === "Enter" && chosen) return zoom(chosen);
  const move = KEYS[event.key];
  if (!move) return;
  event.preventDefault();
  show(chosen ? move(chosen) : zoomed);
  graph.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
}

const nodeUnder = (event) => nodes[event.target.dataset?.node];

document.title = `${data.program} – tarn profile`;
byId("title").textContent = `Memory of ${data.program}${data.pid ? ` (${data.pid})` : ""}`;
byId("about").replaceChildren(...data.remarks.map((remark) => html("p", {}, remark)));
graph.addEventListener("keydown", onKey);
graph.addEventListener("click", (event) => nodeUnder(event) && zoom(nodeUnder(event)));
graph.addEventListener("pointerover", (event) => nodeUnder(event) && show(nodeUnder(event)));
byId("reset").addEventListener("click", () => {
  byId("search").value = wanted = "";
  zoom(nodes[0]);
});
byId("search").addEventListener("input", (event) => {
  wanted = event.target.value.trim().toLowerCase();
  draw();
});
for (const button of document.querySelectorAll("[data-measure]"))
  button.addEventListener("click", () => {
    measure = button.dataset.measure;
    draw();
    show(chosen);
  });
draw();
show(null);
let lastWidth = graph.clientWidth;
new ResizeObserver(() => {
  if (graph.clientWidth === lastWidth) return;
  lastWidth = graph.clientWidth;
  draw();
}).observe(graph);
