// The connection of the pages to the program that plays: the server `cambio serve`, or on a page without a server a worker that runs
// the program in the browser. Both answer the same requests and may forget a table: this browser keeps it and opens it again.
import { notice, parsed, remember, remembered, storage, wait } from "./common.js";

// Whether a server has sent this page. `scripts/website.py` marks the pages that need no server.
export const isServer = !document.querySelector('meta[name="engine"][content="worker"]');

// Sends a request and returns the text of its answer, which is empty if a table has no new steps yet. If the program does not answer, the
// error has `isLost`, otherwise it has the status of the answer.
const send = isServer ? sendToServer : sendToWorker;

// The path of a request about a table.
export const at = (table, what) => `api/tables/${encodeURIComponent(table)}/${what}`;

// Sends a request and returns its answer; throws an error with the message of the answer if the request fails. A body that is a text is
// already JSON, for example a record.
export async function ask(path, body) {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const [, table, what] = /^api\/tables\/(\d+)\/(\w+)$/.exec(path) ?? [];
  if (what === "close") storage.removeItem?.(TABLE + table);
  if (what === "act") keepLater();
  const record = what === "replay" ? stored(table)?.record : null;
  return JSON.parse(await (record ? send("api/replay", record) : table && what !== "close" ? sendAt(table, path, text) : send(path, text)));
}

// Opens a table and returns its number. A page opens one table, whatever the number of clicks, until it is shown again; after an error,
// it can try again.
let opened = null;
export function openTable(request) {
  opened ??= openNew(request).catch((error) => { opened = null; throw error; });
  return opened;
}
globalThis.addEventListener?.("pageshow", ({ persisted }) => { if (persisted) opened = null; });

// Whether no other tab takes this number at the same time, which this tab may not see yet in what is stored.
const isFree = (table) => !navigator.locks || new Promise((answer) => {
  navigator.locks.request(`new ${table}`, { ifAvailable: true }, (lock) => { answer(lock); return lock && wait(GRACE); });
});

export async function openNew(request) {
  let table = Math.max(numbers().at(-1) ?? 0, remembered("last")) + 1;
  while (!await isFree(table)) table += 1;
  remember("last", table);
  const { kept } = JSON.parse(await send(at(table, "open"), JSON.stringify({ request })));
  if (!store(table, kept)) throw new Error("this browser cannot store the match: allow this site to store data, or remove tables");
  return table;
}

// Follows a table. `hello` receives its current state, at first and when it was opened again, and `step` each later step. `lost` is called
// when the connection is lost and tried again, `busy` while another tab has the table, with a function that takes it from there, and `gone`
// with a sentence if the table cannot be followed any more.
export async function follow(table, handlers) {
  await own(table, handlers.busy);
  let next = null;
  for (;;) {
    try {
      const found = await sendAt(table, `${at(table, "events")}${next === null ? "" : `?from=${next}`}`);
      const { hello, steps, kept } = found ? JSON.parse(found) : {};
      if (kept && !store(table, kept)) notice(UNSTORED);
      if (hello) handlers.hello(hello);
      steps?.forEach((step) => handlers.step(step));
      const last = hello?.step ?? steps?.at(-1);
      if (last) next = last.n + 1;
    } catch (error) {
      if (!error.isLost) { handlers.gone(error.message); return; }
      handlers.lost();
      next = null;
      await wait(1000);
    }
  }
}

// The record of a finished match as text.
export const recordOf = async (table) => stored(table)?.record ?? sendAt(table, at(table, "record"));

// The request that opened a table in this browser, with its seed; null if there is none.
export function requestOf(table) {
  const kept = stored(table);
  return kept && (parsed(kept.saved)?.request ?? null);
}

// The tables of this browser, as the start page lists them.
export const openTables = () => numbers().map(stored).filter(Boolean).map(({ about }) => about);

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

// ---- The tables in this browser

const TABLE = "cambio.table.";
const MOST_TABLES = 20;
const UNSTORED = "This browser has no room for this match. If you reload this page, your last decisions are lost.";

// A stored table; null if there is none.
function stored(table) {
  const kept = remembered(`table.${table}`);
  return kept.saved !== null && kept.about.table === Number(table) ? kept : null;
}

function numbers() {
  return Object.keys(storage).filter((key) => /^cambio\.table\.[1-9]\d{0,14}$/.test(key)).map((key) => Number(key.slice(TABLE.length))).sort((one, other) => one - other);
}

// Stores a table. Removes the oldest tables, finished ones first, if there are too many, and finished ones if
// the storage is full. Returns whether the browser has stored the table.
function store(table, content) {
  const isOver = (number) => stored(number)?.about.over !== false;
  const others = numbers().filter((number) => number !== Number(table));
  let isStored = remember(`table.${table}`, content);
  for (const old of [...others.filter(isOver), ...others.filter((number) => !isOver(number))]) {
    if (isStored ? numbers().length <= MOST_TABLES : !isOver(old)) break;
    storage.removeItem(TABLE + old);
    isStored ||= remember(`table.${table}`, content);
  }
  return isStored;
}

// Opens a stored table again in the program, once.
const restored = new Map();
function restore(table) {
  const open = async () => {
    const content = stored(table);
    if (!content) throw new Error("this table is not open in this browser");
    await send(at(table, "open"), content.saved);
  };
  if (!restored.has(table)) restored.set(table, open().catch((error) => { restored.delete(table); throw error; }));
  return restored.get(table);
}

// Sends a request about a table, which is opened before if the program does not have it.
async function sendAt(table, path, body) {
  await restore(table);
  try {
    return await send(path, body);
  } catch (error) {
    if (error.status !== 404 || !stored(table)) throw error;
    restored.delete(table);
    await restore(table);
    // The steps have other numbers now.
    return send(path.split("?")[0], body);
  }
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

// ---- With a server

// The name of the desk of this tab, which the server keeps while the tab is open.
function desk() {
  const name = remembered("desk") ?? crypto.randomUUID();
  remember("desk", name);
  return name;
}

async function sendToServer(path, body) {
  const headers = { "Cambio-Desk": desk() };
  const request = body === undefined ? { headers } : { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body };
  let answer;
  let content;
  try {
    answer = await fetch(path, request);
    content = await answer.text();
  } catch {
    throw Object.assign(new Error("no answer from the server; is `cambio serve` still running?"), { isLost: true });
  }
  if (!answer.ok) throw Object.assign(new Error(JSON.parse(content).error), { status: answer.status });
  return content;
}

// ---- With a worker

// Starts a worker that runs the program. `notify` receives the progress of reviews, or nothing if the program has stopped.
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
    notify({});
  };
  return async (path, body) => {
    last += 1;
    const id = last;
    const { status, content } = await new Promise((done) => {
      waiting.set(id, done);
      worker.postMessage({ id, path, body });
    });
    if (status !== 200) throw Object.assign(new Error(JSON.parse(content).error), { status });
    return content;
  };
}

// Each page has its own workers: one for the tables, and one for reviews, which take seconds. They are created when needed.
let player = null;
let analyst = null;
// The progress of reviews by path, because a worker cannot answer while it computes one.
const progress = new Map();

function sendToWorker(path, body) {
  if (!path.startsWith("api/reviews")) {
    player ??= start(() => {});
    return player(path, body);
  }
  analyst ??= start(({ review, progress: made }) => {
    if (review) progress.set(`api/reviews/${review}`, JSON.stringify(made));
    else progress.clear();
  });
  return progress.get(path) ?? analyst(path, body);
}

// A page without a server works offline. Its files are kept after the first answer of the program, because loading them earlier would delay
// it. All networks and published runs, which are larger, are kept once the person has decided in a match.
let isKept = isServer;
function keepOffline() {
  if (isKept) return;
  isKept = true;
  navigator.serviceWorker?.register("service-worker.js").then(offerNewVersion).catch(() => {});
}

// Offers a new version of the site when its files are kept. All tabs are loaded again with it, because they
// share these files.
function offerNewVersion(registration) {
  const { serviceWorker } = navigator;
  if (!serviceWorker.controller) return;
  serviceWorker.addEventListener("controllerchange", () => location.reload());
  const activate = () => registration.waiting?.postMessage("activate");
  const offer = () => { if (registration.waiting) notice("Cambio has a new version.", "Reload", activate); };
  registration.onupdatefound = () => registration.installing.addEventListener("statechange", offer);
  offer();
}
if (!isKept) setTimeout(keepOffline, 10_000);
let isLaterKept = isServer;
function keepLater() {
  if (isLaterKept || navigator.connection?.saveData) return;
  isLaterKept = true;
  navigator.serviceWorker?.ready.then(({ active }) => active.postMessage(null));
}
