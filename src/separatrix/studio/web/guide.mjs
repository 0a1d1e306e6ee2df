// The guide: it shows a tour stop by stop.
import { SETS } from "./datasets.mjs";
import { $, make } from "./dom.mjs";
import { checkedModel } from "./models.mjs";
import { TOURS } from "./tours.mjs";

export class Guide {
  constructor(store) {
    this.store = store;
    this.tour = null;
    this.at = 0;
    const list = $("tours");
    list.append(
      make("option", { value: "", textContent: "none" }),
      ...Object.entries(TOURS).map(([id, { name }]) => make("option", { value: id, textContent: name })),
    );
    list.addEventListener("change", () => this.start(list.value));
    $("tour-back").addEventListener("click", () => this.go(this.at - 1));
    $("tour-next").addEventListener("click", () => {
      if (this.at + 1 < this.tour.stops.length) this.go(this.at + 1);
      else this.start("");
    });
  }

  // Begin a tour by its name; an unknown one ends the guide.
  start(id) {
    this.tour = Object.hasOwn(TOURS, id) ? TOURS[id] : null;
    $("tours").value = this.tour ? id : "";
    $("tour").hidden = !this.tour;
    if (this.tour) this.go(0);
  }

  // The set of a stop is that of the last one before it that names one.
  go(at) {
    this.at = Math.max(0, at);
    const { stops, name } = this.tour;
    const stop = stops[this.at];
    const before = stops.slice(0, this.at + 1);
    const drawn = before.findLast(({ set }) => set);
    const model = before.findLast((each) => each.model).model;
    this.store.change(
      { ...SETS[drawn.set].make(drawn.options), models: [checkedModel(model)], step: stop.step },
      { keepStep: true },
    );
    $("tour-title").textContent = `${name} · ${this.at + 1} of ${stops.length}`;
    $("tour-text").textContent = stop.text;
    $("tour-back").disabled = this.at === 0;
    $("tour-next").textContent = this.at + 1 < stops.length ? "Next" : "End the tour";
  }
}
