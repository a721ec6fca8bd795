// The start page: one button that opens a table, and the settings of the match.
import { face, picture } from "./cards.js";
import { h, LETTERS, LEVELS, levelOf, listed, MOST, people, quick, REACTIONS, remember, remembered, RULES, rulesName } from "./common.js";
import { deck, steps } from "./deck.js";
import { isLesson, openLesson } from "./guide.js";
import { dailyPanel, isLink } from "./links.js";
import { ask, at, openTable, openTables } from "./transport.js";

const main = document.getElementById("main");
// What sets each game apart, and the cards of its picture.
const GAMES = {
  classic: ["A common deck. One round, and the caller must be lowest alone.", ["6h", "Kd", "Qs", "8c"]],
  original: ["The German game with runes. Rounds are added up to 50 points.", ["0", "look", "swap", "KR"]],
  faessler: ["Swiss Jass cards. Several players may call; rounds are added up to 50 points.", ["FR", "UC", "8S", "1E"]],
};

function start(options) {
  const wish = remembered("wish");
  const preset = (name) => options.presets.find((one) => one.name === name);
  // Another version of the program can have other rules.
  if (!preset(wish.rules) && wish.rules !== "file") wish.rules = "classic";
  const problem = h("p", { class: "trouble", role: "alert", hidden: true });
  const summary = h("p", { class: "summary", "aria-live": "polite" });
  const field = (label, input, note) => h("label", { class: "field" }, h("span", {}, label), input, note ? h("small", {}, note) : null);
  const check = (id, checked) => h("input", { type: "checkbox", id, checked });
  const option = (input, label, note) => h("label", { class: "check" }, input, h("span", {}, label, note ? h("small", {}, note) : null));

  // The games with pictures, and a list of all other rules.
  const others = h("select", { id: "rules", "aria-label": "Other rules", onchange: choose },
    ...options.presets.filter(({ name }) => !RULES[name]).map(({ name }) => h("option", { value: name }, name)), h("option", { value: "file" }, "my own rule file"));
  const radio = (value) => h("input", { type: "radio", name: "game", value, checked: value === wish.rules || (value === "other" && !RULES[wish.rules]), onchange: choose });
  const games = h("div", { class: "games" }, ...Object.entries(GAMES).map(([name, [about, labels]]) => h("label", { class: "game-card" }, radio(name),
    h("span", { class: "fan" }, ...labels.map((label) => picture(preset(name).kinds.find((kind) => kind.label === label)))), h("b", {}, rulesName(name)), h("small", {}, about))),
  h("label", { class: "game-card" }, radio("other"), h("b", {}, "Other rules"), h("small", {}, "Variants of the original deck, or your own house rules."), others));
  if (!RULES[wish.rules]) others.value = wish.rules;
  const file = h("textarea", { rows: 6, spellcheck: "false", placeholder: "base = \"classic\"\nname = \"my table\"\nhand = 6" }, wish.file);
  const fileField = field("Rule file", file, "Name a preset as `base`, then list only what differs. `cambio rules classic` prints a complete file.");
  const rulesBox = h("div", { class: "rules-box" });
  const chosenRules = () => {
    const value = games.querySelector("input:checked").value;
    return value === "other" ? others.value : value;
  };

  const opponents = h("ol", { class: "opponents" });
  const more = h("button", { type: "button", onclick: () => { add(LEVELS[1].spec); opponents.lastChild.querySelector("select").focus(); } }, "Add an opponent");
  const specs = h("datalist", { id: "agents" }, ...options.agents.map(({ spec, about }) => h("option", { value: spec }, about)));
  const seat = h("select", { id: "seat", onchange: update });
  const notes = check("notes", wish.notes);
  const practice = check("practice", wish.practice);
  const round = check("round", wish.one_round);
  const reaction = h("select", { id: "reaction" }, ...REACTIONS.map((time) => h("option", { value: time ?? "", selected: time === wish.reaction }, time ? `the fastest: bots need about ${time / 1000} s` : "a random player: no hurry")));
  const seed = h("input", { type: "text", maxlength: 64, autocomplete: "off", placeholder: "random" });
  const guided = check("guided", !remembered("guided"));
  guided.addEventListener("change", update);

  const specOf = (entry) => entry.querySelector("input").value.trim();

  function add(spec) {
    const known = levelOf(spec);
    const about = h("small");
    const input = h("input", { type: "text", list: "agents", value: spec, maxlength: 300, autocomplete: "off", spellcheck: "false", "aria-label": "Agent spec", oninput: describe });
    const level = h("select", { "aria-label": "Level", onchange: () => { if (level.value) input.value = level.value; describe(); } },
      ...LEVELS.map((one) => h("option", { value: one.spec, selected: one === known }, one.name)),
      h("option", { value: "", selected: !known }, "Other agent"));
    const name = h("b", {});
    const entry = h("li", {}, name, level, h("button", { type: "button", class: "remove", onclick: () => { entry.remove(); sit(); more.focus(); } }, "×"), about, input);
    function describe() {
      input.hidden = Boolean(level.value);
      const agent = options.agents.find((one) => one.spec === input.value.split("(")[0].trim());
      about.textContent = levelOf(input.value)?.about ?? (agent ? `${agent.about}${agent.params ? ` Parameters: ${agent.params}.` : ""}` : "The name of an agent, with parameters if you like: greedy(call_at=7).");
      update();
    }
    opponents.append(entry);
    sit();
    describe();
  }

  // Names the opponents and fills the list of seats: one for each player.
  function sit() {
    const count = opponents.children.length + 1;
    const was = seat.value || wish.seat;
    seat.replaceChildren(...[...LETTERS.slice(0, count)].map((letter) => h("option", { value: letter, selected: letter === was }, letter)));
    more.disabled = count > MOST;
    opponents.querySelectorAll(".remove").forEach((button) => { button.disabled = count <= 2; });
    update();
  }

  function request() {
    return { rules: chosenRules() === "file" ? file.value : chosenRules(), opponents: quick([...opponents.children].map(specOf)),
      seat: seat.value, notes: notes.checked, practice: practice.checked, one_round: round.checked, reaction: Number(reaction.value) || null };
  }

  // Updates the names of the opponents and the summary under the button.
  function update() {
    const { opponents: playing } = request();
    const all = [...playing];
    all.splice(LETTERS.indexOf(seat.value || "a"), 0, "person");
    const names = people(all, seat.value).filter((_, index) => LETTERS[index] !== seat.value);
    [...opponents.children].forEach((entry, index) => {
      entry.querySelector("b").replaceChildren(face(names[index].level), ` ${names[index].name}`);
      entry.querySelector(".remove").setAttribute("aria-label", `Remove ${names[index].name}`);
    });
    summary.textContent = `${guided.checked ? "Three short lessons, then " : ""}${rulesName(chosenRules() === "file" ? "your own rules" : chosenRules())}, against ${listed(names.map(({ name, title }) => `${name} (${title})`))}`;
  }

  function choose() {
    const chosen = preset(chosenRules());
    const isOther = games.querySelector("input:checked").value === "other";
    others.hidden = !isOther;
    fileField.hidden = Boolean(chosen);
    rulesBox.replaceChildren(...(chosen ? [steps(chosen), ...chosen.in_short.map((line) => h("p", {}, line)), h("h2", {}, "Cards and powers"), deck(chosen)] : [h("p", {}, "The rules are shown at the table.")]));
    update();
  }

  async function open(event) {
    event.preventDefault();
    const body = request();
    remember("wish", { ...body, rules: chosenRules(), file: file.value });
    try {
      if (guided.checked) await openLesson(1);
      else location.href = `play.html?table=${await openTable({ ...body, seed: seed.value.trim() || null })}`;
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
      problem.scrollIntoView({ block: "nearest" });
    }
  }

  // Lessons begin again when they are opened again.
  openTables().filter(({ table }) => isLesson(table)).forEach(({ table }) => ask(at(table, "close"), {}).catch(() => {}));
  const hero = ["Ah", "6h", "Js", "Qd", "Kc"].map((label) => picture(preset("classic").kinds.find((kind) => kind.label === label)));
  main.replaceChildren(h("form", { class: "start", onsubmit: open },
    h("section", { class: "hero" },
      h("div", { class: "fan", "aria-hidden": "true" }, ...hero),
      h("h1", {}, "Cambio"),
      h("p", { class: "lead" }, "Four cards, face down. You know two of them. Swap, peek and snap your way to the fewest points, then call."),
      h("button", { type: "submit", class: "primary big", id: "deal" }, "Play"),
      summary, option(guided, "Start with three short lessons")),
    problem,
    dailyPanel(),
    tables(openTables()),
    h("details", { class: "panel", id: "settings" }, h("summary", {}, "Change the game: rules, opponents, options"),
      h("fieldset", {}, h("legend", {}, "Rules"), games, fileField),
      h("fieldset", {}, h("legend", {}, "Opponents"), opponents, specs, more),
      h("fieldset", { class: "columns" }, h("legend", {}, "Options"),
        h("div", {}, option(notes, "Keep showing the cards that I have seen", "If off, you see a card only for a moment and have to remember it."),
          option(practice, "Practice", "Allow hints and undo."), option(round, "Play one round only")),
        h("div", {}, field("Who wins if several players snap?", reaction),
          field("Your seat", seat, "Seat a usually begins."),
          field("Seed", seed, "A number or a text. Anyone with this seed gets the same deal."))),
      h("button", { type: "submit", class: "primary" }, "Play")),
    h("details", { class: "panel" }, h("summary", {}, "How to play"), rulesBox)));
  wish.opponents.forEach(add);
  choose();
}

// The open tables: the rules, the opponents, and whether the match is over.
function tables(open) {
  if (!open.length) return "";
  return h("section", { class: "panel" }, h("h2", {}, "Your tables"), h("ul", { class: "tables" }, ...open.map(({ table, rules, names, seat, round, over }) => {
    const bots = people(names, seat).filter((_, index) => LETTERS[index] !== seat).map(({ name, title }) => `${name} (${title})`);
    const link = (href, words, isPrimary) => h("a", { class: isPrimary ? "button primary" : "button", href, "aria-label": `${words}: table ${table}, ${rulesName(rules)}` }, words);
    const remove = (event) => ask(at(table, "close"), {}).then(() => { event.target.closest("li").remove(); document.getElementById("deal").focus(); });
    return h("li", {}, h("span", {}, h("b", {}, rulesName(rules)), ` against ${listed(bots)}`, h("small", {}, over ? "finished" : `in progress, round ${round}`)),
      h("span", { class: "row" }, ...(over ? [link(`play.html?table=${table}`, "Result"), link(`watch.html?table=${table}`, "Replay"), h("button", { type: "button", "aria-label": `Remove: table ${table}, ${rulesName(rules)}`, onclick: remove }, "Remove")] : [link(`play.html?table=${table}`, "Continue", true)])));
  })));
}

const failed = (error) => main.replaceChildren(h("p", { class: "trouble", role: "alert" }, error.message), h("p", {}, h("a", { class: "button primary", href: "./" }, "Go to the start page")));
// The page of a table opens links to deals, also those that are pasted into the address of this page.
const follow = () => location.replace(`play.html${location.hash}`);
addEventListener("hashchange", () => { if (isLink()) follow(); });
if (isLink()) follow();
else ask("api/options").then(start).catch(failed);
