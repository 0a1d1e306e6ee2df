// The whole state as text: in the link's fragment, in the browser's storage, and back, with everything checked.
import { checkedModel } from "./models.mjs";
import { shortened } from "./text.mjs";

const VERSION = 1;
const LINKED_POINTS = 500;
const MOST_FRAGMENT = 200_000;
const LARGEST = 1e9;

// What is kept of a state: short names, points as flat numbers.
export function packed(state) {
  return {
    v: VERSION,
    p: state.points.flatMap(({ x, y }) => [x, y]),
    c: state.points.map(({ c }) => c).join(""),
    n: state.names,
    l: state.labels,
    m: state.models,
    t: state.step,
  };
}

// A state from what was kept, or an error.
export function unpacked(kept) {
  const bad = (what) => {
    throw new Error(`The saved state cannot be read: ${what}.`);
  };
  if (typeof kept !== "object" || kept === null || kept.v !== VERSION) bad("it is of another version");
  if (
    !Array.isArray(kept.p) ||
    typeof kept.c !== "string" ||
    kept.p.length !== 2 * kept.c.length ||
    kept.c.length > 20_000
  )
    bad("its points are damaged");
  if (!kept.p.every((value) => typeof value === "number" && Math.abs(value) <= LARGEST) || !/^[01]*$/.test(kept.c))
    bad("its points are damaged");
  const two = (names, otherwise) =>
    Array.isArray(names) && names.length === 2 && names.every((name) => typeof name === "string")
      ? names.map((name) => shortened(name))
      : otherwise;
  const models = (Array.isArray(kept.m) ? kept.m : []).slice(0, 2).map(checkedModel);
  return {
    points: [...kept.c].map((c, k) => ({ x: kept.p[2 * k], y: kept.p[2 * k + 1], c: Number(c) })),
    names: two(kept.n, ["x1", "x2"]),
    labels: two(kept.l, ["-1", "1"]),
    models: models.length ? models : [checkedModel(null)],
    step: Number.isSafeInteger(kept.t) && kept.t >= 0 ? kept.t : 0,
  };
}

async function through(stream, bytes) {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  const reader = piped.getReader();
  const parts = [];
  let length = 0;
  for (let part; !(part = await reader.read()).done;) {
    parts.push(part.value);
    length += part.value.length;
    if (length > 4_000_000) throw new Error("The link holds too much.");
  }
  const out = new Uint8Array(length);
  parts.reduce((at, part) => {
    out.set(part, at);
    return at + part.length;
  }, 0);
  return out;
}

export async function fragmentOf(state) {
  if (state.points.length > LINKED_POINTS)
    throw new Error(
      `A link holds at most ${LINKED_POINTS} points; there are ${state.points.length.toLocaleString("en")}. Save a CSV file instead.`,
    );
  const bytes = await through(
    new CompressionStream("deflate-raw"),
    new TextEncoder().encode(JSON.stringify(packed(state))),
  );
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `#s=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

// The state that a fragment holds; null if it is of another kind; an error if it is damaged.
export async function stateOf(fragment) {
  if (!fragment.startsWith("#s=")) return null;
  if (fragment.length > MOST_FRAGMENT) throw new Error("The link is too long to be one of this page.");
  let kept;
  try {
    const text = atob(fragment.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(
      new DecompressionStream("deflate-raw"),
      Uint8Array.from(text, (letter) => letter.charCodeAt(0)),
    );
    kept = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new Error("The link is damaged or incomplete.");
  }
  return unpacked(kept);
}
