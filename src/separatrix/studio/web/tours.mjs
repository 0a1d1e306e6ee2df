// Five guided tours, one for each lecture: what to try, and what to see. A stop of a tour is {text, set, model, step}:
// the set of points (with the numbers of a generator), the model, and the step at which the run stands; what is left
// out stays.

const CLOUDS = { n: 40, noise: 0.3, seed: 3 };

export const TOURS = {
  "000": {
    name: "Lecture 000: the perceptron",
    stops: [
      {
        set: "lecture-000",
        model: { id: "perceptron", startBias: 1 },
        step: 0,
        text: "Six points, and the lecture's start: w = (0, 0), b = 1. Every point is predicted as class 1, because w·x + b = 1. Press + 1 to present the points one by one: the first three are right, and nothing changes.",
      },
      {
        step: 4,
        text: "Point 4, (−1, −1), is of class −1, but w·x + b = 1: a mistake. The rule adds y x to w and y to b. The arrows show w before, the vector that is added, and w after.",
      },
      {
        step: 5,
        text: "Point 5 lies exactly on the boundary. In the lecture a tie is a mistake (y a ≤ 0), so that zero weights can begin to learn: w = (2, 0), b = −1.",
      },
      {
        step: 9,
        text: "Epoch 2 has one mistake, at point 3: w = (2, −1), b = 0. Press − 1 and + 1 to see the boundary before and after.",
      },
      {
        step: 18,
        text: "Epoch 3 changes nothing, and the run ends: the boundary is 2 x₁ − x₂ = 0, as in the lecture. The green lines are the widest street, which the perceptron does not look for.",
      },
      {
        set: "blobs",
        options: CLOUDS,
        model: { id: "perceptron" },
        step: 0,
        text: "From zero weights Novikoff's theorem limits the mistakes: below the plane you see the bound (R/γ)². Press End and compare it with the mistakes that were made. Then move two points of different classes towards each other: the bound grows.",
      },
      {
        set: "and",
        model: { id: "perceptron" },
        step: 0,
        text: "AND is separable: press Play. Try OR too, under Data.",
      },
      {
        set: "xor",
        model: { id: "perceptron", epochs: 20 },
        step: 0,
        text: "XOR is not: the segments between the points of each class cross, and no line has them on different sides. The perceptron never ends; the proof says why.",
      },
    ],
  },
  "001": {
    name: "Lecture 001: weights and a bias",
    stops: [
      {
        set: "lecture-001",
        model: { id: "perceptron", start1: 1 },
        step: 0,
        text: "Four points, start w = (1, 0), b = 0. The activation of a point is w·x + b; its sign is the prediction.",
      },
      {
        step: 2,
        text: "The only update is at the second point, (0.5, −1) of class −1: its activation was 0.5. After it w = (0.5, 1), b = −1. Its y·a has grown from −0.5 by |x|² + 1 = 2.25: that is what an update is for.",
      },
      {
        step: 8,
        text: "The next epoch makes no mistake. Open the table of steps: the activations are 1, 0.5, −2.5 and −0.5 as in the lecture, the second one before its update.",
      },
      {
        set: "blobs",
        options: { ...CLOUDS, noise: 0.8 },
        model: { id: "perceptron", order: "shuffled", epochs: 30 },
        step: 0,
        text: "The order matters: here it is shuffled anew in each epoch. These classes overlap, so that the last weights jump about. Press Play, at 200 steps a second.",
      },
      {
        model: { id: "perceptron", order: "shuffled", readout: "averaged", epochs: 30 },
        step: 1200,
        text: "The averaged weights of the same run: every weight vector counts as long as it lasted. Go back and forth in time: the boundary hardly moves.",
      },
    ],
  },
  "002": {
    name: "Lecture 002: gradient descent",
    stops: [
      {
        set: "blobs",
        options: CLOUDS,
        model: { id: "neuron", eta: 0.5, epochs: 60 },
        step: 0,
        text: "The sigmoid neuron: every example moves the weights, by the slope of the squared loss. Watch the loss under the plane while it plays.",
      },
      {
        model: { id: "neuron", eta: 0.02, epochs: 60 },
        step: 2400,
        text: "A small learning rate: the loss falls, but slowly. After 60 epochs it is still on its way.",
      },
      {
        model: { id: "neuron", eta: 0.5, batch: "all", epochs: 60 },
        step: 60,
        text: "Batch mode: one step for all examples together. The path of the weights is smooth, and an epoch is a single step.",
      },
      {
        set: "xor",
        model: { id: "neuron", eta: 1, epochs: 200 },
        step: 800,
        text: "XOR again: a single neuron cannot learn it. It needs a layer between, or a kernel.",
      },
      {
        set: "xor",
        model: { id: "kernelPerceptron", kernel: "poly", degree: 2, gamma: 1, coef0: 1 },
        step: 0,
        text: "With a polynomial kernel of degree 2 the same points are separable, by a curve. Press Play.",
      },
    ],
  },
  "003": {
    name: "Lecture 003: margins and support vectors",
    stops: [
      {
        set: "blobs",
        options: CLOUDS,
        model: { id: "perceptron" },
        step: 0,
        text: "Many lines separate these classes. The proof shows the widest street and the points that hold it. Choose “move” and drag one of them: the street follows. Drag another point: it stays.",
      },
      {
        model: { id: "svm", C: 1000, epochs: 200 },
        step: 40,
        text: "The SVM by dual ascent: one example at a time, its α goes to the best value between 0 and C. Points with a ring have α > 0: these are the support vectors. Press End: the dashed lines come to the widest street.",
      },
      {
        set: "blobs",
        options: { ...CLOUDS, noise: 0.8 },
        model: { id: "svm", C: 1 },
        step: 400,
        text: "Classes that overlap: slack is paid for with C. Points within the street, or on the wrong side, have α = C. Try C = 0.01 and C = 100.",
      },
      {
        model: { id: "kernelPerceptron", kernel: "linear", bias: 1, epochs: 20 },
        step: 80,
        text: "The perceptron in dual form: it counts the mistakes of each point, α, and never computes w. With the linear kernel its boundary is that of the perceptron.",
      },
      {
        set: "rings",
        options: { n: 60, noise: 0.08, seed: 1 },
        model: { id: "kernelSvm", kernel: "rbf", gamma: 1, C: 10 },
        step: 60,
        text: "With a Gaussian kernel the street is curved. The bars show α: most points could be left out.",
      },
    ],
  },
  "004": {
    name: "Lecture 004: the threshold neuron",
    stops: [
      {
        set: "lecture-004",
        model: { id: "perceptron", eta: 0.1, boundary: "negative" },
        step: 0,
        text: "Five points with labels 0 and 1. The neuron fires when w·x > θ, and b is −θ. A tie does not fire, so it is right for class 0 and a mistake for class 1.",
      },
      {
        step: 1,
        text: "The delta rule, w ← w + η (t − y) x and θ ← θ − η (t − y), moves the weights at a mistake only. The vector η x is added to w: that is the lecture's figure.",
      },
      {
        model: { id: "perceptron", eta: 0.1, boundary: "negative", order: "shuffled", seed: 1 },
        step: 0,
        text: "The order is shuffled in every epoch, as in the lecture. Choose another seed: the path is another, the end is a line that separates too.",
      },
      {
        set: "blobs",
        options: { ...CLOUDS, noise: 0.8 },
        model: { id: "perceptron", eta: 0.1, order: "shuffled", epochs: 40 },
        step: 1600,
        text: "Where no line separates the classes, an epoch without a change never comes: the run ends at the maximum of epochs. The loss L, the points that these weights predict wrong, goes up and down: choose it under the loss curve.",
      },
      {
        model: { id: "perceptron", eta: 0.1, order: "shuffled", readout: "pocket", epochs: 40 },
        step: 1600,
        text: "The pocket keeps the best weights so far. Its loss never rises.",
      },
    ],
  },
};
