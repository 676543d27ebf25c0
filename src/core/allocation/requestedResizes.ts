/** The resource changes that an update of a pod requests, for metrics. */
import type { Pod } from "../api.ts";
import { compareQuantity, parseQuantity } from "../quantity.ts";
import { allocationOf, isResizableContainer, type ResizableParts } from "./podAllocation.ts";

/** Labels of kubelet_container_requested_resizes_total. */
export interface RequestedResize {
  readonly resource: "cpu" | "memory";
  readonly requirement: "requests" | "limits";
  readonly operation: "add" | "remove" | "increase" | "decrease";
}

/** Returns each cpu and memory amount of resizable containers that differs between two specs of one pod. */
export function requestedResizes(before: Pod, after: Pod, parts: ResizableParts): readonly RequestedResize[] {
  const known = allocationOf(before).containers;
  const found: RequestedResize[] = [];
  for (const [name, wanted] of Object.entries(allocationOf(after).containers)) {
    if (!isResizableContainer(after, name, parts)) continue;
    for (const requirement of ["requests", "limits"] as const) {
      for (const resource of ["cpu", "memory"] as const) {
        const operation = change(known[name]?.[requirement]?.[resource], wanted[requirement]?.[resource]);
        if (operation !== undefined) found.push({ resource, requirement, operation });
      }
    }
  }
  return found;
}

function change(before: string | undefined, after: string | undefined): RequestedResize["operation"] | undefined {
  const [held, wanted] = [before, after].map((text) => (text === undefined ? undefined : parseQuantity(text)));
  if (held === undefined) return wanted === undefined ? undefined : "add";
  if (wanted === undefined) return "remove";
  const order = compareQuantity(wanted, held);
  return order === 0 ? undefined : order > 0 ? "increase" : "decrease";
}
