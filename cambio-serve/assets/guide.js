// The guided first round: explains each situation when it comes up for the first time.
import { h, remember } from "./common.js";

// The topics in the order in which they usually come up.
const TOPICS = {
  cards: ["Your cards", "Your cards lie face down. You may peek at two of them at the start, and this page keeps them visible for you. The fewest points win, so get rid of high cards."],
  draw: ["Draw", "On your turn, draw a card from the stock. Only you see it. Or take the open card from the pile, which all players have seen."],
  keep: ["Keep or discard", "Keep the card in place of one of yours if it is lower: choose a card that you know is high, or one that you do not know. Otherwise discard it."],
  power: ["Powers", "Some cards have a power when you discard them, printed at the bottom: peek at a card, or swap two cards. Choose the cards on the table."],
  snap: ["Snap", "When a card is discarded, anyone may throw a card of the same rank onto it, their own or another player’s. That is one card less to count. A wrong card costs a penalty card, so pass if you are not sure."],
  call: ["Call", "When you think that you have the fewest points, call. The others get one more turn, then all cards are turned up. A call pays only if you are lowest alone."],
  score: ["The score", "All cards are turned up, and the points are added. That was the whole game. Play again, or replay the match and see what each decision cost."],
};
const KEYS = Object.keys(TOPICS);

export class Guide {
  constructor() {
    this.told = new Set();
    this.element = h("aside", { class: "guide", "aria-label": "Guide", "aria-live": "polite", hidden: true });
    this.isOn = true;
  }

  // Whether a topic has not come up yet.
  isNew(topic) {
    return this.isOn && !this.told.has(topic);
  }

  // Explains the situation of a step, if it is new.
  show({ ask, scene, end }) {
    if (!this.isOn) return;
    const topics = { peek: "cards", start: this.isNew("cards") ? "cards" : "draw", held: "keep", power: "power", show: "power", close: ask?.choices.includes("call") ? "call" : null };
    const topic = end ? "score" : !ask ? null : ask.window ? "snap" : topics[scene.phase];
    if (topic !== this.topic) this.tell(topic && this.isNew(topic) ? topic : null);
  }

  tell(topic) {
    this.topic = topic;
    this.element.hidden = !topic;
    if (!topic) return;
    this.told.add(topic);
    const isLast = topic === "score";
    const next = topic === "cards" ? h("button", { type: "button", onclick: () => this.tell("draw") }, "Next") : null;
    this.element.replaceChildren(
      h("b", {}, TOPICS[topic][0]), h("span", { class: "progress" }, `${KEYS.indexOf(topic) + 1} of ${KEYS.length}`),
      h("p", {}, TOPICS[topic][1]),
      h("div", { class: "row" }, ...[next, h("button", { type: "button", class: "quiet", onclick: () => this.stop() }, isLast ? "Close the guide" : "Skip the guide")].filter(Boolean)));
    if (isLast) remember("guided", true);
  }

  stop() {
    this.isOn = false;
    this.element.hidden = true;
    remember("guided", true);
  }
}
