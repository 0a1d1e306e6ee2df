// The widget as a notebook would show it: node widget.mjs CHROMIUM PAGE.HTML WIDGET.JS goes to the end of the run in
// the cell and prints what came back.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Studio } from "./browse.mjs";

const [browserPath, file, widget] = process.argv.slice(2);
const notebook = path.join(path.dirname(file), "notebook.html");
writeFileSync(notebook, "<!doctype html><title>A notebook</title><div id=cell></div>");
const studio = new Studio(browserPath, notebook);
await studio.open();
const page = await studio.browser.newPage();
page.on("pageerror", (error) => {
  throw error;
});
await page.goto(studio.url);
await page.evaluate(
  async ([source, html]) => {
    const {
      default: { render },
    } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
    const model = {
      get: () => html,
      set: (_, value) => {
        window.run = value;
      },
      save_changes: () => {
        window.saved = true;
      },
    };
    render({ model, el: document.getElementById("cell") });
  },
  [readFileSync(widget, "utf8"), readFileSync(file, "utf8")],
);
const cell = page.frameLocator("iframe");
await cell.locator("html[data-ready]").waitFor();
await cell.locator("#last").click();
await page.waitForFunction(() => window.saved && window.run.step > 20);
await page.waitForTimeout(1000); // messages come every 0.3 seconds while the run goes on
console.log(JSON.stringify(await page.evaluate(() => window.run)));
await studio.browser.close();
