// Totals, legend, filters and the lists of who pins what. They share one filter, which `choose` changes.

const EVERYTHING = { colour: -1, class: -1, pool: -1, owner: -1, state: "all" };
const STATE_NAMES = {
  all: "everything",
  idle: "mostly free but resident",
  used: "at least half live",
  back: "given back",
};

function totalsList() {
  const { totals } = data;
  const entries = [
    ["live", totals.live_bytes],
    ["free but resident", totals.idle_bytes],
    ["kept as free pages", totals.free_dirty_bytes],
    ["pages that are resident", totals.resident_bytes],
    ["given back", totals.free_clean_bytes],
  ];
  if (totals.rss_bytes !== null) entries.push(["RSS of the process", totals.rss_bytes]);
  return entries.map(([name, bytes]) => html("div", {}, html("b", {}, bytesText(bytes)), html("span", {}, name)));
}

function swatch(colour, level, state) {
  const size = 28,
    canvas = html("canvas", { width: size, height: size, "aria-hidden": "true" });
  drawLook(canvas.getContext("2d"), 0, 0, size, cssColour(colourVariable(colour)), level, state);
  return canvas;
}

function legendList(filter, choose) {
  const items = data.colours.map(({ name, hue, bytes, live_bytes }, colour) =>
    html(
      "button",
      {
        type: "button",
        "data-colour": colour,
        "aria-pressed": String(filter.colour === colour),
        onclick: () => choose({ colour: filter.colour === colour ? -1 : colour }),
      },
      swatch(hue, LEVELS - 1, SOLID),
      `${name} · ${bytesText(bytes)}, ${percentText(live_bytes, bytes)} live`,
    ),
  );
  const signs = [
    [FREE_COLOUR, 0, HATCHED, "free pages, kept"],
    [0, LEVELS - 1, SOLID, "full"],
    [0, 2, SOLID, "partly live"],
    [0, 0, HATCHED, "mostly free but resident"],
    [0, 0, HOLLOW, "given back"],
  ];
  return [...items, ...signs.map(([c, level, state, text]) => html("span", { class: "sign" }, swatch(c, level, state), text))];
}

function selectOf(label, key, options, filter, choose) {
  const select = html("select", {
    id: `by-${key}`,
    onchange: (event) => choose({ [key]: key === "state" ? event.target.value : Number(event.target.value) }),
  });
  for (const [value, text] of options) {
    const option = html("option", { value }, text);
    option.selected = String(value) === String(filter[key]);
    select.append(option);
  }
  return html("label", {}, label, select);
}

const groupsOfKind = (wanted) => data.groups.filter(({ kind }) => kind === wanted).map(({ index, name, block_bytes }) => [index, name, block_bytes]);

function controlsList(filter, choose, zoom) {
  const owners = [...new Set(data.kinds.map(({ owner }) => owner))].filter((owner) => owner !== null).sort((a, b) => a - b);
  const lists = [["Show", "state", Object.entries(STATE_NAMES)]];
  if (groupsOfKind("class").length)
    lists.push(["Size class", "class", [[-1, "all"], ...groupsOfKind("class").sort(([, , a], [, , b]) => a - b)]]);
  if (groupsOfKind("pool").length) lists.push(["Pool", "pool", [[-1, "all"], ...groupsOfKind("pool")]]);
  if (owners.length) lists.push(["Owner", "owner", [[-1, "all"], ...owners.map((owner) => [owner, data.owners[owner]])]]);
  return [
    ...lists.map(([label, key, options]) => selectOf(label, key, options, filter, choose)),
    html("button", { type: "button", id: "reset", onclick: () => choose({ ...EVERYTHING }) }, "Show all"),
    html("button", { type: "button", id: "smaller", "aria-label": "Smaller cells", onclick: () => zoom(-1) }, "−"),
    html("button", { type: "button", id: "larger", "aria-label": "Larger cells", onclick: () => zoom(1) }, "+"),
  ];
}

const matchesPart = (kind, filter) => {
  const group = data.groups[kind.group];
  if (filter.colour >= 0 && group.colour !== filter.colour) return false;
  if (filter.class >= 0 && !(group.kind === "class" && group.index === filter.class)) return false;
  if (filter.pool >= 0 && kind.pool !== filter.pool) return false;
  return filter.owner < 0 || kind.owner === filter.owner;
};

function matchesState(cell, state) {
  if (state === "all") return true;
  if (state === "back") return isGivenBack(cell);
  return state === "idle" ? isMostlyIdle(cell) : cells.fill[cell] >= 128 && !isGivenBack(cell);
}

// 1 for each cell that the filter lets through; its sums in words.
function matching(filter) {
  const isMatch = data.kinds.map((kind) => matchesPart(kind, filter));
  const matches = new Uint8Array(cells.count);
  let count = 0,
    live = 0,
    idle = 0,
    bytes = 0;
  for (let cell = 0; cell < cells.count; cell++) {
    let fits = false;
    for (let i = 0; i < cells.partCount[cell] && !fits; i++) fits = isMatch[parts.kind[cells.part[cell] + i]];
    if (!fits || !matchesState(cell, filter.state)) continue;
    matches[cell] = 1;
    count++;
    live += cells.live[cell];
    idle += cells.idle[cell];
    bytes += cells.bytes[cell];
  }
  const words =
    `${countText(count)} of ${counted(cells.count, "cell")}: ${bytesText(bytes)}, ` +
    `${bytesText(live)} live, ${bytesText(idle)} free but resident`;
  return { matches, count, words };
}

const PIN_LISTS = [
  ["classes", "class", "Size classes"],
  ["pools", "pool", "Pools"],
  ["owners", "owner", "Owners"],
];

function pinTable(list, key, title, filter, choose) {
  const MOST = 12;
  const most = Math.max(...list.map(({ pinned_bytes }) => pinned_bytes));
  const rows = list.slice(0, MOST).map((one) => {
    const isChosen = filter[key] === one.index;
    return html(
      "tr",
      {},
      html(
        "th",
        { scope: "row" },
        html(
          "button",
          {
            type: "button",
            "data-pin": `${key}-${one.index}`,
            "aria-pressed": String(isChosen),
            onclick: () => choose({ ...EVERYTHING, [key]: isChosen ? -1 : one.index }),
          },
          one.name,
        ),
      ),
      html("td", {}, bytesText(one.pinned_bytes)),
      html("td", { class: "bar" }, html("i", { style: `width:${(80 * one.pinned_bytes) / most}px` })),
      html("td", {}, countText(one.survivors)),
      html("td", {}, one.blocks ? countText(one.blocks) : "–"),
      html("td", {}, bytesText(one.survivor_bytes)),
      html("td", {}, countText(one.spans)),
    );
  });
  const heads = ["", "pinned", "", "survivors", "of blocks", "their bytes", "spans"];
  const head = heads.map((text) => html("th", { scope: "col", class: null }, text));
  const table = html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
  head[2].classList.add("bar");
  const scroll = html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table);
  return html("div", {}, html("h3", {}, title), scroll);
}

function pinLists(filter, choose) {
  const lists = PIN_LISTS.filter(([member]) => data.pinners[member].length).map(([member, key, title]) =>
    pinTable(data.pinners[member], key, title, filter, choose),
  );
  return lists.length ? lists : [html("p", { class: "none" }, "Nothing is pinned: no partly used span keeps free memory.")];
}
