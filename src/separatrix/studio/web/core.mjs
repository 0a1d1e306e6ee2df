// The compiled core (core.wasm): runs, proofs and bounds, on points of the plane. Nothing else here computes.

const UTF8 = new TextDecoder();

export class Core {
  constructor(exports) {
    this.exports = exports;
    exports._initialize();
    this.settings = this.text(exports.setting_names()).trim().split(" ");
    this.dimension = 2;
  }

  static async load(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Core(instance.exports);
  }

  text(address) {
    const bytes = new Uint8Array(this.exports.memory.buffer, address);
    return UTF8.decode(bytes.slice(0, bytes.indexOf(0)));
  }

  // Views of the module's memory, which are lost when it grows: never kept across a call that may allocate.
  doubles(address, length) {
    return new Float64Array(this.exports.memory.buffer, address, length);
  }
  integers(address, length) {
    return new Int32Array(this.exports.memory.buffer, address, length);
  }

  // Call `work(address)` with room for so many doubles, filled with `values`; return its result.
  with(length, values, work) {
    const address = this.exports.allocate(8 * length);
    if (values) this.doubles(address, length).set(values);
    try {
      return work(address);
    } finally {
      this.exports.release(address);
    }
  }

  // Write `length` doubles by `fill(address)` and return them.
  filled(length, fill) {
    return this.with(length, null, (address) => {
      fill(address);
      return this.doubles(address, length).slice();
    });
  }

  withPoints(points, work) {
    const n = points.codes.length;
    return this.with(points.x.length, points.x, (x) => {
      const codes = this.exports.allocate(4 * n + 8);
      this.integers(codes, n).set(points.codes);
      try {
        return work(x, codes, n);
      } finally {
        this.exports.release(codes);
      }
    });
  }

  ruleNumber(name) {
    const bytes = new TextEncoder().encode(`${name}\0`);
    return this.with(bytes.length, null, (address) => {
      new Uint8Array(this.exports.memory.buffer, address).set(bytes);
      return this.exports.rule_number(address);
    });
  }

  // The parameters of a rule in the order that the core wants them.
  parameters(number) {
    const names = [];
    for (let k = 0, address; (address = this.exports.rule_parameter(number, k)); k += 1) names.push(this.text(address));
    return names;
  }

  // Whether the classes can be separated by a line: see prove_plane in bind_wasm_plane.cpp.
  prove(points) {
    const out = this.withPoints(points, (x, codes, n) =>
      this.filled(16, (address) => this.exports.prove_plane(x, codes, n, address)),
    );
    const pairs = (from, count) =>
      Array.from({ length: count }, (_, k) => ({ row: out[from + 2 * k], share: out[from + 2 * k + 1] }));
    if (out[0] === 0) return { verdict: "one class" };
    if (out[0] < 0) return { verdict: "inseparable", witness: pairs(2, out[1]) };
    return {
      verdict: "separable",
      w: [out[1], out[2]],
      b: out[3],
      lower: out[4],
      upper: out[5],
      exact: out[6] === 1,
      support: [...pairs(7, 2), ...pairs(11, 2)].filter((each) => each.share > 0),
    };
  }

  // Novikoff's bound with the bias coordinate K: the square of the radius, and the largest margin from both sides.
  mistakeBound(points, K, epochs) {
    const [radiusSquare, lower, upper] = this.withPoints(points, (x, codes, n) =>
      this.filled(3, (address) => this.exports.mistake_bound(x, codes, n, this.dimension, K, epochs, address)),
    );
    return { radiusSquare, lower, upper, bound: lower > 0 ? radiusSquare / (lower * lower) : Infinity };
  }
}

const MOST_PARAMETERS = 4; // of a rule
const LOSSES = ["zeroOne", "perceptron", "squared", "log", "hinge", "squaredHinge"];

// One run of a model over points; `settings` are those of bind_wasm.cpp by name, with the rule's name and parameters.
export class Run {
  constructor(core, points, settings) {
    this.core = core;
    this.n = points.codes.length;
    this.kernelled = settings.kind >= 2;
    this.width = this.kernelled ? this.n : core.dimension;
    const rule = core.ruleNumber(settings.ruleName ?? "threshold");
    const values = { ...settings, rule };
    const given = core.parameters(rule).map((name) => settings.parameters?.[name] ?? 0);
    const refusal = core.with(MOST_PARAMETERS, given, (address) => core.exports.rule_refusal(rule, address));
    if (settings.ruleName && refusal) throw new Error(core.text(refusal));
    given.forEach((value, k) => {
      values[`p${k}`] = value;
    });
    const numbers = core.settings.map((name) => Number(values[name] ?? 0));
    const { exports } = core;
    this.address = core.with(numbers.length, numbers, (address) => exports.new_run(this.n, core.dimension, address));
    core.doubles(exports.rows_of(this.address), points.x.length).set(points.x);
    core.integers(exports.codes_of(this.address), this.n).set(points.codes);
    exports.begin_run(this.address);
    this.size = exports.state_size(this.address);
  }

  end() {
    this.core.exports.end_run(this.address);
    this.address = 0;
  }
  get foldSize() {
    return this.core.exports.fold_size(this.address);
  }
  beginEpoch() {
    return this.core.exports.begin_epoch(this.address);
  }
  visit(from, to) {
    return this.core.exports.visit(this.address, from, to);
  }
  endEpoch() {
    this.core.exports.end_epoch(this.address);
  }
  snapshot() {
    return this.core.doubles(this.core.exports.state_of(this.address), this.size).slice();
  }
  restore(state) {
    this.core.doubles(this.core.exports.state_of(this.address), this.size).set(state);
  }
  weights() {
    return this.core.filled(this.width + 1, (out) => this.core.exports.weights(this.address, out));
  }
  lastWeights() {
    return this.core.filled(this.width + 1, (out) => this.core.exports.last_weights(this.address, out));
  }
  dualWeights() {
    return this.core.filled(this.n, (out) => this.core.exports.dual_weights(this.address, out));
  }
  svmValues() {
    return this.core.filled(2, (out) => this.core.exports.svm_values(this.address, out));
  }

  counts() {
    const [epoch, clock, before, now, updates] = this.core.filled(5, (out) =>
      this.core.exports.counts(this.address, out),
    );
    return { epoch, clock, mistakes: before + now, updates };
  }

  look(place) {
    const out = this.core.filled(10, (address) => this.core.exports.look(this.address, place, address));
    const [row, sign, activation, margin, q, moves, shrink, tau, extra, biasSquare] = out;
    return { row, sign, activation, margin, q, moves: moves === 1, shrink, tau, extra, biasSquare };
  }

  losses(weights) {
    const sums = this.core.with(weights.length, weights, (w) =>
      this.core.filled(6, (out) => this.core.exports.losses(this.address, w, out)),
    );
    return Object.fromEntries(LOSSES.map((name, k) => [name, sums[k]]));
  }

  decide(weights, coordinates) {
    const m = coordinates.length / this.core.dimension;
    return this.core.with(weights.length, weights, (w) =>
      this.core.with(coordinates.length, coordinates, (x) =>
        this.core.filled(m, (out) => this.core.exports.decide(this.address, w, x, m, out)),
      ),
    );
  }
}
