/** Validates the fields that bind a pod to nodes: node selector, node affinity, tolerations. */
import type { PodSpec } from "../api.ts";
import { type FieldProblems, forbidden, invalid, invalidEach, required, unsupported } from "./fieldProblem.ts";
import { dnsSubdomain, labelValue, qualifiedName } from "./validateFormats.ts";
import { validateLabels } from "./validateMetadata.ts";

type Affinity = NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>;
type Term = NonNullable<Affinity["requiredDuringSchedulingIgnoredDuringExecution"]>["nodeSelectorTerms"][number];
type Requirement = NonNullable<Term["matchExpressions"]>[number];
type Toleration = NonNullable<PodSpec["tolerations"]>[number];

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Validates node selector, node affinity and tolerations of `spec` at `path`. */
export function* validateScheduling(spec: PodSpec, path: string): FieldProblems {
  yield* validateLabels(spec.nodeSelector ?? {}, `${path}.nodeSelector`);
  const affinity = spec.affinity?.nodeAffinity;
  if (affinity !== undefined) yield* validateNodeAffinity(affinity, `${path}.affinity.nodeAffinity`);
  for (const [index, toleration] of (spec.tolerations ?? []).entries()) {
    yield* validateToleration(toleration, `${path}.tolerations[${index}]`);
  }
}

function* validateNodeAffinity(affinity: Affinity, path: string): FieldProblems {
  const needed = affinity.requiredDuringSchedulingIgnoredDuringExecution;
  if (needed !== undefined) {
    const at = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    const terms = needed.nodeSelectorTerms ?? [];
    if (terms.length === 0) yield required(at, "must have at least one node selector term");
    for (const [index, term] of terms.entries()) yield* validateTerm(term, `${at}[${index}]`);
  }
  for (const [index, preferred] of (affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const at = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    const weight = preferred.weight ?? 0;
    if (weight < 1 || weight > 100) yield invalid(`${at}.weight`, weight, "must be in the range 1-100");
    yield* validateTerm(preferred.preference ?? {}, `${at}.preference`);
  }
}

function* validateTerm(term: Term, path: string): FieldProblems {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    yield* validateExpression(requirement, `${path}.matchExpressions[${index}]`);
  }
  for (const [index, requirement] of (term.matchFields ?? []).entries()) {
    const at = `${path}.matchFields[${index}]`;
    const { key = "", operator = "", values = [] } = requirement;
    if (operator !== "In" && operator !== "NotIn")
      yield invalid(`${at}.operator`, operator, "not a valid selector operator");
    else if (values.length !== 1) {
      yield required(
        `${at}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      );
    }
    if (key !== "metadata.name") yield invalid(`${at}.key`, key, "not a valid field selector key");
    else
      for (const [i, value] of values.entries()) yield* invalidEach(`${at}.values[${i}]`, value, dnsSubdomain(value));
  }
}

function* validateExpression(requirement: Requirement, path: string): FieldProblems {
  const { key = "", operator = "", values = [] } = requirement;
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) yield required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        yield forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        yield required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
      }
      break;
    default:
      yield invalid(`${path}.operator`, operator, "not a valid selector operator");
  }
  yield* invalidEach(`${path}.key`, key, qualifiedName(key));
  for (const [index, value] of values.entries())
    yield* invalidEach(`${path}.values[${index}]`, value, labelValue(value));
}

function* validateToleration(toleration: Toleration, path: string): FieldProblems {
  const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = toleration;
  if (key !== "") yield* invalidEach(`${path}.key`, key, qualifiedName(key));
  else if (operator !== "Exists") {
    yield invalid(
      `${path}.operator`,
      operator,
      "operator must be Exists when `key` is empty, which matches all keys and values",
    );
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    yield invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === "" || operator === "Equal") yield* invalidEach(`${path}.value`, value, labelValue(value));
  else if (operator !== "Exists") yield unsupported(`${path}.operator`, operator, ["Equal", "Exists"]);
  else if (value !== "") yield invalid(`${path}.value`, value, "value must be empty when `operator` is 'Exists'");
  if (effect !== "" && !EFFECTS.includes(effect)) yield unsupported(`${path}.effect`, effect, EFFECTS);
}
