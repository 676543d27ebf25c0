/** Records of the kernel log as `/dev/kmsg` gives them. Upstream: kmsgparser of go-kmsg-parser. */

/** A record of the kernel log. */
export interface KernelMessage {
  /** 0 (emergency) to 7 (debug). */
  readonly level: number;
  /** Increases by one per record from boot. */
  readonly sequence: number;
  /** Microseconds since boot. */
  readonly uptimeUs: number;
  readonly text: string;
}

const PREFIX = /^(\d{1,10}),(\d{1,16}),(\d{1,16}),/;
const LEVELS = 8;

/**
 * Parses `priority,sequence,microseconds,flags;text`. Drops the dictionary, which follows on lines of its own. Returns
 * undefined for other input. Linear.
 */
export function parseKernelRecord(record: string): KernelMessage | undefined {
  const end = record.indexOf(";");
  const prefix = PREFIX.exec(record.slice(0, end + 1));
  if (prefix === null) return undefined;
  const [priority, sequence, uptimeUs] = prefix.slice(1).map(Number) as [number, number, number];
  const [text = ""] = record.slice(end + 1).split("\n", 1);
  // The priority's upper bits are the facility.
  return { level: priority % LEVELS, sequence, uptimeUs, text };
}
