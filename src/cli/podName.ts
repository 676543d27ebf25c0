/** The pod that a command line names. */

/** A pod, `name` or `namespace/name`; an empty `pod` when none is named. */
export interface NamedPod {
  readonly namespace: string;
  readonly pod: string;
  readonly faults: readonly string[];
}

/** Reads the one argument there may be. */
export function readPodName(positional: readonly string[], defaultNamespace: string): NamedPod {
  const [written, ...rest] = positional;
  const [, namespace = defaultNamespace, pod = ""] = /^(?:([^/]+)\/)?([^/]+)$/.exec(written ?? "") ?? [];
  const faults = rest.map((text) => `unexpected argument ${JSON.stringify(text)}`);
  if (written !== undefined && pod === "") faults.push(`${JSON.stringify(written)} is no name of a pod`);
  return { namespace, pod, faults };
}
