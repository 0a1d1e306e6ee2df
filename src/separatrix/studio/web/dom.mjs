// Elements of the page. Text is only ever set as text.

export const $ = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list" && name !== "form") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function say(text, bad = false) {
  const notice = $("notice");
  notice.textContent = text;
  notice.classList.toggle("bad", bad);
  notice.dataset.time = String(performance.now());
}

// Take a notice away that has been there for some seconds.
export function forgetNotice() {
  if (performance.now() - Number($("notice").dataset.time ?? 0) > 3000) say("");
}

export function download(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied.`);
  } catch {
    const area = make("textarea", { value: text, ariaLabel: what });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    say(done ? `${what} copied.` : `The browser does not allow to copy. ${what}: ${text}`, !done);
  }
}
