// Drawing with the mouse, a finger or the keyboard.
import { $ } from "./dom.mjs";
import { scaleOf } from "./geometry.mjs";

const NEAR = 14; // pixels
const MOST_POINTS = 20_000;
const STEP = 1 / 40; // of the box, of the cursor

// A number with as many digits as a pixel tells apart.
function rounded(value, pixel) {
  const digits = Math.max(0, Math.min(12, Math.ceil(-Math.log10(pixel))));
  return Number(value.toFixed(digits));
}

export class Editor {
  constructor(store, view) {
    this.store = store;
    this.view = view; // {box, redraw}
    this.canvas = $("plane");
    this.cursor = null;
    this.selected = null;
    this.dragging = null;
    this.canvas.addEventListener("pointerdown", (event) => this.#down(event));
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => this.#up());
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.canvas.addEventListener("blur", () => {
      this.cursor = null;
      view.redraw();
    });
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  get tool() {
    return document.querySelector("input[name=tool]:checked").value;
  }
  get #scale() {
    return scaleOf(this.view.box, this.canvas.clientWidth, this.canvas.clientHeight);
  }

  forget() {
    this.selected = null;
  }

  #place(event) {
    const scale = this.#scale;
    const frame = this.canvas.getBoundingClientRect();
    const pixel = (this.view.box.right - this.view.box.left) / scale.inner.width;
    return {
      x: rounded(scale.toX(event.clientX - frame.left), pixel),
      y: rounded(scale.toY(event.clientY - frame.top), pixel),
    };
  }

  #nearest(event) {
    const scale = this.#scale;
    const frame = this.canvas.getBoundingClientRect();
    let [best, row] = [NEAR, null];
    this.store.state.points.forEach(({ x, y }, k) => {
      const far = Math.hypot(scale.x(x) - (event.clientX - frame.left), scale.y(y) - (event.clientY - frame.top));
      if (far < best) [best, row] = [far, k];
    });
    return row;
  }

  #down(event) {
    this.canvas.focus();
    const near = this.#nearest(event);
    const { tool } = this;
    if (tool === "delete" || event.altKey) {
      if (near !== null) this.remove(near);
    } else if (tool === "move" || event.button === 2) {
      if (near === null) return;
      this.selected = near;
      this.dragging = { row: near, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
      this.view.redraw();
    } else {
      this.add(this.#place(event), Number(tool));
    }
  }

  #move(event) {
    if (!this.dragging) return;
    this.#shift(this.dragging.row, this.#place(event), this.dragging.moved);
    this.dragging.moved = true;
  }

  #up() {
    this.dragging = null;
  }

  #shift(row, place, merge) {
    const points = [...this.store.state.points];
    points[row] = { ...points[row], ...place };
    this.store.change({ points }, { merge, keepStep: true });
  }

  add(place, c) {
    const { points } = this.store.state;
    if (points.length < MOST_POINTS) this.store.change({ points: [...points, { ...place, c }] });
  }

  remove(row) {
    this.selected = null;
    this.store.change({ points: this.store.state.points.filter((_, k) => k !== row) });
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { box } = this.view;
    const { points } = this.store.state;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = [STEP * (box.right - box.left), STEP * (box.top - box.bottom)];
    const round = ({ x, y }) => ({ x: rounded(x, step[0] / 20), y: rounded(y, step[1] / 20) });
    const way = ways[event.key];
    if (way && event.shiftKey && this.selected !== null) {
      const { x, y } = points[this.selected];
      this.#shift(this.selected, round({ x: x + way[0] * step[0], y: y + way[1] * step[1] }), false);
    } else if (way && !event.shiftKey) {
      const from = this.cursor ?? { x: (box.left + box.right) / 2, y: (box.bottom + box.top) / 2 };
      const within = (value, low, high) => Math.max(low, Math.min(high, value));
      this.cursor = round({
        x: within(from.x + way[0] * step[0], box.left, box.right),
        y: within(from.y + way[1] * step[1], box.bottom, box.top),
      });
    } else if (event.key === "Enter" && this.cursor) {
      this.add({ ...this.cursor }, this.tool === "0" ? 0 : 1);
    } else if (/^[np]$/i.test(event.key) && points.length) {
      const by = event.key.toLowerCase() === "n" ? 1 : -1;
      this.selected =
        this.selected === null
          ? by > 0
            ? 0
            : points.length - 1
          : (this.selected + by + points.length) % points.length;
    } else if (/^c$/i.test(event.key) && this.selected !== null) {
      this.store.change({
        points: points.map((point, k) => (k === this.selected ? { ...point, c: 1 - point.c } : point)),
      });
    } else if ((event.key === "Delete" || event.key === "Backspace") && this.selected !== null) {
      this.remove(this.selected);
    } else if (event.key === "Escape") {
      this.cursor = this.selected = null;
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.view.redraw();
  }
}
