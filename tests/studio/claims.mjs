// What a person does in the studio, in Chromium: node claims.mjs CHROMIUM STUDIO.HTML [CLAIM] prints what went wrong
// with each.
import { readFileSync } from "node:fs";
import { AXE, Studio, check, choose, equal, holds, press, seen, settled, state, text } from "./browse.mjs";
import { RUNS, EPOCHS, bitsOf, pointsOf } from "./wasm_bits.mjs";
import { checkedModel, plan } from "../../src/separatrix/studio/web/models.mjs";
import { Core } from "../../src/separatrix/studio/web/core.mjs";
import { TOURS } from "../../src/separatrix/studio/web/tours.mjs";
import { Timeline } from "../../src/separatrix/studio/web/timeline.mjs";

const [browserPath, file, only] = process.argv.slice(2);
const studio = new Studio(browserPath, file);
await studio.open();

async function closed(page) {
  equal(page.faults.join("; "), "", "on the page:");
  await page.context().close();
}

async function clickAt(page, x, y) {
  const box = await page.locator("#plane").boundingBox();
  await page.mouse.click(box.x + x * box.width, box.y + y * box.height);
  await settled(page);
}

async function pasted(page, csv) {
  await page.evaluate((value) => {
    document.getElementById("import").open = true;
    document.getElementById("csv").value = value;
  }, csv);
  await page.click("#read");
  await settled(page);
}

const count = (page) => page.evaluate(() => window.studio.store.state.points.length);

const claims = {
  "the worked example of Lecture 000 ends with its weights": async () => {
    const page = await studio.page();
    await page.click("#last");
    await settled(page);
    equal(await page.evaluate(() => [...window.studio.now.frame.weights].join(" ")), "2 -1 0");
    holds((await text(page, "#position")).includes("3 mistakes, 3 updates · converged"), await text(page, "#position"));
    await closed(page);
  },

  "a step forward and back is the same state, for every model": async () => {
    const page = await studio.page();
    await choose(page, "#sets", "moons");
    for (const model of ["perceptron", "neuron", "pa", "arow", "svm", "kernelPerceptron", "kernelSvm"]) {
      await choose(page, "#model-0 select", model);
      for (const start of [0, 45]) {
        await page.evaluate((step) => window.studio.seek(step), start);
        await settled(page);
        const before = await seen(page);
        for (const id of ["#forward", "#epoch-forward", "#forward"]) {
          await page.click(id);
          await settled(page);
        }
        holds((await seen(page)) !== before, `${model}: nothing moved`);
        await page.evaluate((step) => window.studio.seek(step), start + 1);
        await settled(page);
        await page.click("#back");
        await settled(page);
        equal(await seen(page), before, model);
      }
    }
    await closed(page);
  },

  "the scrubber goes to a step, and the keys move it": async () => {
    const page = await studio.page();
    await choose(page, "#sets", "lecture-001");
    await page.locator("#scrubber").fill("3");
    await settled(page);
    equal(await page.evaluate(() => window.studio.now.step), 3);
    await page.locator("#scrubber").focus();
    await press(page, "ArrowRight");
    equal(await page.evaluate(() => window.studio.now.step), 4);
    await closed(page);
  },

  "a click adds a point where it is, undo takes it away, and a reload keeps the drawing": async () => {
    const page = await studio.page();
    await page.click("#clear");
    await clickAt(page, 0.3, 0.5);
    await page.check("input[name=tool][value='0']");
    await clickAt(page, 0.7, 0.5);
    equal(await count(page), 2);
    const [first, second] = JSON.parse(await state(page)).points;
    holds(
      first.c === 1 && second.c === 0 && first.x < second.x && Math.abs(first.y - second.y) < 1e-9,
      JSON.stringify([first, second]),
    );
    await page.check("input[name=tool][value='move']");
    const before = await state(page);
    const box = await page.locator("#plane").boundingBox();
    await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.5 * box.height);
    await page.mouse.down();
    for (let k = 1; k <= 5; k += 1)
      await page.mouse.move(box.x + (0.3 + 0.02 * k) * box.width, box.y + 0.4 * box.height);
    await page.mouse.up();
    await settled(page);
    holds(JSON.parse(await state(page)).points[0].x > first.x, "the point did not move");
    await page.click("#undo");
    await settled(page);
    equal(await state(page), before, "one undo takes a whole drag back:");
    await page.check("input[name=tool][value='delete']");
    await clickAt(page, 0.7, 0.5);
    equal(await count(page), 1);
    await page.click("#undo");
    await settled(page);
    const kept = await state(page);
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    equal(await state(page), kept);
    await closed(page);
  },

  "a link holds points, model and step": async () => {
    const page = await studio.page({ permissions: [] });
    await choose(page, "#sets", "iris-2");
    await choose(page, "#model-0 select", "arow");
    await page.evaluate(() => window.studio.seek(123));
    await settled(page);
    await page.click("#copy-link");
    await page.waitForFunction(() => location.hash.startsWith("#s="));
    const other = await studio.page({ fragment: new URL(page.url()).hash });
    equal(await state(other), await state(page));
    equal(await seen(other), await seen(page));
    await closed(page);
    await closed(other);
  },

  "a broken link is a message, and what was there before stays": async () => {
    const page = await studio.page();
    await choose(page, "#sets", "xor");
    await page.evaluate(() => window.studio.store.saveNow());
    const kept = await state(page);
    for (const fragment of ["#s=%%%", "#s=AAAA", `#s=${"A".repeat(300_000)}`, "#s="]) {
      const other = await studio.page({ context: page.context(), fragment });
      holds(
        (await text(other, "#notice")).startsWith("The link"),
        `${fragment.slice(0, 9)}: ${await text(other, "#notice")}`,
      );
      equal(await state(other), kept, fragment.slice(0, 9));
      equal(other.faults.join("; "), "");
      await other.close();
    }
    await closed(page);
  },

  "a link with hostile values is refused or brought within bounds": async () => {
    const page = await studio.page();
    const fragmentOf = (value) =>
      page.evaluate(async (kept) => {
        const bytes = new Uint8Array(
          await new Response(
            new Blob([JSON.stringify(kept)]).stream().pipeThrough(new CompressionStream("deflate-raw")),
          ).arrayBuffer(),
        );
        return `#s=${btoa(String.fromCharCode(...bytes))
          .replaceAll("+", "-")
          .replaceAll("/", "_")}`;
      }, value);
    const hostile = {
      v: 1,
      p: [0, 1, 2, 3],
      c: "01",
      n: ["<img src=x onerror=alert(1)>", "a".repeat(5000)],
      l: ["</script><script>alert(1)</script>", "x"],
      m: [
        { id: "__proto__", eta: -5 },
        { id: "pa", C: 1e300, variant: "constructor" },
      ],
      t: 1e18,
    };
    const other = await studio.page({ fragment: await fragmentOf(hostile) });
    equal(await other.locator("img").count(), 0);
    const got = JSON.parse(await state(other));
    equal(got.models[0].id, "perceptron");
    equal(got.models[1].C, 1);
    equal(got.names[1].length, 60);
    await closed(other);
    const tooLarge = await studio.page({ fragment: await fragmentOf({ ...hostile, p: [1e300, 0, 0, 0] }) });
    holds((await text(tooLarge, "#notice")).includes("points are damaged"), await text(tooLarge, "#notice"));
    await closed(tooLarge);
    await closed(page);
  },

  "odd CSV files are read": async () => {
    const page = await studio.page();
    await pasted(page, '\ufeffhöhe;"breite ""b""";klasse\r\n1,5;2;<b>ja</b>\r\n\r\n"2,5";-3e-1;nein\r\n;4;ja\r\n');
    let got = JSON.parse(await state(page));
    equal(
      JSON.stringify(got.points),
      JSON.stringify([
        { x: 1.5, y: 2, c: 0 },
        { x: 2.5, y: -0.3, c: 1 },
      ]),
    );
    equal(got.names[1], 'breite "b"');
    holds((await text(page, "#notice")).includes("1 row left out"), await text(page, "#notice"));
    await choose(page, "#columns [data-field=positive]", "<b>ja</b>");
    got = JSON.parse(await state(page));
    equal(got.labels[1], "<b>ja</b>");
    equal(await page.locator("b").count(), 0);
    await pasted(page, "1 2 3\n4 5 6");
    holds((await text(page, "#notice")).startsWith("Three columns are needed"), await text(page, "#notice"));
    await pasted(page, "a,b,c\nx,y,z\nu,v,w");
    holds((await text(page, "#notice")).startsWith("Two columns with numbers"), await text(page, "#notice"));
    await pasted(page, "a,b,label\n1e200,1,0\n1e-300,1,1");
    holds((await text(page, "#notice")).startsWith("No row has two numbers"), await text(page, "#notice"));
    await page.evaluate(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", `a,b,label\n${"1,2,x\n".repeat(1_700_000)}`);
      document.getElementById("csv").dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
    });
    await settled(page);
    holds((await text(page, "#notice")).includes("at most 4 million are read"), await text(page, "#notice"));
    equal(await state(page), JSON.stringify(got), "nothing is lost:");
    await pasted(page, `a,b,label\n${Array.from({ length: 30 }, (_, k) => `${k},${k * k},only`).join("\n")}`);
    holds((await text(page, "#notice")).startsWith("No column has between 2 and 20"), await text(page, "#notice"));
    await closed(page);
  },

  "everything can be done with the keyboard": async () => {
    const page = await studio.page();
    await page.click("#clear");
    await page.locator("#plane").focus();
    await press(page, "ArrowLeft", "ArrowUp", "Enter");
    equal(await count(page), 1);
    await press(page, "ArrowRight", "ArrowRight", "Enter", "n", "c");
    equal(
      JSON.parse(await state(page))
        .points.map(({ c }) => c)
        .join(""),
      "01",
    );
    const { x } = JSON.parse(await state(page)).points[0];
    await press(page, "Shift+ArrowRight");
    holds(JSON.parse(await state(page)).points[0].x > x, "the point did not move");
    await press(page, "Delete");
    equal(await count(page), 1);
    await press(page, "Control+z");
    equal(await count(page), 2);
    await page.locator("body").evaluate(() => document.activeElement.blur());
    await press(page, "ArrowRight");
    equal(await page.evaluate(() => window.studio.now.step), 1);
    await press(page, "End");
    holds(await page.evaluate(() => window.studio.now.step === window.studio.now.total), "not at the end");
    await press(page, "Home", "m");
    holds(await page.evaluate(() => window.studio.now.frame.last.moves), "not at an update");
    await press(page, "Home");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => window.studio.now.step > 0);
    await press(page, "Space");
    equal(await text(page, "#play"), "Play");
    const reached = new Set();
    for (let k = 0; k < 60; k += 1) {
      await page.keyboard.press("Tab");
      reached.add(
        await page.evaluate(
          () => document.activeElement.id || document.activeElement.dataset.field || document.activeElement.name,
        ),
      );
    }
    for (const id of ["plane", "play", "scrubber", "sets", "id", "eta", "copy-link", "python"])
      holds(reached.has(id), `Tab does not reach ${id}: ${[...reached].join(" ")}`);
    await closed(page);
  },

  "the weights in Chromium are those of node": async () => {
    const core = await Core.load(readFileSync(new URL("../../src/separatrix/studio/core.wasm", import.meta.url)));
    const page = await studio.page();
    for (const [set, given] of RUNS.filter((_, k) => k % 4 === 0)) {
      const model = checkedModel({ ...given, epochs: EPOCHS });
      const points = pointsOf(set);
      const timeline = new Timeline(core, points, plan(model));
      timeline.runAhead(Infinity);
      const steps = timeline.starts.slice(1);
      const inNode = steps.map((step) => bitsOf(timeline.seek(step).weights));
      timeline.end();
      const inPage = await page.evaluate(
        async ({ x, codes, plan: planned, steps: wanted }) => {
          const { client } = window.studio;
          await client.ask("load", {
            points: { x: Float64Array.from(x), codes: Int32Array.from(codes) },
            models: [planned],
            step: 0,
          });
          const out = [];
          for (const step of wanted) out.push([...(await client.ask("seek", { step })).frames[0].weights]);
          return out;
        },
        { x: [...points.x], codes: [...points.codes], plan: plan(model), steps },
      );
      equal(inPage.map(bitsOf).join("\n"), inNode.join("\n"), JSON.stringify(model));
    }
    await closed(page);
  },

  "pictures, points and steps can be saved": async () => {
    const page = await studio.page();
    await pasted(page, 'a,b,label\n1,2,=HYPERLINK(1)\n3,4,"x <script>"\n');
    await page.click("#last");
    await settled(page);
    const saved = async (button) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
      return readFileSync(await download.path());
    };
    holds(String(await saved("#save-csv")).includes("'=HYPERLINK(1)"), "a formula of a spreadsheet");
    holds(String(await saved("#save-trace")).startsWith("| step | point |"), "steps");
    for (const view of ["plane", "mistakes", "losses", "weights"]) {
      await page.selectOption("#view", view);
      const svg = String(await saved("#save-svg"));
      const fault = await page.evaluate((source) => {
        const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
        return parsed.querySelector("parsererror, script") ? "not well-formed" : "";
      }, svg);
      equal(fault, "", view);
      equal((await saved("#save-png")).subarray(1, 4).toString(), "PNG");
    }
    await closed(page);
  },

  "every stop of the five tours stands where its text says": async () => {
    const page = await studio.page({ fragment: "#tour=000" });
    const weights = () =>
      page.evaluate(() =>
        [...window.studio.now.frames[0].current].map((value) => Math.round(value * 1e9) / 1e9).join(" "),
      );
    const known = {
      "000": ["0 0 1", "1 1 0", "2 0 -1", "2 -1 0", "2 -1 0"],
      "001": ["1 0 0", "0.5 1 -1", "0.5 1 -1"],
      "004": ["0 0 0", "0.3 0.1 0.1"],
    };
    for (const id of ["000", "001", "002", "003", "004"]) {
      await choose(page, "#tours", id);
      for (let at = 0; await page.locator("#tour").isVisible(); at += 1) {
        const title = await text(page, "#tour-title");
        const wanted = TOURS[id].stops[at].step;
        if (wanted !== undefined) equal(await page.evaluate(() => window.studio.now.step), wanted, title);
        const overlap = /overlap|no line/.test(await text(page, "#tour-text"));
        if (overlap) equal(await page.evaluate(() => window.studio.proof.verdict), "inseparable", title);
        if (known[id]?.[at]) equal(await weights(), known[id][at], title);
        await page.click("#tour-next");
        await settled(page);
        holds(at < 10, "the tour does not end");
      }
    }
    await closed(page);
  },

  "a rule refuses parameters that cannot be": async () => {
    const core = await Core.load(readFileSync(new URL("../../src/separatrix/studio/core.wasm", import.meta.url)));
    const planned = plan(checkedModel({ id: "perceptron" }));
    planned.settings.parameters.eta = -1;
    let problem = "";
    try {
      new Timeline(core, pointsOf("xor"), planned).end();
    } catch (refused) {
      problem = refused.message;
    }
    equal(problem, "eta must be positive");
  },

  "a failure of the core is a message, and the page goes on": async () => {
    const page = await studio.page();
    await page.evaluate(() => window.studio.client.newest("run", "no such method", {}, () => {}));
    await settled(page);
    holds((await text(page, "#notice")).startsWith("The core could not go on"), await text(page, "#notice"));
    await page.click("#forward");
    await settled(page);
    equal(await page.evaluate(() => window.studio.now.step), 1);
    await closed(page);
  },

  "two models step together on the same points": async () => {
    const page = await studio.page();
    await choose(page, "#sets", "moons");
    await page.evaluate(() => {
      document.getElementById("compare").open = true;
    });
    await choose(page, "#model-1 select", "svm");
    await page.evaluate(() => window.studio.seek(100));
    await settled(page);
    equal(await page.evaluate(() => window.studio.now.frames.map(({ step }) => step).join()), "100,100");
    await choose(page, "#model-1 select", "");
    equal(await page.evaluate(() => window.studio.now.frames.length), 1);
    await closed(page);
  },

  "20,000 points step, and memory stays flat": async () => {
    const core = await Core.load(readFileSync(new URL("../../src/separatrix/studio/core.wasm", import.meta.url)));
    for (const [n, steps] of [
      [20_000, 300],
      [500, 10_000],
    ]) {
      const x = Float64Array.from({ length: 2 * n }, (_, k) => Math.sin(k * 12.9898) * 3);
      const codes = Int32Array.from({ length: n }, (_, k) => (x[2 * k] + x[2 * k + 1] > 0.1 ? 1 : 0));
      const timeline = new Timeline(core, { x, codes }, plan(checkedModel({ id: "perceptron", epochs: 30 })));
      timeline.seek(100);
      const before = core.exports.memory.buffer.byteLength;
      for (let step = 101; step <= steps; step += 1) equal(timeline.seek(step).step, step);
      equal(core.exports.memory.buffer.byteLength, before);
      timeline.end();
    }
  },

  "axe finds nothing at three widths, in light and dark": async () => {
    const page = await studio.page({ bypassCSP: true });
    await page.evaluate(() =>
      document.querySelectorAll("details").forEach((each) => {
        each.open = true;
      }),
    );
    await page.click("#update");
    await page.addScriptTag({ path: AXE });
    for (const width of [360, 768, 1280]) {
      for (const colorScheme of ["light", "dark"]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await settled(page);
        equal(
          await page.evaluate(() => Math.max(0, document.scrollingElement.scrollWidth - window.innerWidth)),
          0,
          `${width}: too wide by`,
        );
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        equal(
          violations
            .map(
              (each) =>
                `${each.id}: ${each.nodes
                  .slice(0, 2)
                  .map((node) => node.html)
                  .join(" | ")}`,
            )
            .join("; "),
          "",
          `${width} ${colorScheme}:`,
        );
      }
    }
    await closed(page);
  },
};

await check(claims, only);
await studio.browser.close();
