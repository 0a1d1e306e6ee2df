// The four views of the page, each drawn by a pen: on its canvas, or into a picture that is saved.
import { drawCurves, drawWeightSpace } from "./charts.mjs";
import { $ } from "./dom.mjs";
import { MODELS, countsMistakes } from "./models.mjs";
import { drawPlane } from "./plane.mjs";
import { LOSS_NAMES, epochsDone } from "./reading.mjs";

// Draw a view of what `page` shows now.
export function drawView(view, pen, colours, page) {
  const { state } = page.store;
  const { now } = page;
  const [model] = state.models;
  if (view === "plane") {
    const show = Object.fromEntries(
      ["street", "vectors", "support", "slack", "heat", "proof"].map((name) => [name, $(`show-${name}`).checked]),
    );
    drawPlane(pen, colours, {
      points: state.points,
      names: state.names,
      box: page.view.box,
      model,
      show,
      proof: page.proof,
      cursor: page.editor.cursor,
      selected: page.editor.selected,
      frame: now?.frames[0],
      shade: now?.shades?.[0],
      grid: now?.grid,
      other: now?.frames[1] && { frame: now.frames[1], shade: now.shades?.[1] },
    });
    return;
  }
  if (!now) return;
  const at = epochsDone(now.frame, now.runs[0]);
  const tints = [colours.classes[1], colours.second];
  if (view === "mistakes") {
    const each = now.runs.map(({ history }, k) => ({
      label:
        now.runs.length > 1
          ? MODELS[state.models[k].id].name
          : countsMistakes(model.id)
            ? "in the epoch"
            : "predicted wrong",
      values: history.map(({ mistakes, losses }) => (countsMistakes(state.models[k].id) ? mistakes : losses.zeroOne)),
      colour: tints[k],
      bars: now.runs.length === 1,
    }));
    const all = now.bounds[0]
      ? [
          {
            label: "all so far",
            values: now.runs[0].history.map(({ allMistakes }) => allMistakes),
            colour: colours.accent,
          },
        ]
      : [];
    const level =
      now.bounds[0] && page.proof.verdict === "separable"
        ? { value: now.bounds[0].bound, label: "bound (R/γ)²", colour: colours.good }
        : null;
    drawCurves(pen, colours, { series: [...each, ...all], at, axis: "epoch", level });
  } else if (view === "losses") {
    const loss = $("loss").value;
    const series =
      loss === "gap"
        ? [{ label: "duality gap, relative", values: now.runs[0].history.map(({ gap }) => gap), colour: tints[0] }]
        : now.runs.map(({ history }, k) => ({
            label: now.runs.length > 1 ? MODELS[state.models[k].id].name : LOSS_NAMES[loss],
            values: history.map(({ losses }) => losses[loss]),
            colour: tints[k],
            dash: k ? [6, 4] : [],
          }));
    drawCurves(pen, colours, { series, at, axis: "epoch", log: loss === "gap" });
  } else if (now.frame.current) {
    drawWeightSpace(pen, colours, {
      frame: now.frame,
      history: now.runs[0].history,
      starts: now.runs[0].starts,
      points: page.points(),
    });
  } else {
    drawCurves(pen, colours, {
      series: [{ label: "α of each point", values: [...now.frame.dual], colour: tints[0], bars: true }],
      at: Infinity,
      axis: "point",
    });
  }
}
