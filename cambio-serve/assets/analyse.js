// The page that advises: a table that the reader sets up, and the value of each decision in it.
import { back, capital, front, spoken, withNames } from "./cards.js";
import { h, LETTERS, listed, remembered, RULES, rulesName } from "./common.js";
import { number } from "./parts.js";
import { grouped } from "./published.js";
import { ask } from "./transport.js";

const main = document.getElementById("main");
// The moments of a turn in the words of a player, and their fields.
const MOMENTS = {
  start: ["My turn begins", {}],
  held: ["I have drawn a card", { phase: "held" }],
  close: ["My turn ends", { phase: "close" }],
  window: ["A card was put down: snap or pass?", { phase: "window" }],
  power: ["I may use a power", { phase: "power" }],
};
const UNKNOWN = { face: "?", seen: "" };

// The position that is shown: rules, kinds of cards, seat of the reader, the cards by seat and slot (null for an empty slot), and the
// other fields of its text.
let shown = null;
// The last request that changes the position. Asking for advice waits for it.
let reading = null;

// Sets up the start of a round under these rules: a preset, a rule file, or the rules of a position. The reader knows no card yet.
async function begin(rules, seats) {
  take(await ask("api/position", { rules, seats }));
  const own = LETTERS.indexOf(shown.seat);
  shown.layouts[own] = shown.layouts[own].map(() => ({ ...UNKNOWN }));
  Object.assign(shown, { moment: "start", turn: 1, held: null, pile: [], others: {} });
}

// Reads the answer of `api/position`.
function take({ position, rules, fields, kinds, seat, slots, max_seats: mostSeats }) {
  const others = Object.fromEntries(fields.filter(([name]) => name.length > 1));
  const card = (text) => (text === "-" ? null : { face: text.split("/")[0], seen: text.includes("/") ? text.split("/")[1] : text === "?" ? "" : seat });
  const layouts = fields.filter(([name]) => name.length === 1).map(([, text]) => (text === "-" ? [] : text.split(",").map(card)));
  const pile = others.pile ? others.pile.split(",").flatMap((one) => Array(Number(one.split("*")[1] ?? 1)).fill(one.split("*")[0])) : [];
  const moment = MOMENTS[others.phase ?? "start"] ? others.phase ?? "start" : "";
  shown = { rules, kinds, slots, mostSeats, seat, layouts, moment, turn: Number(others.turns ?? 1), held: others.held ?? null, pile, caller: others.calls ?? "", others };
  // The page has no words for some moments: it keeps their fields.
  const sorted = (line) => line.split(" ").sort().join(" ");
  if (sorted(text()) !== sorted(position)) shown.moment = "";
}

// The text of the position.
function text() {
  const { rules, seat, layouts, moment, turn, held, pile, caller, others } = shown;
  const seats = layouts.length;
  const written = (card) => (card ? `${card.face}${card.seen === (card.face === "?" ? "" : seat) ? "" : `/${card.seen}`}` : "-");
  const at = LETTERS.indexOf(seat);
  // In a window, the player before the reader has put the card down.
  const turnOf = moment === "window" ? (at + seats - 1) % seats : at;
  const start = (((turnOf - turn + 1) % seats) + seats) % seats;
  // A moment that the page has no words for keeps its fields.
  const fields = moment ? {
    turns: turn > 1 ? turn : null, start: start ? LETTERS[start] : null, ...(moment === "window" ? { act: seat } : {}),
    ...MOMENTS[moment][1], held: moment === "held" ? held : null,
    ...Object.fromEntries(Object.entries(others).filter(([name]) => ["reshuffles", "round", "totals", "safe", "cards", "peeks"].includes(name))),
  } : Object.fromEntries(Object.entries(others).filter(([name]) => name !== "pile" && name !== "calls"));
  const all = { ...fields, pile: pile.join(","), calls: caller };
  const line = layouts.map((cards, index) => `${LETTERS[index]}=${cards.map(written).join(",") || "-"}`);
  return [rules, ...line, ...Object.entries(all).filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => `${name}=${value}`)].join(" ");
}

const kindOf = (label) => shown.kinds.find((kind) => kind.label === label);
const nameOf = (letter) => (letter === shown.seat ? "you" : `player ${letter}`);
const cardFace = (label) => (label && label !== "?" && kindOf(label) ? front(kindOf(label)) : back());

// A card that opens its editor.
function cardButton(id, label, name, seen, onclick) {
  const kind = kindOf(label);
  const about = `${name}: ${kind ? spoken(kind) : "unknown"}${seen ? `; ${seen}` : ""}`;
  return h("button", { type: "button", id, class: "card up", "aria-label": about, title: about, onclick }, cardFace(label));
}

// A dialog with all kinds of cards, of which one is in the order of Tab: the arrow keys go to the others. `more` are further buttons
// or options.
function pick(title, chosen, done, ...more) {
  const from = document.activeElement?.id;
  const first = Math.max(shown.kinds.findIndex(({ label }) => label === chosen), 0);
  const move = (event) => {
    const { currentTarget: box, target, key, altKey, ctrlKey, metaKey } = event;
    const row = getComputedStyle(box).gridTemplateColumns.split(" ").length;
    const step = { ArrowRight: 1, ArrowDown: row, ArrowLeft: -1, ArrowUp: -row }[key];
    const next = box.children[[...box.children].indexOf(target) + step];
    if (!next || altKey || ctrlKey || metaKey) return;
    event.preventDefault();
    [target.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
  };
  const dialog = h("dialog", { class: "confirm picker", "aria-label": title, onclose: () => { dialog.remove(); document.getElementById(from)?.focus(); } },
    h("h2", {}, title), ...more,
    h("div", { class: "kinds", role: "group", "aria-label": "Faces; the arrow keys go through them", onkeydown: move }, ...shown.kinds.map((kind, index) => h("button", { type: "button", class: "card up", tabindex: index === first ? 0 : -1, "aria-label": spoken(kind), title: spoken(kind), "aria-pressed": String(kind.label === chosen),
      onclick: () => { dialog.close(); done(kind.label); } }, front(kind)))),
    h("p", { class: "row" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
  document.body.append(dialog);
  dialog.showModal();
}

function edit(seat, slot) {
  const cards = shown.layouts[seat];
  const card = cards[slot] ?? UNKNOWN;
  const boxes = [...LETTERS.slice(0, shown.layouts.length)].filter((letter) => letter !== shown.seat).map((letter) => h("label", { class: "check" },
    h("input", { type: "checkbox", value: letter, checked: card.seen.includes(letter) }), h("span", {}, `${capital(nameOf(letter))} has seen it`)));
  const set = (face) => {
    const others = boxes.map((box) => box.querySelector("input")).filter((box) => box.checked).map((box) => box.value);
    cards[slot] = { face, seen: [...others, ...(face === "?" ? [] : [shown.seat])].sort().join("") };
    draw();
  };
  const button = (words, onclick) => h("button", { type: "button", onclick: (event) => { event.target.closest("dialog").close(); onclick(); } }, words);
  pick(`Card ${slot + 1} of ${nameOf(LETTERS[seat])}`, card.face, set, ...boxes,
    h("p", { class: "row" }, button("Keep it as it is", () => set(card.face)), button("I do not know it", () => set("?")), button("No card here", () => { cards[slot] = null; while (cards.length && !cards.at(-1)) cards.pop(); draw(); })));
}

// Screen readers announce the answer, and not its table.
const answer = h("div", { "aria-live": "polite" });
const details = h("div");
const result = h("section", { class: "advice" }, answer, details);
function show(said, ...more) {
  answer.replaceChildren(...said);
  details.replaceChildren(...more);
}
const line = h("input", { type: "text", spellcheck: "false", autocomplete: "off", "aria-label": "The position as text", onchange: () => { reading = open(line.value.trim()); } });

function choose(label, values, chosen, onchange) {
  return h("label", { class: "field" }, h("span", {}, label), h("select", { id: label, onchange: ({ target }) => {
    reading = Promise.resolve(reading).then(() => onchange(target.value)).then(draw, (error) => { draw(); trouble(error); });
  } },
    ...values.map(([value, words]) => h("option", { value, selected: value === chosen }, words))));
}

function layout(cards, seat) {
  const letter = LETTERS[seat];
  const seen = ({ seen, face }) => {
    const others = [...seen].filter((one) => one !== shown.seat);
    return others.length ? `seen by ${listed(others)}` : face === "?" || letter === shown.seat ? "" : "seen by you";
  };
  const last = (index) => (cards[index] ? seen(cards[index]) : "");
  return h("div", { class: "layout" }, h("h2", {}, capital(nameOf(letter)), letter === shown.seat ? " – the cards that you know" : ""),
    h("ol", {}, ...cards.map((card, slot) => h("li", {}, card ? cardButton(`${letter}${slot + 1}`, card.face, `Card ${slot + 1} of ${nameOf(letter)}`, last(slot), () => edit(seat, slot)) : h("button", { type: "button", id: `${letter}${slot + 1}`, class: "card", "aria-label": `Slot ${slot + 1} of ${nameOf(letter)}: no card`, onclick: () => edit(seat, slot) }), h("small", {}, last(slot)))),
      cards.length < shown.slots ? h("li", {}, h("button", { type: "button", id: `${letter}0`, class: "more", "aria-label": `Add a card to ${nameOf(letter)}`, onclick: () => { cards.push({ ...UNKNOWN }); draw(); } }, "+")) : null));
}

function draw() {
  // The new elements have the names of the old ones, so that the keyboard stays where it was.
  const focused = document.activeElement?.id;
  redraw();
  if (focused) document.getElementById(focused)?.focus();
}

function redraw() {
  const { layouts, moment, held, pile, caller, turn, seat } = shown;
  const own = remembered("wish").file;
  line.value = text();
  show([]);
  const rules = [...Object.keys(RULES).map((name) => [name, rulesName(name)]), ...(own ? [[own, "my own rule file"]] : []),
    ...(RULES[shown.rules] ? [] : [[shown.rules, shown.rules.startsWith("{") ? JSON.parse(shown.rules).name ?? "house rules" : shown.rules]])];
  const others = [...LETTERS.slice(0, layouts.length)].filter((letter) => letter !== seat);
  const moments = [...Object.entries(MOMENTS).map(([name, [words]]) => [name, words]), ...(moment ? [] : [["", `As in the text${shown.others.phase ? `: ${shown.others.phase}` : ""}`]])];
  const order = [seat, ...others];
  const remove = (index) => () => { pile.splice(index, 1); draw(); };
  const add = (index) => (label) => { pile.splice(index, 0, label); draw(); };
  main.replaceChildren(h("h1", {}, "What should I do?"),
    h("p", { class: "facts" }, "Set up what you see at your table: tap a card to choose its face and the players who have seen it. Then ask."),
    h("form", { class: "analyse", onsubmit: (event) => { event.preventDefault(); Promise.resolve(reading).then(advise); } },
      h("div", { class: "columns" },
        choose("Rules", rules, shown.rules, (name) => begin(name, layouts.length)),
        choose("Players", Array.from({ length: shown.mostSeats - 1 }, (_, index) => [String(index + 2), String(index + 2)]), String(layouts.length), (seats) => begin(shown.rules, Number(seats)))),
      h("div", { class: "felt" }, ...order.map((letter) => layout(layouts[LETTERS.indexOf(letter)], LETTERS.indexOf(letter))),
        h("div", { class: "layout" }, h("h2", {}, moment === "held" ? "Your hand, and the pile" : "The pile: its top, and cards that are out"),
          h("ol", {}, ...(moment === "held" ? [h("li", {}, cardButton("held", held ?? "?", "The card in your hand", "", () => pick("The card in your hand", held, (label) => { shown.held = label; draw(); })), h("small", {}, "in your hand"))] : []),
            ...pile.map((label, index) => h("li", {}, cardButton(`pile${index}`, label, index ? "A card on the pile" : "The top of the pile", "tap to remove", remove(index)), h("small", {}, index ? "" : "top"))),
            h("li", {}, h("button", { type: "button", id: "pile", class: "more", "aria-label": pile.length ? "Add a card to the pile" : "Set the top of the pile", onclick: () => pick(pile.length ? "A card on the pile" : "The top of the pile", null, add(pile.length)) }, "+"))))),
      h("div", { class: "columns" },
        choose("Now", moments, moment, (value) => { shown.moment = value; }),
        h("label", { class: "field" }, h("span", {}, "Turn of the round"), h("input", { type: "number", id: "turn", min: 1, max: 10000, value: turn, onchange: ({ target }) => { shown.turn = Math.max(1, Number(target.value) || 1); draw(); } })),
        choose("Who has called?", [["", "No player"], ...others.map((letter) => [letter, capital(nameOf(letter))]), ...(caller.length > 1 || caller === seat ? [[caller, listed([...caller].map(nameOf))]] : [])], caller, (value) => { shown.caller = value; })),
      h("p", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Ask"), h("button", { type: "button", onclick: copyLink }, "Copy the link")),
      result,
      h("label", { class: "field" }, h("span", {}, "The position as text"), line)));
}

async function copyLink(event) {
  const link = new URL(location.href);
  link.hash = `position=${encodeURIComponent(text())}`;
  history.replaceState(null, "", link);
  event.target.textContent = await navigator.clipboard.writeText(link.href).then(() => "Link copied", () => "The link is in the address bar");
}

const trouble = (error) => show([h("p", { class: "trouble", role: "alert" }, withNames(capital(error.message), shown.kinds))]);

async function advise() {
  // A text that is not a position stays, with its error.
  if (line.value.trim() !== text()) return undefined;
  const button = main.querySelector("[type=submit]");
  if (shown.moment === "held" && !shown.held) return trouble({ message: "choose the card in your hand first" });
  const position = text();
  history.replaceState(null, "", `#position=${encodeURIComponent(position)}`);
  button.disabled = true;
  button.textContent = "Playing it out…";
  try {
    const advice = await ask("api/advise", { position });
    if (position === text()) tell(advice);
  } catch (error) {
    trouble(error);
  }
  button.disabled = false;
  if (document.activeElement === document.body) button.focus();
  button.textContent = "Ask";
}

// A spot in words: "card 2", "card 3 of player b".
const spotName = (spot) => `card ${spot.slice(1)}${spot[0] === shown.seat ? "" : ` of ${nameOf(spot[0])}`}`;
const VERBS = { keep: "replace", drop: "discard it", take: "take the top of the pile", end: "end the turn without a call", look: "look at", give: "give", peek: "look at", show: "turn up" };
// A decision in the words of a player: "replace card 1", "swap card 1 with card 3 of player b".
function words(action) {
  const [verb, ...spots] = action.split(" ");
  return [VERBS[verb] ?? verb, spots.map(spotName).join(" with ")].filter(Boolean).join(" ");
}
// The sentence of the advice, in the words of a player.
function reason(sentence) {
  const forms = { calls: "call", snaps: "snap", gets: "get", has: "have" };
  return sentence.replace(/`([^`]*)`/g, (_, action) => `“${words(action)}”`)
    .replace(/\b([a-h]) (calls|snaps|gets|has)\b/g, (_, letter, verb) => (letter === shown.seat ? `you ${forms[verb]}` : `${nameOf(letter)} ${verb}`))
    .replace(/\b([a-h])'s\b/g, (_, letter) => (letter === shown.seat ? "your" : `${nameOf(letter)}'s`));
}

// A bar of a share of the width.
function gauge(share) {
  const bar = h("span");
  bar.style.width = `${100 * share}%`;
  return h("span", { class: "gauge", "aria-hidden": "true" }, bar);
}

// The advice: the best decision in a sentence, and a row for each decision with its chance.
function tell({ decisions, lowest_now: lowest, of_match: ofMatch, unmeasured, worlds }) {
  const [best, ...rest] = decisions;
  const percent = (value) => number(100 * value);
  const order = [shown.seat, ...LETTERS.slice(0, shown.layouts.length).replace(shown.seat, "")];
  const equals = rest.filter((one) => one.may_be_best);
  const most = Math.max(...decisions.map(({ chance }) => chance.mean));
  const row = (one) => h("tr", { class: one.may_be_best ? "mine" : "" }, h("th", { scope: "row" }, words(one.action)),
    h("td", {}, gauge(one.chance.mean / Math.max(most, 0.01)), `${percent(one.chance.mean)} %`, h("small", {}, ` ± ${percent(one.chance.half)}`)),
    h("td", {}, one.cost ? `${percent(one.cost.mean)} ± ${percent(one.cost.half)}` : "best"), h("td", {}, order.map((letter) => number(one.points[LETTERS.indexOf(letter)])).join(" · ")));
  const asked = rest.find((one) => one.reason);
  show([h("h2", {}, `${capital(words(best.action))}${equals.length ? `, or as good: ${listed(equals.map(({ action }) => words(action)))}` : ""}`),
    h("p", {}, asked ? `${reason(asked.reason)} ` : "", `You have the fewest points now, or as few as another player, in ${number(100 * lowest, 0)} of 100 cases.`)],
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Decisions" }, h("table", { class: "list" },
      h("thead", {}, h("tr", {}, ...["Decision", `You win the ${ofMatch ? "match" : "round"}`, "Cost, wins in 100", `Points at the end: ${order.map(nameOf).join(" · ")}`].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...decisions.map(row)))),
    h("p", { class: "facts" }, `${grouped(worlds)} worlds that fit what you know, played out with the Strong player in all seats. All intervals hold together at 95 %.${unmeasured ? ` ${unmeasured} more decisions were not tried, or fell behind early.` : ""}`));
}

// Shows the position of a text.
async function open(position) {
  try {
    take(await ask("api/position", { position }));
    draw();
  } catch (error) {
    if (!shown) await begin("classic", 2);
    if (!result.isConnected) draw();
    line.value = position;
    trouble(error);
  }
}

const linked = () => new URLSearchParams(location.hash.slice(1)).get("position");
addEventListener("hashchange", () => { if (linked() && linked() !== text()) open(linked()); });
if (linked()) await open(linked());
else await begin("classic", 2).then(draw);
