/** The thread that walks: one walk after the other, each to its end or until nobody waits for it. Started by treeWorker. */
import { parentPort } from "node:worker_threads";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { err, ok } from "../../core/result.ts";
import { measureUsage } from "./measureUsage.ts";
import { setOwnership } from "./setOwnership.ts";
import { type TreeAnswer, type TreeProgress, type TreeRequest, type TreeTask, withoutCause } from "./treeJobs.ts";

/** Entries between two tellings. */
const TELL_EVERY = 1_000;
const ACTIONS = { usage: "measure", setOwnership: "give away" } as const;

function answerTo({ id, task, cancelled }: TreeRequest): TreeAnswer {
  const isCancelled = new Int32Array(cancelled);
  let seen = 0;
  const checkCancelled = (): void => {
    seen += 1;
    if (seen % TELL_EVERY === 0) parentPort?.postMessage({ id, seen } satisfies TreeProgress);
    if (Atomics.load(isCancelled, 0) !== 0) throw kubeletError("Cancelled", "nobody waits for it any more");
  };
  try {
    checkCancelled();
    return { id, result: ok(perform(task, checkCancelled)) };
  } catch (thrown) {
    return { id, result: err(withoutCause(ioError(ACTIONS[task.kind], task.dir, thrown))) };
  }
}

function perform(task: TreeTask, checkCancelled: () => void) {
  if (task.kind === "usage") return measureUsage(task.dir, checkCancelled);
  const { failure, ...counts } = setOwnership(task.dir, task.ownership, checkCancelled);
  return failure === undefined ? counts : { ...counts, failure: withoutCause(failure) };
}

parentPort?.on("message", (request: TreeRequest) => parentPort?.postMessage(answerTo(request)));
