// The page of a table. It shows only what its seat may know.
import { capital, cardInWords, cardName, front, inUnit, minus, withNames } from "./cards.js";
import { Board } from "./table.js";
import { CHOICES, counted, h, LETTERS, levelOf, people, remember, remembered, rulesName, wait } from "./common.js";
import { deck } from "./deck.js";
import { Guide } from "./guide.js";
import { POINTS, resultsOf, sentenceOf } from "./result.js";
import { sounds } from "./sounds.js";
import { choiceOf, nameOf, prompt, story } from "./story.js";
import { endButtons, isLink, openLink } from "./links.js";
import { ask, at, follow, openTable, requestOf, save } from "./transport.js";

const main = document.getElementById("main");
// A link can be pasted over a damaged one.
addEventListener("hashchange", () => { if (isLink()) location.reload(); });
const trouble = await openLink().catch((error) => error);
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
// How long a seat turns its cards up at the end of a round, in milliseconds.
const REVEAL = 250;
// The most buttons for known matches.
const MOST_SNAPS = 2;
const LEGEND = `${POINTS} Below a card is its number, and an eye with the players who have seen it: their letters, how many they are, or “all”.`;
const STYLES = { draw: "primary", end: "primary", call: "bold", skip: "quiet", pass: "quiet" };
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
// Whether the cards of a finished round are being turned up.
let isRevealing = false;
// The time at which the page first showed the question of the current step, and the cards that were seen since the question before.
const asking = { n: null, since: 0, glimpses: [] };
// The discard on which the person has passed, and whether the person has seen a card since then.
const passed = { discard: null, hasNews: false };

const question = h("p", { class: "question", id: "question", role: "status", "aria-live": "assertive" });
const buttons = h("div", { class: "row" });
const advice = h("p", { class: "hint-line", role: "status", title: "Tap to remove", onclick: () => advice.replaceChildren() });
const tools = h("div", { class: "tools" });
const named = { role: "group", tabindex: "-1", "aria-labelledby": "question" };
const bar = h("div", { class: "bar", ...named }, question, buttons, tools);
const log = h("ol", { class: "log", "aria-live": "polite", "aria-label": "What happened", tabindex: "0" });
const latest = h("p", { class: "latest narrow", "aria-live": "polite" });
const stage = h("div", {});
const guide = asked.has("guide") ? new Guide(number, () => board.fit()) : null;

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

// Shows a question or a message in the bar, in smaller letters if it needs more than two lines. Screen readers also hear what was
// just `seen`, and no message that needs no answer: the log has it.
function say(words, { seen = "", isSilent = false } = {}) {
  question.setAttribute("aria-live", isSilent ? "off" : "assertive");
  question.replaceChildren(words, seen && h("span", { class: "unseen" }, seen));
  question.classList.remove("long");
  question.classList.toggle("long", question.scrollHeight > question.clientHeight + 1);
}

function begin(hello) {
  const { setting } = hello;
  const isNew = !current.setting;
  current.setting = setting;
  if (isNew) {
    current.cast = { kinds: setting.kinds, people: people(setting.names, setting.seat), you: setting.seat, hasTotals: setting.in_short[0].includes("total") };
    tools.replaceChildren(...(setting.practice ? [hintButton, undoButton] : []),
      h("button", { type: "button", class: "narrow", popovertarget: "happened" }, "Log"), latest,
      h("button", { type: "button", class: "narrow", popovertarget: "more", "aria-label": "More" }, "⋯"));
    main.replaceChildren(h("div", { class: "game" },
      h("div", { class: "theatre" }, stage, advice, bar),
      // On a narrow window, the two parts of the side are sheets that the bar opens.
      h("div", { class: "side" },
        h("h1", {}, `${rulesName(setting.rules)}, ${counted(setting.names.length, "player")}`),
        h("div", { id: "happened", popover: "auto", ontoggle: () => { log.scrollTop = log.scrollHeight; } },
          h("h2", {}, "What happened"), log),
        h("div", { id: "more", popover: "auto" },
          h("details", {}, h("summary", {}, "How to play"), ...setting.in_short.map((line) => h("p", {}, line))),
          h("details", {}, h("summary", {}, "Cards and powers"), deck(setting), h("p", {}, LEGEND)),
          h("details", { class: "settings" }, h("summary", {}, "Settings"),
            guide ? h("button", { type: "button", onclick: () => { guide.start(); guide.show(current.step); } }, "Show the guide again") : "",
            h("label", {}, "Speed", pace),
            setting.practice ? h("label", {}, "Hints by", adviser) : "",
            setting.snaps && setting.notes ? h("label", {}, "Ask me about snaps", windows) : "",
            setting.snaps ? h("label", {}, "Time limit for snaps", seconds) : "",
            h("label", {}, "Sounds", soundBox)),
          h("details", {}, h("summary", {}, "Keys"),
            h("p", {}, "1 to 9 choose your own cards. The arrow keys go from card to card, and Enter chooses one. The letters on the buttons are keys too. m snaps a card that you know matches. Escape takes back a choice that is not confirmed.",
              setting.practice ? " h gives a hint, u undoes your last decision that was not a pass." : "")),
          h("p", { class: "row" },
            review ? h("a", { class: "button narrow", href: review }, "Back to the review") : "",
            h("a", { class: "button", href: "./" }, "Back to the start"),
            h("button", { type: "button", id: "end", onclick: leave }, "End the match"))))));
    // The guide is beside the table if there is room, otherwise above it.
    if (guide && matchMedia("(min-width: 60rem)").matches) main.querySelector(".side").prepend(guide.element);
    else if (guide) stage.before(guide.element);
    board = new Board(stage, { ...current.cast, hand: setting.hand, me: setting.seat });
  }
  queue = [];
  log.replaceChildren();
  write(hello.lines);
  show(hello.step);
}

// A card that was turned up, in a line.
const TURNED_UP = /^([a-h])\d+: (.+)$/;

// Adds lines to the log, and one line for all turned up cards of a seat. Returns their stories.
function write(lines) {
  const { cast } = current;
  const stories = [];
  for (const line of lines) {
    const [, seat, card] = TURNED_UP.exec(line) ?? [];
    const last = stories.at(-1);
    const name = seat && withNames(card, cast.kinds);
    if (seat && last?.shows === seat) last.text += `, ${name}`;
    else stories.push(seat ? { seat, shows: seat, text: `${capital(nameOf(seat, cast))}: ${name}` } : story(line, cast));
  }
  for (const { seat, text, isTurn } of stories) log.append(h("li", { class: isTurn ? "turn" : seat === current.cast.you ? "mine" : "" }, text));
  log.scrollTop = log.scrollHeight;
  latest.replaceChildren(...stories.map(({ text }) => h("span", {}, `${text}. `)));
  return stories;
}


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
    await show(step, stories, pause && REVEAL);
    if (pause && !step.ask) await wait(pause);
  }
  isPlaying = false;
  if (queue.length) play();
}

// Removes all choices. The focus stays in the bar, so that it is not lost with a button or card.
function silence() {
  clearInterval(clock);
  board?.time(null);
  if (buttons.contains(document.activeElement) || stage.contains(document.activeElement)) bar.focus({ preventScroll: true });
  buttons.replaceChildren();
  board?.offer(new Map(), () => {});
}

// Shows a step, and at the end of a round the result: the cards of each seat are turned up in `time` milliseconds.
async function show(step, stories = [], time = 0) {
  Object.assign(current, { step, verb: null, first: null, armed: null });
  advice.replaceChildren();
  const isTold = guide?.text.textContent;
  isRevealing = Boolean(step.end);
  // Before the table, because it takes the room that the guide leaves.
  guide?.show(step);
  if (guide?.text.textContent !== isTold) fold(false);
  const results = step.end && resultsOf(step, current.cast);
  const finished = results ? board.finish(step.scene, results, time) : board.render(step.scene);
  // At the end of a round, the cards and the scores are enough.
  const [moved, told] = step.end ? [[], []] : [step.moves.map(([, to]) => to), stories];
  const deeds = told.filter(({ seat, deed }) => deed && seat !== current.cast.you);
  board.tell(moved, told.flatMap(({ eyed }) => eyed ?? []), deeds.map(({ seat, deed }) => [seat, deed]));
  // If notes are off, the card is shown only this once.
  if (!step.end) board.glimpse(step.glimpses, current.setting.notes ? GLIMPSE / 2 : GLIMPSE);
  passed.hasNews ||= step.glimpses.length > 0;
  asking.glimpses.push(...step.glimpses);
  if (step.ask && !step.ask.window && step.scene.phase === "start") sounds.play("turn");
  offer();
  if (!step.end) return;
  await finished;
  if (current.step !== step) return;
  isRevealing = false;
  if (step.end.winners.includes(current.cast.you)) sounds.play("win");
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
  bar.classList.toggle("result", Boolean(step.end) && !isRevealing);
  document.title = `${isMine ? "Your turn" : step.end && !isRevealing ? "Result" : "At the table"} · Cambio`;
  if (!isMine) {
    if (step.end && !isRevealing) return conclude(step);
    const words = step.end ? "All cards are turned up." : waiting(step.scene);
    return step.trouble ? say(`The match has stopped: ${step.trouble}`) : say(words, { isSilent: true });
  }
  const done = settled(step);
  if (done) {
    if (done[1]) say(done[1], { isSilent: true });
    act(done[0]);
    return;
  }
  const { ask: asked } = step;
  const isNew = asking.n !== step.n;
  if (isNew) Object.assign(asking, { n: step.n, since: performance.now() });
  const told = ([spot, kind]) => ` You see ${cardInWords(current.setting.kinds[kind])} in ${board.spot(spot)}.`;
  const seen = isNew ? asking.glimpses.splice(0).map(told).join("") : "";
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
    say(h("b", {}, prompt(step, { ...current.cast, verb: current.verb, first: current.first && board.spot(current.first), spot: (spot) => board.spot(spot) })), { seen });
    const known = asked.matches.filter((spot) => asked.choices.includes(`snap ${spot}`)).slice(0, MOST_SNAPS);
    // The first verb with a card is the usual one, and the others are switches.
    buttons.replaceChildren(...known.map(snapButton),
      ...plain.filter((verb) => STYLES[verb] !== "quiet").map(verbButton),
      ...aimed.slice(1).map(([verb]) => switchButton(verb)),
      ...plain.filter((verb) => STYLES[verb] === "quiet").map(verbButton));
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

// A small picture of a card in a button.
const small = (kind) => h("span", { class: "card up", "aria-hidden": "true" }, front(kind));

// The button for a plain verb, such as *Draw*.
function verbButton(verb) {
  const top = current.setting.kinds[current.step.scene.top];
  return h("button", { type: "button", class: STYLES[verb] ?? "", "data-verb": verb, onclick: () => dare(verb) },
    ...(verb === "take" ? [small(top), h("span", {}, `Take ${cardName(top)}`)] : [WORDS[verb]]), h("kbd", {}, KEYS[verb]));
}

// The button that snaps a card that is known to match.
function snapButton(spot, index) {
  const kind = current.setting.kinds[kindAt(spot)];
  const owner = spot[0] === current.cast.you ? "" : `${nameOf(spot[0], current.cast)}’s `;
  const attributes = { type: "button", class: "primary", title: capital(board.spot(spot)) };
  return h("button", { ...attributes, onclick: () => act(`snap ${spot}`) },
    small(kind), h("span", {}, `Snap ${owner}${cardName(kind)}`), index ? "" : h("kbd", {}, "m"));
}

// The button that chooses a verb instead of the usual one, or the usual one again.
function switchButton(verb) {
  const isOn = verb === current.verb;
  const onclick = () => { Object.assign(current, { verb: isOn ? null : verb, first: null }); offer(); };
  return h("button", { type: "button", class: "quiet", "aria-pressed": String(isOn), onclick }, `${AIMS[verb]?.[0] ?? verb} instead`);
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
    const seen = mine.filter(([, kind]) => kind !== null);
    const sum = seen.reduce((all, [, kind]) => all + kinds[kind].points, 0);
    const unknown = mine.length - seen.length;
    const known = `Call now? ${unknown ? "The cards that you know" : "Your cards"} add up to ${minus(sum)}`;
    return `${known}${unknown ? `, and you do not know ${counted(unknown, "card")}` : ""}.`;
  }
  const kind = kindAt(spot);
  return `Snap ${board.spot(spot)}? ${kind === null ? "You do not know this card. A wrong snap is penalised." : `It is ${cardName(kinds[kind])}, so the snap is wrong and penalised.`}`;
}

// Runs the clock of a snap window. When the time is up, the player passes.
function tick() {
  const time = Number(seconds.value) * 1000;
  if (!time) return;
  clock = setInterval(() => {
    const left = 1 - (performance.now() - asking.since) / time;
    board.time(Math.max(left, 0));
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
      const trials = ({ visits }) => (visits === null ? "" : ` after ${counted(visits, "trial")}`);
      const value = (one) => inUnit(unit, one.value) + trials(one);
      const own = considered.find((one) => one.action === action);
      const others = considered.filter((one) => one !== own).slice(0, 2)
        .map((one) => `${inSpots(one.action)}, ${value(one)}`);
      advice.replaceChildren(h("b", {}, `${levelOf(adviser.value)?.name ?? adviser.value} suggests: ${inSpots(action)}`),
        own && others.length
          ? h("small", {}, `${capital(unit)}: ${value(own)}. Others: ${others.join("; ")}.`) : "");
      for (const spot of action.split(" ").slice(1)) board.at(spot)?.classList.add("marked");
    }
  } catch (error) {
    advice.textContent = error.message;
  }
  hintButton.disabled = false;
}

const gone = (heading, text, ...actions) => main.replaceChildren(h("div", { class: "page" }, h("h1", {}, heading), h("p", { class: "trouble", role: "alert" }, text), h("p", { class: "row" }, ...actions, h("a", { class: actions.length ? "button" : "button primary", href: "./" }, "Play another match"))));

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

// Shows the result in the bar, with the next steps.
function conclude(step) {
  const link = (href, words, rest = {}) => h("a", { class: "button", href, ...rest }, words);
  const button = (words, onclick, rest = {}) => h("button", { type: "button", onclick, ...rest }, words);
  const first = { class: "primary", id: "again" };
  say(h("b", {}, sentenceOf(step, current.cast)));
  document.getElementById("end").hidden = Boolean(step.end.ranks);
  buttons.replaceChildren(...(step.end.ranks
    ? [review ? link(review, "Back to the review", { id: "again", class: "button primary" }) : button("Play again", again, first),
      link(`watch.html?table=${number}`, "Review"), button("Share", null, { popovertarget: "share" }),
      h("div", { id: "share", popover: "auto", class: "menu" },
        button("Save", () => save(number)), ...endButtons(number, current.setting, step, question), link("./", "New game"))]
    : [button("Next round", () => send("next", { at: current.step.n }), { class: "primary", id: "next" })]));
  buttons.firstChild.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog:modal") || event.target.matches?.("select, input, textarea")) return;
  const asked = current.step?.ask;
  const key = event.key.toLowerCase();
  if (key === "escape") {
    advice.replaceChildren();
    if (current.armed) disarm();
    else if (current.first !== null) { current.first = null; offer(); }
    return;
  }
  const isAtTable = event.target === document.body || bar.contains(event.target) || stage.contains(event.target);
  if (event.key.startsWith("Arrow") && board && isAtTable) {
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

// On a narrow window, the text of the guide lies on the table until the person touches the table or goes to a card.
const fold = (isFolded) => guide?.element.classList.toggle("folded", isFolded);
for (const type of ["pointerdown", "focusin"]) stage.addEventListener(type, () => fold(true));
guide?.element.addEventListener("click", ({ target }) => { if (!target.closest("button")) fold(); });

// After a lost connection the whole current state arrives again.
if (trouble) gone("This link opens no table", trouble.message);
else follow(number, {
  hello: begin,
  step(step) { queue.push(step); play(); },
  busy(take) {
    gone("This table is open in another tab", "It opens here when you close it there.", h("button", { type: "button", class: "primary", id: "take", onclick: take }, "Play here"));
  },
  lost() { say("No connection to the server. Trying again…"); },
  gone(text) { gone("This table is closed", text); },
});
