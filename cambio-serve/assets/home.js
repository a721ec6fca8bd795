// The page on which a table is opened.
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
    h("option", { value: "file" }, "a rule file of your own"));
  const file = h("textarea", { rows: 6, spellcheck: "false", placeholder: "base = \"classic\"\nname = \"my table\"\nhand = 6" });
  const fileField = field("The rule file", file, "As `cambio rules classic` prints one; after `base` only what differs.");
  const seat = h("select", { id: "seat" });
  const check = (id, checked) => h("input", { type: "checkbox", id, checked });
  const notes = check("notes", last.notes);
  const practice = check("practice", last.practice);
  const round = check("round", last.one_round);
  const reaction = h("select", { id: "reaction" }, ...[["", "chance"], [1500, "speed: agents take 1.5 s"], [1000, "speed: agents take 1 s"], [600, "speed: agents take 0.6 s"]]
    .map(([value, word]) => h("option", { value, selected: String(value) === String(last.reaction ?? "") }, word)));
  const seed = h("input", { type: "text", maxlength: 64, autocomplete: "off", placeholder: "a random one" });
  const more = h("button", { type: "button", onclick: () => { add("greedy"); opponents.lastChild.querySelector("input").focus(); } }, "Add an opponent");
  const names = h("datalist", { id: "agents" }, ...options.agents.map(({ spec, about }) => h("option", { value: spec }, about)));

  function add(spec) {
    const about = h("small");
    const input = h("input", { type: "text", list: "agents", value: spec, required: true, maxlength: 300, autocomplete: "off", spellcheck: "false", "aria-label": "An opponent", oninput: tell });
    function tell() {
      const known = options.agents.find((agent) => agent.spec === input.value.split("(")[0].trim());
      about.textContent = known ? known.about + (known.params ? ` Parameters: ${known.params.length > 90 ? `${known.params.slice(0, 90)}…` : known.params}.` : "") : "";
    }
    const entry = h("li", {}, input, h("button", { type: "button", "aria-label": "Remove this opponent", title: "Remove this opponent", onclick: () => { entry.remove(); sit(); more.focus(); } }, "×"), about);
    opponents.append(entry);
    tell();
    sit();
  }

  // As many seats as there are players.
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
    short.replaceChildren(...(preset ? preset.in_short.map((line) => h("p", {}, line)) : [h("p", {}, "The rules are shown at the table.")]));
  }

  async function open(event) {
    event.preventDefault();
    const wish = {
      rules: presets.value === "file" ? file.value : presets.value,
      opponents: [...opponents.querySelectorAll("input")].map((input) => input.value.trim()),
      seat: seat.value, notes: notes.checked, practice: practice.checked, one_round: round.checked,
      reaction: Number(reaction.value) || null,
    };
    if (presets.value !== "file") remember("wish", wish);
    try {
      const { table } = await ask("api/tables", { ...wish, seed: seed.value.trim() || null });
      location.href = `play?table=${table}`;
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
    }
  }

  main.replaceChildren(
    h("h1", {}, "Play Cambio"),
    h("p", { class: "facts" }, "A game of memory and speed, on this machine, against agents of your choice."),
    options.tables.length ? h("p", {}, "Open tables: ", ...options.tables.map((table) => h("a", { class: "chip", href: `play?table=${table}` }, `table ${table}`))) : "",
    h("form", { class: "form", onsubmit: open },
      field("Rules", presets), fileField,
      h("section", { class: "short-box", "aria-label": "The rules in three lines" }, short),
      h("fieldset", {}, h("legend", {}, "Opponents"), opponents, names, more, h("small", {}, "Any agent with any parameters, such as greedy(call_at=7).")),
      field("Your seat", seat),
      field("Who is first when several snap", reaction, "By speed your time is that from the open window to your snap. Those of the agents are drawn: half of them are faster than the time named here, and two of three lie between it divided and multiplied by 1.35."),
      h("fieldset", {}, h("legend", {}, "How"),
        h("label", { class: "check" }, notes, h("span", {}, "Show what I have seen", h("small", {}, "Otherwise cards are shown for a moment, and you have to remember them."))),
        h("label", { class: "check" }, practice, h("span", {}, "Practice", h("small", {}, "Hints can be had, and decisions taken back."))),
        h("label", { class: "check" }, round, h("span", {}, "One round instead of a match"))),
      h("details", {}, h("summary", {}, "The same cards again"), field("Seed of the deal", seed, "A whole number or a text. Who knows it, knows the cards.")),
      problem,
      h("div", { class: "row" }, h("button", { type: "submit", class: "primary", id: "deal" }, "Deal"))));
  (last.opponents.length ? last.opponents : ["greedy"]).forEach(add);
  explain();
}
