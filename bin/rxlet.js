#!/usr/bin/env node
/** The installed command: says so when Node is too old, else hands over to the compiled program. */
const NEEDED_MAJOR = 24;
const version = process.versions.node;

if (Number.parseInt(version, 10) < NEEDED_MAJOR) {
  process.stderr.write(`rxlet: needs Node ${NEEDED_MAJOR} or later, this is ${version}\n`);
  process.exit(1);
}
await import("../dist/main.js");
