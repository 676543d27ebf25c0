/**
 * Space of volumes whose storage may not answer. A look at a file system continues after its callers have left; meanwhile they
 * get the last known space. Owns the last answers. Bounds: one look at a file system at a time, FIGURE_DEADLINE_MS for it;
 * LOOKS_AT_ONCE, not counting those that have hung for SLOT_MS; the patience of patiently.ts for their callers. Upstream:
 * metrics_statfs.go, whose callers wait for the storage.
 *
 *     space --> slot --> file system --> last answer
 *        |                                    |
 *        +-- after a second of the look ------+
 */
import { defer, type Observable, tap } from "rxjs";
import type { SpaceFigures } from "../../core/stats/nodeStats.ts";
import { createLastingRuns } from "../../operators/lastingRuns.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import { orUndefined, timed } from "./measuredFigure.ts";
import { patiently } from "./patiently.ts";

/** Space of the file systems of volumes. */
export interface RemoteSpaces {
  /** Keeps looks running while subscribed. Never emits. */
  readonly run$: Observable<never>;
  /**
   * Emits the space of the file system at a path, see patiently.ts; undefined while there is none: the storage has not
   * answered yet, or the last look failed. Never errors.
   */
  space(path: string): Observable<SpaceFigures | undefined>;
  /** Forgets file systems without a request for FORGOTTEN_AFTER_MS. */
  prune(): void;
}

type Ports = Pick<KubeletPorts, "hostUsage" | "clock" | "telemetry">;

/** A process each: half of those that the port runs at once, so that others may hang. */
const LOOKS_AT_ONCE = 16;
/** Storage that is gone delays the other file systems by this time at most: they still answer their callers in time. */
const SLOT_MS = 500;
const FORGOTTEN_AFTER_MS = 600_000;

/** A file system and its last space. */
interface Looked {
  space: SpaceFigures | undefined;
  /** Start of the current look, or of its wait for a slot; else of the last one. */
  beganAt: number;
  askedAt: number;
}

/** Creates the spaces; looks at nothing before the first request. */
export function createRemoteSpaces(ports: Ports): RemoteSpaces {
  const { clock, hostUsage } = ports;
  const known = new Map<string, Looked>();
  const slots = createSemaphore(LOOKS_AT_ONCE, { ms: SLOT_MS, clock });
  const noted = (path: string): Looked => {
    const askedAt = clock.monotonicMs();
    const looked = Object.assign(known.get(path) ?? { space: undefined, beganAt: askedAt, askedAt }, { askedAt });
    known.set(path, looked);
    return looked;
  };
  const runs = createLastingRuns((path: string) =>
    defer(() => {
      const looked = noted(path);
      looked.beganAt = clock.monotonicMs();
      const look$ = timed(orUndefined(hostUsage.remoteFileSystem(path), ports), () => "statfs", ports);
      return slots.run(look$).pipe(
        tap((space) => {
          looked.space = space;
        }),
      );
    }),
  );
  return {
    run$: runs.run$,
    prune() {
      const now = clock.monotonicMs();
      for (const [path, { askedAt }] of known) {
        if (now - askedAt > FORGOTTEN_AFTER_MS && !runs.isRunning(path)) known.delete(path);
      }
    },
    space: (path) =>
      defer(() => {
        const looked = noted(path);
        const askedForMs = runs.isRunning(path) ? clock.monotonicMs() - looked.beganAt : 0;
        return patiently({ answer$: runs.join(path), askedForMs, last: () => looked.space, clock });
      }),
  };
}
