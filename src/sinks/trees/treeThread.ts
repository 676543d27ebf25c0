/**
 * A thread that works on many trees, in time slices of a few entries. Changes, which pods wait for, take turns with
 * counts, which may take long. Started by treeWorker. Bounds: MAX_ACTIVE changes and as many counts, the others wait in
 * order; OPEN_DIRECTORIES, shared by the jobs.
 */
import { parentPort, receiveMessageOnPort } from "node:worker_threads";
import { kubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { err, ok } from "../../core/result.ts";
import { createFairTurns, type FairTurns, nextOfAll } from "./fairTurns.ts";
import { createOwnershipJob } from "./ownershipJob.ts";
import { createRemovalJob } from "./removalJob.ts";
import type { TreeJob } from "./treeJob.ts";
import {
  type TreeAnswer,
  type TreeNews,
  type TreeRequest,
  type TreeTask,
  type TreeValues,
  withoutCause,
} from "./treeTasks.ts";
import { createUsageJob } from "./usageJob.ts";

// Missing names and non-empty directories are detected by exceptions, whose cost is mostly their stack traces.
Error.stackTraceLimit = 0;

/** Entries of one time slice: some tenths of a millisecond of work on cached files. */
const TURN = 64;
/** Credit of a new job over longer-running jobs, in entries. */
const CREDIT = 4_096;
const MAX_ACTIVE = 128;
/** Each takes two descriptors. */
const OPEN_DIRECTORIES = 512;
/** Deeper trees are rare, and reopening a directory is cheap. */
const MOST_OPEN_OF_A_JOB = 64;
/** Entries between two progress messages of a job. */
const TELL_EVERY = 1_000;
const ACTIONS = { usage: "measure", setOwnership: "give away", empty: "remove" } as const;

interface Active {
  readonly request: TreeRequest;
  readonly isCancelled: Int32Array;
  readonly job: TreeJob<TreeValues[TreeTask["kind"]]>;
  reported: number;
}

interface JobClass {
  readonly waiting: TreeRequest[];
  readonly turns: FairTurns<Active>;
}

const changes: JobClass = { waiting: [], turns: createFairTurns(CREDIT) };
const counts: JobClass = { waiting: [], turns: createFairTurns(CREDIT) };
const classes: readonly JobClass[] = [changes, counts];
/** Listed in the order of their next turn. */
const schedules = classes.map(({ turns }) => turns);

const classOf = ({ kind }: TreeTask): JobClass => (kind === "usage" ? counts : changes);

function jobOf(task: TreeTask, maxOpen: number): Active["job"] {
  switch (task.kind) {
    case "usage":
      return createUsageJob(task.dir, maxOpen);
    case "setOwnership":
      return createOwnershipJob(task.dir, task.ownership, maxOpen);
    case "empty":
      return createRemovalJob(task.dir, maxOpen);
  }
}

const post = (message: TreeAnswer | TreeNews): void => parentPort?.postMessage(message);

const fail = ({ id, task }: TreeRequest, thrown: unknown): void =>
  post({ id, result: err(withoutCause(ioError(ACTIONS[task.kind], task.dir, thrown))) });

const maxOpen = (): number => {
  const shares = Math.floor(OPEN_DIRECTORIES / Math.max(1, changes.turns.size + counts.turns.size)) - 1;
  return Math.max(1, Math.min(MOST_OPEN_OF_A_JOB, shares));
};

function begin(request: TreeRequest): void {
  const isCancelled = new Int32Array(request.cancelled);
  if (Atomics.load(isCancelled, 0) !== 0) return fail(request, kubeletError("Cancelled", "the task was cancelled"));
  try {
    classOf(request.task).turns.add({ request, isCancelled, job: jobOf(request.task, maxOpen()), reported: 0 });
  } catch (thrown) {
    fail(request, thrown);
  }
}

const enqueue = (request: TreeRequest): void => void classOf(request.task).waiting.push(request);

/** Starts waiting jobs up to the bound. */
function admit(): void {
  if (parentPort === null) return;
  for (let got = receiveMessageOnPort(parentPort); got !== undefined; got = receiveMessageOnPort(parentPort)) {
    enqueue(got.message as TreeRequest);
  }
  for (const { waiting, turns } of classes) {
    while (turns.size < MAX_ACTIVE) {
      const request = waiting.shift();
      if (request === undefined) break;
      begin(request);
    }
  }
}

/** Runs one time slice; returns whether the job has ended. */
function take({ request, isCancelled, job }: Active): boolean {
  if (Atomics.load(isCancelled, 0) !== 0) throw kubeletError("Cancelled", "the task was cancelled");
  for (let count = 0; count < TURN; count += 1) {
    if (!job.step()) continue;
    const { value } = job;
    const failure = value !== undefined && "failure" in value ? { failure: withoutCause(value.failure) } : {};
    post({ id: request.id, result: ok(value && { ...value, ...failure }) });
    return true;
  }
  return false;
}

function postProgress(active: Active): void {
  const { progress } = active.job;
  if (progress.entries - active.reported < TELL_EVERY) return;
  active.reported = progress.entries;
  post({ id: active.request.id, progress });
}

function workThrough(): void {
  for (;;) {
    admit();
    const active = nextOfAll(schedules);
    if (active === undefined) return;
    let isOver = true;
    try {
      active.job.setMaxOpen(maxOpen());
      isOver = take(active);
      if (!isOver) postProgress(active);
    } catch (thrown) {
      fail(active.request, thrown);
    }
    const { turns } = classOf(active.request.task);
    turns.charge(active, TURN);
    if (!isOver) continue;
    turns.remove(active);
    active.job.close();
  }
}

parentPort?.on("message", (request: TreeRequest) => {
  enqueue(request);
  workThrough();
});
