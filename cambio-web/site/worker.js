// The program that plays, in the page: WebAssembly instead of a server. transport.js sends requests and receives answers, the steps
// of the tables that it follows, and the progress of reviews.

import { Program } from "./program.js";

const program = new Program();
let trouble = null;
// The tables that the page follows, each with the number of its next step.
const followed = new Map();

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

// Sends the new steps of the followed tables to the page, and each table as data, so that another page can open it again.
async function report() {
  for (const [table, from] of followed) {
    const { status, content } = await ask(`api/tables/${table}/events${from === null ? "" : `?from=${from}`}`);
    if (status !== 200) {
      followed.delete(table);
      postMessage({ table, gone: JSON.parse(content).error });
      continue;
    }
    const { hello, steps } = JSON.parse(content);
    const last = hello ? hello.step : steps.at(-1);
    if (!last) continue;
    followed.set(table, last.n + 1);
    const about = async (what) => (await ask(`api/tables/${table}/${what}`)).content;
    const record = last.end?.ranks || last.trouble ? await about("record") : null;
    postMessage({ table, hello, steps, kept: { saved: await about("saved"), about: await about("about"), record } });
  }
}

// Requests and work take turns, so that a request does not wait for a whole match.
let queue = Promise.resolve();
let isWorking = false;
const pause = new MessageChannel();
pause.port1.onmessage = () => { queue = queue.then(work); };
onmessage = ({ data }) => { queue = queue.then(() => answer(data)); };

function proceed() {
  if (isWorking) return;
  isWorking = true;
  pause.port2.postMessage(null);
}

async function work() {
  try {
    isWorking = program.work();
    await report();
    if (isWorking) pause.port2.postMessage(null);
  } catch (error) {
    trouble ??= error.message;
    postMessage({ trouble });
  }
}

async function answer({ id, path, body, follow, leave }) {
  try {
    await started;
    if (trouble) throw new Error(trouble);
    if (follow) followed.set(follow, null);
    if (leave) followed.delete(leave);
    if (path) {
      const found = await ask(path, body);
      // The progress of a review that has not begun. Later progress arrives without a request.
      if (path === "api/appraisals" && found.status === 200) {
        const { appraisal } = JSON.parse(found.content);
        postMessage({ appraisal, progress: JSON.parse((await ask(`api/appraisals/${appraisal}`)).content) });
      }
      postMessage({ id, ...found });
    }
    await report();
    proceed();
  } catch (error) {
    trouble ??= error instanceof WebAssembly.RuntimeError ? error.message : null;
    postMessage({ id, status: 500, content: JSON.stringify({ error: trouble ?? error.message }) });
  }
}
