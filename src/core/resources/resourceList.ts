/** Amounts by resource name, and operations on them. Upstream: v1.ResourceList. */
import {
  type Quantity,
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  quantityMilli,
  quantityValue,
} from "../quantity.ts";

/** Amounts by resource name, in the order they were written. */
export type ResourceList = ReadonlyMap<string, Quantity>;

/** The wire form: quantities as text by resource name. */
export type ResourceAmounts = Readonly<Record<string, string>>;

/** Parses wire amounts. Skips malformed quantities, since pods and configuration are validated earlier. */
export function parseResourceList(amounts: ResourceAmounts | undefined): ResourceList {
  const list = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(amounts ?? {})) {
    const quantity = parseQuantity(text);
    if (quantity !== undefined) list.set(name, quantity);
  }
  return list;
}

/** Returns the wire form. */
export const resourceAmounts = (list: ResourceList): ResourceAmounts =>
  Object.fromEntries([...list].map(([name, amount]) => [name, formatQuantity(amount)]));

function combine(a: ResourceList, b: ResourceList, both: (x: Quantity, y: Quantity) => Quantity): ResourceList {
  const list = new Map(a);
  for (const [name, quantity] of b) {
    const held = list.get(name);
    list.set(name, held === undefined ? quantity : both(held, quantity));
  }
  return list;
}

/** Returns the sum of two lists. */
export const addResources = (a: ResourceList, b: ResourceList): ResourceList => combine(a, b, addQuantity);

/** Returns the larger amount of each resource. */
export const maxResources = (a: ResourceList, b: ResourceList): ResourceList =>
  combine(a, b, (x, y) => (compareQuantity(y, x) > 0 ? y : x));

/** Returns the smaller amount of each resource; a resource in one list only keeps its amount. */
export const minResources = (a: ResourceList, b: ResourceList): ResourceList =>
  combine(a, b, (x, y) => (compareQuantity(y, x) < 0 ? y : x));

/** Returns a resource in thousandths (for cpu), rounded up; 0 when absent. */
export function resourceMilli(list: ResourceList, name: string): bigint {
  const quantity = list.get(name);
  return quantity === undefined ? 0n : quantityMilli(quantity);
}

/** Returns a resource in whole units (bytes, counts), rounded up; 0 when absent. */
export function resourceValue(list: ResourceList, name: string): bigint {
  const quantity = list.get(name);
  return quantity === undefined ? 0n : quantityValue(quantity);
}
