// The page of the run folders and their matches. On a site without a server, the page of the published runs.
import { h } from "./cards.js";
import { published } from "./published.js";
import { ask, isServer } from "./transport.js";

const main = document.getElementById("main");
const asked = new URLSearchParams(location.search);
const KINDS = [["all", "all matches"], ["failed", "with a failed call"], ["wrong", "with a wrong snap"], ["foreign", "with a snap of another seat's card"], ["guess", "with a guessed snap"], ["swing", "largest swing first"], ["long", "most turns first"]];
const MEANINGS = {
  failed: "Each link goes to the first call that failed.",
  wrong: "Each link goes to the first wrong snap.",
  foreign: "Each link goes to the first such snap.",
  guess: "A guessed snap is a snap of a card that the seat had not seen. The link goes to the first one.",
  swing: "The swing of a match is the largest score difference between two seats in one round. The link goes to that round.",
};

// The interval in milliseconds at which the list is updated during a run.
const AGAIN = 3000;

// The head of a sortable table: the first click on a column sorts in ascending order, the second in descending order.
// Numbers are compared as numbers. `state` keeps the order when the table is rebuilt.
function columns(state, ...names) {
  const head = h("tr", {}, ...names.map((name, index) => (name ? h("th", { scope: "col" },
    h("button", { type: "button", class: "sorts", title: "Sorts the rows of this page", onclick: () => { state.down = state.by === index && !state.down; state.by = index; sort(); } }, name)) : h("td"))));
  const sort = () => {
    const body = head.closest("table")?.tBodies[0];
    if (!body || state.by === undefined) return;
    const key = (row) => row.cells[state.by].textContent;
    const compare = (one, other) => {
      const [a, b] = [parseFloat(one), parseFloat(other)];
      return Number.isNaN(a) || Number.isNaN(b) ? one.localeCompare(other) : a - b;
    };
    body.append(...[...body.rows].sort((one, other) => (state.down ? -1 : 1) * compare(key(one), key(other))));
    [...head.cells].forEach((cell, index) => cell.tagName === "TH" && cell.setAttribute("aria-sort", index !== state.by ? "none" : state.down ? "descending" : "ascending"));
  };
  queueMicrotask(sort);
  return h("thead", {}, head);
}

const listed = {};

function list({ root, runs }) {
  main.replaceChildren(h("h1", {}, "Runs"), h("p", { class: "facts" }, `Run folders in ${root}`),
    runs.length === 0 ? h("p", {}, "No runs yet. ", h("code", {}, "cambio run SPEC --out DIR"), " creates one; ", h("code", {}, "cambio serve --runs DIR"), " shows the runs of another folder.")
      : h("div", { class: "scroll" }, h("table", { class: "list" }, columns(listed, "run", "agents", "rules and seats", "matches", ""),
        h("tbody", {}, ...runs.map((run) => h("tr", {},
          h("th", { scope: "row" }, run.title),
          h("td", {}, run.problem ?? run.agents.join(", ")),
          h("td", {}, run.rules.join(", ")),
          h("td", {}, ...(run.matches === run.of ? [run.matches] : [`${run.matches} of ${run.of} `,
            h("progress", { max: run.of, value: run.matches, "aria-label": `Progress of ${run.title}` })])),
          h("td", {}, run.report ? h("a", { href: `runs/report?run=${encodeURIComponent(run.name)}`, target: "_blank", rel: "noopener" }, "report") : "", " ",
            run.problem ? "" : h("a", { href: `runs.html?run=${encodeURIComponent(run.name)}` }, "matches"))))))));
  // The list is not updated while one of its elements has the focus, so that keyboard users keep their place.
  if (runs.some((run) => !run.problem && run.matches < run.of)) {
    const again = () => {
      if (document.hidden || main.contains(document.activeElement)) return setTimeout(again, AGAIN);
      return ask("api/runs").then(list, () => setTimeout(again, AGAIN));
    };
    setTimeout(again, AGAIN);
  }
}

// The list of a run's matches, page by page.
async function matches(name) {
  // The number of the page, counted from 0.
  let at = Math.max(1, Number(asked.get("page")) || 1) - 1;
  const again = () => fill(0);
  const kind = h("select", { "aria-label": "Which matches", onchange: again }, ...KINDS.map(([value, word]) => h("option", { value, selected: value === asked.get("kind") }, word)));
  // The agents of the run, as suggestions.
  const agents = h("datalist", { id: "agents" });
  ask("api/runs").then(({ runs }) => agents.replaceChildren(...(runs.find((run) => run.name === name)?.agents ?? []).map((spec) => h("option", { value: spec }))), () => {});
  const agent = h("input", { type: "text", list: "agents", value: asked.get("agent") ?? "", maxlength: 300, placeholder: "any agent", "aria-label": "With this agent", onchange: again });
  const count = h("p", { class: "facts", role: "status" });
  const progress = h("progress", { "aria-label": "Progress of the search", hidden: true });
  const rows = h("div", { class: "scroll" });
  const turn = (step, words) => h("button", { type: "button", onclick: () => { fill(at + step); scrollTo(0, 0); } }, words);
  const buttons = [turn(-1, "Previous page"), turn(1, "Next page")];
  const sorted = {};
  main.replaceChildren(h("h1", {}, `Matches of ${name}`), h("p", {}, h("a", { href: "runs.html" }, "All runs")),
    h("div", { class: "form" }, h("div", { class: "row" }, h("label", {}, "Show ", kind)), h("label", { class: "field" }, h("span", {}, "With agent"), agent), agents), count, progress, rows,
    h("div", { class: "row" }, ...buttons));

  // Shows a page of the list. A search for guesses takes several requests.
  let last = 0;
  let shown = null;
  async function fill(page) {
    last += 1;
    const own = last;
    at = page;
    count.textContent = "Reading…";
    shown = null;
    delete sorted.by;
    history.replaceState(null, "", `runs.html?${new URLSearchParams({ run: name, kind: kind.value, ...(agent.value ? { agent: agent.value } : {}), ...(at ? { page: at + 1 } : {}) })}`);
    try {
      for (;;) {
        const found = await ask(`api/runs/matches?${new URLSearchParams({ run: name, kind: kind.value, agent: agent.value, page: at })}`);
        if (own !== last) return;
        show(found);
        if (found.searched === found.of) return;
      }
    } catch (error) {
      count.textContent = error.message;
      rows.replaceChildren();
    }
  }

  function show({ matches: found, fitting, searched, of, first, matches_of_run: all }) {
    const isSearching = searched < of;
    Object.assign(progress, { hidden: !isSearching, max: of, value: searched });
    const most = of < all ? ` Only the first ${of} of ${all} matches are searched.` : "";
    count.textContent = `${isSearching ? `Searched ${searched} of ${of} matches so far. ` : ""}Found ${fitting} of ${searched} matches${found.length ? `; showing ${first + 1} to ${first + found.length}` : ""}.${most} ${MEANINGS[kind.value] ?? ""}`;
    buttons[0].disabled = at === 0;
    buttons[1].disabled = first + found.length >= fitting;
    // The rows are not replaced if they are the same, so that they keep the focus during a search.
    const text = JSON.stringify(found);
    if (shown === text) return;
    shown = text;
    const swings = kind.value === "swing";
    rows.replaceChildren(h("table", { class: "list" }, columns(sorted, "deal", "rules", "players (seat a first)", "rounds", "turns", ...(swings ? ["swing"] : []), "won by", ""),
      h("tbody", {}, ...found.map((match) => {
        const { rules, seats, lineup, deal, rotation } = match;
        const query = new URLSearchParams({ run: name, rules, seats, lineup, deal, rotation, kind: kind.value, ...(agent.value ? { agent: agent.value } : {}) });
        const place = match.at ? `#round=${match.at[0]}&decision=${match.at[1]}` : "";
        return h("tr", {}, h("td", {}, deal), h("td", {}, rules), h("td", {}, match.players.join(", ")), h("td", {}, match.rounds), h("td", {}, match.turns),
          swings ? h("td", {}, match.swing) : null, h("td", {}, match.winners), h("td", {}, h("a", { href: `watch.html?${query}${place}`, "aria-label": `Watch deal ${deal}, ${match.players.join(", ")}` }, "watch")));
      }))));
  }
  await fill(at);
}

const failed = (error) => main.replaceChildren(h("p", { class: "trouble" }, error.message));
if (!isServer) await published(main, asked.get("run")).catch(failed);
else if (asked.has("run")) await matches(asked.get("run"));
else await ask("api/runs").then(list, failed);
