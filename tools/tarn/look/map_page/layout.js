// Where each cell lies on the sheet. A chunk is a strip of cells, several strips make a row; chunks of which all pages
// were given back are left out. Where addresses jump, a line with the address begins a new region.

const pagesInChunk = Math.max(1, Math.round(data.chunk_bytes / pageBytes));
const LABEL_HEIGHT = 17;
const SIZES = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20];

const chunks = (() => {
  const list = [];
  let leftOut = 0;
  for (let cell = 0; cell < cells.count; ) {
    const number = Math.floor(cells.page[cell] / pagesInChunk);
    const slots = new Int32Array(pagesInChunk).fill(-1);
    let isAllGone = true,
      from = cell;
    for (; cell < cells.count && Math.floor(cells.page[cell] / pagesInChunk) === number; cell++) {
      slots[cells.page[cell] % pagesInChunk] = cell;
      if (!isGivenBack(cell) || !isFreeKind(kindOf(cells.part[cell]))) isAllGone = false;
    }
    if (isAllGone) leftOut += cell - from;
    else list.push({ number, slots });
  }
  return { list, leftOut };
})();

const chunkOfCell = (() => {
  const numbers = new Int32Array(cells.count).fill(-1);
  chunks.list.forEach((chunk, i) => chunk.slots.forEach((cell) => cell >= 0 && (numbers[cell] = i)));
  return numbers;
})();

// Rows are {y, first, count} of chunks, or {y, label}.
function layOut(width, size) {
  const cell = Math.max(1, Math.min(size, Math.floor(width / pagesInChunk)));
  const gap = cell > 3 ? 3 : 2,
    strip = cell * pagesInChunk + gap;
  const across = Math.max(1, Math.floor((width + gap) / strip));
  const rows = [],
    rowOfChunk = new Int32Array(chunks.list.length);
  let y = 0,
    previous = -2;
  for (let i = 0; i < chunks.list.length; ) {
    if (isFarFrom(previous, chunks.list[i].number)) {
      rows.push({ y, height: LABEL_HEIGHT, label: `0x${(chunks.list[i].number * data.chunk_bytes).toString(16)}` });
      y += LABEL_HEIGHT;
    }
    let count = 1;
    while (
      count < across &&
      i + count < chunks.list.length &&
      !isFarFrom(chunks.list[i + count - 1].number, chunks.list[i + count].number)
    )
      count++;
    for (let j = i; j < i + count; j++) rowOfChunk[j] = rows.length;
    rows.push({ y, height: cell + rowGap(cell), first: i, count });
    y += cell + rowGap(cell);
    previous = chunks.list[i + count - 1].number;
    i += count;
  }
  return { cell, strip, across, rows, rowOfChunk, height: y, width };
}

const rowGap = (cell) => (cell > 8 ? 3 : cell > 3 ? 2 : 1);

// What was given back in between is no new region: a region is another reserve of addresses.
const FAR_CHUNKS = 4096;
const isFarFrom = (one, other) => one < 0 || other - one > FAR_CHUNKS;

// The largest cells with which the sheet is not much higher than the room for it.
function bestSize(width, room) {
  const fitting = SIZES.filter((size) => layOut(width, size).height <= room);
  return Math.max(width < 600 ? 5 : 4, Math.min(fitting.at(-1) ?? 0, 16));
}

function placeOf(layout, cell) {
  const chunk = chunkOfCell[cell];
  if (chunk < 0) return null;
  const row = layout.rows[layout.rowOfChunk[chunk]];
  return {
    x: (chunk - row.first) * layout.strip + (cells.page[cell] % pagesInChunk) * layout.cell,
    y: row.y,
  };
}

function rowAt(layout, y) {
  let low = 0,
    high = layout.rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (layout.rows[middle].y <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The cell at a place, or -1.
function cellAt(layout, x, y) {
  const row = layout.rows[rowAt(layout, y)];
  if (!row || row.label || x < 0) return -1;
  const strip = Math.floor(x / layout.strip),
    page = Math.floor((x - strip * layout.strip) / layout.cell);
  if (strip >= row.count || page >= pagesInChunk) return -1;
  return chunks.list[row.first + strip].slots[page];
}
