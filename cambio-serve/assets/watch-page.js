// The page of the replay viewer: shows a finished match of a table, of a run, or from a file.
import { seatOf } from "./cards.js";
import { chances } from "./chances.js";
import { watch } from "./watch.js";
import { botOf, h, LEVELS, listed, people, remember, remembered, RULES, rulesName } from "./common.js";
import { keepBlunders, keepMatch, linkedMatch, shareButton } from "./links.js";
import { publishedMatch } from "./published.js";
import { ask, openTable } from "./transport.js";

const main = document.getElementById("main");
const asked = new URLSearchParams(location.search);

// The analyses of the match that this tab showed last, by round, so that they outlive a visit to another page.
function keptReviews(record) {
  const kept = remembered("reviews");
  return kept.record === record ? kept.reviews : [];
}

// An analysis that is too long for the storage has to be repeated.
function keepReview(record, round, review) {
  const reviews = keptReviews(record);
  reviews[round] = review;
  remember("reviews", { record, reviews });
}

// A replay with the names that the table showed, or that were chosen on this page.
function named(film, match) {
  const about = match["x-person"];
  const person = seatOf(film, about);
  // A run names its agents itself.
  if (!person && asked.has("run")) return film;
  const players = person ? people(film.agents, person) : film.agents.map(botOf);
  const [first, ...others] = [...new Set(players.map(({ name }) => name))];
  const title = others.length ? `${first} against ${listed(others)}` : first;
  return { ...film, players, you: person, title: title + (about?.practice === true ? " (practice)" : "") };
}

// Shows a replay. `isNew`: no address leads to the match yet, because it is from a file or was played for this page.
async function show(made, isNew = false) {
  try {
    const { replay: bare, record } = await made;
    const match = JSON.parse(record);
    if (!bare.rounds.length) throw new Error("the record has no decision to show: check that its rounds have `decisions`");
    const film = named({ ...bare, rules: rulesName(bare.rules) }, match);
    if (isNew) keepMatch(record);
    watch(main, film, {
      open: async (round, decision) => {
        const { position } = await ask("api/position", { from: { record: match, round, decision } });
        location.assign(`analyse.html#position=${encodeURIComponent(position)}`);
      },
      chances: (viewer) => chances(film, viewer, { ask, record: match, reviews: keptReviews(record), keep: (round, review) => { keepReview(record, round, review); if (asked.has("table")) keepBlunders(asked.get("table"), review); } }),
      // Only a match with a seed can be continued.
      playOn: (match.seed ?? null) === null ? null : async (round, decision, seat) => {
        const table = await openTable({ from: { record: match, round, decision }, seat, notes: true });
        location.assign(`play.html?${new URLSearchParams({ table, review: location.search + location.hash })}`);
      },
    });
    main.querySelector(".facts")?.after(h("p", {}, shareButton(async () => record)));
  } catch (error) {
    begin(error.message);
  }
}

// Reads one match from a file: one record on any number of lines, or one record per line. `line` is the number of the match, counted
// from 1.
async function read(file, line) {
  const text = await file.text();
  if (!text.trim()) throw new Error(`${file.name} is empty`);
  const records = isOneRecord(text) ? [text] : text.split("\n").filter((one) => one.trim());
  const record = records[line - 1];
  if (!record) throw new Error(`${file.name} has ${records.length} ${records.length === 1 ? "match" : "matches"}: choose a number from 1 to ${records.length}`);
  return ask("api/replay", record);
}

function isOneRecord(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

function begin(problem) {
  const line = h("input", { type: "number", min: 1, value: 1, "aria-label": "Number of the match in the file" });
  const file = h("input", { type: "file", accept: ".jsonl,.json", "aria-label": "File with matches", onchange: () => file.files[0] && show(read(file.files[0], Number(line.value)), true) });
  const drop = h("div", {
    class: "drop",
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
    ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); show(read(event.dataTransfer.files[0], Number(line.value)), true); },
  }, h("p", {}, "Drop a saved match here, or choose a file."), h("p", {}, file), h("label", {}, "Match number in the file ", line));
  // A match of two agents, played now.
  const select = (label, values, chosen) => h("label", {}, `${label} `, h("select", {}, ...values.map(([value, word]) => h("option", { value, selected: value === chosen }, word))));
  const levels = LEVELS.map(({ spec, name }) => [spec, name]);
  const picks = [select("Rules", Object.keys(RULES).map((name) => [name, rulesName(name)]), "classic"), select("Seat a", levels, LEVELS.at(-1).spec), select("Seat b", levels, LEVELS[1].spec)];
  const bots = h("button", { type: "button", id: "bots", onclick: () => {
    const [rules, ...agents] = picks.map((pick) => pick.querySelector("select").value);
    bots.disabled = true;
    bots.textContent = "They are playing…";
    show(ask("api/matches", { rules, agents }), true);
  } }, "Watch them play");
  main.replaceChildren(h("h1", {}, "Replay a match"), problem ? h("p", { class: "trouble", role: "alert" }, problem) : "", drop,
    h("h2", {}, "Or watch two bots"), h("div", { class: "row" }, ...picks, bots),
    h("p", { class: "facts" }, "You can save a match at the end of a game. ", h("code", {}, "cambio play --record"), " and ", h("code", {}, "cambio run --records"), " save matches too. The replay of a match that you have just played is on the start page, under “Your tables”. The matches of experiments are on the page ", h("a", { href: "runs.html" }, "Runs"), "."));
}

// A link to a match can be pasted into the address of the open page.
addEventListener("hashchange", () => { if (new URLSearchParams(location.hash.slice(1)).has("match")) location.reload(); });
if (asked.has("table")) show(ask(`api/tables/${encodeURIComponent(asked.get("table"))}/replay`));
else if (asked.has("published")) show(publishedMatch(asked.get("published"), asked.get("match")));
else if (asked.has("run")) show(ask(`api/runs/replay?${asked}`));
else {
  const record = await linkedMatch().catch((error) => begin(error.message));
  // With the text that the tab keeps, because analyses are kept with it.
  if (record) show(ask("api/replay", record).then((answer) => ({ ...answer, record })));
  else if (record === null) begin();
}
