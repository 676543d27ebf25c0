#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";

/** The installed command: says so when Node is too old, else hands over to the compiled program. */
const NEEDED_MAJOR = 24;
const version = process.versions.node;

if (Number.parseInt(version, 10) < NEEDED_MAJOR) {
  process.stderr.write(`rxlet: needs Node ${NEEDED_MAJOR} or later, this is ${version}\n`);
  process.exit(1);
}
// Left alone the young generation grows to 128 MiB in a burst of pods and keeps it for minutes, all of it resident.
// Kept small, a daemon that has just started 100 pods is a quarter to a third smaller, at the same CPU time.
setFlagsFromString("--semi-space-growth-factor=1");
// And collected by the main thread alone: helpers have to be scheduled first, and on a busy machine it waits for them
// longer than it takes by itself. Of collections beside other work nine in ten end within half the time.
setFlagsFromString("--no-parallel-scavenge");
await import("../dist/main.js");
