/** The pod that a command line names. */

/** A pod, `name` or `namespace/name`; an empty `pod` when none is named. */
export interface NamedPod {
  readonly namespace: string;
  readonly pod: string;
  readonly faults: readonly string[];
}

/** Reads the first argument; the parser has already rejected further ones. */
export function readPodName(positional: readonly string[], defaultNamespace: string): NamedPod {
  const [written] = positional;
  const [, namespace = defaultNamespace, pod = ""] = /^(?:([^/]+)\/)?([^/]+)$/.exec(written ?? "") ?? [];
  const isWrong = written !== undefined && pod === "";
  return { namespace, pod, faults: isWrong ? [`${JSON.stringify(written)} is not the name of a pod`] : [] };
}
