/**
 * Decides whether `rxlet dev` may use a runtime that has pods already. A kubelet ends every pod of its runtime that is
 * none of its own, so a runtime of another kubelet is refused.
 */

/** A sandbox in the runtime. */
export interface FoundSandbox {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  /** Annotation `kubernetes.io/config.source`; empty without it. */
  readonly source: string;
}

/** The last `rxlet dev` on this runtime: none, one that has ended without removing its pods, or one that runs. */
export type LastDev =
  | { readonly kind: "none" }
  | { readonly kind: "ended" }
  | { readonly kind: "running"; readonly pid: number };

/** The decision: `leftover` are sandboxes to remove first. */
export type RuntimePods =
  | { readonly kind: "usable"; readonly leftover: readonly string[] }
  | { readonly kind: "refused"; readonly why: string };

/** Sandboxes that a message names. */
const MAX_NAMED = 3;

/** Decides; `title` is the name of the runtime. */
export function runtimePods(title: string, sandboxes: readonly FoundSandbox[], last: LastDev): RuntimePods {
  if (last.kind === "running") {
    return {
      kind: "refused",
      why: `process ${last.pid}, another rxlet dev, uses ${title}, and each would end the other's pods`,
    };
  }
  const isOwn = last.kind === "ended" && sandboxes.every(({ source }) => source !== "api");
  if (sandboxes.length === 0 || isOwn) return { kind: "usable", leftover: sandboxes.map(({ id }) => id) };
  const names = sandboxes.map(({ namespace, name }) => `${namespace}/${name}`);
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  const shown = `${names.slice(0, MAX_NAMED).join(", ")}${more}`;
  return { kind: "refused", why: `${title} has pods of another kubelet (${shown}), which rxlet dev would end` };
}
