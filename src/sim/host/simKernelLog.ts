/** The kernel log of a simulated machine. Owns its ring buffer. Bound: `maxRecords`, the oldest is overwritten. */
import { Subject } from "rxjs";
import type { Clock } from "../../ports/clock.ts";
import type { KernelMessage } from "../../core/oom/kernelRecord.ts";
import type { KernelLog } from "../../ports/host.ts";

export interface SimKernelLog {
  readonly messages$: KernelLog;
  /** All records, oldest first. */
  readonly records: readonly KernelMessage[];
  write(text: string, level?: number): void;
  /** Empties the ring buffer and resets its clock and sequence numbers. */
  boot(): void;
}

const INFO = 6;
const US_PER_MS = 1000;

/** Creates the log of a machine that boots now. */
export function createSimKernelLog(clock: Clock, maxRecords = 1_000): SimKernelLog {
  const live = new Subject<KernelMessage>();
  let records: KernelMessage[] = [];
  let sequence = 0;
  let bootedAtMs: number = clock.monotonicMs();
  return {
    messages$: live.asObservable(),
    get records() {
      return records;
    },
    write(text, level = INFO) {
      const uptimeUs = Math.round((clock.monotonicMs() - bootedAtMs) * US_PER_MS);
      const record: KernelMessage = { level, sequence, uptimeUs, text };
      sequence += 1;
      records = [...records.slice(records.length < maxRecords ? 0 : 1), record];
      live.next(record);
    },
    boot() {
      records = [];
      sequence = 0;
      bootedAtMs = clock.monotonicMs();
    },
  };
}
