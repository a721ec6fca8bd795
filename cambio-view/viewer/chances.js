// The review panel: win chances over a round, costs of decisions, blunders and luck. The server computes a review in the background; a page
// from disk contains the reviews.
import { capital, h, LETTERS, s } from "./cards.js";
import { apportioned, hundreds, judged, number, percentOf, split, sum, summary } from "./parts.js";
import { castOf, choiceOf, deedOf, nameOf, ownerOf, reasonOf } from "./story.js";

// The interval in milliseconds at which the progress is requested.
const AGAIN = 700;
// The strip of chances, in pixels, and its margins.
const HEIGHT = 70;
const EDGE = { left: 10, top: 8, bottom: 8 };
// The strip has no names for more players.
const MOST_NAMES = 5;
// The names at the ends of the lines: their number of letters, and the width of a letter in pixels.
const NAME = { letters: 9, width: 6.5 };

// The number of decisions in the list of the costliest ones.
const COSTLIEST = 3;

// The marks of the graph: a blunder, and good or bad luck.
const MARKS = {
  blunder: () => [s("circle", { r: 6 }), s("text", { y: 4, "text-anchor": "middle" }, "!")],
  up: () => [s("path", { d: "M0-5 5 3H-5z" })],
  down: () => [s("path", { d: "M0 5 5-3H-5z" })],
};
const mark = (kind, x, y) => s("g", { class: kind === "blunder" ? kind : `luck ${kind}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` }, ...MARKS[kind]());
const sample = (kind) => s("svg", { viewBox: "-9 -9 18 18", "aria-hidden": "true" }, mark(kind, 0, 0));

// Requests the review of a round, counted from 1. `shown` receives its progress. Returns the finished review.
export async function reviewOf(ask, record, round, shown) {
  const { review: number } = await ask("api/reviews", { record, round });
  for (;;) {
    const review = await ask(`api/reviews/${number}`);
    shown?.(review);
    if (review.over) return review;
    await new Promise((done) => setTimeout(done, AGAIN));
  }
}

// Creates the analysis of a viewer. `viewer.go(round, decision)` goes to a decision; `round` is counted from 0,
// the deal is decision 0. `viewer.tab` shows a section beside the table, `viewer.playOn` opens a table at a
// position, if the page can, and `viewer.changed` is called when there are new costs. Returns the strip of chances,
// the explanation of the decision, and the section of chances. The reviews of the rounds of a `record` come from
// requests with `ask`, or they are known: `reviews`, by round. `keep` receives each new one.
export function chances(film, viewer, { ask, record, reviews = [], keep }) {
  // A tab may have kept an analysis of an earlier version, which has no alternatives.
  const known = new Map([...reviews.entries()].filter(([, review]) => review?.decisions.every(({ others }) => others)));
  const cast = castOf(film);
  const person = cast.you;
  const name = (seat) => nameOf(typeof seat === "number" ? LETTERS[seat] : seat, cast);
  const names = cast.people.map((_, seat) => name(seat).slice(0, NAME.letters));
  // The width right of the graph.
  const right = names.length > MOST_NAMES ? EDGE.left : 8 + NAME.width * Math.max(...names.map((one) => one.length));
  let at = [0, 0];
  const begin = h("button", { type: "button", class: "primary", onclick: ({ detail }) => {
    const own = viewer.tab("Chances");
    // The button goes; after a click, the keys are for the replay.
    if (!detail) own.focus();
    work(at[0]);
  } }, "Analyse this round");
  const state = h("p", { class: "facts", role: "status" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the analysis" });
  const graph = h("div", { class: "graph" });
  const marks = h("p", { class: "facts marks" });
  // Which chances the graph shows: with the real cards, or with what each player knew.
  const kind = h("select", { onchange: () => show() },
    h("option", { value: "all" }, "all cards"), h("option", { value: "own" }, "what each player knew"));
  const choose = h("label", {}, "Chances with ", kind);
  const readout = h("div", { class: "readout" });
  const why = h("div", { class: "reasons", role: "status" });
  // Whether the explanation of a decision shows its numbers.
  let hasNumbers = false;
  const found = h("div", {});
  const status = h("div", { class: "analysis" }, begin, bar, state);
  const element = h("div", {}, h("p", {}, choose), readout, marks, found);

  async function work(round) {
    known.set(round, known.get(round) ?? { decisions: [], chances: [], of: 1, over: false });
    show();
    try {
      const review = await reviewOf(ask, record, round + 1, (progress) => {
        known.set(round, progress);
        if (at[0] === round) show();
      });
      if (!review.trouble) keep?.(round, review);
    } catch (error) {
      // A server that starts again has no analyses. Another one of this round gives the same result.
      if (error.isLost || error.status === 404) {
        setTimeout(work, AGAIN, round);
        if (error.isLost && at[0] === round) state.textContent = "No connection to the server. Trying again…";
        return;
      }
      known.delete(round);
      if (at[0] === round) show(error.message);
    }
  }

  function show(problem) {
    const review = known.get(at[0]);
    begin.hidden = Boolean(review) || !ask;
    bar.hidden = !review || review.over;
    const isBegun = review?.chances.length > 0 || review?.decisions.length > 0;
    for (const part of [marks, readout, found, choose]) part.hidden = !isBegun;
    state.classList.toggle("trouble", Boolean(problem ?? review?.trouble));
    if (!review) state.textContent = problem ?? "Chances, costs and blunders.";
    else if (review.trouble) state.textContent = review.trouble;
    else state.textContent = review.over ? "" : review.decisions.length ? `Analysing decision ${review.decisions.length} of ${review.of}…` : "Waiting for another analysis to finish…";
    state.hidden = !state.textContent;
    if (review) bar.value = review.decisions.length / Math.max(review.of, 1);
    graph.replaceChildren();
    if (!isBegun) { why.replaceChildren(); return; }
    draw(review);
    read(review);
    explain(review);
    write(review);
    viewer.changed();
  }

  // The cost of a decision with what the player could know, if it is clearly above 0.
  const costOf = (decision) => {
    const cost = judged(decision);
    return cost && cost.best !== decision.action && cost.mean > cost.half ? cost : null;
  };

  // The seat whose chance changed most by luck after a decision, if the change is clear: at least as large as the cost of a blunder,
  // even at the low end of the interval. Of equal changes, this is the change for the person, or for the seat which decided.
  function luckAfter({ parts, decisions, least }, place) {
    const step = parts?.steps[place] ?? [];
    const first = LETTERS.indexOf(person ?? decisions[place].by);
    const seats = [first, ...step.keys()].filter((seat) => Math.abs(step[seat]?.mean ?? 0) - (step[seat]?.half ?? 0) >= least);
    const most = Math.max(...seats.map((seat) => Math.abs(step[seat].mean)));
    const seat = seats.find((one) => Math.abs(step[one].mean) > most - 0.02);
    return seat === undefined ? null : { seat, ...step[seat] };
  }

  function draw(review) {
    const { chances, decisions, of, parts } = review;
    const isOwn = kind.value === "own";
    const width = Math.max(graph.clientWidth, 260);
    const x = (d) => EDGE.left + ((width - EDGE.left - right) * d) / Math.max(of, 1);
    const y = (share) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - share);
    const seats = film.agents.length;
    const path = (points) => points.map(([d, share], place) => `${place ? "L" : "M"}${x(d).toFixed(1)} ${y(Math.min(1, Math.max(0, share))).toFixed(1)}`).join("");
    const shown = [0, 0.5, 1].map((share) => s("line", { class: "grid", x1: EDGE.left, x2: width - right, y1: y(share), y2: y(share) }));
    // The places and chances of the line of each seat. A player's own chance is known at its own decisions, and at the end.
    const lines = Array.from({ length: seats }, (_, seat) => (isOwn ? [
      ...decisions.flatMap(({ by, own }, place) => (by === LETTERS[seat] && own ? [[place, own]] : [])),
      ...(chances.length > of ? [[of, chances[of][seat]]] : []),
    ] : chances.map((each, d) => [d, each[seat]])));
    lines.forEach((line, seat) => {
      if (!line.length) return;
      const side = (sign) => line.map(([d, { mean, half }]) => [d, mean + sign * half]);
      if (seats < 4) shown.push(s("path", { class: `band s${seat}`, d: `${path([...side(1), ...side(-1).reverse()])}Z` }));
      shown.push(s("path", { class: `line s${seat}`, d: path(line.map(([d, { mean }]) => [d, mean])) }));
      if (isOwn) line.forEach(([d, { mean }]) => shown.push(s("circle", { class: `point s${seat}`, cx: x(d), cy: y(mean), r: 2.5 })));
    });
    // The names at the ends of the lines, moved apart so that they do not overlap.
    const ends = lines.flatMap((line, seat) => (line.length ? [{ seat, d: line.at(-1)[0], y: y(line.at(-1)[1].mean) }] : [])).sort((one, other) => one.y - other.y);
    ends.reverse().forEach((end, place) => { end.y = Math.min(end.y, place ? ends[place - 1].y - 11 : y(0)); });
    if (seats <= MOST_NAMES) ends.forEach((end) => shown.push(s("text", { class: `name s${end.seat}`, x: Math.min(x(end.d) + 4, width - right + 4), y: end.y + 4 }, names[end.seat])));
    const kinds = new Set();
    const put = (what, d, share, up) => { kinds.add(what); shown.push(mark(what, x(d), Math.min(HEIGHT - EDGE.bottom - 6, Math.max(EDGE.top + 6, y(share) + up)))); };
    decisions.forEach((decision, place) => {
      const luck = isOwn ? null : luckAfter(review, place);
      // Luck is beside the line, so that it does not cover a blunder.
      if (luck) put(luck.mean > 0 ? "up" : "down", place + 1, chances[place + 1][luck.seat].mean, luck.mean > 0 ? 13 : -13);
      if (!decision.blunder) return;
      if (!isOwn) put("blunder", place + 1, (chances[place + 1] ?? chances[place])[LETTERS.indexOf(decision.by)].mean, 0);
      else if (decision.own) put("blunder", place, decision.own.mean, 0);
    });
    const least = number(100 * review.least, 0);
    const meanings = [[["blunder"], "a blunder"], [["up", "down"], `good or bad luck: drawn cards, races or a reshuffle clearly changed this chance, by ${least} wins in 100 or more`]];
    marks.replaceChildren(...meanings.filter(([some]) => some.some((one) => kinds.has(one)))
      .map(([some, words]) => h("span", {}, ...some.map(sample), ` ${words}`)),
    isOwn ? h("span", {}, "A point is a decision of the player: the mean over possible deals that fit what the player had seen. Points are missing where too few deals fit.")
      : parts ? "" : h("span", {}, "Luck is marked when the analysis is complete."));
    const blunders = decisions.filter((decision) => decision.blunder).length;
    const drawing = s("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `Chance to win of each player ${isOwn ? "by what the player knew, at the player's decisions" : "after each decision"}. ${blunders === 1 ? "1 blunder is" : `${blunders} blunders are`} marked` }, ...shown);
    // The slider lies over the chances, with its handle at the current decision.
    graph.parentElement.style.setProperty("--right", `${right}px`);
    graph.replaceChildren(drawing);
  }

  // The chances after the decision that led to the current table, and the luck since then.
  function read(review) {
    const { chances, of } = review;
    const isOwn = kind.value === "own";
    const here = chances[at[1]];
    if (!here) { readout.textContent = "This decision is not analysed yet."; return; }
    const luck = at[1] > 0 && !isOwn && luckAfter(review, at[1] - 1);
    const percents = apportioned(here.map(({ mean }) => mean), 100);
    readout.replaceChildren(
      h("ul", {}, ...here.map((chance, seat) => h("li", {}, h("span", { class: `key s${seat}` }, capital(name(seat))),
        ` ${at[1] === of ? percents[seat] : percentOf(chance, percents[seat])} %`))),
      luck ? h("p", {}, h("b", { class: "chance" }, `Luck (of draws, races or a reshuffle) changed ${ownerOf(LETTERS[luck.seat], cast)} chance`
        + ` by ${luck.mean > 0 ? "+" : ""}${hundreds(luck)}: from ${number(Math.max(0, 100 * (here[luck.seat].mean - luck.mean)), 0)} % after the decision.`)) : "");
  }

  // Explains the decision that led to the current table: its grade, the reason, and the other choices. Numbers
  // are shown on demand.
  function explain({ decisions, least }) {
    const decision = decisions[at[1] - 1];
    if (!decision) { why.textContent = at[1] ? "This decision is not analysed yet." : "The deal. Go on to the first decision."; return; }
    const { by, action, known, open, own, grade, reason } = decision;
    const quoted = (choice) => `“${choiceOf(by, choice, cast)}”`;
    const isBetter = (cost) => cost.best !== action && cost.mean > 0;
    const more = (cost) => (cost.uncertain ? "the cost is too uncertain to say." : !isBetter(cost) ? "no better choice was found."
      : `${quoted(cost.best)} would win ${hundreds(cost)} more games in 100${cost.mean > cost.half ? "" : ", which may be chance"}.`);
    const verdict = !known ? action === "pass" && !open ? "Guessed snaps are not judged, and there was no other choice." : "There was no other choice."
      : !grade ? "This decision cannot be judged: too few possible deals explain how the others played."
      : known.best === action ? "No better choice was found." : grade === "best" ? `${capital(quoted(known.best))} is not clearly better.`
      : grade === "fine" ? `${capital(quoted(known.best))} is a little better.` : `Better: ${quoted(known.best)}.`;
    const isClear = (cost) => cost && !cost.uncertain && isBetter(cost) && cost.mean > cost.half;
    const isGood = (cost) => cost && !cost.uncertain && !isBetter(cost);
    const cards = isGood(known) && isClear(open) ? "A good decision, but the hidden cards lay badly for it."
      : isClear(known) && isGood(open) ? "A bad decision, but the hidden cards lay well for it." : "";
    why.replaceChildren(
      h("p", {}, grade ? h("b", { class: `grade ${grade}` }, capital(grade)) : "", verdict),
      reason ? h("p", { class: "reason" }, reasonOf(reason, known.best, cast)) : "",
      cards ? h("p", {}, cards) : "",
      grade ? choices(decision, least) : "",
      known || open ? h("details", { class: "numbers", open: hasNumbers, ontoggle: ({ target }) => { hasNumbers = target.open; } }, h("summary", {}, "In numbers"),
        ...(known ? [h("p", {}, `With what ${name(by)} could know: ${more(known)}`)] : []),
        ...(open ? [h("p", {}, `If all cards had been visible: ${more(open)}`)] : []),
        own ? h("p", {}, `${capital(ownerOf(by, cast))} chance after the best decision, with what ${name(by)} could know: ${percentOf(own, number(100 * own.mean, 0))} %.`) : "") : "");
  }

  // The measured choices of a decision, the best first: a bar is the distance to the best one.
  function choices({ by, action, known, others, grade }, least) {
    const played = { ...known, action, grade };
    const all = known.best === action ? [played, ...others] : [{ action: known.best }, ...[played, ...others].sort((one, other) => one.mean - other.mean)];
    const most = Math.max(least, ...all.map(({ mean = 0 }) => mean));
    const bar = (share) => {
      const line = h("i");
      line.style.setProperty("--share", Math.max(0, share));
      return line;
    };
    return h("table", { class: "choices" }, h("tbody", {}, ...all.map((one, place) => h("tr", { class: one.action === action ? "played" : "" },
      h("th", { scope: "row" }, capital(choiceOf(by, one.action, cast)), one.action === action ? h("small", {}, "played") : ""),
      h("td", { class: "distance", "aria-hidden": "true" }, bar(place ? one.mean / most : 0)),
      h("td", {}, !place ? "best" : one.grade === "best" ? "perhaps as good" : one.grade),
      h("td", { class: "cost" }, place ? hundreds(one) : "")))));
  }

  function write(review) {
    const { decisions, playouts, one_round: isRound, least, of } = review;
    const isOwn = kind.value === "own";
    const numbered = decisions.map((decision, place) => ({ ...decision, d: place + 1 }));
    const costly = numbered.filter((decision) => costOf(decision) && (!person || decision.by === person))
      .sort((one, other) => other.known.mean - one.known.mean).slice(0, COSTLIEST);
    const costs = (seat, what) => {
      const own = decisions.filter((decision) => decision.by === LETTERS[seat] && decision[what]?.mean !== undefined).map((decision) => decision[what]);
      return own.length ? hundreds(sum(own)) : "none";
    };
    const win = isRound ? "win the round" : "win the match";
    found.replaceChildren(
      h("h2", {}, person ? "Your costliest decisions" : "The costliest decisions"),
      costly.length === 0 ? h("p", {}, decisions.length < of ? "None so far." : "None: no other choice was measurably better.") : h("ul", { class: "blunders" }, ...costly.map(({ d, by, action, known: cost, grade }) =>
        h("li", {}, h("a", { href: `#round=${at[0] + 1}&decision=${d}`, onclick: () => viewer.tab("Why") }, `${d}. ${deedOf(by, action, cast)}`), ": ", h("b", { class: `grade ${grade}` }, grade),
          `${hundreds(cost)} wins in 100; “${choiceOf(by, cost.best, cast)}” was better. `, viewer.playOn ? h("button", { type: "button", class: "small", onclick: () => { viewer.go(at[0], d); viewer.playOn(at[0] + 1, d - 1, by); } }, "Try again") : ""))),
      ...split(review, cast),
      ...(decisions.length < of ? [] : summary(review, cast)),
      h("p", { class: "facts" }, `The chance to ${win} from each position if all players continue like learned: the mean of at least ${playouts} simulated games with a shuffled stock and ${isOwn ? "cards on the table that fit what the player had seen" : "the real cards on the table"}. The bands are 95 % intervals.`,
        isRound ? "" : " The value of the totals after a round is estimated from rounds that heuristic plays."),
      h("details", {}, h("summary", {}, "What are costs and blunders?"),
        h("div", { class: "scroll" }, h("table", { class: "costs" },
          h("thead", {}, h("tr", {}, ...["player", "cost with what the player could know", "cost if all cards were visible"].map((head) => h("th", { scope: "col" }, head)))),
          h("tbody", {}, ...cast.people.map((_, seat) => h("tr", {}, h("th", { scope: "row" }, h("span", { class: `key s${seat}` }, name(seat))),
            h("td", {}, costs(seat, "known")), h("td", {}, costs(seat, "open"))))))),
        h("p", {}, "The cost of a decision is how many more games in 100 the best alternative would win. The table adds up the costs of each player that could be judged. A sum can exceed 100, because the same win can be missed at several decisions. “With what the player could know” averages over possible deals that fit what the player saw, weighted by how likely the other players' decisions are in them. “If all cards were visible” uses the real cards on the table for this one decision (regret against an oracle). The best alternative is chosen and measured in different simulations, so a cost can be slightly below 0 by chance."),
        h("p", {}, `A blunder costs at least ${number(100 * least, 0)} wins in 100 with what the player could know, even at the low end of the 95 % interval.`)));
  }

  const redraw = () => { if (known.get(at[0])?.chances.length) draw(known.get(at[0])); };
  addEventListener("resize", redraw);
  return {
    status,
    strip: graph,
    why,
    element,
    draw: redraw,
    grade: (d) => known.get(at[0])?.decisions[d - 1]?.grade,
    // The best choice at a decision of the current round, if it was better.
    best: (d) => costOf(known.get(at[0])?.decisions[d - 1] ?? {})?.best,
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
