// The review panel: win chances over a round, costs of decisions, and blunders. The server computes a review in the background; a page
// from disk contains the reviews.
import { h, inWords, LETTERS, s } from "./cards.js";

// The interval in milliseconds at which the progress is requested.
const AGAIN = 700;
const HEIGHT = 190;
const EDGE = { left: 40, right: 18, top: 10, bottom: 22 };

const number = (value, digits = 1) => value.toFixed(digits).replace("-", "−").replace(/^−(0(?:\.0*)?)$/, "$1");
const hundreds = ({ mean, half }) => `${number(100 * mean)} ± ${number(100 * half)}`;

// The number of decisions in the list of the costliest ones.
const COSTLIEST = 3;

// Creates the panel of a viewer. `viewer.go(round, decision)` goes to a decision; `round` is counted from 0, the deal is decision 0.
// `viewer.playOn` opens a table at a position, if the page can, and `viewer.changed` is called when there are new costs. The reviews of
// the rounds of a `record` come from requests with `ask`, or they are known: `reviews`.
export function chances(film, viewer, { ask, record, reviews = [] }) {
  const known = new Map(reviews.entries());
  let at = [0, 0];
  let timer = null;
  const begin = h("button", { type: "button", onclick: () => work(at[0]) }, "Analyse this round");
  const state = h("p", { class: "facts", role: "status" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the analysis" });
  const graph = h("div", { class: "graph" });
  const readout = h("p", { class: "readout" });
  const found = h("div", {});
  const element = h("section", { class: "chances", "aria-labelledby": "chances" },
    h("h2", { id: "chances" }, "Chance to win"), h("div", { class: "row" }, begin, bar), state, graph, readout, found);

  async function work(round) {
    clearTimeout(timer);
    known.set(round, known.get(round) ?? { decisions: [], chances: [], of: 1, over: false });
    show();
    try {
      const { appraisal } = await ask("api/appraisals", { record, round: round + 1 });
      for (;;) {
        const review = await ask(`api/appraisals/${appraisal}`);
        known.set(round, review);
        if (at[0] === round) show();
        if (review.over) return;
        await new Promise((done) => { timer = setTimeout(done, AGAIN); });
      }
    } catch (error) {
      known.delete(round);
      if (at[0] === round) show(error.message);
    }
  }

  function show(problem) {
    const review = known.get(at[0]);
    begin.hidden = Boolean(review) || !ask;
    bar.hidden = !review || review.over;
    const isBegun = review?.chances.length > 0;
    for (const part of [graph, readout, found]) part.hidden = !isBegun;
    state.classList.toggle("trouble", Boolean(problem ?? review?.trouble));
    if (!review) state.textContent = problem ?? "See each player's chance to win, the cost of every decision, and the blunders.";
    else if (review.trouble) state.textContent = review.trouble;
    else state.textContent = review.over ? "" : review.decisions.length ? `Analysing decision ${review.decisions.length} of ${review.of}…` : "Waiting for another analysis to finish…";
    state.hidden = !state.textContent;
    if (review) bar.value = review.decisions.length / Math.max(review.of, 1);
    if (!isBegun) return;
    draw(review);
    read(review);
    write(review);
    viewer.changed();
  }

  // The cost of a decision with what the player could know, if it is known and above 0.
  const costOf = ({ known: cost, action }) => (cost && !cost.uncertain && cost.best !== action && cost.mean > 0 ? cost : null);

  function draw({ chances, decisions, of }) {
    const width = Math.max(graph.clientWidth, 260);
    const x = (d) => EDGE.left + ((width - EDGE.left - EDGE.right) * d) / Math.max(of, 1);
    const y = (share) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - share);
    const seats = chances[0]?.length ?? 0;
    const path = (points) => points.map(([d, share], place) => `${place ? "L" : "M"}${x(d).toFixed(1)} ${y(Math.min(1, Math.max(0, share))).toFixed(1)}`).join("");
    const parts = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
      s("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(share), y2: y(share) }),
      s("text", { x: EDGE.left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`)]);
    const every = [10, 20, 50, 100].find((step) => of / step <= 8) ?? 200;
    for (let d = 0; d <= of; d += every) parts.push(s("text", { x: x(d), y: HEIGHT - 5, "text-anchor": "middle" }, d));
    for (let seat = 0; seat < seats; seat += 1) {
      const side = (sign) => chances.map((each, d) => [d, each[seat].mean + sign * each[seat].half]);
      if (seats < 4) parts.push(s("path", { class: `band s${seat}`, d: `${path([...side(1), ...side(-1).reverse()])}Z` }));
      parts.push(s("path", { class: `line s${seat}`, d: path(chances.map((each, d) => [d, each[seat].mean])) }));
    }
    // The letters at the ends of the lines, moved apart so that they do not overlap.
    const ends = (chances.at(-1) ?? []).map(({ mean }, seat) => ({ seat, y: y(mean) })).sort((one, other) => one.y - other.y);
    ends.reverse().forEach((end, place) => { end.y = Math.min(end.y, place ? ends[place - 1].y - 11 : y(0)); });
    ends.forEach((end) => parts.push(s("text", { class: `name s${end.seat}`, x: Math.min(x(chances.length - 1) + 4, width - 12), y: end.y + 4 }, LETTERS[end.seat])));
    parts.push(s("line", { class: "now", x1: x(at[1]), x2: x(at[1]), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }));
    decisions.forEach((decision, place) => {
      if (!decision.blunder) return;
      const { mean } = (chances[place + 1] ?? chances[place])[LETTERS.indexOf(decision.by)];
      parts.push(s("g", { class: "blunder", transform: `translate(${x(place + 1).toFixed(1)} ${y(mean).toFixed(1)})` }, s("circle", { r: 7 }), s("text", { y: 4, "text-anchor": "middle" }, "!")));
    });
    const blunders = decisions.filter((decision) => decision.blunder).length;
    const drawing = s("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `Chance to win of each seat after each decision. ${blunders === 1 ? "1 blunder is" : `${blunders} blunders are`} listed below` }, ...parts);
    drawing.addEventListener("click", (event) => {
      const { left, width: wide } = drawing.getBoundingClientRect();
      const place = (((event.clientX - left) / wide) * width - EDGE.left) / (width - EDGE.left - EDGE.right);
      viewer.go(at[0], Math.min(of, Math.max(0, Math.round(place * of))));
    });
    graph.replaceChildren(drawing);
  }

  // Describes the decision that led to the current table.
  function read({ chances, decisions }) {
    const here = chances[at[1]];
    const decision = decisions[at[1] - 1];
    if (!here) { readout.textContent = "This decision is not analysed yet."; return; }
    const cost = (name, regret) => (regret === null ? "" : regret.uncertain ? `${name}, the cost is too uncertain to say: few possible deals explain how the others played. ` : regret.best === decision.action ? `${name}, this was the best choice found. ` : `${name}, “${inWords(regret.best)}” would win ${hundreds(regret)} more games in 100. `);
    const nothing = decision && decision.known === null && decision.open === null;
    readout.replaceChildren(
      h("b", {}, decision ? `After ${decision.by}: ${inWords(decision.action)}` : "After the deal"), ` the chances to win, in %: ${here.map((each, seat) => `${LETTERS[seat]} ${each.half ? `${number(100 * each.mean, 0)} ± ${number(100 * each.half, 0)}` : number(100 * each.mean, 0)}`).join(", ")}. `,
      decision?.blunder ? h("b", { class: "bad" }, "A blunder. ") : "",
      !decision ? "" : nothing ? "There was no other choice." : cost(`With what ${decision.by} could know`, decision.known) + cost("With all cards on the table visible", decision.open));
  }

  function write({ decisions, chances, player, playouts, one_round: isRound, least, of }) {
    const numbered = decisions.map((decision, place) => ({ ...decision, d: place + 1 }));
    const blunders = numbered.filter((decision) => decision.blunder);
    const person = LETTERS[film.agents.indexOf("person")] ?? null;
    const costly = numbered.filter((decision) => costOf(decision) && (!person || decision.by === person))
      .sort((one, other) => other.known.mean - one.known.mean).slice(0, COSTLIEST);
    const sum = (seat, what) => {
      const costs = decisions.filter((decision) => decision.by === LETTERS[seat] && decision[what]).map((decision) => decision[what]);
      return hundreds({ mean: costs.reduce((all, one) => all + one.mean, 0), half: Math.hypot(...costs.map((one) => one.half)) });
    };
    const win = isRound ? "win the round" : "win the match";
    found.replaceChildren(
      h("p", { class: "facts" }, `The chance to ${win} from each position if all players continue like ${player}: the mean of ${playouts} simulated games with the real cards on the table and a shuffled stock. The bands are 95 % intervals.`,
        player === "learned" ? "" : " (No network supports these rules.)", isRound ? "" : " The value of the totals after a round is estimated from rounds that heuristic plays."),
      h("h3", {}, person ? "Your costliest decisions" : "The costliest decisions"),
      costly.length === 0 ? h("p", {}, decisions.length < of ? "None so far." : "None: no other choice was measurably better.") : h("ul", { class: "blunders" }, ...costly.map(({ d, by, action, known: cost, blunder }) =>
        h("li", {}, h("a", { href: `#round=${at[0] + 1}&decision=${d}` }, `${d}. ${by}: ${inWords(action)}`), ` cost ${hundreds(cost)} wins in 100; “${inWords(cost.best)}” was better. `,
          blunder ? h("b", { class: "bad" }, "A blunder. ") : "", viewer.playOn ? h("button", { type: "button", class: "small", onclick: () => viewer.playOn(at[0] + 1, d - 1, by) }, "Try again") : ""))),
      h("div", { class: "scroll" }, h("table", { class: "costs" },
        h("thead", {}, h("tr", {}, ...["seat", "blunders", "cost with what the player could know", "cost if all cards were visible"].map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, ...(chances[0] ?? []).map((_, seat) => h("tr", {}, h("th", { scope: "row" }, h("span", { class: `key s${seat}` }, LETTERS[seat]), ` ${film.agents[seat]}`),
          h("td", {}, blunders.filter((decision) => decision.by === LETTERS[seat]).length), h("td", {}, sum(seat, "known")), h("td", {}, sum(seat, "open"))))))),
      h("details", {}, h("summary", {}, "What are costs and blunders?"),
        h("p", {}, "The cost of a decision is how many more games in 100 the best alternative would win. The table adds up the costs of each player. “With what the player could know” averages over possible deals that fit what the player saw, weighted by how likely the other players' decisions are in them. “If all cards were visible” uses the real cards on the table for this one decision (regret against an oracle). The best alternative is chosen and measured in different simulations, so a cost can be slightly below 0 by chance."),
        h("p", {}, `A blunder costs at least ${number(100 * least, 0)} wins in 100 with what the player could know, even at the low end of the 95 % interval.`)));
  }

  addEventListener("resize", () => { if (known.get(at[0])?.chances.length) draw(known.get(at[0])); });
  return {
    element,
    // The best choice at a decision of the current round if it was better, with its gain in words.
    best(d) {
      const decision = known.get(at[0])?.decisions[d - 1];
      const cost = decision && costOf(decision);
      return cost ? { action: cost.best, words: `+${hundreds(cost)} wins in 100` } : null;
    },
    moved(round, decision) {
      at = [round, decision];
      show();
    },
    // Goes to the next blunder, or with step -1 to the previous one.
    blunder(step) {
      const decisions = known.get(at[0])?.decisions ?? [];
      for (let d = at[1] + step; d >= 1 && d <= decisions.length; d += step) if (decisions[d - 1].blunder) return viewer.go(at[0], d);
    },
  };
}
