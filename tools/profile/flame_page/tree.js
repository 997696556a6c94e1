// The tree of calls that the page carries, and where each call lies when one of them fills the width.

const data = JSON.parse(byId("data").textContent);
const LEAST_WIDTH = 1.5; // pixels; what is narrower is not drawn

const nodes = data.nodes.map(([parent, name, place, liveBytes, liveBlocks, allocatedBytes, allocatedBlocks], id) => ({
  id,
  parent: id === 0 ? null : parent,
  name,
  place,
  children: [],
  live: { bytes: liveBytes, blocks: liveBlocks },
  allocated: { bytes: allocatedBytes, blocks: allocatedBlocks },
}));
for (const node of nodes) {
  node.depth = node.parent === null ? 0 : nodes[node.parent].depth + 1;
  if (node.parent !== null) nodes[node.parent].children.push(node);
}

const ancestorsOf = (node) => (node.parent === null ? [] : [...ancestorsOf(nodes[node.parent]), nodes[node.parent]]);

function childrenBySize(node, measure) {
  return node.children.filter((child) => child[measure].bytes > 0).sort((a, b) => b[measure].bytes - a[measure].bytes);
}

// Boxes of the calls around the zoomed one, each of the whole width, and of those below it.
function layOut(zoomed, measure, width) {
  const boxes = ancestorsOf(zoomed).map((node) => ({ node, x: 0, width, isAround: true }));
  const scale = zoomed[measure].bytes > 0 ? width / zoomed[measure].bytes : 0;
  const waiting = [{ node: zoomed, x: 0 }];
  while (waiting.length) {
    const { node, x } = waiting.pop();
    const own = node === zoomed ? width : node[measure].bytes * scale;
    if (own < LEAST_WIDTH) continue;
    boxes.push({ node, x, width: own, isAround: false });
    let at = x;
    for (const child of childrenBySize(node, measure)) {
      waiting.push({ node: child, x: at });
      at += child[measure].bytes * scale;
    }
  }
  return boxes;
}
