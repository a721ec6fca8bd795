// The cards of a deck with their values and powers, and a turn, as pictures.
import { back, capital, h, picture } from "./cards.js";
import { counted } from "./common.js";

// The cards with these points and this power. A rank whose suits are all alike is shown once.
export function alike(kinds, { points, power }) {
  const fits = (kind) => kind.points === points && kind.power === power;
  return kinds.filter((kind) => {
    const same = kinds.filter((other) => other.rank === kind.rank);
    return fits(kind) && (!same.every(fits) || same[0] === kind);
  });
}

// One row for the cards without a power, and one for each power, with the points in their order.
export function deck({ kinds, worth }) {
  const powers = [...new Set(worth.map(({ power }) => power))].sort((one, other) => one.length - other.length);
  const sum = (groups) => groups.reduce((all, { count }) => all + count, 0);
  return h("div", {}, h("dl", { class: "deck" }, ...powers.map((power) => {
    const groups = worth.filter((group) => group.power === power);
    return h("div", {}, h("dt", {}, ...groups.flatMap((group) => alike(kinds, group)).map(picture)),
      h("dd", {}, capital(power || "no power"), h("small", {}, counted(sum(groups), "card"))));
  })), h("p", {}, `The deck has ${sum(worth)} cards. Points that are not the rank are in a corner.`));
}

// What players do in a round, in four pictures.
export function steps({ kinds }) {
  const low = kinds.find(({ points, power }) => points === 2 && !power) ?? kinds[0];
  const five = kinds.find(({ points, power }) => points === 5 && !power) ?? kinds[0];
  const other = kinds.find((kind) => kind !== five && kind.rank === five.rank) ?? five;
  const down = () => h("span", { class: "card", "aria-hidden": "true" }, back());
  const step = (words, ...cards) => h("li", {}, h("span", { class: "fan" }, ...cards), h("span", {}, words));
  return h("ol", { class: "steps" }, step("Draw a card.", down(), down()),
    step("Keep it in place of a card of yours, or discard it.", picture(low), down()),
    step("Snap a card of the same rank onto a discarded one.", picture(five), picture(other)),
    step("Call when you have the fewest points.", picture(low), picture(low), picture(kinds[0])));
}
