/** A thread that swaps a directory for a link to another place, and back, as fast as a thread can. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { Worker } from "node:worker_threads";

const PROGRAM = `
const fs = require("node:fs");
const { workerData, parentPort } = require("node:worker_threads");
const { place, target, stop } = workerData;
const aside = place + ".aside";
const isOver = new Int32Array(stop);
// Others make and remove things there meanwhile: what cannot be done is left.
const attempt = (change) => {
  try {
    change();
    return true;
  } catch {
    return false;
  }
};
for (let swaps = 0; Atomics.load(isOver, 0) === 0; swaps += 1) {
  attempt(() => fs.renameSync(place, aside));
  attempt(() => fs.symlinkSync(target, place));
  attempt(() => fs.unlinkSync(place));
  if (!attempt(() => fs.renameSync(aside, place))) {
    attempt(() => fs.rmSync(place, { recursive: true }));
    attempt(() => fs.renameSync(aside, place));
  }
  if (swaps === 0) parentPort.postMessage("swapping");
}
`;

/** Runs `work` while `place` is now a directory and now a link to `target`; afterwards it is the directory. */
export async function whileSwapped(place: string, target: string, work: () => Promise<void>): Promise<void> {
  const stop = new SharedArrayBuffer(4);
  const worker = new Worker(PROGRAM, { eval: true, workerData: { place, target, stop } });
  const ended = new Promise<void>((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => resolve());
  });
  try {
    await Promise.race([new Promise((resolve) => worker.once("message", resolve)), ended]);
    await work();
  } finally {
    Atomics.store(new Int32Array(stop), 0, 1);
    await ended;
    putBack(place);
  }
}

/** Restores the directory when entries that others created in its place blocked the last swap. */
function putBack(place: string): void {
  if (!existsSync(`${place}.aside`)) return;
  rmSync(place, { recursive: true, force: true });
  renameSync(`${place}.aside`, place);
}
