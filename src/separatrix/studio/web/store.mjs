// The page's state: points and models, with undo, kept in the browser's storage. Views are told of every change.
import { defaultModel } from "./models.mjs";
import { packed, unpacked } from "./link.mjs";

const KEY = "separatrix-studio";
const MOST_UNDO = 100;

export class Store {
  constructor() {
    this.state = {
      points: [],
      names: ["x1", "x2"],
      labels: ["-1", "1"],
      models: [defaultModel("perceptron")],
      step: 0,
    };
    this.past = [];
    this.future = [];
    this.listeners = [];
    this.saving = 0;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  // Change data or models: `change` returns the new parts. With `merge` it joins the change before it (a drag).
  change(parts, { merge = false, keepStep = false } = {}) {
    if (!merge) {
      this.past.push(this.state);
      if (this.past.length > MOST_UNDO) this.past.shift();
      this.future = [];
    }
    this.#set({ ...this.state, ...(keepStep ? {} : { step: 0 }), ...parts });
  }

  undo() {
    this.#swap(this.past, this.future);
  }
  redo() {
    this.#swap(this.future, this.past);
  }

  // Note where the run stands, which is no change that can be undone; it is kept when the page is left.
  stand(step) {
    this.state = { ...this.state, step };
  }

  #swap(from, to) {
    const state = from.pop();
    if (!state) return;
    to.push(this.state);
    this.#set({ ...state, step: 0 });
  }

  #set(state) {
    this.state = state;
    for (const listener of this.listeners) listener(state);
    this.#save();
  }

  // Soon, and at most every half second: a drag changes points sixty times a second.
  #save() {
    if (this.saving) return;
    this.saving = setTimeout(() => {
      this.saving = 0;
      this.saveNow();
    }, 500);
  }

  saveNow() {
    try {
      localStorage.setItem(KEY, JSON.stringify(packed(this.state)));
    } catch {
      /* no storage, or it is full: the page works without */
    }
  }

  // The state that was left here before; null if there is none or it cannot be read.
  static remembered() {
    try {
      const text = localStorage.getItem(KEY);
      return text ? unpacked(JSON.parse(text)) : null;
    } catch {
      return null;
    }
  }
}
