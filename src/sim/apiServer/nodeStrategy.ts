/** What of a Node the API server refuses, whoever writes it. Counterpart: ValidateNode and ValidateNodeUpdate of the core API. */
import type { V1Node } from "@kubernetes/client-node";
import type { Wire } from "../../core/api.ts";
import { type FieldProblem, forbidden, invalid } from "../../core/pod/fieldProblem.ts";
import { parseQuantity } from "../../core/quantity.ts";
import type { ApiObject, StoredObject } from "./storedObject.ts";

type NodeObject = Wire<V1Node>;

const asNode = (object: ApiObject): NodeObject => object as unknown as NodeObject;

/** Amounts have to be such, and not below zero. */
export function nodeProblems(object: ApiObject): readonly FieldProblem[] {
  const { capacity = {}, allocatable = {} } = asNode(object).status ?? {};
  return Object.entries({ capacity, allocatable }).flatMap(([list, amounts]) =>
    Object.entries(amounts).flatMap(([name, text]) => {
      const amount = parseQuantity(text);
      if (amount !== undefined && amount.nano >= 0n) return [];
      const why =
        amount === undefined ? "quantities must match the regular expression" : "must be greater than or equal to 0";
      return [invalid(`status.${list}.${name}`, text, why)];
    }),
  );
}

/** Who provides the machine is said once. */
export function nodeChangeProblems(object: ApiObject, old: StoredObject): readonly FieldProblem[] {
  const [before, after] = [asNode(old).spec?.providerID ?? "", asNode(object).spec?.providerID ?? ""];
  const isChanged = before !== "" && after !== before;
  const why = 'node updates may not change providerID except from "" to valid';
  return [...nodeProblems(object), ...(isChanged ? [forbidden("spec.providerID", why)] : [])];
}
