// From the plane to pixels and back, and the lines and half-planes that a box shows.

export const EDGE = { left: 44, right: 12, top: 12, bottom: 34 };

// The part of the plane that is seen, of equal scale on both axes where the data allow it.
export function boxOf(points) {
  if (!points.length) return { left: -2, right: 2, bottom: -2, top: 2 };
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    bottom = Math.min(bottom, y);
    top = Math.max(top, y);
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
    inner,
    box,
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
    if (
      !ends.some(
        ([u, v]) => Math.abs(u - x) < 1e-9 * (box.right - box.left) && Math.abs(v - y) < 1e-9 * (box.top - box.bottom),
      )
    )
      ends.push([x, y]);
  };
  if (w2 !== 0) for (const x of [box.left, box.right]) add(x, (at - w1 * x) / w2);
  if (w1 !== 0) for (const y of [box.bottom, box.top]) add((at - w2 * y) / w1, y);
  return ends.length >= 2 ? [ends[0], ends[ends.length - 1]] : null;
}

// The part of a box on one side of the line (Sutherland and Hodgman 1974).
export function halfPlane(corners, [w1, w2, b], side) {
  const at = ([x, y]) => (side ? 1 : -1) * (w1 * x + w2 * y + b);
  return corners.flatMap((from, k) => {
    const to = corners[(k + 1) % corners.length];
    const [a, c] = [at(from), at(to)];
    const cut = [from[0] + (a / (a - c)) * (to[0] - from[0]), from[1] + (a / (a - c)) * (to[1] - from[1])];
    return [...(a >= 0 ? [from] : []), ...((a > 0 && c < 0) || (a < 0 && c > 0) ? [cut] : [])];
  });
}

// Draw a line of the plane, null if there is none.
export const lineOn = (pen, scale, line, style) =>
  line &&
  pen.path(
    line.map(([x, y]) => [scale.x(x), scale.y(y)]),
    style,
  );
