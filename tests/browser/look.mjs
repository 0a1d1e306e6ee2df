// Looks at HTML pages in Chromium: three widths, light and dark. Prints one JSON object with what is wrong with each page.
// node look.mjs CHROMIUM OUTPUT PAGE ... : with an OUTPUT folder other than "-", pictures and a PDF of each page go there.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { chromium } from "playwright-core";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const WIDTHS = [360, 768, 1280];
const SCHEMES = ["light", "dark"];
const [browserPath, output, ...pages] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

async function look(file, width, colorScheme) {
  const found = [];
  const context = await browser.newContext({
    viewport: { width, height: 900 }, colorScheme, bypassCSP: true, reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const own = pathToFileURL(path.resolve(file)).href;
  page.on("console", (message) => { if (message.type() !== "log") found.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => found.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (url !== own && !url.startsWith("data:")) found.push(`request: ${url}`);
  });
  await page.goto(own);
  const [wide, seen] = await page.evaluate(() => [document.scrollingElement.scrollWidth, window.innerWidth]);
  if (wide > seen) found.push(`the page is ${wide} pixels wide in a window of ${seen}`);
  const cut = await page.evaluate(() => [...document.querySelectorAll("table.matrix.dense")]
    .filter((each) => each.parentElement.scrollWidth > each.parentElement.clientWidth).length);
  if (cut && width >= 1280) found.push(`${cut} confusion matrices are cut off`);
  const clipped = await page.evaluate(() => [...document.querySelectorAll("svg.chart text")]
    .filter((text) => { const box = text.getBoundingClientRect(); return box.left < 0 || box.right > window.innerWidth; })
    .map((text) => text.textContent));
  if (clipped.length) found.push(`texts leave the window: ${clipped.slice(0, 3).join("; ")}`);
  await page.evaluate(() => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
  await page.addScriptTag({ path: axe });
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const each of result.violations) {
    found.push(`axe ${each.id}: ${each.help}: ${each.nodes.slice(0, 2).map((node) => node.html).join(" | ")}`);
  }
  if (output !== "-") {
    await page.evaluate(() => document.querySelectorAll("details").forEach((each) => { each.open = false; }));
    const stem = path.join(output, `${path.basename(file, ".html")}-${width}-${colorScheme}`);
    await page.screenshot({ path: `${stem}.png`, fullPage: true });
  }
  await context.close();
  return found.map((text) => `${width} ${colorScheme}: ${text}`);
}

async function print(file) {
  const page = await browser.newPage();
  await page.goto(pathToFileURL(path.resolve(file)).href);
  const target = output === "-" ? undefined : path.join(output, `${path.basename(file, ".html")}.pdf`);
  const made = await page.pdf({ path: target, format: "A4", preferCSSPageSize: true });
  await page.close();
  return made.length > 1000 && made.subarray(0, 5).toString() === "%PDF-" ? [] : ["print: no PDF"];
}

const report = {};
for (const file of pages) {
  report[file] = [];
  for (const width of WIDTHS) for (const scheme of SCHEMES) report[file].push(...await look(file, width, scheme));
  report[file].push(...await print(file));
}
await browser.close();
console.log(JSON.stringify(report));
