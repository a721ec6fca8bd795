// The page of a table. It shows only what its seat may know.
import { cardName, inUnit } from "./cards.js";
import { Board } from "./table.js";
import { CHOICES, counted, h, LETTERS, levelOf, people, remember, remembered, rulesName } from "./common.js";
import { deck } from "./deck.js";
import { Guide } from "./guide.js";
import { POINTS, result } from "./result.js";
import { sounds } from "./sounds.js";
import { choiceOf, prompt, story } from "./story.js";
import { endButtons } from "./links.js";
import { ask, at, follow, openTable, requestOf, save } from "./transport.js";

const main = document.getElementById("main");
const asked = new URLSearchParams(location.search);
const number = asked.get("table");
const path = (what) => at(number, what);
// The page of the review from which this match goes on, if it does.
const review = asked.get("review")?.startsWith("?") ? `watch.html${asked.get("review")}` : null;
if (review) document.querySelector("nav").append(h("a", { class: "to-review", href: review }, "Back to the review"));

// For each pace: how long a card moves and how long the page waits after a step, in milliseconds.
const PACES = { slow: [750, 1100], normal: [430, 500], fast: [180, 100], "at once": [0, 0] };
// How long the page shows a card that the player has to remember, in milliseconds.
const GLIMPSE = 3000;
// How long a decision waits before it can be confirmed, in milliseconds: longer than a double click, so that its second press does not
// confirm what the first one chose.
const DOUBLE_CLICK = 500;
// From more characters than this on, a question is long.
const LONG = 115;
const LEGEND = `${POINTS} Below a card is its number, and an eye with the players who have seen it: their letters, how many they are, or “all”.`;
const KEYS = { draw: "d", take: "t", call: "c", end: "e", drop: "x", skip: "s", pass: "p" };
const WORDS = { draw: "Draw", take: "Take the open card", call: "Call", end: "End turn", drop: "Discard", skip: "Skip", pass: "Pass" };
// Verbs that need a card: the text of their button, and the words before the card's name.
const AIMS = {
  keep: ["Keep it", "keep it in place of"], look: ["Peek", "peek at"], peek: ["Peek", "peek at"], snap: ["Snap", "snap"], touch: ["Touch", "touch"],
  give: ["Give", "give"], swap: ["Swap", "swap"], show: ["Turn up", "turn up"], cheat: ["Peek for a penalty card", "take a penalty card to peek at"],
};

const current = {
  setting: null,
  cast: null,
  step: null,
  // The selected verb, the first card of a swap, and the action that waits for a confirmation, since a time in milliseconds.
  verb: null,
  first: null,
  armed: null,
  since: 0,
};
let board = null;
let queue = [];
let isPlaying = false;
let clock = null;
// The time at which the page first showed the question of the current step.
const asking = { n: null, since: 0 };
// The discard on which the person has passed, and whether the person has seen a card since then.
const passed = { discard: null, hasNews: false };

const question = h("p", { class: "question", id: "question", role: "status", "aria-live": "assertive" });
const buttons = h("div", { class: "row" });
const clockBar = h("div", { class: "clock", hidden: true, "aria-hidden": "true" }, h("span"));
const advice = h("p", { class: "hint-line", role: "status" });
const bar = h("div", { class: "bar", role: "group", tabindex: "-1", "aria-labelledby": "question" }, question, clockBar, buttons, advice);
const log = h("ol", { class: "log", "aria-live": "polite", "aria-label": "What happened", tabindex: "0" });
const stage = h("div", {});
const sheet = h("dialog", { class: "result", "aria-labelledby": "ended" });
const guide = asked.has("guide") ? new Guide(number, () => board.fit(true)) : null;

const select = (name, label, act) => {
  const chosen = remembered(name);
  return h("select", { "aria-label": label, onchange: (event) => { remember(name, event.target.value); act?.(); } },
    ...Object.entries(CHOICES[name]).map(([value, words]) => h("option", { value, selected: value === chosen }, words)));
};
const pace = select("pace", "Speed");
const seconds = select("clock", "Time limit for snaps", () => offer());
const windows = select("windows", "When to ask me about snaps", () => offer());
const adviser = select("adviser", "Bot that gives hints");
const hintButton = h("button", { type: "button", onclick: hint, title: "Key: h" }, "Hint");
const undoButton = h("button", { type: "button", onclick: undo, title: "Key: u" }, "Undo");
const soundBox = h("input", { type: "checkbox", checked: sounds.isOn, onchange: () => { sounds.isOn = soundBox.checked; } });

// Shows a question or a message in the bar. A narrow window has no room for a long one in the usual size.
function say(words) {
  question.replaceChildren(words);
  question.classList.toggle("long", question.textContent.length > LONG);
}

function begin(hello) {
  const { setting } = hello;
  const isNew = !current.setting;
  current.setting = setting;
  if (isNew) {
    current.cast = { kinds: setting.kinds, people: people(setting.names, setting.seat), you: setting.seat, hasTotals: setting.in_short[0].includes("total") };
    main.replaceChildren(h("div", { class: "game" },
      h("div", { class: "theatre" }, stage, sheet, bar),
      h("div", { class: "side" },
        h("h1", {}, `${rulesName(setting.rules)}, ${counted(setting.names.length, "player")}`),
        h("h2", {}, "What happened"), log,
        setting.practice ? h("div", { class: "row" }, hintButton, h("label", {}, "by ", adviser), undoButton) : "",
        h("details", {}, h("summary", {}, "How to play"), ...setting.in_short.map((line) => h("p", {}, line))),
        h("details", {}, h("summary", {}, "Cards and powers"), deck(setting), h("p", {}, LEGEND)),
        h("details", { class: "settings" }, h("summary", {}, "Settings"),
          guide ? h("button", { type: "button", onclick: () => { guide.start(); guide.show(current.step); } }, "Show the guide again") : "",
          h("label", {}, "Speed", pace),
          setting.snaps && setting.notes ? h("label", {}, "Ask me about snaps", windows) : "",
          setting.snaps ? h("label", {}, "Time limit for snaps", seconds) : "",
          h("label", {}, "Sounds", soundBox)),
        h("details", {}, h("summary", {}, "Keys"),
          h("p", {}, "1 to 9 choose your own cards. The arrow keys go from card to card, and Enter chooses one. The letters on the buttons are keys too. m snaps a card that you know matches. Escape takes back a choice that is not confirmed.",
            setting.practice ? " h gives a hint, u undoes your last decision that was not a pass." : "")),
        h("p", { class: "row" }, h("a", { class: "button", href: "./" }, "Back to the start"), h("button", { type: "button", onclick: leave }, "End the match")))));
    // The guide is beside the table if there is room, otherwise below it.
    if (guide && matchMedia("(min-width: 60rem)").matches) main.querySelector(".side").prepend(guide.element);
    else if (guide) stage.after(guide.element);
    board = new Board(stage, { ...current.cast, hand: setting.hand, me: setting.seat });
  }
  queue = [];
  log.replaceChildren();
  write(hello.lines);
  show(hello.step);
}

// Adds lines to the log. Returns their stories.
function write(lines) {
  const stories = lines.map((line) => story(line, current.cast));
  for (const { seat, text, isTurn } of stories) log.append(h("li", { class: isTurn ? "turn" : seat === current.cast.you ? "mine" : "" }, text));
  log.scrollTop = log.scrollHeight;
  return stories;
}

const wait = (time) => new Promise((done) => setTimeout(done, time));

// Groups the moves of a step: two cards that change places move together, all others one after the other.
function flights(moves) {
  const groups = [];
  for (const move of moves) {
    const last = groups.at(-1);
    if (last?.length === 1 && last[0][0] === move[1] && last[0][1] === move[0]) last.push(move);
    else groups.push([move]);
  }
  return groups;
}

// Shows the queued steps, one after the other.
async function play() {
  if (isPlaying) return;
  isPlaying = true;
  const steps = queue;
  while (steps.length) {
    const step = steps.shift();
    silence();
    const [flight, pause] = steps.length > 12 || document.hidden ? [0, 0] : PACES[pace.value];
    const stories = write(step.lines);
    board.tell([], stories.flatMap(({ eyed }) => eyed ?? []), pause ? stories.filter(({ seat, deed }) => deed && seat !== current.cast.you).map(({ seat, deed }) => [seat, deed]) : []);
    for (const moves of flights(step.moves)) {
      sounds.play("card");
      await board.fly(moves, flight, step.scene.turn);
    }
    // The whole current state has arrived in the meantime.
    if (queue !== steps) break;
    if (step.lines.some((line) => / snaps /.test(line))) sounds.play("snap");
    if (step.lines.some((line) => / calls$/.test(line))) sounds.play("call");
    show(step, stories);
    if (pause && !step.ask) await wait(pause);
  }
  isPlaying = false;
  if (queue.length) play();
}

// Removes all choices. The focus stays in the bar, so that it is not lost with a button or card.
function silence() {
  clearInterval(clock);
  clockBar.hidden = true;
  if (buttons.contains(document.activeElement) || stage.contains(document.activeElement)) bar.focus({ preventScroll: true });
  buttons.replaceChildren();
  board?.offer(new Map(), () => {});
}

function show(step, stories = []) {
  Object.assign(current, { step, verb: null, first: null, armed: null });
  advice.textContent = "";
  board.render(step.scene);
  board.tell(step.moves.map(([, to]) => to), stories.flatMap(({ eyed }) => eyed ?? []),
    stories.filter(({ seat, deed }) => deed && seat !== current.cast.you).map(({ seat, deed }) => [seat, deed]));
  // If notes are off, the card is shown only this once.
  board.glimpse(step.glimpses, current.setting.notes ? GLIMPSE / 2 : GLIMPSE);
  passed.hasNews ||= step.glimpses.length > 0;
  if (step.ask && !step.ask.window && step.scene.phase === "start") sounds.play("turn");
  guide?.show(step);
  end(step);
  offer();
}

// The choices grouped by verb, each with its cards.
function verbsOf(choices) {
  const verbs = new Map();
  for (const choice of choices) {
    const [verb, ...spots] = choice.split(" ");
    verbs.set(verb, [...(verbs.get(verb) ?? []), spots]);
  }
  return verbs;
}

// Identifies the discarded card of a snap window.
const discardOf = ({ round, turns, pile, top }) => [round, turns, pile, top].join();

// Why the page makes the current decision itself, as `[action, reason]`; `null` if the person decides.
function settled({ ask: asked, scene, n }) {
  const { choices } = asked;
  if (choices.length === 1 && ["end", "pass", "skip"].includes(choices[0])) return [choices[0], ""];
  if (!asked.window) return null;
  const isSecond = passed.discard === discardOf(scene) && passed.n !== n;
  if (isSecond && !passed.hasNews) return ["pass", "You have already passed on this card."];
  if (windows.value === "known" && current.setting.notes && !asked.matches.length) {
    return ["pass", `${cardName(current.setting.kinds[scene.top])} was discarded. You know no match, so you pass.`];
  }
  return null;
}

function offer() {
  const step = current.step;
  if (!step || !board) return;
  silence();
  undoButton.disabled = false;
  hintButton.disabled = !step.ask;
  const isMine = Boolean(step.ask);
  bar.classList.toggle("mine", isMine);
  document.title = `${isMine ? "Your turn" : "At the table"} · Cambio`;
  if (!isMine) {
    say(step.trouble ? `The match has stopped: ${step.trouble}` : step.end ? "" : waiting(step.scene));
    if (step.end && !sheet.open) buttons.replaceChildren(h("button", { type: "button", class: "primary", onclick: () => end(step) }, "Show the result"));
    return;
  }
  const done = settled(step);
  if (done) {
    if (done[1]) say(done[1]);
    act(done[0]);
    return;
  }
  const { ask: asked } = step;
  if (asking.n !== step.n) Object.assign(asking, { n: step.n, since: performance.now() });
  const verbs = verbsOf(asked.choices);
  const aimed = [...verbs].filter(([, spots]) => spots[0].length);
  const plain = [...verbs].filter(([, spots]) => !spots[0].length).map(([verb]) => verb);
  current.verb = aimed.some(([verb]) => verb === current.verb) ? current.verb : aimed[0]?.[0] ?? null;
  if (current.armed) {
    say(h("b", {}, risk(current.armed)));
    const isWrong = current.armed !== "call" && kindAt(current.armed.split(" ")[1]) !== null;
    buttons.replaceChildren(
      h("button", { type: "button", class: isWrong ? "" : "primary", "data-confirm": current.armed, onclick: confirmArmed }, current.armed === "call" ? "Yes, call" : "Snap it", h("kbd", {}, "Enter")),
      h("button", { type: "button", class: isWrong ? "primary" : "", onclick: disarm }, "No", h("kbd", {}, "Esc")));
  } else {
    say(h("b", {}, prompt(step, { ...current.cast, verb: current.verb, first: current.first && board.spot(current.first), spot: (spot) => board.spot(spot) })));
    buttons.replaceChildren(
      ...(aimed.length > 1 ? aimed.map(([verb]) => h("button", { type: "button", "aria-pressed": String(verb === current.verb), onclick: () => { current.verb = verb; current.first = null; offer(); } }, AIMS[verb]?.[0] ?? verb)) : []),
      ...plain.map((verb) => h("button", { type: "button", class: verb === "draw" || (plain.length === 1 && verb !== "drop") ? "primary" : verb === "call" ? "bold" : "", "data-verb": verb, onclick: () => dare(verb) },
        verb === "take" ? `Take ${cardName(current.setting.kinds[step.scene.top])}` : WORDS[verb], h("kbd", {}, KEYS[verb]))));
  }
  const places = new Map();
  if (current.verb === "swap") {
    for (const [one, other] of verbs.get("swap")) {
      if (current.first === null) [one, other].forEach((spot) => places.set(spot, "swap"));
      else if (current.first === one) places.set(other, `swap ${board.spot(one)} with`);
      else if (current.first === other) places.set(one, `swap ${board.spot(other)} with`);
    }
    if (current.first !== null) places.set(current.first, "deselect");
  } else if (current.verb) {
    for (const [spot] of verbs.get(current.verb)) places.set(spot, AIMS[current.verb]?.[1] ?? current.verb);
  }
  if (plain.includes("draw")) places.set("stock", "draw from the");
  if (plain.includes("take")) places.set("pile", "take from the");
  if (plain.includes("drop")) places.set("pile", "discard onto the");
  board.offer(places, choose, current.first !== null ? [current.first] : current.armed?.startsWith("snap ") ? [current.armed.split(" ")[1]] : asked.matches);
  if (asked.window) tick();
}

function waiting(scene) {
  if (scene.phase === "over") return "";
  if (scene.asked) return scene.asked === current.cast.you ? "" : `${board.name(scene.asked)} is thinking…`;
  return passed.discard === discardOf(scene) ? "You pass. Waiting for the others…" : "A card was discarded. Waiting for snaps…";
}

function choose(place) {
  const { choices } = current.step.ask;
  if (place === "stock") return act("draw");
  if (place === "pile") return act(choices.includes("take") ? "take" : "drop");
  if (current.verb === "swap") {
    if (current.first === null || current.first === place) {
      current.first = current.first === place ? null : place;
      offer();
      board.at(place)?.focus();
      return undefined;
    }
    return act([`swap ${current.first} ${place}`, `swap ${place} ${current.first}`].find((choice) => choices.includes(choice)));
  }
  return dare(`${current.verb} ${place}`);
}

// Carries out a decision; a call, or a snap of a card that is not known to match, must be chosen twice.
function dare(action) {
  const [verb, spot] = action.split(" ");
  const isRisky = verb === "call" || (verb === "snap" && !current.step.ask.matches.includes(spot));
  if (!isRisky) return act(action);
  if (current.armed === action) return confirmArmed();
  Object.assign(current, { armed: action, since: performance.now() });
  offer();
  return bar.focus({ preventScroll: true });
}

function confirmArmed() {
  return performance.now() - current.since < DOUBLE_CLICK ? undefined : act(current.armed);
}

function disarm() {
  current.armed = null;
  offer();
}

// The kind of the card in a spot, if the person may see it.
const kindAt = (spot) => current.step.scene.layouts[LETTERS.indexOf(spot[0])].find(([slot]) => String(slot) === spot.slice(1))?.[1] ?? null;

// What a decision that must be confirmed risks.
function risk(action) {
  const { scene } = current.step;
  const { kinds } = current.setting;
  const [verb, spot] = action.split(" ");
  if (verb === "call") {
    const mine = scene.layouts[LETTERS.indexOf(current.cast.you)];
    const known = mine.filter(([, kind]) => kind !== null);
    const sum = known.reduce((all, [, kind]) => all + kinds[kind].points, 0);
    const unknown = mine.length - known.length;
    return `Call now? You ${unknown ? "know of" : "have"} ${counted(sum, "point").replace("-", "−")}${unknown ? `, and ${counted(unknown, "card")} of yours ${unknown > 1 ? "are" : "is"} unknown` : ""}.`;
  }
  const kind = kindAt(spot);
  return `Snap ${board.spot(spot)}? ${kind === null ? "You do not know this card. A wrong snap can cost a penalty card." : `It is ${cardName(kinds[kind])}, so the snap is wrong and can cost a penalty card.`}`;
}

// Runs the clock of a snap window. When the time is up, the player passes.
function tick() {
  const time = Number(seconds.value) * 1000;
  if (!time) return;
  clockBar.hidden = false;
  clock = setInterval(() => {
    const left = 1 - (performance.now() - asking.since) / time;
    clockBar.firstChild.style.setProperty("transform", `scaleX(${Math.max(left, 0)})`);
    if (left <= 0) act("pass");
  }, 50);
}

async function send(what, body) {
  silence();
  try {
    return await ask(path(what), body);
  } catch (error) {
    say(error.message);
    setTimeout(offer, 1500);
    return null;
  }
}

function act(action) {
  const { n, ask: asked, scene } = current.step;
  if (asked?.window) Object.assign(passed, { discard: action === "pass" ? discardOf(scene) : null, n, hasNews: false });
  const time = current.setting.reaction && asking.n === n ? Math.round(performance.now() - asking.since) : null;
  return send("act", { at: n, action, time });
}

function undo() {
  passed.discard = null;
  if (current.setting?.practice && current.step) send("undo", { at: current.step.n });
}

async function hint() {
  if (!current.setting?.practice || !current.step?.ask) return;
  const { n } = current.step;
  hintButton.disabled = true;
  advice.textContent = `${levelOf(adviser.value)?.name ?? adviser.value} is thinking…`;
  try {
    const { action, unit, considered } = await ask(path("hint"), { agent: adviser.value });
    if (current.step.n === n) {
      const inSpots = (action) => choiceOf(current.cast.you, action, current.cast);
      const some = considered.slice(0, 4).map((one) => `${inSpots(one.action)}: ${inUnit(unit, one.value)}${one.visits === null ? "" : ` after ${counted(one.visits, "trial")}`}`);
      advice.replaceChildren(h("b", {}, `${levelOf(adviser.value)?.name ?? adviser.value} suggests: ${inSpots(action)}`), some.length > 1 ? h("small", {}, `${some.join("; ")} (${unit})`) : "");
      for (const spot of action.split(" ").slice(1)) board.at(spot)?.classList.add("marked");
    }
  } catch (error) {
    advice.textContent = error.message;
  }
  hintButton.disabled = false;
}

const gone = (heading, text, ...actions) => main.replaceChildren(h("div", { class: "page" }, h("h1", {}, heading), h("p", { class: "trouble" }, text), h("p", { class: "row" }, ...actions, h("a", { class: actions.length ? "button" : "button primary", href: "./" }, "Play another match"))));

// Ends the match after a confirmation.
function leave() {
  const end = async () => { await send("close", {}); location.href = review ?? "./"; };
  const box = h("dialog", { class: "confirm", "aria-labelledby": "leave", onclose: () => box.remove() },
    h("h2", { id: "leave" }, "End this match?"),
    h("p", {}, "The match is deleted and cannot be continued. To continue it later, go back to the start instead: the table stays open."),
    h("div", { class: "row" }, h("button", { type: "button", class: "primary", onclick: () => box.close() }, "Keep playing"),
      h("button", { type: "button", onclick: end }, "End the match")));
  document.body.append(box);
  box.showModal();
}

// Opens a table like this one, if this browser still has its request; otherwise goes to the start page.
async function again() {
  const request = requestOf(number);
  if (!request) return location.assign("./");
  try {
    return location.assign(`play.html?table=${await openTable({ ...request, seed: null })}`);
  } catch (error) {
    say(error.message);
    return undefined;
  }
}

function end(step) {
  if (!step.end) {
    if (sheet.open) {
      sheet.close();
      board.fit(true);
    }
    sheet.replaceChildren();
    return;
  }
  const isOver = Boolean(step.end.ranks);
  if (step.end.winners.includes(current.cast.you)) sounds.play("win");
  const [heading, table] = result(step, current.cast);
  const more = isOver ? [h("button", { type: "button", onclick: () => save(number) }, "Save"), ...endButtons(number, current.setting, step)] : [];
  sheet.replaceChildren(h("div", { class: "head" }, heading,
    h("div", { class: "row" }, ...(isOver
      ? [review ? h("a", { class: "button primary", id: "again", href: review }, "Back to the review") : h("button", { type: "button", class: "primary", id: "again", onclick: again }, "Play again"),
        h("a", { class: "button", href: `watch.html?table=${number}` }, "Replay"),
        h("a", { class: "button", href: "./" }, "New game")]
      : [h("button", { type: "button", class: "primary", id: "next", onclick: () => send("next", { at: current.step.n }) }, "Next round")]),
    h("button", { type: "button", class: "quiet hide", "aria-label": "Hide the result", title: "Hide the result (Esc)", onclick: hide }, "×"))), guide?.topic === "score" ? guide.element : "", table, more.length ? h("div", { class: "row" }, ...more) : "", h("p", { class: "facts" }, `★ marks the winner. ${POINTS}`));
  // Not modal, and below the table, so that the table with all cards turned up stays visible.
  if (!sheet.open) sheet.show();
  sheet.querySelector(".primary").focus({ preventScroll: true });
  buttons.replaceChildren();
}

// Hides the result. A button in the bar shows it again.
function hide() {
  sheet.close();
  board.fit(true);
  offer();
  buttons.firstChild?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog:modal") || event.target.matches?.("select, input, textarea")) return;
  const asked = current.step?.ask;
  const key = event.key.toLowerCase();
  if (key === "escape") {
    if (sheet.open) hide();
    else if (current.armed) disarm();
    else if (current.first !== null) { current.first = null; offer(); }
    return;
  }
  if (event.key.startsWith("Arrow") && board) {
    const offered = [...board.root.querySelectorAll('.card[aria-disabled="false"]')];
    if (!offered.length) return;
    const focused = offered.indexOf(document.activeElement);
    const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
    offered[(focused + step + offered.length) % offered.length].focus();
    return event.preventDefault();
  }
  if (key === "u") return undo();
  if (!asked || isPlaying) return;
  if (key === "enter" && current.armed && event.target === bar) return confirmArmed();
  if (key === "h") return hint();
  if (key === "m" && asked.matches.length && asked.choices.includes(`snap ${asked.matches[0]}`)) return act(`snap ${asked.matches[0]}`);
  if (/^[1-9]$/.test(key)) {
    const card = board.at(current.setting.seat + key);
    if (card?.getAttribute("aria-disabled") === "false") card.click();
    return;
  }
  const verb = Object.keys(KEYS).find((word) => KEYS[word] === key && asked.choices.includes(word));
  if (verb) dare(verb);
});

// After a lost connection the whole current state arrives again.
follow(number, {
  hello: begin,
  step(step) { queue.push(step); play(); },
  busy(take) {
    gone("This table is open in another tab", "It opens here when you close it there.", h("button", { type: "button", class: "primary", id: "take", onclick: take }, "Play here"));
  },
  lost() { say("No connection to the server. Trying again…"); },
  gone(text) { gone("This table is closed", text); },
});
