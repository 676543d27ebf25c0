/** Validates a container's own restart policy. Upstream: validateContainerRestartPolicy. */
import type { Container } from "../api.ts";
import { type FieldProblems, required, tooMany, unsupported } from "./fieldProblem.ts";

const POLICIES = ["Always", "Never", "OnFailure"];
const ACTIONS = ["Restart", "RestartAllContainers"];
const OPERATORS = ["In", "NotIn"];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** Validates `restartPolicy` and `restartPolicyRules` of the container at `path`. */
export function* validateRestartPolicy(
  { restartPolicy, restartPolicyRules: rules = [] }: Pick<Container, "restartPolicy" | "restartPolicyRules">,
  path: string,
): FieldProblems {
  if (restartPolicy === undefined) {
    if (rules.length > 0) {
      yield required(`${path}.restartPolicy`, "must specify restartPolicy when restart rules are used");
    }
  } else if (!POLICIES.includes(restartPolicy)) yield unsupported(`${path}.restartPolicy`, restartPolicy, POLICIES);
  if (rules.length > MAX_RULES) yield tooMany(`${path}.restartPolicyRules`, rules.length, MAX_RULES);
  for (const [index, { action, exitCodes }] of rules.entries()) {
    const at = `${path}.restartPolicyRules[${index}]`;
    if (!ACTIONS.includes(action)) yield unsupported(`${at}.action`, action ?? "", ACTIONS);
    if (exitCodes === undefined) {
      yield required(`${at}.exitCodes`, "must be specified");
      continue;
    }
    const { operator = "", values = [] } = exitCodes;
    if (!OPERATORS.includes(operator)) yield unsupported(`${at}.exitCodes.operator`, operator, OPERATORS);
    if (values.length > MAX_EXIT_CODES) yield tooMany(`${at}.exitCodes.values`, values.length, MAX_EXIT_CODES);
  }
}
