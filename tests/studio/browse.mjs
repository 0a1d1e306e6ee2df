// What the tests of the studio share: a browser with the page from a file, and claims that are checked one by one.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const require = createRequire(new URL("../browser/", import.meta.url));
const { chromium } = require("playwright-core");
export const AXE = require.resolve("axe-core/axe.min.js");

export class Studio {
  constructor(browserPath, file) {
    this.browserPath = browserPath;
    this.url = pathToFileURL(path.resolve(file)).href;
  }

  async open() {
    this.browser = await chromium.launch({
      executablePath: this.browserPath,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
  }

  // A page in a context of its own, with everything that goes wrong on it in `page.faults`.
  async page({ fragment = "", context, ...options } = {}) {
    const own =
      context ??
      (await this.browser.newContext({
        viewport: { width: 1280, height: 900 },
        reducedMotion: "reduce",
        acceptDownloads: true,
        ...options,
      }));
    const page = await own.newPage();
    page.faults = [];
    page.on("console", (message) => {
      if (message.type() !== "log") page.faults.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => page.faults.push(`error: ${error.message}`));
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && request.url().split("#")[0] !== this.url)
        page.faults.push(`request: ${request.url()}`);
    });
    await page.goto(this.url + fragment);
    await page.waitForSelector("html[data-ready]");
    await settled(page);
    return page;
  }
}

// Wait until the worker has answered everything and the page has drawn it.
export async function settled(page) {
  await page.evaluate(async () => {
    const still = () =>
      window.studio.client.open.size === 0 && window.studio.client.waiting.size === 0 && !window.studio.asked;
    for (let calm = 0; calm < 2;) {
      await new Promise((resolve) => {
        setTimeout(resolve, 4);
      });
      calm = still() ? calm + 1 : 0;
    }
  });
}

export async function choose(page, selector, value) {
  await page.selectOption(selector, value);
  await settled(page);
}

export async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
  await settled(page);
}

// Everything that is seen of the run where it stands, as text.
export const seen = (page) =>
  page.evaluate(() =>
    JSON.stringify({ frames: window.studio.now?.frames, step: window.studio.now?.step }, (_, value) =>
      ArrayBuffer.isView(value) ? [...value].map(String) : value,
    ),
  );
export const state = (page) =>
  page.evaluate(() => {
    const { points, names, labels, models } = window.studio.store.state;
    return JSON.stringify({ points, names, labels, models });
  });
export const text = (page, selector) => page.locator(selector).textContent();

export function equal(a, b, what = "") {
  if (a !== b) throw new Error(`${what} ${String(a).slice(0, 400)} !== ${String(b).slice(0, 400)}`);
}
export function holds(condition, what) {
  if (!condition) throw new Error(what);
}

// Check claims {name: async function} in their order, and print what went wrong with each, null if nothing.
export async function check(claims, only = null) {
  const found = {};
  for (const [name, claim] of Object.entries(claims)) {
    if (only && name !== only) continue;
    const start = performance.now();
    try {
      await claim();
      found[name] = null;
    } catch (problem) {
      found[name] = String(problem.stack ?? problem).slice(0, 1500);
    }
    process.stderr.write(`${name}: ${Math.round(performance.now() - start)} ms\n`);
  }
  console.log(JSON.stringify(found));
}
