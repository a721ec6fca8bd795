// Draws a table: seats with their cards, stock, pile and the held card. This module shows scenes and offers choices; it contains no rules.
import { back, counted, drawing, face, front, h, LETTERS, minus, s, spoken } from "./cards.js";

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
// The most places in a row of the seat at the bottom, on a narrow and on a wide table. More may be in two rows.
const ROW = [5, 8];
// The opponents have room for a penalty card if the cards keep at least this share of their size.
const ROOMY = 0.9;
// The most letters of seats that the tag of a card lists; otherwise it has their number, or “all”.
const LISTED = 2;
// The number of steps in which the points of a seat are counted up.
const COUNTS = 8;
export const ORDINALS = ["", "1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"];

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
    Object.assign(this, { root, kinds, hand, people, me, you, isReplay, spots: new Map(), tags: new Map(), seats: new Map(), ghosts: [], chosen: () => {} });
    // The number of rows, and of places for penalty cards, of the seat at the bottom and of an opponent.
    Object.assign(this, { rows: [1, 1], room: [1, 1] });
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
      const score = h("span", { class: "score", title: "points of this round" });
      const total = h("span", { class: "total", title: "total points of the rounds" });
      const head = h("header", {}, h("b", { class: `letter seat-${letter}`, "aria-hidden": "true" }, letter), face(level), h("span", { class: "name", title: spec ?? name }, name),
        title && title !== name ? h("span", { class: "title" }, title) : null, marks, score, total);
      const cards = h("div", { class: "cards" });
      const box = h("section", { class: "seat", "data-seat": letter }, drawing("crown", "won"), head, cards);
      this.seats.set(letter, { box, marks, score, total, cards });
    }
    this.own.replaceChildren(this.seats.get(me).box);
    this.box = null;
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

  // Finds the largest cards with which the table fits into its box. Their size depends on the box and the numbers of seats
  // and dealt cards, and not on the cards of a round, so that nothing moves when a card comes or goes.
  fit() {
    const { clientWidth, clientHeight } = this.root;
    const box = [clientWidth, clientHeight].join();
    if (!clientWidth || !clientHeight || box === this.box) return;
    if (this.isWide !== clientWidth >= WIDE) this.arrange();
    this.box = box;
    this.enlarge();
  }

  // Whether the table fits into its box.
  fits() {
    const boxes = [this.felt, this.sides[1], this.middle, this.own];
    return boxes.every(({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
      scrollHeight <= clientHeight + 1 && scrollWidth <= clientWidth + 1);
  }

  // Gives the cards the largest widths with which the table fits, and chooses the number of rows of a seat. The boxes of seats have the
  // same size without cards, and are measured faster.
  enlarge() {
    this.root.classList.add("measured");
    const set = (name, width) => this.root.style.setProperty(name, `${width}px`);
    const fitsWith = (set, width) => { set(width); return this.fits(); };
    // The largest width in pixels for which the table fits. Each try takes a millisecond or two, and the highest often fits.
    const largest = (low, high, set) => {
      if (fitsWith(set, high)) return high;
      while (high - low > 0.5) {
        const width = (low + high) / 2;
        if (fitsWith(set, width)) low = width;
        else high = width;
      }
      set(low);
      return low;
    };
    const factor = OWN[Number(this.isWide)];
    const setBoth = (width) => { set("--u", width); set("--v", factor * width); };
    const setOwn = (width) => set("--v", width);
    const own = this.hand < ROW[Number(this.isWide)] ? [1] : [1, 2];
    const seat = this.seats.get(this.me).box;
    let best = { size: 0, room: [1, 1] };
    const ways = [1, 0].flatMap((spare) => [1, 2].flatMap((rows) => own.map((one) => [spare, rows, one])));
    for (const [spare, rows, ownRows] of ways) {
      this.rows = [ownRows, rows];
      // The seat at the bottom always has room for a penalty card.
      this.room = [1, spare];
      this.line();
      // A way with a size up to this one would not be chosen, so its searches begin there.
      const size = best.size / (spare < best.room[1] ? ROOMY : 1);
      // The seat at the bottom has the width of its columns, and the same gaps with all widths of a card. Its box is largest
      // beside small cards.
      setBoth(0);
      const most = Math.min(OWN_LARGEST, (this.own.clientWidth - seat.offsetWidth) / Math.ceil((this.hand + 1) / ownRows));
      const [least, high] = [Math.max(SMALLEST, Math.sqrt(size / most)), Math.min(LARGEST, most / factor)];
      if (best.size && (least >= high || !fitsWith(setBoth, least))) continue;
      const width = largest(least, high, setBoth);
      const low = Math.max(Math.min(most, factor * width), size / width ** 2);
      if (best.size && (low > most || !fitsWith(setOwn, low))) continue;
      const own = largest(low, most, setOwn);
      best = { rows: this.rows, room: this.room, width, own, size: width ** 2 * own };
    }
    Object.assign(this, { rows: best.rows, room: best.room });
    set("--u", best.width);
    set("--v", best.own);
    this.line();
    this.root.classList.toggle("centred", best.room[1] > 0);
    if (!this.fits()) this.root.classList.remove("centred");
    this.root.classList.remove("measured");
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
    const marks = ["away", "moved", "eyed", "turned"];
    for (const card of this.root.querySelectorAll(".card")) card.classList.remove(...marks);
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
    this.line();
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

  // Places the cards of all seats in the order of their slots. If the box of a seat has no room for its cards, they are smaller.
  line() {
    for (const [letter, { cards }] of this.seats) {
      const which = Number(letter !== this.me);
      const rows = this.rows[which];
      const room = Math.ceil((this.hand + this.room[which]) / rows);
      const slots = [...this.spots.keys()].filter((spot) => spot[0] === letter).map((spot) => Number(spot.slice(1)));
      const columns = Math.ceil(Math.max(this.hand, ...slots) / rows);
      cards.style.setProperty("--rows", rows);
      cards.style.setProperty("--room", room);
      cards.style.setProperty("--columns", Math.max(room, columns));
      for (const slot of slots) {
        const { style } = this.spots.get(letter + slot).parentElement;
        style.setProperty("grid-row", 1 + Math.floor((slot - 1) / columns));
        style.setProperty("grid-column", 1 + ((slot - 1) % columns));
      }
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
    seat.score.textContent = "";
    seat.box.classList.remove("winner");
    seat.total.textContent = scene.round > 1 ? minus(scene.totals[LETTERS.indexOf(letter)] ?? "") : "";
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

  // Shows the last scene of a round: turns the cards of one seat after the other up, each in `time` milliseconds, and writes
  // the result of the seat into its header. `results` has for each seat its letter, its points, its rank, its total (or null),
  // a remark, and whether it `hasWon`.
  async finish(scene, results, time) {
    const isShown = time > 0 && !isStill() && !document.hidden;
    const up = new Set([...this.spots.keys()].filter((spot) => this.spots.get(spot).matches(".up")));
    this.render(scene, { sees: ({ letter, slot }) => up.has(letter + slot) });
    for (const { letter, points, rank, total, remark, hasWon } of results) {
      const isTurned = (spot) => isShown && spot[0] === letter && !up.has(spot);
      for (const [spot, card] of this.spots) if (isTurned(spot)) card.classList.add("turned");
      this.layout(letter, scene.layouts[LETTERS.indexOf(letter)], scene, () => true);
      const { box, marks, score, total: sum } = this.seats.get(letter);
      for (let part = 1; isShown && part < COUNTS; part++) {
        score.textContent = minus(Math.round((points * part) / COUNTS));
        await new Promise((done) => setTimeout(done, time / COUNTS));
        // Another scene has come.
        if (this.scene !== scene) return;
      }
      score.textContent = minus(points);
      score.dataset.unit = Math.abs(points) === 1 ? " point" : " points";
      marks.append(h("span", { class: "mark rank" }, ORDINALS[rank]));
      sum.textContent = total ? minus(total) : "";
      box.classList.toggle("winner", hasWon);
      const label = box.getAttribute("aria-label").split(", ")[0];
      const words = [label, counted(points, "point"), ORDINALS[rank], total && `total ${total}`, remark, hasWon && "winner"];
      box.setAttribute("aria-label", words.filter(Boolean).join(", "));
      box.title = remark;
    }
  }

  // Shows the share of the time for a snap that is left as a ring around the pile; null removes the ring.
  time(left) {
    this.pile.box.classList.toggle("timed", left !== null);
    this.pile.box.style.setProperty("--left", left);
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
