// From an estimator of Python and its parameters to a model of the studio: the reverse of estimatorOf.
import { checkedModel } from "./models.mjs";

const IDS = {
  Perceptron: "perceptron",
  Neuron: "neuron",
  PassiveAggressive: "pa",
  AROW: "arow",
  LinearSVM: "svm",
  KernelPerceptron: "kernelPerceptron",
  KernelSVM: "kernelSvm",
};
const SAME = [
  "margin",
  "readout",
  "boundary",
  "loss",
  "variant",
  "C",
  "r",
  "covariance",
  "kernel",
  "gamma",
  "degree",
  "coef0",
];

// The model with these parameters; what the studio does not know becomes its default.
export function modelOf({ estimator, parameters }) {
  const given = { id: IDS[estimator] };
  for (const name of SAME) if (Object.hasOwn(parameters, name)) given[name] = parameters[name];
  const {
    eta0,
    batch_size: batch,
    fit_intercept: fits,
    intercept_scaling: scaling,
    bias,
    shuffle,
    random_state: seed,
    init,
    max_iter: epochs,
  } = parameters;
  const [weights, [start] = []] = Array.isArray(init) ? init : [[[]]];
  const known = {
    eta: eta0,
    batch: batch === "all" ? "all" : "one",
    bias: fits === false ? 0 : given.id === "kernelPerceptron" ? bias : scaling,
    order: shuffle === false ? "cyclic" : "shuffled",
    seed,
    start1: weights.flat()[0],
    start2: weights.flat()[1],
    startBias: start,
    epochs: Math.min(epochs, 2000),
  };
  return checkedModel({ ...given, ...known });
}
