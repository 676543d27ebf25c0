/**
 * The hardware of a pod's containers in its checkpoint:
 * `{"main":{"cpus":"2-3","memory":[{"nodes":[0],"resource":"memory","bytes":1024,"heldBytes":1024}]}}`.
 */
import { cpuSetText, parseCpuSet } from "../cpu/cpuSet.ts";
import { isJsonObject } from "../json.ts";
import type { ContainerHardware, MemoryBlock, PodHardware } from "./hardware.ts";

/** More NUMA nodes than Linux supports. */
const MAX_NODE_ID = 1_023;
/** A block for memory and one for each size of huge pages; machines have at most five sizes. */
const MAX_BLOCKS = 32;

/** Returns the JSON value; undefined if no container has hardware of its own. */
export function encodeHardware(hardware: PodHardware): Readonly<Record<string, unknown>> | undefined {
  const entries = [...hardware].flatMap(([name, { cpus, memory }]) =>
    cpus === undefined && memory === undefined
      ? []
      : [[name, { ...(cpus && { cpus: cpuSetText(cpus) }), ...(memory && { memory }) }] as const],
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Reads the JSON value. */
export function decodeHardware(value: unknown): PodHardware | undefined | "damaged" {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return "damaged";
  const hardware = new Map<string, ContainerHardware>();
  for (const [name, container] of Object.entries(value)) {
    const decoded = isJsonObject(container) ? decodeContainer(container) : undefined;
    if (decoded === undefined) return "damaged";
    hardware.set(name, decoded);
  }
  return hardware;
}

function decodeContainer({ cpus, memory }: Readonly<Record<string, unknown>>): ContainerHardware | undefined {
  const parsed = typeof cpus === "string" ? parseCpuSet(cpus) : undefined;
  if (cpus !== undefined && (parsed === undefined || "fault" in parsed)) return undefined;
  const blocks = memory === undefined ? undefined : decodeBlocks(memory);
  if (memory !== undefined && blocks === undefined) return undefined;
  if (parsed === undefined && blocks === undefined) return undefined;
  return { ...(parsed && "cpus" in parsed && { cpus: parsed.cpus }), ...(blocks && { memory: blocks }) };
}

function decodeBlocks(value: unknown): readonly MemoryBlock[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_BLOCKS) return undefined;
  const blocks = value.flatMap((block: unknown): readonly MemoryBlock[] => {
    if (!isJsonObject(block)) return [];
    const { nodes, resource, bytes, heldBytes } = block;
    const isBlock = isNodes(nodes) && typeof resource === "string" && isBytes(bytes) && isBytes(heldBytes);
    return isBlock ? [{ nodes, resource, bytes, heldBytes: Math.min(bytes, heldBytes) }] : [];
  });
  return blocks.length === value.length ? blocks : undefined;
}

/** Whether the value is a list of ids of NUMA nodes, ascending and not empty. */
export const isNodes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MAX_NODE_ID + 1 &&
  value.every(
    (id, index) => Number.isInteger(id) && id >= 0 && id <= MAX_NODE_ID && (index === 0 || id > value[index - 1]),
  );

/** Whether the value is an amount of memory. */
export const isBytes = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
