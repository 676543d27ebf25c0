/** Flags and options of `rxlet cp`. */
import { type CopySide, readCopySide } from "../core/copy/copyPaths.ts";
import type { FlagSpec, FlagType } from "./flagSpec.ts";
import { ownFlagValues, type ParsedFlags } from "./parseKubeletFlags.ts";
import { AUTHENTICATED, type KubeletTarget, readTarget, TARGET_FLAGS } from "./targetFlags.ts";

/** Options of `rxlet cp`. */
export interface CopyOptions {
  readonly target: KubeletTarget;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string | undefined;
  /** Path on this machine. */
  readonly local: string;
  /** Path in the container. */
  readonly remote: string;
  readonly direction: "fromPod" | "toPod";
  /** Keeps neither owner nor permissions in the container. */
  readonly noPreserve: boolean;
  /** Bound of a copy out of a container. */
  readonly maxBytes: number;
}

type Read<T> = { readonly ok: true; readonly options: T } | { readonly ok: false; readonly errors: readonly string[] };

const flag = (name: string, type: FlagType, fallback: string, about: string, short?: string): FlagSpec => ({
  ...{ group: "rxlet", effective: true, name, type, default: fallback, about },
  ...(short === undefined ? {} : { short }),
});

/** Flags of `rxlet cp`. */
export const COPY_FLAGS: readonly FlagSpec[] = [
  flag("namespace", "string", "default", "Namespace of the pod", "n"),
  flag("container", "string", "", "Container of the pod; the first one when not given", "c"),
  flag("no-preserve", "bool", "false", "Do not keep owner and permissions in the container"),
  flag("max-bytes", "int64", String(10 * 1024 ** 3), "Bytes to copy out of a container at most"),
  ...TARGET_FLAGS,
];

const USAGE = "rxlet cp POD:PATH PATH, or rxlet cp PATH POD:PATH";

/** Reads the options of `rxlet cp`, or returns all errors. */
export function readCopyFlags({ given, positional, errors }: ParsedFlags): Read<CopyOptions> {
  const values = ownFlagValues(given, COPY_FLAGS);
  const { target, faults: unreachable } = readTarget(values, { given }, { otherwise: AUTHENTICATED, readOnly: false });
  const maxBytes = Number(values["maxBytes"]);
  const faults = [...errors, ...unreachable, ...(maxBytes < 1 ? ["--max-bytes: must be positive"] : [])];
  const [from, to] = positional.map(readCopySide);
  const sides = sidesOf(from, to);
  if (sides === undefined) faults.push(`a side must be in a pod, and the other one on this machine; usage: ${USAGE}`);
  if (faults.length > 0 || sides === undefined) return { ok: false, errors: faults };
  const { pod, local, direction } = sides;
  const container = String(values["container"]);
  return {
    ok: true,
    options: {
      ...{ target, direction, maxBytes, pod: pod.pod, remote: pod.path, local: local.path },
      namespace: pod.namespace ?? String(values["namespace"]),
      container: container === "" ? undefined : container,
      noPreserve: values["noPreserve"] === true,
    },
  };
}

type Side<K extends CopySide["kind"]> = Extract<CopySide, { readonly kind: K }>;

function sidesOf(
  from: CopySide | undefined,
  to: CopySide | undefined,
):
  | { readonly pod: Side<"pod">; readonly local: Side<"local">; readonly direction: CopyOptions["direction"] }
  | undefined {
  if (from?.kind === "pod" && to?.kind === "local") return { pod: from, local: to, direction: "fromPod" };
  if (from?.kind === "local" && to?.kind === "pod") return { pod: to, local: from, direction: "toPod" };
  return undefined;
}
