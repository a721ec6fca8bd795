// Published runs on the site without a server: their results, and a check of random matches in this browser.
// `cambio report --site` writes the file of a run.
import { face, h } from "./cards.js";
import { botOf, levelOf, rulesName } from "./common.js";
import { ask } from "./transport.js";

const CHECKED = 20;
const LISTED = 25;
// A whole number in groups of three digits.
export const grouped = (number) => number.toLocaleString("en");

async function fetched(path, missing) {
  const answer = await fetch(path).catch(() => {
    throw new Error("this browser does not have the published runs yet; open this page with a connection");
  });
  if (!answer.ok) throw new Error(missing);
  return answer.json();
}

async function load(name) {
  const missing = `there is no published run “${name}”`;
  if (!/^[\w-]+$/.test(name)) throw new Error(missing);
  const run = await fetched(`runs/${name}.json`, missing);
  if (run.format !== "cambio-published-run/1") throw new Error(`${name}.json is not a published run that this page can read`);
  if (!run.rows.length) throw new Error(`the published run “${name}” has no matches`);
  return run;
}

// The match with this number, counted from 0: the table, the players by seat, the published result, and the request to play it again.
// Matches are ordered by table, deal, lineup and seating.
function matchOf(run, number) {
  let left = number;
  for (const table of run.tables) {
    const { rules, one_round, lineups, seatings } = table;
    const each = lineups.length * seatings.length;
    if (left < each * run.deals) {
      const lineup = lineups[Math.floor(left / seatings.length) % lineups.length];
      const agents = seatings[left % seatings.length].map((place) => run.agents[lineup[place]]);
      const deal = Math.floor(left / each);
      const [winners, fingerprint] = run.rows[number].split(" ");
      const { seed, agent_seed } = run;
      return { number, table, deal, agents, winners, fingerprint, request: { rules, one_round, agents, seed, agent_seed, deal } };
    }
    left -= each * run.deals;
  }
  throw new Error(`the run has no match ${number + 1}`);
}

// Plays the match of a published run with this number, a text, again. Returns its replay.
export async function publishedMatch(name, number) {
  const run = await load(name);
  const index = Number(number) - 1;
  if (!/^\d+$/.test(number) || !(index in run.rows)) throw new Error(`the run has matches 1 to ${run.rows.length}, and no match “${number ?? ""}”`);
  return ask("api/matches", matchOf(run, index).request);
}

// The results by table, computed from the rows: for each agent the matches and the share of wins, with a 95 % interval clustered by deal.
function results(run) {
  const sums = new Map(run.tables.map((table) => [table, new Map()]));
  run.rows.forEach((_, number) => {
    const { table, deal, agents, winners } = matchOf(run, number);
    agents.forEach((agent, seat) => {
      const sum = sums.get(table).get(agent) ?? { matches: 0, wins: 0, deals: Array.from({ length: run.deals }, () => ({ matches: 0, wins: 0 })) };
      const won = winners.includes("abcdefgh"[seat]) ? 1 / winners.length : 0;
      for (const one of [sum, sum.deals[deal]]) {
        one.matches += 1;
        one.wins += won;
      }
      sums.get(table).set(agent, sum);
    });
  });
  const share = ([, { matches, wins }]) => wins / matches;
  const half = ([, { matches, wins, deals }]) => 1.96 * Math.hypot(...deals.map((one) => one.wins - (wins / matches) * one.matches)) / matches;
  return run.tables.flatMap((table) => [h("h2", {}, `${rulesName(table.name)}, ${table.seatings[0].length} seats`), h("div", { class: "scroll" }, h("table", { class: "list" },
    h("thead", {}, h("tr", {}, ...["agent", "matches", "share of wins (95 % interval)"].map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...[...sums.get(table)].sort((one, other) => share(other) - share(one)).map((entry) =>
      h("tr", {}, h("th", { scope: "row" }, face(botOf(entry[0]).level), ` ${botOf(entry[0]).name}`, levelOf(entry[0]) ? h("small", {}, entry[0]) : ""), h("td", {}, grouped(entry[1].matches)), h("td", {}, h("meter", { min: 0, max: 1, value: share(entry), "aria-hidden": "true" }), ` ${(100 * share(entry)).toFixed(1)} ± ${(100 * half(entry)).toFixed(1)} %`))))))]);
}

function matchTable(name, matches, heads, cells) {
  return h("table", { class: "list" },
    h("thead", {}, h("tr", {}, ...["match", "table", "deal", "players (seat a first)", "won by", ...heads, ""].map((head) => (head ? h("th", { scope: "col" }, head) : h("td"))))),
    h("tbody", {}, ...matches.map((match) => h("tr", {},
      ...[match.number + 1, rulesName(match.table.name), match.deal, match.agents.map((spec) => botOf(spec).name).join(", "), match.winners, ...cells(match)].map((cell) => h("td", {}, cell)),
      h("td", {}, h("a", { href: `watch.html?published=${name}&match=${match.number + 1}`, "aria-label": `Watch match ${match.number + 1}` }, "watch"))))));
}

// Different random numbers below `count`.
function sample(count, size) {
  const chosen = new Set();
  while (chosen.size < Math.min(size, count)) chosen.add(Math.floor(Math.random() * count));
  return [...chosen].sort((one, other) => one - other);
}

// The part of the page that checks matches.
function check(name, run) {
  const size = Math.min(CHECKED, run.rows.length);
  const verdict = h("p", { class: "facts", role: "status" });
  const progress = h("progress", { max: size, value: 0, hidden: true, "aria-label": "Progress of the check" });
  const found = h("div", { class: "scroll" });
  const button = h("button", { type: "button", class: "primary", id: "check", onclick: async () => {
    button.disabled = true;
    progress.hidden = false;
    const checked = [];
    try {
      for (const number of sample(run.rows.length, size)) {
        progress.value = checked.length;
        verdict.textContent = `Playing match ${checked.length + 1} of ${size}…`;
        const match = matchOf(run, number);
        const { replay, fingerprint } = await ask("api/matches", match.request);
        const won = replay.ranks.map((rank, seat) => (rank === 1 ? "abcdefgh"[seat] : "")).join("");
        checked.push({ ...match, won, agrees: won === match.winners && fingerprint === match.fingerprint });
      }
      const wrong = checked.filter((match) => !match.agrees).length;
      verdict.textContent = wrong === 0 ? `All ${size} matches agree with the published results, card by card and decision by decision.`
        : `${wrong} of ${size} matches differ from the published results. Either the results are wrong, or another version of the agents played them.`;
      verdict.classList.toggle("trouble", wrong > 0);
      found.replaceChildren(matchTable(name, checked, ["in this browser"], (match) => [match.agrees ? "the same" : `different: won by ${match.won}`]));
    } catch (error) {
      verdict.textContent = error.message;
    }
    progress.hidden = true;
    button.disabled = false;
  } }, `Check ${size} random matches in this browser`);
  const missed = Math.round(100 * 0.9 ** size);
  return [
    h("div", { class: "row" }, button, progress), verdict,
    h("details", {}, h("summary", {}, "What does this check show?"),
      h("p", {}, `Your browser plays the matches again from the published seed, with the agents in this page, and compares a fingerprint of all cards, decisions and scores. If one row in ten were wrong, ${100 - missed} of 100 such checks would find one.`),
      h("p", {}, `It does not show that the agents are good, that the run was not chosen among several, or that the other matches are right. cambio ${run.program} played this run; this page has its own version of the agents, and a version that decides otherwise is reported as a difference. “cambio verify --all” checks all matches of a run folder.`)),
    found,
  ];
}

// The list of all matches, page by page.
function list(name, run) {
  const rows = h("div", { class: "scroll" });
  const state = h("p", { class: "facts", role: "status" });
  const buttons = [[-1, "Previous page"], [1, "Next page"]].map(([step, words]) => h("button", { type: "button", onclick: () => turn(step) }, words));
  let at = 0;
  function turn(step) {
    at += step;
    const numbers = Array.from({ length: Math.min(LISTED, run.rows.length - at * LISTED) }, (_, index) => at * LISTED + index);
    state.textContent = `Showing ${numbers[0] + 1} to ${numbers.at(-1) + 1} of ${grouped(run.rows.length)} matches.`;
    buttons[0].disabled = at === 0;
    buttons[1].disabled = (at + 1) * LISTED >= run.rows.length;
    rows.replaceChildren(matchTable(name, numbers.map((number) => matchOf(run, number)), [], () => []));
  }
  turn(0);
  return [state, rows, h("div", { class: "row" }, ...buttons)];
}

// Shows a published run, or without a name the list of published runs.
export async function published(main, name) {
  if (!name) {
    const runs = await fetched("runs/runs.json", "this site has no published runs");
    main.replaceChildren(h("h1", {}, "Published runs"), h("p", {}, "Results that your browser can check."),
      h("ul", {}, ...runs.map((run) => h("li", {}, h("a", { href: `runs.html?run=${run.name}` }, run.title), ` (${grouped(run.matches)} matches)`))));
    return;
  }
  const run = await load(name);
  main.replaceChildren(h("h1", {}, run.title),
    h("p", {}, h("a", { href: "runs.html" }, "All published runs")),
    h("p", { class: "facts" }, `${grouped(run.rows.length)} matches on ${run.deals} deals, seed ${run.seed}, run ${run.run_id.slice(0, 12)}`),
    ...results(run), h("h2", {}, "Check the results"), ...check(name, run), h("h2", {}, "All matches"), ...list(name, run));
}
