// The built-in sets of points, and generators. A set is {points: [{x, y, c}], names: [x, y], labels: [class 0, class
// 1]}; `model` gives what a lecture runs on it.
import { IRIS, PENGUINS } from "./tables.mjs";

const set = (rows, codes, more = {}) => ({
  points: rows.map(([x, y], k) => ({ x, y, c: codes[k] })),
  names: ["x1", "x2"],
  labels: ["-1", "1"],
  ...more,
});
const CORNERS = [
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1],
];
const pair = (table, [first, second], [negative, positive]) => {
  const rows = table.rows.filter(
    (row) => (row[0] === negative || row[0] === positive) && row[first] !== null && row[second] !== null,
  );
  return {
    points: rows.map((row) => ({ x: row[first], y: row[second], c: row[0] === positive ? 1 : 0 })),
    names: [table.names[first - 1], table.names[second - 1]],
    labels: [table.classes[negative], table.classes[positive]],
  };
};

export const SETS = {
  "lecture-000": {
    name: "Lecture 000: six points",
    make: () =>
      set(
        [
          [1, 1],
          [1, -1],
          [0, -1],
          [-1, -1],
          [-1, 1],
          [0, 1],
        ],
        [1, 1, 1, 0, 0, 0],
        { model: { id: "perceptron", startBias: 1 } },
      ),
  },
  "lecture-001": {
    name: "Lecture 001: four points",
    make: () =>
      set(
        [
          [1, 1],
          [0.5, -1],
          [-1, -1],
          [-1, 1],
        ],
        [1, 0, 0, 0],
        { model: { id: "perceptron", start1: 1 } },
      ),
  },
  "lecture-004": {
    name: "Lecture 004: five points",
    make: () =>
      set(
        [
          [3, 1],
          [2, 2.5],
          [2, 1.5],
          [4, 3],
          [3, 3],
        ],
        [1, 0, 1, 1, 0],
        { labels: ["0", "1"], model: { id: "perceptron", eta: 0.1, boundary: "negative" } },
      ),
  },
  and: { name: "AND", make: () => set(CORNERS, [0, 0, 0, 1], { labels: ["0", "1"] }) },
  or: { name: "OR", make: () => set(CORNERS, [0, 1, 1, 1], { labels: ["0", "1"] }) },
  xor: { name: "XOR: no line separates it", make: () => set(CORNERS, [0, 1, 1, 0], { labels: ["0", "1"] }) },
  blobs: { name: "Two clouds (generated)", noise: 0.35, make: (options) => clouds(options) },
  moons: { name: "Two moons (generated)", noise: 0.12, make: (options) => moons(options) },
  rings: { name: "Two rings (generated)", noise: 0.08, make: (options) => rings(options) },
  "iris-1": { name: "Iris: setosa and versicolor, petals", make: () => pair(IRIS, [3, 4], [0, 1]) },
  "iris-2": { name: "Iris: versicolor and virginica, petals", make: () => pair(IRIS, [3, 4], [1, 2]) },
  "penguins-1": { name: "Penguins: Adelie and Gentoo, bills", make: () => pair(PENGUINS, [1, 2], [0, 2]) },
  "penguins-2": { name: "Penguins: Adelie and Chinstrap, bills", make: () => pair(PENGUINS, [1, 2], [0, 1]) },
};

// Whether a set is drawn anew with a number of points, noise and a seed.
export const generated = (id) => SETS[id]?.noise !== undefined;

// Numbers between 0 and 1, the same for the same seed (Mulberry32).
function drawsOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Points around `place(class, draw)`, with normal noise, rounded so that a CSV file and a link hold them as they are.
function around({ n, noise, seed }, place) {
  const draw = drawsOf(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  const rows = [];
  const codes = [];
  for (let k = 0; k < n; k += 1) {
    const [x, y] = place(k % 2, draw);
    rows.push([x + noise * normal(), y + noise * normal()].map((value) => Math.round(value * 1000) / 1000));
    codes.push(k % 2);
  }
  return set(rows, codes);
}

const clouds = (options) => around(options, (c) => (c ? [0.8, 0.6] : [-0.8, -0.6]));

const moons = (options) =>
  around(options, (c, draw) => {
    const angle = Math.PI * draw();
    return c ? [1 - Math.cos(angle), 0.5 - Math.sin(angle)] : [Math.cos(angle), Math.sin(angle)];
  });

const rings = (options) =>
  around(options, (c, draw) => {
    const angle = 2 * Math.PI * draw();
    return [Math.cos(angle) * (c ? 0.45 : 1), Math.sin(angle) * (c ? 0.45 : 1)];
  });
