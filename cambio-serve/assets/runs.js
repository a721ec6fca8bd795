// The page of the run folders and their matches. On a site without a server, the page of the published runs.
import { h } from "./cards.js";
import { grouped, published } from "./published.js";
import { ask, isServer } from "./transport.js";

const main = document.getElementById("main");
const asked = new URLSearchParams(location.search);
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
      const [a, b] = [one, other].map((text) => parseFloat(text.replaceAll(",", "")));
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
          h("td", {}, run.rules.join("; ")),
          h("td", {}, ...(run.matches === run.of ? [grouped(run.of)] : [`${grouped(run.matches)} of ${grouped(run.of)} `,
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

// The page of a run, whose matches have numbers.
async function matches(name) {
  const run = (await ask("api/runs")).runs.find((one) => one.name === name);
  if (!run || run.problem) throw new Error(run?.problem ?? `there is no run folder “${name}”`);
  const go = (event) => {
    event.preventDefault();
    location.assign(`watch.html?${new URLSearchParams({ run: name, match: number.value })}`);
  };
  const number = h("input", { type: "number", min: 1, max: run.of, value: 1, required: true });
  const random = h("button", { type: "button", onclick: () => { number.value = 1 + Math.floor(Math.random() * run.of); number.form.requestSubmit(); } }, "A random match");
  main.replaceChildren(h("h1", {}, `Matches of ${run.title}`), h("p", {}, h("a", { href: "runs.html" }, "All runs")),
    h("p", { class: "facts" }, `${grouped(run.of)} matches of ${run.agents.join(", ")}; ${run.rules.join("; ")}. They are numbered by table, deal, lineup and rotation, as in matches.csv without void deals.`),
    h("form", { class: "row", onsubmit: go }, h("label", {}, "Match number ", number), h("button", { type: "submit", class: "primary", id: "watch" }, "Watch"), random));
}

const failed = (error) => main.replaceChildren(h("p", { class: "trouble" }, error.message));
if (!isServer) await published(main, asked.get("run")).catch(failed);
else if (asked.has("run")) await matches(asked.get("run")).catch(failed);
else await ask("api/runs").then(list, failed);
