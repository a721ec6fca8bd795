// The connection of the pages to the program that plays: the server `cambio serve`, or on a page without a server a worker that runs
// the program in the browser. Both answer the same requests.
import { remember, remembered } from "./common.js";

// Whether a server has sent this page. `scripts/website.py` marks the pages that need no server.
export const isServer = !document.querySelector('meta[name="engine"][content="worker"]');

// Whether this page is for a guest, who reaches only one table.
export const isGuest = Boolean(document.querySelector('meta[name="access"][content="guest"]'));

// The path of a request about a table.
export const at = (table, what) => `api/tables/${encodeURIComponent(table)}/${what}`;

// Sends a request and returns its answer; throws an error with the message of the answer if the request fails. If a server does not
// answer, the error has `isLost`. A body that is a text is already JSON, for example a record.
export async function ask(path, body) {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return isServer ? askServer(path, text) : askPlace(path, text);
}

// Opens a table and returns its number. A page opens one table, whatever the number of clicks, until it is shown again; after an error,
// it can try again.
let opened = null;
export function openTable(request) {
  opened ??= ask("api/tables", request).then(({ table }) => table, (error) => { opened = null; throw error; });
  return opened;
}
globalThis.addEventListener?.("pageshow", ({ persisted }) => { if (persisted) opened = null; });

// Follows a table. `hello` receives its current state, at first and after a lost connection, and `step` each later step. `room`
// receives the state of the people if there are several; before their match begins, this is the only state. `lost` is called when the
// connection is lost and tried again, `busy` while another tab has the table, with a function that takes it from there, and `gone` with
// a sentence if the table cannot be followed any more.
export function follow(table, handlers) {
  if (isServer) followServer(table, handlers);
  else followPlace(table, handlers);
}

// The record of a finished match as text.
export async function recordOf(table) {
  if (!isServer) return stored(table)?.record ?? askTable(table, at(table, "record"));
  const answer = await fetch(at(table, "record"));
  const text = await answer.text();
  if (!answer.ok) throw new Error(JSON.parse(text).error);
  return text;
}

// The request that opened a table in this browser, with its seed; null if a server has the table.
export function requestOf(table) {
  const kept = isServer ? null : stored(table);
  return kept && JSON.parse(kept.saved).request;
}

// Saves a text as a file.
export function saveAs(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  // Later, because some browsers read the address after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Saves the record of a finished match as a file.
export async function save(table) {
  saveAs(`cambio-${table}.jsonl`, `${(await recordOf(table)).trim()}\n`);
}

// ---- With a server

async function askServer(path, body) {
  const request = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body };
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw Object.assign(new Error("no answer from the server; is `cambio serve` still running?"), { isLost: true });
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(content.error ?? `the server returned status ${answer.status}`), { status: answer.status });
  return content;
}

// Follows again after each lost connection, also if the server starts again in the meantime. The browser does not do this in all cases.
function followServer(table, handlers) {
  const { hello, step, room, lost, gone } = handlers;
  const source = new EventSource(at(table, "events"));
  source.addEventListener("hello", (event) => hello(JSON.parse(event.data)));
  source.addEventListener("room", (event) => room(JSON.parse(event.data)));
  source.addEventListener("step", (event) => step(JSON.parse(event.data)));
  source.addEventListener("error", async () => {
    source.close();
    const problem = await ask(at(table, "record")).then(() => ({}), (error) => error);
    if ([403, 404].includes(problem.status)) return gone(problem.message);
    if (problem.isLost) lost();
    return setTimeout(followServer, 1000, table, handlers);
  });
}

// ---- With a worker

// Starts a worker that runs the program. `notify` receives its messages that are not answers.
function start(notify) {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  const waiting = new Map();
  let last = 0;
  worker.onmessage = ({ data }) => {
    keepOffline();
    if (data.id === undefined) return notify(data);
    waiting.get(data.id)?.(data);
    return waiting.delete(data.id);
  };
  // The worker does not exist, or its scripts cannot run here.
  worker.onerror = () => {
    const trouble = "the program cannot run in this browser, which may be too old";
    waiting.forEach((done) => done({ status: 500, content: JSON.stringify({ error: trouble }) }));
    waiting.clear();
    notify({ trouble });
  };
  const post = (message) => worker.postMessage(message);
  return {
    post,
    // Sends a request and returns the text of its answer.
    async send(path, body) {
      last += 1;
      const id = last;
      const { status, content } = await new Promise((done) => {
        waiting.set(id, done);
        post({ id, path, body });
      });
      if (status !== 200) throw new Error(JSON.parse(content).error);
      return content;
    },
  };
}

// Each page has its own workers: one for the tables, and one for reviews, which take seconds. They are created when needed.
let player = null;
const followers = new Map();
const seat = () => {
  player ??= start(({ table, hello, steps, kept, gone, trouble }) => {
    if (trouble) followers.forEach((handlers) => handlers.gone(trouble));
    const handlers = followers.get(table);
    if (!handlers) return;
    if (gone) { handlers.gone(gone); return; }
    store(table, kept);
    if (hello) handlers.hello(hello);
    steps?.forEach((step) => handlers.step(step));
  });
  return player;
};
let analyst = null;
const progress = new Map();

// The tables in this browser. A page that opens a table restores it from the stored data.
const TABLE = "cambio.table.";
const MOST_TABLES = 20;

// A stored table; null if there is none.
function stored(table) {
  const kept = remembered(`table.${table}`);
  return kept.saved !== null && kept.about.table === Number(table) ? kept : null;
}

function numbers() {
  const keys = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index));
  return keys.filter((key) => /^cambio\.table\.[1-9]\d{0,14}$/.test(key)).map((key) => Number(key.slice(TABLE.length))).sort((one, other) => one - other);
}

// Stores a table, and removes the oldest if there are too many, finished ones first. Returns whether the browser has stored it.
function store(table, content) {
  const isStored = remember(`table.${table}`, content);
  const all = numbers();
  if (all.length <= MOST_TABLES) return isStored;
  const isOver = (number) => stored(number)?.about.over !== false;
  const inOrder = [...all.filter(isOver), ...all.filter((number) => !isOver(number))].filter((number) => number !== Number(table));
  inOrder.slice(0, all.length - MOST_TABLES).forEach((old) => localStorage.removeItem(TABLE + old));
  return isStored;
}

// Restores a table in the worker of this page, once.
const restored = new Map();
function restore(table) {
  const open = async () => {
    const content = stored(table);
    if (!content) throw new Error("this table is not open in this browser");
    await seat().send(`api/tables/${table}/restore`, content.saved);
  };
  if (!restored.has(table)) restored.set(table, open());
  return restored.get(table);
}

async function askPlace(path, body) {
  const [, table, what] = /^api\/tables\/(\d+)\/(\w+)$/.exec(path) ?? [];
  const review = /^api\/appraisals\/(\d+)$/.exec(path);
  if (path === "api/options") return { ...JSON.parse(await seat().send(path)), tables: numbers().map(stored).filter(Boolean).map(({ about }) => about) };
  if (path === "api/tables") return openPlace(JSON.parse(body));
  if (path === "api/appraisals") {
    analyst ??= start(({ appraisal, progress: made, trouble }) => {
      if (appraisal) progress.set(appraisal, made);
      if (trouble) progress.forEach((old, number) => { if (!old.over) progress.set(number, { ...old, over: true, trouble }); });
    });
    return JSON.parse(await analyst.send(path, body));
  }
  if (review) return progress.get(Number(review[1]));
  if (!table) return JSON.parse(await seat().send(path, body));
  if (what === "close") {
    seat().post({ leave: table });
    localStorage.removeItem(TABLE + table);
    return {};
  }
  const record = what === "film" ? stored(table)?.record : null;
  return JSON.parse(await (record ? seat().send("api/film", record) : askTable(table, path, body)));
}

async function askTable(table, path, body) {
  if (path === at(table, "act")) keepLater();
  await restore(table);
  return seat().send(path, body);
}

async function openPlace(request) {
  const table = Math.max(numbers().at(-1) ?? 0, remembered("last")) + 1;
  remember("last", table);
  await seat().send(`api/tables/${table}/restore`, JSON.stringify({ request }));
  const content = (what) => seat().send(`api/tables/${table}/${what}`);
  if (!store(table, { saved: await content("saved"), about: await content("about"), record: null })) {
    throw new Error("this browser cannot store the match: remove finished tables on the start page, or allow this site to store data");
  }
  return { table };
}

// A table can be open in one page at a time: waits until no other page has it, or until `busy` takes it. A page that loses its table
// is loaded again, and waits. A page that is loaded again gives up its table a moment after it asks for it.
const GRACE = 1000;
function own(table, busy) {
  if (!navigator.locks) return undefined;
  return new Promise((done) => {
    let isOwn = false;
    const hold = () => { isOwn = true; done(); return new Promise(() => {}); };
    const request = (options) => navigator.locks.request(TABLE + table, options, hold).catch(() => { if (isOwn) location.reload(); });
    const waiting = new AbortController();
    request({ signal: waiting.signal });
    setTimeout(() => { if (!isOwn) busy(() => { waiting.abort(); request({ steal: true }); }); }, GRACE);
  });
}

async function followPlace(table, handlers) {
  try {
    await own(table, handlers.busy);
    await restore(table);
  } catch (error) {
    handlers.gone(error.message);
    return;
  }
  followers.set(table, handlers);
  seat().post({ follow: table });
}

// A page without a server works offline. Its files are kept after the first answer of the program, because loading them earlier would delay
// it. All networks and published runs, which are larger, are kept once the person has decided in a match.
let isKept = isServer;
function keepOffline() {
  if (isKept) return;
  isKept = true;
  navigator.serviceWorker?.register("service-worker.js").catch(() => {});
}
if (!isKept) setTimeout(keepOffline, 10_000);
let isLaterKept = false;
function keepLater() {
  if (isLaterKept || navigator.connection?.saveData) return;
  isLaterKept = true;
  navigator.serviceWorker?.ready.then(({ active }) => active.postMessage(null));
}
