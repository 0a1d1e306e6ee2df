// The studio from its server: node served.mjs CHROMIUM ADDRESS MODEL.SX prints the certificate and saves the model.
import { Studio, equal, settled, text } from "./browse.mjs";

const [browserPath, address, path] = process.argv.slice(2);
const studio = new Studio(browserPath, "");
studio.url = address;
await studio.open();
const page = await studio.page();
equal(await page.evaluate(() => window.studio.store.state.points.length), 4);
await page.click("#epoch-forward");
await settled(page);
page.faults.length = 0; // the requests to the server
await page.click("#certify");
await page.waitForSelector("#certificate:not([hidden])");
console.log(await text(page, "#certificate"));
const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-model")]);
await download.saveAs(path);
equal(page.faults.filter((fault) => !fault.startsWith(`request: ${address}`)).join("; "), "");
await studio.browser.close();
