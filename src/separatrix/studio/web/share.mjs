// Links, files and lines that repeat the run.
import { csvOf } from "./csv.mjs";
import { $, copy, download, say } from "./dom.mjs";
import { fragmentOf } from "./link.mjs";
import { commandLine, estimatorLine } from "./repeat.mjs";
import { SvgPen, palette } from "./pen.mjs";
import { traceText } from "./reading.mjs";

const FILE = "points.csv";
const LONG = 60; // points that are written out in Python
const MOST_STEPS = 5000;
const TYPES = { md: "text/markdown", csv: "text/csv", tex: "application/x-tex" };

// The lines of Python for the model as it stands.
export function pythonLines({ points, models }, epochs) {
  const data =
    points.length <= LONG
      ? [
          `X = [${points.map(({ x, y }) => `[${x}, ${y}]`).join(", ")}]`,
          `y = [${points.map(({ c }) => (c ? "1" : "-1")).join(", ")}]`,
        ]
      : [
          "import csv",
          `rows = list(csv.reader(open("${FILE}")))[1:]`,
          "X, y = [[float(a), float(b)] for a, b, _ in rows], [label for _, _, label in rows]",
        ];
  const fits = models.map(
    (model, k) => `${k ? "second" : "model"} = ${estimatorLine(model, Math.max(epochs, 1))}.fit(X, y)`,
  );
  const shows = models[0].id.startsWith("kernel")
    ? 'print(model.status_ if hasattr(model, "status_") else model)'
    : "print(model.coef_, model.intercept_)";
  return ["import separatrix as sx", ...data, ...fits, shows].join("\n");
}

export function showCodes(state, epochs) {
  $("python").textContent = pythonLines(state, epochs);
  $("command").textContent = commandLine(state.models[0], Math.max(epochs, 1), FILE);
}

// `page` is {store, client, draw(view, pen, colours), points()}.
export function beginShare(page) {
  const { store } = page;
  const colours = () => palette();
  const svgOf = (view) => {
    const canvas = $(view);
    const pen = new SvgPen(canvas.clientWidth, canvas.clientHeight);
    page.draw(view, pen, colours());
    return pen.finish(colours().ground);
  };
  $("copy-link").addEventListener("click", async () => {
    try {
      const fragment = await fragmentOf(store.state);
      history.replaceState(null, "", fragment);
      await copy(location.href, "Link");
    } catch (problem) {
      say(problem.message, true);
    }
  });
  $("save-csv").addEventListener("click", () => download(FILE, csvOf(store.state), "text/csv"));
  $("save-svg").addEventListener("click", () =>
    download(`${$("view").value}.svg`, svgOf($("view").value), "image/svg+xml"),
  );
  $("save-png").addEventListener("click", () => {
    const source = $($("view").value);
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: source.width, height: source.height });
    const context = canvas.getContext("2d");
    context.fillStyle = colours().ground;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(source, 0, 0);
    canvas.toBlob((blob) => download(`${$("view").value}.png`, blob, "image/png"));
  });
  $("save-trace").addEventListener("click", async () => {
    const format = $("trace").value;
    const { step } = store.state;
    const from = Math.max(1, step - MOST_STEPS + 1);
    const { rows } = await page.client.ask("steps", { side: 0, from, to: step });
    if (!rows.length) say("The run is at its start: there are no steps to save yet.", true);
    else download(`steps.${format}`, traceText(rows, page.points(), format), TYPES[format]);
  });
  $("copy-python").addEventListener("click", () => copy($("python").textContent, "Python"));
  $("copy-command").addEventListener("click", () => copy($("command").textContent, "Command"));
}
