// What the page came with: points to begin with, and a server that certifies and saves models, where there is one.
import { $, download, say } from "./dom.mjs";
import { checkedModel } from "./models.mjs";
import { estimatorOf } from "./repeat.mjs";
import { modelOf } from "./reopened.mjs";
import { shortened } from "./text.mjs";

const start = JSON.parse($("served").textContent);

// The state that the page came with; null if it came with no points.
export function servedState() {
  if (!start.x) return null;
  return {
    points: start.codes.map((c, k) => ({ x: start.x[2 * k], y: start.x[2 * k + 1], c })),
    names: start.names.map((name) => shortened(name)),
    labels: start.labels.map((label) => shortened(label)),
    models: [start.model ? modelOf(start.model) : checkedModel(null)],
    step: 0,
  };
}

async function ask(method, request) {
  const answer = await fetch(`api/${method}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
  });
  if (answer.ok) return answer;
  const text = await answer.text();
  let problem = text;
  try {
    problem = JSON.parse(text).problem;
  } catch {
    /* a text of its own */
  }
  throw new Error(problem);
}

// Tell the notebook around the page what is shown, at most every third of a second.
export function tellNotebook(store, epochs) {
  if (!start.embedded) return;
  tellNotebook.epochs = epochs; // of the last call before the message
  if (tellNotebook.due) return;
  tellNotebook.due = setTimeout(() => {
    tellNotebook.due = 0;
    const { points, models } = store.state;
    const { name, parameters } = estimatorOf(models[0], Math.max(tellNotebook.epochs, 1));
    window.parent.postMessage(
      {
        x: points.flatMap(({ x, y }) => [x, y]),
        codes: points.map(({ c }) => c),
        estimator: name,
        parameters,
        step: store.state.step,
      },
      "*",
    );
  }, 300);
}

export function beginServer(store, epochs) {
  if (!start.served) return;
  $("server").hidden = false;
  const points = () => ({
    x: store.state.points.flatMap(({ x, y }) => [x, y]),
    codes: store.state.points.map(({ c }) => c),
  });
  const click = (id, action) =>
    $(id).addEventListener("click", async () => {
      $(id).disabled = true;
      try {
        await action();
      } catch (problem) {
        say(problem.message, true);
      }
      $(id).disabled = false;
    });
  let certificate = null;
  click("certify", async () => {
    const answer = await (await ask("certificate", points())).json();
    certificate = answer.certificate;
    $("certificate").textContent = answer.text;
    $("certificate").hidden = false;
    $("save-certificate").disabled = false;
  });
  click("save-certificate", async () =>
    download("certificate.json", JSON.stringify(certificate, null, 1), "application/json"),
  );
  const save = (method, file) => async () => {
    const { name, parameters } = estimatorOf(store.state.models[0], Math.max(epochs(), 1));
    const { names, labels } = store.state;
    const answer = await ask(method, { ...points(), names, labels, estimator: name, parameters });
    download(file, await answer.blob(), "application/octet-stream");
  };
  click("save-model", save("model", "model.sx"));
  click("save-report", save("report", "report.html"));
  store.onChange(() => {
    $("certificate").hidden = true;
    $("save-certificate").disabled = true;
  });
}
