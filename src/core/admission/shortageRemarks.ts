/** The users of a resource that a rejected pod lacks, for its timeline. Bound: the MAX_USERS largest pods. */
import { podRequests } from "../resources/podResources.ts";
import type { Remark } from "../topology/hardware.ts";
import type { ResourcesByPod } from "./resourceDecision.ts";
import { resourceUnits } from "./resourceFit.ts";

const MAX_USERS = 5;
const REASON = "OutOf";

/** Returns the remark for a reason such as `OutOfcpu`; undefined for other reasons. */
export function shortageRemarks(reason: string, resourcesByPod: ResourcesByPod): readonly Remark[] | undefined {
  const resource = reason.startsWith(REASON) ? reason.slice(REASON.length) : "";
  if (resource === "" || resource === "pods") return undefined;
  const users = [...resourcesByPod.values()].flatMap(({ held, granted, promised }) => {
    const pod = held ?? granted ?? promised;
    const amount = pod === undefined ? 0n : resourceUnits(podRequests(pod), resource);
    return pod === undefined || amount === 0n
      ? []
      : [{ name: `${pod.metadata.namespace}/${pod.metadata.name}`, amount }];
  });
  if (users.length === 0) return [{ what: "UsedBy", message: `no pod uses ${resource}` }];
  const unit = resource === "cpu" ? "m" : "";
  const largest = users.toSorted((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0));
  const named = largest.slice(0, MAX_USERS).map(({ name, amount }) => `${name} ${amount}${unit}`);
  const more = users.length > MAX_USERS ? ` and ${users.length - MAX_USERS} more pods` : "";
  return [{ what: "UsedBy", message: `${resource}: ${named.join(", ")}${more}` }];
}
