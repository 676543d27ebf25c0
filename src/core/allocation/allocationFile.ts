/**
 * Checkpoint of a pod's allocation, so that a restarted kubelet knows the allocated resources before it admits pods, and
 * which hardware its containers have.
 * Differs from upstream: one file per pod instead of allocated_pods_state and actuated_pods_state for all pods.
 */
import { isJsonObject, parseJson } from "../json.ts";
import { decodeHardware, encodeHardware } from "../topology/hardwareFile.ts";
import type { PodHardware } from "../topology/hardware.ts";
import type { Pod } from "../api.ts";
import { podRequests } from "../resources/podResources.ts";
import { resourceAmounts, type ResourceAmounts } from "../resources/resourceList.ts";
import { allocationOf, type PodAllocation, type Requirements, unknownAllocation } from "./podAllocation.ts";

/** The checkpoint of one pod. */
export interface AllocationRecord {
  readonly allocation: PodAllocation;
  /** Requests of the whole pod, with its overhead: containers alone do not say which of them run at the same time. */
  readonly requests?: ResourceAmounts | undefined;
  /** A resize is in progress: only the runtime knows its containers' sizes. */
  readonly resizing: boolean;
  /** undefined: no container has hardware of its own. */
  readonly hardware?: PodHardware | undefined;
}

/** Returns the record of a pod. */
export const allocationRecord = (
  pod: Pod,
  { resizing, hardware }: Pick<AllocationRecord, "resizing" | "hardware">,
): AllocationRecord => ({
  allocation: allocationOf(pod),
  requests: resourceAmounts(podRequests(pod)),
  resizing,
  hardware,
});

/** Returns the container sizes of a restored pod, as far as the checkpoint contains them. */
export const restoredSize = ({ allocation, resizing }: AllocationRecord): PodAllocation =>
  resizing ? unknownAllocation(allocation) : allocation;

const VERSION = 1;

/** Maximum size of a checkpoint; a longer file is not a checkpoint of rxlet. */
export const MAX_ALLOCATION_BYTES = 1 << 20;

/** Returns the file's content, ending in a newline. */
export const encodeAllocation = ({ hardware, ...record }: AllocationRecord): string =>
  `${JSON.stringify({ version: VERSION, ...record, ...(hardware && { hardware: encodeHardware(hardware) }) })}\n`;

/** Parses a checkpoint; undefined when it is incomplete. */
export function decodeAllocation(text: string): AllocationRecord | undefined {
  const document = parseJson(text);
  if (!isJsonObject(document) || document["version"] !== VERSION || !isAllocation(document["allocation"]))
    return undefined;
  const { allocation, requests, resizing } = document;
  const hardware = decodeHardware(document["hardware"]);
  if (typeof resizing !== "boolean" || hardware === "damaged" || !isAmounts(requests)) return undefined;
  return { allocation, requests, resizing, hardware };
}

const isAmounts = (value: unknown): value is ResourceAmounts | undefined =>
  value === undefined || (isJsonObject(value) && Object.values(value).every((each) => typeof each === "string"));

const isRequirements = (value: unknown): value is Requirements =>
  isJsonObject(value) && isAmounts(value["requests"]) && isAmounts(value["limits"]);

const isAllocation = (value: unknown): value is PodAllocation =>
  isJsonObject(value) &&
  (value["pod"] === undefined || isRequirements(value["pod"])) &&
  isJsonObject(value["containers"]) &&
  Object.values(value["containers"]).every(isRequirements);
