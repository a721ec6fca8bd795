// Draws a table: seats with their cards, stock, pile and the held card. This module shows scenes and offers choices; it contains no rules.
import { back, drawing, face, front, h, LETTERS, s, spoken } from "./cards.js";

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The numbers of opponents on the left, at the top and on the right of a wide table.
const SIDES = [[], [0, 1, 0], [0, 2, 0], [1, 1, 1], [1, 2, 1], [1, 3, 1], [2, 2, 2], [2, 3, 2]];
// From this width a table is wide, in pixels.
const WIDE = 640;
// The limits of the width of an opponent's card, in pixels.
const SMALLEST = 16;
const LARGEST = 84;
// The width of a card of the seat at the bottom: at least this factor of the width of an opponent's card, on a narrow and on a wide
// table, and if there is room up to this width in pixels.
const OWN = [1.15, 1.4];
const OWN_LARGEST = 124;
// The number of slots in a row of the seat at the bottom. On a narrow table that is higher than wide, up to eight slots can be in one row,
// whose cards may be smaller than the opponents' cards, so that penalty cards of the seat do not make all cards small.
const ROW = { usual: 8, narrow: 5, long: 8 };
// The most letters of seats that the tag of a card lists; otherwise it has their number, or “all”.
const LISTED = 2;

// The places between which the arrow of an action goes; an action with one card marks only this card.
function ends(action) {
  const [verb, one, other] = action.split(" ");
  const fixed = { draw: ["stock", "hand"], take: ["pile", "hand"], drop: ["hand", "pile"] }[verb];
  if (fixed) return fixed;
  if (!one) return [];
  return verb === "keep" ? ["hand", one] : verb === "snap" ? [one, "pile"] : verb === "swap" && other ? [one, other] : [one];
}

export class Board {
  // `people` has the name of each player, seat a first, and if there is one a title and a spec; `hand` is the number of dealt cards,
  // `me` the letter of the seat at the bottom, and `you` the letter of the person if the person plays. In a replay, the person's eye is
  // also below cards that are face up.
  constructor(root, { kinds, hand = 4, people, me = "a", you = null, isReplay = false }) {
    Object.assign(this, { root, kinds, hand, people, me, you, isReplay, spots: new Map(), tags: new Map(), seats: new Map(), ghosts: [], size: {}, chosen: () => {} });
    const side = (name) => h("div", { class: `others ${name}` });
    this.sides = ["left", "top", "right"].map(side);
    this.own = h("div", { class: "own" });
    this.stock = this.place("stock");
    this.pile = this.place("pile");
    this.held = this.place("hand");
    this.middle = h("div", { class: "middle" }, this.stock.box, this.pile.box, this.held.box);
    this.felt = h("div", { class: "felt" }, ...this.sides, this.middle, this.own);
    root.replaceChildren(this.felt);
    root.classList.add("board");
    this.seat(me);
    new ResizeObserver(() => { this.fit(); if (this.marked?.length) this.point(this.marked); }).observe(root);
  }

  // Moves another seat to the bottom.
  seat(me) {
    this.me = me;
    this.seats.clear();
    this.spots.clear();
    this.tags.clear();
    const count = this.people.length;
    for (let step = 0; step < count; step++) {
      const letter = LETTERS[(LETTERS.indexOf(me) + step) % count];
      const { name, title, spec, level } = this.people[LETTERS.indexOf(letter)];
      const marks = h("span", { class: "marks" });
      const total = h("span", { class: "total", title: "total points of the rounds before" });
      const head = h("header", {}, h("b", { class: `letter seat-${letter}`, "aria-hidden": "true" }, letter), face(level), h("span", { class: "name", title: spec ?? name }, name),
        title && title !== name ? h("span", { class: "title" }, title) : null, marks, total);
      const cards = h("div", { class: "cards" });
      const box = h("section", { class: "seat", "data-seat": letter }, head, cards);
      this.seats.set(letter, { box, marks, total, cards });
    }
    this.own.replaceChildren(this.seats.get(me).box);
    this.size = {};
    this.arrange();
  }

  // Places the opponents clockwise: around a wide table, in rows at the top of a narrow one.
  arrange() {
    const boxes = [...this.seats.values()].slice(1).map(({ box }) => box);
    const isWide = this.root.clientWidth >= WIDE;
    const [left, top] = isWide ? SIDES[boxes.length] : [0, boxes.length];
    this.sides[0].replaceChildren(...boxes.slice(0, left).reverse());
    this.sides[1].replaceChildren(...boxes.slice(left, left + top));
    this.sides[2].replaceChildren(...boxes.slice(left + top));
    this.isWide = isWide;
    this.root.classList.toggle("deep", left > 1);
  }

  // Finds the largest cards with which the table fits into its box. On a narrow table, they do not grow again during a round, and the seat
  // at the bottom has room for a penalty card, so that the cards rarely change their size. `isAnew` lets them grow.
  fit(isAnew = false) {
    const { root, size } = this;
    const { clientWidth, clientHeight } = root;
    if (!clientWidth || !clientHeight) return;
    if (this.isWide !== clientWidth >= WIDE) this.arrange();
    const round = [this.scene?.round, clientWidth].join();
    const table = [clientHeight, ...[...this.spots.keys()].sort()].join();
    const isSame = round === size.round && !isAnew;
    if (isSame && table === size.table) return;
    const isKept = isSame && !this.isWide;
    if (isKept) this.line(size);
    if (isKept && this.fits()) size.table = table;
    else this.size = { round, table, ...this.enlarge(isKept ? size : { width: LARGEST, own: OWN_LARGEST }) };
  }

  // Whether the table fits into its box.
  fits() {
    return [this.felt, this.sides[1], this.middle, this.own].every((box) => box.scrollHeight <= box.clientHeight + 1 && box.scrollWidth <= box.clientWidth + 1);
  }

  // Gives the cards the largest widths with which the table fits, up to those in `most`. Returns the widths, and how the cards lie.
  enlarge(most) {
    const set = (name, width) => this.root.style.setProperty(name, `${width}px`);
    // The largest width in pixels for which the table fits.
    const largest = (low, high, set) => {
      while (high - low > 0.5) {
        const width = (low + high) / 2;
        set(width);
        if (this.fits()) low = width;
        else high = width;
      }
      set(low);
      return low;
    };
    const isUpright = !this.isWide && this.root.clientWidth <= this.root.clientHeight;
    // On a narrow table, a place is reserved for the first penalty card of the seat at the bottom, if it lies in the first row.
    const spares = this.isWide || this.hand > ROW.narrow || this.spots.has(`${this.me}${this.hand + 1}`) ? [] : [this.spare()];
    const last = this.last(this.me, spares);
    const isLong = isUpright && last > ROW.narrow && last <= ROW.long;
    // Of the ways with the largest opponents' cards, and almost as large ones, the one with the largest own cards.
    const ways = (isUpright ? [ROW.narrow, ...(isLong ? [last] : [])] : [ROW.usual]).flatMap((columns) => [false, true].map((isRow) => {
      this.line({ isRow, columns }, spares);
      set("--u", SMALLEST);
      const limit = isLong && columns === last ? largest(SMALLEST, most.own, (own) => set("--v", own)) : most.own;
      const least = (width) => Math.min(OWN[Number(this.isWide)] * width, limit);
      const width = largest(SMALLEST, most.width, (width) => { set("--u", width); set("--v", least(width)); });
      return { isRow, columns, width, own: largest(least(width), most.own, (own) => set("--v", own)) };
    }));
    const least = 0.97 * Math.max(...ways.map(({ width }) => width));
    const best = ways.filter(({ width }) => width >= least).reduce((one, other) => (other.own > one.own ? other : one));
    this.line(best);
    set("--u", best.width);
    set("--v", best.own);
    spares.forEach(([, card]) => card.parentElement.remove());
    return best;
  }

  // Adds a card where the first penalty card of the seat at the bottom will lie. Returns its spot and the card.
  spare() {
    const card = h("span", { class: "card" });
    this.seats.get(this.me).cards.append(h("div", { class: "cell" }, card, h("span", { class: "tag" })));
    return [`${this.me}${this.hand + 1}`, card];
  }

  place(name) {
    const card = this.card(name);
    const note = h("span", { class: "note", "aria-hidden": "true" });
    return { card, note, box: h("div", { class: `place ${name}` }, card, note) };
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
    card.replaceChildren(shown ? front(shown) : back());
    card.classList.toggle("up", Boolean(shown));
    card.dataset.label = label + (shown ? `: ${spoken(shown)}` : "");
    card.setAttribute("aria-label", card.dataset.label);
  }

  // The name of a seat in a sentence.
  name(letter) {
    return letter === this.you ? "you" : this.people[LETTERS.indexOf(letter)].name;
  }

  // The name of a spot in a sentence: "your card 3", "card 3 of Ben".
  spot(spot) {
    return spot[0] === this.you ? `your card ${spot.slice(1)}` : `card ${spot.slice(1)} of ${this.name(spot[0])}`;
  }

  // Shows a scene. `sees` returns whether to show the face of a card in a layout, `seesHeld` whether to show the face of the held card.
  render(scene, { sees = () => true, seesHeld = () => true } = {}) {
    this.scene = scene;
    this.root.dataset.phase = scene.phase;
    this.root.querySelectorAll(".away, .moved, .eyed").forEach((card) => card.classList.remove("away", "moved", "eyed"));
    scene.layouts.forEach((layout, index) => this.layout(LETTERS[index], layout, scene, sees));
    this.face(this.stock.card, null, `stock, ${scene.stock} cards`);
    this.stock.card.classList.toggle("empty", scene.stock === 0);
    this.stock.note.textContent = `stock ${scene.stock}`;
    this.face(this.pile.card, scene.top, scene.pile === 0 ? "empty discard pile" : `discard pile, ${scene.pile} ${scene.pile === 1 ? "card" : "cards"}`);
    this.pile.card.classList.toggle("empty", scene.pile === 0);
    if (scene.pile && scene.top === null) this.pile.card.replaceChildren();
    this.pile.note.textContent = `pile ${scene.pile}`;
    this.hold(scene.held, seesHeld);
    this.ghosts.splice(0).forEach((ghost) => ghost.remove());
    this.fit();
  }

  // Shows the held card: in the middle for the seat at the bottom, otherwise on the cards of the seat that holds it.
  hold(held, seesHeld = () => true) {
    const { card, note, box } = this.held;
    const isOwn = !held || held.by === this.me;
    if (isOwn) box.prepend(card);
    else this.seats.get(held.by).box.append(card);
    box.classList.toggle("idle", !held || !isOwn);
    card.classList.toggle("empty", !held);
    card.classList.toggle("lifted", !isOwn);
    this.face(card, held && seesHeld(held) ? held.kind : null, held ? `${held.by === this.you ? "your drawn card" : `the card that ${this.name(held.by)} holds`}` : "no card is held");
    note.textContent = held?.by === this.you ? "you hold" : held ? "held" : "";
  }

  // The last slot of a seat, dealt or with a penalty card.
  last(letter, spares = []) {
    return Math.max(this.hand, ...[...this.spots, ...spares].filter(([spot]) => spot[0] === letter).map(([spot]) => Number(spot.slice(1))));
  }

  // Places the cards of all seats in the order of their slots: an opponent has one row or two, the seat at the bottom rows of `columns` slots.
  line({ isRow, columns }, spares = []) {
    const most = new Map([...this.seats.keys()].map((letter) => [letter, letter === this.me ? columns : isRow ? Infinity : Math.ceil(this.last(letter) / 2)]));
    for (const [spot, card] of [...this.spots, ...spares]) {
      const [slot, row] = [Number(spot.slice(1)) - 1, most.get(spot[0])];
      card.parentElement.style.setProperty("grid-row", 1 + Math.floor(slot / row));
      card.parentElement.style.setProperty("grid-column", 1 + (slot % row));
    }
  }

  layout(letter, layout, scene, sees) {
    const seat = this.seats.get(letter);
    const isTurn = scene.turn === letter && scene.phase !== "over";
    const hasCalled = scene.callers.includes(letter);
    seat.box.classList.toggle("turn", isTurn);
    seat.box.classList.toggle("called", hasCalled);
    const mark = (kind, words) => h("span", { class: `mark ${kind}` }, words);
    seat.marks.replaceChildren(...[hasCalled ? mark("called", "called") : null, scene.safe.includes(letter) ? mark("safe", "safe") : null,
      isTurn ? mark("now", "turn") : null].filter(Boolean));
    // The result of the first round shows its totals.
    seat.total.textContent = scene.round > 1 ? (scene.totals[LETTERS.indexOf(letter)] ?? "").replace("-", "−") : "";
    seat.box.setAttribute("aria-label", (letter === this.you ? "Your cards" : `Cards of ${this.name(letter)}`) + (seat.total.textContent && `, total ${seat.total.textContent}`));
    const here = new Set();
    for (const [slot, kind, seenBy] of layout) {
      const spot = letter + slot;
      here.add(spot);
      let card = this.spots.get(spot);
      if (!card) {
        card = this.card(spot);
        const tag = h("span", { class: "tag", "aria-hidden": "true" });
        this.spots.set(spot, card);
        this.tags.set(spot, tag);
        seat.cards.append(h("div", { class: "cell" }, card, tag));
      }
      const isShown = kind !== null && sees({ letter, slot, seenBy });
      // At a table, a visible face already shows that the person has seen the card.
      const watchers = [...seenBy].filter((one) => this.isReplay || !(isShown && one === this.you));
      const seen = watchers.length ? `, seen by ${watchers.map((one) => this.name(one)).join(" and ")}` : "";
      this.face(card, isShown ? kind : null, `${this.spot(spot)}${seen}${isShown ? "" : ", face down"}`);
      card.parentElement.title = card.dataset.label;
      const who = seenBy.length === this.people.length ? "all" : watchers.length > LISTED ? watchers.length : watchers.join("");
      this.tags.get(spot).replaceChildren(h("b", {}, slot), watchers.length ? h("span", { class: `seen${String(who).length > 1 ? " long" : ""}` }, drawing("eye"), who) : "");
    }
    for (const [spot, card] of this.spots) {
      if (spot[0] !== letter || here.has(spot)) continue;
      card.parentElement.remove();
      this.spots.delete(spot);
      this.tags.delete(spot);
    }
    seat.box.classList.toggle("none", layout.length === 0);
  }

  // The element of a place: a spot, `stock`, `pile` or `hand`.
  at(place) {
    return this.spots.get(place) ?? { stock: this.stock, pile: this.pile, hand: this.held }[place]?.card;
  }

  // The position of a place on the screen, even if no card lies there yet. `turn` is the seat that holds a card in `hand`.
  whereabouts(place, turn) {
    if (!place) return undefined;
    const isLifted = place === "hand" && turn !== this.me;
    const element = isLifted ? this.seats.get(turn)?.cards : this.at(place) ?? this.seats.get(place[0])?.cards;
    return element?.getBoundingClientRect();
  }

  // Animates moves, all at the same time. The moving cards stay at their destinations until the next scene is shown.
  async fly(moves, time, turn = this.scene?.turn) {
    if (isStill() || time <= 0 || document.hidden) return;
    const flights = moves.map(([from, to, kind]) => {
      const [start, end] = [this.whereabouts(from, turn), this.whereabouts(to, turn)];
      if (!start || !end) return null;
      const ghost = h("span", { class: `card ghost${kind === null ? "" : " up"}`, "aria-hidden": "true" }, kind === null ? back() : front(this.kinds[kind]));
      const width = this.stock.card.getBoundingClientRect().width;
      ghost.style.setProperty("--w", `${width}px`);
      document.body.append(ghost);
      this.ghosts.push(ghost);
      if (!["stock", "pile"].includes(from)) this.at(from)?.classList.add("away");
      const [x, y] = [start.left + start.width / 2, start.top + start.height / 2];
      const [a, b] = [end.left + end.width / 2, end.top + end.height / 2];
      const at = (left, top, box, turned) => ({ transform: `translate(${left - width / 2}px, ${top - width * 0.7}px) rotate(${turned}deg) scale(${Math.min(1.3, Math.max(0.7, Math.min(box.width, 2 * width) / width))})` });
      // The path is a slight curve, so that two cards that change places pass each other.
      const middle = at((x + a) / 2 + (b - y) * 0.12, (y + b) / 2 - (a - x) * 0.12, start, 4);
      return ghost.animate([at(x, y, start, 0), middle, at(a, b, end, 0)], { duration: time, easing: "cubic-bezier(0.3, 0, 0.2, 1)", fill: "forwards" }).finished.catch(() => {});
    });
    await Promise.all(flights);
  }

  // Draws decisions as arrows between places, until the next call. Each has the seat, the action, and a class for its style.
  point(decisions) {
    this.arrows?.remove();
    this.marked = decisions;
    if (!decisions.length) return;
    const { left, top, width, height } = this.felt.getBoundingClientRect();
    const centre = (place, by) => {
      const box = this.whereabouts(place, by);
      return box && [box.left + box.width / 2 - left, box.top + box.height / 2 - top, box.width / 2];
    };
    const drawn = decisions.flatMap(({ by, action, kind }, number) => {
      const [from, to] = ends(action);
      const [start, end] = [centre(from, by), to && centre(to, by)];
      if (!start) return [];
      if (!end) return [s("circle", { class: kind, cx: start[0], cy: start[1], r: start[2] + 4 + 5 * number })];
      // Moves a second arrow aside, so that both can be seen where they have an end in common.
      const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
      const length = Math.max(Math.hypot(dx, dy), 1);
      const [x, y] = [(-dy / length) * 8 * number, (dx / length) * 8 * number];
      const tip = 1 - Math.min(0.4, (0.5 * end[2]) / length);
      return [s("path", { class: kind, d: `M${start[0] + x} ${start[1] + y}L${start[0] + tip * dx + x} ${start[1] + tip * dy + y}`, "marker-end": `url(#tip-${kind})`, "marker-start": action.startsWith("swap") ? `url(#tip-${kind})` : null })];
    });
    const tips = ["played", "better"].map((kind) => s("marker", { id: `tip-${kind}`, class: kind, viewBox: "0 0 10 10", refX: 6, refY: 5, markerWidth: 3.6, markerHeight: 3.6, orient: "auto-start-reverse" }, s("path", { d: "M0 0L10 5L0 10z" })));
    this.arrows = s("svg", { class: "arrows", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, s("defs", {}, ...tips), ...drawn);
    this.felt.append(this.arrows);
  }

  // Marks the cards that moved and the card that a seat looked at, and shows what each seat did, until the next call.
  tell(moved, eyed, deeds) {
    for (const place of moved) this.spots.get(place)?.classList.add("moved");
    for (const place of eyed) this.spots.get(place)?.classList.add("eyed");
    this.root.querySelectorAll(".deed").forEach((deed) => deed.remove());
    for (const [letter, words] of deeds) this.seats.get(letter)?.box.append(h("span", { class: "deed", "aria-hidden": "true" }, words));
  }

  // Shows faces for `time` milliseconds, then the cards of the scene again.
  glimpse(glimpses, time) {
    for (const [spot, kind] of glimpses) {
      const card = this.spots.get(spot);
      if (!card) continue;
      const wasUp = card.classList.contains("up");
      const label = card.dataset.label;
      card.classList.add("glimpse");
      this.face(card, kind, this.spot(spot));
      const face = card.firstChild;
      setTimeout(() => {
        card.classList.remove("glimpse");
        if (wasUp || card.firstChild !== face) return;
        card.replaceChildren(back());
        card.classList.remove("up");
        card.dataset.label = label;
        card.setAttribute("aria-label", label);
      }, time);
    }
  }

  // Makes places clickable. `verbs` maps each of them to the words before its name, such as `peek at`; `chosen` is called with the chosen place.
  offer(verbs, chosen, marked = []) {
    this.chosen = chosen;
    for (const card of this.root.querySelectorAll(".card")) {
      const { place, label } = card.dataset;
      const verb = verbs.get(place);
      card.setAttribute("aria-disabled", verb ? "false" : "true");
      card.tabIndex = verb ? 0 : -1;
      card.classList.toggle("offered", Boolean(verb));
      card.classList.toggle("marked", marked.includes(place));
      card.setAttribute("aria-label", verb ? `${verb} ${label}` : label);
    }
  }
}
