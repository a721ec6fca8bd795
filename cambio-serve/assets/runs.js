// The run folders under the root, and their matches.
import { ask, h } from "./common.js";

const main = document.getElementById("main");
const asked = new URLSearchParams(location.search);
const KINDS = [["all", "all matches"], ["failed", "a caller failed"], ["wrong", "a snapped card was wrong"], ["foreign", "a card of somebody else was snapped"], ["guess", "a snap at a guess"], ["swing", "the greatest swing first"], ["long", "the most turns first"]];
const MEANINGS = {
  guess: "A seat snapped a card that it had not seen; the link goes to the first such decision.",
  swing: "The swing of a match is the most that one of its rounds moved the scores of two seats apart; the link goes to that round.",
};

// How often the list is read again while a run goes on.
const AGAIN = 3000;

// The head of a table whose rows a column sorts: once upwards, once more downwards. What looks like a number counts as one.
// `state` keeps the choice for a table that is made anew.
function columns(state, ...names) {
  const head = h("tr", {}, ...names.map((name, index) => h("th", { scope: "col" },
    name ? h("button", { type: "button", class: "sorts", onclick: () => { state.down = state.by === index && !state.down; state.by = index; sort(); } }, name) : "")));
  const sort = () => {
    const body = head.closest("table")?.tBodies[0];
    if (!body || state.by === undefined) return;
    const key = (row) => row.cells[state.by].textContent;
    const compare = (one, other) => {
      const [a, b] = [parseFloat(one), parseFloat(other)];
      return Number.isNaN(a) || Number.isNaN(b) ? one.localeCompare(other) : a - b;
    };
    body.append(...[...body.rows].sort((one, other) => (state.down ? -1 : 1) * compare(key(one), key(other))));
    [...head.cells].forEach((cell, index) => cell.setAttribute("aria-sort", index !== state.by ? "none" : state.down ? "descending" : "ascending"));
  };
  queueMicrotask(sort);
  return h("thead", {}, head);
}

const listed = {};

function list({ root, runs }) {
  main.replaceChildren(h("h1", {}, "Runs"), h("p", { class: "facts" }, `The run folders under ${root}.`),
    runs.length === 0 ? h("p", {}, "There is none. `cambio run … --out` makes one, and `cambio serve --runs DIR` shows another folder.")
      : h("div", { class: "scroll" }, h("table", { class: "list" }, columns(listed, "run", "agents", "rules and seats", "matches", ""),
        h("tbody", {}, ...runs.map((run) => h("tr", {},
          h("th", { scope: "row" }, run.title),
          h("td", {}, run.problem ?? run.agents.join(", ")),
          h("td", {}, run.rules.join(", ")),
          h("td", {}, ...(run.matches === run.of ? [run.matches] : [`${run.matches} of ${run.of} `,
            h("progress", { max: run.of, value: run.matches, "aria-label": `How far ${run.title} is` })])),
          h("td", {}, run.report ? h("a", { href: `runs/report?run=${encodeURIComponent(run.name)}`, target: "_blank", rel: "noopener" }, "report") : "", " ",
            run.problem ? "" : h("a", { href: `runs?run=${encodeURIComponent(run.name)}` }, "matches"))))))));
  // Whoever reads with the keys keeps the place, so the list is left alone while something in it has the focus.
  if (runs.some((run) => !run.problem && run.matches < run.of)) {
    const again = () => {
      if (document.hidden || main.contains(document.activeElement)) return setTimeout(again, AGAIN);
      return ask("api/runs").then(list, () => setTimeout(again, AGAIN));
    };
    setTimeout(again, AGAIN);
  }
}

async function matches(name) {
  const kind = h("select", { "aria-label": "Which matches", onchange: () => fill() }, ...KINDS.map(([value, word]) => h("option", { value, selected: value === asked.get("kind") }, word)));
  const agent = h("input", { type: "text", value: asked.get("agent") ?? "", maxlength: 300, placeholder: "any agent", "aria-label": "An agent that takes part", onchange: () => fill() });
  const count = h("p", { class: "facts", role: "status" });
  const rows = h("div", { class: "scroll" });
  const sorted = {};
  main.replaceChildren(h("h1", {}, `Matches of ${name}`), h("p", {}, h("a", { href: "runs" }, "All runs")),
    h("div", { class: "form" }, h("div", { class: "row" }, h("label", {}, "Show ", kind)), h("label", { class: "field" }, h("span", {}, "With"), agent)), count, rows);
  async function fill() {
    count.textContent = "Reading…";
    delete sorted.by;
    history.replaceState(null, "", `runs?${new URLSearchParams({ run: name, kind: kind.value, ...(agent.value ? { agent: agent.value } : {}) })}`);
    try {
      const found = await ask(`api/runs/matches?${new URLSearchParams({ run: name, kind: kind.value, agent: agent.value })}`);
      const stopped = found.stopped ? ` The search ended after these ${found.scanned}, because it took too long.` : "";
      count.textContent = `${found.fitting} of ${found.scanned} matches fit; ${found.matches.length} are shown.${stopped} ${MEANINGS[kind.value] ?? ""}`;
      const swings = kind.value === "swing";
      rows.replaceChildren(h("table", { class: "list" }, columns(sorted, "deal", "rules", "players, seat a first", "rounds", "turns", ...(swings ? ["swing"] : []), "won by", ""),
        h("tbody", {}, ...found.matches.map((match) => {
          const { rules, seats, lineup, deal, rotation } = match;
          const query = new URLSearchParams({ run: name, rules, seats, lineup, deal, rotation });
          const place = match.at ? `#round=${match.at[0]}&decision=${match.at[1]}` : "";
          return h("tr", {}, h("td", {}, deal), h("td", {}, rules), h("td", {}, match.players.join(", ")), h("td", {}, match.rounds), h("td", {}, match.turns),
            swings ? h("td", {}, match.swing) : null, h("td", {}, match.winners), h("td", {}, h("a", { href: `watch?${query}${place}`, "aria-label": `Watch deal ${deal}, ${match.players.join(", ")}` }, "watch")));
        }))));
    } catch (error) {
      count.textContent = error.message;
      rows.replaceChildren();
    }
  }
  await fill();
}

if (asked.has("run")) await matches(asked.get("run"));
else await ask("api/runs").then(list, (error) => main.replaceChildren(h("p", { class: "trouble" }, error.message)));
