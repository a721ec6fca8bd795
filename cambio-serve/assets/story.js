// Turns the server's lines about events into sentences for the person at the table.
import { cardName, rankName, withNames } from "./cards.js";
import { counted, LETTERS, listed } from "./common.js";

const PLURAL = { is: "are", touches: "touch" };
const SPOT = /\b([a-h])(\d{1,2})\b/g;

// A line as `{ seat, text, deed, eyed }`: the seat that acted, a sentence, what the seat did in a few words, and the spot that it looked at.
export function story(line, { people, you, kinds }) {
  const name = (letter) => (letter === you ? "you" : people[LETTERS.indexOf(letter)].name);
  const owner = (letter, actor) => (letter === actor ? (letter === you ? "your" : "their own") : letter === you ? "your" : `${name(letter)}’s`);
  const [, seat, rest] = /^([a-h]) (.+)$/.exec(line) ?? [null, null, line];
  const inSpots = (text) => text.replace(SPOT, (_, letter, number) => `${owner(letter, seat)} card ${number}`);
  const ending = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const turn = /^turn of ([a-h])$/.exec(line)?.[1];
  if (turn) return { seat: turn, isTurn: true, text: turn === you ? "Your turn" : `${name(turn)}’s turn` };
  if (!seat) {
    const others = line.startsWith("fastest: ") ? line.replace(/\b([a-h])(?= )/g, (letter) => name(letter))
      : line.replace(/^(extra cards? .*): (.+)$/, (_, what, seats) => `${what}: ${seats.replace(/[a-h]/g, name)}`);
    return { seat: null, text: ending(inSpots(withNames(others, kinds))) };
  }
  let deed = withNames(rest, kinds)
    .replace(/^keeps it in [a-h](\d+) and/, "keeps it as card $1 and")
    .replace(/ to ([a-h]): it is now [a-h](\d+)$/, (_, to, slot) => ` to ${name(to)}, as card ${slot}`)
    .replace(/^gets a penalty card in .*/, "gets a penalty card");
  deed = inSpots(deed);
  if (seat === you) deed = deed.replace(/^\w+|(?<= and )discards/g, (verb) => PLURAL[verb] ?? verb.replace(/s$/, ""));
  const eyed = /^peeks at ([a-h]\d+)/.exec(rest)?.[1] ?? null;
  return { seat, text: `${ending(name(seat))} ${deed}`, deed, eyed };
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// The question of a step as a sentence. `verb` is the chosen verb and `first` the first card of a swap, in words.
export function prompt({ ask, scene }, { kinds, verb, first, spot }) {
  const can = (word) => ask.choices.some((choice) => choice.split(" ")[0] === word);
  const plain = capital(withNames(ask.question, kinds));
  const [top, held] = [kinds[scene.top], kinds[scene.held?.kind]];
  if (verb === "swap") return first ? `Swap ${first} with which card?` : `${plain}: choose the first card.`;
  if (scene.phase === "held" && held) {
    const power = held.power && !scene.held.taken && can("drop") ? ` to ${held.power.replace(/^twice: (.+)/, "$1, twice")}` : "";
    return `You hold ${cardName(held)} (${counted(held.points, "point")}). ${can("keep") ? "Keep it in place of one of your cards" : "You cannot keep it"}${can("drop") ? `${can("keep") ? ", or" : ":"} discard it${power}` : ""}.`;
  }
  if (scene.phase === "start") return `Your turn: ${["draw a card", can("take") && top ? `take ${cardName(top)}` : null, can("call") ? "call" : null].filter(Boolean).join(", or ")}.`;
  if (ask.window && top) {
    if (ask.matches.length) return `${capital(listed(ask.matches.map(spot)))} ${ask.matches.length > 1 ? "match" : "matches"} the ${cardName(top)}. Choose ${ask.matches.length > 1 ? "one" : "it"} to snap, or pass.`;
    return ask.question.includes("same points") ? `${plain}.` : `Is there another ${rankName(top)}? Choose it to snap, or pass.`;
  }
  return can("end") ? (can("call") ? "End your turn, or call?" : "End your turn?") : `${plain}.`;
}
