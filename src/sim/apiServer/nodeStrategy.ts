/** Validation of a Node, for all clients. Upstream: ValidateNode and ValidateNodeUpdate of the core API. */
import type { V1Node } from "@kubernetes/client-node";
import type { Wire } from "../../core/api.ts";
import { duplicate, type FieldProblem, forbidden, invalid } from "../../core/pod/fieldProblem.ts";
import { parseQuantity } from "../../core/quantity.ts";
import type { ApiObject, StoredObject } from "../../core/apiObjects/storedObject.ts";

type NodeObject = Wire<V1Node>;

const asNode = (object: ApiObject): NodeObject => object as unknown as NodeObject;

const NANO = 1_000_000_000n;

/** Returns why the text is not an amount; undefined if it is one. */
function amountFault(name: string, text: string): string | undefined {
  const amount = parseQuantity(text);
  if (amount === undefined) return "quantities must match the regular expression";
  if (amount.nano < 0n) return "must be greater than or equal to 0";
  return name === "pods" && amount.nano % NANO !== 0n ? "must be an integer" : undefined;
}

/** Requires valid amounts and distinct addresses. */
export function nodeProblems(object: ApiObject): readonly FieldProblem[] {
  const { capacity = {}, allocatable = {}, addresses = [] } = asNode(object).status ?? {};
  const amounts = Object.entries({ capacity, allocatable }).flatMap(([list, each]) =>
    Object.entries(each).flatMap(([name, text]) => {
      const why = amountFault(name, text);
      return why === undefined ? [] : [invalid(`status.${list}.${name}`, text, why)];
    }),
  );
  const seen = new Set<string>();
  const repeated = addresses.flatMap(({ type, address }, index) => {
    const key = `${type} ${address}`;
    const isAgain = seen.has(key);
    seen.add(key);
    return isAgain ? [duplicate(`status.addresses[${index}]`, { Type: type, Address: address })] : [];
  });
  return [...amounts, ...repeated];
}

/** Allows the provider of the machine to be set only once. */
export function nodeChangeProblems(object: ApiObject, old: StoredObject): readonly FieldProblem[] {
  const [before, after] = [asNode(old).spec?.providerID ?? "", asNode(object).spec?.providerID ?? ""];
  const isChanged = before !== "" && after !== before;
  const why = 'node updates may not change providerID except from "" to valid';
  return [...nodeProblems(object), ...(isChanged ? [forbidden("spec.providerID", why)] : [])];
}
