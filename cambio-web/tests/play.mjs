// Answers requests with the program in WebAssembly, in Node: node play.mjs MODULE NETWORKS. Reads a body for api/matches from each line
// and writes the record, or the error, and the time in milliseconds.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { Program } from "../site/program.js";

const [module, networks] = process.argv.slice(2);
const program = new Program();
const { instance } = await WebAssembly.instantiate(fs.readFileSync(module), program.imports((message) => console.error(message)));
program.start(instance, [1n, 2n]);

function play(body) {
  for (;;) {
    const { status, content } = program.request("api/matches", body);
    if (status !== 424) return JSON.parse(content);
    for (const file of JSON.parse(content).error.split(" ")) program.provide(file, new Uint8Array(fs.readFileSync(path.join(networks, file))));
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const begun = performance.now();
  const { record, error } = play(line);
  console.log(JSON.stringify({ record: record ?? error, time: performance.now() - begun }));
}
