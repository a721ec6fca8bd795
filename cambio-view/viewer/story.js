// Sentences about events and decisions in the players' words. The cast of a table has the `kinds` of its cards, its `people`, seat a first,
// each with a name, and `you`, the letter of the person who reads, if there is one.
import { capital, cardName, counted, LETTERS, listed, rankName, withNames } from "./cards.js";

// The cast of a replay. A page can give the players and the person as `film.players` and `film.you`. An agent's name is its spec without
// parameters, and its spec if that differs; players with the same name also have the letter of their seat.
export function castOf(film) {
  const players = film.players ?? film.agents.map((spec, index) => ({ name: spec.split("(")[0], spec }));
  const isShared = (name) => players.filter((one) => one.name === name).length > 1;
  const people = players.map((one, index) => ({ ...one, name: isShared(one.name) ? `${one.name} ${LETTERS[index]}` : one.name, spec: one.spec === one.name ? undefined : one.spec }));
  return { kinds: film.kinds, people, you: film.you ?? null };
}

// Verbs and their forms for the person who reads.
const YOURS = { has: "have", is: "are", was: "were" };
const yours = (verb) => YOURS[verb] ?? verb.replace(/(?<=ss|ch)es$|s$/, "");
const SPOT = /\b([a-h])(\d{1,2})\b/g;

// The name of a player, and a player as an owner: "Ben", "Ben’s", "your", and "their own" in a sentence about `actor`.
export const nameOf = (letter, { people, you }) => (letter === you ? "you" : people[LETTERS.indexOf(letter)].name);
export const ownerOf = (letter, cast, actor = null) => (letter === cast.you ? "your" : letter === actor ? "their own" : `${nameOf(letter, cast)}’s`);
// A player with a verb in the third person: "Ben expects", "you expect".
export const doing = (letter, verb, cast) => `${nameOf(letter, cast)} ${letter === cast.you ? yours(verb) : verb}`;
// Replaces the spots in a text by cards: "a3" by "your card 3".
export const inCards = (text, cast, actor) => text.replace(SPOT, (_, letter, number) => `${ownerOf(letter, cast, actor)} card ${number}`);

// A line about an event as `{ seat, text, deed, eyed }`: the seat that acted, a sentence, what the seat did in a few words, and the spot
// that it looked at.
export function story(line, cast) {
  const { kinds, you } = cast;
  const name = (letter) => nameOf(letter, cast);
  const [, seat, rest] = /^([a-h]) (.+)$/.exec(line) ?? [null, null, line];
  const turn = /^turn of ([a-h])$/.exec(line)?.[1];
  if (turn) return { seat: turn, isTurn: true, text: `${capital(ownerOf(turn, cast))} turn` };
  if (!seat) {
    const others = line.startsWith("fastest: ") ? line.replace(/\b([a-h])(?= )/g, name)
      : line.replace(/^(extra cards? .*): (.+)$/, (_, what, seats) => `${what}: ${seats.replace(/[a-h]/g, name)}`);
    const hand = others.replace(/^([a-h])\d+: (.+)$/, (_, letter, cards) => `${ownerOf(letter, cast)} cards: ${cards}`);
    return { seat: null, text: capital(inCards(withNames(hand, kinds), cast)) };
  }
  let deed = withNames(rest, kinds)
    .replace(/^keeps it in [a-h](\d+) and/, "keeps it as card $1 and")
    .replace(/ to ([a-h]): it is now [a-h](\d+)$/, (_, to, slot) => ` to ${name(to)}, as card ${slot}`)
    .replace(/^gets a penalty card in .*/, "gets a penalty card");
  deed = inCards(deed, cast, seat);
  if (seat === you) deed = deed.replace(/^\w+|(?<= and )(?:discards|was)/g, yours);
  const eyed = /^peeks at ([a-h]\d+)/.exec(rest)?.[1] ?? null;
  return { seat, text: `${capital(name(seat))} ${deed}`, deed, eyed };
}

// A line about a score as a sentence: "Ben called and was lowest: 5 points".
export const scored = (line, cast) => story(line.replace(/^([a-h]) (?=[−\d])/, "$1 has "), cast).text;

// A decision in the players' words.
const VERBS = { keep: "keep it in place of", drop: "discard", look: "peek at", peek: "peek at", show: "turn up", take: "take the open card", end: "end the turn", cheat: "take a penalty card to peek at" };
const inWords = (action) => action.replace(/^(swap \S+)/, "$1 with").replace(/^\w+/, (verb) => VERBS[verb] ?? verb);

// A possible decision of a seat: "keep it in place of your card 2".
export const choiceOf = (by, action, cast) => inCards(inWords(action), cast, by);

// The decision of a seat as a sentence without its full stop: "Ben discards".
export const deedOf = (by, action, cast) => story(`${by} ${inWords(action).replace(/^\w+/, (verb) => verb + (/(s|ch)$/.test(verb) ? "es" : "s"))}`, cast).text;

// Why a choice of a seat is better than the one played: the sentence of the analysis in the players' words.
export const reasonOf = (reason, best, cast) => capital(reason
  .replace(/`([^`]*)`/g, (_, action) => (action === best ? "the better choice" : "the choice played"))
  .replace(/\b([a-h]) snaps (?:an own|([a-h])'s) (.+)(?= in \d)/, (_, seat, owner, rank) => {
    const kind = cast.kinds.find((one) => one.rank === rank);
    return `${seat} snaps ${ownerOf(owner ?? seat, cast, seat)} ${kind ? rankName(kind) : rank}`;
  })
  .replace(/\b([a-h]) (calls|snaps|gets|has)\b/, (_, seat, verb) => doing(seat, verb, cast)));

// The question of a step as a sentence. `verb` is the chosen verb and `first` the first card of a swap, in words.
export function prompt({ ask, scene }, { kinds, people, you, verb, first, spot }) {
  const can = (word) => ask.choices.some((choice) => choice.split(" ")[0] === word);
  const plain = capital(inCards(withNames(ask.question, kinds), { people, you }));
  const [top, held] = [kinds[scene.top], kinds[scene.held?.kind]];
  if (verb === "swap") return first ? `Swap ${first} with which card?` : `${plain}: choose the first card.`;
  if (scene.phase === "held" && held) {
    const power = held.power && !scene.held.taken && can("drop") ? ` to ${held.power.replace(/^twice: (.+)/, "$1, twice")}` : "";
    return `You hold ${cardName(held)} (${counted(held.points, "point")}). ${can("keep") ? "Choose the card that it replaces" : "You cannot keep it"}${can("drop") ? `${can("keep") ? ", or" : ":"} discard it${power}` : ""}.`;
  }
  if (verb === "touch") return "Touch a card as a bluff: everyone sees your hand, and nothing else happens. Choose one, or pass.";
  const isLast = scene.callers && !scene.callers.includes(you);
  if (scene.phase === "start") {
    const caller = isLast && capital(doing(scene.callers[0], "has", { people, you }));
    const ways = ["draw", can("take") && top && `take the ${cardName(top)}`, can("call") && "call"].filter(Boolean);
    const last = `${ways.length > 2 ? "," : ""} or $1`;
    return `${isLast ? `${caller} called. Your last turn` : "Your turn"}: ${ways.join(", ").replace(/, ([^,]*)$/, last)}.`;
  }
  if (ask.window && top) {
    if (ask.matches.length) return `${capital(listed(ask.matches.map(spot)))} ${ask.matches.length > 1 ? "match" : "matches"} the ${cardName(top)}. Snap ${ask.matches.length > 1 ? "one" : "it"}, or pass.`;
    return ask.question.includes("same points") ? `${plain}.` : `Do you know where another ${rankName(top)} is? Choose it to snap it, or pass.`;
  }
  return can("end") ? (can("call") ? "End your turn, or call?" : "End your turn?") : `${plain}.`;
}
