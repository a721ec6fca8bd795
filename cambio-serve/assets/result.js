// The result of a round or of a match.
import { picture } from "./cards.js";
import { counted, h, LETTERS, listed } from "./common.js";

// What the small numbers on cards mean.
export const POINTS = "A small number in the upper right corner of a card is its points, if they are not its rank.";
const ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "last"];

// The winners in a sentence: "You win", "Ben and Cleo share the win".
function winners(seats, you, people) {
  const names = seats.map((seat) => (seat === you ? "you" : people[LETTERS.indexOf(seat)].name)).sort((one) => (one === "you" ? -1 : 1));
  const text = listed(names);
  const verb = names.length > 1 ? "share the win" : names[0] === "you" ? "win" : "wins";
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} ${verb}`;
}

// The heading and the table of a result.
export function result({ end, scene }, { people, you, kinds, hasTotals }) {
  const { points: scored, remarks, totals, winners: round, ranks } = end;
  const seats = [...LETTERS.slice(0, people.length)];
  const mine = LETTERS.indexOf(you);
  const points = scene.layouts.map((layout) => layout.reduce((sum, [, kind]) => sum + (kind === null ? 0 : kinds[kind].points), 0));
  const isMatch = ranks && hasTotals;
  const best = isMatch ? seats.filter((_, index) => ranks[index] === 1) : [...round];
  const place = ranks?.[mine] ?? 1;
  const isShared = ranks?.filter((rank) => rank === place).length > 1;
  const order = seats.map((_, index) => index).sort((one, other) => (isMatch ? ranks[one] - ranks[other] : 0) || best.includes(seats[other]) - best.includes(seats[one]) || points[one] - points[other]);
  const lowest = Math.min(...scored);
  const facts = [isMatch && place > 1 ? `You came ${isShared ? "joint " : ""}${place === people.length ? "last" : ORDINALS[place]}.` : "",
    isMatch ? `Your total is ${totals[mine]}.`.replace("-", "−")
      : `You have ${counted(scored[mine], "point")}${scored[mine] > lowest ? `, ${scored[mine] - lowest} above the lowest` : ""}.`.replaceAll("-", "−")];
  return [
    h("div", {}, h("h2", { id: "ended" }, `${winners(best, you, people)} the ${isMatch ? "match" : "round"}`.replace("share the win the", "share the win of the")),
    h("p", { class: "facts" }, facts.filter(Boolean).join(" "))),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores" }, h("table", { class: "totals" },
      h("thead", {}, h("tr", {}, ...["player", "cards", "points", hasTotals ? "total" : null].filter(Boolean).map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, ...order.map((index) => h("tr", { class: index === mine ? "mine" : "" },
        h("th", { scope: "row" }, `${best.includes(seats[index]) ? "★\u00A0" : ""}${people[index].name}`, h("small", {}, remarks[index])),
        h("td", { class: "minis" }, ...scene.layouts[index].map(([, kind]) => (kind === null ? "" : picture(kinds[kind])))),
        h("td", {}, String(scored[index]).replace("-", "−")),
        hasTotals ? h("td", {}, totals[index].replace("-", "−")) : null))))),
  ];
}
