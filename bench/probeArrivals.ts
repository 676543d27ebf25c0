/** The target of probes in a process of its own, and how late the probes that reached it were. */
import { fork } from "node:child_process";
import { once } from "node:events";

/** When each path was asked, in milliseconds of wall time. */
export type Arrivals = readonly (readonly [path: string, atMs: readonly number[]])[];

export interface ProbeTarget {
  readonly port: number;
  /** Arrivals since the last call. */
  arrivals(): Promise<Arrivals>;
  close(): void;
}

/** Starts the target on a free port of loopback. */
export async function startProbeTarget(): Promise<ProbeTarget> {
  const child = fork(new URL("probeTarget.ts", import.meta.url));
  const [port] = (await once(child, "message")) as [number];
  return {
    port,
    arrivals: async () => {
      child.send("arrivals");
      return ((await once(child, "message")) as [Arrivals])[0];
    },
    close: () => void child.kill(),
  };
}

/** How far behind its steady grid of `periodMs` each arrival is, the earliest of a path setting its grid. */
export function latenessOf(all: Arrivals, periodMs: number): readonly number[] {
  return all.flatMap(([, times]) => {
    const first = times[0] ?? 0;
    const offsets = times.map((at) => at - first - Math.round((at - first) / periodMs) * periodMs);
    const earliest = Math.min(...offsets);
    return offsets.map((offset) => offset - earliest);
  });
}
