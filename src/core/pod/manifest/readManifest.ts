/**
 * From the documents of one manifest to pods that may run: decoded, defaulted, identified and validated, with every
 * problem by field and line. Pure; the text was parsed at the edge (src/sources/parseManifest.ts).
 * Bounds: MAX_PODS pods, MAX_PROBLEMS problems. Counterpart: tryDecodeSinglePod and tryDecodePodList of pkg/kubelet/config/common.go.
 */
import type { Pod } from "../../api.ts";
import type { EpochMs, PodFullName } from "../../ids.ts";
import { type DecodedPod, defaultPod } from "../defaults.ts";
import { type FieldProblem, forbidden, required, unsupported, wrongType } from "../fieldProblem.ts";
import type { ManifestProblem } from "../sourceSnapshot.ts";
import { type Digest, type StaticOrigin, staticFullName, staticPod, staticPodUid } from "../staticPod.ts";
import { alwaysRefused, apiReferences } from "../staticPodReferences.ts";
import { validatePod } from "../validatePod.ts";
import { decodeObject } from "./decodeObject.ts";

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
}

/** What a manifest says. */
export interface ManifestReading {
  readonly pods: readonly Pod[];
  readonly problems: readonly ManifestProblem[];
  /** Pods the manifest means but that may not run as it says. */
  readonly failed: ReadonlySet<PodFullName>;
  /** Something failed of which even the pod's name is unknown. */
  readonly hasNamelessFailure: boolean;
}

const MAX_PODS = 1000;
const MAX_PROBLEMS = 100;
const LIST_KINDS = ["PodList", "List"];
const KINDS = ["Pod", ...LIST_KINDS];

interface Item {
  readonly value: unknown;
  /** Path of the item in its document, with the dot: `items[0].`. */
  readonly prefix: string;
  readonly lineOf: ManifestDocument["lineOf"];
}
type Outcome =
  | { readonly pod: Pod; readonly problems: readonly ManifestProblem[] }
  | { readonly pod: undefined; readonly name: PodFullName | undefined; readonly problems: readonly ManifestProblem[] };

/** Reads a parsed manifest. Never throws, whatever it holds. */
export function readManifest(text: ManifestText, context: ManifestContext): ManifestReading {
  const outcomes = text.documents.flatMap((document) => readDocument(document, context));
  const faults = text.faults.map(({ line, reason }) =>
    problemOf(context, { severity: "error", reason, field: "" }, line),
  );
  const failures = outcomes.filter((outcome) => outcome.pod === undefined);
  const surplus = outcomes.length > MAX_PODS ? [tooMany(context)] : [];
  return {
    pods: outcomes.slice(0, MAX_PODS).flatMap((outcome) => (outcome.pod === undefined ? [] : [outcome.pod])),
    problems: atMost(MAX_PROBLEMS, [...faults, ...surplus, ...outcomes.flatMap((outcome) => outcome.problems)]),
    failed: new Set(failures.flatMap((failure) => (failure.name === undefined ? [] : [failure.name]))),
    hasNamelessFailure:
      faults.length > 0 || surplus.length > 0 || failures.some((failure) => failure.name === undefined),
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
  problemOf(context, wrongType("", `more than ${MAX_PODS} pods in one manifest; the rest is not read`), undefined);

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
  else if (apiVersion !== "v1") found.push(unsupported(`${prefix}apiVersion`, apiVersion, ["v1"]));
  return found;
}

function readDocument(document: ManifestDocument, context: ManifestContext): readonly Outcome[] {
  const { value, lineOf } = document;
  if (value === null || value === undefined) return [];
  const failed = (problems: readonly FieldProblem[]): readonly Outcome[] => [
    failure({ value, prefix: "", lineOf }, problems, context),
  ];
  if (!isMap(value)) return failed([wrongType("", "must be a map with apiVersion and kind, as a Pod is")]);
  const wrong = wrongKind(value, "", KINDS);
  if (wrong.length > 0) return failed(wrong);
  if (value["kind"] === "Pod") return [readPod({ value, prefix: "", lineOf }, context)];
  const items = value["items"] ?? [];
  if (!Array.isArray(items)) return failed([wrongType("items", "must be a list")]);
  return items.slice(0, MAX_PODS + 1).map((item: unknown, index) => {
    const entry = { value: item, prefix: `items[${index}].`, lineOf };
    // In a PodList everything is a Pod; only a List says so item by item.
    const needsKind = value["kind"] === "List" || (isMap(item) && item["kind"] !== undefined);
    if (!isMap(item)) return failure(entry, [wrongType(`items[${index}]`, "must be a map, as a Pod is")], context);
    const problems = needsKind ? wrongKind({ apiVersion: "v1", ...item }, entry.prefix, ["Pod"]) : [];
    return problems.length > 0 ? failure(entry, problems, context) : readPod(entry, context);
  });
}

/** The name a manifest gives its pod, as far as can be told without decoding. */
function nameOf(value: unknown, nodeName: string): PodFullName | undefined {
  const metadata = isMap(value) && isMap(value["metadata"]) ? value["metadata"] : {};
  const name = textOf(metadata["name"]);
  return name === "" ? undefined : staticFullName(name, textOf(metadata["namespace"]), nodeName);
}

function failure(
  { value, lineOf }: Item,
  problems: readonly FieldProblem[],
  context: ManifestContext,
  uid = "",
): Outcome {
  const name = nameOf(value, context.nodeName);
  const pod = podReference(name, uid);
  return {
    pod: undefined,
    name,
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
  const prefixed = (problems: readonly FieldProblem[]): readonly FieldProblem[] =>
    problems.map((problem) => ({ ...problem, field: `${item.prefix}${problem.field}` }));
  const isBroken = decoded.problems.some((problem) => problem.severity === "error");
  if (isBroken) return failure(item, prefixed(decoded.problems), context);

  const uid = staticPodUid(decoded.value, context, context.digest);
  const complete = defaultPod(decoded.value);
  const pod = staticPod(complete, context, uid, context.readAt);
  const violations = violationsOf(pod, complete, context);
  if (violations.length > 0) return failure(item, prefixed([...decoded.problems, ...violations]), context, uid);
  const reference = { name: pod.metadata.name, namespace: pod.metadata.namespace, uid };
  const warnings = prefixed(decoded.problems);
  return { pod, problems: warnings.map((each) => problemOf(context, each, item.lineOf(each.field), reference)) };
}

function violationsOf(pod: Pod, complete: DecodedPod, context: ManifestContext): readonly FieldProblem[] {
  if ((complete.metadata?.name ?? "") === "") return [required("metadata.name", "name is needed for the pod")];
  const violations = validatePod(pod);
  if (violations.length > 0) return violations;
  return apiReferences(pod.spec)
    .filter((reference) => context.preventApiReferences || alwaysRefused(reference))
    .map(({ resource, field }) => forbidden(field, `static pods may not reference ${resource}`));
}
