// Win chance over a round, what the decisions cost, and the blunders. The server works it out in the background.
import { ask, h, LETTERS } from "./common.js";

// How often the server is asked how far it is.
const AGAIN = 700;
const HEIGHT = 190;
const EDGE = { left: 40, right: 18, top: 10, bottom: 22 };

// Makes an element of a drawing.
function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const number = (value, digits = 1) => value.toFixed(digits).replace("-", "−").replace(/^−(0(?:\.0*)?)$/, "$1");
const hundreds = ({ mean, half }) => `${number(100 * mean)} ± ${number(100 * half)}`;

// The panel of a viewer: `viewer.go(round, decision)` goes to a decision, both counted as the address counts them.
export function chances(film, record, viewer) {
  const known = new Map();
  let at = [0, 0];
  let timer = null;
  const begin = h("button", { type: "button", onclick: () => work(at[0]) }, "Work out this round");
  const state = h("p", { class: "facts", role: "status" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "How much is worked out" });
  const graph = h("div", { class: "graph" });
  const readout = h("p", { class: "readout" });
  const found = h("div", {});
  const element = h("section", { class: "chances", "aria-labelledby": "chances" },
    h("h2", { id: "chances" }, "Win chance"), h("div", { class: "row" }, begin, bar), state, graph, readout, found);

  async function work(round) {
    clearTimeout(timer);
    known.set(round, known.get(round) ?? { decisions: [], chances: [], of: 1, over: false });
    show();
    try {
      const { appraisal } = await ask("api/appraisals", { record, round: round + 1 });
      for (;;) {
        const told = await ask(`api/appraisals/${appraisal}`);
        known.set(round, told);
        if (at[0] === round) show();
        if (told.over) return;
        await new Promise((done) => { timer = setTimeout(done, AGAIN); });
      }
    } catch (error) {
      known.delete(round);
      if (at[0] === round) show(error.message);
    }
  }

  function show(problem) {
    const told = known.get(at[0]);
    begin.hidden = Boolean(told);
    bar.hidden = !told || told.over;
    const isBegun = told?.chances.length > 0;
    for (const part of [graph, readout, found]) part.hidden = !isBegun;
    state.classList.toggle("trouble", Boolean(problem ?? told?.trouble));
    if (!told) state.textContent = problem ?? "How each seat stood, which decisions cost how much, and which were blunders.";
    else if (told.trouble) state.textContent = told.trouble;
    else state.textContent = told.over ? "" : told.decisions.length ? `Decision ${told.decisions.length} of ${told.of}…` : "It begins when its turn comes…";
    state.hidden = !state.textContent;
    if (told) bar.value = told.decisions.length / Math.max(told.of, 1);
    if (!isBegun) return;
    draw(told);
    read(told);
    write(told);
  }

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
    // The letters stand at the ends of the lines, and make room for each other.
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
    const drawing = s("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `The win chance of each seat after each decision; ${blunders === 1 ? "1 blunder, which is" : `${blunders} blunders, which are`} listed below` }, ...parts);
    drawing.addEventListener("click", (event) => {
      const { left, width: wide } = drawing.getBoundingClientRect();
      const place = (((event.clientX - left) / wide) * width - EDGE.left) / (width - EDGE.left - EDGE.right);
      viewer.go(at[0], Math.min(of, Math.max(0, Math.round(place * of))));
    });
    graph.replaceChildren(drawing);
  }

  // What is known of the decision that led to the table that is shown.
  function read({ chances, decisions }) {
    const here = chances[at[1]];
    const decision = decisions[at[1] - 1];
    if (!here) { readout.textContent = "This decision is not worked out yet."; return; }
    const cost = (name, told) => (told === null ? "" : told.best === decision.action ? `${name}, nothing better was found. ` : `${name}, ${told.best} gives ${hundreds(told)} of 100 more. `);
    const nothing = decision && decision.known === null && decision.open === null;
    readout.replaceChildren(
      h("b", {}, decision ? `After ${decision.by}: ${decision.action}` : "After the deal"), ` the chances in 100 are ${here.map((each, seat) => `${LETTERS[seat]} ${each.half ? `${number(100 * each.mean, 0)} ± ${number(100 * each.half, 0)}` : number(100 * each.mean, 0)}`).join(", ")}. `,
      decision?.blunder ? h("b", { class: "bad" }, "A blunder. ") : "",
      !decision ? "" : nothing ? "There was nothing else to decide." : cost(`By what ${decision.by} could know`, decision.known) + cost("With the cards on the table known", decision.open));
  }

  function write({ decisions, chances, player, playouts, one_round: isRound, least, of }) {
    const blunders = decisions.map((decision, place) => ({ ...decision, d: place + 1 })).filter((decision) => decision.blunder);
    const sum = (seat, what) => {
      const costs = decisions.filter((decision) => decision.by === LETTERS[seat] && decision[what]).map((decision) => decision[what]);
      return hundreds({ mean: costs.reduce((all, one) => all + one.mean, 0), half: Math.hypot(...costs.map((one) => one.half)) });
    };
    const win = isRound ? "win the round" : "win the match";
    found.replaceChildren(
      h("p", { class: "facts" }, `The chance to ${win}, with the cards on the table as they lie and the stock in any order, if everybody plays on as ${player} does: the mean of ${playouts} playouts, and bands of 95 % for their noise.`,
        player === "learned" ? "" : " No network knows these cards.", isRound ? "" : " What the totals after a round are worth is estimated from rounds of the heuristic."),
      h("h3", {}, "Blunders"),
      blunders.length === 0 ? h("p", {}, decisions.length < of ? "None so far." : "None.") : h("ul", { class: "blunders" }, ...blunders.map(({ d, by, action, known: told }) =>
        h("li", {}, h("a", { href: `#round=${at[0] + 1}&decision=${d}` }, `${d}. ${by}: ${action}`), ` cost ${hundreds(told)} of 100; ${told.best} was better`))),
      h("div", { class: "scroll" }, h("table", { class: "costs" },
        h("thead", {}, h("tr", {}, ...["seat", "blunders", "costs by what it could know", "regret against an oracle"].map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, ...(chances[0] ?? []).map((_, seat) => h("tr", {}, h("th", { scope: "row" }, h("span", { class: `key s${seat}` }, LETTERS[seat]), ` ${film.agents[seat]}`),
          h("td", {}, blunders.filter((decision) => decision.by === LETTERS[seat]).length), h("td", {}, sum(seat, "known")), h("td", {}, sum(seat, "open"))))))),
      h("details", {}, h("summary", {}, "What costs and blunders are"),
        h("p", {}, "A cost is how many wins in 100 the best other decision that was found gives more, in the same worlds by the same chance. The table has their sums. A cost is measured in other worlds than it was found in, so it may be below 0 by noise. By what the seat could know: in worlds that fit what it saw, weighed by how the others decided. Regret against an oracle: with the cards on the table known for this one decision."),
        h("p", {}, `A blunder costs at least ${number(100 * least, 0)} in 100 by what the seat could know, even at the low end of the 95 % interval.`)));
  }

  addEventListener("resize", () => { if (known.get(at[0])?.chances.length) draw(known.get(at[0])); });
  return {
    element,
    moved(round, decision) {
      at = [round, decision];
      show();
    },
    // The next blunder after the decision that is shown, or the one before it.
    blunder(step) {
      const decisions = known.get(at[0])?.decisions ?? [];
      for (let d = at[1] + step; d >= 1 && d <= decisions.length; d += step) if (decisions[d - 1].blunder) return viewer.go(at[0], d);
    },
  };
}
