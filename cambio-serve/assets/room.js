// The people at a table of several people: their seats before the match begins, and who is there during the match.
import { h, LETTERS, levelOf, people } from "./common.js";
import { ask, at, isGuest } from "./transport.js";

const names = ({ players, seat }) => people(players.map(({ agent }) => agent ?? "person"), seat, players.map(({ agent, name }) => (agent === null ? name ?? "" : null)));

// A link with a button that copies it.
function linkField(link, name) {
  const field = h("input", { type: "text", readonly: true, value: link, "aria-label": `Link for ${name}`, onfocus: () => field.select() });
  const copy = h("button", { type: "button", onclick: async () => {
    await navigator.clipboard.writeText(link).then(() => { copy.textContent = "Copied"; }, () => field.focus());
  } }, "Copy the link");
  return h("span", { class: "link" }, field, copy);
}

// Sends a request about the room. `problem` shows why it fails.
async function request(table, what, body, problem) {
  problem.hidden = true;
  try {
    return await ask(at(table, what), body);
  } catch (error) {
    problem.hidden = false;
    problem.textContent = error.message;
    return null;
  }
}

// The page before the match begins. `update` shows a new state of the room.
export class WaitingRoom {
  constructor(table) {
    this.list = h("ul", { class: "room" });
    this.status = h("p", { role: "status" });
    this.problem = h("p", { class: "trouble", role: "alert", hidden: true });
    this.name = h("input", { type: "text", maxlength: 24, autocomplete: "nickname", placeholder: "optional" });
    this.begin = h("button", { type: "button", class: "primary", id: "begin", onclick: () => request(table, "begin", {}, this.problem) });
    this.take = h("button", { type: "submit", class: "primary" }, "Take the seat");
    const sit = (event) => {
      event.preventDefault();
      request(table, "sit", { name: this.name.value }, this.problem);
    };
    const cancel = h("button", { type: "button", onclick: async () => { if (await request(table, "close", {}, this.problem)) location.assign("./"); } }, "Close the table");
    const actions = isGuest ? h("form", { class: "row", id: "sit", onsubmit: sit }, h("label", {}, "Your name ", this.name), this.take)
      : h("p", { class: "row" }, this.begin, cancel);
    this.note = h("p", { class: "facts", hidden: true }, "These links work only on this computer. To play with friends in your network, start ", h("code", {}, "cambio serve --host"), " with the address of this computer.");
    this.element = h("div", { class: "page waiting" }, h("h1", {}, "Waiting for players"), this.list, this.note, this.status, actions, this.problem);
  }

  update(room) {
    const { players, seat } = room;
    const own = LETTERS.indexOf(seat);
    const shown = names(room);
    const empty = players.filter(({ agent, name }) => agent === null && name === null).length;
    const state = ({ agent, name, is_here: isHere }) => (agent !== null ? `bot: ${levelOf(agent)?.name ?? agent}` : name === null ? (isHere ? "link opened" : "not here yet") : isHere ? "ready" : "away");
    // The fields with the links stay, so that a text that is being copied stays selected.
    this.fields ??= players.map(({ link }, index) => (link ? linkField(link, shown[index].name) : ""));
    this.list.replaceChildren(...players.map((player, index) => h("li", {},
      h("b", {}, index === own && player.name ? `${player.name} (you)` : shown[index].name), h("span", { class: "state" }, state(player)), this.fields[index])));
    this.note.hidden = !players.some(({ link }) => link?.startsWith("http://127.0.0.1"));
    this.begin.classList.toggle("primary", !empty);
    this.begin.textContent = empty ? `Start now, with ${empty === 1 ? "a bot in the empty seat" : `bots in ${empty} empty seats`}` : "Start";
    const isSeated = players[own].name !== null;
    this.take.textContent = isSeated ? "Change the name" : "Take the seat";
    this.status.textContent = isGuest && !isSeated ? "You have been invited to this table. Take your seat."
      : isGuest ? "The match begins when all seats are taken, or when the host starts it."
      : "Give each friend one link. The match begins when all seats are taken.";
  }
}

// The list of people beside the table. The host can put a bot in the place of a person.
export class Company {
  constructor(table) {
    this.table = table;
    this.list = h("ul", { class: "room" });
    this.problem = h("p", { class: "trouble", role: "alert", hidden: true });
    this.element = h("details", { class: "company" }, h("summary", {}, "People"), this.list, this.problem);
  }

  // Whether the person in a seat has closed the page.
  isAway(seat) {
    const player = this.players?.[LETTERS.indexOf(seat)];
    return Boolean(player) && player.agent === null && !player.is_here;
  }

  update(room) {
    const shown = names(room);
    const isHost = room.seat === room.host;
    Object.assign(this, { players: room.players, isHost });
    const replace = (seat, name, isHere) => {
      if (isHere && !confirm(`${name} is here. Let a bot play on in this seat? ${name} cannot come back.`)) return;
      request(this.table, "replace", { seat }, this.problem);
    };
    this.list.replaceChildren(...room.players.flatMap(({ agent, is_here: isHere }, index) => {
      const seat = LETTERS[index];
      if (agent !== null) return [];
      const button = isHost && seat !== room.host ? h("button", { type: "button", class: "small", "aria-label": `Let a bot play on for ${shown[index].name}`, onclick: () => replace(seat, shown[index].name, isHere) }, "Let a bot play on") : "";
      return [h("li", {}, h("b", {}, shown[index].name), h("span", { class: "state" }, `${seat === room.host ? "host, " : ""}${isHere ? "here" : "away"}`), button)];
    }));
  }
}
