/** Pods of the workloads in a manifest, as `rxlet template` prints them. Pure. */
import { required } from "../fieldProblem.ts";
import { isWorkload, knownKinds } from "./manifestKinds.ts";
import type { ManifestText } from "./readManifest.ts";
import { isJsonObject } from "../../json.ts";

/** The objects to print in order, notes about omitted objects, and errors. If there is an error, print no object. */
export interface TemplatePods {
  readonly objects: readonly unknown[];
  readonly notes: readonly string[];
  readonly errors: readonly string[];
}

type Place = (field: string) => string;
type Outcome = { readonly object: unknown } | { readonly note: string } | { readonly error: string };

/**
 * Returns one Pod per workload. Other objects that manifests may contain stay unchanged. `origin` names the file in
 * messages.
 */
export function podsOfTemplates({ documents, faults }: ManifestText, origin: string): TemplatePods {
  const at = (line: number | undefined): string => (line === undefined ? origin : `${origin}:${line}`);
  const outcomes = documents.flatMap(({ value, lineOf }) =>
    itemsOf(value).map(([item, prefix]) =>
      outcomeOf(item, (field) => `${at(lineOf(prefix + field))}: ${prefix}${field}`),
    ),
  );
  const errors = [
    ...faults.map(({ line, reason }) => `${at(line)}: ${reason}`),
    ...documents.flatMap(({ faults: own = [] }) => own.map(({ line, reason }) => `${at(line)}: ${reason}`)),
    ...outcomes.flatMap((outcome) => ("error" in outcome ? [outcome.error] : [])),
  ];
  const objects = outcomes.flatMap((outcome) => ("object" in outcome ? [outcome.object] : []));
  const notes = outcomes.flatMap((outcome) => ("note" in outcome ? [outcome.note] : []));
  const nothing = objects.length + errors.length === 0 ? [`${origin}: has no workload with a pod template`] : [];
  return { objects, notes, errors: [...errors, ...nothing] };
}

/** The object of a document, or the items of a List, each with its path prefix. */
function itemsOf(value: unknown): readonly (readonly [unknown, string])[] {
  if (value === null || value === undefined) return [];
  if (!isJsonObject(value) || value["kind"] !== "List" || !Array.isArray(value["items"])) return [[value, ""]];
  return value["items"].map((item: unknown, index) => [item, `items[${index}].`] as const);
}

function outcomeOf(value: unknown, place: Place): Outcome {
  const { kind, metadata, spec } = isJsonObject(value) ? value : {};
  if (knownKinds(true).objects.some((known) => known === kind)) return { object: value };
  if (!isWorkload(kind)) return { note: `${place("kind")}: ${JSON.stringify(kind ?? null)} is left out` };
  const isCronJob = kind === "CronJob";
  const path = isCronJob ? "spec.jobTemplate.spec.template" : "spec.template";
  const template = memberAt({ spec }, path);
  const podSpec = isJsonObject(template) ? template["spec"] : undefined;
  if (!isJsonObject(template) || !isJsonObject(podSpec)) {
    const { field, reason } = required(`${path}.spec`);
    return { error: `${place(field)}: ${reason}` };
  }
  const { name, namespace } = isJsonObject(metadata) ? metadata : {};
  const own = isJsonObject(template["metadata"]) ? template["metadata"] : {};
  return {
    object: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...own },
      spec: podSpec,
    },
  };
}

const memberAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((member, name) => (isJsonObject(member) ? member[name] : undefined), value);
