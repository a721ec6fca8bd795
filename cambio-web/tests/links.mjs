// Packs and unpacks records as links do, in Node: node links.mjs LINKS_JS SEED CHANGES. A changed link gives a text or an error.
import assert from "node:assert/strict";
import { deflateRawSync } from "node:zlib";

globalThis.document = { querySelector: () => null };
globalThis.location = new URL("http://127.0.0.1/watch.html");
const [module, seed, changes] = process.argv.slice(2);
const { pack, unpack } = await import(module);

const letters = (bytes) => Buffer.from(bytes).toString("base64url");
const text = JSON.stringify({ format: "cambio-record/1", agents: ["ä", "🂡"], rounds: Array(500).fill({ deck: ["h1", "s13"] }) });
const link = await pack(text);
assert.equal(await unpack(link), text);

// A megabyte that unpacks to a gigabyte.
const damaged = { message: "the link is damaged or incomplete; copy it again" };
const before = process.memoryUsage.rss();
await assert.rejects(unpack(letters(deflateRawSync(Buffer.alloc(2 ** 30)))), damaged);
const grown = process.memoryUsage.rss() - before;
assert.ok(grown < 2 ** 28, `${grown} bytes`);

// A linear congruential generator, so that a failure can be repeated.
let state = BigInt(seed);
const below = (bound) => {
  state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
  return Number((state >> 33n) % BigInt(bound));
};
let read = 0;
for (let round = 0; round < Number(changes); round += 1) {
  const bytes = Buffer.from(link, "base64url");
  for (let change = below(4); change >= 0; change -= 1) bytes[below(bytes.length)] ^= 1 << below(8);
  const changed = letters(bytes.subarray(0, below(4) ? bytes.length : below(bytes.length)));
  await unpack(changed).then((found) => { read += typeof found === "string"; }, (error) => assert.equal(error.message, damaged.message));
}
for (const strange of ["", "=", "%00", "ä", "A".repeat(99999), "null"]) {
  await unpack(strange).catch((error) => assert.equal(error.message, damaged.message));
}
console.log(read);
