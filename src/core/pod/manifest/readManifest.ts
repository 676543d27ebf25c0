/**
 * From the documents of one manifest to pods that may run, and the ConfigMaps, Secrets and RuntimeClasses beside them:
 * decoded, defaulted, identified and validated, with every problem by field and line. Pure; the text was parsed at the edge (src/sources/parseManifest.ts).
 * Bounds: MAX_ITEMS pods and other objects, MAX_PROBLEMS problems. Counterpart: tryDecodeSinglePod and tryDecodePodList of pkg/kubelet/config/common.go.
 */
import type { Pod } from "../../api.ts";
import { type ManifestObject, type ManifestObjectKey, objectKey } from "../../configObjects.ts";
import type { EpochMs, PodFullName } from "../../ids.ts";
import { type DecodedPod, defaultPod } from "../defaults.ts";
import { type FieldProblem, forbidden, required, unsupported, wrongType } from "../fieldProblem.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";
import { isMirrorPod, MIRROR_FIELD } from "../mirrorPod.ts";
import { type Digest, type StaticOrigin, staticFullName, staticPod, staticPodUid } from "../staticPod.ts";
import { type ApiReference, alwaysRefused, apiReferences } from "../staticPodReferences.ts";
import { validatePod } from "../validatePod.ts";
import { decodeObject } from "./decodeObject.ts";
import { inOrder } from "./problemText.ts";
import { readConfigObject } from "./readConfigObject.ts";
import { readRuntimeClass } from "./readRuntimeClass.ts";

/** One document of a manifest as plain data. */
export interface ManifestDocument {
  readonly value: unknown;
  /** One-based line of a field, or of the closest field above it. */
  lineOf(path: string): number | undefined;
}

/** Something that made a manifest, or one of its documents, unreadable as a whole. */
export interface TextFault {
  readonly line: number | undefined;
  readonly reason: string;
}

/** A manifest's text, parsed. */
export interface ManifestText {
  readonly documents: readonly ManifestDocument[];
  readonly faults: readonly TextFault[];
}

/** What a manifest is read with. */
export interface ManifestContext extends StaticOrigin {
  readonly digest: Digest;
  /** Wall time of reading, for `kubernetes.io/config.seen`. */
  readonly readAt: EpochMs;
  /** Feature gate PreventStaticPodAPIReferences: refuse Secrets, ConfigMaps, service accounts and claims. */
  readonly preventApiReferences: boolean;
  /**
   * Differs from upstream: without an API server ConfigMaps, Secrets and RuntimeClasses may be manifests too, and static
   * pods may make their environment from the former.
   */
  readonly standalone: boolean;
}

/** What a manifest gives. */
export interface ManifestContent {
  readonly pods: readonly Pod[];
  readonly objects: readonly ManifestObject[];
}

/** What a manifest says. */
export interface ManifestReading extends ManifestContent {
  readonly problems: readonly ManifestProblem[];
  /** Pods and objects the manifest means but that may not be used as it says. */
  readonly failed: ReadonlySet<PodFullName | ManifestObjectKey>;
  /** Something failed of which even the name is unknown. */
  readonly hasNamelessFailure: boolean;
}

/** Nothing at all. */
export const NO_READING: ManifestReading = {
  pods: [],
  objects: [],
  problems: [],
  failed: new Set(),
  hasNamelessFailure: false,
};

const MAX_ITEMS = 1000;
const MAX_PROBLEMS = 100;

const BESIDE_PODS: readonly ManifestObject["kind"][] = ["ConfigMap", "Secret", "RuntimeClass"];

/** Kinds of single objects, and of lists with the kind of their items: undefined where each item says its own. */
const objectKinds = ({ standalone }: ManifestContext): readonly string[] =>
  standalone ? ["Pod", ...BESIDE_PODS] : ["Pod"];
const listKinds = (context: ManifestContext): ReadonlyMap<unknown, string | undefined> =>
  new Map([...objectKinds(context).map((kind) => [`${kind}List`, kind] as const), ["List", undefined] as const]);
const apiVersionOf = (kind: unknown): string => (/^RuntimeClass(List)?$/.test(textOf(kind)) ? "node.k8s.io/v1" : "v1");

interface Item {
  readonly value: unknown;
  /** Path of the item in its document, with the dot: `items[0].`. */
  readonly prefix: string;
  readonly lineOf: ManifestDocument["lineOf"];
}
type Name = PodFullName | ManifestObjectKey;
interface Outcome {
  readonly pod?: Pod;
  readonly object?: ManifestObject;
  /** Neither pod nor object came of it. */
  readonly failed?: { readonly name: Name | undefined };
  readonly problems: readonly ManifestProblem[];
}

/** Reads a parsed manifest. Never throws, whatever it holds. */
export function readManifest(text: ManifestText, context: ManifestContext): ManifestReading {
  const outcomes = text.documents.flatMap((document) => readDocument(document, context));
  const faults = text.faults.map(({ line, reason }) =>
    problemOf(context, { severity: "error", reason, field: "" }, line),
  );
  const used = outcomes.slice(0, MAX_ITEMS);
  const failures = outcomes.flatMap(({ failed }) => (failed === undefined ? [] : [failed]));
  const surplus = outcomes.length > MAX_ITEMS ? [tooMany(context)] : [];
  return {
    pods: used.flatMap(({ pod }) => (pod === undefined ? [] : [pod])),
    objects: used.flatMap(({ object }) => (object === undefined ? [] : [object])),
    problems: atMost(
      MAX_PROBLEMS,
      inOrder([...faults, ...surplus, ...outcomes.flatMap((outcome) => outcome.problems)]),
    ),
    failed: new Set(failures.flatMap(({ name }) => (name === undefined ? [] : [name]))),
    hasNamelessFailure: faults.length > 0 || surplus.length > 0 || failures.some(({ name }) => name === undefined),
  };
}

/** The first `count` problems, the last of which says how many more there are. */
function atMost(count: number, problems: readonly ManifestProblem[]): readonly ManifestProblem[] {
  const last = problems[count - 1];
  if (last === undefined || problems.length === count) return problems;
  const reason = `${last.reason} (and ${problems.length - count} more problems in this manifest)`;
  return [...problems.slice(0, count - 1), { ...last, reason }];
}

const tooMany = (context: StaticOrigin): ManifestProblem =>
  problemOf(context, wrongType("", `more than ${MAX_ITEMS} objects in one manifest; the rest is not read`), undefined);

function problemOf(
  { origin }: StaticOrigin,
  { severity, field, reason }: FieldProblem,
  line: number | undefined,
  pod?: ManifestProblem["pod"],
): ManifestProblem {
  return { severity, origin, line, field: field === "" ? undefined : field, reason, pod };
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Why a document is not of the kinds we read; empty when it is one. */
function wrongKind(
  value: Readonly<Record<string, unknown>>,
  prefix: string,
  kinds: readonly string[],
): readonly FieldProblem[] {
  const found: FieldProblem[] = [];
  const { kind, apiVersion } = value;
  if (kind === undefined || kind === null || kind === "") found.push(required(`${prefix}kind`));
  else if (!kinds.includes(textOf(kind))) found.push(unsupported(`${prefix}kind`, kind, kinds));
  if (apiVersion === undefined || apiVersion === null || apiVersion === "") found.push(required(`${prefix}apiVersion`));
  else if (apiVersion !== apiVersionOf(kind)) {
    found.push(unsupported(`${prefix}apiVersion`, apiVersion, [apiVersionOf(kind)]));
  }
  return found;
}

function readDocument(document: ManifestDocument, context: ManifestContext): readonly Outcome[] {
  const { value, lineOf } = document;
  if (value === null || value === undefined) return [];
  const failed = (problems: readonly FieldProblem[]): readonly Outcome[] => [
    failure({ value, prefix: "", lineOf }, problems, context),
  ];
  if (!isMap(value)) return failed([wrongType("", "must be a map with apiVersion and kind, as a Pod is")]);
  const kinds = objectKinds(context);
  const lists = listKinds(context);
  const wrong = wrongKind(value, "", [...kinds, ...(lists.keys() as Iterable<string>)]);
  if (wrong.length > 0) return failed(wrong);
  if (!lists.has(value["kind"])) return [readItem({ value, prefix: "", lineOf }, value["kind"], context)];
  const items = value["items"] ?? [];
  if (!Array.isArray(items)) return failed([wrongType("items", "must be a list")]);
  return items.slice(0, MAX_ITEMS + 1).map((item: unknown, index) => {
    const entry = { value: item, prefix: `items[${index}].`, lineOf };
    if (!isMap(item)) return failure(entry, [wrongType(`items[${index}]`, "must be a map, as a Pod is")], context);
    const ofAll = lists.get(value["kind"]);
    const needsKind = ofAll === undefined || item["kind"] !== undefined;
    const problems = needsKind
      ? wrongKind(
          { apiVersion: apiVersionOf(item["kind"] ?? ofAll), ...item },
          entry.prefix,
          ofAll === undefined ? kinds : [ofAll],
        )
      : [];
    return problems.length > 0 ? failure(entry, problems, context) : readItem(entry, ofAll ?? item["kind"], context);
  });
}

/** An object whose kind is one of those we read. */
function readItem(item: Item, kind: unknown, context: ManifestContext): Outcome {
  const besides = BESIDE_PODS.find((known) => known === kind);
  if (besides === undefined) return readPod(item, context);
  const { object, problems } =
    besides === "RuntimeClass" ? readRuntimeClass(item.value) : readConfigObject(besides, item.value);
  const told = withPrefix(item, problems).map((each) => problemOf(context, each, item.lineOf(each.field)));
  if (object !== undefined) return { object, problems: told };
  const { name, namespace } = namesIn(item.value);
  const key = name === "" ? undefined : objectKey(besides, namespace || "default", name);
  return { failed: { name: key }, problems: told };
}

const withPrefix = ({ prefix }: Item, problems: readonly FieldProblem[]): readonly FieldProblem[] =>
  problems.map((problem) => ({ ...problem, field: `${prefix}${problem.field}` }));

/** Name and namespace a manifest gives, as far as can be told without decoding; empty where it gives none. */
function namesIn(value: unknown): { readonly name: string; readonly namespace: string } {
  const metadata = isMap(value) && isMap(value["metadata"]) ? value["metadata"] : {};
  return { name: textOf(metadata["name"]), namespace: textOf(metadata["namespace"]) };
}

function podNameIn(value: unknown, nodeName: string): PodFullName | undefined {
  const { name, namespace } = namesIn(value);
  return name === "" ? undefined : staticFullName(name, namespace, nodeName);
}

function failure(
  { value, lineOf }: Item,
  problems: readonly FieldProblem[],
  context: ManifestContext,
  uid = "",
): Outcome {
  const name = podNameIn(value, context.nodeName);
  const pod = podReference(name, uid);
  return {
    failed: { name },
    problems: problems.map((problem) => problemOf(context, problem, lineOf(problem.field), pod)),
  };
}

/** Names hold no underscore, so the full name splits at its last one. */
function podReference(fullName: PodFullName | undefined, uid: string): ManifestProblem["pod"] {
  if (fullName === undefined) return undefined;
  const split = fullName.lastIndexOf("_");
  return { name: fullName.slice(0, split), namespace: fullName.slice(split + 1), uid };
}

function readPod(item: Item, context: ManifestContext): Outcome {
  const decoded = decodeObject<DecodedPod>("Pod", item.value, "");
  const isBroken = decoded.problems.some((problem) => problem.severity === "error");
  if (isBroken) return failure(item, withPrefix(item, decoded.problems), context);

  const uid = staticPodUid(decoded.value, context, context.digest);
  const complete = defaultPod(decoded.value);
  const pod = staticPod(complete, context, uid, context.readAt);
  const violations = violationsOf(pod, complete, context);
  if (violations.length > 0) return failure(item, withPrefix(item, [...decoded.problems, ...violations]), context, uid);
  const reference = { name: pod.metadata.name, namespace: pod.metadata.namespace, uid };
  const warnings = withPrefix(item, decoded.problems);
  return { pod, problems: warnings.map((each) => problemOf(context, each, item.lineOf(each.field), reference)) };
}

const isServedHere = ({ isServed }: ApiReference, { standalone }: ManifestContext): boolean => standalone && isServed;

function violationsOf(pod: Pod, complete: DecodedPod, context: ManifestContext): readonly FieldProblem[] {
  if ((complete.metadata?.name ?? "") === "") return [required("metadata.name", "name is needed for the pod")];
  const violations = validatePod(pod);
  if (violations.length > 0) return violations;
  // Differs from upstream, which ignores such a manifest without a word.
  if (isMirrorPod(pod)) return [forbidden(MIRROR_FIELD, "a static pod may not be a mirror of another")];
  return apiReferences(pod.spec)
    .filter(
      (reference) => alwaysRefused(reference) || (context.preventApiReferences && !isServedHere(reference, context)),
    )
    .map(({ resource, field }) => forbidden(field, `static pods may not reference ${resource}`));
}
