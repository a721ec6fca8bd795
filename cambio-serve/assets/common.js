// Shared by all pages: requests to the server, and settings stored in this browser.

export { h, LETTERS } from "./table.js";

// Sends a request to the server; throws an error with the server's message if it fails.
export async function ask(path, body) {
  const request = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Error("no answer from the server; is `cambio serve` still running?");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.error ?? `the server returned status ${answer.status}`);
  return told;
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
