// Answers requests with the program in WebAssembly, in Node: node play.mjs MODULE NETWORKS. Reads the path and the body of a request from
// each line. For a match it writes the record, for a review the finished review, or the error, and the time in milliseconds.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { Program } from "../site/program.js";

const [module, networks] = process.argv.slice(2);
const program = new Program();
const { instance } = await WebAssembly.instantiate(fs.readFileSync(module), program.imports(({ panic }) => panic && console.error(panic)));
program.start(instance, [1n, 2n]);

function ask(request, body) {
  for (;;) {
    const { status, content } = program.request(request, body);
    if (status !== 424) return JSON.parse(content);
    for (const file of JSON.parse(content).error.split(" ")) program.provide(file, new Uint8Array(fs.readFileSync(path.join(networks, file))));
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const begun = performance.now();
  const space = line.indexOf(" ");
  const { record, review, error } = ask(line.slice(0, space), line.slice(space + 1));
  if (review) while (program.work());
  const found = review ? program.request(`api/reviews/${review}`).content : record ?? error;
  console.log(JSON.stringify({ found, time: performance.now() - begun }));
}
