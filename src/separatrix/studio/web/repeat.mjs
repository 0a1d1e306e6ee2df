// What repeats a run: the estimator with its parameters, as a line of Python too, and the command.
import { MODELS } from "./models.mjs";

// The estimator that makes the same run, and its parameters; `epochs` is where it stands.
export function estimatorOf(model, epochs) {
  const ordered = model.order === "shuffled" ? { random_state: model.seed } : { shuffle: false };
  const bias = model.bias === 0 ? { fit_intercept: false } : model.bias === 1 ? {} : { intercept_scaling: model.bias };
  const start =
    model.start1 || model.start2 || model.startBias
      ? { init: [[[model.start1, model.start2]], [model.startBias]] }
      : {};
  const batch = model.batch === "all" ? { batch_size: "all" } : {};
  const boundary = model.boundary === "mistake" ? {} : { boundary: model.boundary };
  const stop = { stop: `epochs:${epochs}` };
  const kernel =
    model.kernel === "linear"
      ? { kernel: "linear" }
      : {
          kernel: model.kernel,
          gamma: model.gamma,
          ...(model.kernel === "poly" ? { degree: model.degree, coef0: model.coef0 } : {}),
        };
  const [name, parameters] = {
    perceptron: () => [
      "Perceptron",
      {
        eta0: model.eta,
        ...(model.margin ? { margin: model.margin } : {}),
        ...(model.readout === "last" ? {} : { readout: model.readout }),
        ...boundary,
        ...batch,
        ...bias,
        ...start,
        ...ordered,
        max_iter: epochs,
      },
    ],
    neuron: () => ["Neuron", { loss: model.loss, eta0: model.eta, ...batch, ...start, ...ordered, ...stop }],
    pa: () => [
      "PassiveAggressive",
      { variant: model.variant, ...(model.variant === "pa" ? {} : { C: model.C }), ...bias, ...ordered, ...stop },
    ],
    arow: () => ["AROW", { r: model.r, covariance: model.covariance, ...bias, ...ordered, ...stop }],
    svm: () => ["LinearSVM", { C: model.C, loss: model.loss, random_state: model.seed }],
    kernelPerceptron: () => [
      "KernelPerceptron",
      { ...kernel, bias: model.bias, ...boundary, ...ordered, max_iter: epochs },
    ],
    kernelSvm: () => ["KernelSVM", { C: model.C, ...kernel }],
  }[model.id]();
  return { name, parameters };
}

const inPython = (value) =>
  typeof value === "boolean"
    ? value
      ? "True"
      : "False"
    : Array.isArray(value) && Array.isArray(value[0]) && Array.isArray(value[0][0])
      ? `(${value.map((each) => JSON.stringify(each).replaceAll(",", ", ")).join(", ")})`
      : JSON.stringify(value);

// The same as a line of Python.
export function estimatorLine(model, epochs) {
  const { name, parameters } = estimatorOf(model, epochs);
  return `sx.${name}(${Object.entries(parameters)
    .map(([key, value]) => `${key}=${inPython(value)}`)
    .join(", ")})`;
}

// The command that shows the same steps of a CSV file of the points, or fits the same model to it.
export function commandLine(model, epochs, file) {
  const quoted = `'${file.replaceAll("'", "'\\''")}'`;
  if (MODELS[model.id].kind) {
    const named = { svm: "svm", kernelPerceptron: "kernel-perceptron", kernelSvm: "kernel-svm" }[model.id];
    const parameters = Object.entries({
      C: model.C,
      loss: model.loss,
      kernel: model.kernel,
      gamma: model.kernel === "linear" ? undefined : model.gamma,
      degree: model.kernel === "poly" ? model.degree : undefined,
      coef0: model.kernel === "poly" ? model.coef0 : undefined,
      bias: model.id === "kernelPerceptron" ? model.bias : undefined,
    })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` --param ${name}=${value}`);
    return `separatrix fit ${quoted} --target label --model ${named}${parameters.join("")} --scale none --test 0`;
  }
  const rule = {
    perceptron: model.margin ? "margin_perceptron" : "perceptron",
    neuron: model.loss === "log" ? "logistic_neuron" : "sigmoid_neuron",
    pa: model.variant,
    arow: "arow",
  }[model.id];
  const options = [
    `--rule ${rule}`,
    ...(model.eta === undefined ? [] : [`--eta0 ${model.eta}`]),
    ...(model.margin ? [`--margin ${model.margin}`] : []),
    ...(model.id === "pa" && model.variant !== "pa" ? [`--C ${model.C}`] : []),
    ...(model.id === "arow" ? [`--r ${model.r}`, `--covariance ${model.covariance}`] : []),
    ...(model.readout && model.readout !== "last" ? [`--readout ${model.readout}`] : []),
    ...(model.boundary && model.boundary !== "mistake" ? [`--boundary ${model.boundary}`] : []),
    ...(model.batch === "all" ? ["--batch all"] : []),
    ...(model.start1 || model.start2 || model.startBias
      ? [`--start=${model.start1},${model.start2},${model.startBias}`]
      : []),
    ...(model.bias === 0
      ? ["--no-intercept"]
      : model.bias && model.bias !== 1
        ? [`--bias-constant ${model.bias}`]
        : []),
    ...(model.order === "shuffled" ? ["--order shuffled", `--seed ${model.seed}`] : []),
    `--max-iter ${epochs}`,
  ];
  return `separatrix trace ${quoted} --target label ${options.join(" ")}`;
}
