// Time: play and pause, steps, epochs, the scrubber; and the keys of the page.
import { $ } from "./dom.mjs";

export class Player {
  constructor(page) {
    this.page = page;
    this.playing = false;
    const click = (id, action) =>
      $(id).addEventListener("click", () => {
        this.pause();
        action();
      });
    click("first", () => page.seek(0));
    click("last", () => page.seek(page.now?.total ?? 0));
    click("back", () => page.move("step", -1));
    click("forward", () => page.move("step", 1));
    click("epoch-back", () => page.move("epoch", -1));
    click("epoch-forward", () => page.move("epoch", 1));
    click("update", () => page.move("update", 1));
    $("play").addEventListener("click", () => this.toggle());
    $("scrubber").addEventListener("input", () => {
      this.pause();
      page.seek(Number($("scrubber").value));
    });
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    const { now } = this.page;
    if (!now) return;
    this.playing = true;
    this.due = now.frame.step >= now.total && now.ended ? -now.total : 0; // from the start again
    this.time = performance.now();
    this.busy = false;
    requestAnimationFrame((time) => this.#frame(time));
    this.page.redraw();
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.page.redraw();
  }

  #frame(time) {
    const { page } = this;
    if (!this.playing || !page.now) return;
    this.due += (Math.max(0, Math.min(time - this.time, 250)) / 1000) * Number($("speed").value);
    this.time = time;
    const steps = Math.trunc(this.due);
    if (steps !== 0 && !this.busy) {
      this.due -= steps;
      this.busy = true;
      page.seek(Math.max(0, page.now.step + steps)).then(() => {
        this.busy = false;
      });
    }
    if (page.now.ended && page.now.step >= page.now.total && this.due >= 0 && !this.busy) this.pause();
    else requestAnimationFrame((next) => this.#frame(next));
  }

  show(now) {
    $("play").textContent = this.playing ? "Pause" : "Play";
    for (const id of ["first", "epoch-back", "back", "play", "forward", "epoch-forward", "update", "last", "scrubber"])
      $(id).disabled = !now;
    if (!now) return;
    const scrubber = $("scrubber");
    scrubber.max = String(now.total);
    scrubber.value = String(now.step);
    scrubber.setAttribute("aria-valuetext", `step ${now.step} of ${now.total}`);
    const start = now.step === 0;
    const end = now.ended && now.step >= now.total;
    for (const id of ["first", "epoch-back", "back"]) $(id).disabled = start && document.activeElement !== $(id);
    for (const id of ["forward", "epoch-forward", "update", "last"])
      $(id).disabled = end && document.activeElement !== $(id);
  }
}

// The keys that work wherever the focus is, but for fields that take text or arrows themselves.
export function beginKeys(page) {
  const { player, store } = page;
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const field = target.closest?.("input, select, textarea");
    if (
      (event.ctrlKey || event.metaKey) &&
      key.toLowerCase() === "z" &&
      !(field && field.type !== "radio" && field.type !== "checkbox")
    ) {
      if (event.shiftKey) store.redo();
      else store.undo();
    } else if (field || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (key === " " && !target.closest?.("button, summary, [tabindex]:not(canvas)")) {
      player.toggle();
    } else if (key === "ArrowRight" || key === "ArrowLeft") {
      player.pause();
      page.move(event.shiftKey ? "epoch" : "step", key === "ArrowRight" ? 1 : -1);
    } else if (key === "Home" || key === "End") {
      player.pause();
      page.seek(key === "Home" ? 0 : (page.now?.total ?? 0));
    } else if (key.toLowerCase() === "m") {
      player.pause();
      page.move("update", event.shiftKey ? -1 : 1);
    } else {
      return;
    }
    event.preventDefault();
  });
}
