// The overview of all groups, and every row of a group in figures. Cells carry data-c, the contender to hide them by.

// Whoever runs in few groups: a column of its own would be all but empty.
const isPool = ({ kind }) => ["pool", "tarn-pool", "tarn-preset"].includes(kind);

// Ours first: on a phone the columns further right are out of sight.
const oursFirst = (looks) => [...looks].sort((a, b) => b.isOurs - a.isOurs);

const LONGEST_HEAD = 24; // letters; a longer name would take the width of three columns
const headName = ({ name }) => (name.length > LONGEST_HEAD ? `${name.slice(0, LONGEST_HEAD - 1)}…` : name);
const aboutName = ({ name, what }) => (what ? `${name}: ${what}` : name);

const columnHead = (look) =>
  html(
    "th",
    { scope: "col", "data-c": look.index, class: look.isOurs ? "ours" : null, title: aboutName(look) },
    headName(look),
  );

function scrollingTable(caption, ...rows) {
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, html("table", {}, rows));
}

function meansByGroup(sources) {
  return new Map(
    sources
      .flatMap(({ groups }) => groups)
      .map((group) => [group, new Map(meansOf(timeRatios(group.rows)).map((entry) => [entry.c, entry]))]),
  );
}

function meanCell(group, look, means) {
  const entry = means.get(group).get(look.index);
  const attributes = { "data-c": look.index, "data-group": group.name };
  if (!entry) return html("td", { ...attributes, class: "none" }, "–");
  const title = entry.rows < group.rows.length ? `ran in ${entry.rows} of ${plural(group.rows.length, "row")}` : null;
  return html(
    "td",
    { ...attributes, class: entry.isBest ? "best" : null, title },
    ratioText(entry.mean),
    entry.isPart ? "†" : "",
  );
}

const groupLink = (group) => html("a", { href: `#group-${group.name}` }, group.title);

// One line per group, one column per contender that takes the place of malloc.
function overviewTable(sources, looks, means) {
  const columns = oursFirst(looks.filter((look) => !isPool(look)));
  const isShown = (group) => columns.some((look) => means.get(group).has(look.index));
  const head = html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "group"), columns.map(columnHead)));
  const bodies = sources.map((source) =>
    html(
      "tbody",
      {},
      html(
        "tr",
        { class: "source" },
        html("th", { scope: "rowgroup", colspan: columns.length + 1 }, html("span", {}, sourceTitle(source))),
      ),
      source.groups.filter(isShown).map((group) =>
        html(
          "tr",
          {},
          html("th", { scope: "row" }, groupLink(group)),
          columns.map((look) => meanCell(group, look, means)),
        ),
      ),
    ),
  );
  return scrollingTable("Overview: time against the best of each row", head, bodies);
}

// One line per contender, since there are many, and one column per group in which a pool ran.
function poolsTable(sources, looks, means) {
  const pools = looks.filter(isPool);
  const groups = sources
    .flatMap((source) => source.groups.map((group) => ({ source, group })))
    .filter(({ group }) => pools.some(({ index }) => means.get(group).has(index)));
  if (!groups.length) return null;
  const lines = looks.filter(({ index }) => groups.some(({ group }) => means.get(group).has(index)));
  const head = html(
    "thead",
    {},
    html(
      "tr",
      {},
      html("th", { scope: "col" }, "contender"),
      groups.map(({ source, group }) =>
        html("th", { scope: "col", class: "wide" }, isOwnSource(source) ? "" : `${source.id}: `, groupLink(group)),
      ),
    ),
  );
  const body = html(
    "tbody",
    {},
    lines.map((look) =>
      html(
        "tr",
        { "data-c": look.index },
        html("th", { scope: "row", class: look.isOurs ? "ours" : null, title: aboutName(look) }, headName(look)),
        groups.map(({ group }) => meanCell(group, look, means)),
      ),
    ),
  );
  return scrollingTable("Overview: pools", head, body);
}

// What no document published: its number would say nothing.
const isOwnSource = ({ id }) => id.startsWith("ours");
const sourceTitle = (source) => (isOwnSource(source) ? source.title : `${source.id}: ${source.title}`);

function rowTables(group, looks) {
  const columns = oursFirst(looks).filter(({ index }) =>
    group.rows.some(({ results }) => results.some(({ c }) => c === index)),
  );
  const tableOf = (caption, cellOf) => [
    html("p", {}, caption),
    scrollingTable(
      caption,
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "row"), columns.map(columnHead))),
      html(
        "tbody",
        {},
        group.rows.map((row) =>
          html(
            "tr",
            {},
            html("th", { scope: "row" }, row.name + (row.cold ? " (cold)" : "")),
            columns.map((look) => {
              const result = row.results.find(({ c }) => c === look.index);
              return result ? cellOf(result, look) : html("td", { "data-c": look.index, class: "none" }, "–");
            }),
          ),
        ),
      ),
    ),
  ];
  return [
    tableOf(
      `Median (${unitOf(group.unit).per}); ± half the distance between the quartiles in % of it; * best, ` +
        "= equal to the best within noise.",
      (result, look) => medianCell(result, look, group.unit),
    ),
    tableOf("Resident memory in MiB: peak / after the row.", (result, look) =>
      html("td", { "data-c": look.index }, `${mebibytes(result.peak)} / ${mebibytes(result.after)}`),
    ),
  ];
}

function medianCell(result, look, unitName) {
  const figure = unitName === "bytes" ? UNITS.bytes.text(result.median) : threeDigits(result.median);
  const spread = result.high > result.low ? ` ±${spreadPercent(result).toFixed(0)} %` : "";
  const details = Object.entries(result.details ?? {}).map(([name, value]) =>
    name.endsWith("_ns")
      ? `${name.slice(0, -3).replaceAll("_", " ")} ${UNITS.ns.text(value)}`
      : `${name} ${threeDigits(value)}`,
  );
  return html(
    "td",
    { "data-c": look.index, class: result.best ? "best" : null, title: details.join(", ") || null },
    `${figure}${result.best ? "*" : result.equal ? "=" : ""}`,
    html("small", {}, spread),
  );
}

function contendersTable(looks) {
  const line = (look) =>
    html(
      "tr",
      { class: look.isOurs ? "ours" : null },
      html("th", { scope: "row" }, look.name),
      [look.what, look.package || "–"].map((text) => html("td", { class: "words" }, text)),
    );
  return scrollingTable(
    "Contenders",
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        ["name", "what it is", "package"].map((text) => html("th", { scope: "col", class: "words" }, text)),
      ),
    ),
    html("tbody", {}, looks.map(line)),
  );
}
