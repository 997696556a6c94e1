// The data that the page carries, as arrays by cell and by part, and cells in words.

const data = JSON.parse(byId("data").textContent);
const OS_PAGE = 4096;
const pageBytes = data.page_bytes;

// A negative number -n repeats the one before it n times.
function unpacked(column) {
  const values = [];
  for (const value of column) {
    if (value >= 0) values.push(value);
    else for (let i = 0, last = values[values.length - 1]; i < -value; i++) values.push(last);
  }
  return values;
}

const parts = (() => {
  const gap = unpacked(data.parts.gap),
    grains = unpacked(data.parts.grains),
    start = new Float64Array(gap.length);
  let at = 0;
  for (let i = 0; i < gap.length; i++) {
    at += gap[i];
    start[i] = at * OS_PAGE;
    at += grains[i];
  }
  return {
    count: gap.length,
    start,
    bytes: Float64Array.from(grains, (count) => count * OS_PAGE),
    kind: unpacked(data.parts.kind),
    live: unpacked(data.parts.live),
    cached: unpacked(data.parts.cached),
    oddBytes: new Map(data.parts.bytes),
  };
})();

// The same walk as that of the tool: a part begins a new cell unless its page has one already.
const cells = (() => {
  const live = Uint32Array.from(unpacked(data.cells.live));
  const count = live.length,
    page = new Float64Array(count),
    part = new Uint32Array(count),
    partCount = new Uint16Array(count),
    bytes = new Uint32Array(count);
  let last = -1;
  for (let i = 0; i < parts.count; i++) {
    const end = parts.start[i] + parts.bytes[i];
    for (let at = parts.start[i]; at < end; ) {
      const number = Math.floor(at / pageBytes);
      if (last < 0 || page[last] !== number) {
        if (last + 1 >= count) break;
        page[++last] = number;
        part[last] = i;
      }
      const next = Math.min(end, (number + 1) * pageBytes);
      partCount[last]++;
      bytes[last] += next - at;
      at = next;
    }
  }
  const resident = Uint16Array.from(unpacked(data.cells.resident)),
    idle = Uint32Array.from(unpacked(data.cells.idle)),
    fill = Uint8Array.from(live, (here, cell) => (255 * here) / bytes[cell]);
  return { count, live, fill, page, part, partCount, bytes, resident, idle };
})();

const kindOf = (part) => data.kinds[parts.kind[part]];
const groupOf = (cell) => kindOf(cells.part[cell]).group;
const isFreeKind = (kind) => data.groups[kind.group].kind === "free";
const isGivenBack = (cell) => cells.resident[cell] === 0;
const isMostlyIdle = (cell) => !isGivenBack(cell) && 2 * cells.idle[cell] >= cells.resident[cell] * OS_PAGE;

function blocksInWords(part, kind) {
  const live = parts.live[part],
    bytes = parts.oddBytes.get(part);
  if (kind.mixed)
    return `${counted(live, "block")} live of many sizes (fill ${percentText(bytes, parts.bytes[part])})`;
  if (kind.count === 1) return `one block of ${bytesText(bytes)}, ${live ? "live" : "free"}`;
  const cached = parts.cached[part];
  return (
    `${countText(kind.block)} B × ${countText(kind.count)}, live ${countText(live)} ` +
    `(fill ${percentText(live, kind.count)})` +
    (cached ? `, ${countText(cached)} cached` : "") +
    (kind.pool === null ? "" : `, ${data.pools[kind.pool]}`)
  );
}

const residencyInWords = (cell) =>
  data.is_residency_known ? `, resident ${cells.resident[cell]} of ${Math.ceil(cells.bytes[cell] / OS_PAGE)} OS pages` : "";

function isPartlyUsed(part, kind) {
  const live = parts.live[part];
  return live > 0 && (kind.mixed || live + parts.cached[part] < kind.count);
}

function consequence(part, kind, idle) {
  if (!parts.live[part]) return `: keeps ${bytesText(idle)}`;
  return isPartlyUsed(part, kind) ? `: pins ${bytesText(idle)}` : "";
}

function partInWords(part, cell) {
  const kind = kindOf(part),
    address = `0x${parts.start[part].toString(16)}`;
  if (isFreeKind(kind))
    return (
      `free pages ${address}, ${bytesText(parts.bytes[part])}, ` +
      `${kind.use === "kept" ? "kept for reuse" : "given back"}${residencyInWords(cell)}`
    );
  const idle = cells.idle[cell];
  return [
    `${kind.use} ${address}, ${blocksInWords(part, kind)}`,
    kind.owner === null ? "" : `, ${data.owners[kind.owner]}`,
    parts.bytes[part] > pageBytes ? `, ${bytesText(parts.bytes[part])} in all` : "",
    kind.dense ? ", in huge pages" : "",
    residencyInWords(cell),
    idle ? consequence(part, kind, idle) : "",
  ].join("");
}

function cellInWords(cell) {
  const MOST = 4;
  const sentences = [];
  for (let i = 0; i < Math.min(MOST, cells.partCount[cell]); i++) sentences.push(partInWords(cells.part[cell] + i, cell));
  if (cells.partCount[cell] > MOST) sentences.push(`and ${cells.partCount[cell] - MOST} more in this page`);
  return sentences.join("; ");
}
