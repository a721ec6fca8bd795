// The guided first round: explains each situation when it comes up for the first time.
import { h, remember, remembered } from "./common.js";

// For each topic its heading and its text.
const TOPICS = {
  __proto__: null,
  cards: ["Your cards", "They lie face down for the others. You have looked at some of them, and this page keeps these visible for you. An eye below a card shows which players have seen it. The fewest points win, so get rid of high cards."],
  draw: ["Draw", "Draw a card from the stock. Only you see it. If the pile has an open card, you may take that card instead. All players have seen it."],
  keep: ["Keep or discard", "Is it low? Then choose the card of yours that it replaces: one that you know is higher, or one that you do not know. Is it high? Then discard it."],
  power: ["Powers", "Some cards have a power when you discard them, printed at the bottom: peek or swap. Choose the cards on the table."],
  snap: ["Snap", "When a card is discarded, anyone may throw a card of the same rank onto it, to get rid of that card. It may be another player’s card: then you give that player one of yours. A wrong card costs a penalty card, so pass if you are not sure."],
  call: ["Call", "If you think that you have the fewest points, call. The others get one more turn. A call is good only if every other player has more points than you."],
  score: ["The score", "All cards are turned up, and the points are added. That was the whole game. Play again, or replay the match and see what each decision cost."],
};
// The text between two topics.
const BETWEEN = ["Play on", "The guide comes back when something is new."];

// The topics of a step, in the order in which they are explained.
function topicsOf({ ask, scene, end }) {
  if (end) return ["score"];
  const call = ask?.choices.includes("call") ? ["call"] : [];
  const topics = { start: ["draw", ...call], held: ["keep"], power: ["power"], show: ["power"], close: call };
  return ["cards", ...(!ask ? [] : ask.window ? ["snap"] : topics[scene.phase] ?? [])];
}

export class Guide {
  // The guide of a table, which goes on where it was if the page is loaded again. `closed` is called when the person closes it.
  constructor(table, closed) {
    const kept = remembered("guide");
    const { told, steps, shown, isOn } = kept.table === table ? kept : { told: [], steps: 0, shown: null, isOn: true };
    // The topics that came up, and the topics of the text before the page was loaded again.
    Object.assign(this, { table, told: new Set(told), steps, before: shown, isOn, closed });
    this.head = h("div", { class: "row" });
    this.text = h("p");
    // The other texts are invisible. They reserve the height of the longest one, so that the table keeps its size.
    const room = Object.values(TOPICS).map(([, text]) => h("p", { class: "room", "aria-hidden": "true" }, text));
    this.element = h("aside", { class: "guide", "aria-label": "Guide", "aria-live": "polite" }, this.head, this.text, ...room);
    this.element.hidden = !isOn;
  }

  // Whether a topic has not come up yet.
  isNew(topic) {
    return this.isOn && !this.told.has(topic);
  }

  // Explains the first new topic of a step. A text stays until the next decision of the person.
  show(step) {
    // After the first drawn card, the topic is known.
    if (step.ask && step.scene.phase === "held") this.told.add("draw");
    const all = topicsOf(step);
    const topics = all.filter((topic) => this.isNew(topic));
    const { before } = this;
    this.before = null;
    if (!this.isOn) return;
    if (before && (all.includes(before[0]) || !topics.length)) this.write(before);
    else if (topics.length || step.ask) this.tell(topics);
  }

  // Shows the first of these topics as the next step.
  tell(topics) {
    const [topic] = topics;
    if (topic) {
      this.told.add(topic);
      this.steps += 1;
    }
    this.write(topics);
  }

  // Writes the text of the first of these topics.
  write(topics) {
    const [topic, ...others] = topics;
    this.topic = topic;
    const [heading, text] = TOPICS[topic] ?? BETWEEN;
    this.head.replaceChildren(h("b", {}, heading), h("span", { class: "progress" }, topic ? `Step ${this.steps}` : ""),
      others.length ? h("button", { type: "button", onclick: () => this.tell(others) }, "Next") : "",
      h("button", { type: "button", class: "quiet", title: "Close the guide", onclick: () => this.stop() }, "Close"));
    this.text.textContent = text;
    if (topic === "score") remember("guided", true);
    this.keep(topics);
  }

  // Keeps the state of the guide in this tab, with the topics of its text.
  keep(shown) {
    const { table, told, steps, isOn } = this;
    remember("guide", { table, told: [...told], steps, shown, isOn });
  }

  // Shows the guide again, with all topics.
  start() {
    this.isOn = true;
    this.element.hidden = false;
    this.told.clear();
    this.steps = 0;
    this.closed();
  }

  stop() {
    this.isOn = false;
    this.element.hidden = true;
    this.closed();
    this.keep([]);
    remember("guided", true);
  }
}
