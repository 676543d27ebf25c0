/**
 * Gives up what can be had again before memory runs out: caches first, then requests that wait, then watches. Owns the
 * registry of what can be shed. A node that sheds is slower for a while; one that V8 or the kernel ends is gone.
 */
import { ignoreElements, type Observable, tap } from "rxjs";
import { rethrowInvariant } from "../core/invariant.ts";
import { type MemoryReading, NOTHING_SHED, type ShedKind, shedBy } from "../core/memory/memoryShedding.ts";
import { FIRST_PACE, paceLine } from "../core/telemetry/linePace.ts";
import type { Clock } from "../ports/clock.ts";
import type { Sheddable, Shedding } from "../ports/shedding.ts";
import type { Telemetry } from "../ports/telemetry.ts";

const PACE = { periodMs: 60_000, lines: 10 };

/** The registry, and its use. */
export interface MemoryNet extends Shedding {
  /** Sheds as the readings demand, while subscribed. Errors: a broken invariant. */
  run(readings$: Observable<MemoryReading>, telemetry: Telemetry, clock: Clock): Observable<never>;
}

/** Makes it, empty. */
export function createMemoryNet(): MemoryNet {
  const sheddables = new Set<Sheddable>();
  return {
    register: (sheddable) => {
      sheddables.add(sheddable);
      return () => void sheddables.delete(sheddable);
    },
    run: (readings$, telemetry, clock) => {
      let times = NOTHING_SHED;
      let pace = FIRST_PACE;
      const shed = (kind: ShedKind, { of, usedBytes, limitBytes }: MemoryReading): void => {
        const counts = shedKind([...sheddables], kind, telemetry);
        const line = paceLine(pace, clock.monotonicMs(), PACE);
        pace = line.pace;
        if (!line.isWritten) return;
        telemetry.log.warn("Memory is low; the kubelet frees what it can rebuild", {
          memory: of,
          usedBytes,
          limitBytes,
          kind,
          shed: counts,
          ...(line.suppressed === 0 ? {} : { suppressed: line.suppressed }),
        });
      };
      return readings$.pipe(
        tap((reading) => {
          const decided = shedBy(times, reading, clock.monotonicMs());
          times = decided.times;
          for (const kind of decided.kinds) shed(kind, reading);
        }),
        ignoreElements(),
      );
    },
  };
}

/** Sheds all of a kind and returns the entries by name. One that fails does not keep the others. */
function shedKind(
  sheddables: readonly Sheddable[],
  kind: ShedKind,
  { log, metrics }: Telemetry,
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name, shed } of sheddables.filter((each) => each.kind === kind)) {
    try {
      const count = shed();
      counts[name] = (counts[name] ?? 0) + count;
      metrics.count("rxlet_memory_shed_total", { kind, name }, count);
    } catch (thrown) {
      rethrowInvariant(thrown);
      log.error("Memory could not be shed", { name, error: thrown });
    }
  }
  return counts;
}
