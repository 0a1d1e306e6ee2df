// Where the worker begins: the first message is the core, compressed; the answers begin when it has been compiled.
import { Core } from "./core.mjs";
import { serve } from "./worker.mjs";

self.onmessage = async ({ data }) => {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  const core = await Core.load(await new Response(stream).arrayBuffer());
  const receive = serve(core, (answer) => self.postMessage(answer));
  self.onmessage = ({ data: message }) => receive(message);
  self.postMessage("ready");
};
