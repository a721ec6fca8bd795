// Code that all pages share: the connection, and settings that this browser stores.

export { h, inWords, LETTERS } from "./table.js";
export { ask } from "./transport.js";

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
