/** Requests and responses of the tree threads: plain data that threads can exchange. */
import type { KubeletError } from "../../core/errors.ts";
import type { Result } from "../../core/result.ts";
import type { OwnershipResult, VolumeOwnership, VolumeUsage } from "../../ports/volumeFiles.ts";

/** A task on one tree. */
export type TreeTask =
  | { readonly kind: "usage"; readonly dir: string }
  | { readonly kind: "setOwnership"; readonly dir: string; readonly ownership: VolumeOwnership }
  /** Empties the directory, which is not a link, and keeps the directory. */
  | { readonly kind: "empty"; readonly dir: string };

/** Result types by kind of task. */
export interface TreeValues {
  readonly usage: VolumeUsage;
  readonly setOwnership: OwnershipResult;
  readonly empty: undefined;
}

/** The progress of a task. */
export interface TreeProgress {
  /** Files and directories visited. */
  readonly entries: number;
  /** Current count of a `usage` task. */
  readonly usage?: VolumeUsage;
}

export interface TreeRequest {
  readonly id: number;
  readonly task: TreeTask;
  /** A 32-bit word; not zero when the task is cancelled. */
  readonly cancelled: SharedArrayBuffer;
}

export interface TreeAnswer {
  readonly id: number;
  readonly result: Result<TreeValues[TreeTask["kind"]]>;
}

/** Progress of a running task. */
export interface TreeNews {
  readonly id: number;
  readonly progress: TreeProgress;
}

/** Puts the system's error text into the message, because errors lose their cause between threads. */
export const withoutCause = ({ cause: _, ...error }: KubeletError): KubeletError => error;
