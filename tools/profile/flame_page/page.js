// Puts the page together: switch, search, pointer and keyboard. A test waits for data-drawn, set after each drawing.

const ROW = 21;
const COLOURS = 5;
const WIDTH_OF_SHARE = 150; // pixels from which on a box has it
const graph = byId("graph");
const HINT =
  "Point at a call, tap it to zoom, or use the keys: arrows move, Enter zooms, Escape shows all. It is explained here.";
const shareText = (part, whole) => `${(whole > 0 ? (100 * part) / whole : 0).toFixed(1)} %`;
let measure = "live",
  unit = "bytes",
  isUpright = false,
  zoomed = nodes[0],
  chosen = null,
  wanted = "",
  drawn = new Map();

const weightOf = (node) => node[measure][unit];
const isFound = (node) => wanted !== "" && `${node.full} ${node.place}`.toLowerCase().includes(wanted);

function inWords(node) {
  const own = node[measure],
    whole = weightOf(nodes[0]),
    place = node.place && ` (${node.place})`;
  const ofZoomed = zoomed.id === 0 ? "" : `, ${shareText(weightOf(node), weightOf(zoomed))} of what is zoomed`;
  const amount = `${bytesText(own.bytes)} in ${counted(own.blocks, "block")} ${measure}`;
  return `${node.full}${place}: ${amount}, ${shareText(weightOf(node), whole)} of all${ofZoomed}`;
}

// A file of the program's has one colour, so that its modules are seen.
function colourOf(node) {
  if (node.role !== "program") return `var(--${node.role})`;
  let sum = 0;
  for (const character of node.place.split(":")[0] || node.name) sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return `var(--c${sum % COLOURS})`;
}

function boxOf({ node, x, width, isAround }, deepest) {
  const share = width > WIDTH_OF_SHARE ? `${shareText(weightOf(node), weightOf(nodes[0]))} ` : "";
  const box = html("div", {}, width > 24 ? share + node.name : "");
  box.className = [width <= 24 && "narrow", isAround && "around", isFound(node) && "hit", node === chosen && "chosen"]
    .filter(Boolean)
    .join(" ");
  Object.assign(box.style, {
    left: `${x}px`,
    top: `${(isUpright ? deepest - node.depth : node.depth) * ROW}px`,
    width: `${width}px`,
    background: colourOf(node),
  });
  box.dataset.node = node.id;
  return box;
}

function draw() {
  const boxes = layOut(zoomed, weightOf, graph.clientWidth);
  const deepest = boxes.reduce((most, { node }) => Math.max(most, node.depth), 0);
  drawn = new Map(boxes.map((box) => [box.node, box]));
  graph.style.height = `${2 + ROW * (1 + deepest)}px`;
  graph.replaceChildren(...boxes.map((box) => boxOf(box, deepest)));
  byId("found").textContent = foundInWords();
  document.documentElement.dataset.drawn = boxes.length;
}

// A call below one that is found is no more memory.
function foundInWords() {
  if (!wanted) return "";
  let sum = 0;
  const isBelow = new Uint8Array(nodes.length);
  for (const node of nodes) {
    isBelow[node.id] = node.parent === null ? 0 : isBelow[node.parent];
    if (isBelow[node.id] || !isFound(node)) continue;
    isBelow[node.id] = 1;
    sum += weightOf(node);
  }
  const amount = unit === "bytes" ? bytesText(sum) : counted(sum, "block");
  return `found: ${amount}, ${shareText(sum, weightOf(nodes[0]))} of all`;
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
  const row = childrenBySize(nodes[node.parent], weightOf).filter((one) => drawn.has(one));
  return row[row.indexOf(node) + step] ?? node;
}

const parentOf = (node) => (node.parent === null ? node : nodes[node.parent]);
const largestChild = (node) => childrenBySize(node, weightOf).find((child) => drawn.has(child)) ?? node;

const KEYS = {
  ArrowUp: (node) => (isUpright ? largestChild(node) : parentOf(node)),
  ArrowDown: (node) => (isUpright ? parentOf(node) : largestChild(node)),
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
const SWITCHES = {
  measure: (value) => (measure = value),
  unit: (value) => (unit = value),
  shape: (value) => (isUpright = value === "flame"),
};
for (const [name, set] of Object.entries(SWITCHES)) {
  const buttons = document.querySelectorAll(`[data-${name}]`);
  for (const button of buttons)
    button.addEventListener("click", () => {
      set(button.dataset[name]);
      for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
      draw();
      show(chosen);
    });
}
draw();
show(null);
let lastWidth = graph.clientWidth;
new ResizeObserver(() => {
  if (graph.clientWidth === lastWidth) return;
  lastWidth = graph.clientWidth;
  draw();
}).observe(graph);
