// The boundary of a model: a line with its street, or the contour of a grid; colours, and slack.
import { halfPlane, lineIn, lineOn } from "./geometry.mjs";

// The boundary: a line with its street for linear models, cells of a grid with a contour for kernels.
export function drawBoundary(pen, colours, scale, seen, side, which) {
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
    const corners = [
      [box.left, box.bottom],
      [box.right, box.bottom],
      [box.right, box.top],
      [box.left, box.top],
    ];
    if (seen.show.heat && shade && seen.grid) heat(pen, colours, scale, seen.grid, shade);
    else
      for (const c of [0, 1])
        pen.path(
          halfPlane(corners, weights, c).map(([x, y]) => [scale.x(x), scale.y(y)]),
          { fill: colours.classes[c], alpha: 0.09 },
          true,
        );
    const { level } = frame;
    if (seen.show.street && level > 0) {
      for (const each of [-level, level])
        lineOn(pen, scale, lineIn(box, weights, each), { stroke: colours.ink, width: 1, dash: [5, 4] });
    }
  }
  lineOn(
    pen,
    scale,
    lineIn(box, weights),
    first ? { stroke: colours.ink, width: 2.2 } : { stroke: colours.second, width: 2.2, dash: [9, 5] },
  );
}

// The decision as colours: the farther from 0, the stronger. Cells meet without seams.
function heat(pen, colours, scale, { size, left, right, bottom, top }, values) {
  const columns = Array.from({ length: size }, (_, k) => Math.round(scale.x(left + (k * (right - left)) / (size - 1))));
  const rows = Array.from({ length: size }, (_, k) => Math.round(scale.y(bottom + (k * (top - bottom)) / (size - 1))));
  const most = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
  for (let row = 0; row < size - 1; row += 1) {
    for (let column = 0; column < size - 1; column += 1) {
      const value = values[row * size + column];
      pen.rect(columns[column], rows[row + 1], columns[column + 1] - columns[column], rows[row] - rows[row + 1], {
        fill: colours.classes[value > 0 ? 1 : 0],
        alpha: 0.04 + 0.16 * Math.min(1, Math.abs(value) / (0.6 * most)),
      });
    }
  }
}

// Of an SVM, how far each point is from the edge of the street that it should be beyond.
export function drawSlack(pen, colours, scale, { points, frame, model }) {
  if (model.id !== "svm") return;
  const [w1, w2, b] = frame.weights;
  const square = w1 * w1 + w2 * w2;
  for (const { x, y, c } of points) {
    const sign = c ? 1 : -1;
    const missing = 1 - sign * (w1 * x + w2 * y + b);
    if (!(missing > 1e-6) || square === 0) continue;
    const step = (sign * missing) / square;
    pen.path(
      [
        [scale.x(x), scale.y(y)],
        [scale.x(x + step * w1), scale.y(y + step * w2)],
      ],
      { stroke: colours.classes[c], width: 1.2, alpha: 0.8 },
    );
  }
}

function contour(pen, colours, scale, grid, values, first) {
  const { size, left, right, bottom, top } = grid;
  const x = (k) => scale.x(left + (k * (right - left)) / (size - 1));
  const y = (k) => scale.y(bottom + (k * (top - bottom)) / (size - 1));
  const crossings = (k, edges) =>
    edges
      .filter(([a, b]) => values[a[1] * size + a[0]] > 0 !== values[b[1] * size + b[0]] > 0)
      .map(([a, b]) => {
        const [u, v] = [values[a[1] * size + a[0]], values[b[1] * size + b[0]]];
        const part = u / (u - v);
        return [x(a[0] + part * (b[0] - a[0])), y(a[1] + part * (b[1] - a[1]))];
      });
  if (first) heat(pen, colours, scale, grid, values);
  for (let row = 0; row < size - 1; row += 1) {
    for (let column = 0; column < size - 1; column += 1) {
      const [a, b, c, d] = [
        [column, row],
        [column + 1, row],
        [column + 1, row + 1],
        [column, row + 1],
      ];
      const cuts = crossings(0, [
        [a, b],
        [b, c],
        [c, d],
        [d, a],
      ]);
      for (let k = 0; k + 1 < cuts.length; k += 2)
        pen.path(
          [cuts[k], cuts[k + 1]],
          first ? { stroke: colours.ink, width: 2 } : { stroke: colours.second, width: 2 },
        );
    }
  }
}
