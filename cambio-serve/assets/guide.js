// The guide: three lessons on fixed deals. It points at cards and buttons, but every decision stays possible,
// and each lesson ends with a question. At the table of a link, it offers the lessons.
import { h, LEVELS, remember, remembered } from "./common.js";
import { openTable, requestOf } from "./transport.js";

// The lessons: the seed of the deal, the turn in which the question comes, and for each situation of the deal,
// a turn and a phase, a heading, a text, and the place or the verb to point at. The first answer is right.
const LESSONS = [
  { name: "Keep and peek", seed: "lesson 1, 225", last: 5, tips: {
    "1 start": ["Draw", "You know your Q♠ (10 points) and your Joker (−1). The fewest points win.", "stock"],
    "1 held": ["Keep", "An ace has 0 points: keep it in place of your queen.", "a3"],
    "3 start": ["Draw", "You may also take the open card from the pile. It is high: draw.", "stock"],
    "3 held": ["Use a power", "A 7 is high. But if you discard it, you may peek at a card of yours.", "pile"],
    "3 power": ["Peek", "Choose a card that you have not seen.", "a1"],
  }, question: "In another deal, you know −1, 0 and 6 points, and draw a 4. What do you do?",
  answers: ["Keep it for the 6", "Discard it"], why: "A 4 is better than a 6." },
  { name: "Snap", seed: "lesson 2, 155", last: 3, tips: {
    "1 start": ["Draw", "You know your K♠ (10 points) and your 5♦.", "stock"],
    "1 held": ["Discard", "A second 5. Discard it, and see what you can do with the first one.", "pile"],
    "1 snap": ["Snap", "A card of the same rank may be thrown onto a discarded card: snap your 5♦.", "a4"],
    "2 snap": ["Snap", "Ben has discarded a king, and you have one.", "a3"],
  }, question: "In another deal, a 9 is discarded. You have not seen your two cards. Do you snap one?",
  answers: ["No", "Yes"], why: "A wrong snap costs a penalty card, and few cards are nines." },
  { name: "Call", seed: "lesson 3, 201", last: Infinity, tips: {
    "1 start": ["Draw", "You know your K♥ (−2: red kings are good) and your 2♦.", "stock"],
    "1 held": ["Keep", "A 3 is low: keep it in place of a card that you have not seen.", "a1"],
    "1 close": ["Call", "You know of 3 points. A card has 5 or 6 on average, and Ben has four.", "call"],
  }, question: "In another deal, you call, and Ben has as few points as you. Who wins?",
  answers: ["Ben", "I do"], why: "A call wins only with fewer points than everyone else." },
];

// Whether a stored table is the table of a lesson.
export const isLesson = (table) => LESSONS.some(({ seed }) => seed === requestOf(table)?.seed);

// Opens the table of a lesson, counted from 1.
export async function openLesson(number) {
  const { seed } = LESSONS[number - 1];
  const match = { rules: "classic", opponents: [LEVELS[1].spec], seed, one_round: true, notes: true, practice: true };
  const table = await openTable(match);
  location.assign(`play.html?table=${table}&guide=${number}`);
}

// The text at the end of a turn, in any other situation, and at a table without a lesson.
const END = ["End your turn", "Then the others play.", "end"];
const BETWEEN = ["Play on", "The guide comes back with the next step."];
const NEWCOMER = ["New to Cambio?", "Three short lessons explain the game. This table stays open. "];

export class Guide {
  // The guide of a table. `closed` is called when the person closes it.
  constructor(table, closed) {
    this.number = Number(new URLSearchParams(location.search).get("guide"));
    this.lesson = LESSONS[this.number - 1] ?? null;
    Object.assign(this, { table, closed, isAsked: false, isOn: remembered("guide") !== table });
    this.head = h("div", { class: "row" });
    this.text = h("p");
    // The other texts are invisible. They reserve the height of the longest one, so that the table keeps its size.
    const tips = Object.values(this.lesson?.tips ?? {});
    const room = tips.map(([, text]) => h("p", { class: "room", "aria-hidden": "true" }, text));
    this.element = h("aside", { class: "guide", "aria-label": "Guide", "aria-live": "polite" }, this.head, this.text, ...room);
    this.element.hidden = !this.isOn;
  }

  // Explains a step. A text stays until the next decision of the person, and the question stays.
  show({ ask, scene, end }) {
    const { lesson } = this;
    this.topic = end ? "score" : null;
    if (!this.isOn || this.isAsked || !(end || (ask && (!ask.window || ask.matches.length)))) return;
    const tip = lesson?.tips[`${scene.turns} ${ask?.window ? "snap" : scene.phase}`];
    if (!lesson) this.write(...NEWCOMER, null, this.button("Start the lessons", () => openLesson(1)));
    else if (end || scene.turns >= lesson.last) this.question(lesson);
    else this.write(...(tip ?? (scene.phase === "close" ? END : BETWEEN)));
  }

  // Writes a text with buttons, and puts a ring around the place or the button of a verb.
  write(heading, text, place, ...buttons) {
    const progress = this.lesson ? `Lesson ${this.number} of ${LESSONS.length}` : "";
    this.head.replaceChildren(h("b", {}, heading), h("span", { class: "progress" }, progress),
      h("button", { type: "button", class: "quiet", onclick: () => this.stop() }, "Close"));
    this.text.replaceChildren(text, ...buttons);
    // The table shows its buttons after this text.
    queueMicrotask(() => this.point(place));
  }

  point(place) {
    document.querySelectorAll(".pointed").forEach((one) => one.classList.remove("pointed"));
    document.querySelector(`[data-place="${place}"], [data-verb="${place}"]`)?.classList.add("pointed");
  }

  button(words, onclick) {
    return h("button", { type: "button", onclick }, words);
  }

  // Asks the question of the lesson. The reason follows the answer, and the way to the next lesson.
  question({ question, answers, why }) {
    this.isAsked = true;
    const isLast = this.number === LESSONS.length;
    const next = isLast ? this.button("Play a match", () => location.assign("./"))
      : this.button(`Next: ${LESSONS[this.number].name}`, () => openLesson(this.number + 1));
    const answer = (words) => this.button(words, () => {
      this.write(words === answers[0] ? "Right" : "Not quite", `${why} `, null, next);
      next.focus();
      if (isLast) remember("guided", true);
    });
    this.write("One question", `${question} `, null, ...[...answers].sort().map(answer));
  }

  // Shows the guide again.
  start() {
    Object.assign(this, { isOn: true, isAsked: false });
    this.element.hidden = false;
    this.closed();
  }

  stop() {
    this.isOn = false;
    this.element.hidden = true;
    this.point(null);
    this.closed();
    remember("guide", this.table);
    remember("guided", true);
  }
}
