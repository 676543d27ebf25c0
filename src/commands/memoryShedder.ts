/**
 * Frees memory that its owners can rebuild when memory is low: caches first, then waiting requests, then watches.
 * core/memory/memoryShedding.ts decides. Owns the registry of that memory. Shedding makes a node slower for a while;
 * without it V8 or the kernel would end the process.
 */
import { ignoreElements, type Observable, tap } from "rxjs";
import { rethrowInvariant } from "../core/invariant.ts";
import { type MemoryReading, NOTHING_SHED, type ShedKind, shedBy } from "../core/memory/memoryShedding.ts";
import { FIRST_PACE, paceLine } from "../core/telemetry/linePace.ts";
import type { Clock } from "../ports/clock.ts";
import type { Sheddable, Shedding } from "../ports/shedding.ts";
import type { Telemetry } from "../ports/telemetry.ts";

const PACE = { periodMs: 60_000, lines: 10 };

/** The registry of memory that can be freed. */
export interface MemoryShedder extends Shedding {
  /** Sheds memory according to the readings while subscribed. Never emits; errors only on a broken invariant. */
  run(readings$: Observable<MemoryReading>, telemetry: Telemetry, clock: Clock): Observable<never>;
}

/** Creates a shedder without registered memory. */
export function createMemoryShedder(): MemoryShedder {
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

/** Sheds all memory of a kind and returns the number of entries by name. A failing owner does not stop the others. */
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
