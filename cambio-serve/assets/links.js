// Links that contain a deal or a finished match, and the daily deal. A fragment is never sent to a host.
import { minus } from "./cards.js";
import { counted, h, LETTERS, LEVELS, people, remember, remembered } from "./common.js";
import { ask, isServer, openNew, openTable, recordOf, requestOf, saveAs } from "./transport.js";

// Longer addresses are cut by some programs that pass them on.
const LONGEST = 8000;
// The maximum size of a record in a link, in bytes. Compressed bytes can contain a thousand times as many.
const MOST = 1 << 20;
const DAMAGED = "the link is damaged or incomplete; copy it again";
const here = (page) => new URL(page, location.href);

// ---- Packing

async function through(stream, bytes, most = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const chunks = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new RangeError(`more than ${most} bytes`);
    }
    chunks.push(value);
  }
}

// A text, compressed and in letters that an address may contain.
export async function pack(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function unpack(letters) {
  try {
    const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes, MOST));
  } catch {
    throw new Error(DAMAGED);
  }
}

// ---- Matches

// The link that opens a finished match in the replay page, at the position of this replay; null if it is too long.
export async function matchLink(record) {
  if (new URLSearchParams(location.search).has("published")) return location.href;
  const link = here("watch.html");
  link.search = "";
  link.hash = [`match=${await pack(record.trim())}`, ...(/[#&]decision=/.test(location.hash) ? [location.hash.slice(1)] : [])].join("&");
  return link.href.length > LONGEST ? null : link.href;
}

// The most matches that a tab keeps.
const MOST_MATCHES = 8;

// Keeps the record of the match on this page until the tab is closed, and gives the page an address that leads to it. Older matches make
// room for it; a record that is too long for the storage has no address.
export function keepMatch(record) {
  const kept = remembered("matches");
  const number = kept.find((one) => one.record === record)?.number ?? 1 + Math.max(0, ...kept.map((one) => one.number));
  let matches = [...kept.filter((one) => one.number !== number).slice(1 - MOST_MATCHES), { number, record }];
  while (matches.length && !remember("matches", matches)) matches = matches.slice(1);
  const position = new URLSearchParams(location.hash.slice(1));
  position.delete("match");
  if (matches.length) history.replaceState(null, "", `watch.html?linked=${number}${position.size ? `#${position}` : ""}`);
}

// The record in the address of this page; null if it has none. The record is kept, because the position of the page replaces the fragment.
export async function linkedMatch() {
  const packed = new URLSearchParams(location.hash.slice(1)).get("match");
  if (packed) {
    const record = await unpack(packed);
    keepMatch(record);
    return record;
  }
  const number = new URLSearchParams(location.search).get("linked");
  if (number === null) return null;
  const kept = remembered("matches").find((one) => one.number === Number(number));
  if (!kept) throw new Error("this tab does not have this match any more; choose its file again");
  return kept.record;
}

// Copies a text. A page of a host without TLS has no clipboard, but can copy a selection.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.body.appendChild(h("textarea", {}, text));
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (!isCopied) throw new Error("this browser does not let the page copy");
  return undefined;
}

// A button that copies a text. `make` returns the text, or null after it has done something else, with the words for the button.
function copyButton(label, title, make) {
  const button = h("button", { type: "button", title, onclick: async () => {
    try {
      const { text, done } = await make();
      if (text) await copy(text);
      button.textContent = done;
    } catch (error) {
      button.textContent = error.message;
    }
  } }, label);
  return button;
}

// A button that copies the link to a match, or nothing on the page of a server. `record` returns the record.
export function shareButton(record) {
  if (isServer) return "";
  return copyButton("Share the replay", "Copies a link to this match, with its replay and analysis", async () => {
    const text = (await record()).trim();
    const link = await matchLink(text);
    if (link) return { text: link, done: "Link copied" };
    saveAs("cambio-match.jsonl", `${text}\n`);
    return { text: null, done: "Too long for a link: saved as a file" };
  });
}

// ---- Deals

// The link that opens a deal: the same rules, cards, opponents and seat.
export function dealLink({ rules, seed, opponents, seat, one_round: isRound }) {
  const link = here("play.html");
  link.search = "";
  const parts = [["deal", rules], ["seed", seed], ["seat", seat], ...opponents.map((one) => ["with", one]), ...(isRound ? [["round", "1"]] : [])];
  // The sum is near the beginning, so that a link without its end keeps it.
  parts.splice(1, 0, ["sum", checksum(parts)]);
  link.hash = new URLSearchParams(parts).toString();
  if (link.href.length > LONGEST) throw new Error("Too long for a link: shorten the rule file");
  return link.href;
}

// A checksum of the parts of a link: FNV-1a (Fowler, Noll and Vo 1991) with 32 bits.
function checksum(parts) {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  return bytes.reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193) >>> 0, 0x811c9dc5).toString(36);
}

// Whether the address of this page is a link to a deal.
export const isLink = () => new URLSearchParams(location.hash.slice(1)).has("deal");

// The request to open the table of a link. A link that a person wrote has no checksum.
function linkedDeal() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("sum") && asked.get("sum") !== checksum([...asked].filter(([name]) => name !== "sum"))) throw new Error(DAMAGED);
  return { rules: asked.get("deal"), seed: asked.get("seed"), opponents: asked.getAll("with"), seat: asked.get("seat") ?? "a", one_round: asked.has("round"), notes: true, practice: false };
}

const addressOf = (table) => `play.html?table=${table}${remembered("guided") ? "" : "&guide"}`;

// Opens the deal of this page's address, if it has one. The address of the table takes its place, so that *Back* and a reload do not
// open another table.
export async function openLink() {
  if (isLink()) history.replaceState(null, "", addressOf(await openNew(linkedDeal())));
}

// ---- The daily deal

const DAY = 24 * 60 * 60 * 1000;
const FIRST = Date.UTC(2026, 10, 25);
// The number of days in the history.
const SHOWN = 14;
const EXPERT = LEVELS.at(-1);

// The deal of a day, the same for everyone: its number, and the request to open its table. Days begin at midnight UTC.
export function dailyDeal(now = Date.now()) {
  // The clock of the device can be wrong.
  const number = Math.max(0, Math.floor((now - FIRST) / DAY));
  const request = { rules: "classic", seed: `daily deal ${number}`, opponents: ["learned"], seat: "ab"[number % 2], one_round: true, notes: true, practice: false };
  return { number, request };
}

// The daily deal with this number, or of this table, as this browser has stored it; undefined if it has not.
const keptDeal = (isSame) => remembered("daily").find(isSame);
const finished = (number) => keptDeal((deal) => deal.number === number && deal.points !== null);
function keepDeal(deal) {
  remember("daily", [...remembered("daily").filter(({ number }) => number !== deal.number), deal]);
}

// The result in one line, without a card: "Cambio #112: 7 points, par 4, 1 blunder".
function resultLine({ number, points, par, blunders }) {
  const more = [par === null ? "" : `, par ${minus(par)}`, blunders === null ? "" : `, ${counted(blunders, "blunder")}`];
  return `Cambio #${number}: ${counted(points, "point")}${more.join("")}`;
}

// The address of a server works only on its machine, so its pages have no links.
const copyResult = ({ number }) => copyButton("Copy the result", isServer ? "Copies your result" : "Copies your result and a link to the deal", async () => {
  const link = isServer ? "" : `\n${dealLink(dailyDeal(FIRST + number * DAY).request)}`;
  return { text: `${resultLine(finished(number))}. The fewest points win. Par is the bot ${EXPERT.name}.${link}`, done: "Copied" };
});

// The points of a seat at the end of a round.
function pointsOf({ layouts }, kinds, seat) {
  return layouts[LETTERS.indexOf(seat)].reduce((sum, [, kind]) => sum + (kinds[kind]?.points ?? 0), 0);
}

// What the strongest level scores with the same cards in the person's seat.
async function parOf({ rules, seed, opponents, seat }) {
  const agents = seat === "a" ? [EXPERT.spec, ...opponents] : [...opponents, EXPERT.spec];
  const { replay } = await ask("api/matches", { rules, seed, agents, one_round: true });
  return pointsOf(replay.rounds[0].frames.at(-1).scene, replay.kinds, seat);
}

// Stores the person's number of blunders, if the review is of a daily deal.
export function keepBlunders(table, { decisions, trouble }) {
  const deal = keptDeal((one) => one.table === Number(table) && one.points !== null);
  if (!deal || trouble) return;
  const { seat } = dailyDeal(FIRST + deal.number * DAY).request;
  keepDeal({ ...deal, blunders: decisions.filter(({ by, blunder }) => blunder && by === seat).length });
}

// Computes par and the person's blunders in a finished daily deal, and describes the state in `status`.
async function complete({ number, table }, status) {
  const latest = () => finished(number);
  const say = (more) => { status.textContent = resultLine(latest()) + more; };
  try {
    say(`. ${EXPERT.name} plays your cards…`);
    if (latest().par === null) keepDeal({ ...latest(), par: await parOf(dailyDeal(FIRST + number * DAY).request) });
    say(". Counting your blunders…");
    const { reviewOf } = await import("./chances.js");
    if (latest().blunders === null) keepBlunders(table, await reviewOf(ask, JSON.parse(await recordOf(table)), 1));
  } catch {
    // The line is complete enough without them.
  }
  say("");
}

// A day of the history: a box with the points of a finished deal.
function dayBox(number) {
  const deal = finished(number);
  const words = deal ? resultLine(deal).replace("Cambio #", "Deal ") : `Deal ${number}: not played`;
  const isGood = deal && deal.par !== null && deal.points <= deal.par;
  const points = h("span", { role: "img", title: words, "aria-label": words }, deal ? minus(deal.points) : "·");
  return h("li", { class: isGood ? "good" : "" }, points);
}

// The part of the start page about the daily deal.
export function dailyPanel() {
  const { number, request } = dailyDeal();
  const kept = keptDeal((deal) => deal.number === number);
  const isDone = Boolean(finished(number));
  // A table that was closed before its end can be opened again.
  const hasTable = Boolean(kept) && requestOf(kept.table) !== null;
  const problem = h("span", { class: "trouble", hidden: true });
  const link = (page, label, id) => h("a", { class: "button", id, href: `${page}.html?table=${kept.table}` }, label);
  const play = h("button", { type: "button", id: "daily", onclick: async () => {
    try {
      const table = await openTable(request);
      location.assign(addressOf(table));
      keepDeal({ number, table, points: null, par: null, blunders: null });
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
    }
  } }, "Play");
  const { seat, opponents: [spec] } = request;
  const { name, title } = people([spec, spec], seat).find((one) => one.spec);
  const part = (options) => new Date(FIRST + number * DAY).toLocaleDateString("en", { ...options, timeZone: "UTC" });
  const minutes = Math.ceil((DAY - (Date.now() % DAY)) / 60_000);
  const next = `Next deal in ${Math.floor(minutes / 60)} h ${minutes % 60} min.`;
  const last = Array.from({ length: SHOWN }, (_, index) => number + 1 + index - SHOWN).filter((one) => one >= 0);
  let days = 0;
  while (finished(number - days - (isDone ? 0 : 1))) days += 1;
  return h("section", { class: "panel daily", id: "daily-deal" },
    h("div", { class: "leaf" }, part({ month: "short" }), h("b", {}, part({ day: "numeric" }))),
    h("div", {}, h("h2", {}, `Daily deal ${number}`),
      h("p", {}, isDone ? `${resultLine(kept)}. Low is good, and par is what ${EXPERT.name} scored with your cards.`
        : `One round against ${name} (${title}), with the same cards for everyone. ${seat === "a" ? "You begin" : `${name} begins`}.`),
      h("p", { class: "facts" }, days > 1 ? `${days} days in a row. ` : "", next), problem),
    h("div", { class: "row" }, ...(!isDone ? [hasTable ? link("play", "Continue", "daily") : play]
      : [copyResult(kept), hasTable ? link("watch", "Replay") : ""])),
    isDone || days ? h("ol", { class: "days", "aria-label": "Your last daily deals" }, ...last.map(dayBox)) : "");
}

// The buttons for the end of a match: copy the result of the daily deal, the link to the deal, and the link to
// the match. The line of a daily deal is added to the result in `place`.
export function endButtons(table, { seat, kinds }, { scene }, place) {
  const deal = keptDeal((one) => one.table === Number(table));
  const buttons = [];
  if (deal) {
    if (deal.points === null) keepDeal({ ...deal, points: pointsOf(scene, kinds, seat) });
    const status = h("small", { class: "daily", role: "status" });
    place.append(status);
    complete(deal, status);
    buttons.push(copyResult(deal));
  }
  const request = requestOf(table);
  // Another person plays by the same rules with this file.
  if (request?.rules?.includes("=")) buttons.push(h("button", { type: "button", onclick: () => saveAs("rules.toml", request.rules) }, "Save the rules"));
  if (isServer) return buttons;
  if (request) buttons.push(copyButton("Challenge a friend", "Copies a link that opens a table with the same cards and opponents", async () => ({ text: dealLink(request), done: "Link copied" })));
  return [...buttons, shareButton(() => recordOf(table))];
}
