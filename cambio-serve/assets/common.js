// What all pages share: requests to the server, and what is kept in this browser.

export { h, LETTERS } from "./table.js";

// Asks the server; a problem becomes an error with its sentence.
export async function ask(path, body) {
  const request = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Error("the server does not answer; is `cambio serve` still running?");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.error ?? `the server answers ${answer.status}`);
  return told;
}

// A choice that this browser remembers.
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
    // A browser that keeps nothing asks again next time.
  }
}
