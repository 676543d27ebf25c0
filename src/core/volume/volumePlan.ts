/**
 * Decides the next operation on one volume from its desired and actual state. Upstream: the reconciler of
 * pkg/kubelet/volumemanager, whose two caches are the two inputs.
 *
 *                     absent     uncertain   mounted, same inputs   mounted, other inputs
 *     desired         set up     set up      nothing, or expand     set up
 *     not desired     forget     tear down   tear down              tear down
 *
 * A failed operation is retried with backoff, or at once when the inputs have changed.
 */
import type { KubeletError } from "../errors.ts";
import { type MonotonicMs, monotonicMs } from "../ids.ts";
import { sameItems } from "../sameValue.ts";
import type { MeasuredDriver } from "./measuredVolume.ts";
import type { VolumeLayout } from "./volumeLayout.ts";

/** Inputs of a volume's content besides its layout: compared one by one by identity, which needs no hashing. */
export type VolumeInputs = readonly unknown[];

/** An operation on a volume. */
export type VolumeOperation = "setUp" | "tearDown" | "expand";

/** The last operation on a volume failed. */
export interface VolumeFailure {
  readonly operation: VolumeOperation;
  readonly error: KubeletError;
  /** Consecutive failures. */
  readonly count: number;
  readonly againAt: MonotonicMs;
  readonly inputs: VolumeInputs;
}

/** Actual state of a volume. */
export interface ActualVolume {
  readonly plugin: string;
  readonly name: string;
  /** The volume's path on the node. */
  readonly path: string;
  /** Whether `path` is removed with it. */
  readonly isOwnDirectory: boolean;
  /** It is a block device; `path` is the pod's link to it. */
  readonly isBlock?: true;
  /** The driver of a CSI volume, once a pod has asked for the volume. */
  readonly csi?: MeasuredDriver;
  /**
   * `absent`: nothing exists. `uncertain`: something may exist, from an earlier kubelet or an interrupted operation.
   */
  readonly condition: "absent" | "uncertain" | "mounted";
  /** The runtime cannot label the files of a mounted volume, or must not. */
  readonly hasFixedLabels?: true;
  /** The inputs of a mounted volume. */
  readonly inputs: VolumeInputs;
  readonly failure?: VolumeFailure;
  /** Why it is not set up yet, although nothing has failed. */
  readonly waitsFor?: string;
  /** The wait is for another pod, which may last: the pod gets an event at once. */
  readonly isBlocked?: boolean;
}

/** Desired state of a volume. */
export interface WantedVolume {
  readonly layout: VolumeLayout;
  readonly inputs: VolumeInputs;
  /** Its PersistentVolume is larger than the node has it. */
  readonly isLarger?: boolean;
}

/** The next step for a volume. */
export type VolumeStep =
  | { readonly kind: "nothing" }
  | { readonly kind: "wait"; readonly until: MonotonicMs }
  /** `recovered`: the volume is in its desired state, so the failed operation is dropped. */
  | { readonly kind: VolumeOperation | "forget" | "recovered" };

/** Returns the next step; `wanted` is undefined when the pod no longer needs the volume. */
export function volumeStep(
  wanted: WantedVolume | undefined,
  actual: ActualVolume | undefined,
  now: MonotonicMs,
): VolumeStep {
  if (actual === undefined) return { kind: wanted === undefined ? "nothing" : "setUp" };
  const { condition, inputs, failure } = actual;
  if (wanted === undefined && condition === "absent") return { kind: "forget" };
  const isSame = wanted !== undefined && condition === "mounted" && sameItems(inputs, wanted.inputs);
  if (isSame && wanted.isLarger === true) {
    const isDue = failure?.operation !== "expand" || failure.againAt <= now;
    return isDue ? { kind: "expand" } : { kind: "wait", until: failure.againAt };
  }
  if (isSame) return { kind: failure === undefined ? "nothing" : "recovered" };
  const kind = wanted === undefined ? "tearDown" : "setUp";
  if (failure === undefined || failure.operation !== kind || failure.againAt <= now) return { kind };
  const isNews = wanted !== undefined && !sameItems(failure.inputs, wanted.inputs);
  return isNews ? { kind } : { kind: "wait", until: failure.againAt };
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 122_000;

/**
 * Returns the delay before the next attempt after this many consecutive failures. Upstream's delays: 500 ms doubling to
 * 2 min 2 s.
 */
export const retryDelayMs = (failures: number): number =>
  Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (Math.max(1, failures) - 1));

/** Returns the volume without its failure and wait. */
export function withoutFailure({
  failure: _over,
  waitsFor: _wait,
  isBlocked: _,
  ...actual
}: ActualVolume): ActualVolume {
  return actual;
}

/** Returns the volume once it is set up; `isLabelled`: the runtime may label its files. */
export function mountedVolume(before: ActualVolume, inputs: VolumeInputs, isLabelled: boolean): ActualVolume {
  const { hasFixedLabels: _, ...actual } = withoutFailure(before);
  return { ...actual, condition: "mounted", inputs, ...(!isLabelled && { hasFixedLabels: true }) };
}

/** Returns the volume after one more failure of this operation; a different operation starts the count at one. */
export function withFailure(
  actual: ActualVolume,
  { operation, error, inputs }: Pick<VolumeFailure, "operation" | "error" | "inputs">,
  now: MonotonicMs,
): ActualVolume {
  const count = (actual.failure?.operation === operation ? actual.failure.count : 0) + 1;
  return { ...actual, failure: { operation, error, count, inputs, againAt: monotonicMs(now + retryDelayMs(count)) } };
}

/** Returns the facts of a layout that metrics tell of the volume until it is gone. */
export const measuredOf = ({ csi }: VolumeLayout): Pick<ActualVolume, "csi"> =>
  csi === undefined ? {} : { csi: { driver: csi.driver, ...(csi.isMigrated && { isMigrated: true }) } };

/** Returns the state of a volume of which nothing exists. */
export function absentVolume(layout: VolumeLayout): ActualVolume {
  const { plugin, name, path, isOwnDirectory, csi, block } = layout;
  return {
    ...{ plugin, name, isOwnDirectory, ...measuredOf(layout) },
    // Drivers publish in the volume's own directory.
    path: csi?.directory ?? path,
    ...(block !== undefined && { isBlock: true }),
    ...{ condition: "absent", inputs: [] },
  };
}
