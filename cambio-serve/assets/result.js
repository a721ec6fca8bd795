// The result of a round or of a match.
import { minus } from "./cards.js";
import { LETTERS, listed } from "./common.js";
import { ORDINALS } from "./table.js";

// What the small numbers on cards mean.
export const POINTS = "The small number at the top right of a card is its points. Without it, the rank is the points.";

// The results of the seats for `finish` in table.js, from the last to the first.
export function resultsOf({ end: { points, remarks, totals, winners, ranks } }, { hasTotals }) {
  const isMatch = ranks && hasTotals;
  const all = points.map((own, seat) => ({
    letter: LETTERS[seat], points: own, total: hasTotals ? totals[seat] : null, remark: remarks[seat],
    hasWon: isMatch ? ranks[seat] === 1 : winners.includes(LETTERS[seat]),
  }));
  // In a round, the winners are first, and the others follow by their points.
  const isBefore = (one, other) => (one.hasWon === other.hasWon ? one.points < other.points : one.hasWon);
  const rankOf = (one) => 1 + all.filter((other) => isBefore(other, one)).length;
  all.forEach((one, seat) => { one.rank = isMatch ? ranks[seat] : rankOf(one); });
  return all.sort((one, other) => other.rank - one.rank);
}

// The result in a sentence: "Cleo wins with 6 · you called with 22", or after a bonus "you called, but were not lowest: 18 + 10 = 28".
export function sentenceOf(step, cast) {
  const { people, you, hasTotals } = cast;
  const results = resultsOf(step, cast);
  const isMatch = step.end.ranks && hasTotals;
  const name = ({ letter }) => (letter === you ? "you" : people[LETTERS.indexOf(letter)].name);
  const best = results.filter(({ hasWon }) => hasWon).sort((one) => (one.letter === you ? -1 : 1));
  const verb = best.length > 1 ? "share the win" : name(best[0]) === "you" ? "win" : "wins";
  const what = best.length > 1 || !hasTotals ? "" : isMatch ? " the match" : " the round";
  const number = isMatch ? `a total of ${minus(best[0].total)}` : minus(best[0].points);
  const parts = [`${listed(best.map(name))} ${verb}${what} with ${number}`];
  for (const one of results.filter(({ hasWon }) => !hasWon).sort((one) => (one.letter === you ? 1 : -1))) {
    const [isYou, hasCalled] = [one.letter === you, step.scene.callers.includes(one.letter)];
    if (isMatch && isYou) parts.push(`you are ${ORDINALS[one.rank]} with ${minus(one.total)}`);
    else if (!isMatch && hasCalled) {
      const remark = isYou ? one.remark.replace(" was ", " were ") : one.remark;
      parts.push(`${name(one)} ${remark.includes("=") ? remark : `called with ${minus(one.points)}`}`);
    } else if (!isMatch && isYou) parts.push(`you have ${minus(one.points)}`);
  }
  return parts.join(" · ").replace(/^y/, "Y");
}
