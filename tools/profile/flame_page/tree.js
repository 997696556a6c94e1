// The tree of calls that the page carries, and where each call lies when one of them fills the width. A call
// is the number of its row in the columns; a caller stands before what it calls, and call 0 is all.

const data = JSON.parse(byId("data").textContent);
const LEAST_WIDTH = 1.5; // pixels; what is narrower is drawn as one box with its narrow neighbours
const ROLES = ["program", "wrapper", "library", "smaller"];
const FIGURES = ["live bytes", "live blocks", "allocated bytes", "allocated blocks", "temporary bytes", "temporary blocks"];

const functions = data.functions.map(([full, file, role, name, ...figures]) => ({
  full,
  name: name || full,
  file,
  role: ROLES[role],
  own: figures.slice(0, FIGURES.length),
  total: figures.slice(FIGURES.length),
}));
const SMALLER = functions.length - 1;
const { called, own } = data;
const calls = called.length;
const caller = Int32Array.from(data.up, (up, call) => call - up);
const depth = new Int32Array(calls);
const firstCalled = new Int32Array(calls); // 0: it calls nothing
const nextBeside = new Int32Array(calls);
for (let call = 1; call < calls; call++) {
  depth[call] = depth[caller[call]] + 1;
  nextBeside[call] = firstCalled[caller[call]];
  firstCalled[caller[call]] = call;
}
const totals = own.map((column) => {
  const sums = Float64Array.from(column);
  for (let call = calls - 1; call > 0; call--) sums[caller[call]] += sums[call];
  return sums;
});

const functionOf = (call) => functions[called[call]];
const placeOf = (call) => {
  if (called[call] === SMALLER) return counted(data.lines[call], "call");
  return functionOf(call).file && `${functionOf(call).file}:${data.lines[call]}`;
};
const aroundOf = (call) => (call === 0 ? [] : [...aroundOf(caller[call]), caller[call]]);

function calledBySize(call, weights) {
  const some = [];
  for (let one = firstCalled[call]; one; one = nextBeside[one]) if (weights[one] > 0) some.push(one);
  return some.sort((a, b) => weights[b] - weights[a] || a - b);
}

// Boxes of the calls around the zoomed one, each of the whole width, and of those below it. `rest` of a box
// that is all that is too narrow of a call is how many calls these are.
function layOut(zoomed, weights, width) {
  const boxes = aroundOf(zoomed).map((call) => ({ call, x: 0, width, level: depth[call], isAround: true }));
  const scale = weights[zoomed] > 0 ? width / weights[zoomed] : 0;
  const waiting = [{ call: zoomed, x: 0, width, level: depth[zoomed] }];
  while (waiting.length) {
    const box = waiting.pop();
    boxes.push(box);
    const below = calledBySize(box.call, weights),
      level = box.level + 1,
      wide = below.filter((call) => weights[call] * scale >= LEAST_WIDTH);
    let x = box.x;
    for (const call of wide) {
      waiting.push({ call, x, width: weights[call] * scale, level });
      x += weights[call] * scale;
    }
    const rest = below.slice(wide.length);
    const restWidth = rest.reduce((sum, call) => sum + weights[call], 0) * scale;
    if (restWidth >= LEAST_WIDTH) boxes.push({ call: box.call, x, width: restWidth, level, rest: rest.length });
  }
  return boxes;
}

// By function, what of the zoomed part it has itself, and what it is in, however often.
function sharesOf(zoomed, figure) {
  if (zoomed === 0) return functions.map(({ own, total }) => ({ own: own[figure], total: total[figure] }));
  const shares = functions.map(() => ({ own: 0, total: 0 }));
  const isInside = new Uint8Array(calls);
  isInside[zoomed] = 1;
  for (let call = zoomed; call < calls; call++) {
    if (isInside[caller[call]]) isInside[call] = 1;
    if (!isInside[call]) continue;
    const share = shares[called[call]];
    share.own += own[figure][call];
    let around = call;
    while (around !== zoomed && called[(around = caller[around])] !== called[call]);
    if (call === zoomed || called[around] !== called[call]) share.total += totals[figure][call];
  }
  return shares;
}
