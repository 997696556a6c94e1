// Draws the visible rows. Each look of a cell is drawn once, small, and copied pixel by pixel from then on: so a map
// of 160,000 cells is drawn in milliseconds.

const COLOURS = 12;
const LEVELS = 8;
const SOLID = 0,
  HATCHED = 1,
  HOLLOW = 2;
const STATES = 3;
const FREE_COLOUR = COLOURS;
const LOOKS = (COLOURS + 1) * LEVELS * STATES;

const colourOfGroup = (group) => data.colours[data.groups[group].colour]?.hue ?? FREE_COLOUR;
const colourVariable = (colour) => (colour === FREE_COLOUR ? "--free" : `--c${colour}`);
const lookOf = (colour, level, state) => (colour * LEVELS + level) * STATES + state;

const lookOfCell = (() => {
  const looks = new Uint16Array(cells.count);
  for (let cell = 0; cell < cells.count; cell++) {
    const colour = colourOfGroup(groupOf(cell));
    const level = Math.min(LEVELS - 1, Math.floor((cells.fill[cell] / 256) * LEVELS));
    const state = isGivenBack(cell) ? HOLLOW : isMostlyIdle(cell) || colour === FREE_COLOUR ? HATCHED : SOLID;
    looks[cell] = lookOf(colour, level, state);
  }
  return looks;
})();

const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function drawLook(context, x, y, size, colour, level, state) {
  const inner = size > 4 ? size - 1 : size;
  context.fillStyle = context.strokeStyle = colour;
  if (state === HOLLOW) {
    context.globalAlpha = 0.45;
    if (size > 4) context.strokeRect(x + 0.5, y + 0.5, inner - 1, inner - 1);
    else context.fillRect(x + (size >> 1), y + (size >> 1), 1, 1);
  } else {
    context.globalAlpha = state === HATCHED ? 0.16 + (0.3 * level) / LEVELS : 0.35 + (0.65 * (level + 1)) / LEVELS;
    context.fillRect(x, y, inner, inner);
    if (state === HATCHED) hatch(context, x, y, inner);
  }
  context.globalAlpha = 1;
}

function hatch(context, x, y, size) {
  context.globalAlpha = 0.9;
  const step = Math.max(3, Math.round(size / 3));
  for (let i = 0; i < size; i++)
    for (let j = 0; j < size; j++)
      if ((i + j) % step === step - 1) context.fillRect(x + i, y + j, 1, 1);
}

// All looks at one size as pixels: the first LOOKS as they are, then the same fainter, for cells that do not match.
function makeSprites(size) {
  const canvas = document.createElement("canvas");
  canvas.width = size * STATES * LEVELS;
  canvas.height = size * (COLOURS + 1) * 2;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = cssColour("--ground");
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (let colour = 0; colour <= COLOURS; colour++)
    for (let level = 0; level < LEVELS; level++)
      for (let state = 0; state < STATES; state++) {
        const x = (level * STATES + state) * size,
          y = colour * size;
        drawLook(context, x, y, size, cssColour(colourVariable(colour)), level, state);
      }
  const below = size * (COLOURS + 1);
  context.globalAlpha = 0.13;
  context.drawImage(canvas, 0, 0, canvas.width, below, 0, below, canvas.width, below);
  const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return { pixels, width: canvas.width, ground: pixels[pixels.length - 1], size, below };
}

function spriteAt(sprites, look, isFaint) {
  const colour = Math.floor(look / (LEVELS * STATES)),
    column = look % (LEVELS * STATES);
  return (colour * sprites.size + (isFaint ? sprites.below : 0)) * sprites.width + column * sprites.size;
}

// Paints what lies between two heights of the sheet. Sizes are in pixels of the screen: `ratio` of them for one of CSS.
function paint(canvas, layout, sprites, top, height, ratio, matches) {
  const width = Math.round(layout.width * ratio),
    rows = Math.round(height * ratio);
  if (canvas.width !== width || canvas.height !== rows) {
    canvas.width = width;
    canvas.height = rows;
  }
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, rows);
  const pixels = new Uint32Array(image.data.buffer).fill(groundPixel());
  for (let r = rowAt(layout, top); r < layout.rows.length && layout.rows[r].y < top + height; r++)
    if (!layout.rows[r].label) paintRow(pixels, width, rows, layout, layout.rows[r], sprites, top, ratio, matches);
  context.putImageData(image, 0, 0);
}

function paintRow(pixels, width, height, layout, row, sprites, top, ratio, matches) {
  const y = Math.round((row.y - top) * ratio),
    size = sprites.size;
  for (let i = 0; i < row.count; i++) {
    const { slots } = chunks.list[row.first + i];
    for (let page = 0; page < pagesInChunk; page++) {
      const cell = slots[page];
      if (cell < 0) continue;
      const x = Math.round((i * layout.strip + page * layout.cell) * ratio);
      copy(pixels, width, height, x, y, sprites, spriteAt(sprites, lookOfCell[cell], !matches[cell]), size);
    }
  }
}

function copy(pixels, width, height, x, y, sprites, from, size) {
  const right = Math.min(size, width - x);
  for (let j = Math.max(0, -y); j < size && y + j < height; j++) {
    const to = (y + j) * width + x,
      source = from + j * sprites.width;
    for (let i = 0; i < right; i++) pixels[to + i] = sprites.pixels[source + i];
  }
}

function groundPixel() {
  const [red, green, blue] = rgbOf(cssColour("--ground"));
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

function rgbOf(colour) {
  const hex = colour.slice(1);
  const digits = hex.length === 3 ? [...hex].map((digit) => digit + digit) : hex.match(/../g);
  return digits.map((pair) => parseInt(pair, 16));
}
