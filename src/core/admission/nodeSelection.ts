/**
 * Whether a node is one a pod may run on: nodeSelector, required node affinity, NoExecute taints. Counterparts:
 * k8s.io/component-helpers/scheduling/corev1, apimachinery's label selectors.
 */
import type { Pod } from "../api.ts";

type Affinity = NonNullable<NonNullable<Pod["spec"]["affinity"]>["nodeAffinity"]>;
/** Of node affinity. */
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

/** A requirement that is not well formed holds for no node. */
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

/** The one field there is to match: the node's name, against exactly one value. */
function fieldHolds({ key, operator, values = [] }: Requirement, nodeName: string): boolean {
  if (key !== "metadata.name" || values.length !== 1) return false;
  if (operator === "In") return values[0] === nodeName;
  return operator === "NotIn" && values[0] !== nodeName;
}

/** A term without any requirement matches no node. */
function termMatches({ matchExpressions = [], matchFields = [] }: Term, nodeName: string, labels: Labels): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => holds(requirement, labels)) &&
    matchFields.every((requirement) => fieldHolds(requirement, nodeName))
  );
}

/** True when the node matches some of the terms. */
export const matchesTerms = (terms: readonly Term[], nodeName: string, labels: Labels): boolean =>
  terms.some((term) => termMatches(term, nodeName, labels));

/** True when the node has all labels of nodeSelector and matches some term of the required node affinity. */
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

/** True when some toleration of the pod is of this taint. */
export const toleratesTaint = (pod: Pod, taint: Taint): boolean =>
  (pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, taint));

/** True when the pod tolerates every NoExecute taint; the others concern the scheduler alone. */
export const toleratesNoExecute = (pod: Pod, taints: readonly Taint[]): boolean =>
  taints.filter(({ effect }) => effect === "NoExecute").every((taint) => toleratesTaint(pod, taint));
