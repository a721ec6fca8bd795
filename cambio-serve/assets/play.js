// The page of a table. The server sends this page only what its seat may know.
import { Board } from "./table.js";
import { ask, h, inWords, LETTERS, remember, remembered } from "./common.js";
import { at, follow, save } from "./transport.js";

const main = document.getElementById("main");
const number = new URLSearchParams(location.search).get("table");
const path = (what) => at(number, what);

// For each pace: how long a card moves and how long the page waits after a step, in milliseconds.
const PACES = { slow: [700, 900], normal: [380, 350], fast: [160, 80], "at once": [0, 0] };
// How long the page shows a card that the player has to remember, in milliseconds.
const GLIMPSE = 3000;
const KEYS = { draw: "d", take: "t", call: "c", end: "e", drop: "x", skip: "s", pass: "p" };
const WORDS = {
  draw: "Draw", take: "Take the open card", call: "Call", end: "End my turn", drop: "Discard it", skip: "Skip", pass: "Pass",
};
// Verbs that need a card: the text of their button, and the words before the card's name.
const AIMS = {
  keep: ["Keep it", "keep it in place of"], look: ["Peek", "peek at"], peek: ["Peek", "peek at"], snap: ["Snap", "snap"], touch: ["Touch", "touch"],
  give: ["Give", "give"], swap: ["Swap", "swap"], show: ["Turn up", "turn up"],
  cheat: ["Peek for a penalty card", "take a penalty card to peek at"],
};

const current = {
  setting: null,
  step: null,
  // The selected verb, and the first card of a swap.
  verb: null,
  first: null,
};
let board = null;
let queue = [];
let isPlaying = false;
let clock = null;
// The time at which the page first showed the question of the current step.
const asking = { n: null, since: 0 };

const question = h("p", { class: "question", role: "status", "aria-live": "assertive" });
const buttons = h("div", { class: "row" });
const clockBar = h("div", { class: "clock", hidden: true, "aria-hidden": "true" }, h("span"));
const advice = h("p", { class: "hint-line", role: "status" });
const log = h("ol", { class: "log", "aria-live": "polite", "aria-label": "What happened", tabindex: "0" });
const stage = h("div", {});
const dialog = h("dialog", { "aria-labelledby": "ended" });
const rules = h("details", { class: "rules", open: true }, h("summary", {}, "How to play"));
const cards = h("details", {}, h("summary", {}, "Card values and powers"));

const select = (name, label, values, otherwise, act) => {
  const chosen = remembered(name, otherwise);
  return h("select", { "aria-label": label, onchange: (event) => { remember(name, event.target.value); act?.(); } },
    ...values.map(([value, word]) => h("option", { value, selected: String(value) === String(chosen) }, word)));
};
const pace = select("pace", "Speed", Object.keys(PACES).map((word) => [word, word]), "normal");
const seconds = select("clock", "Time limit for snaps", [[0, "none"], [2, "2 seconds"], [4, "4 seconds"], [8, "8 seconds"], [15, "15 seconds"]], 0, () => offer());
const windows = select("windows", "When to ask me about snaps", [["always", "always"], ["known", "only when I know a match"]], "always", () => offer());
const adviser = select("adviser", "Bot that gives hints", ["learned", "rollout", "heuristic", "lookahead", "ismcts"].map((name) => [name, name]), "learned");
const hintButton = h("button", { type: "button", onclick: hint, title: "Key: h" }, "Hint from");
const undoButton = h("button", { type: "button", onclick: undo, title: "Key: u" }, "Undo");

function begin(hello) {
  const isNew = !current.setting;
  current.setting = hello.setting;
  const { setting } = hello;
  if (isNew) {
    rules.append(...setting.in_short.map((line) => h("p", {}, line)));
    cards.append(h("table", { class: "deck" }, h("thead", {}, h("tr", {}, ...["points", "cards", "power"].map((word) => h("th", { scope: "col" }, word)))),
      h("tbody", {}, ...setting.worth.map(({ points, power, cards }) => h("tr", {}, h("td", {}, points), h("td", {}, cards.join(" ")), h("td", {}, power || "–"))))));
    main.replaceChildren(
      h("h1", {}, `${setting.rules} at ${setting.names.length} seats`),
      h("div", { class: "stage" },
        h("div", { class: "theatre" }, stage, h("div", { class: "bar" }, question, clockBar, buttons, advice)),
        h("div", { class: "side" }, rules,
          h("h2", {}, "What happened"), log,
          h("h2", {}, "Settings"),
          h("div", { class: "settings" },
            h("label", {}, "Speed", pace),
            setting.snaps ? h("label", {}, "Time limit for snaps", seconds) : null,
            setting.snaps && setting.notes ? h("label", {}, "Ask me about snaps", windows) : null,
            setting.practice ? h("div", { class: "row" }, hintButton, adviser, undoButton) : null,
            h("button", { type: "button", onclick: leave }, "Leave the table")),
          cards,
          h("p", { class: "keys" }, "Keys: 1 to 9 choose your own cards. Tab and the arrows go to any card, Enter chooses it. The letters on the buttons are keys too. m snaps a card that you know matches. Small letters on a card show who has seen it.",
            setting.practice ? " h gives a hint, u undoes your last decision." : ""))),
      dialog);
    board = new Board(stage, { kinds: setting.kinds, names: setting.names, me: setting.seat });
  }
  queue = [];
  log.replaceChildren();
  write(hello.lines);
  show(hello.step);
}

function write(lines) {
  for (const line of lines) {
    const isMine = line.startsWith(`${current.setting.seat} `);
    log.append(h("li", { class: line.startsWith("turn of") ? "turn" : isMine ? "mine" : "" }, line));
  }
  log.scrollTop = log.scrollHeight;
}

const wait = (time) => new Promise((done) => setTimeout(done, time));

// Shows the queued steps, one after the other.
async function play() {
  if (isPlaying) return;
  isPlaying = true;
  while (queue.length) {
    const step = queue.shift();
    silence();
    const [flight, pause] = queue.length > 12 || document.hidden ? [0, 0] : PACES[pace.value] ?? PACES.normal;
    // The moves of a step run one after the other.
    for (const move of step.moves) await board.fly([move], flight);
    write(step.lines);
    show(step);
    if (pause && !step.ask) await wait(pause);
  }
  isPlaying = false;
}

function silence() {
  clearInterval(clock);
  clockBar.hidden = true;
  buttons.replaceChildren();
  board?.offer(new Map(), () => {});
}

function show(step) {
  current.step = step;
  current.verb = null;
  current.first = null;
  advice.textContent = "";
  board.render(step.scene);
  // If notes are off, the card is shown only this once.
  board.glimpse(step.glimpses, current.setting.notes ? GLIMPSE / 2 : GLIMPSE);
  if (step.scene.turns > 1) rules.open = false;
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

function offer() {
  const step = current.step;
  if (!step || !board) return;
  silence();
  undoButton.disabled = false;
  hintButton.disabled = !step.ask;
  if (!step.ask) {
    question.textContent = step.trouble ? `The match has stopped: ${step.trouble}` : step.end ? "" : waiting(step.scene);
    return;
  }
  const { ask: asked } = step;
  if (asking.n !== step.n) Object.assign(asking, { n: step.n, since: performance.now() });
  const verbs = verbsOf(asked.choices);
  const aimed = [...verbs].filter(([, spots]) => spots[0].length);
  const plain = [...verbs].filter(([, spots]) => !spots[0].length).map(([verb]) => verb);
  if (asked.window && windows.value === "known" && current.setting.notes && !asked.matches.length) {
    question.textContent = "A card was discarded. You know no match, so you pass.";
    act("pass");
    return;
  }
  current.verb = aimed.some(([verb]) => verb === current.verb) ? current.verb : aimed[0]?.[0] ?? null;
  question.replaceChildren(h("b", {}, sentence(asked, verbs)));
  buttons.replaceChildren(
    ...(aimed.length > 1 ? aimed.map(([verb]) => h("button", { type: "button", "aria-pressed": String(verb === current.verb), onclick: () => { current.verb = verb; current.first = null; offer(); } }, AIMS[verb]?.[0] ?? verb)) : []),
    ...plain.map((verb) => h("button", { type: "button", class: verb === "draw" || plain.length === 1 ? "primary" : "", "data-verb": verb, onclick: () => act(verb) }, WORDS[verb], h("kbd", {}, KEYS[verb]))));
  const places = new Map();
  if (current.verb === "swap") {
    for (const [one, other] of verbs.get("swap")) {
      if (current.first === null) [one, other].forEach((spot) => places.set(spot, "swap"));
      else if (current.first === one) places.set(other, `swap ${one} with`);
      else if (current.first === other) places.set(one, `swap ${other} with`);
    }
    if (current.first !== null) places.set(current.first, "deselect");
  } else if (current.verb) {
    for (const [spot] of verbs.get(current.verb)) places.set(spot, AIMS[current.verb]?.[1] ?? current.verb);
  }
  if (plain.includes("draw")) places.set("stock", "draw from the");
  if (plain.includes("take")) places.set("pile", "take from the");
  if (plain.includes("drop")) places.set("pile", "discard onto the");
  board.offer(places, choose, current.first === null ? asked.matches : [current.first]);
  if (asked.window) tick();
}

function sentence(asked, verbs) {
  const text = glyphs(asked.question.charAt(0).toUpperCase() + asked.question.slice(1));
  if (current.verb === "swap") return current.first === null ? `${text}: choose the first card.` : `Swap ${current.first} with which card?`;
  if (verbs.has("pass")) return `${text}.`;
  if (current.verb === "keep") return `${text}. Keep it in place of one of your cards${verbs.has("drop") ? ", or discard it" : ""}.`;
  if (verbs.has("draw")) return `${text}: draw a card${verbs.has("take") ? ", or take the open card" : ""}${verbs.has("call") ? ", or call" : ""}.`;
  return verbs.has("end") ? `${text}?` : text;
}

// Shows the suits of French cards in a sentence as glyphs: 9h becomes 9♥.
function glyphs(text) {
  const suits = { h: "♥", d: "♦", c: "♣", s: "♠" };
  const isLabel = (word) => current.setting.kinds.some((kind) => kind.label === word && kind.suit === word.slice(-1));
  return text.replace(/\b\w+[hdcs]\b/g, (word) => (isLabel(word) ? `${word.slice(0, -1)}${suits[word.slice(-1)]}\uFE0E` : word));
}

function waiting(scene) {
  if (scene.phase === "over") return "";
  if (scene.asked) return scene.asked === current.setting.seat ? "" : `${scene.asked} (${current.setting.names[LETTERS.indexOf(scene.asked)]}) is thinking…`;
  return "A card was discarded. Waiting for snaps…";
}

function choose(place) {
  if (place === "stock") return act("draw");
  if (place === "pile") return act(current.step.ask.choices.includes("take") ? "take" : "drop");
  if (current.verb === "swap") {
    if (current.first === null || current.first === place) {
      current.first = current.first === place ? null : place;
      offer();
      board.at(place)?.focus();
      return undefined;
    }
    const { choices } = current.step.ask;
    return act([`swap ${current.first} ${place}`, `swap ${place} ${current.first}`].find((choice) => choices.includes(choice)));
  }
  return act(`${current.verb} ${place}`);
}

// Runs the clock of a snap window. When the time is up, the player passes.
function tick() {
  const time = Number(seconds.value) * 1000;
  if (!time) return;
  const begun = performance.now();
  clockBar.hidden = false;
  clock = setInterval(() => {
    const left = 1 - (performance.now() - begun) / time;
    clockBar.firstChild.style.setProperty("transform", `scaleX(${Math.max(left, 0)})`);
    if (left <= 0) act("pass");
  }, 50);
}

async function send(what, body) {
  silence();
  try {
    return await ask(path(what), body);
  } catch (error) {
    question.textContent = error.message;
    setTimeout(offer, 1500);
    return null;
  }
}

function act(action) {
  const { n } = current.step;
  const time = current.setting.reaction && asking.n === n ? Math.round(performance.now() - asking.since) : null;
  return send("act", { at: n, action, time });
}

function undo() {
  if (current.setting?.practice && current.step) send("undo", { at: current.step.n });
}

async function hint() {
  if (!current.setting?.practice || !current.step?.ask) return;
  const { n } = current.step;
  hintButton.disabled = true;
  advice.textContent = `${adviser.value} is thinking…`;
  try {
    const { agent, action, unit, considered } = await ask(path("hint"), { agent: adviser.value });
    if (current.step.n === n) {
      const some = considered.slice(0, 4).map((one) => `${inWords(one.action)} ${one.value.toFixed(3)}${one.visits === null ? "" : ` (${one.visits}×)`}`);
      advice.replaceChildren(h("b", {}, `${agent} suggests: ${inWords(action)}`), some.length > 1 ? h("small", {}, `${some.join(", ")} (${unit})`) : "");
      board.offer(new Map([...board.root.querySelectorAll(".offered")].map((card) => [card.dataset.place, current.verb])), choose, action.split(" ").slice(1));
    }
  } catch (error) {
    advice.textContent = error.message;
  }
  hintButton.disabled = false;
}

async function leave() {
  await send("close", {});
  location.href = "./";
}

function end(step) {
  if (!step.end) {
    if (dialog.open) dialog.close();
    return;
  }
  const { scores, totals, winners, ranks } = step.end;
  const { names, seat } = current.setting;
  const who = (index) => (LETTERS[index] === seat ? "you" : names[index]);
  const rank = ranks?.[LETTERS.indexOf(seat)];
  const title = ranks ? (rank === 1 ? "You won the match" : `The match is over. You finished ${rank}${["th", "st", "nd", "rd"][rank] ?? "th"} of ${names.length}`)
    : winners.includes(seat) ? (winners.length > 1 ? "You share the win of this round" : "You win this round") : `${[...winners].join(" and ")} ${winners.length > 1 ? "share the win of" : "wins"} this round`;
  dialog.replaceChildren(...[
    h("h2", { id: "ended" }, title),
    h("ul", {}, ...scores.map((line) => h("li", {}, line))),
    h("table", { class: "totals" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "seat"), h("th", { scope: "col" }, "total"), ranks ? h("th", { scope: "col" }, "rank") : null)),
      h("tbody", {}, ...totals.map((total, index) => h("tr", {}, h("th", { scope: "row" }, `${LETTERS[index]} ${who(index)}`), h("td", {}, total.replace("-", "−")), ranks ? h("td", {}, ranks[index]) : null)))),
    h("div", { class: "row" }, ...(ranks
      ? [h("a", { class: "button primary", href: `watch.html?table=${number}` }, "Replay the match"), h("button", { type: "button", onclick: () => save(number) }, "Save the match"), h("a", { class: "button", href: "./" }, "New table")]
      : [h("button", { type: "button", class: "primary", id: "next", onclick: () => send("next", { at: current.step.n }) }, "Next round")])),
  ].filter(Boolean));
  // Not modal, so that the table with all cards turned up stays visible.
  if (!dialog.open) dialog.show();
  dialog.querySelector(".primary").focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("select, input, textarea")) return;
  const asked = current.step?.ask;
  const key = event.key.toLowerCase();
  if (event.key.startsWith("Arrow") && board) {
    const offered = [...board.root.querySelectorAll('.card[aria-disabled="false"]')];
    if (!offered.length) return;
    const at = offered.indexOf(document.activeElement);
    const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
    offered[(at + step + offered.length) % offered.length].focus();
    return event.preventDefault();
  }
  if (key === "u") return undo();
  if (!asked || isPlaying) return;
  if (key === "h") return hint();
  if (key === "m" && asked.matches.length && asked.choices.includes(`snap ${asked.matches[0]}`)) return act(`snap ${asked.matches[0]}`);
  if (/^[1-9]$/.test(key)) {
    const card = board.at(current.setting.seat + key);
    if (card?.getAttribute("aria-disabled") === "false") card.click();
    return;
  }
  const verb = Object.keys(KEYS).find((word) => KEYS[word] === key && asked.choices.includes(word));
  if (verb) act(verb);
});

// After a lost connection the whole current state arrives again.
follow(number, {
  hello: begin,
  step(step) { queue.push(step); play(); },
  lost() { question.textContent = "No connection to the server. Trying again…"; },
  gone(text) { main.replaceChildren(h("h1", {}, "Table not found"), h("p", { class: "trouble" }, text), h("p", {}, h("a", { href: "./" }, "Open a new table"))); },
});
