/**
 * Memory usage of this process against its limits: V8's heap after each major collection, when it contains no garbage,
 * and resident memory once a second if the process's cgroup has a limit.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { constants, type NodeGCPerformanceDetail, PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import { defer, EMPTY, merge, Observable, of } from "rxjs";
import { hierarchicalLimitV1, lowestLimitV2, memoryCgroupPath, oldSpaceLimit } from "../core/memory/memoryLimit.ts";
import type { MemoryReading } from "../core/memory/memoryShedding.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";

const LOOK_MS = 1_000;
/** Maximum depth of the process's cgroup. */
const MAX_DEPTH = 64;

/** Emits readings of both kinds. Cancels: the observer and the timer. Errors: none. Bound: one reading at a time. */
export const memoryReadings = (clock: Clock): Observable<MemoryReading> =>
  merge(
    heapReadings(),
    pollAfter(clock, LOOK_MS, () => residentReading()),
  );

const heapReadings = (): Observable<MemoryReading> =>
  new Observable((subscriber) => {
    const options = [...(process.env["NODE_OPTIONS"] ?? "").split(" "), ...process.execArgv];
    const limitBytes = oldSpaceLimit(getHeapStatistics().heap_size_limit, options);
    const observer = new PerformanceObserver((list) => {
      const hasMajor = list.getEntries().some((entry) => {
        const { detail } = entry as unknown as { readonly detail: NodeGCPerformanceDetail };
        return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
      });
      if (!hasMajor) return;
      subscriber.next({ of: "heap", usedBytes: oldSpaceBytes(), limitBytes });
    });
    observer.observe({ entryTypes: ["gc"] });
    return () => observer.disconnect();
  });

/** Leaves out the new spaces: objects allocated since the collection are mostly garbage. */
const oldSpaceBytes = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith("new_"))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);

/** The limit is read each time: an operator may change it while the process runs. */
const residentReading = (): Observable<MemoryReading> =>
  defer(() => {
    const limitBytes = memoryLimitOfCgroup();
    if (limitBytes === undefined) return EMPTY;
    return of<MemoryReading>({ of: "cgroup", usedBytes: process.memoryUsage.rss(), limitBytes });
  });

/** The memory limit of this process's cgroup; undefined without one. `prefix` is for tests. */
export function memoryLimitOfCgroup(prefix = ""): number | undefined {
  const root = `${prefix}/sys/fs/cgroup`;
  const isV2 = textOf(join(root, "cgroup.controllers")) !== undefined;
  const path = memoryCgroupPath(textOf(`${prefix}/proc/self/cgroup`) ?? "", isV2);
  if (path === undefined) return undefined;
  if (isV2) return lowestLimitV2(pathsUpwards(path).map((each) => textOf(join(root, each, "memory.max")) ?? ""));
  // A container sees its own cgroup as the root of the hierarchy, at a path that differs from the host's.
  const stat = textOf(join(root, "memory", path, "memory.stat")) ?? textOf(join(root, "memory", "memory.stat"));
  return hierarchicalLimitV1(stat ?? "");
}

function pathsUpwards(path: string): readonly string[] {
  const paths = [path];
  for (let at = path; at !== "/" && at !== "." && paths.length < MAX_DEPTH; paths.push(at)) at = dirname(at);
  return paths;
}

/** Files of the kernel never wait for a disk. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
