// The table at which somebody plays. It shows what the server sends, which is what this seat may know.
import { Board } from "./table.js";
import { ask, h, LETTERS, remember, remembered } from "./common.js";

const main = document.getElementById("main");
const number = new URLSearchParams(location.search).get("table");
const path = (what) => `api/tables/${encodeURIComponent(number)}/${what}`;

// How long a card flies, and how long a card is shown that is to be remembered.
const PACES = { slow: [700, 900], normal: [380, 350], fast: [160, 80], "at once": [0, 0] };
const GLIMPSE = 3000;
const KEYS = { draw: "d", take: "t", call: "c", end: "e", drop: "x", skip: "s", pass: "p" };
const WORDS = {
  draw: "Draw", take: "Take the open card", call: "Call", end: "End the turn", drop: "Drop it", skip: "Do without", pass: "Pass",
};

const told = {
  setting: null,
  step: null,
  // What the person is choosing with: a verb, and the first card of a swap.
  verb: null,
  first: null,
};
let board = null;
let queue = [];
let isPlaying = false;
let clock = null;
// When the page first asked at the step that it shows.
const asking = { n: null, since: 0 };

const question = h("p", { class: "question", role: "status", "aria-live": "assertive" });
const buttons = h("div", { class: "row" });
const clockBar = h("div", { class: "clock", hidden: true, "aria-hidden": "true" }, h("span"));
const advice = h("p", { class: "hint-line", role: "status" });
const log = h("ol", { class: "log", "aria-live": "polite", "aria-label": "What happened", tabindex: "0" });
const stage = h("div", {});
const dialog = h("dialog", { "aria-labelledby": "ended" });
const rules = h("details", { class: "rules", open: true }, h("summary", {}, "The rules in three lines"));
const cards = h("details", {}, h("summary", {}, "What the cards are worth"));

const select = (name, label, values, otherwise, act) => {
  const chosen = remembered(name, otherwise);
  return h("select", { "aria-label": label, onchange: (event) => { remember(name, event.target.value); act?.(); } },
    ...values.map(([value, word]) => h("option", { value, selected: String(value) === String(chosen) }, word)));
};
const pace = select("pace", "Pace", Object.keys(PACES).map((word) => [word, word]), "normal");
const seconds = select("clock", "Clock for snaps", [[0, "none"], [2, "2 seconds"], [4, "4 seconds"], [8, "8 seconds"], [15, "15 seconds"]], 0, () => offer());
const windows = select("windows", "When I am asked to snap", [["always", "always"], ["known", "only if I know a match"]], "always", () => offer());
const adviser = select("adviser", "Who gives hints", ["learned", "rollout", "heuristic", "lookahead", "ismcts"].map((name) => [name, name]), "learned");
const hintButton = h("button", { type: "button", onclick: hint, title: "Key: h" }, "Hint from");
const undoButton = h("button", { type: "button", onclick: undo, title: "Key: u" }, "Take back");

function begin(hello) {
  const isNew = !told.setting;
  told.setting = hello.setting;
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
            h("label", {}, "Pace", pace),
            setting.snaps ? h("label", {}, "Clock for snaps", seconds) : null,
            setting.snaps && setting.notes ? h("label", {}, "Ask me to snap", windows) : null,
            setting.practice ? h("div", { class: "row" }, hintButton, adviser, undoButton) : null,
            h("button", { type: "button", onclick: leave }, "Leave the table")),
          cards,
          h("p", { class: "keys" }, "Keys: 1 to 9 choose your own cards, Tab and the arrows reach all others, Enter chooses; the letters stand on the buttons; m snaps a card that you know to match. Small letters on a card tell who has seen it.",
            setting.practice ? " h asks for a hint, u takes back." : ""))),
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
    const isMine = line.startsWith(`${told.setting.seat} `);
    log.append(h("li", { class: line.startsWith("turn of") ? "turn" : isMine ? "mine" : "" }, line));
  }
  log.scrollTop = log.scrollHeight;
}

const wait = (time) => new Promise((done) => setTimeout(done, time));

// Plays the steps that have come, one after the other.
async function play() {
  if (isPlaying) return;
  isPlaying = true;
  while (queue.length) {
    const step = queue.shift();
    silence();
    const [flight, pause] = queue.length > 12 || document.hidden ? [0, 0] : PACES[pace.value] ?? PACES.normal;
    // A held card and the one that it replaces go one after the other.
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
  told.step = step;
  told.verb = null;
  told.first = null;
  advice.textContent = "";
  board.render(step.scene);
  // What the table does not keep showing is shown for a moment.
  board.glimpse(step.glimpses, told.setting.notes ? GLIMPSE / 2 : GLIMPSE);
  if (step.scene.turns > 1) rules.open = false;
  end(step);
  offer();
}

// The choices as verbs with their cards.
function verbsOf(choices) {
  const verbs = new Map();
  for (const choice of choices) {
    const [verb, ...spots] = choice.split(" ");
    verbs.set(verb, [...(verbs.get(verb) ?? []), spots]);
  }
  return verbs;
}

function offer() {
  const step = told.step;
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
  if (asked.window && windows.value === "known" && told.setting.notes && !asked.matches.length) {
    question.textContent = "A card has landed; you know no match.";
    act("pass");
    return;
  }
  told.verb = aimed.some(([verb]) => verb === told.verb) ? told.verb : aimed[0]?.[0] ?? null;
  question.replaceChildren(h("b", {}, sentence(asked, verbs)));
  buttons.replaceChildren(
    ...(aimed.length > 1 ? aimed.map(([verb]) => h("button", { type: "button", "aria-pressed": String(verb === told.verb), onclick: () => { told.verb = verb; told.first = null; offer(); } }, verb)) : []),
    ...plain.map((verb) => h("button", { type: "button", class: verb === "draw" || plain.length === 1 ? "primary" : "", "data-verb": verb, onclick: () => act(verb) }, WORDS[verb], h("kbd", {}, KEYS[verb]))));
  const places = new Map();
  if (told.verb === "swap") {
    for (const [one, other] of verbs.get("swap")) {
      if (told.first === null) [one, other].forEach((spot) => places.set(spot, "swap"));
      else if (told.first === one) places.set(other, `swap ${one} with`);
      else if (told.first === other) places.set(one, `swap ${other} with`);
    }
    if (told.first !== null) places.set(told.first, "do not swap");
  } else if (told.verb) {
    for (const [spot] of verbs.get(told.verb)) places.set(spot, told.verb);
  }
  if (plain.includes("draw")) places.set("stock", "draw from the");
  if (plain.includes("take")) places.set("pile", "take from the");
  if (plain.includes("drop")) places.set("pile", "drop onto the");
  board.offer(places, choose, told.first === null ? asked.matches : [told.first]);
  if (asked.window) tick();
}

function sentence(asked, verbs) {
  const text = asked.question.charAt(0).toUpperCase() + asked.question.slice(1);
  if (told.verb === "swap") return `${text}: ${told.first === null ? "choose two cards to swap" : `swap ${told.first} with…`}`;
  if (asked.window) return `${text}: snap a card, or pass`;
  if (told.verb === "keep") return `${text}: keep it in the place of a card${verbs.has("drop") ? ", or drop it" : ""}`;
  if (verbs.has("draw")) return `${text}: draw${verbs.has("take") ? ", or take the open card" : ""}${verbs.has("call") ? ", or call" : ""}`;
  return text;
}

function waiting(scene) {
  if (scene.phase === "over") return "";
  if (scene.asked) return scene.asked === told.setting.seat ? "" : `${scene.asked} (${told.setting.names[LETTERS.indexOf(scene.asked)]}) decides…`;
  return "A card has landed: who snaps?";
}

function choose(place) {
  if (place === "stock") return act("draw");
  if (place === "pile") return act(told.step.ask.choices.includes("take") ? "take" : "drop");
  if (told.verb === "swap") {
    if (told.first === null || told.first === place) {
      told.first = told.first === place ? null : place;
      offer();
      board.at(place)?.focus();
      return undefined;
    }
    const { choices } = told.step.ask;
    return act([`swap ${told.first} ${place}`, `swap ${place} ${told.first}`].find((choice) => choices.includes(choice)));
  }
  return act(`${told.verb} ${place}`);
}

// The clock of a snap window; at its end the seat passes.
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
  const { n } = told.step;
  const time = told.setting.reaction && asking.n === n ? Math.round(performance.now() - asking.since) : null;
  return send("act", { at: n, action, time });
}

function undo() {
  if (told.setting?.practice && told.step) send("undo", { at: told.step.n });
}

async function hint() {
  if (!told.setting?.practice || !told.step?.ask) return;
  const { n } = told.step;
  hintButton.disabled = true;
  advice.textContent = `${adviser.value} thinks…`;
  try {
    const { agent, action, unit, considered } = await ask(path("hint"), { agent: adviser.value });
    if (told.step.n === n) {
      const some = considered.slice(0, 4).map((one) => `${one.action} ${one.value.toFixed(3)}${one.visits === null ? "" : ` (${one.visits}×)`}`);
      advice.replaceChildren(h("b", {}, `${agent} would: ${action}`), some.length > 1 ? h("small", {}, `${some.join(", ")}, in ${unit}`) : "");
      board.offer(new Map([...board.root.querySelectorAll(".offered")].map((card) => [card.dataset.place, told.verb])), choose, action.split(" ").slice(1));
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
  const { names, seat } = told.setting;
  const who = (index) => (LETTERS[index] === seat ? "you" : names[index]);
  const rank = ranks?.[LETTERS.indexOf(seat)];
  const title = ranks ? (rank === 1 ? "You have won the match" : `The match is over: you have rank ${rank} of ${names.length}`)
    : winners.includes(seat) ? (winners.length > 1 ? "You share the round" : "You win the round") : `${[...winners].join(" and ")} ${winners.length > 1 ? "share" : "wins"} the round`;
  dialog.replaceChildren(...[
    h("h2", { id: "ended" }, title),
    h("ul", {}, ...scores.map((line) => h("li", {}, line))),
    h("table", { class: "totals" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "seat"), h("th", { scope: "col" }, "total"), ranks ? h("th", { scope: "col" }, "rank") : null)),
      h("tbody", {}, ...totals.map((total, index) => h("tr", {}, h("th", { scope: "row" }, `${LETTERS[index]} ${who(index)}`), h("td", {}, total.replace("-", "−")), ranks ? h("td", {}, ranks[index]) : null)))),
    h("div", { class: "row" }, ...(ranks
      ? [h("a", { class: "button primary", href: `watch?table=${number}` }, "Watch the match"), h("a", { class: "button", href: path("record"), download: "" }, "Download the record"), h("a", { class: "button", href: "./" }, "Another table")]
      : [h("button", { type: "button", class: "primary", id: "next", onclick: () => send("next", { at: told.step.n }) }, "Next round")])),
  ].filter(Boolean));
  // It leaves the table in sight, where all cards are turned up.
  if (!dialog.open) dialog.show();
  dialog.querySelector(".primary").focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("select, input, textarea")) return;
  const asked = told.step?.ask;
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
    const card = board.at(told.setting.seat + key);
    if (card?.getAttribute("aria-disabled") === "false") card.click();
    return;
  }
  const verb = Object.keys(KEYS).find((word) => KEYS[word] === key && asked.choices.includes(word));
  if (verb) act(verb);
});

// The server sends steps as they come; a page that was away is told where things stand.
let source = null;
function listen() {
  source = new EventSource(path("events"));
  source.addEventListener("hello", (event) => begin(JSON.parse(event.data)));
  source.addEventListener("step", (event) => { queue.push(JSON.parse(event.data)); play(); });
  source.addEventListener("error", async () => {
    const wasClosed = source.readyState === EventSource.CLOSED;
    if (!told.setting || wasClosed) {
      source.close();
      const problem = await ask(path("record")).catch((error) => error);
      const text = problem instanceof Error ? problem.message : "the table does not answer";
      if (/in progress/.test(text)) return setTimeout(listen, 1000);
      main.replaceChildren(h("h1", {}, "No table"), h("p", { class: "trouble" }, text), h("p", {}, h("a", { href: "./" }, "Open a table")));
    } else {
      question.textContent = "The server does not answer; trying again…";
    }
    return undefined;
  });
}
listen();
