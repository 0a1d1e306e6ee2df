// Verdicts of the studio's core about sets of points: node proofs.mjs CORE.WASM < SETS prints one line of JSON a set.
import { readFileSync } from "node:fs";
import { Core } from "../../src/separatrix/studio/web/core.mjs";

const core = await Core.load(readFileSync(process.argv[2]));
for (const { x, codes } of JSON.parse(readFileSync(0, "utf8"))) {
  const points = { x: Float64Array.from(x), codes: Int32Array.from(codes) };
  console.log(JSON.stringify({ ...core.prove(points), bound: core.mistakeBound(points, 1, 3000) }));
}
