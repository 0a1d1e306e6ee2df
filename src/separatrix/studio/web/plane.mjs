// The plane: points, boundary and street, the current example and its vector added to w, and the proof.
import { drawBoundary, drawSlack } from "./boundary.mjs";
import { EDGE, lineIn, lineOn, scaleOf } from "./geometry.mjs";
import { ticks } from "./pen.mjs";
import { shown } from "./text.mjs";

// Draw everything; `seen` is {points, names, frame, model, shade, grid, proof, show, cursor, selected, adding}.
export function drawPlane(pen, colours, seen) {
  const { points, box, names } = seen;
  const scale = scaleOf(box, pen.width, pen.height);
  const { inner } = scale;
  axes(pen, colours, scale, names);
  pen.clip(EDGE.left, EDGE.top, inner.width, inner.height, () => {
    if (seen.frame)
      for (const [k, side] of [seen, seen.other].entries())
        if (side?.frame) drawBoundary(pen, colours, scale, seen, side, k);
    if (seen.frame && seen.show.slack) drawSlack(pen, colours, scale, seen);
    if (seen.proof && seen.show.proof) proof(pen, colours, scale, seen);
    drawPoints(pen, colours, scale, seen);
    if (seen.frame && seen.show.vectors) vectors(pen, colours, scale, seen);
    if (seen.cursor) crosshair(pen, colours, scale, seen.cursor);
  });
  if (!points.length) {
    pen.text("Click to add points, or choose a data set.", EDGE.left + inner.width / 2, EDGE.top + inner.height / 2, {
      fill: colours.soft,
      size: 15,
      align: "center",
    });
  }
}

function axes(pen, colours, scale, names) {
  const { box, inner } = scale;
  for (const value of ticks(box.left, box.right, inner.width / 80)) {
    const x = scale.x(value);
    pen.path(
      [
        [x, EDGE.top],
        [x, EDGE.top + inner.height],
      ],
      { stroke: colours.grid },
    );
    pen.text(shown(value), x, EDGE.top + inner.height + 10, { fill: colours.soft, size: 11, align: "center" });
  }
  for (const value of ticks(box.bottom, box.top, inner.height / 60)) {
    const y = scale.y(value);
    pen.path(
      [
        [EDGE.left, y],
        [EDGE.left + inner.width, y],
      ],
      { stroke: colours.grid },
    );
    pen.text(shown(value), EDGE.left - 5, y, { fill: colours.soft, size: 11, align: "right" });
  }
  pen.rect(EDGE.left, EDGE.top, inner.width, inner.height, { stroke: colours.rule });
  pen.text(names[0], EDGE.left + inner.width / 2, pen.height - 8, { fill: colours.ink, size: 12, align: "center" });
  pen.text(names[1], EDGE.left + 6, EDGE.top + 11, { fill: colours.ink, size: 12 });
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
    pen.circle(scale.x(x), scale.y(y), radius + 5, {
      stroke: frame.last.moves ? colours.bad : colours.good,
      width: 2.5,
    });
  }
}

export function marker(pen, x, y, radius, c, style) {
  if (c) pen.circle(x, y, radius, style);
  else pen.rect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius, style);
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
  arrow(
    pen,
    to([0, 0]),
    to(before),
    { stroke: colours.soft, width: 1.8 },
    Math.hypot(u - x, v - y) > 40 ? "w before" : "",
  );
  arrow(
    pen,
    to(before),
    to(after),
    { stroke: colours.classes[last.sign > 0 ? 1 : 0], width: 2 },
    last.sign > 0 ? "+ τ x" : "− τ x",
  );
  arrow(pen, to([0, 0]), to(after), { stroke: colours.ink, width: 2.6 }, "w");
}

export function arrow(pen, from, to, style, label) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  if (length < 2) return;
  const [u, v] = [dx / length, dy / length];
  const head = Math.min(9, 0.5 * length);
  pen.path([from, [to[0] - 0.7 * head * u, to[1] - 0.7 * head * v]], style);
  pen.path(
    [
      to,
      [to[0] - head * u + 0.45 * head * v, to[1] - head * v - 0.45 * head * u],
      [to[0] - head * u - 0.45 * head * v, to[1] - head * v + 0.45 * head * u],
    ],
    { fill: style.stroke },
    true,
  );
  if (label)
    pen.text(label, (from[0] + to[0]) / 2 - 26 * v, (from[1] + to[1]) / 2 + 13 * u, {
      fill: style.stroke,
      size: 12,
      align: "center",
      weight: 600,
    });
}

function crosshair(pen, colours, scale, { x, y }) {
  const [u, v] = [scale.x(x), scale.y(y)];
  pen.path(
    [
      [u - 12, v],
      [u + 12, v],
    ],
    { stroke: colours.accent, width: 1.6 },
  );
  pen.path(
    [
      [u, v - 12],
      [u, v + 12],
    ],
    { stroke: colours.accent, width: 1.6 },
  );
}

// The widest street with the points that hold it, or the hulls' common point.
function proof(pen, colours, scale, { proof: seen, points }) {
  const { box } = scale;
  if (seen.verdict === "separable") {
    const line = [...seen.w, seen.b];
    for (const level of [-1, 1]) lineOn(pen, scale, lineIn(box, line, level), { stroke: colours.good, width: 1.6 });
    lineOn(pen, scale, lineIn(box, line), { stroke: colours.good, width: 1.6, dash: [2, 4] });
    for (const { row } of seen.support)
      if (points[row])
        pen.circle(scale.x(points[row].x), scale.y(points[row].y), 11, { stroke: colours.good, width: 1.8 });
  } else if (seen.verdict === "inseparable") {
    for (const c of [0, 1]) {
      const own = seen.witness
        .filter(({ row, share }) => share > 0 && points[row]?.c === c)
        .map(({ row }) => [scale.x(points[row].x), scale.y(points[row].y)]);
      if (own.length > 2) pen.path(own, { fill: colours.classes[c], alpha: 0.18 }, true);
      if (own.length > 1) pen.path(own, { stroke: colours.classes[c], width: 2 }, own.length > 2);
      for (const [x, y] of own) pen.circle(x, y, 11, { stroke: colours.bad, width: 1.8 });
    }
    const own = seen.witness.filter(({ row }) => points[row]?.c === 1);
    const at = own.reduce(([x, y], { row, share }) => [x + share * points[row].x, y + share * points[row].y], [0, 0]);
    if (own.length)
      pen.circle(scale.x(at[0]), scale.y(at[1]), 5, { fill: colours.bad, stroke: colours.ground, width: 1.5 });
  }
}
