// Curves over epochs, and the plane of the weights.
import { halfPlane, lineIn, scaleOf } from "./geometry.mjs";
import { arrow } from "./plane.mjs";
import { ticks } from "./pen.mjs";
import { shown } from "./text.mjs";

const LEFT = 48;
const RIGHT = 12;
const TOP = 30; // the legend is above
const BOTTOM = 34;

// Curves of values over epochs 1, 2, ...: `series` are {label, values, colour, dash, bars}; `at` is the current epoch,
// after which they are faded; `level` a horizontal line {value, label, colour}. Values that are not finite are left
// out.
export function drawCurves(pen, colours, { series, at, level, axis, log }) {
  const inner = { width: pen.width - LEFT - RIGHT, height: pen.height - TOP - BOTTOM };
  const count = Math.max(2, ...series.map(({ values }) => values.length));
  const finite = series.flatMap(({ values }) =>
    values.filter((value) => Number.isFinite(value) && (!log || value > 0)),
  );
  const within = level && Number.isFinite(level.value) && level.value < 20 * Math.max(...finite, 1);
  let high = Math.max(...(finite.length ? finite : [1]), within ? level.value : -Infinity);
  let low = log
    ? Math.max(Math.min(...(finite.length ? finite : [0.1])), 1e-12 * high)
    : Math.min(0, ...(finite.length ? finite : [0]));
  if (high <= low) high = low + 1;
  high = log ? high * 1.3 : high + 0.06 * (high - low);
  const transform = log ? Math.log10 : (value) => value;
  const x = (epoch) => LEFT + ((epoch - 0.5) / count) * inner.width;
  const y = (value) => TOP + ((transform(high) - transform(value)) / (transform(high) - transform(low))) * inner.height;
  const marks = log
    ? ticks(Math.ceil(Math.log10(low)), Math.floor(Math.log10(high)), 4)
        .filter(Number.isInteger)
        .map((value) => 10 ** value)
    : ticks(low, high, inner.height / 45);
  for (const value of marks) {
    pen.path(
      [
        [LEFT, y(value)],
        [LEFT + inner.width, y(value)],
      ],
      { stroke: colours.grid },
    );
    pen.text(log ? `1e${Math.round(Math.log10(value))}`.replace("-", "−") : shown(value), LEFT - 5, y(value), {
      fill: colours.soft,
      size: 11,
      align: "right",
    });
  }
  for (const epoch of ticks(1, count, Math.max(2, inner.width / 70)).filter(Number.isInteger)) {
    pen.text(String(epoch), x(epoch), TOP + inner.height + 10, { fill: colours.soft, size: 11, align: "center" });
  }
  pen.text(axis, LEFT + inner.width / 2, pen.height - 8, { fill: colours.ink, size: 12, align: "center" });
  for (const { values, colour, dash, bars } of series) {
    if (bars) {
      const width = Math.max(1, Math.min(24, (0.7 * inner.width) / count));
      values.forEach((value, k) =>
        pen.rect(x(k + 1) - width / 2, y(value), width, y(0) - y(value), { fill: colour, alpha: k < at ? 0.85 : 0.25 }),
      );
      continue;
    }
    const path = (from, to) =>
      values
        .slice(from, to)
        .flatMap((value, k) => (Number.isFinite(value) && (!log || value > 0) ? [[x(from + k + 1), y(value)]] : []));
    pen.path(path(0, values.length), { stroke: colour, width: 1.6, dash: dash ?? [], alpha: 0.3 });
    pen.path(path(0, at), { stroke: colour, width: 2.2, dash: dash ?? [] });
    const last = path(Math.max(0, at - 1), at);
    if (last.length) pen.circle(...last[0], 3.2, { fill: colour });
  }
  if (within) {
    pen.path(
      [
        [LEFT, y(level.value)],
        [LEFT + inner.width, y(level.value)],
      ],
      { stroke: level.colour, width: 1.4, dash: [6, 4] },
    );
    pen.text(level.label, LEFT + inner.width - 4, y(level.value) + 10, {
      fill: level.colour,
      size: 11,
      align: "right",
    });
  }
  pen.path(
    [
      [LEFT, TOP],
      [LEFT, TOP + inner.height],
      [LEFT + inner.width, TOP + inner.height],
    ],
    { stroke: colours.rule },
  );
  let place = LEFT;
  for (const { label, colour } of series.filter((each) => each.label)) {
    pen.rect(place, 8, 10, 10, { fill: colour });
    pen.text(label, place + 14, 13, { fill: colours.ink, size: 11.5 });
    place += 24 + 6.3 * label.length;
  }
}

const MOST_CONSTRAINTS = 80;

// The plane of w1 and w2, at the bias as it is: each example allows one side of a line; where all agree is shaded.
export function drawWeightSpace(pen, colours, { frame, history, starts, points }) {
  const { current, last } = frame;
  const path = [
    [0, 0],
    ...history
      .slice(
        0,
        starts.findLastIndex((start) => start <= frame.step),
      )
      .map(({ weights }) => [weights[0], weights[1]]),
  ];
  const widest = Math.max(
    ...path
      .concat([[current[0], current[1]]], last?.before ? [[last.before[0], last.before[1]]] : [])
      .flat()
      .map(Math.abs),
  );
  const reach = 1.25 * (widest || 1);
  const stretch = (pen.width - 56) / (pen.height - 46);
  const box = {
    left: -reach * Math.max(1, stretch),
    right: reach * Math.max(1, stretch),
    bottom: -reach * Math.max(1, 1 / stretch),
    top: reach * Math.max(1, 1 / stretch),
  };
  const scale = scaleOf(box, pen.width, pen.height);
  for (const value of ticks(box.left, box.right, 6))
    pen.text(shown(value, 3), scale.x(value), pen.height - 24, { fill: colours.soft, size: 11, align: "center" });
  for (const value of ticks(box.bottom, box.top, 5))
    pen.text(shown(value, 3), 39, scale.y(value), { fill: colours.soft, size: 11, align: "right" });
  pen.clip(44, 12, scale.inner.width, scale.inner.height, () => {
    pen.path(
      [
        [scale.x(0), 0],
        [scale.x(0), pen.height],
      ],
      { stroke: colours.grid },
    );
    pen.path(
      [
        [0, scale.y(0)],
        [pen.width, scale.y(0)],
      ],
      { stroke: colours.grid },
    );
    allowed(pen, colours, scale, points, current[2]);
    const pixels = path.map(([u, v]) => [scale.x(u), scale.y(v)]);
    pen.path(pixels, { stroke: colours.soft, width: 1.5 });
    for (const [u, v] of pixels.slice(0, 300)) pen.circle(u, v, 2, { fill: colours.soft });
    const now = [scale.x(current[0]), scale.y(current[1])];
    if (last?.before && last.moves)
      arrow(pen, [scale.x(last.before[0]), scale.y(last.before[1])], now, { stroke: colours.accent, width: 2.2 });
    pen.circle(...now, 4.5, { fill: colours.ink });
  });
  pen.rect(44, 12, scale.inner.width, scale.inner.height, { stroke: colours.rule });
  pen.text("w₁", 44 + scale.inner.width / 2, pen.height - 8, { fill: colours.ink, size: 12, align: "center" });
  pen.text("w₂", 52, 24, { fill: colours.ink, size: 12 });
}

function allowed(pen, colours, scale, { x, codes }, b) {
  const { box } = scale;
  let region = [
    [box.left, box.bottom],
    [box.right, box.bottom],
    [box.right, box.top],
    [box.left, box.top],
  ];
  for (let k = 0; k < codes.length && region.length; k += 1) {
    region = halfPlane(region, [x[2 * k], x[2 * k + 1], b], codes[k]);
    const line = k < MOST_CONSTRAINTS ? lineIn(box, [x[2 * k], x[2 * k + 1], b]) : null;
    if (line)
      pen.path(
        line.map(([u, v]) => [scale.x(u), scale.y(v)]),
        { stroke: colours.classes[codes[k]], width: 0.8, alpha: 0.5 },
      );
  }
  if (region.length > 2)
    pen.path(
      region.map(([u, v]) => [scale.x(u), scale.y(v)]),
      { fill: colours.good, alpha: 0.22 },
      true,
    );
}
