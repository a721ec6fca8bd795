// The run folders under the root, and their matches.
import { ask, h } from "./common.js";

const main = document.getElementById("main");
const asked = new URLSearchParams(location.search);
const KINDS = [["all", "all matches"], ["failed", "a caller failed"], ["wrong", "a snapped card was wrong"], ["foreign", "a card of somebody else was snapped"], ["long", "the most turns first"]];

const columns = (...names) => h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name))));

function list({ root, runs }) {
  main.replaceChildren(h("h1", {}, "Runs"), h("p", { class: "facts" }, `The run folders under ${root}.`),
    runs.length === 0 ? h("p", {}, "There is none. `cambio run … --out` makes one, and `cambio serve --runs DIR` shows another folder.")
      : h("div", { class: "scroll" }, h("table", { class: "list" }, columns("run", "agents", "rules and seats", "matches", ""),
        h("tbody", {}, ...runs.map((run) => h("tr", {},
          h("th", { scope: "row" }, run.title),
          h("td", {}, run.problem ?? run.agents.join(", ")),
          h("td", {}, run.rules.join(", ")),
          h("td", {}, run.matches === run.of ? run.matches : `${run.matches} of ${run.of}`),
          h("td", {}, run.report ? h("a", { href: `runs/report?run=${encodeURIComponent(run.name)}`, target: "_blank", rel: "noopener" }, "report") : "", " ",
            run.problem ? "" : h("a", { href: `runs?run=${encodeURIComponent(run.name)}` }, "matches"))))))));
}

async function matches(name) {
  const kind = h("select", { "aria-label": "Which matches", onchange: () => fill() }, ...KINDS.map(([value, word]) => h("option", { value, selected: value === asked.get("kind") }, word)));
  const agent = h("input", { type: "text", value: asked.get("agent") ?? "", maxlength: 300, placeholder: "any agent", "aria-label": "An agent that takes part", onchange: () => fill() });
  const count = h("p", { class: "facts", role: "status" });
  const rows = h("div", { class: "scroll" });
  main.replaceChildren(h("h1", {}, `Matches of ${name}`), h("p", {}, h("a", { href: "runs" }, "All runs")),
    h("div", { class: "form" }, h("div", { class: "row" }, h("label", {}, "Show ", kind)), h("label", { class: "field" }, h("span", {}, "With"), agent)), count, rows);
  async function fill() {
    count.textContent = "Reading…";
    history.replaceState(null, "", `runs?${new URLSearchParams({ run: name, kind: kind.value, ...(agent.value ? { agent: agent.value } : {}) })}`);
    try {
      const found = await ask(`api/runs/matches?${new URLSearchParams({ run: name, kind: kind.value, agent: agent.value })}`);
      count.textContent = `${found.fitting} of ${found.scanned} matches fit; ${found.matches.length} are shown.`;
      rows.replaceChildren(h("table", { class: "list" }, columns("deal", "rules", "players, seat a first", "rounds", "turns", "won by", ""),
        h("tbody", {}, ...found.matches.map((match) => {
          const { rules, seats, lineup, deal, rotation } = match;
          const query = new URLSearchParams({ run: name, rules, seats, lineup, deal, rotation });
          return h("tr", {}, h("td", {}, deal), h("td", {}, rules), h("td", {}, match.players.join(", ")), h("td", {}, match.rounds), h("td", {}, match.turns),
            h("td", {}, match.winners), h("td", {}, h("a", { href: `watch?${query}`, "aria-label": `Watch deal ${deal}, ${match.players.join(", ")}` }, "watch")));
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
