/**
 * Detects that the pipe on a file descriptor of this process has lost its last reader. A write would fail, but a
 * program with nothing to write would run forever after its reader ended, as in `rxlet dev | head -1`. Node cannot poll
 * the writing end of a pipe, so the reading end is looked up in /proc.
 * Bound: MAX_PROCESSES are examined, then only the readers found.
 */
import { readdir, readFile, readlink } from "node:fs/promises";
import { defer, filter, map, type Observable, switchMap, take } from "rxjs";
import { fromCall } from "../operators/fromCall.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";

const LOOK_MS = 500;
const MAX_PROCESSES = 10_000;
/** Mask of the access mode in the flags of a descriptor. */
const ACCESS_MODE = 0o3;
const WRITE_ONLY = 0o1;

/** Paths of the descriptors of one process that read the pipe. */
type Readers = readonly string[];

/**
 * Emits once when the last reader is gone, then completes. Never emits where that is unknown: for descriptors other than
 * anonymous pipes, without /proc, and before a reader was found, which may belong to another user or be outside of a
 * container.
 *
 *     readers   2---1----0
 *     output    ---------(g|)
 *
 * Cancels: the current check. Errors: none. Bound: one check at a time.
 */
export const readerGone = (fd: number, clock: Clock): Observable<void> =>
  defer(() => fromCall(() => targetOf(`/proc/self/fd/${fd}`))).pipe(
    filter((pipe) => pipe !== undefined && /^pipe:\[\d+\]$/.test(pipe)),
    switchMap((pipe = "") =>
      fromCall(() => findReaders(pipe)).pipe(
        filter((readers) => readers.length > 0),
        switchMap((first) => watch(pipe, first, clock)),
      ),
    ),
    take(1),
  );

function watch(pipe: string, first: Readers, clock: Clock): Observable<void> {
  let known = first;
  const look = (): Observable<Readers> => fromCall(async () => (known = await remaining(pipe, known)));
  return pollAfter(clock, LOOK_MS, look, { immediately: false }).pipe(
    filter((readers) => readers.length === 0),
    map(() => undefined),
  );
}

/** The known readers that still read; when none does, others that have the pipe. */
async function remaining(pipe: string, known: Readers): Promise<Readers> {
  const targets = await Promise.all(known.map(targetOf));
  const left = known.filter((_, at) => targets[at] === pipe);
  return left.length > 0 ? left : findReaders(pipe);
}

/** The first process that reads; a shell starts the programs of a pipe one after the other. */
async function findReaders(pipe: string): Promise<Readers> {
  const names = await readdir("/proc").catch(() => []);
  const distance = (name: string): number => Math.abs(Number(name) - process.pid);
  const processes = names.filter((name) => /^\d+$/.test(name)).sort((a, b) => distance(a) - distance(b));
  for (const name of processes.slice(0, MAX_PROCESSES)) {
    const found = await readersIn(`/proc/${name}`, pipe);
    if (found.length > 0) return found;
  }
  return [];
}

async function readersIn(directory: string, pipe: string): Promise<Readers> {
  const numbers = await readdir(`${directory}/fd`).catch(() => []);
  const found: string[] = [];
  for (const number of numbers) {
    const path = `${directory}/fd/${number}`;
    if ((await targetOf(path)) === pipe && (await reads(`${directory}/fdinfo/${number}`))) found.push(path);
  }
  return found;
}

/** The writing end of a pipe has the same name as the reading one. */
async function reads(info: string): Promise<boolean> {
  const text = await readFile(info, "utf8").catch(() => "");
  const [, flags] = /^flags:\s+([0-7]+)$/m.exec(text) ?? [];
  return flags !== undefined && (Number.parseInt(flags, 8) & ACCESS_MODE) !== WRITE_ONLY;
}

const targetOf = (path: string): Promise<string | undefined> => readlink(path).catch(() => undefined);
