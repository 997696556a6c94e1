// Which colour, dash and marker a contender has everywhere. Pools of one library share a colour and differ in marker.

const OURS = ["tarn", "tarn-inline", "tarn-pool", "tarn-preset"];
const MARKERS = ["circle", "square", "triangle", "diamond", "wedge", "cross", "bar"];
const DASHES = ["", "5 2", "2 2", "8 2 2 2", "1 2", "6 2 1 2 1 2"];
const GENERAL_COLOURS = 7;
const POOL_COLOURS = 5;
const TARN_POOL_COLOURS = 4;
const TARN_POOL_MARKERS = ["square", "triangle", "wedge", "cross"];

const MARKER_PATHS = {
  circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  triangle: (r) => `M0 ${-1.2 * r}L${1.15 * r} ${0.9 * r}H${-1.15 * r}z`,
  diamond: (r) => `M0 ${-1.35 * r}L${1.35 * r} 0L0 ${1.35 * r}L${-1.35 * r} 0z`,
  wedge: (r) => `M0 ${1.2 * r}L${1.15 * r} ${-0.9 * r}H${-1.15 * r}z`,
  cross: (r) => {
    const a = 0.45 * r,
      b = 1.25 * r;
    return `M${-a} ${-b}H${a}V${-a}H${b}V${a}H${a}V${b}H${-a}V${a}H${-b}V${-a}H${-a}z`;
  },
  bar: (r) => `M${-1.3 * r} ${-0.6 * r}h${2.6 * r}v${1.2 * r}h${-2.6 * r}z`,
};

function looksOf(contenders) {
  const families = unique(contenders.filter(({ kind }) => kind === "pool").map(familyOf));
  const seen = new Map();
  return contenders.map((contender, index) => {
    const order = contender.kind === "pool" ? familyOf(contender) : contender.kind;
    const nth = seen.get(order) ?? 0;
    seen.set(order, nth + 1);
    return { ...contender, index, isOurs: OURS.includes(contender.kind), ...drawing(contender, nth, families) };
  });
}

const familyOf = ({ name }) => name.split("-")[0];

function drawing(contender, nth, families) {
  switch (contender.kind) {
    case "tarn":
      return { colour: "--tarn", marker: "circle", dash: "" };
    case "tarn-inline":
      return { colour: "--tarn-inline", marker: "diamond", dash: "7 2" };
    case "tarn-pool":
    case "tarn-preset":
      return {
        colour: `--tarn-pool-${nth % TARN_POOL_COLOURS}`,
        marker: TARN_POOL_MARKERS[nth % TARN_POOL_MARKERS.length],
        dash: DASHES[(nth + 1) % DASHES.length],
      };
    case "pool":
      return {
        colour: `--pool-${families.indexOf(familyOf(contender)) % POOL_COLOURS}`,
        marker: MARKERS[nth % MARKERS.length],
        dash: DASHES[(nth + 1) % DASHES.length],
      };
    case "system":
      return { colour: "--general-0", marker: "square", dash: "" };
    default:
      return {
        colour: `--general-${1 + (nth % (GENERAL_COLOURS - 1))}`,
        marker: MARKERS[(nth + 2) % MARKERS.length],
        dash: DASHES[(nth + 1) % DASHES.length],
      };
  }
}
