/** Label selectors of the API. Upstream: LabelSelectorAsSelector of apimachinery. */
import type { V1LabelSelector } from "@kubernetes/client-node";
import type { Wire } from "./api.ts";
import { goQuote } from "./container/goJson.ts";
import { kubeletError } from "./errors.ts";
import { err, ok, type Result } from "./result.ts";

export type LabelSelector = Wire<V1LabelSelector>;
type Labels = Readonly<Record<string, string>>;
type Requirement = NonNullable<LabelSelector["matchExpressions"]>[number];

const refuse = (message: string): Result<never> => err(kubeletError("InvalidArgument", message));

function holds({ key, operator, values = [] }: Requirement, labels: Labels): Result<boolean> {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
    case "NotIn": {
      if (values.length === 0)
        return refuse(`values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`);
      const isListed = value !== undefined && values.includes(value);
      return ok(operator === "In" ? isListed : !isListed);
    }
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0)
        return refuse("values: Invalid value: values set must be empty for exists and does not exist");
      return ok((value !== undefined) === (operator === "Exists"));
    default:
      return refuse(`${goQuote(operator)} is not a valid label selector operator`);
  }
}

/**
 * Returns whether the selector matches these labels; a missing selector matches nothing, an empty one everything.
 * Errors: InvalidArgument.
 */
export function matchesLabels(selector: LabelSelector | undefined, labels: Labels): Result<boolean> {
  if (selector === undefined) return ok(false);
  const { matchLabels = {}, matchExpressions = [] } = selector;
  let isMatch = Object.entries(matchLabels).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  );
  for (const requirement of matchExpressions) {
    const result = holds(requirement, labels);
    if (!result.ok) return result;
    isMatch &&= result.value;
  }
  return ok(isMatch);
}
