// What is read beside the pictures: the position, the step, the proof, the table and the texts under the charts.
import { $, make } from "./dom.mjs";
import { ruleText, stepLines } from "./formula.mjs";
import { MODELS, countsMistakes } from "./models.mjs";
import { shown, times } from "./text.mjs";

export const LOSS_NAMES = {
  zeroOne: "mistakes of these weights",
  perceptron: "perceptron criterion",
  squared: "squared loss",
  log: "log loss",
  hinge: "hinge loss",
  squaredHinge: "squared hinge loss",
};
const ENDINGS = {
  converged: "converged",
  epochs: "stopped at the maximum number of epochs",
  diverged: "diverged: the weights are no longer finite",
};

export function showPosition(now, run, model) {
  const { frame } = now;
  const epoch = frame.step ? frame.epoch + 1 : 0;
  const wrong = countsMistakes(model.id)
    ? times(frame.counts.mistakes, "mistake")
    : `${frame.losses.zeroOne} predicted wrong`;
  const ended = frame.finished && run?.ended ? ` · ${ENDINGS[run.ended]}` : "";
  $("position").textContent =
    `Step ${frame.step.toLocaleString("en")} of ${now.ended ? "" : "at least "}${now.total.toLocaleString("en")} · epoch ${epoch} · ${wrong}, ${times(frame.counts.updates, "update")}${ended}`;
}

export function showStep(model, frame, points) {
  const lines = stepLines(model, frame, points).map((line) => make("p", { textContent: line }));
  const { last } = frame;
  if (last && last.examples === 1 && model.id !== "kernelSvm") lines[0].className = last.moves ? "wrong" : "right";
  $("step").replaceChildren(make("p", { className: "rule", textContent: ruleText(model) }), ...lines);
}

const listed = (rows) =>
  [...rows]
    .sort((a, b) => a - b)
    .map((row) => row + 1)
    .join(", ");

// w1 x1 + w2 x2 + b as text; what is only rounding beside the rest is 0.
function lineText([w1, w2, b]) {
  const most = Math.max(Math.abs(w1), Math.abs(w2), Math.abs(b));
  const terms = [
    [w1, " x₁"],
    [w2, " x₂"],
    [b, ""],
  ].filter(([value]) => Math.abs(value) > 1e-12 * most);
  const size = (value, name) =>
    shown(Math.abs(value)) === "1" && name ? name.trim() : `${shown(Math.abs(value))}${name}`;
  const sign = (value, k) => (k ? (value < 0 ? " − " : " + ") : value < 0 ? "−" : "");
  return terms.map(([value, name], k) => `${sign(value, k)}${size(value, name)}`).join("");
}

export function showProof(proof, bound, frame) {
  const say = [];
  const strong = (className, text) => make("strong", { className, textContent: text });
  if (proof.verdict === "one class") say.push(make("p", { textContent: "Points of both classes are needed." }));
  if (proof.verdict === "separable") {
    const rows = proof.support.map(({ row }) => row);
    say.push(
      make(
        "p",
        {},
        strong("good", "Linearly separable."),
        ` The widest street is 2 · ${shown(proof.upper)} = ${shown(2 * proof.upper)} wide, held by points ${listed(rows)}.`,
      ),
    );
    say.push(make("p", { textContent: `Its line: ${lineText([...proof.w, proof.b])} = 0.` }));
    say.push(
      make("p", {
        className: "note",
        textContent: proof.exact
          ? "Proved: with exact arithmetic every point is on its side of this line."
          : "Proved: with exact arithmetic the convex hulls of the classes do not meet. The street is so narrow that rounded numbers do not separate the points.",
      }),
    );
  }
  if (proof.verdict === "inseparable") {
    const sum = (c) =>
      proof.witness
        .filter((each) => each.c === c && each.share > 0)
        .map(({ row, share }) => `${shown(share, 3)} · x${row + 1}`)
        .join(" + ");
    say.push(make("p", {}, strong("bad", "Not linearly separable."), " The convex hulls of the classes meet:"));
    say.push(make("p", { textContent: `${sum(1)} = ${sum(0)}` }));
    say.push(
      make("p", {
        className: "note",
        textContent: "Proved: whether the hulls meet was decided with exact arithmetic; the weights shown are rounded.",
      }),
    );
  }
  if (bound && proof.verdict === "separable") {
    const most = Number.isFinite(bound.bound) ? Math.floor(bound.bound).toLocaleString("en") : "∞";
    say.push(
      make("p", {
        textContent: `Novikoff: from zero weights a perceptron makes at most (R/γ)² = ${shown(bound.radiusSquare)} / ${shown(bound.lower)}² = ${shown(bound.bound)}, so ${most} mistakes. So far ${frame ? frame.counts.mistakes.toLocaleString("en") : 0}.`,
      }),
    );
  }
  $("proof").replaceChildren(...say);
}

export function showChartTexts(now, models, loss, bound) {
  const { frame, runs } = now;
  const history = runs[0].history;
  const done = history.slice(0, epochsDone(frame, runs[0]));
  const wrong = `These weights predict ${times(frame.losses.zeroOne, "point")} wrong.`;
  $("mistakes-text").textContent = !countsMistakes(models[0].id)
    ? wrong
    : `${done.length ? `Last epoch: ${done[done.length - 1].mistakes}. ` : ""}All so far: ${frame.counts.mistakes}${bound && Number.isFinite(bound.bound) ? `; bound ${shown(bound.bound)}` : ""}.`;
  const svm = MODELS[models[0].id].kind === 1 && loss === "gap";
  const last = done[done.length - 1];
  $("losses-text").textContent = !last
    ? "No epoch is finished yet."
    : svm
      ? `The optimum is between ${shown(last.most)} (dual) and ${shown(last.least)} (primal).`
      : `After the last epoch ${shown(last.losses[loss] ?? NaN)}, now ${shown(frame.losses[loss] ?? NaN)}.`;
  $("weights-text").textContent = frame.current
    ? `w = (${shown(frame.current[0])}, ${shown(frame.current[1])}), b = ${shown(frame.current[2])}. Shaded: weights that classify all points right at this b.`
    : `Dual weights α of the ${frame.dual.length} points; ${frame.dual.filter((value) => value > 0).length} are above 0.`;
}

export const epochsDone = (frame, run) =>
  frame.step === 0 ? 0 : run.starts.findLastIndex((start) => start <= frame.step);

const HEAD = ["step", "point", "x", "y", "w·x + b", "update", "w", "b"];

// The steps as cells of text, for the table and for files.
export function stepCells(rows, points) {
  return rows.map(({ step, last, after, bias }) => {
    const one = last.examples === 1;
    return {
      step,
      moved: last.moves,
      cells: [
        String(step),
        one ? String(last.row + 1) : "all",
        one ? `(${shown(points.x[2 * last.row])}, ${shown(points.x[2 * last.row + 1])})` : "",
        one ? (last.sign > 0 ? "+1" : "−1") : "",
        one ? shown(last.activation) : "",
        last.moves ? "yes" : "",
        after ? `(${shown(after[0])}, ${shown(after[1])})` : "",
        shown(after ? after[2] : bias),
      ],
    };
  });
}

export function showTable(rows, points, step) {
  $("table-rows").replaceChildren(
    ...stepCells(rows, points).map((row) =>
      make(
        "tr",
        { className: `${row.step === step ? "now " : ""}${row.moved ? "moved" : ""}` },
        make("th", { scope: "row", textContent: row.cells[0] }),
        ...row.cells.slice(1).map((text) => make("td", { textContent: text })),
      ),
    ),
  );
}

export function traceText(rows, points, format) {
  const cells = stepCells(rows, points).map((row) => row.cells);
  if (format === "csv")
    return `${[HEAD, ...cells].map((row) => row.map((cell) => (/[",]/.test(cell) ? `"${cell}"` : cell).replaceAll("−", "-")).join(",")).join("\n")}\n`;
  if (format === "md")
    return `${[HEAD, HEAD.map(() => "---"), ...cells].map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`;
  const tex = (row) =>
    `${row.map((cell) => cell.replaceAll("−", "-").replace("w·x + b", "$w \\cdot x + b$")).join(" & ")} \\\\`;
  return `\\begin{tabular}{${"r".repeat(HEAD.length)}}\n${[tex(HEAD), "\\hline", ...cells.map(tex)].join("\n")}\n\\end{tabular}\n`;
}
