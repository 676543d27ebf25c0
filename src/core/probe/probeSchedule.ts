/**
 * Schedule of a probe: a fixed grid per container and probe, shifted by a phase derived from their identity, so that
 * pods started together are not probed together. Instants are monotonic milliseconds.
 *
 *     start    initial delay   phase     period    period
 *       |---------------------|-------*---------*---------*
 *                             * early attempt: startup and readiness of an instance that has just started
 *
 * Differs from upstream: its workers tick from when the pod was added. The early attempt replaces upstream's manual
 * trigger of readiness probes; a failed one does not count.
 */
import type { MonotonicMs } from "../ids.ts";
import { monotonicMs } from "../ids.ts";
import type { Probe, ProbeKind } from "./probeTypes.ts";

export interface ProbeGrid {
  /** Earliest instant of an attempt. */
  readonly openAt: MonotonicMs;
  /** First instant of the grid. */
  readonly firstAt: MonotonicMs;
  readonly periodMs: number;
}

export interface ProbedContainer {
  readonly podUid: string;
  readonly containerName: string;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** 32-bit FNV-1a with an extra mixing step, so that similar names have distant hashes. */
function hashOf(text: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the phase of a probe in whole milliseconds, from 0 to below the period. Deterministic. */
export const probePhaseMs = ({ podUid, containerName }: ProbedContainer, kind: ProbeKind, periodMs: number): number =>
  hashOf(`${podUid}/${containerName}/${kind}`) % Math.max(1, periodMs);

/** Returns the grid of a probe on an instance that started at `startedAt`. */
export function probeGrid(
  target: ProbedContainer,
  kind: ProbeKind,
  { periodSeconds = 10, initialDelaySeconds = 0 }: Pick<Probe, "periodSeconds" | "initialDelaySeconds">,
  startedAt: MonotonicMs,
): ProbeGrid {
  const periodMs = Math.max(1, periodSeconds) * 1000;
  const openAt = startedAt + Math.max(0, initialDelaySeconds) * 1000;
  return {
    openAt: monotonicMs(openAt),
    firstAt: monotonicMs(openAt + probePhaseMs(target, kind, periodMs)),
    periodMs,
  };
}

/** Returns the first grid instant after `now`. Missed instants are skipped. */
export function nextOnGrid({ firstAt, periodMs }: ProbeGrid, now: MonotonicMs): MonotonicMs {
  if (now < firstAt) return firstAt;
  return monotonicMs(firstAt + (Math.floor((now - firstAt) / periodMs) + 1) * periodMs);
}
