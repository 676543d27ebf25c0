/** The result of a simulation as text. */
import { formatDuration } from "../core/config/duration.ts";
import { replayedPods, type SimReplay } from "../sim/simReplay.ts";
import type { SimulateResult } from "../sim/simulateSeed.ts";

const OUTCOMES: Readonly<Record<SimulateResult["outcome"], string>> = {
  ok: "ok",
  correctness: "a rule was broken",
  liveness: "the desired state was not reached",
  crash: "the kubelet ended",
};

/** Maximum number of named faults of a replay; more are only counted. */
const NAMED_FAULTS = 40;

/** Returns the text, with a line end. */
export function simSummary(result: SimulateResult): string {
  const { outcome, seed, violations, virtualMs, realMs, events, transitions, faults, traceHash } = result;
  const named = Object.entries(faults).map(([kind, count]) => `${kind} ${count}`);
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  const ratio = realMs === undefined ? "" : `, ${Math.round(virtualMs / Math.max(1, realMs))} times real time`;
  const lines = [
    `seed         ${seed}`,
    `outcome      ${OUTCOMES[outcome]}`,
    `virtual time ${formatDuration(virtualMs)}${ratio}`,
    `events       ${events}`,
    `transitions  ${transitions}`,
    `faults       ${total}${total === 0 ? "" : ` (${named.join(", ")})`}`,
    `violations   ${violations.length}`,
    `trace        ${traceHash.length > 64 ? `${traceHash.slice(0, 64)}...` : traceHash}`,
  ];
  return `${[...lines, ...(outcome === "ok" ? [] : failure(result))].join("\n")}\n`;
}

/** Returns the line of a passed run among many, with a line end. */
export function simLine({
  seed,
  virtualMs,
  realMs = 0,
  events,
  transitions,
  faults,
  traceHash,
}: SimulateResult): string {
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  const ratio = Math.round(virtualMs / Math.max(1, realMs));
  const reported = [
    `seed ${seed} ok`,
    `${formatDuration(Math.round(virtualMs / 1000) * 1000)} in ${(realMs / 1000).toFixed(1)} s (${ratio} times real time)`,
    `${events} events`,
    `${transitions} transitions`,
    `${total} faults`,
    `trace ${traceHash.slice(0, 16)}`,
  ];
  return `${reported.join(", ")}\n`;
}

function failure({ violations, lines, replay }: SimulateResult): readonly string[] {
  return [
    "",
    ...violations.map(({ atMs, checker, message }) => `${(atMs / 1000).toFixed(3)} s  ${checker}: ${message}`),
    "",
    ...workload(replay),
    "",
    `the last ${lines.length} lines:`,
    ...lines,
  ];
}

function workload(replay: SimReplay): readonly string[] {
  const pods = replayedPods(replay).map(({ name, source }) => `${name} (${source})`);
  const { keptFaults } = replay;
  const faults =
    keptFaults === undefined
      ? ["all faults of the seed"]
      : [
          ...keptFaults.slice(0, NAMED_FAULTS),
          ...(keptFaults.length > NAMED_FAULTS ? [`and ${keptFaults.length - NAMED_FAULTS} more`] : []),
        ];
  return [`pods         ${pods.join(", ") || "none"}`, `faults       ${faults.join("; ") || "none"}`];
}
