/** The table of the records on disk: their values and digests. Owned by recordStore.ts. Bound: an entry per record. */
import { type Observable, Subject } from "rxjs";
import type { Metrics } from "../../ports/telemetry.ts";

/** A record on disk. */
export interface RecordEntry {
  /** The value as last written; undefined while it is being written, or after it was read. */
  readonly value: unknown;
  /** Digest of the text; empty while the file is being written. */
  readonly digest: string;
  readonly bytes: number;
}

export interface RecordTable {
  readonly entries: ReadonlyMap<string, RecordEntry>;
  /** Bytes of all texts together. */
  readonly bytes: number;
  readonly changes$: Observable<void>;
  /** Replaces an entry; undefined removes it. */
  note(name: string, entry: RecordEntry | undefined): void;
}

/** Creates an empty table. */
export function createRecordTable(metrics: Metrics): RecordTable {
  const entries = new Map<string, RecordEntry>();
  const changes$ = new Subject<void>();
  let bytes = 0;
  return {
    entries,
    get bytes() {
      return bytes;
    },
    changes$,
    note(name, entry) {
      bytes += (entry?.bytes ?? 0) - (entries.get(name)?.bytes ?? 0);
      if (entry === undefined) entries.delete(name);
      else entries.set(name, entry);
      metrics.gauge("rxlet_offline_records", entries.size, {});
      changes$.next();
    },
  };
}
