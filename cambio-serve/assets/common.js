// Code that all pages share: the names of the players, and what this browser stores.

import { h, LETTERS } from "./cards.js";
export { counted, h, LETTERS, listed, s } from "./cards.js";

// The levels of opponents, from the weakest to the strongest: name, description, and spec of the agent. A search takes longer with more
// players, so a search has lighter specs for two to four opponents and for more.
export const LEVELS = [
  { name: "Beginner", about: "Remembers one card at a time and mixes up neighbours.", spec: "heuristic(capacity=1,confusion=0.3)" },
  { name: "Casual", about: "Remembers two cards.", spec: "heuristic(capacity=2)" },
  { name: "Steady", about: "Forgets nothing and plays by simple rules.", spec: "greedy" },
  { name: "Skilled", about: "Forgets nothing, and calls when it is probably lowest.", spec: "heuristic" },
  { name: "Strong", about: "Taught itself by playing against itself.", spec: "learned" },
  { name: "Expert", about: "Taught itself, and also thinks ahead. Takes longer to decide.", spec: "lookahead", lighter: ["lookahead(worlds=60,proposals=400,margin=0.1)", "lookahead(worlds=4,proposals=30,margin=0.1)"] },
];

// The largest number of opponents.
export const MOST = 7;

const plain = (spec) => spec.replaceAll(" ", "");
export const levelOf = (spec) => LEVELS.find((level) => [level.spec, ...(level.lighter ?? [])].some((own) => plain(own) === plain(spec)));

// The specs of opponents, so that a decision takes at most some 300 ms in a browser.
export const quick = (specs) => specs.map((spec) => {
  const level = levelOf(spec);
  return level?.lighter ? [level.spec, ...level.lighter][specs.length === 1 ? 0 : specs.length < 5 ? 1 : 2] : spec;
});

// The names of the bots by seat: each begins with the letter of its seat.
const BOTS = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana"];

// The players of a table, seat a first: a name, and for a bot the level as the title and the spec. `seat` is the letter of the person.
export const people = (specs, seat) => specs.map((spec, index) => {
  if (LETTERS[index] === seat) return { name: "You", title: "You" };
  return { name: BOTS[index], title: levelOf(spec)?.name ?? spec, spec, level: LEVELS.indexOf(levelOf(spec)) };
});

// A bot in a match without a person, by the name of its level.
export function botOf(spec) {
  const level = levelOf(spec);
  return { name: level?.name ?? spec.split("(")[0], spec, level: LEVELS.indexOf(level) };
}

export const RULES = { __proto__: null, classic: "Classic", original: "Das Original", faessler: "Fässler Jass" };
export const rulesName = (name) => {
  const round = / \(one round\)$/.exec(name)?.[0] ?? "";
  const base = name.slice(0, name.length - round.length);
  return (RULES[base] ?? base) + round;
};

// Shows a sentence in the corner of the window until it is closed, with a button if there is something to do.
// A sentence that is still shown is not repeated.
export function notice(text, label, act) {
  if ([...document.querySelectorAll(".notice-box > span")].some((one) => one.textContent === text)) return;
  const box = h("div", { class: "notice-box", role: "status" }, h("span", {}, text),
    label ? h("button", { type: "button", class: "primary", onclick: act }, label) : "",
    h("button", { type: "button", onclick: () => box.remove() }, "Close"));
  document.body.append(box);
}

// A promise that is kept after a number of milliseconds.
export const wait = (time) => new Promise((done) => setTimeout(done, time));

// ---- What this browser stores

// The values of all visits by key. Empty if this browser blocks them.
export const storage = (() => {
  try {
    return localStorage;
  } catch {
    return {};
  }
})();

// Kinds of stored values: a kind returns a valid value, and the default instead of any other. Another version of the pages, an extension
// or a person can have stored anything.
const isText = (value) => typeof value === "string";
const isGroup = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const areAll = (isValid) => (value) => Array.isArray(value) && value.every(isValid);
const when = (isValid, otherwise = null) => (value) => (isValid(value) ? value : otherwise);
const oneOf = (values, otherwise) => when((value) => values.includes(value), otherwise);
const text = (otherwise = null) => when(isText, otherwise);
const flag = (otherwise) => oneOf([true, false], otherwise);
const list = (isValid) => when(areAll(isValid), []);
const whole = when(Number.isSafeInteger);
const number = when((value) => Number.isSafeInteger(value) && value >= 0);
const group = (kinds) => (value) => Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, kind(isGroup(value) ? value[name] : undefined)]));
const json = (kind) => (value) => kind(parsed(value));
const seat = oneOf([...LETTERS], "a");
const isReview = (value) => isGroup(value) && value.over === true && Number.isFinite(value.least) && areAll(Array.isArray)(value.chances)
  && areAll((one) => isGroup(one) && isText(one.action) && isText(one.by))(value.decisions);

// The values of settings that have a list, each with its words.
export const CHOICES = {
  pace: { slow: "slow", normal: "normal", fast: "fast", "at once": "at once" },
  clock: { 0: "none", 2: "2 seconds", 4: "4 seconds", 8: "8 seconds", 15: "15 seconds" },
  windows: { known: "only if I know a match", always: "always" },
  adviser: Object.fromEntries(["learned", "lookahead", "rollout", "ismcts", "heuristic"].map((name) => [name, levelOf(name)?.name ?? name])),
};
export const REACTIONS = [null, 1500, 1000, 600];
const chosen = (name, otherwise) => oneOf(Object.keys(CHOICES[name]), otherwise);

const dailyDeal = group({ number, table: number, points: whole, par: whole, blunders: number });

// Everything that is stored, by the first word of its key.
const KINDS = {
  // The settings at a table.
  pace: chosen("pace", "normal"), clock: chosen("clock", "0"), windows: chosen("windows", "known"), adviser: chosen("adviser", "learned"), sounds: flag(false),
  // The settings of the start page: the last match, and whether the guide was shown.
  wish: group({
    rules: text("classic"), file: text(""), opponents: when((value) => areAll(isText)(value) && value.length > 0 && value.length <= MOST, [LEVELS[1].spec, LEVELS[1].spec]), seat,
    notes: flag(true), practice: flag(true), one_round: flag(false), reaction: oneOf(REACTIONS, null),
  }),
  guided: flag(false),
  // The daily deals. The points are missing until the round is over, par and the blunders until later.
  daily: (value) => list(isGroup)(value).map(dailyDeal),
  // The number of the last table. Numbers are not used again, because pages and results keep them.
  last: when((value) => Number.isSafeInteger(value) && value >= 0 && value < 1e12, 0),
  // A table: its request and decisions, its entry in the list of tables, and the record when the match is over.
  table: group({
    saved: text(), record: text(),
    about: json(group({ table: number, rules: text(""), names: list(isText), seat, round: number, over: flag(false) })),
  }),
  // Only in this tab: the name of its desk at a server, the table whose guide is closed, the last matches from
  // files and links, and the finished analyses, by round, of the match that was shown last.
  guide: text(),
  desk: text(),
  matches: when(areAll((one) => number(one?.number) !== null && isText(one.record)), []),
  reviews: group({ record: text(), reviews: list((value) => value === null || isReview(value)) }),
};
const OF_TAB = ["desk", "guide", "matches", "reviews"];
const kindOf = (key) => key.split(".")[0];
const storeOf = (key) => (OF_TAB.includes(kindOf(key)) ? sessionStorage : localStorage);

export function parsed(value) {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

// A stored value, or its default.
export function remembered(key) {
  let value = null;
  try {
    value = storeOf(key).getItem(`cambio.${key}`);
  } catch {
    // This browser stores nothing.
  }
  return KINDS[kindOf(key)](parsed(value));
}

// Stores a value. Returns whether the browser has stored it.
export function remember(key, value) {
  try {
    storeOf(key).setItem(`cambio.${key}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
