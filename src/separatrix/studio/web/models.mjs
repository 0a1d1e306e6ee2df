// The models: their parameters, and what the core is told of them.

const number = (label, value, low, high, more = {}) => ({ type: "number", label, value, low, high, ...more });
const choice = (label, value, options) => ({ type: "choice", label, value, options });
const KINDS = { online: 0, svm: 1, kernelPerceptron: 2, kernelSvm: 3 };
const TIES = { mistake: [1, 1], positive: [1, 0], negative: [0, 1] };

const ETA = number("learning rate η", 1, 1e-6, 1e6);
const ORDER = choice("order", "cyclic", [
  ["cyclic", "as drawn"],
  ["shuffled", "shuffled each epoch"],
]);
const SEED = number("random seed", 0, 0, 4294967295, { whole: true, when: (m) => m.order === "shuffled" });
const BIAS = number("bias K (0: none)", 1, 0, 1e6);
const EPOCHS = number("epochs at most", 100, 1, 2000, { whole: true });
const BATCH = choice("batch", "one", [
  ["one", "one example"],
  ["all", "all examples"],
]);
const C = number("C", 1, 1e-6, 1e9);
const BOUNDARY = choice("a tie is", "mistake", [
  ["mistake", "a mistake"],
  ["positive", "positive"],
  ["negative", "negative"],
]);
const START = {
  start1: number("start w₁", 0, -1e6, 1e6),
  start2: number("start w₂", 0, -1e6, 1e6),
  startBias: number("start b", 0, -1e6, 1e6),
};
const KERNEL = {
  kernel: choice("kernel K(x, z)", "rbf", [
    ["rbf", "Gaussian (rbf)"],
    ["poly", "polynomial"],
    ["linear", "linear"],
  ]),
  gamma: number("γ", 1, 1e-6, 1e6, { when: (m) => m.kernel !== "linear" }),
  degree: number("degree", 2, 1, 9, { whole: true, when: (m) => m.kernel === "poly" }),
  coef0: number("c₀", 1, -1e3, 1e3, { when: (m) => m.kernel === "poly" }),
};
const READOUT = choice("weights read", "last", [
  ["last", "last"],
  ["averaged", "averaged"],
  ["pocket", "pocket (best so far)"],
]);

export const MODELS = {
  perceptron: {
    name: "Perceptron",
    fields: {
      eta: ETA,
      margin: number("margin", 0, 0, 1e6),
      readout: READOUT,
      boundary: BOUNDARY,
      batch: BATCH,
      bias: BIAS,
      ...START,
    },
    rule: "threshold",
    parameters: (m) => ({ eta: m.eta, threshold: m.margin }),
    novikoff: (m) => m.margin === 0 && m.bias >= 0 && !(m.start1 || m.start2 || m.startBias) && m.batch === "one",
  },
  neuron: {
    name: "Sigmoid neuron",
    fields: {
      loss: choice("loss", "squared", [
        ["squared", "squared (Lecture 002)"],
        ["log", "log loss"],
      ]),
      eta: { ...ETA, value: 0.5 },
      batch: BATCH,
      ...START,
    },
    rule: (m) => m.loss,
    parameters: (m) => ({ eta: m.eta, alpha: 0, falling: 0 }),
  },
  pa: {
    name: "Passive-aggressive",
    fields: {
      variant: choice("variant", "pa1", [
        ["pa", "PA"],
        ["pa1", "PA-I"],
        ["pa2", "PA-II"],
      ]),
      C: { ...C, when: (m) => m.variant !== "pa" },
      bias: BIAS,
    },
    rule: (m) => m.variant,
    parameters: (m) => ({ C: m.C }),
  },
  arow: {
    name: "AROW",
    fields: {
      r: number("r", 1, 1e-6, 1e6),
      covariance: choice("covariance", "diagonal", [
        ["diagonal", "diagonal"],
        ["full", "full"],
      ]),
      bias: BIAS,
    },
    rule: "arow",
    parameters: (m) => ({ r: m.r }),
  },
  svm: {
    name: "Linear SVM (dual ascent)",
    kind: KINDS.svm,
    fields: {
      C,
      loss: choice("loss", "hinge", [
        ["hinge", "hinge"],
        ["squared_hinge", "squared hinge"],
      ]),
    },
    alwaysShuffled: true,
  },
  kernelPerceptron: {
    name: "Kernel perceptron",
    kind: KINDS.kernelPerceptron,
    most: 1500,
    fields: { ...KERNEL, boundary: BOUNDARY, bias: BIAS },
    rule: "threshold",
    parameters: () => ({ eta: 1, threshold: 0 }),
  },
  kernelSvm: {
    name: "Kernel SVM (SMO)",
    kind: KINDS.kernelSvm,
    most: 1500,
    fields: { C: { ...C, value: 10 }, ...KERNEL },
    ordered: false,
  },
};

// Whether a run counts mistakes as examples are met; of an optimum one asks how many its weights predict wrong.
export const countsMistakes = (id) => ![KINDS.svm, KINDS.kernelSvm].includes(MODELS[id].kind);

// The fields of a model, those that all have included.
export function fieldsOf(id) {
  const model = MODELS[id];
  const order =
    model.ordered === false
      ? {}
      : model.alwaysShuffled
        ? { seed: { ...SEED, when: undefined } }
        : { order: ORDER, seed: SEED };
  return { ...model.fields, ...order, epochs: EPOCHS };
}

export function defaultModel(id) {
  const values = Object.entries(fieldsOf(id)).map(([name, field]) => [name, field.value]);
  return { id, ...Object.fromEntries(values) };
}

// A model from anywhere, each field that cannot be replaced by its default.
export function checkedModel(given) {
  const id = Object.hasOwn(MODELS, given?.id) ? given.id : "perceptron";
  const model = defaultModel(id);
  for (const [name, field] of Object.entries(fieldsOf(id))) {
    if (given && Object.hasOwn(given, name) && accepts(field, given[name])) model[name] = given[name];
  }
  return model;
}

export function accepts(field, value) {
  if (field.type === "choice") return field.options.some(([each]) => each === value);
  const fits = typeof value === "number" && value >= field.low && value <= field.high;
  return fits && (!field.whole || Number.isInteger(value));
}

// What the worker needs of a model.
export function plan(model) {
  const { rule, parameters, kind = KINDS.online, alwaysShuffled, novikoff } = MODELS[model.id];
  const [negative, positive] = TIES[model.boundary ?? "mistake"];
  return {
    maxEpochs: model.epochs,
    novikoff: Boolean(novikoff?.(model)),
    settings: {
      kind,
      ruleName: typeof rule === "function" ? rule(model) : rule,
      parameters: parameters?.(model),
      bias: model.bias ?? 1,
      tie_negative: negative,
      tie_positive: positive,
      shuffled: alwaysShuffled || model.order === "shuffled" ? 1 : 0,
      seed: model.seed ?? 0,
      batch: model.batch === "all" ? 0 : 1,
      readout: ["last", "averaged", "pocket"].indexOf(model.readout ?? "last"),
      spread: model.covariance ? (model.covariance === "full" ? 2 : 1) : 0,
      C: model.C ?? 0,
      squared: model.loss === "squared_hinge" ? 1 : 0,
      kernel: ["linear", "rbf", "poly"].indexOf(model.kernel ?? "linear"),
      gamma: model.gamma ?? 0,
      degree: model.degree ?? 0,
      coef0: model.coef0 ?? 0,
      start_bias: model.startBias ?? 0,
      start_first: model.start1 ?? 0,
      start_second: model.start2 ?? 0,
    },
  };
}
