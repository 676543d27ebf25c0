/** What the threads for trees are asked and answer: plain data that threads pass each other. */
import type { KubeletError } from "../../core/errors.ts";
import type { Result } from "../../core/result.ts";
import type { OwnershipResult, VolumeOwnership, VolumeUsage } from "../../ports/volumeFiles.ts";

/** One piece of work on a tree. */
export type TreeTask =
  | { readonly kind: "usage"; readonly dir: string }
  | { readonly kind: "setOwnership"; readonly dir: string; readonly ownership: VolumeOwnership }
  /** Empties the directory, which is no link, and leaves it there. */
  | { readonly kind: "empty"; readonly dir: string };

/** Results by the kind of the task. */
export interface TreeValues {
  readonly usage: VolumeUsage;
  readonly setOwnership: OwnershipResult;
  readonly empty: undefined;
}

/** How far a task is. */
export interface TreeProgress {
  /** Files and directories looked at. */
  readonly entries: number;
  /** What a task of kind `usage` has counted. */
  readonly usage?: VolumeUsage;
}

export interface TreeRequest {
  readonly id: number;
  readonly task: TreeTask;
  /** One 32-bit word; not zero: nobody waits any more. */
  readonly cancelled: SharedArrayBuffer;
}

export interface TreeAnswer {
  readonly id: number;
  readonly result: Result<TreeValues[TreeTask["kind"]]>;
}

/** Of a task that goes on. */
export interface TreeNews {
  readonly id: number;
  readonly progress: TreeProgress;
}

/** Errors lose their cause between threads: what the system threw is in the message. */
export const withoutCause = ({ cause: _, ...error }: KubeletError): KubeletError => error;
