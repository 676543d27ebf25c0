/**
 * Manifests that `rxlet apply` writes: one file for each object, whose name says which object it holds. Pure. A file with
 * another name belongs to the operator, and is neither replaced nor removed.
 */
import { isJsonObject } from "../json.ts";
import { isPathSegment } from "../pathSegment.ts";
import { apiVersionOf } from "../pod/manifest/manifestKinds.ts";
import type { ManifestText } from "../pod/manifest/readManifest.ts";
import type { ManifestProblem } from "../pod/sourceSnapshot.ts";
import { staticPodName } from "../pod/staticPod.ts";

/** Kinds of objects in manifests, in lower case as kubectl prints them. */
export type AppliedKind = "pod" | "configmap" | "secret" | "runtimeclass.node.k8s.io";

/** An object of a manifest by the names in the manifest itself. */
export interface AppliedRef {
  readonly kind: AppliedKind;
  /** `default` where the manifest has none; empty for a RuntimeClass. */
  readonly namespace: string;
  readonly name: string;
}

/** An object to write. */
export interface AppliedObject extends AppliedRef {
  readonly value: Readonly<Record<string, unknown>>;
}

/** An object and its name on the node: a pod runs under another name than in its manifest. */
export type ShownRef = AppliedRef & { readonly shown: string };

/** An object after apply; kubectl prints the same words. */
export type AppliedChange = ShownRef & { readonly outcome: "created" | "configured" | "unchanged" };

/** Returns the object with its name on the node. */
export const shownRef = ({ kind, namespace, name }: AppliedRef, nodeName: string): ShownRef => ({
  ...{ kind, namespace, name },
  shown: kind === "pod" ? staticPodName(name, nodeName) : name,
});

/** The answer to apply: all objects were written, or none. */
export type ApplyAnswer =
  | { readonly changes: readonly AppliedChange[]; readonly problems: readonly ManifestProblem[] }
  | { readonly problems: readonly ManifestProblem[]; readonly changes?: undefined };

const PREFIX = "rxlet-apply";
const KINDS: ReadonlyMap<unknown, AppliedKind> = new Map([
  ["Pod", "pod"],
  ["ConfigMap", "configmap"],
  ["Secret", "secret"],
  ["RuntimeClass", "runtimeclass.node.k8s.io"],
]);

/** Short and plural names of kinds on a command line. */
const WORDS: ReadonlyMap<string, AppliedKind> = new Map([
  ...["pod", "pods", "po"].map((word) => [word, "pod"] as const),
  ...["configmap", "configmaps", "cm"].map((word) => [word, "configmap"] as const),
  ...["secret", "secrets"].map((word) => [word, "secret"] as const),
  ...["runtimeclass", "runtimeclasses", "runtimeclass.node.k8s.io"].map(
    (word) => [word, "runtimeclass.node.k8s.io"] as const,
  ),
]);

/** Returns the kind of a word such as `pods`; undefined for an unknown one. */
export const kindOfWord = (word: string): AppliedKind | undefined => WORDS.get(word.toLowerCase());

/** Identifies an object: `pod default/web`. */
export const refText = ({ kind, namespace, name }: AppliedRef): string =>
  namespace === "" ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/**
 * Returns the name of the file of an object; undefined when it is longer than a file system allows, or would be a path to
 * another directory: the names of a removal are those of a client.
 */
export function appliedFileName({ kind, namespace, name }: AppliedRef): string | undefined {
  const file = `${[PREFIX, kind.split(".")[0], ...(namespace === "" ? [] : [namespace])].join(".")}_${name}.json`;
  return isPathSegment(file) ? file : undefined;
}

/** Whether a file was written by apply. */
export const isAppliedFile = (name: string): boolean => name.startsWith(`${PREFIX}.`) && name.endsWith(".json");

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns the objects of a parsed manifest, those of its lists too. Values that are no object are left out. */
export const objectsIn = ({ documents }: Pick<ManifestText, "documents">): readonly AppliedObject[] =>
  documents.flatMap(({ value }) => objectsOf(value, undefined));

function objectsOf(value: unknown, ofAll: string | undefined): readonly AppliedObject[] {
  if (!isJsonObject(value)) return [];
  const { kind: written = ofAll, items } = value;
  if (typeof written === "string" && written.endsWith("List") && Array.isArray(items)) {
    const ofItems = written === "List" ? undefined : written.slice(0, -"List".length);
    return items.flatMap((item: unknown) => objectsOf(item, ofItems));
  }
  const kind = KINDS.get(written);
  if (kind === undefined) return [];
  const metadata = isJsonObject(value["metadata"]) ? value["metadata"] : {};
  const namespace = kind === "runtimeclass.node.k8s.io" ? "" : textOf(metadata["namespace"]) || "default";
  const whole = { apiVersion: apiVersionOf(written), kind: written, ...value };
  return [{ kind, namespace, name: textOf(metadata["name"]), value: whole }];
}

/** Returns the objects that occur more than once. */
export function repeatedIn(objects: readonly AppliedRef[]): readonly string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const text of objects.map(refText)) (seen.has(text) ? repeated : seen).add(text);
  return [...repeated];
}

/** The content of the file of an object. */
export const appliedText = ({ value }: AppliedObject): string => `${JSON.stringify(value, undefined, 2)}\n`;

/**
 * Returns the names under which a manifest may have an object: a pod runs under its name in the manifest and the node's
 * name, and both are accepted. The longer name comes first.
 */
export function namesInManifest({ kind, name }: AppliedRef, nodeName: string): readonly string[] {
  const suffix = `-${nodeName.toLowerCase()}`;
  const isRunning = kind === "pod" && name.endsWith(suffix) && name.length > suffix.length;
  return isRunning ? [name, name.slice(0, -suffix.length)] : [name];
}
