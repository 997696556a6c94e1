// The functions of what is zoomed, by their own share or by all that they are in.

const MOST_ROWS = 100;
let sortedBy = "own";

const breakable = (name) => name.split(/(?<=::)/).flatMap((part) => [part, html("wbr")]);

// `marked`, `wanted` and `pick` are the page's.
function tableRows(shares, whole, text, marked, isFound, pick) {
  const found = functions
    .map((one, number) => ({ ...one, ...shares[number], number }))
    .filter(({ number, total }) => number !== 0 && total > 0 && isFound(number))
    .sort((a, b) => b[sortedBy] - a[sortedBy] || b.total - a.total || a.number - b.number);
  const cell = (amount) =>
    html("td", {}, percentText(amount, whole), html("small", {}, amount > 0 ? text(amount) : ""));
  const rows = found.slice(0, MOST_ROWS).map(({ name, full, file, number, own, total }) => {
    const button = html("button", { type: "button", "data-function": number, title: full }, ...breakable(name));
    button.setAttribute("aria-pressed", String(number === marked));
    button.addEventListener("click", () => pick(number));
    return html("tr", {}, html("th", { scope: "row" }, button, html("small", {}, file)), cell(own), cell(total));
  });
  const more = found.length - rows.length;
  if (more > 0) rows.push(html("tr", {}, html("td", { colspan: 3 }, `${counted(more, "more function")}: search for them`)));
  if (!found.length) rows.push(html("tr", {}, html("td", { colspan: 3 }, "No function.")));
  return rows;
}

function moveInTable(event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const buttons = [...event.currentTarget.querySelectorAll("[data-function]")];
  const next = buttons[buttons.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
