/**
 * When a probe is due: a steady grid per container and probe, shifted by a share of the period that depends on who it
 * is, so that pods started together are not probed together. Instants are monotonic milliseconds.
 *
 *     start    initial delay   phase     period    period
 *       |---------------------|-------*---------*---------*
 *                             * early look: startup and readiness of an instance that has just started
 *
 * Differs from upstream: its workers tick from when the pod was added, wherever that falls. The early look stands for
 * its manual trigger of readiness probes; a failed one counts for nothing.
 */
import type { MonotonicMs } from "../ids.ts";
import { monotonicMs } from "../ids.ts";
import type { Probe, ProbeKind } from "./probeTypes.ts";

export interface ProbeGrid {
  /** First instant at which the probe may be tried. */
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

/** 32 bits of FNV-1a, mixed once more: neighbouring names land far apart. */
function hashOf(text: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The probe's own share of its period, in whole milliseconds from 0 to below the period. The same on every run. */
export const probePhaseMs = ({ podUid, containerName }: ProbedContainer, kind: ProbeKind, periodMs: number): number =>
  hashOf(`${podUid}/${containerName}/${kind}`) % Math.max(1, periodMs);

/** The grid of a probe on an instance that started at `startedAt`. */
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

/** The first instant of the grid after `now`; what was missed meanwhile is not made up for. */
export function nextOnGrid({ firstAt, periodMs }: ProbeGrid, now: MonotonicMs): MonotonicMs {
  if (now < firstAt) return firstAt;
  return monotonicMs(firstAt + (Math.floor((now - firstAt) / periodMs) + 1) * periodMs);
}
