// The replay viewer: steps through a finished match with every card.
import { capital, h, inUnit, LETTERS, listed } from "./cards.js";
import { castOf, choiceOf, deedOf, doing, inCards, nameOf, ownerOf, scored, story } from "./story.js";
import { Board } from "./table.js";

// Shows a replay inside an element. The address contains the position: #round=2&decision=17&view=b.
// `explain` asks the server for an agent's evaluation, `chances` creates the panel below the table, `playOn` opens a table after a
// decision, and `open` the position after a decision on the page that advises; a page from disk has at most the panel.
export function watch(root, film, { explain, chances, playOn, open } = {}) {
  const places = [];
  film.rounds.forEach((round, r) => round.frames.forEach((_, d) => places.push([r, d])));
  let at = 0;
  let view = "all";
  let timer = null;
  let drawn = -1;
  // Whether the board shows the cards before the decision, with arrows, and whether it shows the end of a round instead.
  let isBefore = true;
  let isEnd = false;
  // A frame in a notebook does not have its own address.
  const hasAddress = location.protocol !== "about:";

  const board = h("div");
  const caption = h("p", { class: "caption", role: "status" });
  const legend = h("p", { class: "legend" });
  const lines = h("ul", { class: "lines" });
  const slider = h("input", { type: "range", min: 0, max: places.length - 1, value: 0, "aria-label": "Decision", oninput: () => go(Number(slider.value)) });
  const seats = film.agents.map((name, index) => LETTERS[index]);
  const cast = castOf(film);
  const players = cast.people;
  const name = (seat) => nameOf(seat, cast);
  const viewer = h("select", { onchange: () => look(viewer.value) },
    h("option", { value: "all" }, "all cards"), ...seats.map((seat) => h("option", { value: seat }, `only what ${doing(seat, "knows", cast)}`)));
  const rounds = h("select", { onchange: () => go(place(Number(rounds.value), 0)) },
    ...film.rounds.map((_, r) => h("option", { value: r }, `round ${r + 1}`)));
  const speed = h("select", {}, ...[["slow", 2400], ["normal", 1200], ["fast", 500], ["very fast", 150]].map(([word, time]) =>
    h("option", { value: time, selected: word === "normal" }, word)));
  const play = h("button", { type: "button", onclick: toggle }, "Play");
  const button = (text, label, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const transcript = h("ol", { class: "transcript" });
  const scores = h("ul", { class: "scores" });
  const seers = h("ul", { class: "lines seers" });
  const reasons = h("div", { class: "reasons", role: "status" });
  const asked = h("select", { onchange: () => reasons.replaceChildren() }, h("option", { value: "" }, film.agents.includes("person") ? "the bot, or learned for a person" : "the bot that decided"),
    ...["learned", "lookahead", "rollout", "ismcts"].map((name) => h("option", { value: name }, name)));
  const why = h("button", { type: "button", onclick: understand, title: "Show how a bot rates the choices here (key: w)" }, "Explain this decision");
  const before = h("input", { type: "checkbox", checked: isBefore, onchange: flip });
  const onward = h("button", { type: "button", class: "onward", onclick: () => { const [r, d] = places[at]; goOn(r + 1, d - Number(shownBefore()), decider()); } });
  const controls = h("div", { class: "controls" },
    slider,
    h("div", { class: "row" },
      button("|‹", "First decision (Home)", () => go(0)),
      button("«", "Previous turn (Shift and left arrow)", () => turn(-1)),
      button("‹", "Previous decision (left arrow)", () => go(at - 1)),
      play,
      button("›", "Next decision (right arrow)", () => go(at + 1)),
      button("»", "Next turn (Shift and right arrow)", () => turn(1)),
      button("›|", "Last decision (End)", () => go(places.length - 1))),
    h("div", { class: "row" },
      h("label", {}, "Show ", viewer),
      film.rounds.length > 1 ? h("label", {}, "Go to ", rounds) : null,
      h("label", {}, "Speed ", speed),
      h("label", { title: "Key: o" }, before, " Before the decision, with arrows")),
    h("div", { class: "row" }, playOn ? onward : null, open ? button("Open as a position", "Set up this decision on the page Analyse", analyse) : null));

  const bots = players.filter(({ spec }) => spec);
  const panel = chances?.({ go: (round, decision) => go(place(round, decision)), playOn: playOn && goOn, changed: () => compare() });

  root.replaceChildren(
    h("h1", {}, film.title),
    h("p", { class: "facts" }, `${film.rules}, ${film.rounds.length} ${film.rounds.length === 1 ? "round" : "rounds"}, ${places.length - film.rounds.length} decisions`,
      !film.ranks.length ? "" : film.ranks.every((rank) => rank === 1 || rank === Math.max(...film.ranks)) ? `; won by ${listed(players.flatMap(({ name }, index) => (film.ranks[index] === 1 ? [name === "You" ? "you" : name] : [])))}`
        : `; final places: ${film.ranks.map((rank, index) => `${players[index].name} ${rank}`).join(", ")}`, ...bots.map(({ name, spec }) => `; ${name} is ${spec}`)),
    film.is_cut ? h("p", { class: "trouble" }, "The match is too long: only its first part is shown.") : "",
    film.fault ? h("p", { class: "trouble" }, `The match stopped with a fault: ${film.fault}`) : "",
    film.flaw ? h("p", { class: "trouble" }, `The record has an error. The match is shown up to this error: ${film.flaw}`) : "",
    h("div", { class: "stage" },
      h("div", { class: "theatre" }, board, legend, caption, controls, panel?.element),
      h("div", { class: "side" },
        h("h2", {}, "What happened"), lines, scores,
        h("h2", {}, "Who has seen which cards"), seers,
        ...(explain ? [h("h2", {}, "Why this decision?"), h("div", { class: "row" }, why, h("label", {}, "by ", asked)), reasons] : []),
        h("h2", {}, "The round"), transcript,
        h("details", { class: "rules" }, h("summary", {}, "How to play"), ...film.in_short.map((line) => h("p", {}, line))),
        h("p", { class: "keys" }, "Keys: the arrows go to the next or previous decision, with Shift to the next or previous turn. Space plays or pauses. Home and End go to the start and the end. v changes the view. o shows the cards before or after the decision.", panel ? " b goes to the next blunder, Shift and b to the previous one." : ""))));
  const table = new Board(board, { ...cast, hand: film.hand, isReplay: true });

  function place(round, decision) {
    const r = Math.min(Math.max(round, 0), film.rounds.length - 1);
    const d = Math.min(Math.max(decision, 0), film.rounds[r].frames.length - 1);
    return places.findIndex(([one, other]) => one === r && other === d);
  }

  // The text of a line in the current view.
  function words(line) {
    if (typeof line === "string") return story(line, cast).text;
    const [full, seat, blind] = line;
    return story(view === "all" || view === seat ? full : blind, cast).text;
  }

  // The decision in the players' words. In the view of one seat, the declarations of other seats in snap windows are hidden.
  function decided(frame) {
    if (!frame.by) return "The deal";
    return frame.secret && view !== "all" && view !== frame.by ? `${capital(name(frame.by))} chose whether to snap (hidden)` : deedOf(frame.by, frame.action, cast);
  }

  function go(to, moves = true) {
    to = Math.min(Math.max(to, 0), places.length - 1);
    const isNext = to === drawn + 1;
    at = to;
    const [r, d] = places[at];
    const { frames } = film.rounds[r];
    const frame = frames[d];
    const isLast = d === frames.length - 1;
    // A link to the last decision of a round leads to the decision, a step to its result.
    isEnd = moves && isLast;
    // The decision that led to the cards on the board.
    const last = shownBefore() ? frames[d - 1] : frame;
    const show = () => {
      seers.replaceChildren(...whoHasSeen(last.scene).map((line) => h("li", {}, line)));
      table.render(last.scene, {
        sees: ({ seenBy }) => view === "all" || seenBy.includes(view),
        seesHeld: (held) => view === "all" || held.by === view || held.taken,
      });
      table.offer(new Map(), () => {});
      compare();
    };
    table.point([]);
    if (isNext && moves && last !== frames[0]) table.fly(last.moves, Math.min(400, Number(speed.value) / 2), last.scene.turn).then(() => { if (at === to) show(); });
    else show();
    drawn = at;
    slider.value = at;
    reasons.replaceChildren();
    why.disabled = !frame.by;
    rounds.value = r;
    onward.textContent = `Play on from here${decider() === cast.you ? "" : ` as ${name(decider())}`}`;
    onward.disabled = at === places.length - 1 && !shownBefore();
    caption.textContent = `Round ${r + 1}, decision ${d} of ${frames.length - 1}: ${decided(frame)}`;
    slider.setAttribute("aria-valuetext", caption.textContent);
    lines.replaceChildren(...(frame.lines.length ? frame.lines.map(words) : [decided(frame)]).map((line) => h("li", {}, line)));
    scores.replaceChildren(...(isLast && !shownBefore() ? film.rounds[r].scores : []).map((line) => h("li", {}, scored(line, cast))));
    if (Number(transcript.dataset.round) !== r || transcript.dataset.view !== view) write(r);
    transcript.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const entry = transcript.children[d];
    entry.firstChild.setAttribute("aria-current", "step");
    transcript.scrollTop = entry.offsetTop - transcript.clientHeight / 2;
    const hash = `#round=${r + 1}&decision=${d}${view === "all" ? "" : `&view=${view}`}`;
    if (hasAddress && location.hash !== hash) history.replaceState(null, "", hash);
    panel?.moved(r, d);
    if (at === places.length - 1) stop();
  }

  // Which cards on the board each seat has seen, and which no seat has seen, in sentences.
  function whoHasSeen({ layouts }) {
    const cards = (isShown, seat) => layouts.flatMap((layout, index) => {
      const slots = layout.filter(([, , seenBy]) => isShown(seenBy)).map(([slot]) => slot);
      return slots.length ? [`${ownerOf(LETTERS[index], cast, seat)} ${slots.length > 1 ? "cards" : "card"} ${listed(slots)}`] : [];
    }).join(", ");
    const unseen = cards((seenBy) => !seenBy);
    return [...seats.map((seat) => `${capital(doing(seat, "has", cast))} seen ${cards((seenBy) => seenBy.includes(seat), seat) || "no card"}.`),
      ...(unseen ? [`No player has seen ${unseen}.`] : [])];
  }

  // Whether the board shows the cards before the decision of the current position.
  function shownBefore() {
    return isBefore && !isEnd && places[at][1] > 0;
  }

  // The seat that decides at the cards on the board.
  function decider() {
    const [r, d] = places[at];
    return film.rounds[r].frames[Math.min(d + Number(!shownBefore()), film.rounds[r].frames.length - 1)].by ?? seats[0];
  }

  // Draws the decision and, after an analysis, the best one.
  function compare() {
    const [r, d] = places[at];
    const { by, action, secret } = film.rounds[r].frames[d];
    const isHidden = secret && view !== "all" && view !== by;
    const shown = [];
    if (shownBefore() && !isHidden) {
      shown.push({ by, action, kind: "played", words: deedOf(by, action, cast) });
      const best = panel?.best(d);
      if (best) shown.push({ by, action: best.action, kind: "better", words: `better: ${choiceOf(by, best.action, cast)} (${best.words})` });
    }
    table.point(shown);
    legend.replaceChildren(...shown.map(({ kind, words }) => h("span", { class: kind }, words)));
  }

  // Opens a table at a position, after a decision.
  function goOn(round, decision, seat) {
    stop();
    caption.textContent = "Opening a table…";
    playOn(round, decision, seat).catch((error) => { caption.textContent = error.message; });
  }

  function flip() {
    isBefore = before.checked;
    go(at, false);
  }

  function write(r) {
    transcript.dataset.round = r;
    transcript.dataset.view = view;
    transcript.replaceChildren(...film.rounds[r].frames.map((frame, d) => {
      const [deed, more] = described(frame);
      const link = h("a", { href: `#round=${r + 1}&decision=${d}`, onclick: hasAddress ? null : (event) => { event.preventDefault(); go(place(r, d)); } }, deed);
      return h("li", { value: d }, link, h("span", {}, more));
    }));
  }

  // The decision of a frame, with its result if there is one, and everything else that happened.
  function described(frame) {
    const [first, ...rest] = frame.lines.map(words);
    return frame.by && first?.startsWith(`${capital(name(frame.by))} `) ? [first, rest.join(". ")] : [decided(frame), [first, ...rest].filter(Boolean).join(". ")];
  }

  // Before printing, adds the text of all rounds to the page.
  function print() {
    const [r] = places[at];
    const rest = film.rounds.map((round, other) => h("section", { class: "paper" }, h("h2", {}, `Round ${other + 1}`),
      h("ol", {}, ...round.frames.map((frame, d) => {
        const [deed, more] = described(frame);
        return h("li", { value: d }, h("b", {}, deed), " ", more);
      })),
      h("ul", {}, ...round.scores.map((line) => h("li", {}, scored(line, cast))))));
    root.append(...rest);
    return r;
  }
  addEventListener("beforeprint", print);
  addEventListener("afterprint", () => root.querySelectorAll(".paper").forEach((paper) => paper.remove()));

  // Opens the page that advises, with what the player knew at the current decision.
  function analyse() {
    const [r, d] = places[at];
    // The frame after a decision shows the position before that decision.
    open(r + 1, Math.max(d - 1, 0)).catch((error) => { caption.textContent = error.message; });
  }

  // Shows a bot's evaluation of the current decision.
  async function understand() {
    const [r, d] = places[at];
    const { by, action } = film.rounds[r].frames[d];
    if (!explain || !by) return;
    const was = at;
    const player = film.agents[LETTERS.indexOf(by)];
    const agent = asked.value || (player === "person" ? "learned" : player);
    reasons.replaceChildren(h("p", {}, `${agent} thinks…`));
    try {
      const found = await explain(r + 1, d, agent);
      if (at !== was) return;
      const most = Math.max(...found.considered.map((one) => Math.abs(one.value)), 1e-9);
      const bar = (value) => h("meter", { min: 0, max: most, value: Math.max(value, 0), "aria-hidden": "true" });
      reasons.replaceChildren(
        h("p", {}, found.decided === action ? `${found.agent} would do the same.` : `${found.agent} would choose: ${choiceOf(by, found.decided, cast)}.`,
          found.considered.length > 1 ? ` Values: ${found.unit}.` : found.considered.length ? " It considered no other choice." : " This bot gives no values.", ` ${panel?.compare(d, found) ?? ""}`),
        found.considered.length > 1 ? h("table", { class: "considered" }, h("tbody", {}, ...found.considered.slice(0, 12).map((one) =>
          h("tr", {}, h("th", { scope: "row" }, capital(choiceOf(by, one.action, cast)), one.action === action ? " ←" : ""), h("td", {}, bar(one.value)),
            h("td", {}, inUnit(found.unit, one.value), one.half === null ? "" : ` ± ${inUnit(found.unit, one.half)}`), h("td", {}, one.visits === null ? "" : `${one.visits} trials`))))) : "",
        ...outlook(found), ...strips(found.beliefs, found.seat));
    } catch (error) {
      reasons.replaceChildren(h("p", { class: "trouble" }, error.message));
    }
  }

  // The expected points of all seats from what the seat knew, in a sentence.
  function outlook({ beliefs, seat }) {
    if (!beliefs?.points) return [];
    const mine = LETTERS.indexOf(seat);
    const points = beliefs.points.map((mean) => mean.toFixed(1).replace("-", "−"));
    const others = points.map((mean, index) => `${players[index].name} ${mean}`).filter((_, index) => index !== mine);
    return [h("p", { class: "outlook" }, `With what ${name(seat)} could know, ${doing(seat, "expects", cast)} about ${points[mine]} points, and ${listed(others)} (${beliefs.deals} simulated deals). If the cards were counted now, ${name(seat)} would be lowest in ${Math.round(100 * beliefs.lowest)} of 100 cases.`)];
  }

  // A row for each card that the seat has not seen: a cell with a stronger colour is more likely, and a frame marks the real card.
  function strips(beliefs, seat) {
    if (!beliefs?.unseen.length) return [];
    const classes = beliefs.classes.map((name) => name.replace("-", "−"));
    const { unseen } = beliefs;
    const percent = (share) => (share > 0 && share < 0.005 ? "below 1 %" : `${Math.round(100 * share)} %`);
    // The shade is set by the script, because the content security policy forbids style attributes.
    const shaded = (cell, share) => {
      cell.style.setProperty("--share", Math.min(1, 2.5 * share));
      return cell;
    };
    const strip = ({ spot, truth, even, inferred }) => {
      const shares = inferred ?? even;
      const likeliest = shares.indexOf(Math.max(...shares));
      const label = `${capital(inCards(spot, cast))} is ${classes[truth]}. Its ${inferred ? "estimated " : ""}chance was ${percent(shares[truth])}${inferred ? `, and by the seen cards alone exactly ${(100 * even[truth]).toFixed(1)} %` : ""}. Most likely: ${classes[likeliest]} with ${percent(shares[likeliest])}`;
      return h("tr", {}, h("th", { scope: "row" }, capital(inCards(spot, cast))),
        h("td", {}, h("div", { class: "strip", role: "img", "aria-label": label, title: label },
          ...shares.map((share, number) => shaded(h("i", { class: number === truth ? "true" : "" }), share)))),
        h("td", {}, classes[truth]), h("td", {}, percent(shares[truth])), inferred ? h("td", {}, `${(100 * even[truth]).toFixed(1)} %`) : "");
    };
    const isInferred = unseen.some((one) => one.inferred);
    return [
      h("p", {}, `Each row is a card that ${doing(seat, "has", cast)} not seen, and shows how likely each rank is, from ${classes[0]} on the left to ${classes.at(-1)} on the right, ${isInferred ? "if the other players decide like learned" : `given the cards that ${seat} has seen`}. Stronger colour means more likely. The frame marks the real card.`),
      h("table", { class: "beliefs" }, h("thead", {}, h("tr", {}, ...["card", "how likely is each rank?", "real card", "its chance", ...(isInferred ? ["by the seen cards alone"] : [])].map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, ...unseen.map(strip)))];
  }

  function turn(step) {
    const turns = ([r, d]) => film.rounds[r].frames[d].scene.turns;
    let to = at + step;
    while (to > 0 && to < places.length - 1 && places[to][0] === places[at][0] && turns(places[to]) === turns(places[at])) to += step;
    go(to);
  }

  function see(whose) {
    view = whose;
    viewer.value = whose;
    table.seat(whose === "all" ? "a" : whose);
  }

  function look(whose) {
    see(whose);
    go(at, false);
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  }

  function toggle() {
    if (timer) return stop();
    if (at === places.length - 1) go(0);
    play.textContent = "Pause";
    const step = () => {
      timer = setTimeout(() => { go(at + 1); if (timer) step(); }, Number(speed.value));
    };
    step();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isField = event.target.matches?.("select, textarea, input:not([type=range])");
    if (isField) return;
    const acts = {
      ArrowRight: () => (event.shiftKey ? turn(1) : go(at + 1)),
      ArrowLeft: () => (event.shiftKey ? turn(-1) : go(at - 1)),
      Home: () => go(0),
      End: () => go(places.length - 1),
      w: understand,
      b: () => panel?.blunder(1),
      B: () => panel?.blunder(-1),
      o: () => { before.checked = !before.checked; flip(); },
      v: () => look(["all", ...seats][(["all", ...seats].indexOf(view) + 1) % (seats.length + 1)]),
      " ": () => (event.target.matches?.("button, summary, a") ? null : toggle()),
    };
    const act = acts[event.key];
    if (!act || (event.key === " " && event.target.matches?.("button, summary, a"))) return;
    event.preventDefault();
    act();
  });

  function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const whose = asked.get("view");
    if (["all", ...seats].includes(whose)) see(whose);
    go(place(Number(asked.get("round") ?? 1) - 1, Number(asked.get("decision") ?? 0)), false);
  }
  addEventListener("hashchange", follow);
  see("all");
  follow();
}
