// Predictions from a model that separatrix exported as JSON. One file without dependencies, for browsers and node.
//
//     const model = separatrix.load(text);       // the text of the JSON file, or what JSON.parse made of it
//     model.predict({age: 31, town: "Oslo"});    // a label, or null: no prediction
//     model.scores({age: 31, town: "Oslo"});     // numbers, or null: one for two classes, one for each of more
//     model.probabilities({age: 31, town: "Oslo"});  // one for each class, or null: none, as model.hasProbabilities says
//     model.columns                              // [{name, role, levels}, ...]: role is number, category or text
//     model.classes                              // the labels; whole numbers beyond 2^53 are BigInts
//
// A row is an object or a Map by column name; for a model without column names, an array of its numbers.
//   - Missing values are null, undefined, NaN, and absent columns; for numbers also "".
//   - A row with an infinite number has no prediction.
//   - A number must be a number (or a BigInt; true and false are 1 and 0): a text like "3.5" throws a TypeError, so that
//     nothing is guessed.
//   - A category is a text; true, false and numbers stand for their texts. "" is a text like any other.
//   - A text is a text; "" has no words.
// Whether a row with missing values or an unknown category has a prediction depends on the model.
(function (root) {
  "use strict";

  const FORMAT = "separatrix-scorer";
  const VERSION = 1;
  const LANES = 16;
  const has = Object.prototype.hasOwnProperty;

  function shown(value) {
    return typeof value === "string" ? JSON.stringify(value) : String(value);
  }

  function damaged(what) {
    return new Error("the scorer is damaged: " + what);
  }

  // ---------------------------------------------------------------------------------------------- reading the JSON

  function numbers(value, size, what) {
    if (!Array.isArray(value) || (size !== null && value.length !== size)) {
      throw damaged(what + " should be " + (size === null ? "" : size + " ") + "numbers");
    }
    for (const each of value) {
      if (typeof each !== "number" || !Number.isFinite(each)) throw damaged(what + " should be numbers");
    }
    return Float64Array.from(value);
  }

  // All numbers, or {size, places, values} where most of them are 0.
  function vector(value, size, what) {
    if (Array.isArray(value)) return numbers(value, size, what);
    if (value === null || typeof value !== "object" || value.size !== size) throw damaged(what + " has another size");
    const out = new Float64Array(size);
    const values = numbers(value.values, null, what);
    numbers(value.places, values.length, what).forEach((place, k) => {
      if (!(Number.isInteger(place) && place >= 0 && place < size)) throw damaged(what + " has no place " + place);
      out[place] = values[k];
    });
    return out;
  }

  function vectors(value, size, what) {
    if (!Array.isArray(value)) throw damaged(what + " should be a list");
    return value.map((each) => vector(each, size, what));
  }

  function readColumn(given, place) {
    const column = { name: given.name, role: given.role, place: place, width: 1, optional: given.optional === true };
    column.gap = column.pooled = null; // the places of the features for a missing value and for other levels
    if (given.role === "number") {
      column.fill = given.fill === undefined ? null : given.fill;
    } else if (given.role === "category") {
      column.codes = new Map();
      given.levels.forEach((level, code) => level.forEach((text) => column.codes.set(text, code)));
      column.width = given.levels.length;
      if (given.pooled === true) column.pooled = place + column.width++;
      if (given.gap === true) column.gap = place + column.width++;
      column.levels = given.levels.map((level) => level[0]);
    } else if (given.role === "text") {
      column.hashed = given.hashed || 0;
      column.words = column.hashed ? null : new Map(given.words.map((word, k) => [word, k]));
      column.width = column.hashed || given.words.length;
      column.rarity = column.hashed ? null : numbers(given.rarity, column.width, "the rarity of words");
    } else {
      throw damaged("no column can be " + shown(given.role));
    }
    return column;
  }

  function readLabels(given) {
    return given.type === "large" ? given.labels.map((label) => BigInt(label)) : given.labels.slice();
  }

  // ---------------------------------------------------------------------------------------------- from cells to numbers

  function isMissing(value) {
    return value === null || value === undefined || (typeof value === "number" && Number.isNaN(value));
  }

  function wrong(column, wanted, value) {
    const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
    const text = typeof value === "object" || typeof value === "symbol" ? "" : " " + shown(value);
    return new TypeError("column " + shown(column.name) + " takes a " + wanted + "; found the " + kind + text);
  }

  // A number, or NaN where there is none.
  function readNumber(column, value) {
    if (isMissing(value) || value === "") return NaN;
    if (typeof value === "bigint" || typeof value === "boolean") value = Number(value);
    if (typeof value !== "number") throw wrong(column, "number", value);
    return value;
  }

  function readText(column, value) {
    if (typeof value === "string") return value;
    const kinds = column.role === "category" ? ["number", "boolean", "bigint"] : [];
    if (!kinds.includes(typeof value)) throw wrong(column, "text", value);
    return String(value);
  }

  // Unigrams and bigrams, as scikit-learn's vectorizers split them.
  function wordsOf(text) {
    const words = text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) || [];
    const pairs = words.slice(1).map((word, k) => words[k] + " " + word);
    return words.concat(pairs);
  }

  // MurmurHash3 of 32 bits with seed 0, of the text in UTF-8; signed.
  function hash(text) {
    const bytes = new TextEncoder().encode(text);
    const whole = bytes.length - (bytes.length % 4);
    const mixed = (k) => {
      k = Math.imul(k, 0xcc9e2d51);
      return Math.imul((k << 15) | (k >>> 17), 0x1b873593);
    };
    let h = 0;
    for (let i = 0; i < whole; i += 4) {
      h ^= mixed(bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24));
      h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
    }
    let tail = 0;
    for (let i = bytes.length - 1; i >= whole; --i) tail = (tail << 8) | bytes[i];
    if (whole < bytes.length) h ^= mixed(tail);
    h ^= bytes.length;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return (h ^ (h >>> 16)) | 0;
  }

  // Term frequency times inverse document frequency, scaled to length 1.
  function addWords(column, text, row) {
    const counts = new Map();
    for (const word of wordsOf(text)) {
      const place = column.hashed ? Math.abs(hash(word)) % column.hashed : column.words.get(word);
      if (place !== undefined) counts.set(place, (counts.get(place) || 0) + 1);
    }
    const places = Array.from(counts.keys()).sort((a, b) => a - b);
    const values = places.map((place) => counts.get(place) * (column.hashed ? 1 : column.rarity[place]));
    let square = 0;
    for (const value of values) square += value * value;
    const length = Math.sqrt(square);
    places.forEach((place, k) => {
      row.places.push(column.place + place);
      row.values.push(values[k] / length);
    });
  }

  // ---------------------------------------------------------------------------------------------- arithmetic
  // A row is {numbers, places, values}: its numbers, scaled, and what else is not 0, in the order of places.
  // Additions go in the order of separatrix itself, so that linear models give the same bits.

  function denseProduct(row, weights) {
    const sum = new Float64Array(LANES);
    row.numbers.forEach((value, j) => {
      sum[j % LANES] += value * weights[j];
    });
    row.places.forEach((place, k) => {
      sum[place % LANES] += row.values[k] * weights[place];
    });
    for (let half = LANES / 2; half >= 1; half /= 2) {
      for (let j = 0; j < half; ++j) sum[j] += sum[j + half];
    }
    return sum[0];
  }

  function sparseProduct(row, weights) {
    const sum = [0, 0, 0, 0];
    let next = 0;
    row.numbers.forEach((value, j) => {
      if (value !== 0) sum[next++ % 4] += value * weights[j];
    });
    row.places.forEach((place, k) => {
      if (row.values[k] !== 0) sum[next++ % 4] += row.values[k] * weights[place];
    });
    return sum[0] + sum[2] + (sum[1] + sum[3]);
  }

  function sigmoid(sum) {
    const tail = Math.exp(-Math.abs(sum));
    return (sum < 0 ? tail : 1) / (1 + tail);
  }

  function power(base, degree) {
    let out = base;
    for (const bit of degree.toString(2).slice(1)) {
      out *= out;
      if (bit === "1") out *= base;
    }
    return out;
  }

  // What computes the kernel of a row with support vector i.
  function kernelOf(given, support, product, count) {
    if (given.name === "linear") return (row, i) => product(row, support[i]);
    if (given.name === "poly") {
      return (row, i) => power(given.gamma * product(row, support[i]) + given.coef0, given.degree);
    }
    if (given.name !== "rbf") throw damaged("no kernel is called " + shown(given.name));
    const squares = support.map((each) => each.subarray(count).reduce((sum, value) => sum + value * value, 0));
    return (row, i) => {
      let square = 0;
      row.numbers.forEach((value, j) => {
        square += (value - support[i][j]) * (value - support[i][j]);
      });
      let rest = squares[i];
      row.places.forEach((place, k) => {
        rest += row.values[k] * (row.values[k] - 2 * support[i][place]);
      });
      return Math.exp(-given.gamma * (square + Math.max(rest, 0)));
    };
  }

  // ---------------------------------------------------------------------------------------------- decisions
  // Each returns what turns a row into scores.

  function linear(given, shape) {
    const weights = vectors(given.weights, shape.width, "weights");
    const bias = numbers(given.bias, shape.scores, "bias");
    if (weights.length !== bias.length) throw damaged("each score has one row of weights");
    return (row) => weights.map((each, k) => shape.product(row, each) + bias[k]);
  }

  function layers(given, shape) {
    let size = shape.width;
    const every = given.layers.map((layer) => {
      const read = { weights: vectors(layer.weights, size, "weights"), bias: numbers(layer.bias, null, "bias") };
      if (read.weights.length !== read.bias.length) throw damaged("each neuron has one row of weights");
      size = read.bias.length;
      return read;
    });
    return (row) => {
      let outputs = every[0].weights.map((each, k) => shape.product(row, each) + every[0].bias[k]);
      for (const layer of every.slice(1)) {
        const inputs = outputs.map(sigmoid);
        outputs = layer.weights.map((each, k) => inputs.reduce((sum, a, j) => sum + a * each[j], 0) + layer.bias[k]);
      }
      return outputs;
    };
  }

  function kernelled(given, shape) {
    const support = vectors(given.support, shape.width, "a support vector");
    const bias = numbers(given.bias, null, "bias");
    const coefficients = vectors(given.coefficients, bias.length, "coefficients");
    if (coefficients.length !== support.length) throw damaged("each support vector has coefficients");
    const kernel = kernelOf(given.kernel, support, shape.product, shape.numbers);
    const activations = (row) => {
      const sum = new Array(bias.length).fill(0);
      for (let i = 0; i < support.length; ++i) {
        const value = kernel(row, i);
        for (let k = 0; k < sum.length; ++k) sum[k] += value * coefficients[i][k];
      }
      return sum.map((each, k) => each + bias[k]);
    };
    return given.pairs ? (row) => votesOfPairs(activations(row), shape.classes) : activations;
  }

  // One-vs-one: a score is the votes of a class, plus a fraction for the size of its activations.
  function votesOfPairs(activations, classes) {
    const votes = new Array(classes).fill(0);
    const clear = new Array(classes).fill(0);
    let k = 0;
    for (let first = 0; first < classes; ++first) {
      for (let second = first + 1; second < classes; ++second, ++k) {
        clear[first] += activations[k];
        clear[second] -= activations[k];
        votes[activations[k] >= 0 ? first : second] += 1;
      }
    }
    return votes.map((count, c) => count + clear[c] / (3 * (Math.abs(clear[c]) + 1)));
  }

  // The fraction of votes for the class minus the fraction against it; each mistake adds a voter.
  function voted(given, shape) {
    const support = vectors(given.support, shape.width, "a support vector");
    const kernel = kernelOf(given.kernel, support, shape.product, shape.numbers);
    const tasks = given.ballots.map((each) => ({
      start: vector(each.start, shape.width, "the first voter"),
      bias: each.bias,
      constant: each.constant,
      rows: each.rows,
      steps: numbers(each.steps, each.rows.length, "steps"),
      counts: numbers(each.counts, each.rows.length + 1, "counts"),
    }));
    const tie = shape.tieIsPositive ? 1 : -1;
    const vote = (activation) => (activation > 0 ? 1 : activation < 0 ? -1 : tie);
    return (row) => {
      const values = support.map((_, i) => kernel(row, i));
      return tasks.map((task) => {
        const start = shape.product(row, task.start) + task.bias;
        let grown = 0;
        let total = task.counts[0];
        let sum = task.counts[0] * vote(start);
        task.rows.forEach((i, j) => {
          grown += task.steps[j] * (values[i] + task.constant);
          sum += task.counts[j + 1] * vote(grown + start);
          total += task.counts[j + 1];
        });
        return total > 0 ? sum / total : sum;
      });
    };
  }

  const DECISIONS = new Map([["linear", linear], ["layers", layers], ["kernelled", kernelled], ["voted", voted]]);

  // ---------------------------------------------------------------------------------------------- probabilities
  // Each returns what turns scores into outputs, before they are divided by their sum.

  function outputsOf(given, size) {
    if (given.method === "sigmoid") {
      const slope = numbers(given.slope, size, "slope");
      const intercept = numbers(given.intercept, size, "intercept");
      return (scores) => scores.map((score, k) => sigmoid(-(slope[k] * score + intercept[k])));
    }
    if (given.method === "isotonic") {
      if (given.knots.length !== size || given.values.length !== size) throw damaged("each score has knots");
      const knots = given.knots.map((own) => numbers(own, null, "knots"));
      const values = given.values.map((own, k) => numbers(own, knots[k].length, "values"));
      return (scores) => scores.map((score, k) => interpolated(score, knots[k], values[k]));
    }
    if (given.method !== "temperature") throw damaged("no calibration is called " + shown(given.method));
    if (size === 1) return (scores) => scores.map((score) => sigmoid(2 * given.beta * score));
    return (scores) => {
      const most = Math.max(...scores);
      return scores.map((score) => Math.exp((score - most) * given.beta));
    };
  }

  // Linear between knots, constant beyond.
  function interpolated(score, knots, values) {
    const last = knots.length - 1;
    if (score <= knots[0]) return values[0];
    if (score >= knots[last]) return values[last];
    let k = 0;
    while (score >= knots[k + 1]) ++k;
    return values[k] + ((score - knots[k]) * (values[k + 1] - values[k])) / (knots[k + 1] - knots[k]);
  }

  function normalised(outputs) {
    if (outputs.length === 1) return [1 - outputs[0], outputs[0]];
    const total = outputs.reduce((sum, each) => sum + each, 0);
    return outputs.map((each) => (total > 0 ? each / total : 1 / outputs.length));
  }

  // ---------------------------------------------------------------------------------------------- the model

  class Model {
    constructor(data) {
      let width = 0;
      const gaps = data.columns.filter((given) => given.role === "number" && given.gap === true).length;
      const numeric = data.columns.filter((given) => given.role === "number").length;
      let gap = numeric;
      this._columns = data.columns.map((given) => {
        if (width === numeric) width += gaps; // they stand behind the numbers
        const column = readColumn(given, width);
        if (given.role === "number" && given.gap === true) column.gap = gap++;
        width += column.width;
        return column;
      });
      if (width === numeric) width += gaps;
      this._named = data.named === true;
      this._unknownIsZero = data.unknown === "zero";
      this._numeric = this._columns.filter((column) => column.role === "number");
      this._others = this._columns.filter((column) => column.role !== "number");
      this._steps = data.steps.map((step) => [step.operation, numbers(step.numbers, this._numeric.length, "steps")]);
      this._tieIsPositive = data.tie_is_positive === true;
      this._threshold = data.threshold === undefined ? 0 : data.threshold;
      if (typeof this._threshold !== "number") throw damaged("the threshold should be a number");
      this.target = data.target;
      this.classes = Object.freeze(readLabels(data.classes));
      this.columns = Object.freeze(
        this._columns.map((column) =>
          Object.freeze({ name: column.name, role: column.role, levels: Object.freeze(column.levels || []) })
        )
      );
      const decision = DECISIONS.get(data.decision.type);
      if (decision === undefined) throw damaged("no decision is called " + shown(data.decision.type));
      this._decide = decision(data.decision, {
        width: width,
        numbers: this._numeric.length,
        classes: this.classes.length,
        scores: this.classes.length <= 2 ? 1 : this.classes.length,
        product: data.sparse ? sparseProduct : denseProduct,
        tieIsPositive: this._tieIsPositive,
      });
      const size = this.classes.length <= 2 ? 1 : this.classes.length;
      this.hasProbabilities = data.probabilities !== null && data.probabilities !== undefined;
      this._outputs = this.hasProbabilities ? outputsOf(data.probabilities, size) : null;
    }

    // A function that returns the cell of a column; throws a TypeError if this is not a row.
    _cells(row) {
      if (!this._named) {
        if (!Array.isArray(row) && !ArrayBuffer.isView(row)) throw new TypeError("a row is an array of numbers here");
        if (row.length !== this._columns.length) {
          throw new TypeError("a row has " + this._columns.length + " numbers; found " + row.length);
        }
        return (column) => row[column.place];
      }
      if (row instanceof Map) return (column) => row.get(column.name);
      if (row === null || typeof row !== "object" || Array.isArray(row) || ArrayBuffer.isView(row)) {
        throw new TypeError("a row is an object or a Map by column name");
      }
      return (column) => (has.call(row, column.name) ? row[column.name] : undefined);
    }

    // The row as numbers, or null if it has no prediction.
    _read(row) {
      const cell = this._cells(row);
      const out = { numbers: new Float64Array(this._numeric.length), places: [], values: [] };
      const add = (place) => {
        out.places.push(place);
        out.values.push(1);
      };
      let complete = true; // wrong cells throw wherever they are
      this._numeric.forEach((column, j) => {
        let value = readNumber(column, cell(column));
        if (Number.isNaN(value)) {
          if (column.fill !== null) value = column.fill;
          if (column.gap !== null) add(column.gap);
        }
        if (!Number.isFinite(value)) complete = false;
        for (const [operation, every] of this._steps) {
          if (operation === "minus") value -= every[j];
          else if (operation === "over") value /= every[j];
          else if (operation === "times") value *= every[j];
          else value += every[j];
        }
        out.numbers[j] = value;
      });
      for (const column of this._others) {
        const value = cell(column);
        if (isMissing(value)) {
          complete = complete && column.optional;
          if (column.gap !== null) add(column.gap);
          continue;
        }
        const text = readText(column, value);
        if (column.role === "text") {
          addWords(column, text, out);
          continue;
        }
        const code = column.codes.get(text);
        if (code !== undefined) add(column.place + code);
        else if (column.pooled !== null) add(column.pooled);
        else complete = complete && this._unknownIsZero;
      }
      return complete ? out : null;
    }

    scores(row) {
      const read = this._read(row);
      return read === null ? null : this._decide(read);
    }

    probabilities(row) {
      const scores = this._outputs === null ? null : this.scores(row);
      return scores === null ? null : normalised(this._outputs(scores));
    }

    predict(row) {
      const scores = this.scores(row);
      if (scores === null) return null;
      if (this.classes.length === 1) return this.classes[0];
      if (this.classes.length === 2) {
        return this.classes[(this._tieIsPositive ? scores[0] >= this._threshold : scores[0] > this._threshold) ? 1 : 0];
      }
      let best = 0;
      for (let k = 1; k < scores.length; ++k) {
        if (!(scores[k] <= scores[best]) && !Number.isNaN(scores[best])) best = k;
      }
      return this.classes[best];
    }
  }

  function load(given) {
    const data = typeof given === "string" ? JSON.parse(given) : given;
    if (data === null || typeof data !== "object" || data.format !== FORMAT) {
      throw new Error("this is not a model that separatrix exported as JSON: its format is not " + shown(FORMAT));
    }
    if (data.version !== VERSION) {
      throw new Error("this script reads version " + VERSION + " of " + FORMAT + "; found " + shown(data.version));
    }
    try {
      return new Model(data);
    } catch (problem) {
      throw problem instanceof TypeError ? damaged(problem.message) : problem;
    }
  }

  const separatrix = Object.freeze({ load: load, FORMAT: FORMAT, VERSION: VERSION });
  if (typeof module === "object" && module !== null && module.exports) module.exports = separatrix;
  else root.separatrix = separatrix;
})(typeof globalThis === "object" ? globalThis : this);
