// Code that all pages share: the connection, settings that this browser stores, and the names of the players.

export { counted, h, inWords, LETTERS, listed, s } from "./cards.js";
export { ask } from "./transport.js";

// A setting stored in this browser.
export function remembered(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`cambio.${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`cambio.${name}`, JSON.stringify(value));
  } catch {
    // Without local storage the setting is not kept.
  }
}

// The levels of opponents, from the weakest to the strongest: name, description, and spec of the agent.
export const LEVELS = [
  { name: "Beginner", about: "Remembers one card at a time and mixes up neighbours.", spec: "heuristic(capacity=1,confusion=0.3)" },
  { name: "Casual", about: "Remembers two cards.", spec: "heuristic(capacity=2)" },
  { name: "Steady", about: "Forgets nothing and plays by simple rules.", spec: "greedy" },
  { name: "Skilled", about: "Forgets nothing, and calls when it is probably lowest.", spec: "heuristic" },
  { name: "Strong", about: "Taught itself by playing against itself.", spec: "learned" },
  { name: "Expert", about: "Taught itself, and also thinks ahead. Takes longer to decide.", spec: "lookahead" },
];

const plain = (spec) => spec.replaceAll(" ", "");
export const levelOf = (spec) => LEVELS.find((level) => plain(level.spec) === plain(spec));

// The names of the bots by seat: each begins with the letter of its seat.
const BOTS = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana"];

// The players of a table, seat a first: a name, and for a bot the level as the title and the spec. `seat` is the letter of the person at
// this page, and `names` has the names of all people, which may be empty, and null for bots.
export const people = (specs, seat, names = []) => specs.map((spec, index) => {
  const letter = "abcdefgh"[index];
  if (letter === seat) return { name: "You", title: "You" };
  if (typeof names[index] === "string") return { name: names[index] || `Guest ${letter}`, title: "a friend" };
  return { name: BOTS[index], title: levelOf(spec)?.name ?? spec, spec };
});

export const RULES = { classic: "Classic", original: "Das Original", faessler: "Fässler Jass" };
export const rulesName = (name) => RULES[name] ?? name;
