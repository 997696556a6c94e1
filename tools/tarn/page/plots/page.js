// Puts the page together from the document, which docs/command.md describes, and lets contenders be hidden.

const page = JSON.parse(document.getElementById("document").textContent);
const looks = looksOf(page.contenders);
const hidden = new Set();
const figures = []; // of {part, figure, drawn}

function header() {
  return html("header", {},
    html("h1", {}, page.title),
    page.sentence && html("p", { class: "sentence" }, page.sentence),
    page.warnings.map((text) => html("p", { class: "warning" }, text)),
    page.failures.map(failure),
    page.about.map((text) => html("p", { class: "about" }, text)),
    page.command && html("p", {}, html("code", {}, page.command)),
    page.reading.map((text) => html("p", { class: "about" }, text)));
}

function failure({ name, what, lines = [] }) {
  return html("div", { class: "failure" }, html("b", {}, name), `: ${what}`,
    lines.length > 0 && html("pre", { tabindex: 0 }, lines.join("\n")));
}

function legend() {
  const groups = new Map();
  for (const look of looks) groups.set(look.group, [...(groups.get(look.group) ?? []), look]);
  return html("nav", { class: "legend", "aria-label": "Show or hide contenders" },
    [...groups].map(([group, members]) => html("div", {},
      groups.size > 1 && toggle(members, { class: "all", title: "show or hide all of them" }, group),
      members.map((look) => toggle([look], { class: look.ours ? "ours" : null, "data-contender": look.index,
        title: look.what }, swatch(look), look.name)))));
}

const swatch = (look) =>
  svg("svg", { viewBox: "0 0 22 10", width: 22, height: 10, "aria-hidden": "true" },
    ofLook(look, svg("path", { class: "line", d: "M0 5H22", "stroke-dasharray": look.dash }),
      marker(look, 11, 5, "key")));

function toggle(members, attributes, ...children) {
  const button = html("button", { type: "button", "aria-pressed": "true", ...attributes }, children);
  button.members = members.map(({ index }) => index);
  button.addEventListener("click", () => {
    const isAnyShown = button.members.some((index) => !hidden.has(index));
    for (const index of button.members) isAnyShown ? hidden.add(index) : hidden.delete(index);
    refresh();
  });
  return button;
}

function section({ title, level, id, notes, parts }) {
  const shown = parts.filter(({ fold }) => !fold), folded = parts.filter(({ fold }) => fold);
  const span = shown.some(isWide) ? "all" : ["one", "one", "two"][shown.length] ?? "all";
  return html("section", { id, class: `level${level} span-${span}` },
    html(`h${level}`, {}, title),
    notes.map((note) => html("p", {}, note)),
    html("div", { class: "parts" }, shown.map((part) => (part.columns ? tablePart : figurePart)(part))),
    folded.map(foldedPart));
}

// Sections of the lower level are behind the list of their titles, beside each other where they have few
// figures.
function sections() {
  const blocks = [];
  let lower;
  for (const one of page.sections) {
    if (one.level === 2) lower = blocks.push(section(one)) && undefined;
    else if (lower) lower.push(one);
    else blocks.push((lower = [one]));
  }
  return blocks.map((block) => (Array.isArray(block) ? lowerSections(block) : block));
}

function lowerSections(all) {
  const details = html("details", { class: "groups" },
    html("summary", {}, `${all.length} in detail: ${all.map(({ title }) => title).join(" · ")}`),
    html("div", { class: "beside" }, all.map(section)));
  details.addEventListener("toggle", refresh);
  return details;
}

// A link leads to what it names, also where that is folded.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const folded = target && target.closest("details:not([open])");
  if (!folded) return;
  folded.open = true;
  refresh();
  target.scrollIntoView();
}

function figurePart(part) {
  const figure = html("figure", { class: isWide(part) ? "wide" : null });
  figures.push({ part, figure });
  return figure;
}

const NARROW = 345; // pixels: what stands beside other parts
const CELL_PADDING = 11;

function tableWidth({ columns, rows }) {
  const texts = [columns, rows.map((row) => row.cells ?? row).find(Array.isArray) ?? []];
  const widthOf = (cell) => textWidth(`${cell.text ?? cell} ${cell.small ?? ""}`) + CELL_PADDING;
  return Math.max(...texts.map((cells) => cells.reduce((sum, cell) => sum + widthOf(cell), 0)));
}

const isWide = (part) => part.kind === "curves" || (part.columns && tableWidth(part) > NARROW);

const tablePart = (part) =>
  html("div", { class: isWide(part) ? "wide" : null }, captionOf(part), table(part));

// Made when it is opened: there may be thousands of cells.
function foldedPart(part) {
  const details = html("details", {}, html("summary", {}, part.fold));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(tablePart(part));
    refresh(); // an open one makes room for itself
  });
  return details;
}

const captionOf = ({ title, note }) =>
  html("div", { class: "caption" }, title && html("h4", {}, title), note && html("p", {}, note));

// A head or a cell is a text or {text, c, mark, tint, small, note, link}; a row is a list of them, {c, cells}
// or {head}.
function table({ title, fold, columns, rows }) {
  const heads = columns.map((head) => (typeof head === "object" ? head : { text: head }));
  const cell = (name, content, of) => {
    const parts = content.text === undefined ? { text: content } : content;
    const { text, mark, tint, small, note, link, c = of } = parts;
    const isOurs = name === "th" && looks[c]?.ours;
    const kinds = [mark && `is-${mark}`, tint !== undefined && "tinted", isOurs && "ours"].filter(Boolean);
    const style = tint === undefined ? null : `--tint:${tint}`;
    return html(name, { class: kinds.join(" ") || null, "data-c": c, title: note, style },
      link ? html("a", { href: `#${link}` }, text) : text, small && html("small", {}, ` ${small}`));
  };
  const row = (content) => {
    const { c, cells, head } = Array.isArray(content) ? { cells: content } : content;
    const span = { colspan: heads.length };
    if (head) return html("tr", { class: "head" }, html("th", span, html("span", {}, head)));
    return html("tr", { "data-c": c }, cells.map((one, i) => cell(i ? "td" : "th", one, i ? heads[i].c : c)));
  };
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title ?? fold ?? "Table" },
    html("table", {}, html("thead", {}, html("tr", {}, heads.map((head) => cell("th", head)))),
      html("tbody", {}, rows.map(row))));
}

const axisText = ({ title, log }) => `${title}${log ? ", logarithmic scale" : ""}`;

function draw(entry, shown, width) {
  const { part, figure } = entry;
  const drawn = FIGURES[part.kind](part, shown, width);
  const reading = html("p", { class: "reading", role: "status" });
  drawn?.addEventListener("pointermove", ({ clientX }) => {
    const box = drawn.getBoundingClientRect();
    if (drawn.readingAt) reading.textContent = drawn.readingAt(((clientX - box.left) / box.width) * width);
  });
  figure.replaceChildren(
    html("h4", {}, part.title),
    html("p", { class: "axis" }, axisText(part.axis ?? part.y)),
    drawn ?? html("p", {}, "All contenders of this figure are hidden."),
    drawn?.readingAt ? reading : "",
    part.note ? html("figcaption", {}, part.note) : "",
  );
  return drawn ? 1 : 0;
}

// Widths first, so that the page is laid out once and not once for each figure.
function refresh() {
  for (const button of document.querySelectorAll(".legend button"))
    button.setAttribute("aria-pressed", button.members.some((index) => !hidden.has(index)));
  hiddenRule.textContent = [...hidden].map((index) => `table [data-c="${index}"] { display:none }`).join("");
  const shown = looks.map((look) => (hidden.has(look.index) ? undefined : look));
  const widths = figures.map(({ figure }) => Math.max(280, Math.floor(figure.clientWidth)));
  const counts = figures.map((entry, i) => draw(entry, shown, widths[i]));
  document.documentElement.dataset.drawn = counts.reduce((sum, count) => sum + count, 0);
}

const hiddenRule = html("style");
document.head.append(hiddenRule);
document.title = page.title;
document.getElementById("page").append(header(), looks.length > 1 ? legend() : "", ...sections());
let width = innerWidth;
addEventListener("resize", () => {
  if (width !== innerWidth) refresh();
  width = innerWidth;
});
addEventListener("hashchange", openTarget);
refresh();
openTarget();
