// Code that all pages share: requests to the server, and settings that this browser stores.

export { h, inWords, LETTERS } from "./table.js";

// Sends a request to the server; throws an error with the server's message if it fails.
export async function ask(path, body) {
  const request = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
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

// A setting stored in this browser.
export function remembered(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`cambio.${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`cambio.${name}`, JSON.stringify(value));
  } catch {
    // Without local storage the setting is not kept.
  }
}
