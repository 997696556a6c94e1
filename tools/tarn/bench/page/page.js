// Puts the page together from the results and lets contenders be hidden. A test waits for data-drawn, set at the end.

const results = JSON.parse(document.getElementById("results").textContent);
const looks = looksOf(results.contenders);
const hidden = new Set();
const figures = [];
const shownLooks = () => looks.filter(({ index }) => !hidden.has(index));

function machineLine({ cpu, cores, memory_bytes, kernel, glibc, transparent_huge_pages, governor, load_at_start }) {
  return [
    cpu,
    plural(cores, "core"),
    memory_bytes && `${UNITS.bytes.text(memory_bytes)} of memory`,
    kernel,
    glibc && `glibc ${glibc}`,
    transparent_huge_pages && `transparent huge pages: ${transparent_huge_pages}`,
    governor && governor !== "unknown" && `governor ${governor}`,
    load_at_start !== undefined && `load at start ${load_at_start.toFixed(2)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function runLine({ rounds, scale, quick, pinned, date, tarn }) {
  return [
    `${plural(rounds, "round")}${rounds > 1 ? ", interleaved" : ""}`,
    scale !== 1 && `scale ${scale}`,
    quick && "quick run",
    pinned && "pinned to cores",
    date.replace("T", " ").replace(/Z$/, " UTC"),
    `tarn ${tarn}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function header() {
  return html(
    "header",
    {},
    html("h1", {}, "Memory allocators compared"),
    html("p", {}, `${machineLine(results.machine)}. ${runLine(results)}. `, html("code", {}, results.command)),
    results.interrupted &&
      html(
        "p",
        { class: "warning" },
        "The run was interrupted: rows it did not reach are missing, and others have fewer rounds.",
      ),
    results.quick && html("p", { class: "warning" }, "A quick run: fewer rows and rounds, for a first look only."),
    failures(),
  );
}

function failures() {
  if (!results.failures.length) return null;
  return html(
    "section",
    { class: "failures" },
    html("h2", {}, plural(results.failures.length, "failure")),
    html(
      "ul",
      {},
      results.failures.map(({ contender, group, what, when, lines }) =>
        html(
          "li",
          {},
          html("b", {}, contender),
          ` ${group ? `in ${group}` : "everywhere"}: ${what} (${when}).`,
          lines.length ? html("pre", { tabindex: 0 }, lines.join("\n")) : null,
        ),
      ),
    ),
  );
}

const LEGEND = [
  ["malloc", ({ kind }) => kind === "system" || kind === "general"],
  ["tarn", ({ isOurs }) => isOurs],
  ["pools, not tarn's", ({ kind }) => kind === "pool"],
];

function legend() {
  return html(
    "nav",
    { class: "legend", "aria-label": "Show or hide contenders" },
    LEGEND.map(([title, belongs]) => {
      const members = looks.filter(belongs);
      return members.length ? html("div", {}, groupButton(title, members), members.map(legendButton)) : null;
    }),
  );
}

function groupButton(title, members) {
  const button = html("button", { type: "button", class: "all", title: "show or hide all of them" }, title);
  button.members = members;
  button.addEventListener("click", () => {
    const isAnyShown = members.some(({ index }) => !hidden.has(index));
    for (const { index } of members) isAnyShown ? hidden.add(index) : hidden.delete(index);
    refresh();
  });
  return button;
}

function legendButton(look) {
  const swatch = svg(
    "svg",
    { viewBox: "0 0 22 10", width: 22, height: 10, "aria-hidden": "true" },
    contenderGroup(
      look,
      svg("path", { class: "line", d: "M0 5H22", "stroke-dasharray": look.dash || null }),
      svg("path", { class: "key", d: MARKER_PATHS[look.marker](3), transform: "translate(11 5)" }),
    ),
  );
  const button = html(
    "button",
    { type: "button", "data-contender": look.index, title: look.what, class: look.isOurs ? "ours" : null },
    swatch,
    look.name,
  );
  button.members = [look];
  button.addEventListener("click", () => {
    if (!hidden.delete(look.index)) hidden.add(look.index);
    refresh();
  });
  return button;
}

function overview(sources) {
  const means = meansByGroup(sources);
  const pools = poolsTable(sources, looks, means);
  return html(
    "section",
    { id: "overview" },
    html("h2", {}, "Overview"),
    html(
      "p",
      {},
      "Each figure is the geometric mean, over a group's rows, of the contender's median divided by the smallest ",
      "median of the row. 1.00 is best in every row; less is better. ",
      html("b", { class: "best" }, "Marked"),
      ": best of the group",
      pools ? ", pools included; where a line has no mark, a pool was best." : ".",
      " †: ran in less than nine tenths of the group's rows, and is not marked.",
    ),
    overviewTable(sources, looks, means),
    pools && html("h3", {}, "Where pools ran"),
    pools,
  );
}

function chartFigure(chart, group) {
  const figure = html("figure", { class: "chart", "data-group": group });
  figures.push({ figure, chart });
  return figure;
}

function drawFigure({ figure, chart }) {
  const shown = shownLooks();
  const drawn = chart.draw(shown);
  figure.replaceChildren(
    html("h4", {}, chart.title),
    drawn ?? html("p", {}, "All contenders of this chart are hidden."),
    html("figcaption", {}, drawn ? chart.caption(shown) : ""),
  );
  return drawn ? 1 : 0;
}

function sourceSection(source) {
  return html(
    "section",
    { id: `source-${source.id}`, class: "source" },
    html("h2", {}, sourceTitle(source)),
    source.claim && html("p", { class: "claim" }, isOwnSource(source) ? source.claim : `Published: ${source.claim}`),
    source.measured && html("p", { class: "claim" }, `Measured, as means over the rows: ${source.measured}`),
    html(
      "div",
      { class: "plots full" },
      sourceCharts(source).map((chart) => chartFigure(chart, "")),
    ),
    html("div", { class: "groups" }, source.groups.map(groupSection)),
  );
}

function sourceCharts(source) {
  const rows = timedRowsOf(source);
  const means = meansOf(timeRatios(rows));
  if (!means.length) return [];
  const memory = new Map(meansOf(memoryRatios(rows)).map(({ c, mean }) => [c, mean]));
  const entries = means.map((entry) => ({
    c: entry.c,
    y: entry.mean,
    time: entry.mean,
    memory: memory.get(entry.c),
    isPart: entry.isPart,
    tip: tipOfMeans(looks[entry.c], entry, memory.get(entry.c), rows.length),
  }));
  const shownOf = (shown) =>
    shown.flatMap((look) => entries.filter(({ c }) => c === look.index).map((entry) => ({ ...entry, look })));
  const charts = [
    {
      title: "Time against the best",
      caption: () =>
        `Geometric mean over ${plural(rows.length, "row")} of time / best time of the row, logarithmic scale. ` +
        "Less is better.",
      draw: (shown) =>
        shownOf(shown).length ? ratioChart({ entries: shownOf(shown), label: `${source.title}: time` }) : null,
    },
  ];
  if (memory.size)
    charts.push({
      title: "Memory against time",
      caption: () =>
        "Up: peak resident memory / that of the leanest of the row, geometric mean. To the right: time / best time. " +
        "The lower left corner is best." +
        (entries.some(({ isPart }) => isPart) ? " Hollow: ran in only some of the rows." : ""),
      draw: (shown) => {
        const known = shownOf(shown).filter((entry) => entry.memory > 0);
        return known.length ? scatterChart({ entries: known, label: `${source.title}: memory against time` }) : null;
      },
    });
  return charts;
}

function tipOfMeans(look, { mean, rows }, memory, all) {
  const space = memory ? `, ${ratioText(memory)}× the leanest's memory` : "";
  return `${look.name}: ${ratioText(mean)}× the best time${space}${rows < all ? `; in ${rows} of ${all} rows` : ""}`;
}

function groupSection(group) {
  const tables = html(
    "details",
    { class: "rows" },
    html("summary", {}, `Figures of ${group.rows.length === 1 ? "the row" : `all ${group.rows.length} rows`}`),
  );
  tables.addEventListener("toggle", () => {
    if (tables.open && tables.childElementCount === 1) tables.append(...rowTables(group, looks).flat());
  });
  const charts = chartsOf(group);
  const subject = group.unit === "ns" ? "One operation is" : "Each figure is";
  const width = ["narrow", "narrow", "wide"][charts.length] ?? "full";
  return html(
    "section",
    { class: `group ${width}`, id: `group-${group.name}` },
    html("h3", {}, group.title),
    html(
      "p",
      {},
      `${subject} ${group.operation.replace(/\.$/, "")}. Less is better.`,
    ),
    html(
      "div",
      { class: "plots" },
      charts.map((chart) => chartFigure(chart, group.name)),
    ),
    tables,
  );
}

function about() {
  return html(
    "section",
    { id: "contenders" },
    html("h2", {}, "Contenders"),
    contendersTable(looks),
    html(
      "p",
      {},
      "Every figure is a median over rounds; thin lines through marks span the quartiles. The contenders took turns ",
      "within a round. Only comparisons within this page mean anything: another machine gives other figures.",
    ),
  );
}

function refresh() {
  for (const button of document.querySelectorAll(".legend button")) {
    button.setAttribute(
      "aria-pressed",
      button.members.some(({ index }) => !hidden.has(index)),
    );
  }
  hiddenRule.textContent = [...hidden]
    .map((index) => `td[data-c="${index}"],th[data-c="${index}"],tr[data-c="${index}"]{display:none}`)
    .join("");
  return figures.map(drawFigure).reduce((sum, drawn) => sum + drawn, 0);
}

function listenForTips() {
  const tip = html("div", { id: "tip", role: "status", hidden: "" });
  document.body.append(tip);
  const show = (event) => {
    const text = event.target.closest?.("[data-tip]")?.getAttribute("data-tip");
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const { width, height } = tip.getBoundingClientRect();
    const room = document.documentElement.clientWidth - width - 4;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 10, room))}px`;
    tip.style.top = `${event.clientY > height + 20 ? event.clientY - height - 12 : event.clientY + 16}px`;
  };
  document.addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(event));
  document.addEventListener("click", show);
  document.addEventListener(
    "scroll",
    () => {
      tip.hidden = true;
    },
    { passive: true },
  );
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
  });
}

const withRows = (source) => ({
  ...source,
  groups: source.groups.filter(({ rows }) => rows.some((row) => row.results.length)),
});
const sources = results.sources.map(withRows).filter(({ groups }) => groups.length);
const hiddenRule = html("style");
document.head.append(hiddenRule);
document
  .getElementById("page")
  .append(
    ...[
      header(),
      sources.length ? null : html("p", { class: "warning" }, "There are no results."),
      sources.length ? legend() : null,
      sources.length ? overview(sources) : null,
      ...sources.map(sourceSection),
      about(),
    ].filter(Boolean),
  );
document.title = `tarn bench, ${results.date.slice(0, 10)}`;
listenForTips();
document.documentElement.dataset.drawn = refresh();
