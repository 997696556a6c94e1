// The tree of calls that the page carries, and where each call lies when one of them fills the width.

const data = JSON.parse(byId("data").textContent);
const LEAST_WIDTH = 1.5; // pixels; what is narrower is not drawn

const ROLES = ["program", "wrapper", "library"];

const amount = ([bytes, blocks]) => ({ bytes, blocks });
const nodes = data.nodes.map(([parent, full, place, [live, allocated, temporary], role, name], id) => ({
  id,
  parent: id === 0 ? null : parent,
  full,
  name: name ?? full,
  place,
  role: ROLES[role],
  children: [],
  live: amount(live),
  allocated: amount(allocated),
  temporary: amount(temporary),
}));
for (const node of nodes) {
  node.depth = node.parent === null ? 0 : nodes[node.parent].depth + 1;
  if (node.parent !== null) nodes[node.parent].children.push(node);
}

const ancestorsOf = (node) => (node.parent === null ? [] : [...ancestorsOf(nodes[node.parent]), nodes[node.parent]]);

function childrenBySize(node, weightOf) {
  return node.children.filter((child) => weightOf(child) > 0).sort((a, b) => weightOf(b) - weightOf(a));
}

// Boxes of the calls around the zoomed one, each of the whole width, and of those below it.
function layOut(zoomed, weightOf, width) {
  const boxes = ancestorsOf(zoomed).map((node) => ({ node, x: 0, width, isAround: true }));
  const scale = weightOf(zoomed) > 0 ? width / weightOf(zoomed) : 0;
  const waiting = [{ node: zoomed, x: 0 }];
  while (waiting.length) {
    const { node, x } = waiting.pop();
    const own = node === zoomed ? width : weightOf(node) * scale;
    if (own < LEAST_WIDTH) continue;
    boxes.push({ node, x, width: own, isAround: false });
    let at = x;
    for (const child of childrenBySize(node, weightOf)) {
      waiting.push({ node: child, x: at });
      at += weightOf(child) * scale;
    }
  }
  return boxes;
}
