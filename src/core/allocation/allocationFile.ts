/**
 * The allocation of a pod as a file, so that a kubelet that starts again knows what it granted before it admits
 * anybody. Differs from upstream: one file per pod instead of allocated_pods_state and actuated_pods_state for all.
 */
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
  const document = parsed(text);
  if (!isRecord(document) || document["version"] !== VERSION || !isAllocation(document["allocation"])) return undefined;
  const { allocation, resizing } = document;
  return typeof resizing === "boolean" ? { allocation, resizing } : undefined;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isAmounts = (value: unknown): boolean =>
  value === undefined || (isRecord(value) && Object.values(value).every((each) => typeof each === "string"));

const isRequirements = (value: unknown): value is Requirements =>
  isRecord(value) && isAmounts(value["requests"]) && isAmounts(value["limits"]);

const isAllocation = (value: unknown): value is PodAllocation =>
  isRecord(value) &&
  (value["pod"] === undefined || isRequirements(value["pod"])) &&
  isRecord(value["containers"]) &&
  Object.values(value["containers"]).every(isRequirements);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
