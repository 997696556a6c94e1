// Puts the page together; scrolling, pointer, keyboard and filters. A test waits for data-drawn, set at the end of each
// drawing.

const scroller = byId("scroller"),
  sheet = byId("sheet"),
  canvas = byId("canvas");
let filter = { ...EVERYTHING },
  found = matching(filter),
  layout = null,
  sprites = null,
  size = 0,
  chosen = -1,
  isPinned = false,
  isQueued = false;

const HINT = data.is_residency_known
  ? "Point at a cell, tap it, or move with the arrow keys: it is explained here."
  : "Point at a cell, tap it, or move with the arrow keys: it is explained here. What is resident is not known.";

function header() {
  const ofClasses = data.groups.filter(({ kind }) => kind === "class").map(({ colour }) => colour);
  const isShared = new Set(ofClasses).size < ofClasses.length;
  document.title = `${data.program} – tarn map`;
  byId("title").textContent = `Memory of ${data.program}${data.pid ? ` (${data.pid})` : ""}`;
  byId("about").textContent = [
    new Date(data.time * 1000).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC"),
    data.library && `tarn ${data.library}`,
    data.is_exact ? "exact: nothing changed while it was read" : "read while the program ran: some cells may be a moment apart",
    !data.is_residency_known && "what is resident is not known (a core file)",
  ]
    .filter(Boolean)
    .join(", ");
  byId("totals").replaceChildren(...totalsList());
  byId("scale").textContent =
    `A cell is a page of ${bytesText(pageBytes)}, a strip a chunk of ${bytesText(data.chunk_bytes)}, in the order of addresses.` +
    (chunks.list.length ? "" : " There is none.") +
    (isShared ? " Sizes that are near share a colour: from blue, the smallest, over green to red." : "") +
    (chunks.leftOut ? ` Chunks that were given back whole are left out: ${bytesText(chunks.leftOut * pageBytes)}.` : "");
}

const fillLists = () => {
  byId("controls").replaceChildren(...controlsList(filter, choose, zoom));
  byId("legend").replaceChildren(...legendList(filter, choose));
  byId("pins").replaceChildren(...pinLists(filter, choose));
  byId("matching").textContent = found.words;
};

// The same control has the focus after the lists were made anew.
function withFocusKept(change) {
  const { activeElement } = document;
  const mark = ["id", "data-colour", "data-pin"].find((name) => activeElement?.getAttribute?.(name));
  const selector = mark && `[${mark}="${activeElement.getAttribute(mark)}"]`;
  change();
  if (selector && document.activeElement !== activeElement) document.querySelector(selector)?.focus();
}

function choose(change) {
  filter = { ...filter, ...change };
  found = matching(filter);
  withFocusKept(fillLists);
  scrollToMatch();
  draw();
}

function scrollToMatch() {
  if (found.count === 0 || found.count === cells.count) return;
  const place = placeOf(layout, found.matches.indexOf(1));
  if (place) scroller.scrollTop = Math.max(0, place.y - 30);
}

function zoom(step) {
  const at = SIZES.findIndex((one) => one >= size);
  size = SIZES[Math.max(0, Math.min(SIZES.length - 1, at + step))];
  arrange();
}

function arrange() {
  const width = scroller.clientWidth;
  if (!size) size = bestSize(width, 0.62 * window.innerHeight);
  layout = layOut(width, size);
  sheet.style.height = `${layout.height}px`;
  byId("labels").replaceChildren(
    ...layout.rows.filter(({ label }) => label).map(({ y, label }) => html("div", { style: `top:${y}px` }, label)),
  );
  makeLooks();
  showCursor();
  draw();
}

function makeLooks() {
  sprites = makeSprites(Math.max(1, Math.round(layout.cell * window.devicePixelRatio)));
}

function draw() {
  if (isQueued) return;
  isQueued = true;
  requestAnimationFrame(() => {
    isQueued = false;
    const began = performance.now();
    const height = Math.min(scroller.clientHeight, layout.height);
    canvas.style.width = `${layout.width}px`;
    canvas.style.height = `${height}px`;
    if (Math.min(layout.width, height) > 0)
      paint(canvas, layout, sprites, scroller.scrollTop, height, window.devicePixelRatio, found.matches);
    document.documentElement.dataset.paintMs = (performance.now() - began).toFixed(1);
    document.documentElement.dataset.drawn = cells.count;
  });
}

function showCursor() {
  const cursor = byId("cursor"),
    place = chosen < 0 ? null : placeOf(layout, chosen);
  cursor.hidden = !place;
  if (!place) return;
  const side = layout.cell + 3;
  Object.assign(cursor.style, {
    left: `${place.x - 2}px`,
    top: `${place.y - 2}px`,
    width: `${side}px`,
    height: `${side}px`,
  });
}

function show(cell) {
  chosen = cell;
  const words = cell < 0 ? HINT : cellInWords(cell);
  if (byId("words").textContent !== words) byId("words").textContent = words;
  showCursor();
}

function cellUnder(event) {
  const box = sheet.getBoundingClientRect();
  return cellAt(layout, event.clientX - box.left, event.clientY - box.top);
}

// From a cell to another one; cells that are not drawn are stepped over.
function neighbour(cell, step) {
  let at = cell + step;
  while (at >= 0 && at < cells.count && chunkOfCell[at] < 0) at += step;
  return at >= 0 && at < cells.count ? at : cell;
}

function above(cell, rows) {
  const place = placeOf(layout, cell);
  for (let row = layout.rowOfChunk[chunkOfCell[cell]] + rows; layout.rows[row]; row += Math.sign(rows)) {
    const found = layout.rows[row].label ? -1 : cellAt(layout, place.x, layout.rows[row].y);
    if (found >= 0) return found;
  }
  return cell;
}

const firstDrawn = () => neighbour(-1, 1);
const KEYS = {
  ArrowRight: (cell) => neighbour(cell, 1),
  ArrowLeft: (cell) => neighbour(cell, -1),
  ArrowDown: (cell) => above(cell, 1),
  ArrowUp: (cell) => above(cell, -1),
  PageDown: (cell) => above(cell, 10),
  PageUp: (cell) => above(cell, -10),
  Home: firstDrawn,
  End: () => neighbour(cells.count, -1),
};

function onKey(event) {
  if (event.key === "Escape") return show(-1);
  const move = KEYS[event.key];
  if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  isPinned = true;
  show(chosen < 0 && event.key !== "End" ? firstDrawn() : move(chosen));
  if (chosen < 0) return;
  const place = placeOf(layout, chosen);
  if (place.y < scroller.scrollTop) scroller.scrollTop = place.y - LABEL_HEIGHT;
  const below = place.y + layout.cell + 4 - scroller.clientHeight;
  if (below > scroller.scrollTop) scroller.scrollTop = below;
}

function onPointer(event) {
  if (event.pointerType !== "mouse" || isPinned) return;
  const cell = cellUnder(event);
  if (cell >= 0) show(cell);
}

// A chosen cell stays until another is chosen, or until it is chosen again.
function onClick(event) {
  const cell = cellUnder(event);
  if (cell < 0) return;
  isPinned = !(isPinned && cell === chosen);
  show(cell);
}

header();
fillLists();
show(-1);
arrange();
scroller.addEventListener("scroll", draw);
scroller.addEventListener("keydown", onKey);
scroller.addEventListener("pointermove", onPointer);
scroller.addEventListener("click", onClick);
let lastWidth = scroller.clientWidth;
new ResizeObserver(() => {
  if (scroller.clientWidth === lastWidth) return draw();
  lastWidth = scroller.clientWidth;
  size = 0;
  arrange();
}).observe(scroller);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  makeLooks();
  fillLists();
  draw();
});
