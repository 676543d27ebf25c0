/** The kinds of objects a manifest may hold, and what is wrong with a document of another kind. Pure. */
import type { ManifestObject } from "../../configObjects.ts";
import { type FieldProblem, invalid, required, unsupported } from "../fieldProblem.ts";

/** Objects that manifests define beside pods. */
export const BESIDE_PODS: readonly ManifestObject["kind"][] = ["ConfigMap", "Secret", "RuntimeClass"];

/** Kinds whose pods a controller makes from a template. */
const WORKLOADS: ReadonlySet<unknown> = new Set([
  "CronJob",
  "DaemonSet",
  "Deployment",
  "Job",
  "ReplicaSet",
  "ReplicationController",
  "StatefulSet",
]);

/** True for kinds whose objects hold the template of a pod. */
export const isWorkload = (kind: unknown): boolean => WORKLOADS.has(kind);

/** What a document is checked against. */
export interface KnownKinds {
  /** Kinds of single objects. */
  readonly objects: readonly string[];
  /** Kinds of lists with the kind of their items; undefined where each item names its own. */
  readonly lists: ReadonlyMap<unknown, string | undefined>;
}

/** The kinds of a node with or without an API server. */
export function knownKinds(standalone: boolean): KnownKinds {
  const objects = standalone ? ["Pod", ...BESIDE_PODS] : ["Pod"];
  return { objects, lists: new Map([...objects.map((kind) => [`${kind}List`, kind] as const), ["List", undefined]]) };
}

/** The only API version of a kind. */
export const apiVersionOf = (kind: unknown): string =>
  kind === "RuntimeClass" || kind === "RuntimeClassList" ? "node.k8s.io/v1" : "v1";

/** Problems of `kind` and `apiVersion`; `isKnown`: the rest of the document can be read as `kind` says. */
export interface KindCheck {
  readonly problems: readonly FieldProblem[];
  readonly isKnown: boolean;
}

/** Checks a document, or an item of a list, whose path ends in a dot. `shown` are the kinds that messages list. */
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
