/** Object kinds that a manifest may contain, and the problems of documents of other kinds. Pure. */
import type { ManifestObject } from "../../configObjects.ts";
import { type FieldProblem, invalid, required, unsupported } from "../fieldProblem.ts";

/** Kinds other than Pod that manifests may define. */
export const BESIDE_PODS: readonly ManifestObject["kind"][] = ["ConfigMap", "Secret", "RuntimeClass"];

/** Workload kinds, whose controllers create pods from a template. */
const WORKLOADS: ReadonlySet<unknown> = new Set([
  "CronJob",
  "DaemonSet",
  "Deployment",
  "Job",
  "ReplicaSet",
  "ReplicationController",
  "StatefulSet",
]);

/** Whether objects of this kind contain a pod template. */
export const isWorkload = (kind: unknown): boolean => WORKLOADS.has(kind);

/** The kinds that a document may have. */
export interface KnownKinds {
  /** Kinds of objects. */
  readonly objects: readonly string[];
  /** Kinds of lists with the kind of their items; undefined where each item has its own kind. */
  readonly lists: ReadonlyMap<unknown, string | undefined>;
}

/** Returns the kinds for a standalone node, or for one with an API server. */
export function knownKinds(standalone: boolean): KnownKinds {
  const objects = standalone ? ["Pod", ...BESIDE_PODS] : ["Pod"];
  return { objects, lists: new Map([...objects.map((kind) => [`${kind}List`, kind] as const), ["List", undefined]]) };
}

/** Returns the only supported API version of a kind. */
export const apiVersionOf = (kind: unknown): string =>
  kind === "RuntimeClass" || kind === "RuntimeClassList" ? "node.k8s.io/v1" : "v1";

/** Problems of `kind` and `apiVersion`. `isKnown`: the document can be decoded as its kind. */
export interface KindCheck {
  readonly problems: readonly FieldProblem[];
  readonly isKnown: boolean;
}

/** Checks a document, or a list item, whose path `prefix` ends in a dot. `shown` are the kinds that messages list. */
export function checkKind(
  { kind, apiVersion }: Readonly<Record<string, unknown>>,
  prefix: string,
  kinds: Iterable<unknown>,
  shown: readonly string[],
): KindCheck {
  const at = `${prefix}kind`;
  if (isUnset(kind)) {
    const missing = isUnset(apiVersion) ? [required(`${prefix}apiVersion`)] : [];
    return { problems: [required(at, `one of ${shown.join(", ")}`), ...missing], isKnown: false };
  }
  if (![...kinds].includes(kind)) return { problems: [unknownKind(at, kind, shown)], isKnown: false };
  return { problems: versionProblems(`${prefix}apiVersion`, apiVersion, apiVersionOf(kind)), isKnown: true };
}

const isUnset = (value: unknown): boolean => value === undefined || value === null || value === "";

function versionProblems(path: string, found: unknown, wanted: string): readonly FieldProblem[] {
  if (isUnset(found)) return [required(path, wanted)];
  return found === wanted ? [] : [unsupported(path, found, [wanted])];
}

function unknownKind(path: string, kind: unknown, shown: readonly string[]): FieldProblem {
  if (isWorkload(kind)) {
    return invalid(path, kind, 'rxlet runs pods only; "rxlet template FILE" prints the pod of its template');
  }
  return unsupported(path, kind, shown);
}
