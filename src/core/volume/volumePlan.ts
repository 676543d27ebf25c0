/**
 * What is to be done about one volume: what the pod wants of it less what the node has. Counterpart: the reconciler of
 * pkg/kubelet/volumemanager, whose two caches are the two inputs.
 *
 *                     absent     uncertain   mounted, made of the same   mounted, made of something else
 *     wanted          set up     set up      nothing                     set up
 *     not wanted      forget     tear down   tear down                   tear down
 *
 *     What has failed waits before it is tried again, unless what it is made of has changed since.
 */
import type { KubeletError } from "../errors.ts";
import { type MonotonicMs, monotonicMs } from "../ids.ts";
import { sameItems } from "../sameValue.ts";
import type { VolumeLayout } from "./volumeLayout.ts";

/** What a volume is made of beside its layout: compared one by one by identity, so that nothing has to be hashed. */
export type VolumeInputs = readonly unknown[];

/** What is done to a volume. */
export type VolumeOperation = "setUp" | "tearDown";

/** The last thing done to a volume went wrong. */
export interface VolumeFailure {
  readonly operation: VolumeOperation;
  readonly error: KubeletError;
  /** In a row. */
  readonly count: number;
  readonly againAt: MonotonicMs;
  readonly inputs: VolumeInputs;
}

/** What the node has of a volume. */
export interface ActualVolume {
  readonly plugin: string;
  readonly name: string;
  /** Where it is on the node. */
  readonly path: string;
  /** Whether `path` goes with it. */
  readonly isOwnDirectory: boolean;
  /** `absent`: nothing was made yet. `uncertain`: something may be there, by an earlier kubelet or a step cut short. */
  readonly condition: "absent" | "uncertain" | "mounted";
  /** Of a mounted volume. */
  readonly inputs: VolumeInputs;
  readonly failure?: VolumeFailure;
}

/** What a pod wants of a volume. */
export interface WantedVolume {
  readonly layout: VolumeLayout;
  readonly inputs: VolumeInputs;
}

export type VolumeStep =
  | { readonly kind: "nothing" }
  | { readonly kind: "wait"; readonly until: MonotonicMs }
  /** `recovered`: it is as it should be, and what failed meanwhile is to be done no more. */
  | { readonly kind: VolumeOperation | "forget" | "recovered" };

/** Decides; `wanted` undefined: the pod needs it no more. */
export function volumeStep(
  wanted: WantedVolume | undefined,
  actual: ActualVolume | undefined,
  now: MonotonicMs,
): VolumeStep {
  if (actual === undefined) return { kind: wanted === undefined ? "nothing" : "setUp" };
  const { condition, inputs, failure } = actual;
  if (wanted === undefined && condition === "absent") return { kind: "forget" };
  const isSame = wanted !== undefined && condition === "mounted" && sameItems(inputs, wanted.inputs);
  if (isSame) return { kind: failure === undefined ? "nothing" : "recovered" };
  const kind = wanted === undefined ? "tearDown" : "setUp";
  if (failure === undefined || failure.operation !== kind || failure.againAt <= now) return { kind };
  const isNews = wanted !== undefined && !sameItems(failure.inputs, wanted.inputs);
  return isNews ? { kind } : { kind: "wait", until: failure.againAt };
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 122_000;

/** How long the next try waits after so many failures in a row. Upstream's delays: 500 ms doubling to 2 min 2 s. */
export const retryDelayMs = (failures: number): number =>
  Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (Math.max(1, failures) - 1));

/** The same volume, of which nothing is to be tried again. */
export function withoutFailure({ failure: _over, ...actual }: ActualVolume): ActualVolume {
  return actual;
}

/** The same volume after one more failure of this operation; another one begins to count anew. */
export function withFailure(
  actual: ActualVolume,
  { operation, error, inputs }: Pick<VolumeFailure, "operation" | "error" | "inputs">,
  now: MonotonicMs,
): ActualVolume {
  const count = (actual.failure?.operation === operation ? actual.failure.count : 0) + 1;
  return { ...actual, failure: { operation, error, count, inputs, againAt: monotonicMs(now + retryDelayMs(count)) } };
}

/** A volume of which nothing was made. */
export const absentVolume = ({ plugin, name, path, isOwnDirectory }: VolumeLayout): ActualVolume => ({
  plugin,
  name,
  path,
  isOwnDirectory,
  condition: "absent",
  inputs: [],
});
