// How the result of a round came about: luck and decisions as parts that add up, and a summary of each player's decisions.
import { capital, counted, h, LETTERS, listed } from "./cards.js";
import { nameOf, ownerOf } from "./story.js";

export const number = (value, digits = 1) => value.toFixed(digits).replace("-", "−").replace(/^−(0(?:\.0*)?)$/, "$1");
// A share of the win with its interval, in wins in 100.
export const hundreds = ({ mean, half }) => `${number(100 * mean)} ± ${number(100 * half)}`;
// A share in whole percent with its interval: the half-width, or the ends where the interval would leave 0 to 100.
export function percentOf({ mean, half }, percent) {
  const ends = [Math.max(0, 100 * (mean - half)), Math.min(100, 100 * (mean + half))].map((end) => number(end, 0));
  if (mean - half < 0 || mean + half > 1) return `${percent} (${ends[0]} to ${ends[1]})`;
  return `${percent} ± ${half < 0.005 ? "<\u202F1" : number(100 * half, 0)}`;
}
// Shares in whole percent with the sum `all`, by the largest remainders.
export function apportioned(shares, all) {
  const floors = shares.map((share) => Math.floor(100 * share));
  const byRemainder = shares.map((share, index) => [100 * share - floors[index], index]).sort(([one], [other]) => other - one);
  byRemainder.slice(0, Math.max(0, all - floors.reduce((sum, one) => sum + one, 0))).forEach(([, index]) => { floors[index] += 1; });
  return floors;
}
const signed = (value) => `${value > 0 ? "+" : ""}${number(value, 0)}`;
// The sum of estimates. The cost of the best decision is 0, and has no estimate.
export const sum = (estimates) => ({ mean: estimates.reduce((all, { mean = 0 }) => all + mean, 0), half: Math.hypot(...estimates.map(({ half = 0 }) => half)) });

// The cost of a decision with what the player could know, if it is certain.
export const judged = ({ known }) => (known && !known.uncertain ? known : null);

// The parts of each seat in whole percent of a win. The players share one win, so each row has a fixed sum. The rest contains the
// rounding errors of the column.
function rounded(parts) {
  const row = (part, all) => apportioned(part.map(({ mean }) => mean), all);
  const [before, deal, draws] = [row(parts.before, 100), row(parts.deal, 0), row(parts.draws, 0)];
  const [decisions, result] = [parts.decisions.map((by) => row(by, 0)), apportioned(parts.result, 100)];
  return result.map((all, seat) => {
    const own = { before: before[seat], deal: deal[seat], draws: draws[seat], decisions: decisions.map((by) => by[seat]), result: all };
    return { ...own, rest: all - own.before - own.deal - own.draws - own.decisions.reduce((sum, one) => sum + one, 0) };
  });
}

// The split of the result into luck and decisions: a sentence about the person, or else the winner, and a table of all players.
export function split({ parts, one_round: isRound }, cast) {
  if (!parts) return [];
  const seats = parts.result.map((_, seat) => seat);
  const winner = parts.result.indexOf(Math.max(...parts.result));
  const seat = cast.you ? LETTERS.indexOf(cast.you) : winner;
  const [name, owner] = [nameOf, ownerOf].map((words) => (one) => words(LETTERS[one], cast));
  const all = rounded(parts);
  const { before, deal, draws, decisions, rest, result } = all[seat];
  const others = decisions.flatMap((change, by) => (by === seat ? [] : [`${owner(by)} decisions ${signed(change)}`]));
  const sentence = `Before the deal, ${name(seat)} had a chance of ${before} % to win the ${isRound ? "round" : "match"}. Luck of the deal ${signed(deal)}, luck of the draws ${signed(draws)}, ${owner(seat)} ${cast.you ? "" : "own "}decisions ${signed(decisions[seat])}, ${listed([...others, `everything else (such as unseen cards) ${signed(rest)}`])}: ${result} % after the round.`;
  const row = (name, estimates, shown) => h("tr", {}, h("th", { scope: "row" }, name), ...seats.map((one) => h("td", {}, shown(one), estimates?.[one].half ? h("small", {}, ` ± ${number(100 * estimates[one].half, 0)}`) : "")));
  return [
    h("h2", {}, "Luck and decisions"),
    h("p", { class: "split" }, sentence),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Luck and decisions" }, h("table", { class: "costs parts" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "in % of a win"), ...seats.map((one) => h("th", { scope: "col" }, h("span", { class: `key s${one}` }, capital(name(one))))))),
      h("tbody", {},
        row("Chance before the deal", parts.before, (one) => all[one].before),
        row("Luck of the deal", parts.deal, (one) => signed(all[one].deal)),
        row("Luck of the draws", parts.draws, (one) => signed(all[one].draws)),
        ...seats.map((by) => row(`${capital(owner(by))} decisions`, parts.decisions[by], (one) => signed(all[one].decisions[by]))),
        row("Everything else", parts.rest, (one) => signed(all[one].rest)),
        row(isRound ? "Result" : "Chance after the round", null, (one) => all[one].result)))),
    h("details", {}, h("summary", {}, "How are luck and decisions separated?"),
      h("p", {}, `The parts of each column add up to its last row. They compare the round with rounds in which all players decide like learned. The chance before the deal is the mean over random deals. The luck of the deal is the chance with the cards that were dealt, minus that chance. The luck of the draws is what drawn cards, races and reshuffles changed. Over many rounds, the luck of the deal and of the draws is 0 on average for every player, however well they play.`),
      h("p", {}, "The decisions of a player count with their costs from the analysis: the loss compared with the best choice, with what the player could know. What one player loses, the others gain together. “Everything else” is what no other row explains: whether unusual decisions happened to fit cards that the player had not seen, decisions that could not be judged, and rounding. The numbers behind ± are 95 % intervals.")),
  ];
}

// One line for each player: the number of judged decisions, their cost, and the luck. No single number says how well a player played,
// because some rounds ask harder questions than others.
export function summary({ decisions, parts, least, mistake }, { people, you }) {
  const all = parts && rounded(parts);
  const line = ({ name, spec }, seat) => {
    const letter = LETTERS[seat];
    const own = decisions.filter((decision) => decision.by === letter && decision.known);
    const certain = own.filter(judged);
    const blunders = certain.filter((decision) => decision.blunder);
    const mistakes = certain.filter(({ grade }) => grade === "mistake");
    const cost = (some) => hundreds(sum(some.map(judged)));
    const found = [[blunders, "blunder"], [mistakes, "mistake"]].flatMap(([some, word]) => (some.length ? [counted(some.length, word)] : []));
    const wrong = [...blunders, ...mistakes];
    const others = certain.filter((decision) => !wrong.includes(decision));
    const verdict = certain.length === 0 ? "No decision could be judged."
      : !certain.some(({ known }) => known.mean) ? `In ${counted(certain.length, "decision")} with a choice, the analysis found no better choice.`
      : wrong.length === 0 ? `No mistake in ${counted(certain.length, "decision")} with a choice: together ${cost(certain)} wins in 100.`
      : `${listed(found)} cost ${cost(wrong)} wins in 100.${others.length === 0 ? "" : ` No mistake in the other ${counted(others.length, "decision")} with a choice${!others.some(({ known }) => known.mean) ? "" : `: together ${cost(others)} wins in 100`}.`}`;
    const open = own.length - certain.length;
    const isUnjudged = certain.length > 0 && open > 0;
    return h("li", {}, h("span", { class: `key s${seat}`, title: spec }, letter === you ? "You" : name), ": ", verdict,
      isUnjudged ? ` ${counted(open, "decision")} could not be judged.` : "",
      parts ? ` Luck of the deal and the draws: ${signed(all[seat].deal + all[seat].draws)} ± ${number(100 * sum([parts.deal[seat], parts.draws[seat]]).half, 0)}.` : "");
  };
  return [h("h2", {}, "Each player in this round"), h("ul", { class: "summary" }, ...people.map(line)),
    h("p", { class: "facts" }, `These costs are for this round only and do not measure skill: some cards ask harder questions than others. A mistake cost at least ${number(100 * mistake)} wins in 100, and a blunder ${number(100 * least, 0)}, even at the low end of the 95 % interval.`)];
}
