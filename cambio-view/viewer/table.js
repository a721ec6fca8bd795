// Draws a table: seats with their cards, stock, pile and the held card. This module shows scenes and offers choices; it contains no rules.

// The glyph, the name and the colour of each suit. The suffix \uFE0E selects the text form of a glyph instead of the emoji.
const GLYPHS = {
  h: ["♥\uFE0E", "hearts", "red"], d: ["♦\uFE0E", "diamonds", "red"],
  c: ["♣\uFE0E", "clubs", "black"], s: ["♠\uFE0E", "spades", "black"],
  R: ["✿\uFE0E", "Rosen", "red"], S: ["◉", "Schellen", "ochre"],
  C: ["▼", "Schilten", "blue"], E: ["♣\uFE0E", "Eicheln", "green"],
};

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

// The sign in the middle of a card whose suit has no glyph, by rank.
const SIGNS = { look: "◎", spy: "◉", swap: "⇄", energy: "↯", king: "♚\uFE0E", JK: "★" };
const COLOURS = { red: "red", blue: "blue" };

export const LETTERS = "abcdefgh";
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The suit of a kind: its glyph, its name and its colour.
function suit(kind) {
  return GLYPHS[kind.suit] ?? [SIGNS[kind.rank] ?? "", kind.suit, COLOURS[kind.suit] ?? ""];
}

// A decision in the players' words; `action_in_words` in `words.rs` does the same.
const VERBS = { drop: "discard", look: "peek at", peek: "peek at", show: "turn up", take: "take the open card", end: "end the turn" };
export const inWords = (action) => action.replace(/^\w+/, (verb) => VERBS[verb] ?? verb);

// A card in words, for screen readers.
export function spoken(kind) {
  const [, name] = suit(kind);
  const power = kind.power ? `, power: ${kind.power}` : "";
  const of = GLYPHS[kind.suit] ? `${kind.rank} of ${name}` : name ? `${name} ${kind.rank}` : kind.label;
  return `${of}, ${kind.points} ${Math.abs(kind.points) === 1 ? "point" : "points"}${power}`;
}

export function front(kind) {
  const [glyph, , colour] = suit(kind);
  const rank = GLYPHS[kind.suit] ? kind.rank : kind.label;
  return h("span", { class: `front ${colour}`, "aria-hidden": "true" },
    h("span", { class: rank.length > 3 ? "rank long" : "rank" }, rank),
    h("span", { class: "suit" }, glyph || kind.label),
    h("span", { class: "points" }, String(kind.points).replace("-", "−")));
}

export class Board {
  // `me` is the letter of the seat at the bottom; `names` are the players, seat a first.
  constructor(root, { kinds, names, me = "a" }) {
    Object.assign(this, { root, kinds, names, me, spots: new Map(), seats: new Map(), chosen: () => {} });
    this.others = h("div", { class: "others" });
    this.own = h("div", { class: "own" });
    this.stock = this.place("stock", "Stock");
    this.pile = this.place("pile", "Pile");
    this.hand = this.place("hand", "Held");
    this.middle = h("div", { class: "middle" }, this.stock.box, this.pile.box, this.hand.box);
    root.replaceChildren(this.others, this.middle, this.own);
    root.classList.add("board");
    this.seat(me);
  }

  // Moves another seat to the bottom.
  seat(me) {
    this.me = me;
    this.seats.clear();
    this.spots.clear();
    this.own.replaceChildren();
    const count = this.names.length;
    const from = LETTERS.indexOf(me);
    const boxes = [];
    for (let step = 0; step < count; step++) {
      const letter = LETTERS[(from + step) % count];
      const head = h("header");
      const cards = h("div", { class: "cards" });
      const box = h("section", { class: "seat", "data-seat": letter }, head, cards);
      this.seats.set(letter, { box, head, cards });
      boxes.push(box);
    }
    this.own.append(boxes[0]);
    this.others.replaceChildren(...boxes.slice(1));
    this.root.dataset.seats = count;
  }

  place(name, title) {
    const card = this.card(name);
    const note = h("span", { class: "note" });
    return { card, note, box: h("div", { class: `place ${name}` }, h("span", { class: "title" }, title), card, note) };
  }

  card(name) {
    const card = h("button", { type: "button", class: "card", "data-place": name, tabindex: "-1", "aria-disabled": "true" });
    card.addEventListener("click", () => {
      if (card.getAttribute("aria-disabled") === "false") this.chosen(name);
    });
    return card;
  }

  // Shows a face, or the back if `kind` is null.
  face(card, kind, label) {
    const shown = kind === null || kind === undefined ? null : this.kinds[kind];
    card.replaceChildren(shown ? front(shown) : h("span", { class: "back", "aria-hidden": "true" }));
    card.classList.toggle("up", Boolean(shown));
    card.dataset.label = label + (shown ? `: ${spoken(shown)}` : "");
    card.setAttribute("aria-label", card.dataset.label);
  }

  // Shows a scene. `sees` returns whether to show the face of a card in a layout, `seesHeld` whether to show the face of the held card.
  render(scene, { sees = () => true, seesHeld = () => true } = {}) {
    this.scene = scene;
    this.root.dataset.phase = scene.phase;
    scene.layouts.forEach((layout, index) => this.layout(LETTERS[index], layout, scene, sees));
    this.face(this.stock.card, null, `Stock of ${scene.stock}`);
    this.stock.card.classList.toggle("empty", scene.stock === 0);
    this.stock.note.textContent = scene.stock;
    this.face(this.pile.card, scene.top, scene.top === null ? "Empty pile" : `Pile of ${scene.pile}`);
    this.pile.card.classList.toggle("empty", scene.top === null);
    this.pile.note.textContent = scene.pile;
    const held = scene.held;
    this.hand.box.classList.toggle("idle", !held);
    this.hand.card.classList.toggle("empty", !held);
    this.face(this.hand.card, held && seesHeld(held) ? held.kind : null, held ? `Held by ${held.by}` : "No card is held");
    this.hand.note.textContent = held ? `by ${held.by}` : "";
  }

  layout(letter, layout, scene, sees) {
    const seat = this.seats.get(letter);
    const name = this.names[LETTERS.indexOf(letter)];
    const marks = [];
    if (scene.callers.includes(letter)) marks.push("called");
    if (scene.safe.includes(letter)) marks.push("safe");
    const isTurn = scene.turn === letter && scene.phase !== "over";
    seat.box.classList.toggle("turn", isTurn);
    seat.box.classList.toggle("asked", scene.asked === letter);
    seat.head.replaceChildren(...[
      h("b", { class: "letter" }, letter),
      h("span", { class: "name", title: name }, letter === this.me && name === "person" ? "you" : name),
      ...marks.map((mark) => h("span", { class: `mark ${mark}` }, mark)),
      isTurn ? h("span", { class: "mark now" }, scene.asked === letter ? "decides" : "turn") : null,
      h("span", { class: "total", title: "total" }, scene.totals[LETTERS.indexOf(letter)] ?? ""),
    ].filter(Boolean));
    const here = new Set();
    let last = 4;
    for (const [slot, kind, seenBy] of layout) {
      const spot = letter + slot;
      here.add(spot);
      last = Math.max(last, slot);
      let card = this.spots.get(spot);
      if (!card) {
        card = this.card(spot);
        this.spots.set(spot, card);
        seat.cards.append(card);
      }
      const column = slot <= 4 ? 1 + ((slot - 1) % 2) : 3 + Math.floor((slot - 5) / 2);
      card.style.setProperty("grid-column", column);
      card.style.setProperty("grid-row", slot <= 4 ? 1 + Math.floor((slot - 1) / 2) : 1 + ((slot - 5) % 2));
      const isShown = kind !== null && sees({ letter, slot, seenBy });
      this.face(card, isShown ? kind : null, spot);
      card.append(h("span", { class: "spot", "aria-hidden": "true" }, spot));
      // The seat at the bottom is not listed on a visible face, which already shows that this seat has seen the card.
      const watchers = [...seenBy].filter((one) => !(isShown && one === this.me));
      if (watchers.length) card.append(h("span", { class: "seen", "aria-hidden": "true", title: `seen by ${watchers.join(", ")}` }, watchers.join("")));
    }
    for (const [spot, card] of this.spots) {
      if (spot[0] === letter && !here.has(spot)) {
        card.remove();
        this.spots.delete(spot);
      }
    }
    seat.cards.classList.toggle("none", layout.length === 0);
  }

  // The element of a place: a spot, `stock`, `pile` or `hand`.
  at(place) {
    return this.spots.get(place) ?? { stock: this.stock, pile: this.pile, hand: this.hand }[place]?.card;
  }

  // The position of a place on the screen, even if no card lies there yet.
  whereabouts(place) {
    const element = this.at(place) ?? this.seats.get(place[0])?.cards;
    return element?.getBoundingClientRect();
  }

  // Animates the moves, all at the same time.
  async fly(moves, time) {
    if (isStill() || time <= 0 || document.hidden) return;
    const flights = moves.map(([from, to, kind]) => {
      const start = this.whereabouts(from);
      const end = this.whereabouts(to);
      if (!start || !end) return null;
      const ghost = h("span", { class: "card ghost", "aria-hidden": "true" });
      ghost.append(kind === null ? h("span", { class: "back" }) : front(this.kinds[kind]));
      ghost.classList.toggle("up", kind !== null);
      const size = this.stock.card.getBoundingClientRect();
      ghost.style.setProperty("width", `${size.width}px`);
      ghost.style.setProperty("height", `${size.height}px`);
      document.body.append(ghost);
      const centre = (box) => `translate(${box.left + box.width / 2 - size.width / 2}px, ${box.top + box.height / 2 - size.height / 2}px)`;
      const flight = ghost.animate([{ transform: centre(start) }, { transform: centre(end) }], { duration: time, easing: "ease-in-out" });
      return flight.finished.catch(() => {}).then(() => ghost.remove());
    });
    await Promise.all(flights);
  }

  // Shows faces for `time` milliseconds, then turns them face down unless the scene shows them.
  glimpse(glimpses, time) {
    for (const [spot, kind] of glimpses) {
      const card = this.spots.get(spot);
      if (!card) continue;
      card.classList.add("glimpse");
      const label = card.querySelector(".spot");
      const was = [...card.childNodes];
      const wasUp = card.classList.contains("up");
      this.face(card, kind, spot);
      if (label) card.append(label.cloneNode(true));
      setTimeout(() => {
        card.classList.remove("glimpse");
        if (!wasUp && this.spots.get(spot) === card && card.dataset.held !== "up") {
          card.replaceChildren(...was);
          card.classList.remove("up");
          card.dataset.label = spot;
          card.setAttribute("aria-label", spot);
        }
      }, time);
    }
  }

  // Makes places clickable. `verbs` maps each of them to the words before its name, such as `peek at`; `chosen` is called with the chosen place.
  offer(verbs, chosen, marked = []) {
    this.chosen = chosen;
    for (const card of this.root.querySelectorAll(".card")) {
      const place = card.dataset.place;
      const verb = verbs.get(place);
      card.setAttribute("aria-disabled", verb ? "false" : "true");
      card.tabIndex = verb ? 0 : -1;
      card.classList.toggle("offered", Boolean(verb));
      card.classList.toggle("marked", marked.includes(place));
      card.setAttribute("aria-label", verb ? `${verb} ${card.dataset.label}` : card.dataset.label);
    }
  }
}
