/** Flags and options of `rxlet retry POD`. */
import type { FlagSpec } from "./flagSpec.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import { readPodName } from "./podName.ts";
import { AUTHENTICATED, type KubeletTarget, readTarget, TARGET_FLAGS } from "./targetFlags.ts";

/** The pod to retry, and its kubelet. */
export interface RetryOptions {
  readonly namespace: string;
  readonly pod: string;
  readonly target: KubeletTarget;
}

const base = { group: "rxlet", effective: true } as const;

/** Flags of `rxlet retry`. */
export const RETRY_FLAGS: readonly FlagSpec[] = [
  { ...base, name: "namespace", short: "n", type: "string", default: "default", about: "Namespace of the pod" },
  ...TARGET_FLAGS,
];

type Read =
  | { readonly ok: true; readonly options: RetryOptions }
  | { readonly ok: false; readonly errors: readonly string[] };

/** The options, or everything that is wrong with them. A pod may also be written `namespace/name`. */
export function readRetryFlags({ given, positional, errors }: ParsedFlags): Read {
  const values = ownFlagValues(given, RETRY_FLAGS);
  const { namespace, pod, faults: misnamed } = readPodName(positional, String(values["namespace"]));
  const missing = positional.length > 0 ? [] : ["retry needs the name of a pod: rxlet retry POD"];
  const { target, faults: unreachable } = readTarget(values, { given }, { otherwise: AUTHENTICATED, readOnly: false });
  const faults = [...errors, ...missing, ...misnamed, ...unreachable];
  return faults.length > 0 ? { ok: false, errors: faults } : { ok: true, options: { namespace, pod, target } };
}
