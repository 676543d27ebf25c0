/**
 * Matches pods with nodes: nodeSelector, required node affinity, NoExecute taints. Upstream:
 * k8s.io/component-helpers/scheduling/corev1, apimachinery's label selectors.
 */
import type { Pod } from "../api.ts";

type Affinity = NonNullable<NonNullable<Pod["spec"]["affinity"]>["nodeAffinity"]>;
/** A term of node affinity. */
export type Term = NonNullable<Affinity["requiredDuringSchedulingIgnoredDuringExecution"]>["nodeSelectorTerms"][number];
type Requirement = NonNullable<Term["matchExpressions"]>[number];
type Toleration = NonNullable<Pod["spec"]["tolerations"]>[number];

export type Labels = Readonly<Record<string, string>>;

/** A taint of the node. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

const INTEGER = /^[+-]?\d{1,19}$/;

function compareIntegers(value: string, values: readonly string[], holds: (a: bigint, b: bigint) => boolean): boolean {
  const [bound, ...rest] = values;
  if (bound === undefined || rest.length > 0 || !INTEGER.test(value) || !INTEGER.test(bound)) return false;
  return holds(BigInt(value), BigInt(bound));
}

/** Returns whether the labels meet a requirement; a malformed requirement matches no node. */
function holds({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return values.length > 0 && (value === undefined || !values.includes(value));
    case "Exists":
      return values.length === 0 && value !== undefined;
    case "DoesNotExist":
      return values.length === 0 && value === undefined;
    case "Gt":
      return value !== undefined && compareIntegers(value, values, (a, b) => a > b);
    case "Lt":
      return value !== undefined && compareIntegers(value, values, (a, b) => a < b);
    default:
      return false;
  }
}

/** Returns whether a field requirement matches: the only field is the node's name, with exactly one value. */
function fieldHolds({ key, operator, values = [] }: Requirement, nodeName: string): boolean {
  if (key !== "metadata.name" || values.length !== 1) return false;
  if (operator === "In") return values[0] === nodeName;
  return operator === "NotIn" && values[0] !== nodeName;
}

/** Returns whether a term matches; a term without requirements matches no node. */
function termMatches({ matchExpressions = [], matchFields = [] }: Term, nodeName: string, labels: Labels): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => holds(requirement, labels)) &&
    matchFields.every((requirement) => fieldHolds(requirement, nodeName))
  );
}

/** Returns true when the node matches one of the terms. */
export const matchesTerms = (terms: readonly Term[], nodeName: string, labels: Labels): boolean =>
  terms.some((term) => termMatches(term, nodeName, labels));

/** Returns true when the node has all labels of nodeSelector and matches a term of the required node affinity. */
export function matchesNode(pod: Pod, nodeName: string, labels: Labels): boolean {
  const { nodeSelector = {}, affinity } = pod.spec;
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesTerms(required.nodeSelectorTerms, nodeName, labels);
}

function tolerates({ key, operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return (operator === "Equal" || operator === "") && value === (taint.value ?? "");
}

/** Returns true when the pod tolerates this taint. */
export const toleratesTaint = (pod: Pod, taint: Taint): boolean =>
  (pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));

/** Returns true when the pod tolerates every NoExecute taint; the other effects concern only the scheduler. */
export const toleratesNoExecute = (pod: Pod, taints: readonly Taint[]): boolean =>
  taints.filter(({ effect }) => effect === "NoExecute").every((taint) => toleratesTaint(pod, taint));
