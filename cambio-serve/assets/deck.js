// The cards of a deck with their values and powers, as pictures.
import { h, picture } from "./cards.js";
import { counted } from "./common.js";

// The cards with these points and this power. A rank whose suits are all alike is shown once.
export function alike(kinds, { points, power }) {
  const fits = (kind) => kind.points === points && kind.power === power;
  return kinds.filter((kind) => {
    const same = kinds.filter((other) => other.rank === kind.rank);
    return fits(kind) && (!same.every(fits) || same[0] === kind);
  });
}

// One row for all cards with the same points and power.
export const deck = ({ kinds, worth }) => h("div", {}, h("dl", { class: "deck" }, ...worth.map((group) => h("div", {},
  h("dt", {}, ...alike(kinds, group).map(picture)),
  h("dd", {}, h("b", {}, counted(group.points, "point")), group.power ? `: ${group.power}` : "", h("small", {}, ` (${counted(group.count, "card")})`))))),
h("p", {}, `The deck has ${worth.reduce((sum, { count }) => sum + count, 0)} cards.`));
