// Draws cards and names them. The text of a card is generated content (`data-text`), so that the accessible name of a card is only its label.

export const LETTERS = "abcdefgh";

// Creates an element with attributes, event listeners (`onclick`) and children.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Creates an SVG element.
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// The drawings, in a square of 24 units. Each is a list of paths; a path with a second colour has it in brackets.
const DRAWINGS = {
  heart: ["M12 21C5 15 2 11.5 2 7.8 2 5 4.2 3 6.8 3c2 0 3.9 1.1 5.2 3.2C13.3 4.1 15.2 3 17.2 3 19.8 3 22 5 22 7.8c0 3.7-3 7.2-10 13.2z"],
  diamond: ["M12 1.5 20 12l-8 10.5L4 12z"],
  club: ["M12 2a4.6 4.6 0 0 1 3.6 7.5 4.7 4.7 0 1 1-2.3 7.2c.2 2.2 1 3.9 2.7 5.3H8c1.7-1.4 2.5-3.1 2.7-5.3a4.7 4.7 0 1 1-2.3-7.2A4.6 4.6 0 0 1 12 2z"],
  spade: ["M12 2c4 5 9.5 8 9.5 12.6 0 2.7-2 4.4-4.3 4.4-1.6 0-3-.8-3.9-2.2.2 2.2 1 3.8 2.7 5.2H8c1.7-1.4 2.5-3 2.7-5.2C9.8 18.2 8.4 19 6.8 19c-2.3 0-4.3-1.7-4.3-4.4C2.5 10 8 7 12 2z"],
  rose: ["M12 1.5a4.6 4.6 0 0 1 4.5 3.7 4.6 4.6 0 0 1 4.9 6.3 4.6 4.6 0 0 1-1.7 7.6 4.6 4.6 0 0 1-7.7 2.4 4.6 4.6 0 0 1-7.7-2.4 4.6 4.6 0 0 1-1.7-7.6 4.6 4.6 0 0 1 4.9-6.3A4.6 4.6 0 0 1 12 1.5z", ["M12 8.2a4 4 0 1 1 0 8 4 4 0 0 1 0-8z", "#f6c945"]],
  bell: ["M12 3.5a9 9 0 0 1 9 9 9 9 0 0 1-18 0 9 9 0 0 1 9-9zM10.5 1h3v3h-3z", ["M3.3 11h17.4v2.2H3.3zM11 13.5h2V20h-2z", "#fffdf7"]],
  shield: ["M3.5 2.5h17V11c0 6-4.2 9-8.5 11-4.3-2-8.5-5-8.5-11z", ["M10.7 5h2.6v4h4v2.6h-4V18h-2.6v-6.4h-4V9h4z", "#fffdf7"]],
  acorn: ["M5.5 10.5h13c0 5.5-3 9.5-6.5 11.5-3.5-2-6.5-6-6.5-11.5z", ["M4 9.5C4 6 7.5 4 10.8 3.8V1.5h2.4v2.3C16.5 4 20 6 20 9.5z", "#6b4a1f"]],
  eye: ["M12 5C6 5 2.5 9.5 1.5 12c1 2.5 4.5 7 10.5 7s9.5-4.5 10.5-7C21.5 9.5 18 5 12 5zm0 11.2a4.2 4.2 0 1 1 0-8.4 4.2 4.2 0 0 1 0 8.4zm0-2.4a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z"],
  lens: ["M10 2.5a7.5 7.5 0 1 0 4.5 13.5l5.2 5.2 2-2-5.2-5.2A7.5 7.5 0 0 0 10 2.5zm0 2.8a4.7 4.7 0 1 1 0 9.4 4.7 4.7 0 0 1 0-9.4z"],
  swap: ["M7 3 2 8l5 5V9.5h11v-3H7zM17 11v3.5H6v3h11V21l5-5z"],
  bolt: ["M13.5 1.5 4 13.5h6l-1.5 9L20 9.5h-6.5z"],
  crown: ["M2.5 6.5 7 11l5-7.5 5 7.5 4.5-4.5-2 11.5h-15zM4.5 19.5h15v2h-15z"],
  star: ["m12 2 3 6.6 7.2.8-5.4 4.8 1.6 7L12 17.6l-6.4 3.6 1.6-7L1.8 9.4 9 8.6z"],
  down: ["M4 8h16l-8 9z"],
  up: ["M4 16h16L12 7z"],
};

export function drawing(name, className = "") {
  return s("svg", { viewBox: "0 0 24 24", class: `drawing ${className}`, "aria-hidden": "true" },
    ...DRAWINGS[name].map((path) => (typeof path === "string" ? s("path", { d: path }) : s("path", { d: path[0], fill: path[1] }))));
}

// The faces of the levels of opponents, from the weakest: a colour, and the lines of the eyes and the mouth.
const FACES = [
  ["#a8d8b0", "M8 9v2M16 9v2M10.5 16a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0"],
  ["#9fcdee", "M8 9v2M16 9v2M8 14.5q4 4 8 0"],
  ["#f3cf85", "M8 9v2M16 9v2M8.5 16h7"],
  ["#efb08a", "M4.5 10a3 3 0 1 0 6 0a3 3 0 1 0-6 0M13.5 10a3 3 0 1 0 6 0a3 3 0 1 0-6 0M10.5 10h3M9 17q3 1 6 0"],
  ["#dfa3c6", "M6 7.5l4 2M18 7.5l-4 2M8 11v.5M16 11v.5M8.5 16q3.5 2.5 7 0"],
  ["#ffd65c", "M6 7.5V3.5l3 2.5 3-3.5 3 3.5 3-2.5v4zM8.5 11v1.5M15.5 11v1.5M8.5 16q3.5 3 7 0"],
];
// The face of a level, or nothing for any other agent.
export const face = (level) => (!FACES[level] ? "" : s("svg", { viewBox: "0 0 24 24", class: "face", "aria-hidden": "true" },
  s("circle", { cx: 12, cy: 12, r: 11, fill: FACES[level][0] }), s("path", { d: FACES[level][1] })));

// For each suit: its drawing, its name, its colour and its character.
const SUITS = {
  __proto__: null,
  h: ["heart", "hearts", "red", "♥\uFE0E"], d: ["diamond", "diamonds", "red", "♦\uFE0E"],
  c: ["club", "clubs", "black", "♣\uFE0E"], s: ["spade", "spades", "black", "♠\uFE0E"],
  R: ["rose", "Rosen", "red"], S: ["bell", "Schellen", "ochre"], C: ["shield", "Schilten", "blue"], E: ["acorn", "Eicheln", "green"],
};
// The drawing of a card without a suit, by rank.
const EMBLEMS = { __proto__: null, look: "eye", spy: "lens", swap: "swap", energy: "bolt", king: "crown", JK: "star" };
const FRENCH = { A: "Ace", J: "Jack", Q: "Queen", K: "King" };
const SWISS = { A: "Ass", U: "Under", O: "Ober", K: "König", F: "Fässler" };

const isFrench = (kind) => Boolean(SUITS[kind.suit]?.[3]);
const isSwiss = (kind) => Boolean(SUITS[kind.suit]) && !isFrench(kind);
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// The rank in a sentence, with a capital letter: "9", "Jack", "Under", "Joker", "Swap".
export function rankName(kind) {
  if (isFrench(kind)) return FRENCH[kind.rank] ?? kind.rank;
  return isSwiss(kind) ? SWISS[kind.rank] ?? kind.rank : kind.rank === "JK" ? "Joker" : /^[a-z]+$/.test(kind.rank) ? capital(kind.rank) : kind.rank;
}

// The short name of a card in a sentence: "9♥", "Rosen Under", "Joker", "red King".
export function cardName(kind) {
  if (isFrench(kind)) return kind.rank + SUITS[kind.suit][3];
  if (isSwiss(kind)) return `${SUITS[kind.suit][1]} ${rankName(kind)}`;
  return kind.rank === "king" && kind.suit ? `${kind.suit} King` : kind.rank === "JK" || kind.rank === kind.label ? rankName(kind) : kind.label;
}

// The letter of a person's seat, from the field of a record; null if the match has no such seat.
export const seatOf = ({ agents }, person) => [...LETTERS.slice(0, agents.length)].find((letter) => letter === person?.seat) ?? null;

// The name of a card in words.
export const cardInWords = (kind) => (isFrench(kind) ? `${rankName(kind)} of ${SUITS[kind.suit][1]}` : cardName(kind));

// A card in words, for screen readers.
export function spoken(kind) {
  return `${cardInWords(kind)}, ${kind.points} ${Math.abs(kind.points) === 1 ? "point" : "points"}${kind.power ? `, power: ${kind.power}` : ""}`;
}

// Replaces the labels of cards in a text by names: "9h" by "9♥". Plain numbers stay, because they may be points.
export function withNames(text, kinds) {
  const names = new Map();
  for (const kind of kinds) {
    if (/^\d+$/.test(kind.label)) continue;
    names.set(kind.label.length > 2 && /^[a-z]+$/i.test(kind.label) ? `[${kind.label}]` : kind.label, cardName(kind));
  }
  const labels = [...names.keys()].sort((one, other) => other.length - one.length).map((label) => label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return labels.length ? text.replace(new RegExp(`(?<![\\w[])(?:${labels.join("|")})(?![\\w\\]])`, "g"), (label) => names.get(label)) : text;
}

// A power in two or three words, and its drawings.
function powerSigns(power) {
  const peeks = [...power.matchAll(/peek|another/g)].length;
  const isOwn = power.startsWith("peek at one of your");
  const isOther = power.startsWith("peek at an opponent");
  if (power.startsWith("turn up")) return ["reveal", ["eye", "up"]];
  if (power.startsWith("twice")) return ["2× peek/swap", ["eye", "swap", "swap"]];
  if (isOwn || isOther) return [isOwn ? "peek own" : "peek other", ["eye", isOwn ? "down" : "up"]];
  if (!power.includes("swap")) return ["peek", ["eye"]];
  return [["swap", "peek, swap", "2 peeks, swap"][peeks] ?? "power", [...Array(Math.min(peeks, 2)).fill("eye"), "swap"]];
}

const text = (className, content) => h("i", { class: className, "data-text": content });
export const minus = (number) => String(number).replace("-", "−");

// The face of a card: rank and suit in the corner, points if they differ from the rank, and the power.
export function front(kind) {
  const [suit, , colour] = SUITS[kind.suit] ?? [null, "", kind.suit === "blue" ? "blue" : kind.suit === "red" ? "red" : kind.rank === "JK" ? "violet" : "black"];
  const emblem = suit ?? EMBLEMS[kind.rank];
  const rank = emblem && !suit ? "" : kind.rank;
  const isCourt = isFrench(kind) && /^[JQK]$/.test(kind.rank);
  const isNumber = String(kind.points) === kind.rank;
  const [words, signs] = kind.power ? powerSigns(kind.power) : ["", []];
  const name = isSwiss(kind) ? SWISS[kind.rank] ?? "" : emblem && !suit ? rankName(kind) : "";
  return h("span", { class: `front ${colour}${isCourt ? " court" : ""}${kind.power ? " powerful" : ""}`, "aria-hidden": "true" },
    h("span", { class: "corner" }, rank ? text("rank", rank) : null, suit ? drawing(suit) : null),
    isNumber ? null : text(kind.points < 0 ? "points low" : "points", minus(kind.points)),
    h("span", { class: "centre" }, isCourt ? drawing("crown", "crowned") : null, emblem ? drawing(emblem, "emblem") : text("emblem", kind.rank), name ? text("name", name) : null),
    kind.power ? h("span", { class: "power" }, ...signs.map((sign) => drawing(sign)), text(words.length > 10 ? "words long" : "words", words)) : null);
}

export const back = () => h("span", { class: "back", "aria-hidden": "true" });

// A card that is only a picture, with its name for screen readers.
export const picture = (kind) => h("span", { class: "card up", role: "img", "aria-label": spoken(kind), title: spoken(kind) }, front(kind));

// An agent's value of a choice, in its unit.
export const inUnit = (unit, value) => (unit.includes("chance") ? `${(100 * value).toFixed(1)} %` : value.toFixed(3)).replace("-", "−");

// A number of things: "1 card", "2 cards".
export const counted = (number, thing) => `${String(number).replace("-", "−")} ${thing}${Math.abs(number) === 1 ? "" : "s"}`;
// A list in a sentence: "a, b and c".
export const listed = (words) => words.join(", ").replace(/, ([^,]*)$/, " and $1");
