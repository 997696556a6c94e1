// Puts the page together: switch, search, pointer and keyboard. A test waits for data-drawn, set after each drawing.

const ROW = 21;
const COLOURS = 5;
const WIDTH_OF_SHARE = 150; // pixels from which on a box has it
const graph = byId("graph");
const HINT =
  "Point at a call, tap it to zoom, or use the keys: arrows move, Enter zooms, Escape shows all. It is explained here.";
const MEASURES = { live: "Live", allocated: "Allocated", temporary: "Temporary" };
const IS_CUT = called.includes(SMALLER);
const shareText = (part, whole) => `${(whole > 0 ? (100 * part) / whole : 0).toFixed(1)} %`;
let measure = "live",
  unit = "bytes",
  isUpright = false,
  zoomed = 0,
  chosen = null,
  marked = null, // a function
  found = null, // by function, or null: nothing is searched for
  drawn = new Set();

const figure = () => FIGURES.indexOf(`${measure} ${unit}`);
const weights = () => totals[figure()];
const amountText = (amount) => (unit === "bytes" ? bytesText(amount) : counted(amount, "block"));

function inWords(call) {
  const place = placeOf(call) && ` (${placeOf(call)})`,
    [bytes, blocks] = ["bytes", "blocks"].map((each) => totals[FIGURES.indexOf(`${measure} ${each}`)][call]),
    weight = weights();
  const ofZoomed = zoomed === 0 ? "" : `, ${shareText(weight[call], weight[zoomed])} of what is zoomed`;
  const amount = `${bytesText(bytes)} in ${counted(blocks, "block")} ${measure}`;
  return `${functionOf(call).full}${place}: ${amount}, ${shareText(weight[call], weight[0])} of all${ofZoomed}`;
}

// A file of the program's has one colour, so that its modules are seen.
function colourOf({ role, file, name }) {
  if (role !== "program") return `var(--${role})`;
  let sum = 0;
  for (const character of file || name) sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return `var(--c${sum % COLOURS})`;
}
for (const one of functions) one.colour = colourOf(one);

function boxOf({ call, x, width, level, isAround, rest }, deepest, weight, holders) {
  const one = rest ? functions[SMALLER] : functionOf(call);
  const share = width > WIDTH_OF_SHARE && !rest ? `${shareText(weight[call], weight[0])} ` : "";
  const box = html("div", {}, width > 24 ? share + (rest ? `${countText(rest)} narrow` : one.name) : "");
  box.className = [
    width <= 24 && "narrow",
    isAround && "around",
    !rest && found?.[called[call]] && "hit",
    !rest && called[call] === marked && "marked",
    !rest && holders.has(call) && "holds",
    !rest && call === chosen && "chosen",
  ]
    .filter(Boolean)
    .join(" ");
  Object.assign(box.style, {
    left: `${x}px`,
    top: `${(isUpright ? deepest - level : level) * ROW}px`,
    width: `${width}px`,
    background: one.colour,
  });
  box.dataset[rest ? "rest" : "call"] = call;
  return box;
}

function draw() {
  const weight = weights(),
    boxes = layOut(zoomed, weight, graph.clientWidth);
  const deepest = boxes.reduce((most, { level }) => Math.max(most, level), 0);
  drawn = new Set(boxes.filter(({ rest }) => !rest).map(({ call }) => call));
  const holders = new Set(callsOf(marked).map((call) => nearestDrawn(call)));
  graph.style.height = `${2 + ROW * (1 + deepest)}px`;
  graph.replaceChildren(...boxes.map((box) => boxOf(box, deepest, weight, holders)));
  byId("title").textContent = `${MEASURES[measure]} ${unit} of ${data.program}${data.pid ? ` (${data.pid})` : ""}`;
  byId("found").textContent = foundInWords(weight);
  drawTable();
  document.documentElement.dataset.drawn = boxes.length;
}

function drawTable() {
  const rows = tableRows(sharesOf(zoomed, figure()), weights()[zoomed], amountText, marked, (one) => found?.[one] ?? true, pick);
  const focused = document.activeElement?.dataset.function;
  byId("rows").replaceChildren(...rows);
  if (focused) byId("rows").querySelector(`[data-function="${focused}"]`)?.focus();
  byId("of").textContent = zoomed === 0 ? "" : `of ${functionOf(zoomed).name}`;
  for (const head of document.querySelectorAll("[data-sort]"))
    head.parentElement.setAttribute("aria-sort", head.dataset.sort === sortedBy ? "descending" : "none");
}

// A call below one that is found is no more memory.
function foundInWords(weight) {
  if (!found) return "";
  let sum = 0;
  const isBelow = new Uint8Array(calls);
  for (let call = 0; call < calls; call++) {
    isBelow[call] = isBelow[caller[call]] || found[called[call]];
    if (found[called[call]] && (call === 0 || !isBelow[caller[call]])) sum += weight[call];
  }
  return `found: ${IS_CUT ? "at least " : ""}${amountText(sum)}, ${shareText(sum, weight[0])} of all`;
}

// The calls of a function in what is zoomed.
function callsOf(number) {
  const some = [];
  const isInside = new Uint8Array(calls);
  isInside[zoomed] = 1;
  for (let call = zoomed; call < calls; call++) {
    isInside[call] |= isInside[caller[call]];
    if (isInside[call] && called[call] === number && weights()[call] > 0) some.push(call);
  }
  return some;
}

function nearestDrawn(call) {
  while (!drawn.has(call)) call = caller[call];
  return call;
}

// The first pick of a function marks its calls, the next fills the width with the deepest call that holds them.
function pick(number) {
  const isAgain = marked === number,
    some = callsOf((marked = number));
  if (isAgain && some.length) return zoom(some.reduce(holderOfBoth));
  draw();
  show(null);
  const { full, file } = functions[number],
    boxes = graph.querySelectorAll(".marked, .holds");
  byId("words").textContent =
    `${full}${file && ` (${file})`}: ${counted(some.length, "call")} marked, or what holds them. Once more zooms to them.`;
  boxes[0]?.scrollIntoView({ block: "nearest" });
}

function holderOfBoth(one, other) {
  while (one !== other) [one, other] = one > other ? [caller[one], other] : [one, caller[other]];
  return one;
}

function show(call) {
  graph.querySelector(".chosen")?.classList.remove("chosen");
  chosen = call;
  byId("words").textContent = call === null ? HINT : inWords(call);
  graph.querySelector(`[data-call="${call}"]`)?.classList.add("chosen");
}

function zoom(call) {
  zoomed = call;
  chosen = call;
  draw();
  show(call);
}

function beside(call, step) {
  if (call === 0) return call;
  const row = calledBySize(caller[call], weights()).filter((one) => drawn.has(one));
  return row[row.indexOf(call) + step] ?? call;
}

const largestCalled = (call) => calledBySize(call, weights()).find((one) => drawn.has(one)) ?? call;

const KEYS = {
  ArrowUp: (call) => (isUpright ? largestCalled(call) : caller[call]),
  ArrowDown: (call) => (isUpright ? caller[call] : largestCalled(call)),
  ArrowLeft: (call) => beside(call, -1),
  ArrowRight: (call) => beside(call, 1),
  Home: () => 0,
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") return zoom(0);
  if (event.key === "Enter" && chosen !== null) return zoom(chosen);
  const move = KEYS[event.key];
  if (!move) return;
  event.preventDefault();
  show(chosen === null ? zoomed : move(chosen));
  graph.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
}

function pointAt({ target }, use) {
  const { call, rest } = target.dataset;
  if (call ?? rest) use(Number(call ?? rest));
}

putOverTime(data.over_time);
document.title = `${data.program} – tarn profile`;
byId("about").replaceChildren(...data.remarks.map((remark) => html("p", {}, remark)));
graph.addEventListener("keydown", onKey);
graph.addEventListener("click", (event) => pointAt(event, zoom));
graph.addEventListener("pointerover", (event) => pointAt(event, show));
byId("rows").addEventListener("keydown", moveInTable);
byId("reset").addEventListener("click", () => {
  byId("search").value = "";
  found = marked = null;
  zoom(0);
});
byId("search").addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  found = wanted === "" ? null : functions.map(({ full, file }) => `${full} ${file}`.toLowerCase().includes(wanted));
  draw();
});
const SWITCHES = {
  measure: (value) => (measure = value),
  unit: (value) => (unit = value),
  shape: (value) => (isUpright = value === "flame"),
  sort: (value) => (sortedBy = value),
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
