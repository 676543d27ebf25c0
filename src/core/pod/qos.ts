/** QoS class of a pod, from cpu and memory of its containers only. Upstream: pkg/apis/core/v1/helper/qos. */
import type { Container, Pod } from "../api.ts";
import { perObject } from "../perObject.ts";
import { type Quantity, compareQuantity, parseQuantity } from "../quantity.ts";
import { podContainers } from "./containers.ts";
import { isPodLevelResource } from "./resourceNames.ts";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

type Requirements = NonNullable<Container["resources"]>;
type Amounts = Requirements["requests"];

const COMPUTE = ["cpu", "memory"] as const;

/** Returns the amount if it is set and above zero; zero counts as not set. */
function amount(amounts: Amounts, name: string): Quantity | undefined {
  const text = amounts?.[name];
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity === undefined || quantity.nano <= 0n ? undefined : quantity;
}

function classOf(requirements: Requirements | undefined): QosClass {
  const sets = COMPUTE.map((name) => ({
    request: amount(requirements?.requests, name),
    limit: amount(requirements?.limits, name),
  }));
  if (sets.every(({ request, limit }) => request === undefined && limit === undefined)) return "BestEffort";
  const isGuaranteed = sets.every(
    ({ request, limit }) => request !== undefined && limit !== undefined && compareQuantity(request, limit) === 0,
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

/** Whether the container alone would make its pod Guaranteed. */
export const isGuaranteedContainer = ({ resources }: Pick<Container, "resources">): boolean =>
  classOf(resources) === "Guaranteed";

/** Whether the pod sets a resource that is allowed at pod level. */
const statesAny = ({ requests, limits }: Requirements): boolean =>
  [...Object.keys(requests ?? {}), ...Object.keys(limits ?? {})].some(isPodLevelResource);

/**
 * Returns the QoS class of a pod. Pod-level resources alone decide if they are set. Otherwise all containers and init
 * containers must have the same class, or the pod is Burstable. Text that is not a quantity counts as not set.
 */
export const podQosClass = ({ spec }: Pick<Pod, "spec">): QosClass => specQosClass(spec);

const specQosClass = perObject((spec: Pod["spec"]): QosClass => {
  const { resources } = spec;
  if (resources !== undefined && statesAny(resources)) return classOf(resources);
  const [first = "BestEffort", ...rest] = podContainers(spec).map((each) => classOf(each.resources));
  return rest.every((each) => each === first) ? first : "Burstable";
});
