// Runs of the studio's core in node, epoch by epoch: node wasm_bits.mjs CORE.WASM prints one line of JSON a run, with
// its model, its points, and after every epoch the bits of the weights (alpha y, of kernels) as text, the lines of
// Python and the command that make the same weights, and the last weights.
import { readFileSync } from "node:fs";
import { Core } from "../../src/separatrix/studio/web/core.mjs";
import { csvOf } from "../../src/separatrix/studio/web/csv.mjs";
import { SETS } from "../../src/separatrix/studio/web/datasets.mjs";
import { checkedModel, plan } from "../../src/separatrix/studio/web/models.mjs";
import { commandLine, estimatorLine } from "../../src/separatrix/studio/web/repeat.mjs";
import { Timeline } from "../../src/separatrix/studio/web/timeline.mjs";

export const RUNS = [
  ...["lecture-000", "lecture-001", "lecture-004", "xor", "blobs", "iris-2", "penguins-1"].map((set) => [
    set,
    { id: "perceptron" },
  ]),
  ...[
    { eta: 0.1 },
    { eta: 0.3, order: "shuffled" },
    { margin: 1 },
    { eta: 0.7, margin: 0.25, order: "shuffled", seed: 5 },
    { readout: "averaged" },
    { readout: "averaged", eta: 0.1, order: "shuffled" },
    { readout: "pocket" },
    { readout: "pocket", eta: 0.3, order: "shuffled", seed: 3 },
    { boundary: "positive" },
    { boundary: "negative", eta: 0.1 },
    { bias: 0 },
    { bias: 2.5 },
    { batch: "all", eta: 0.1 },
    { start1: 0.5, start2: -0.25, startBias: 0.1, eta: 0.1 },
    { batch: "all", readout: "averaged" },
  ].map((more) => ["moons", { id: "perceptron", ...more }]),
  ...[
    {},
    { loss: "log" },
    { loss: "log", order: "shuffled", seed: 2 },
    { batch: "all" },
    { loss: "log", batch: "all", eta: 2 },
    { eta: 3, order: "shuffled" },
    { start1: 1, start2: -1, startBias: 0.5 },
  ]
    .flatMap((more) => [
      ["blobs", { id: "neuron", ...more }],
      ["penguins-2", { id: "neuron", ...more, eta: 0.01 }],
    ])
    .slice(0, 12),
  ...[
    { variant: "pa" },
    { variant: "pa1", C: 0.1 },
    { variant: "pa2", C: 0.5, order: "shuffled" },
    { variant: "pa1", bias: 0 },
    { variant: "pa2", bias: 3 },
  ].map((more) => ["moons", { id: "pa", ...more }]),
  ...[
    {},
    { r: 0.1, order: "shuffled" },
    { covariance: "full" },
    { covariance: "full", r: 3, bias: 2, order: "shuffled", seed: 9 },
  ].map((more) => ["moons", { id: "arow", ...more }]),
  ...[{}, { C: 10, seed: 4 }, { loss: "squared_hinge" }, { C: 0.05, loss: "squared_hinge", seed: 1 }].map((more) => [
    "moons",
    { id: "svm", ...more },
  ]),
  ...[{ kernel: "linear" }, { kernel: "poly", gamma: 0.5 }, { kernel: "rbf", gamma: 2, order: "shuffled" }].map(
    (more) => ["moons", { id: "kernelPerceptron", ...more }],
  ),
];

export const POINTS = { n: 60, noise: 0.25, seed: 1 };
export const EPOCHS = 6;

export function bitsOf(numbers) {
  const whole = new BigUint64Array(Float64Array.from(numbers).buffer);
  return [...whole].map((each) => each.toString(16).padStart(16, "0")).join(" ");
}

export function pointsOf(set) {
  const { points } = SETS[set].make(POINTS);
  return { x: Float64Array.from(points.flatMap(({ x, y }) => [x, y])), codes: Int32Array.from(points, ({ c }) => c) };
}

if (process.argv[1].endsWith("wasm_bits.mjs")) {
  const core = await Core.load(readFileSync(process.argv[2]));
  for (const [set, given] of RUNS) {
    const model = checkedModel({ ...given, epochs: EPOCHS });
    const points = pointsOf(set);
    const timeline = new Timeline(core, points, plan(model));
    timeline.runAhead(Infinity);
    const epochs = timeline.starts.slice(1).map((step) => bitsOf(timeline.seek(step).weights));
    console.log(
      JSON.stringify({
        set,
        model,
        x: [...points.x],
        codes: [...points.codes],
        epochs,
        lines: epochs.map((_, k) => estimatorLine(model, k + 1)),
        csv: csvOf(SETS[set].make(POINTS)),
        command: commandLine(model, epochs.length, "points.csv"),
        last: [...timeline.seek(timeline.total).weights],
      }),
    );
    timeline.end();
  }
}
