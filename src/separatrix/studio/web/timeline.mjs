// A run in time: to any step and back. Snapshots are taken where epochs begin; a step within one is reached by going
// through the epoch again from there, so that what is seen at a step is the same bits however it was come to.
import { Run } from "./core.mjs";

const SNAPSHOT_BYTES = 48 << 20;
const CONVERGED_GAP = 1e-6; // of a linear SVM, relative

export class Timeline {
  constructor(core, points, model) {
    this.run = new Run(core, points, model.settings);
    this.model = model;
    this.n = this.run.n;
    this.fold = this.run.foldSize;
    this.snapshots = new Map([[0, this.run.snapshot()]]);
    this.apart = 1; // epochs between kept snapshots
    this.starts = [0]; // the step at which each epoch begins, as far as is known
    this.history = []; // of each epoch that has been run
    this.ended = null; // why there is no further epoch
    this.step = 0; // of `starts`, where the run stands
    this.frame = this.#frame(null);
  }

  end() {
    this.run.end();
  }
  get epochs() {
    return this.history.length;
  }
  get total() {
    return this.starts[this.starts.length - 1];
  }

  // Run further epochs until the run ends or the time is over; then stand where it stood.
  runAhead(milliseconds) {
    const back = this.step;
    const until = performance.now() + milliseconds;
    while (!this.ended && performance.now() < until) this.#wholeEpoch(this.epochs);
    this.seek(back);
  }

  // Go to the state after this many steps, as far as the run goes; return what is seen there.
  seek(step) {
    const last = this.#go(step);
    this.frame = this.#frame(last);
    return this.frame;
  }

  // The same, and return the last step alone.
  #go(step) {
    while (step > this.total && !this.ended) this.#wholeEpoch(this.epochs);
    step = Math.max(0, Math.min(step, this.total));
    if (step === 0) {
      this.#to(0);
      this.step = 0;
      return null;
    }
    const epoch = this.epochOf(step - 1);
    const place = step - 1 - this.starts[epoch];
    if (!(this.step === step - 1 && this.open === epoch)) {
      this.#to(epoch);
      this.#begin(epoch);
      if (place > 0) this.run.visit(0, place * this.fold);
    }
    const entries = this.entries;
    const before = this.run.kernelled ? null : this.run.lastWeights();
    const from = place * this.fold;
    const to = Math.min(from + this.fold, entries);
    const seen = this.run.look(from);
    const dual = this.run.kernelled ? this.run.dualWeights() : null;
    this.run.visit(from, to);
    if (to === entries) this.#close();
    this.step = step;
    return { ...seen, before, dualBefore: dual, epoch, place, examples: to - from };
  }

  epochOf(step) {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high - 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= step) low = middle;
      else high = middle;
    }
    return low;
  }

  // The step of the next example that moves the weights, or the last step there is; backwards too.
  nextMove(step, direction) {
    for (let at = step + direction; at > 0 && (at <= this.total || !this.ended); at += direction) {
      const epoch = this.epochOf(at - 1);
      if (this.history[epoch]?.updates === 0) at = direction > 0 ? this.starts[epoch + 1] : this.starts[epoch] + 1;
      else if (this.#go(at)?.moves) return at;
    }
    return direction > 0 ? this.total : 0;
  }

  #begin(epoch) {
    this.entries = this.run.beginEpoch();
    this.open = epoch;
  }

  #close() {
    this.run.endEpoch();
    this.open = null;
  }

  // Put the run to the beginning of an epoch.
  #to(epoch) {
    let from = epoch;
    while (!this.snapshots.has(from)) from -= 1;
    this.run.restore(this.snapshots.get(from));
    this.open = null;
    for (; from < epoch; from += 1) {
      this.#begin(from);
      this.run.visit(0, this.entries);
      this.#close();
    }
  }

  #wholeEpoch(epoch) {
    if (this.step !== this.total || this.open !== null) this.#to(epoch);
    const before = this.run.counts();
    this.#begin(epoch);
    const bad = this.run.visit(0, this.entries);
    this.#close();
    const { mistakes, updates } = this.run.counts();
    const steps = Math.ceil(this.entries / this.fold);
    const weights = this.run.weights();
    const losses = this.run.losses(weights);
    const record = {
      mistakes: mistakes - before.mistakes,
      allMistakes: mistakes,
      updates: updates - before.updates,
      losses,
    };
    if (!this.run.kernelled) record.weights = this.run.lastWeights();
    if (this.model.settings.kind === 1) {
      [record.primal, record.dual] = this.run.svmValues();
      const before = this.history[epoch - 1] ?? { least: Infinity, most: 0 };
      record.least = Math.min(before.least, record.primal); // the optimum is between these two
      record.most = Math.max(before.most, record.dual);
      record.gap = (record.least - record.most) / record.least;
    }
    this.history.push(record);
    this.starts.push(this.total + Math.max(steps, 1));
    this.step = this.total;
    this.#keep(epoch + 1);
    if (bad >= 0 || !weights.every(Number.isFinite)) this.ended = "diverged";
    else if (
      this.model.settings.kind === 1
        ? record.primal - record.dual <= CONVERGED_GAP * record.primal
        : record.updates === 0
    )
      this.ended = "converged";
    else if (this.epochs >= this.model.maxEpochs) this.ended = "epochs";
  }

  #keep(epoch) {
    if (epoch % this.apart) return;
    this.snapshots.set(epoch, this.run.snapshot());
    if (this.snapshots.size * this.run.size * 8 <= SNAPSHOT_BYTES || this.snapshots.size < 4) return;
    this.apart *= 2;
    for (const each of [...this.snapshots.keys()]) if (each % this.apart) this.snapshots.delete(each);
  }

  #frame(last) {
    const { run } = this;
    const weights = run.weights();
    const epoch = this.step > 0 ? this.epochOf(this.step - 1) : 0;
    const frame = {
      step: this.step,
      epoch,
      place: this.step - this.starts[epoch],
      counts: run.counts(),
      last,
      weights,
      finished: this.step === this.total && this.ended !== null,
    };
    if (!run.kernelled) frame.current = run.lastWeights();
    if (this.model.settings.kind > 0) frame.dual = run.dualWeights();
    frame.losses = run.losses(weights);
    return frame;
  }
}
