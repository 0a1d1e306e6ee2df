// The page: it joins the store, the worker and the views.
import { startWorker } from "./client.mjs";
import { SETS } from "./datasets.mjs";
import { $, forgetNotice, make, say } from "./dom.mjs";
import { Editor } from "./editor.mjs";
import { Guide } from "./guide.mjs";
import { stateOf } from "./link.mjs";
import { MODELS, checkedModel, plan } from "./models.mjs";
import { CanvasPen, palette } from "./pen.mjs";
import { boxOf } from "./geometry.mjs";
import { beginData, beginImport, showData, showModel } from "./panels.mjs";
import { Player, beginKeys } from "./player.mjs";
import { LOSS_NAMES, epochsDone, showChartTexts, showPosition, showProof, showStep, showTable } from "./reading.mjs";
import { beginServer, servedState, tellNotebook } from "./served.mjs";
import { beginShare, showCodes } from "./share.mjs";
import { Store } from "./store.mjs";
import { drawView } from "./views.mjs";

const GRID = 72; // of the decision of a kernel model, on each side
const TABLE_STEPS = 200;

class Page {
  constructor(store) {
    this.store = store;
    this.client = null;
    this.now = null; // the worker's last answer: frame, frames, runs, bounds, shades, step, total, ended
    this.proof = { verdict: "one class" };
    this.view = { box: boxOf([]), redraw: () => this.redraw() };
    this.editor = new Editor(store, this.view);
    this.asked = false; // for a frame
    this.arrays = null;
    this.frameTimes = [];
  }

  // ---------------------------------------------------------------- the worker

  points() {
    const { points } = this.store.state;
    if (this.arrays?.of !== points) {
      this.arrays = {
        of: points,
        x: Float64Array.from(points.flatMap(({ x, y }) => [x, y])),
        codes: Int32Array.from(points, ({ c }) => c),
      };
    }
    return { x: this.arrays.x, codes: this.arrays.codes };
  }

  grid() {
    const { models } = this.store.state;
    return $("show-heat").checked || models.some(({ id }) => MODELS[id].kind >= 2)
      ? { ...this.view.box, size: GRID }
      : null;
  }

  load() {
    const { points, models, step } = this.store.state;
    const most = Math.min(...models.map(({ id }) => MODELS[id].most ?? Infinity));
    if (!points.length || points.length > most) {
      if (points.length)
        say(
          `${MODELS[models[0].id].name}: at most ${most.toLocaleString("en")} points; there are ${points.length.toLocaleString("en")}.`,
          true,
        );
      this.now = null;
      this.redraw();
      return Promise.resolve();
    }
    const request = { points: this.points(), models: models.map(plan), step, grid: this.grid() };
    this.client.newest("prove", "prove", { points: this.points() }, ({ proof }) => this.#proved(proof, points));
    return this.client.newest("run", "load", request, (answer) => {
      this.now = null;
      this.take(answer);
      this.#ahead();
    });
  }

  #proved(proof, points) {
    for (const each of proof.witness ?? []) each.c = points[each.row].c;
    this.proof = points === this.store.state.points ? proof : { verdict: "one class" };
    this.redraw();
  }

  // Let the runs go on to their ends, a little at a time.
  async #ahead() {
    const { now } = this;
    while (this.now && !this.now.ended && this.now.runs === now?.runs && this.now.total < 4_000_000) {
      const answer = await this.client.ask("ahead", {});
      if (!this.now || answer.total < this.now.total) return;
      this.now = { ...this.now, ...answer };
      now.runs = answer.runs;
      this.redraw();
    }
  }

  seek(step) {
    const waiting = this.client.waiting.get("run");
    if (waiting?.method === "load") {
      // which must not be lost
      waiting.request.step = step;
      return Promise.resolve();
    }
    return this.client.newest("run", "seek", { step, grid: this.grid() }, (answer) => this.take(answer));
  }

  async move(by, direction) {
    if (!this.now) return;
    this.take(await this.client.ask("move", { by, direction, grid: this.grid() }));
  }

  take(answer) {
    if (!answer.runs && !this.now) return; // of a run that is no more
    this.now = { ...this.now, ...answer, frame: answer.frames[0] };
    this.store.stand(answer.step);
    tellNotebook(this.store, epochsDone(this.now.frame, this.now.runs[0]));
    this.redraw();
  }

  // ---------------------------------------------------------------- the views

  redraw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((time) => {
      this.asked = false;
      this.frameTimes.push(time);
      if (this.frameTimes.length > 600) this.frameTimes.shift();
      this.#draw();
    });
  }

  draw(view, pen, colours) {
    drawView(view, pen, colours, this);
  }

  #draw() {
    const { state } = this.store;
    const { now } = this;
    const colours = palette();
    for (const view of ["plane", "mistakes", "losses", "weights"]) this.draw(view, new CanvasPen($(view)), colours);
    showProof(this.proof, now?.bounds[0], now?.frame);
    this.player.show(now);
    if (!now) {
      $("position").textContent = state.points.length ? "" : "No points yet.";
      $("step").replaceChildren();
      return;
    }
    showPosition(now, now.runs[0], state.models[0]);
    showStep(state.models[0], now.frame, this.points());
    showChartTexts(now, state.models, $("loss").value, now.bounds[0]);
    $("plane").setAttribute("aria-label", `The plane: ${state.points.length} points, ${$("position").textContent}`);
    for (const view of ["mistakes", "losses", "weights"])
      $(view).setAttribute("aria-label", $(`${view}-text`).textContent);
    if (!this.player.playing) this.#texts(now);
  }

  // What need not be written anew sixty times a second.
  #texts(now) {
    showCodes(this.store.state, epochsDone(now.frame, now.runs[0]));
    if (!$("table").open) return;
    const run = now.runs[0];
    const start = run.starts[now.frame.step ? now.frame.epoch : 0];
    const end = run.starts[(now.frame.step ? now.frame.epoch : 0) + 1] ?? now.total;
    const from = Math.max(start + 1, Math.min(now.frame.step - TABLE_STEPS / 2, end - TABLE_STEPS + 1));
    const asked = `${run.starts.length} ${now.frame.step} ${from}`;
    if (this.tabled === asked && this.tabledRun === run) return;
    this.tabled = asked;
    this.tabledRun = run;
    this.client.newest("table", "steps", { side: 0, from, to: Math.min(end, from + TABLE_STEPS - 1) }, ({ rows }) =>
      showTable(rows, this.points(), now.frame.step),
    );
  }

  // ---------------------------------------------------------------- changes

  changed(state, before) {
    this.player.pause();
    forgetNotice();
    if (state.points !== before?.points) {
      const grew = state.points.some(
        ({ x, y }) =>
          x < this.view.box.left || x > this.view.box.right || y < this.view.box.bottom || y > this.view.box.top,
      );
      if (
        !this.editor.dragging &&
        (grew || Math.abs(state.points.length - (before?.points.length ?? 0)) > 1 || state.names !== before?.names)
      )
        this.view.box = boxOf(state.points);
      if (!state.points[this.editor.selected]) this.editor.forget();
      showData(state);
    }
    if (state.models !== before?.models) for (const k of [0, 1]) showModel(this.store, k);
    this.#losses(state);
    $("undo").disabled = !this.store.past.length;
    $("redo").disabled = !this.store.future.length;
    this.load();
  }

  #losses(state) {
    const names = { ...LOSS_NAMES, ...(state.models[0].id === "svm" ? { gap: "duality gap" } : {}) };
    const natural = {
      perceptron: "perceptron",
      neuron: state.models[0].loss,
      pa: "hinge",
      arow: "squaredHinge",
      svm: "gap",
      kernelPerceptron: "zeroOne",
      kernelSvm: "hinge",
    }[state.models[0].id];
    const list = $("loss");
    const kept =
      this.lossOf === `${state.models[0].id} ${natural}` && Object.hasOwn(names, list.value) ? list.value : natural;
    this.lossOf = `${state.models[0].id} ${natural}`;
    list.replaceChildren(
      ...Object.entries(names).map(([name, text]) =>
        make("option", { value: name, textContent: text, selected: name === kept }),
      ),
    );
  }
}

async function firstState(store) {
  const usual = { ...SETS["lecture-000"].make(), step: 0 };
  let linked = null;
  try {
    linked = await stateOf(location.hash);
  } catch (problem) {
    say(`${problem.message} What was here before is shown instead.`, true);
  }
  store.state = linked ?? servedState() ?? Store.remembered() ?? { ...usual, models: [checkedModel(usual.model)] };
}

async function begin() {
  const store = new Store();
  const [client] = await Promise.all([startWorker(), firstState(store)]);
  const page = new Page(store);
  page.client = client;
  client.onProblem = (problem) =>
    say(`The core could not go on: ${problem.message}. The points are kept; load the page anew.`, true);
  page.player = new Player(page);
  beginData(store);
  beginImport(store);
  beginShare({ store, client, draw: (...all) => page.draw(...all), points: () => page.points() });
  beginServer(store, () => (page.now ? epochsDone(page.now.frame, page.now.runs[0]) : 1));
  beginKeys(page);
  let before = null;
  const changed = (state) => {
    const last = before;
    before = state;
    page.changed(state, last);
  };
  store.onChange(changed);
  $("undo").addEventListener("click", () => store.undo());
  $("redo").addEventListener("click", () => store.redo());
  for (const name of ["show-street", "show-vectors", "show-support", "show-slack", "show-proof", "loss"])
    $(name).addEventListener("change", () => page.redraw());
  $("show-heat").addEventListener("change", () => {
    if (page.now) page.seek(page.now.step);
  });
  $("table").addEventListener("toggle", () => page.redraw());
  window.addEventListener("resize", () => page.redraw());
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.redraw());
  window.addEventListener("pagehide", () => store.saveNow());
  window.addEventListener("hashchange", async () => {
    if (toured()) guide.start(toured());
    try {
      const linked = await stateOf(location.hash);
      if (linked) store.change({ ...linked }, { keepStep: true });
    } catch (problem) {
      say(problem.message, true);
    }
  });
  const guide = new Guide(store);
  changed(store.state);
  const toured = () => /^#tour=(\d+)$/.exec(location.hash)?.[1];
  if (toured()) guide.start(toured());
  window.studio = page; // for tests and for the console
  document.documentElement.dataset.ready = "true";
}

begin().catch((problem) => say(`The studio could not start: ${problem.message}`, true));
