// The plane: points, boundary and street, the current example and its vector added to w, and the proof.
import { shown } from "./text.mjs";
import { ticks } from "./pen.mjs";

const EDGE = { left: 44, right: 12, top: 12, bottom: 34 };

// The part of the plane that is seen, of equal scale on both axes where the data allow it.
export function boxOf(points) {
  if (!points.length) return { left: -2, right: 2, bottom: -2, top: 2 };
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of points) {
    left = Math.min(left, x); right = Math.max(right, x);
    bottom = Math.min(bottom, y); top = Math.max(top, y);
  }
  const widest = Math.max(right - left, top - bottom) || Math.max(Math.abs(left), Math.abs(top), 1);
  const near = Math.min(right - left, top - bottom) > 0.12 * widest;
  const spread = (low, high) => {
    const half = near ? 0.7 * widest : 0.7 * (high - low || widest);
    return [(low + high) / 2 - half, (low + high) / 2 + half];
  };
  [left, right] = spread(left, right);
  [bottom, top] = spread(bottom, top);
  return { left, right, bottom, top };
}

// From the plane to pixels and back.
export function scaleOf(box, width, height) {
  const inner = { width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom };
  return {
    inner, box,
    x: (value) => EDGE.left + ((value - box.left) / (box.right - box.left)) * inner.width,
    y: (value) => EDGE.top + ((box.top - value) / (box.top - box.bottom)) * inner.height,
    toX: (pixel) => box.left + ((pixel - EDGE.left) / inner.width) * (box.right - box.left),
    toY: (pixel) => box.top - ((pixel - EDGE.top) / inner.height) * (box.top - box.bottom),
  };
}

// The part of the line w.x + b = level that the box shows: two ends, or null.
export function lineIn(box, [w1, w2, b], level = 0) {
  const at = level - b;
  const ends = [];
  const add = (x, y) => {
    if (x < box.left - 1e-12 || x > box.right + 1e-12 || y < box.bottom - 1e-12 || y > box.top + 1e-12) return;
    if (!ends.some(([u, v]) => Math.abs(u - x) < 1e-9 * (box.right - box.left) && Math.abs(v - y) < 1e-9 * (box.top - box.bottom))) ends.push([x, y]);
  };
  if (w2 !== 0) for (const x of [box.left, box.right]) add(x, (at - w1 * x) / w2);
  if (w1 !== 0) for (const y of [box.bottom, box.top]) add((at - w2 * y) / w1, y);
  return ends.length >= 2 ? [ends[0], ends[ends.length - 1]] : null;
}

// Draw everything; `seen` is {points, names, frame, model, shade, grid, proof, show, cursor, selected, adding}.
export function drawPlane(pen, colours, seen) {
  const { points, box, names } = seen;
  const scale = scaleOf(box, pen.width, pen.height);
  const { inner } = scale;
  axes(pen, colours, scale, names);
  pen.clip(EDGE.left, EDGE.top, inner.width, inner.height, () => {
    if (seen.frame) for (const [k, side] of [seen, seen.other].entries()) if (side?.frame) boundary(pen, colours, scale, seen, side, k);
    if (seen.frame && seen.show.slack) slack(pen, colours, scale, seen);
    if (seen.proof && seen.show.proof) proof(pen, colours, scale, seen);
    drawPoints(pen, colours, scale, seen);
    if (seen.frame && seen.show.vectors) vectors(pen, colours, scale, seen);
    if (seen.cursor) crosshair(pen, colours, scale, seen.cursor);
  });
  if (!points.length) {
    pen.text("Click to add points, or choose a data set.", EDGE.left + inner.width / 2, EDGE.top + inner.height / 2, { fill: colours.soft, size: 15, align: "center" });
  }
}

function axes(pen, colours, scale, names) {
  const { box, inner } = scale;
  for (const value of ticks(box.left, box.right, inner.width / 80)) {
    const x = scale.x(value);
    pen.path([[x, EDGE.top], [x, EDGE.top + inner.height]], { stroke: colours.grid });
    pen.text(shown(value), x, EDGE.top + inner.height + 10, { fill: colours.soft, size: 11, align: "center" });
  }
  for (const value of ticks(box.bottom, box.top, inner.height / 60)) {
    const y = scale.y(value);
    pen.path([[EDGE.left, y], [EDGE.left + inner.width, y]], { stroke: colours.grid });
    pen.text(shown(value), EDGE.left - 5, y, { fill: colours.soft, size: 11, align: "right" });
  }
  pen.rect(EDGE.left, EDGE.top, inner.width, inner.height, { stroke: colours.rule });
  pen.text(names[0], EDGE.left + inner.width / 2, pen.height - 8, { fill: colours.ink, size: 12, align: "center" });
  pen.text(names[1], EDGE.left + 6, EDGE.top + 11, { fill: colours.ink, size: 12 });
}

// The boundary: a line with its street for linear models, cells of a grid with a contour for kernels.
function boundary(pen, colours, scale, seen, side, which) {
  const { frame, shade } = side;
  const first = which === 0;
  if (frame.current === undefined) {
    if (shade && seen.grid) contour(pen, colours, scale, seen.grid, shade, first);
    return;
  }
  const weights = [...frame.weights];
  if (weights[0] === 0 && weights[1] === 0) return;
  const { box } = scale;
  if (first) {
    const corners = [[box.left, box.bottom], [box.right, box.bottom], [box.right, box.top], [box.left, box.top]];
    if (seen.show.heat && shade && seen.grid) heat(pen, colours, scale, seen.grid, shade);
    else for (const c of [0, 1]) pen.path(halfPlane(corners, weights, c).map(([x, y]) => [scale.x(x), scale.y(y)]), { fill: colours.classes[c], alpha: 0.09 }, true);
    const { level } = frame;
    if (seen.show.street && level > 0) {
      for (const each of [-level, level]) stroke(pen, scale, lineIn(box, weights, each), { stroke: colours.ink, width: 1, dash: [5, 4] });
    }
  }
  stroke(pen, scale, lineIn(box, weights), first ? { stroke: colours.ink, width: 2.2 } : { stroke: colours.second, width: 2.2, dash: [9, 5] });
}

const stroke = (pen, scale, line, style) => line && pen.path(line.map(([x, y]) => [scale.x(x), scale.y(y)]), style);

// The part of a box on one side of the line (Sutherland and Hodgman 1974).
function halfPlane(corners, [w1, w2, b], side) {
  const at = ([x, y]) => (side ? 1 : -1) * (w1 * x + w2 * y + b);
  return corners.flatMap((from, k) => {
    const to = corners[(k + 1) % corners.length];
    const [a, c] = [at(from), at(to)];
    const cut = [from[0] + (a / (a - c)) * (to[0] - from[0]), from[1] + (a / (a - c)) * (to[1] - from[1])];
    return [...(a >= 0 ? [from] : []), ...((a > 0 && c < 0) || (a < 0 && c > 0) ? [cut] : [])];
  });
}

// The decision as colours: the farther from 0, the stronger. Cells meet without seams.
function heat(pen, colours, scale, { size, left, right, bottom, top }, values) {
  const columns = Array.from({ length: size }, (_, k) => Math.round(scale.x(left + (k * (right - left)) / (size - 1))));
  const rows = Array.from({ length: size }, (_, k) => Math.round(scale.y(bottom + (k * (top - bottom)) / (size - 1))));
  const most = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
  for (let row = 0; row < size - 1; row += 1) {
    for (let column = 0; column < size - 1; column += 1) {
      const value = values[row * size + column];
      pen.rect(columns[column], rows[row + 1], columns[column + 1] - columns[column], rows[row] - rows[row + 1], { fill: colours.classes[value > 0 ? 1 : 0], alpha: 0.04 + 0.16 * Math.min(1, Math.abs(value) / (0.6 * most)) });
    }
  }
}

// Of an SVM, how far each point is from the edge of the street that it should be beyond.
function slack(pen, colours, scale, { points, frame, model }) {
  if (model.id !== "svm") return;
  const [w1, w2, b] = frame.weights;
  const square = w1 * w1 + w2 * w2;
  for (const { x, y, c } of points) {
    const sign = c ? 1 : -1;
    const missing = 1 - sign * (w1 * x + w2 * y + b);
    if (!(missing > 1e-6) || square === 0) continue;
    const step = (sign * missing) / square;
    pen.path([[scale.x(x), scale.y(y)], [scale.x(x + step * w1), scale.y(y + step * w2)]], { stroke: colours.classes[c], width: 1.2, alpha: 0.8 });
  }
}

function contour(pen, colours, scale, grid, values, first) {
  const { size, left, right, bottom, top } = grid;
  const x = (k) => scale.x(left + (k * (right - left)) / (size - 1));
  const y = (k) => scale.y(bottom + (k * (top - bottom)) / (size - 1));
  const crossings = (k, edges) => edges.filter(([a, b]) => values[a[1] * size + a[0]] > 0 !== values[b[1] * size + b[0]] > 0).map(([a, b]) => {
    const [u, v] = [values[a[1] * size + a[0]], values[b[1] * size + b[0]]];
    const part = u / (u - v);
    return [x(a[0] + part * (b[0] - a[0])), y(a[1] + part * (b[1] - a[1]))];
  });
  if (first) heat(pen, colours, scale, grid, values);
  for (let row = 0; row < size - 1; row += 1) {
    for (let column = 0; column < size - 1; column += 1) {
      const [a, b, c, d] = [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]];
      const cuts = crossings(0, [[a, b], [b, c], [c, d], [d, a]]);
      for (let k = 0; k + 1 < cuts.length; k += 2) pen.path([cuts[k], cuts[k + 1]], first ? { stroke: colours.ink, width: 2 } : { stroke: colours.second, width: 2 });
    }
  }
}

// Circles and squares, so that the classes differ in more than colour; support vectors with a ring.
function drawPoints(pen, colours, scale, seen) {
  const { points, frame, show } = seen;
  const radius = points.length > 2000 ? 2 : points.length > 400 ? 3 : 5;
  const edge = points.length > 2000 ? {} : { stroke: colours.ground, width: 1 };
  const dual = show.support ? frame?.dual : null;
  for (let k = 0; k < points.length; k += 1) {
    const { x, y, c } = points[k];
    marker(pen, scale.x(x), scale.y(y), radius, c, { fill: colours.classes[c], ...edge });
    if (dual && dual[k] > 0) pen.circle(scale.x(x), scale.y(y), radius + 3, { stroke: colours.ink, width: 1.2 });
  }
  if (seen.selected !== null && points[seen.selected]) {
    const { x, y } = points[seen.selected];
    pen.circle(scale.x(x), scale.y(y), radius + 6, { stroke: colours.accent, width: 2, dash: [3, 2] });
  }
  const row = frame?.last?.examples === 1 && seen.model.id !== "kernelSvm" ? frame.last.row : null;
  if (row !== null && points[row]) {
    const { x, y } = points[row];
    pen.circle(scale.x(x), scale.y(y), radius + 5, { stroke: frame.last.moves ? colours.bad : colours.good, width: 2.5 });
  }
}

export function marker(pen, x, y, radius, c, style) {
  if (c) pen.circle(x, y, radius, style); else pen.rect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius, style);
}

// Lecture 004's figure: w before, the example's vector added to it, and w after; drawn from the origin, to one scale.
function vectors(pen, colours, scale, { frame, model }) {
  const { last } = frame;
  if (!last?.before || !last.moves || last.examples > 1 || model.id === "arow") return;
  const { box } = scale;
  const before = [last.before[0], last.before[1]];
  const after = [frame.current[0], frame.current[1]];
  const longest = Math.max(Math.hypot(...before), Math.hypot(...after));
  if (longest === 0) return;
  const room = 0.42 * Math.min(box.right - box.left, box.top - box.bottom);
  const factor = longest > room || longest < 0.25 * room ? room / longest : 1;
  const inside = box.left < 0 && box.right > 0 && box.bottom < 0 && box.top > 0;
  const origin = inside ? [0, 0] : [(box.left + box.right) / 2, (box.bottom + box.top) / 2];
  const to = ([x, y]) => [scale.x(origin[0] + factor * x), scale.y(origin[1] + factor * y)];
  const [[u, v], [x, y]] = [to(before), to(after)];
  arrow(pen, to([0, 0]), to(before), { stroke: colours.soft, width: 1.8 }, Math.hypot(u - x, v - y) > 40 ? "w before" : "");
  arrow(pen, to(before), to(after), { stroke: colours.classes[last.sign > 0 ? 1 : 0], width: 2 }, last.sign > 0 ? "+ τ x" : "− τ x");
  arrow(pen, to([0, 0]), to(after), { stroke: colours.ink, width: 2.6 }, "w");
}

export function arrow(pen, from, to, style, label) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  if (length < 2) return;
  const [u, v] = [dx / length, dy / length];
  const head = Math.min(9, 0.5 * length);
  pen.path([from, [to[0] - 0.7 * head * u, to[1] - 0.7 * head * v]], style);
  pen.path([to, [to[0] - head * u + 0.45 * head * v, to[1] - head * v - 0.45 * head * u], [to[0] - head * u - 0.45 * head * v, to[1] - head * v + 0.45 * head * u]], { fill: style.stroke }, true);
  if (label) pen.text(label, (from[0] + to[0]) / 2 - 10 * v, (from[1] + to[1]) / 2 + 12 * u, { fill: style.stroke, size: 12, align: "center", weight: 600 });
}

function crosshair(pen, colours, scale, { x, y }) {
  const [u, v] = [scale.x(x), scale.y(y)];
  pen.path([[u - 12, v], [u + 12, v]], { stroke: colours.accent, width: 1.6 });
  pen.path([[u, v - 12], [u, v + 12]], { stroke: colours.accent, width: 1.6 });
}

// The widest street with the points that hold it, or the hulls' common point.
function proof(pen, colours, scale, { proof: seen, points }) {
  const { box } = scale;
  if (seen.verdict === "separable") {
    const line = [...seen.w, seen.b];
    for (const level of [-1, 1]) stroke(pen, scale, lineIn(box, line, level), { stroke: colours.good, width: 1.6 });
    stroke(pen, scale, lineIn(box, line), { stroke: colours.good, width: 1.6, dash: [2, 4] });
    for (const { row } of seen.support) if (points[row]) pen.circle(scale.x(points[row].x), scale.y(points[row].y), 11, { stroke: colours.good, width: 1.8 });
  } else if (seen.verdict === "inseparable") {
    for (const c of [0, 1]) {
      const own = seen.witness.filter(({ row, share }) => share > 0 && points[row]?.c === c).map(({ row }) => [scale.x(points[row].x), scale.y(points[row].y)]);
      if (own.length > 2) pen.path(own, { fill: colours.classes[c], alpha: 0.18 }, true);
      if (own.length > 1) pen.path(own, { stroke: colours.classes[c], width: 2 }, own.length > 2);
      for (const [x, y] of own) pen.circle(x, y, 11, { stroke: colours.bad, width: 1.8 });
    }
    const own = seen.witness.filter(({ row }) => points[row]?.c === 1);
    const at = own.reduce(([x, y], { row, share }) => [x + share * points[row].x, y + share * points[row].y], [0, 0]);
    if (own.length) pen.circle(scale.x(at[0]), scale.y(at[1]), 5, { fill: colours.bad, stroke: colours.ground, width: 1.5 });
  }
}
