const data = JSON.parse(document.getElementById("data").textContent);
const kWidth = 1000, kHeight = 420, kLeft = 70, kRight = 12, kTop = 12, kBottom = 34, kMiB = 1048576;
const contenders = data.allocators.filter((one) => one.summary !== null && one.runs.length > 0);
const shown = new Set(contenders.map((one) => one.name));
const svgSpace = "http://www.w3.org/2000/svg";

// The run whose peak is the median one stands for its allocator.
function middleRun(contender) {
  const runs = [...contender.runs].sort((a, b) => a.peak_bytes - b.peak_bytes);
  return runs[Math.floor((runs.length - 1) / 2)];
}
const lines = contenders.map((one, index) => ({ name: one.name, colour: `var(--c${index % 8})`,
  samples: middleRun(one).samples, summary: one.summary, waste: middleRun(one).waste_percent }));

function element(name, attributes, text) {
  const made = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Sample by sample and not by time: the same place is the same call under every allocator.
function roundStep(largest) {
  const power = 10 ** Math.floor(Math.log10(largest / 5));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => largest / step <= 6);
}

function draw() {
  const visible = lines.filter((line) => shown.has(line.name));
  const largest = Math.max(1 / 16, ...visible.flatMap((line) => line.samples.map((sample) => sample[1] / kMiB)),
    ...lines.slice(0, 1).flatMap((line) => line.samples.map((sample) => sample[2] / kMiB)));
  const x = (share) => kLeft + share * (kWidth - kLeft - kRight);
  const y = (mib) => kHeight - kBottom - mib / (largest * 1.04) * (kHeight - kTop - kBottom);
  const svg = element("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, role: "img",
    "aria-label": "Resident memory of each allocator over the calls of the trace" });
  const step = roundStep(largest);
  for (let mib = 0; mib <= largest * 1.04; mib += step) {
    svg.append(element("line", { class: "grid", x1: kLeft, x2: kWidth - kRight, y1: y(mib), y2: y(mib) }));
    svg.append(element("text", { x: kLeft - 6, y: y(mib) + 4, "text-anchor": "end" }, `${+mib.toPrecision(3)} MiB`));
  }
  for (const share of [0, 0.25, 0.5, 0.75, 1])
    svg.append(element("text", { x: x(share), y: kHeight - 12, "text-anchor": share === 1 ? "end" : "middle" },
      `${Math.round(share * 100)} % of the calls`));
  const path = (samples, column) => samples.map((sample, index) =>
    `${x(samples.length === 1 ? 0 : index / (samples.length - 1)).toFixed(1)},${y(sample[column] / kMiB).toFixed(1)}`);
  for (const line of visible)
    svg.append(element("polyline", { class: "line", style: `stroke:${line.colour}`, "data-name": line.name,
      points: path(line.samples, 1).join(" ") }));
  if (lines.length > 0)
    svg.append(element("polyline", { class: "line live", points: path(lines[0].samples, 2).join(" ") }));
  svg.addEventListener("pointermove", (event) => read(event, svg, visible));
  document.getElementById("plot").replaceChildren(svg);
}

function read(event, svg, visible) {
  const box = svg.getBoundingClientRect();
  const share = ((event.clientX - box.left) / box.width * kWidth - kLeft) / (kWidth - kLeft - kRight);
  const at = (line) => line.samples[Math.round(Math.min(1, Math.max(0, share)) * (line.samples.length - 1))];
  document.getElementById("reading").textContent = visible.map((line) =>
    `${line.name} ${(at(line)[1] / kMiB).toFixed(1)} MiB`).join(", ");
}

function addLegend() {
  for (const line of lines) {
    const button = document.createElement("button");
    button.textContent = line.name;
    button.style.borderLeft = `6px solid ${line.colour}`;
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      if (!shown.delete(line.name)) shown.add(line.name);
      button.setAttribute("aria-pressed", String(shown.has(line.name)));
      draw();
    });
    document.getElementById("legend").append(button);
  }
}

function addFigures() {
  const row = (cells, name) => {
    const line = document.createElement("tr");
    for (const text of cells) line.append(Object.assign(document.createElement(name), { textContent: text }));
    document.getElementById("figures").append(line);
  };
  row(["allocator", "time", "peak RSS", "mean RSS", "peak live", "waste"], "th");
  const mib = (figure) => `${(figure.median / kMiB).toFixed(1)} MiB`;
  for (const { name, summary, waste } of lines)
    row([name, `${(summary.seconds.median * 1000).toFixed(1)} ms`, mib(summary.peak_bytes), mib(summary.mean_bytes),
      mib(summary.peak_live_bytes), `${waste.toFixed(1)} %`], "td");
}

document.getElementById("about").textContent = `${data.trace.command.join(" ")}: ${data.trace.calls.toLocaleString("en")} `
  + `calls of ${data.trace.recorded_threads} threads; dashed: the bytes the program had asked for. `
  + `${data.rounds} rounds, ${data.machine.cpu}, ${data.date.slice(0, 10)}.`;
addLegend();
draw();
addFigures();
