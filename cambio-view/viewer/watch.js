// The replay viewer: steps through a finished match with every card.
import { capital, h, LETTERS, listed } from "./cards.js";
import { castOf, choiceOf, deedOf, doing, nameOf, ownerOf, scored, story } from "./story.js";
import { Board } from "./table.js";

// Shows a replay inside an element. The address contains the position: #round=2&decision=17&view=b.
// `chances` creates the analysis, `playOn` opens a table after a decision, and `open` the position after a decision on the page that
// advises; a page from disk has at most the analysis.
export function watch(root, film, { chances, playOn, open } = {}) {
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
  // The decisions of the current round, over its chances.
  const slider = h("input", {
    type: "range", min: 0, value: 0, "aria-label": "Decision", oninput: () => go(place(places[at][0], Number(slider.value))),
  });
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
  // The entry of each frame of the round in the list.
  const entries = [];
  const scores = h("ul", { class: "scores" });
  const seers = h("ul", { class: "lines seers" });
  const before = h("input", { type: "checkbox", checked: isBefore, onchange: flip });
  const onward = h("button", { type: "button", class: "onward", onclick: () => { const [r, d] = places[at]; goOn(r + 1, d - Number(shownBefore()), decider()); } });
  const controls = h("div", { class: "controls" },
    h("div", { class: "row" },
      button("|‹", "First decision (Home)", () => go(0)),
      button("«", "Previous turn (Shift and left arrow)", () => turn(-1)),
      button("‹", "Previous decision (left arrow)", () => go(at - 1)),
      play,
      button("›", "Next decision (right arrow)", () => go(at + 1)),
      button("»", "Next turn (Shift and right arrow)", () => turn(1)),
      button("›|", "Last decision (End)", () => go(places.length - 1))),
    h("div", { class: "row more" }, playOn ? onward : null,
      open ? button("Open as a position", "Set up this decision on the page Analyse", analyse) : null),
    h("div", { class: "row more" },
      h("label", {}, "Show ", viewer),
      film.rounds.length > 1 ? h("label", {}, "Go to ", rounds) : null,
      h("label", {}, "Speed ", speed),
      h("label", { title: "Before the decision, with arrows (key: o)" }, before, " Before, with arrows")));

  // The title has the parameters of a bot whose name is the beginning of its spec.
  const bots = players.filter(({ name, spec }) => spec && !spec.startsWith(`${name}(`));
  const panel = chances?.({
    go: (round, decision) => { tab("Why"); go(place(round, decision)); }, playOn: playOn && goOn, tab,
    changed: () => { compare(); mark(); },
  });
  const strip = h("div", { class: "strip" }, panel?.strip, slider);
  const keys = "Keys: the arrows go to the next or previous decision, with Shift to the next or previous turn. Space plays or pauses."
    + " Home and End go to the start and the end. v changes the view. o shows the cards before or after the decision. w explains it."
    + (panel ? " b goes to the next blunder, Shift and b to the previous one." : "");
  // The sections beside the table, of which one is shown.
  const sections = {
    Moves: [transcript, h("details", { class: "rules" }, h("summary", {}, "How to play, and keys"),
      ...film.in_short.map((line) => h("p", {}, line)), h("p", { class: "keys" }, keys))],
    Why: [panel?.why, h("h2", {}, "What happened"), lines, scores, h("h2", {}, "Who has seen which cards"), seers],
    ...(panel ? { Chances: [panel.element] } : {}),
  };
  // A click does not move the focus, so that the arrows still go from decision to decision; from a focused tab, they go to the next.
  const tabs = Object.keys(sections).map((name) =>
    h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `part-${name}`,
      onmousedown: (event) => event.preventDefault(), onclick: () => tab(name) }, name));
  const parts = Object.entries(sections).map(([name, content]) =>
    h("section", { class: `part ${name.toLowerCase()}`, id: `part-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}` }, ...content));

  root.classList.add("viewing");
  root.replaceChildren(
    film.is_cut ? h("p", { class: "trouble" }, "The match is too long: only its first part is shown.") : "",
    film.fault ? h("p", { class: "trouble" }, `The match stopped with a fault: ${film.fault}`) : "",
    film.flaw ? h("p", { class: "trouble" }, `The record has an error. The match is shown up to this error: ${film.flaw}`) : "",
    h("div", { class: "stage" },
      h("div", { class: "theatre" }, board, h("div", { class: "told" }, caption, legend), strip, controls),
      h("div", { class: "side" },
        h("h1", {}, film.title),
        h("p", { class: "facts" }, `${film.rules}, ${film.rounds.length} ${film.rounds.length === 1 ? "round" : "rounds"}, ${places.length - film.rounds.length} decisions`,
          !film.ranks.length ? "" : film.ranks.every((rank) => rank === 1 || rank === Math.max(...film.ranks)) ? `; won by ${listed(players.flatMap(({ name }, index) => (film.ranks[index] === 1 ? [name === "You" ? "you" : name] : [])))}`
            : `; final places: ${film.ranks.map((rank, index) => `${players[index].name} ${rank}`).join(", ")}`, ...bots.map(({ name, title, spec }) => `; ${name} is ${title ?? spec}`)),
        panel?.status,
        h("div", { class: "tabs", role: "tablist", "aria-label": "About the round" }, ...tabs), ...parts)));
  const table = new Board(board, { ...cast, hand: film.hand, isReplay: true });

  tab(matchMedia("(min-width: 68.75rem)").matches ? "Moves" : "Why");

  // Shows a section beside the table, and returns its tab.
  function tab(name) {
    tabs.forEach((one, index) => {
      one.setAttribute("aria-selected", one.textContent === name);
      parts[index].hidden = one.textContent !== name;
    });
    reveal();
    panel?.draw();
    return tabs.find((one) => one.textContent === name);
  }

  // Scrolls the list of decisions to the current one.
  function reveal() {
    const entry = entries[places[at][1]];
    if (entry) transcript.scrollTop = entry.offsetTop - transcript.clientHeight / 2;
  }

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
    slider.max = frames.length - 1;
    slider.value = d;
    rounds.value = r;
    onward.textContent = `Play on from here${decider() === cast.you ? "" : ` as ${name(decider())}`}`;
    onward.disabled = at === places.length - 1 && !shownBefore();
    // A phone has no room for the first words.
    caption.replaceChildren(h("span", { class: "where" }, `Round ${r + 1}, decision `),
      `${d} of ${frames.length - 1}: ${decided(frame)}`);
    slider.setAttribute("aria-valuetext", caption.textContent);
    const told = frame.lines.map(words);
    lines.replaceChildren(...[...new Set([described(frame)[0], ...told])].map((line) => h("li", {}, line)));
    scores.replaceChildren(...(isLast && !shownBefore() ? film.rounds[r].scores : []).map((line) => h("li", {}, scored(line, cast))));
    if (Number(transcript.dataset.round) !== r || transcript.dataset.view !== view) write(r);
    transcript.querySelector("[aria-current]")?.removeAttribute("aria-current");
    entries[d].firstChild.setAttribute("aria-current", "step");
    reveal();
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
      shown.push({ by, action, kind: "played", words: "played" });
      const best = panel?.best(d);
      if (best) shown.push({ by, action: best, kind: "better", words: `better: ${choiceOf(by, best, cast)}` });
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
    entries.length = 0;
    transcript.replaceChildren(...folded(film.rounds[r].frames).map(([frames, passes]) => {
      const d = entries.length;
      const [deed, more] = passes ? [passes, frames.at(-1).lines.map(words).join(". ")] : described(frames[0]);
      const link = h("a", {
        href: `#round=${r + 1}&decision=${d}`, onclick: hasAddress ? null : (event) => { event.preventDefault(); go(place(r, d)); },
      }, deed);
      const entry = h("li", { value: d }, link, h("span", {}, more));
      frames.forEach(() => entries.push(entry));
      return entry;
    }));
    mark();
  }

  // Groups the frames of a round: passes that follow each other in a snap window are one group. In the view of one seat, only a window
  // in which all seats pass is a group, because other declarations are hidden. Returns each group with its words, if it has several frames.
  function folded(frames) {
    const windows = [];
    frames.forEach((frame, d) => {
      const previous = frames[d - 1];
      if (frame.secret && previous?.secret && !previous.lines.length) windows.at(-1).push(frame);
      else windows.push([frame]);
    });
    const isPass = ({ action }) => action === "pass";
    return windows.flatMap((all) => {
      if (all.length > 1 && all.every(isPass)) return [[all, "All pass"]];
      const groups = [];
      for (const frame of all) {
        const last = groups.at(-1);
        if (view === "all" && isPass(frame) && last?.every(isPass)) last.push(frame);
        else groups.push([frame]);
      }
      return groups.map((group) => [group, group.length > 1 ? `${capital(listed(group.map(({ by }) => name(by))))} pass` : null]);
    });
  }

  // Marks the decisions in the list that the analysis calls a mistake or a blunder.
  function mark() {
    transcript.querySelectorAll(".grade").forEach((word) => word.remove());
    entries.forEach((entry, d) => {
      const word = panel?.grade(d);
      if (["mistake", "blunder"].includes(word)) entry.firstChild.after(h("b", { class: `grade ${word}` }, word));
    });
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
      w: () => tab("Why"),
      b: () => panel?.blunder(1),
      B: () => panel?.blunder(-1),
      o: () => { before.checked = !before.checked; flip(); },
      v: () => look(["all", ...seats][(["all", ...seats].indexOf(view) + 1) % (seats.length + 1)]),
      " ": () => (event.target.matches?.("button, summary, a") ? null : toggle()),
    };
    const chosen = tabs.indexOf(event.target);
    if (chosen >= 0 && /^Arrow(Left|Right)$/.test(event.key)) {
      const next = tabs.at((chosen + (event.key === "ArrowRight" ? 1 : -1)) % tabs.length);
      next.click();
      next.focus();
      return event.preventDefault();
    }
    const act = acts[event.key];
    if (!act || (event.key === " " && event.target.matches?.("button, summary, a"))) return;
    event.preventDefault();
    act();
  });

  // A swipe to the left goes to the next decision, to the right to the previous one.
  let touched = null;
  for (const area of [board, ...parts]) {
    area.addEventListener("touchstart", ({ touches }) => { touched = touches.length === 1 ? touches[0] : null; }, { passive: true });
    area.addEventListener("touchend", ({ changedTouches: [{ clientX, clientY }] }) => {
      const [x, y] = touched ? [clientX - touched.clientX, clientY - touched.clientY] : [0, 0];
      if (Math.abs(x) > 48 && Math.abs(x) > 2 * Math.abs(y)) go(at - Math.sign(x));
    }, { passive: true });
  }

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
