// The start page, which opens a table.
import { ask, h, LETTERS, remember, remembered } from "./common.js";

const main = document.getElementById("main");
const options = await ask("api/options").catch((error) => main.replaceChildren(h("p", { class: "trouble" }, error.message)));

if (options) {
  const last = remembered("wish", { rules: "classic", opponents: ["greedy", "heuristic"], seat: "a", notes: true, practice: true });
  const opponents = h("ol", { class: "opponents", start: 1 });
  const problem = h("p", { class: "trouble", role: "alert", hidden: true });
  const short = h("div", { class: "short", "aria-live": "polite" });
  const field = (label, input, note) => h("label", { class: "field" }, h("span", {}, label), input, note ? h("small", {}, note) : null);
  const presets = h("select", { id: "rules", onchange: explain },
    ...options.presets.map(({ name }) => h("option", { value: name, selected: name === last.rules }, name)),
    h("option", { value: "file" }, "my own rule file"));
  const file = h("textarea", { rows: 6, spellcheck: "false", placeholder: "base = \"classic\"\nname = \"my table\"\nhand = 6" });
  const fileField = field("Rule file", file, "Name a preset as `base`, then list only what differs. `cambio rules classic` prints a complete file.");
  const seat = h("select", { id: "seat" });
  const check = (id, checked) => h("input", { type: "checkbox", id, checked });
  const notes = check("notes", last.notes);
  const practice = check("practice", last.practice);
  const round = check("round", last.one_round);
  const reaction = h("select", { id: "reaction" }, ...[["", "by chance"], [1500, "by speed: bots need about 1.5 s"], [1000, "by speed: bots need about 1 s"], [600, "by speed: bots need about 0.6 s"]]
    .map(([value, word]) => h("option", { value, selected: String(value) === String(last.reaction ?? "") }, word)));
  const seed = h("input", { type: "text", maxlength: 64, autocomplete: "off", placeholder: "random" });
  const more = h("button", { type: "button", onclick: () => { add("greedy"); opponents.lastChild.querySelector("input").focus(); } }, "Add an opponent");
  const names = h("datalist", { id: "agents" }, ...options.agents.map(({ spec, about }) => h("option", { value: spec }, about)));

  function add(spec) {
    const about = h("small");
    const input = h("input", { type: "text", list: "agents", value: spec, required: true, maxlength: 300, autocomplete: "off", spellcheck: "false", "aria-label": "Opponent", oninput: tell });
    function tell() {
      const known = options.agents.find((agent) => agent.spec === input.value.split("(")[0].trim());
      about.textContent = known ? known.about + (known.params ? ` Parameters: ${known.params.length > 90 ? `${known.params.slice(0, 90)}…` : known.params}.` : "") : "";
    }
    const entry = h("li", {}, input, h("button", { type: "button", "aria-label": "Remove this opponent", title: "Remove this opponent", onclick: () => { entry.remove(); sit(); more.focus(); } }, "×"), about);
    opponents.append(entry);
    tell();
    sit();
  }

  // Fills the list of seats: one for each player.
  function sit() {
    const count = opponents.children.length + 1;
    const was = seat.value || last.seat;
    seat.replaceChildren(...[...LETTERS.slice(0, count)].map((letter) => h("option", { value: letter, selected: letter === was }, letter)));
    more.disabled = count >= 8;
    opponents.querySelectorAll("button").forEach((button) => { button.disabled = count <= 2; });
  }

  function explain() {
    const preset = options.presets.find(({ name }) => name === presets.value);
    fileField.hidden = Boolean(preset);
    short.replaceChildren(...(preset ? preset.in_short.map((line) => h("p", {}, line)) : [h("p", {}, "You will see the rules at the table.")]));
  }

  async function open(event) {
    event.preventDefault();
    const request = {
      rules: presets.value === "file" ? file.value : presets.value,
      opponents: [...opponents.querySelectorAll("input")].map((input) => input.value.trim()),
      seat: seat.value, notes: notes.checked, practice: practice.checked, one_round: round.checked,
      reaction: Number(reaction.value) || null,
    };
    if (presets.value !== "file") remember("wish", request);
    try {
      const { table } = await ask("api/tables", { ...request, seed: seed.value.trim() || null });
      location.href = `play.html?table=${table}`;
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
    }
  }

  main.replaceChildren(
    h("h1", {}, "Play Cambio"),
    h("p", { class: "facts" }, "A card game of memory and speed, against bots of your choice."),
    options.tables.length ? h("p", {}, "Open tables: ", ...options.tables.map((table) => h("a", { class: "chip", href: `play.html?table=${table}` }, `table ${table}`))) : "",
    h("form", { class: "form", onsubmit: open },
      field("Rules", presets), fileField,
      h("section", { class: "short-box", "aria-label": "How to play" }, short),
      h("fieldset", {}, h("legend", {}, "Opponents"), opponents, names, more, h("small", {}, "A bot can have parameters, such as greedy(call_at=7).")),
      field("Your seat", seat),
      field("If several players snap, who is first?", reaction, "By speed: the fastest snap wins, and bots need about the time that you choose here. By chance: you can take your time."),
      h("fieldset", {}, h("legend", {}, "Options"),
        h("label", { class: "check" }, notes, h("span", {}, "Keep showing the cards that I have seen", h("small", {}, "If off, you see a card only for a moment and have to remember it."))),
        h("label", { class: "check" }, practice, h("span", {}, "Practice", h("small", {}, "Allow hints and undo."))),
        h("label", { class: "check" }, round, h("span", {}, "Play one round only"))),
      h("details", {}, h("summary", {}, "Play a specific deal"), field("Seed", seed, "A whole number or a text. Anyone with this seed gets the same deal.")),
      problem,
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary", id: "deal" }, "Deal"))));
  (last.opponents.length ? last.opponents : ["greedy"]).forEach(add);
  explain();
}
