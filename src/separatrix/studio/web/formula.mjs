// The rule of a model, and its last step with the numbers filled in.
import { shown } from "./text.mjs";

const RULES = {
  perceptron: [
    "if y (w·x + b) ≤ 0:  w ← w + η y x,  b ← b + η y K²",
    (m) => (m.margin ? "if y (w·x + b) ≤ margin:  w ← w + η y x,  b ← b + η y K²" : null),
  ],
  neuron: [
    "w ← w + η σ(−m)² σ(m) y x,  with m = y (w·x + b)",
    (m) => (m.loss === "log" ? "w ← w + η σ(−m) y x,  with m = y (w·x + b)" : null),
  ],
  pa: [
    "if m < 1:  w ← w + τ y x,  τ = min(C, (1 − m) / |x|²)",
    (m) =>
      ({
        pa: "if m < 1:  w ← w + τ y x,  τ = (1 − m) / |x|²",
        pa2: "if m < 1:  w ← w + τ y x,  τ = (1 − m) / (|x|² + 1 / 2C)",
      })[m.variant],
  ],
  arow: ["if m < 1:  β = 1 / (xᵀΣx + r),  w ← w + (1 − m) β y Σx,  Σ ← Σ − β Σx (Σx)ᵀ", () => null],
  svm: [
    "α ← clip(α + s (1 − m) / q, 0, C),  w = Σ α y x,  q = |x|² + K²,  s = 1, from the fifth epoch on 1.3",
    (m) =>
      m.loss === "squared_hinge"
        ? "α ← max(0, α + s (1 − m − α / 2C) / (q + 1 / 2C)),  w = Σ α y x,  s = 1, from the fifth epoch on 1.3"
        : null,
  ],
  kernelPerceptron: ["if y (Σⱼ αⱼ yⱼ K(xⱼ, x) + b) ≤ 0:  α ← α + 1,  b ← b + y K²", () => null],
  kernelSvm: ["two examples at a time: αᵢ and αⱼ to the best values that keep Σ α y", () => null],
};

export function ruleText(model) {
  const [usual, other] = RULES[model.id];
  return other(model) ?? usual;
}

const vector = (numbers) => `(${[...numbers].map((each) => shown(each)).join(", ")})`;

// The last step in lines of text; `points` are those of the run.
export function stepLines(model, frame, points) {
  const { last } = frame;
  if (!last) return ["No example has been presented yet."];
  if (last.examples > 1) {
    return [
      `All ${last.examples} examples at once: w = ${vector(last.before.slice(0, 2))} → ${vector(frame.current.slice(0, 2))}, b = ${shown(last.before[2])} → ${shown(frame.current[2])}`,
    ];
  }
  if (model.id === "kernelSvm") return [smoLine(last, frame)];
  const x = [points.x[2 * last.row], points.x[2 * last.row + 1]];
  const sign = last.sign > 0 ? "+1" : "−1";
  const lines = [`Example ${last.row + 1}: x = ${vector(x)}, y = ${sign}`];
  if (model.id === "kernelPerceptron") {
    lines.push(`y (Σⱼ αⱼ yⱼ K(xⱼ, x) + b) = ${sign} · ${shown(last.activation)} = ${shown(last.margin)}`);
    lines.push(
      last.moves ? `A mistake: α = ${shown(last.extra)} + 1 = ${shown(last.extra + 1)}` : "Correct: nothing changes.",
    );
    return lines;
  }
  const [w1, w2, b] = last.before;
  lines.push(
    `m = y (w·x + b) = ${sign} · (${shown(w1)} · ${shown(x[0])} + ${shown(w2)} · ${shown(x[1])} + ${shown(b)}) = ${shown(last.margin)}`,
  );
  if (!last.moves) return [...lines, quiet(model, last)];
  const after = frame.current;
  if (model.id === "svm") {
    lines.push(`α = ${shown(last.extra)} → ${shown(last.extra + last.tau)}, with q = ${shown(last.q)}`);
  } else {
    lines.push(
      `${reason(model, last)} τ = ${shown(last.tau)}${["pa", "arow"].includes(model.id) ? `, with ${model.id === "arow" ? "xᵀΣx" : "|x|²"} = ${shown(last.q)}` : ""}`,
    );
  }
  const added = model.id === "arow" ? "τ Σ" : shown(last.tau);
  lines.push(
    `w = ${vector([w1, w2])} + ${added} · ${sign} · ${vector(x)} = ${vector(after.slice(0, 2))},  b = ${shown(b)} → ${shown(after[2])}`,
  );
  if (model.id === "svm")
    lines[lines.length - 1] =
      `w = ${vector([w1, w2])} → ${vector(after.slice(0, 2))},  b = ${shown(b)} → ${shown(after[2])}`;
  return lines;
}

function reason(model, last) {
  if (model.id === "neuron") return "Every example moves the weights:";
  if (model.id === "perceptron") return last.margin > 0 ? "Within the margin:" : "A mistake:";
  return last.margin > 0 ? "Margin below 1:" : "A mistake:";
}

function quiet(model, last) {
  if (model.id === "svm") return `α stays ${shown(last.extra)}.`;
  return "Correct: nothing changes.";
}

function smoLine(last, frame) {
  const moved = [...frame.dual]
    .map((value, row) => [row, last.dualBefore[row], value])
    .filter(([, before, after]) => before !== after);
  if (!moved.length) return "No two examples can be improved: the optimum is reached.";
  return moved.map(([row, before, after]) => `α of example ${row + 1}: ${shown(before)} → ${shown(after)}`).join(";  ");
}
