// The worker: it holds the core and the runs of one or two models, and answers the page's messages in order.
import { Core } from "./core.mjs";
import { Timeline } from "./timeline.mjs";

const AHEAD = 150; // milliseconds for each run when it begins

export class Session {
  constructor(core) {
    this.core = core;
    this.sides = [];
  }

  // Begin the runs of models over points, standing at a step.
  load({ points, models, step, grid }) {
    for (const side of this.sides) side.end();
    this.points = points;
    this.sides = models.map((model) => new Timeline(this.core, points, model));
    for (const side of this.sides) side.runAhead(AHEAD);
    return { ...this.seek({ step, grid }), ...this.runs(), bounds: models.map((model) => this.bound(model)) };
  }

  // Go on computing, without moving.
  ahead() {
    for (const side of this.sides) side.runAhead(AHEAD / 3);
    return { ...this.runs(), ...this.lengths() };
  }

  lengths() {
    return {
      total: Math.max(...this.sides.map((side) => side.total)),
      ended: this.sides.every((side) => side.ended !== null),
    };
  }

  runs() {
    return {
      runs: this.sides.map(({ history, starts, ended }) => ({ history, starts, ended })),
    };
  }

  bound(model) {
    if (!model.novikoff || this.core.prove(this.points).verdict !== "separable") return null;
    return this.core.mistakeBound(this.points, model.settings.bias, Math.ceil(4e6 / (this.points.codes.length + 1000)));
  }

  seek({ step, grid }) {
    const known = this.sides.map((side) => side.epochs);
    const frames = this.sides.map((side) => side.seek(step));
    const grown = this.sides.some((side, k) => side.epochs !== known[k]);
    return { ...this.seen(frames, grid), ...(grown ? this.runs() : {}) };
  }

  // Move by steps, by epochs, or to a step that moves the weights of the first model.
  move({ by, direction, grid }) {
    const [first] = this.sides;
    let step = Math.max(...this.sides.map((side) => side.step));
    if (by === "update") {
      step = first.nextMove(step, direction);
    } else if (by === "epoch" && direction > 0) {
      const longest = this.sides.reduce((a, b) => (a.total >= b.total ? a : b));
      step = longest.starts[longest.epochOf(step) + 1] ?? step + 1;
    } else if (by === "epoch") {
      const longest = this.sides.reduce((a, b) => (a.total >= b.total ? a : b));
      step = step > 0 ? longest.starts[longest.epochOf(step - 1)] : 0;
    } else {
      step += direction;
    }
    return this.seek({ step, grid });
  }

  seen(frames, grid) {
    frames.forEach((frame, k) => {
      frame.level = this.level(this.sides[k], frame);
    });
    return { frames, step: Math.max(...frames.map((frame) => frame.step)), ...this.lengths(), ...this.shade({ grid }) };
  }

  // The activation at the edge of the street of a linear model: 1 for an SVM, else that of the nearest point if all are
  // right.
  level({ run, model }, frame) {
    if (model.settings.kind === 1) return 1;
    if (run.kernelled || frame.losses.zeroOne > 0) return 0;
    const activations = run.decide(frame.weights, this.points.x);
    return activations.reduce((least, a, k) => Math.min(least, this.points.codes[k] ? a : -a), Infinity);
  }

  // The decision of every side over a grid of the plane: {left, bottom, right, top, size}.
  shade({ grid }) {
    if (!grid) return {};
    const { left, bottom, right, top, size } = grid;
    const coordinates = new Float64Array(2 * size * size);
    for (let k = 0; k < size * size; k += 1) {
      coordinates[2 * k] = left + ((k % size) * (right - left)) / (size - 1);
      coordinates[2 * k + 1] = bottom + (Math.floor(k / size) * (top - bottom)) / (size - 1);
    }
    return { grid, shades: this.sides.map(({ run, frame }) => run.decide(frame.weights, coordinates)) };
  }

  // The steps from one to another, as the table shows them.
  steps({ side, from, to }) {
    const timeline = this.sides[side];
    const back = timeline.step;
    const rows = [];
    for (let step = from; step <= to; step += 1) {
      const frame = timeline.seek(step);
      if (frame.step !== step) break;
      rows.push({
        step,
        last: frame.last,
        after: frame.current ?? null,
        bias: frame.weights[frame.weights.length - 1],
      });
    }
    timeline.seek(back);
    return { rows };
  }

  prove({ points }) {
    return { proof: this.core.prove(points) };
  }
}

// Answer messages {id, method, ...}; `answer` receives {id, ...result} or {id, problem}.
export function serve(core, answer) {
  const session = new Session(core);
  return ({ id, method, ...request }) => {
    try {
      answer({ id, ...session[method](request) });
    } catch (problem) {
      answer({ id, problem: String(problem?.message ?? problem) });
    }
  };
}
