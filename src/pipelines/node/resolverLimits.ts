/**
 * Emits an event of the node when its resolver file exceeds the limits of search lists, or cannot be read: at start, and
 * again after each change that leaves a problem. Bounds: one read at a time, one per second, 1 MiB. Upstream:
 * CheckLimitsForResolvConf of pkg/kubelet/network/dns/dns.go, which looks at start alone. Differs from upstream:
 * `rxlet dev`, a guest of the machine, does not report problems of the machine's file.
 */
import { auditTime, catchError, distinctUntilChanged, EMPTY, filter, map, merge, type Observable, of } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { resolverProblem } from "../../core/network/resolverLimits.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { reconcile } from "../../operators/reconcile.ts";
import { supervise } from "../../operators/supervise.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

/** Changes that the system does not report are found after this time. */
const REREAD_MS = 5 * 60_000;
const GATHER_MS = 1_000;
const BACKOFF = { initialMs: 1_000, maxMs: 5 * 60_000, jitter: 0.1, resetAfterMs: 60_000 };
/** Pods get no larger file either. */
const MAX_BYTES = 1 << 20;

type Ports = Pick<KubeletPorts, "clock" | "rng" | "files" | "networkChanges">;
type Config = Pick<KubeletConfig, "nodeName" | "clusterDomain" | "resolvConfPath">;

/** Emits the events. Never errors; completes at once when pods do not inherit settings of the node, or without reports of changes. */
export function resolverLimits(
  { clock, rng, files, networkChanges }: Ports,
  { nodeName, clusterDomain, resolvConfPath: path }: Config,
): Observable<KubeletEvent> {
  if (path === "" || networkChanges === undefined) return EMPTY;
  const look = (): Observable<{ readonly content: string; readonly problem: string | undefined }> =>
    files.readTail(path, MAX_BYTES + 1, "followed").pipe(
      map((content) => ({
        content,
        problem: content.length > MAX_BYTES ? TOO_LARGE : resolverProblem(path, content, clusterDomain),
      })),
      catchError((thrown: unknown) => {
        const { code, message } = toKubeletError(thrown);
        const problem = code === "NotFound" ? `open ${path}: no such file or directory` : message;
        return of({ content: "", problem });
      }),
    );
  const changes$ = supervise("resolver file", () => networkChanges.file(path), { backoff: BACKOFF, clock, rng });
  return reconcile({
    triggers$: merge(of(undefined), changes$.pipe(auditTime(GATHER_MS, clock.scheduler))),
    run: look,
    wakeAfterMs: () => REREAD_MS,
    clock,
  }).pipe(
    distinctUntilChanged((a, b) => a.content === b.content && a.problem === b.problem),
    map(({ problem }) => problem),
    filter((problem) => problem !== undefined),
    map((problem) => nodeEvent(nodeName, "CheckLimitsForResolvConf", problem, "Warning")),
  );
}

const TOO_LARGE = `the file has more than ${MAX_BYTES} bytes`;
