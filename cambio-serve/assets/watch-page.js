// Watches a match that is over: of a table, of a run, or of a file that somebody brings.
import { chances } from "./chances.js";
import { watch } from "./watch.js";
import { ask, h } from "./common.js";

const main = document.getElementById("main");
const asked = new URLSearchParams(location.search);

async function show(made) {
  try {
    const { film, record } = await made;
    const match = JSON.parse(record);
    watch(main, film, {
      explain: (round, decision, agent) => ask("api/explain", { record: match, round, decision, agent }),
      chances: (viewer) => chances(film, match, viewer),
    });
  } catch (error) {
    begin(error.message);
  }
}

// Reads a file of records; of several, the one whose line is asked for.
async function read(file, line) {
  const records = (await file.text()).split("\n").filter((text) => text.trim());
  const record = records[line - 1];
  if (!record) throw new Error(`${file.name} has ${records.length} records; allowed is a line from 1 to ${records.length}`);
  const answer = await fetch("api/film", { method: "POST", headers: { "Content-Type": "application/json" }, body: record });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

function begin(problem) {
  const line = h("input", { type: "number", min: 1, value: 1, "aria-label": "Which record, by its line" });
  const file = h("input", { type: "file", accept: ".jsonl,.json", "aria-label": "A file of records", onchange: () => file.files[0] && show(read(file.files[0], Number(line.value))) });
  const drop = h("div", {
    class: "drop",
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
    ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); show(read(event.dataTransfer.files[0], Number(line.value))); },
  }, h("p", {}, "Drop a file of records here, or choose one."), h("p", {}, file), h("label", {}, "Record number ", line));
  main.replaceChildren(h("h1", {}, "Watch a match"), problem ? h("p", { class: "trouble", role: "alert" }, problem) : "", drop,
    h("p", { class: "facts" }, "Records are what `cambio run --records`, `cambio play --record` and a table write. Matches of runs are on the page ", h("a", { href: "runs" }, "Runs"), "."));
}

if (asked.has("table")) show(ask(`api/tables/${encodeURIComponent(asked.get("table"))}/film`));
else if (asked.has("run")) show(ask(`api/runs/film?${asked}`));
else begin();
