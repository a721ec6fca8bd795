// The program that plays, in the page: WebAssembly instead of a server. transport.js sends requests and receives answers and the progress
// of reviews.

import { Program } from "./program.js";

const program = new Program();
let trouble = null;
// The requests for the next steps of a table that has none.
let waiting = [];

async function load(file) {
  const source = await fetch(new URL(file, import.meta.url));
  if (!source.ok) throw new Error(`${file} cannot be loaded: the host returned status ${source.status}`);
  return source;
}

const started = (async () => {
  const packed = await load("cambio.wasm.packed");
  const imports = program.imports((message) => {
    if (message.panic) trouble = `this is a bug in cambio: ${message.panic}`;
    else postMessage(message);
  });
  const unpacked = packed.body.pipeThrough(new DecompressionStream("gzip"));
  const source = new Response(unpacked, { headers: { "Content-Type": "application/wasm" } });
  const { instance } = await WebAssembly.instantiateStreaming(source, imports);
  program.start(instance, crypto.getRandomValues(new BigUint64Array(2)));
})();
started.catch((error) => { trouble = error.message; });

// Sends a request to the program. Loads the networks that it needs.
async function ask(path, body) {
  for (;;) {
    const { status, content } = program.request(path, body);
    if (status !== 424) return { status, content };
    for (const file of JSON.parse(content).error.split(" ")) {
      program.provide(file, new Uint8Array(await (await load(`nets/${file}`)).arrayBuffer()));
    }
  }
}

// Requests and work take turns, so that a request does not wait for a whole match.
let queue = Promise.resolve();
let isWorking = false;
const pause = new MessageChannel();
pause.port1.onmessage = () => { queue = queue.then(work); };
onmessage = ({ data }) => { queue = queue.then(() => answer(data)).then(answerWaiting); };

async function work() {
  try {
    isWorking = program.work();
    if (isWorking) pause.port2.postMessage(null);
  } catch (error) {
    trouble ??= error.message;
    postMessage({});
  }
  await answerWaiting();
}

async function answer(request) {
  const { id, path, body } = request;
  try {
    await started;
    if (trouble) throw new Error(trouble);
    const found = await ask(path, body);
    if (found.status === 204) waiting.push(request);
    else postMessage({ id, ...found });
    if (!isWorking) pause.port2.postMessage(null);
    isWorking = true;
  } catch (error) {
    trouble ??= error instanceof WebAssembly.RuntimeError ? error.message : null;
    postMessage({ id, status: 500, content: JSON.stringify({ error: trouble ?? error.message }) });
  }
}

// Repeats the requests that wait for steps.
async function answerWaiting() {
  for (const request of waiting.splice(0)) await answer(request);
}
