/** What the worker for walks is asked and answers: plain data that threads pass each other. */
import type { KubeletError } from "../../core/errors.ts";
import type { Result } from "../../core/result.ts";
import type { OwnershipResult, VolumeOwnership, VolumeUsage } from "../../ports/volumeFiles.ts";

/** One walk. */
export type TreeTask =
  | { readonly kind: "usage"; readonly dir: string }
  | { readonly kind: "setOwnership"; readonly dir: string; readonly ownership: VolumeOwnership };

/** What a walk gives. */
export interface TreeValues {
  readonly usage: VolumeUsage;
  readonly setOwnership: OwnershipResult;
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

/** How far a walk is that goes on. */
export interface TreeProgress {
  readonly id: number;
  readonly seen: number;
}

/** Errors lose their cause between threads: what the system threw is in the message. */
export const withoutCause = ({ cause: _, ...error }: KubeletError): KubeletError => error;
