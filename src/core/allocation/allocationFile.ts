/**
 * The allocation of a pod as a file, so that a kubelet that starts again knows what it granted before it admits
 * anybody. Differs from upstream: one file per pod instead of allocated_pods_state and actuated_pods_state for all.
 */
import { isJsonObject, parseJson } from "../json.ts";
import { type PodAllocation, type Requirements, unknownAllocation } from "./podAllocation.ts";

/** What is kept of one pod. */
export interface AllocationRecord {
  readonly allocation: PodAllocation;
  /** Being put in force: what its containers have meanwhile, only the runtime knows. */
  readonly resizing: boolean;
}

/** What the containers of a restored pod have, as far as the file tells. */
export const restoredSize = ({ allocation, resizing }: AllocationRecord): PodAllocation =>
  resizing ? unknownAllocation(allocation) : allocation;

const VERSION = 1;

/** More than any pod's record has; a longer file is not ours. */
export const MAX_ALLOCATION_BYTES = 1 << 20;

/** The file's content, ending in a newline. */
export const encodeAllocation = (record: AllocationRecord): string =>
  `${JSON.stringify({ version: VERSION, ...record })}\n`;

/** The record in a file; undefined when it is not a whole one. */
export function decodeAllocation(text: string): AllocationRecord | undefined {
  const document = parseJson(text);
  if (!isJsonObject(document) || document["version"] !== VERSION || !isAllocation(document["allocation"]))
    return undefined;
  const { allocation, resizing } = document;
  return typeof resizing === "boolean" ? { allocation, resizing } : undefined;
}

const isAmounts = (value: unknown): boolean =>
  value === undefined || (isJsonObject(value) && Object.values(value).every((each) => typeof each === "string"));

const isRequirements = (value: unknown): value is Requirements =>
  isJsonObject(value) && isAmounts(value["requests"]) && isAmounts(value["limits"]);

const isAllocation = (value: unknown): value is PodAllocation =>
  isJsonObject(value) &&
  (value["pod"] === undefined || isRequirements(value["pod"])) &&
  isJsonObject(value["containers"]) &&
  Object.values(value["containers"]).every(isRequirements);
