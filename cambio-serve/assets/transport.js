// The connection of the pages to the program that plays: requests, and the steps of a table.

// Sends a request and returns its answer; throws an error with the message of the answer if the request fails. A body that is a
// text is already JSON, for example a record.
export async function ask(path, body) {
  const request = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: typeof body === "string" ? body : JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Error("no answer from the server; is `cambio serve` still running?");
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(content.error ?? `the server returned status ${answer.status}`);
  return content;
}

// The path of a request about a table.
export const at = (table, what) => `api/tables/${encodeURIComponent(table)}/${what}`;

// Follows a table. `hello` receives its current state, at first and after a lost connection, and `step` each later step. `lost` is
// called when the connection is lost and tried again, `gone` with a sentence if the table cannot be followed any more.
export function follow(table, { hello, step, lost, gone }) {
  const source = new EventSource(at(table, "events"));
  let isKnown = false;
  source.addEventListener("hello", (event) => { isKnown = true; hello(JSON.parse(event.data)); });
  source.addEventListener("step", (event) => step(JSON.parse(event.data)));
  source.addEventListener("error", async () => {
    if (isKnown && source.readyState !== EventSource.CLOSED) return lost();
    source.close();
    const problem = await ask(at(table, "record")).catch((error) => error);
    const text = problem instanceof Error ? problem.message : "the table does not respond";
    if (/in progress/.test(text)) return setTimeout(follow, 1000, table, { hello, step, lost, gone });
    return gone(text);
  });
}

// Saves the record of a finished match as a file.
export async function save(table) {
  const answer = await fetch(at(table, "record"));
  const text = await answer.text();
  if (!answer.ok) throw new Error(JSON.parse(text).error);
  const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: `cambio-${table}.jsonl` });
  link.click();
  // Later, because some browsers read the address after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
