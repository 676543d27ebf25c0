/**
 * Turns the documents of one manifest into pods, ConfigMaps, Secrets and RuntimeClasses: decoded, defaulted, identified
 * and validated, with the field and line of every problem. Pure; src/sources/parseManifest.ts parses the text. Bounds:
 * MAX_ITEMS pods and objects, MAX_PROBLEMS problems. Upstream: tryDecodeSinglePod and tryDecodePodList of
 * pkg/kubelet/config/common.go.
 */
import type { Pod } from "../../api.ts";
import { keyOf, type ManifestObject, type ManifestObjectKey, objectKey } from "../../configObjects.ts";
import { type EpochMs, fullNameOf, type PodFullName } from "../../ids.ts";
import { type DecodedPod, defaultPod } from "../defaults.ts";
import {
  besideFaults,
  type FieldProblem,
  type FieldProblems,
  forbidden,
  required,
  wrongType,
} from "../fieldProblem.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";
import { isMirrorPod, MIRROR_FIELD } from "../mirrorPod.ts";
import { type Digest, type StaticOrigin, staticFullName, staticPod, staticPodUid } from "../staticPod.ts";
import { ROLLBACK_AFTER, rollbackAfter } from "../../rollback/rollback.ts";
import { type ApiReference, alwaysRefused, apiReferences } from "../staticPodReferences.ts";
import { validatePod } from "../validatePod.ts";
import { decodeObject } from "./decodeObject.ts";
import { apiVersionOf, BESIDE_PODS, checkKind, knownKinds } from "./manifestKinds.ts";
import { type NamedItem, type NameLines, nameLinesOf } from "./nameLines.ts";
import { inOrder, referenceTo } from "./problemText.ts";
import { readConfigObject } from "./readConfigObject.ts";
import { readRuntimeClass } from "./readRuntimeClass.ts";
import { isJsonObject } from "../../json.ts";

/** A document of a manifest as plain data. */
export interface ManifestDocument {
  readonly value: unknown;
  /** Faults of its text that leave it readable but unusable, such as a duplicate key. */
  readonly faults?: readonly TextFault[];
  /** Returns the one-based line of a field, or of its closest parent. */
  lineOf(path: string): number | undefined;
  /** The same for the name of an item, at less cost. Absent: its line is not worth its cost. */
  lineAt?(path: string): number | undefined;
}

/** A fault of the text of a manifest or document, rather than of a field. */
export interface TextFault {
  /** A warning does not keep the last valid pods. Default: error. */
  readonly severity?: FieldProblem["severity"];
  readonly line: number | undefined;
  readonly reason: string;
}

/** The parsed text of a manifest. */
export interface ManifestText {
  readonly documents: readonly ManifestDocument[];
  readonly faults: readonly TextFault[];
}

/** Inputs for reading a manifest. */
export interface ManifestContext extends StaticOrigin {
  readonly digest: Digest;
  /** Wall time of reading, for `kubernetes.io/config.seen`. */
  readonly readAt: EpochMs;
  /**
   * Feature gate PreventStaticPodAPIReferences: reject references to Secrets, ConfigMaps, service accounts and claims.
   */
  readonly preventApiReferences: boolean;
  /**
   * Differs from upstream: without an API server, manifests may also contain ConfigMaps, Secrets and RuntimeClasses,
   * and static pods may reference the ConfigMaps and Secrets.
   */
  readonly standalone: boolean;
}

/** The pods and objects of a manifest. */
export interface ManifestContent {
  readonly pods: readonly Pod[];
  readonly objects: readonly ManifestObject[];
  /** Absent where they are unknown. */
  readonly lines?: NameLines;
}

/** The result of reading a manifest. */
export interface ManifestReading extends ManifestContent {
  readonly problems: readonly ManifestProblem[];
  /** Pods and objects in the manifest that cannot be used as written. */
  readonly failed: ReadonlySet<PodFullName | ManifestObjectKey>;
  /** Whether an item failed whose name is unknown. */
  readonly hasNamelessFailure: boolean;
}

/** The reading of an empty manifest. */
export const NO_READING: ManifestReading = {
  pods: [],
  objects: [],
  problems: [],
  failed: new Set(),
  hasNamelessFailure: false,
};

const MAX_ITEMS = 1000;
const MAX_PROBLEMS = 100;
const MAX_FIELD_LENGTH = 300;
const MAX_REASON_LENGTH = 1000;

interface Item extends Pick<ManifestDocument, "value" | "lineOf" | "lineAt"> {
  /** Path of the item in its document, with the dot: `items[0].`. */
  readonly prefix: string;
}
type Name = PodFullName | ManifestObjectKey;
interface Outcome extends NamedItem {
  /** Set if the item yields neither pod nor object. */
  readonly failed?: { readonly name: Name | undefined };
  readonly problems: readonly ManifestProblem[];
}

/** Reads a parsed manifest. Never throws. */
export function readManifest(text: ManifestText, context: ManifestContext): ManifestReading {
  const outcomes = text.documents.flatMap((document) => readDocument(document, context));
  const faults = text.faults.map(({ severity = "error", line, reason }: TextFault) =>
    problemOf(context, { severity, reason, field: "" }, line),
  );
  const surplus = outcomes.length > MAX_ITEMS ? [tooMany(context)] : [];
  const isUnread = faults.some(({ severity }) => severity === "error") || surplus.length > 0;
  const used = outcomes.slice(0, MAX_ITEMS);
  const failures = outcomes.flatMap(({ failed }) => (failed === undefined ? [] : [failed]));
  return {
    pods: used.flatMap(({ pod }) => (pod === undefined ? [] : [pod])),
    objects: used.flatMap(({ object }) => (object === undefined ? [] : [object])),
    lines: nameLinesOf(used),
    problems: atMost(
      MAX_PROBLEMS,
      inOrder([...faults, ...surplus, ...outcomes.flatMap((outcome) => outcome.problems)]),
    ),
    failed: new Set(failures.flatMap(({ name }) => (name === undefined ? [] : [name]))),
    hasNamelessFailure: isUnread || failures.some(({ name }) => name === undefined),
  };
}

/** Returns the first `count` problems; the last one states how many more there are. */
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
  const shown = field === "" ? undefined : cut(field, MAX_FIELD_LENGTH);
  return { severity, origin, line, field: shown, reason: cut(reason, MAX_REASON_LENGTH), pod };
}

/** Truncates text: manifest keys appear in paths and reasons, and may be as long as the manifest. */
const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}...` : text);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Reads one document. If its text has faults, none of its objects is used. */
function readDocument(document: ManifestDocument, context: ManifestContext): readonly Outcome[] {
  const outcomes = readObjects(document, context);
  const { faults = [] } = document;
  if (faults.length === 0) return outcomes;
  const [first = { failed: { name: undefined }, problems: [] }, ...rest] = outcomes.map(refused);
  const about = outcomes[0]?.pod === undefined ? first.problems[0]?.pod : referenceTo(outcomes[0].pod);
  const reported = faults.map(({ line, reason }) => problemOf(context, wrongType("", reason), line, about));
  return [{ ...first, problems: [...reported, ...first.problems] }, ...rest];
}

/** Turns the outcome into a failure. */
function refused({ pod, object, failed, problems }: Outcome): Outcome {
  if (pod !== undefined) return { failed: { name: fullNameOf(pod.metadata) }, problems };
  return { failed: object === undefined ? (failed ?? { name: undefined }) : { name: keyOf(object) }, problems };
}

function readObjects(found: ManifestDocument, context: ManifestContext): readonly Outcome[] {
  const { value } = found;
  if (value === null || value === undefined) return [];
  const { objects, lists } = knownKinds(context.standalone);
  const document: Item = { ...found, prefix: "" };
  const failed = (problems: readonly FieldProblem[]): readonly Outcome[] => [failure(document, problems, context)];
  if (!isJsonObject(value)) return failed([wrongType("", "must be a map with apiVersion and kind, such as a Pod")]);
  const check = checkKind(value, "", [...objects, ...lists.keys()], [...objects, "List"]);
  if (!check.isKnown) return failed(check.problems);
  if (!lists.has(value["kind"])) return [readItem(document, value["kind"], check.problems, context)];
  const items = value["items"] ?? [];
  if (!Array.isArray(items)) return failed([...check.problems, wrongType("items", "must be a list")]);
  if (check.problems.length > 0) return failed(check.problems);
  const ofAll = lists.get(value["kind"]);
  return items.slice(0, MAX_ITEMS + 1).map((item: unknown, index) => {
    const entry = { ...document, value: item, prefix: `items[${index}].` };
    return readListItem(entry, ofAll, ofAll === undefined ? objects : [ofAll], context);
  });
}

/** Reads an item of a List, or of a list of one kind, whose items may omit the kind. */
function readListItem(
  item: Item,
  ofAll: string | undefined,
  kinds: readonly string[],
  context: ManifestContext,
): Outcome {
  const { value, prefix } = item;
  if (!isJsonObject(value))
    return failure(item, [wrongType(prefix.slice(0, -1), "must be a map, such as a Pod")], context);
  if (ofAll !== undefined && value["kind"] === undefined) return readItem(item, ofAll, [], context);
  const named = { apiVersion: apiVersionOf(value["kind"] ?? ofAll), ...value };
  const check = checkKind(named, prefix, kinds, kinds);
  return check.isKnown
    ? readItem(item, value["kind"], check.problems, context)
    : failure(item, check.problems, context);
}

/**
 * Reads an object of a known kind. `ofKind` are the problems of its kind so far, whose fields include the item's
 * prefix.
 */
function readItem(item: Item, kind: unknown, ofKind: readonly FieldProblem[], context: ManifestContext): Outcome {
  const besides = BESIDE_PODS.find((known) => known === kind);
  if (besides === undefined) return readPod(item, ofKind, context);
  const { object, problems } =
    besides === "RuntimeClass" ? readRuntimeClass(item.value) : readConfigObject(besides, item.value);
  const all = [...ofKind, ...withPrefix(item, problems)];
  const reported = all.map((each) => problemOf(context, each, item.lineOf(each.field)));
  if (object !== undefined && ofKind.length === 0)
    return { object, problems: reported, line: item.lineAt?.(`${item.prefix}metadata.name`) };
  const { name, namespace } = namesIn(item.value);
  const key = name === "" ? undefined : objectKey(besides, namespace || "default", name);
  return { failed: { name: key }, problems: reported };
}

const withPrefix = ({ prefix }: Item, problems: readonly FieldProblem[]): readonly FieldProblem[] =>
  problems.map((problem) => ({ ...problem, field: `${prefix}${problem.field}` }));

/** Returns name and namespace of an undecoded value; empty if absent. */
function namesIn(value: unknown): { readonly name: string; readonly namespace: string } {
  const metadata = isJsonObject(value) && isJsonObject(value["metadata"]) ? value["metadata"] : {};
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

/** Names contain no underscore, so split the full name at the last one. */
function podReference(fullName: PodFullName | undefined, uid: string): ManifestProblem["pod"] {
  if (fullName === undefined) return undefined;
  const split = fullName.lastIndexOf("_");
  return { name: fullName.slice(0, split), namespace: fullName.slice(split + 1), uid };
}

function readPod(item: Item, ofKind: readonly FieldProblem[], context: ManifestContext): Outcome {
  const decoded = decodeObject<DecodedPod>("Pod", item.value, "");
  const uid = staticPodUid(decoded.value, context, context.digest);
  const complete = defaultPod(decoded.value);
  const pod = staticPod(complete, context, uid, context.readAt);
  const violations = besideFaults(decoded.problems, violationsOf(pod, complete, context));
  const problems = [...ofKind, ...withPrefix(item, [...decoded.problems, ...violations])];
  if (problems.some(({ severity }) => severity === "error")) {
    const isRead = !decoded.problems.some(({ severity }) => severity === "error");
    return failure(item, problems, context, isRead ? uid : "");
  }
  const reported = problems.map((each) => problemOf(context, each, item.lineOf(each.field), referenceTo(pod)));
  return { pod, problems: reported, line: item.lineAt?.(`${item.prefix}metadata.name`) };
}

const isServedHere = ({ isServed }: ApiReference, { standalone }: ManifestContext): boolean => standalone && isServed;

const ROLLBACK_FIELD = `metadata.annotations[${ROLLBACK_AFTER}]`;

function* violationsOf(pod: Pod, complete: DecodedPod, context: ManifestContext): FieldProblems {
  if ((complete.metadata?.name ?? "") === "") {
    yield required("metadata.name", "name is needed for the pod");
    for (const violation of validatePod(pod)) if (violation.field !== "metadata.name") yield violation;
  } else yield* validatePod(pod);
  // Differs from upstream, which silently ignores such a manifest.
  if (isMirrorPod(pod)) yield forbidden(MIRROR_FIELD, "a static pod must not be a mirror pod");
  const after = rollbackAfter(pod);
  if (after !== undefined && "fault" in after)
    yield { severity: "warning", field: ROLLBACK_FIELD, reason: after.fault };
  else if (after !== undefined && context.source !== "file")
    yield {
      severity: "warning",
      field: ROLLBACK_FIELD,
      reason: "has no effect: only manifests of files are rolled back",
    };
  for (const reference of apiReferences(pod.spec)) {
    if (alwaysRefused(reference) || (context.preventApiReferences && !isServedHere(reference, context))) {
      yield forbidden(reference.field, `static pods may not reference ${reference.resource}`);
    }
  }
}
