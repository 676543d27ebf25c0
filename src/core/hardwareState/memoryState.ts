/**
 * The file `memory_manager_state` in upstream's format. Upstream: pkg/kubelet/cm/memorymanager/state/checkpoint.go.
 */
import { fnv32a } from "../fnv32a.ts";
import { isJsonObject } from "../json.ts";
import { isBytes, isNodes } from "../topology/hardwareFile.ts";
import type { StateFormat } from "./cpuState.ts";
import { listText, mapText, structText } from "./goDump.ts";
import { checksumFault, type Decoded, type JsonFields, readFields, readMap, sortedObject } from "./stateFile.ts";

/** Bytes of one kind of memory on a NUMA node. */
export interface MemoryTable {
  readonly total: number;
  readonly systemReserved: number;
  readonly allocatable: number;
  readonly reserved: number;
  readonly free: number;
}

/** A NUMA node. */
export interface MemoryNodeState {
  /** Blocks that are on this node. */
  readonly assignments: number;
  /** Keys: resource names. */
  readonly memory: ReadonlyMap<string, MemoryTable>;
  /** Ids of the nodes whose memory is given out together with this node's. */
  readonly cells: readonly number[];
}

/** Memory that a container has. */
export interface StateBlock {
  readonly nodes: readonly number[];
  readonly resource: string;
  readonly bytes: number;
}

/** The content of the file. */
export interface MemoryState {
  /** `None` or `Static`. */
  readonly policy: string;
  /** Keys: ids. */
  readonly nodes: ReadonlyMap<string, MemoryNodeState>;
  /** Keys: UID of the pod, then name of the container. */
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, readonly StateBlock[]>>;
  /** Memory of pods as a whole, by UID: pod-level resources. */
  readonly podEntries: ReadonlyMap<string, readonly StateBlock[]>;
}

/** Returns the content of the file. */
export const encodeMemoryState = (state: MemoryState, format: StateFormat): string =>
  JSON.stringify({
    policyName: state.policy,
    machineState:
      sortedObject(state.nodes, ({ assignments, memory, cells }) => ({
        numberOfAssignments: assignments,
        memoryMap: sortedObject(memory, tableJson) ?? {},
        cells,
      })) ?? {},
    entries: sortedObject(state.entries, (pod) => sortedObject(pod, (blocks) => blocks.map(blockJson)) ?? {}),
    podEntries:
      format === "pods"
        ? sortedObject(state.podEntries, (blocks) => ({ memoryBlocks: blocks.map(blockJson) }))
        : undefined,
    checksum: fnv32a(dumpOf(state, format, "MemoryManagerCheckpoint")),
  });

const tableJson = ({ total, systemReserved, allocatable, reserved, free }: MemoryTable) => ({
  total,
  systemReserved,
  allocatable,
  reserved,
  free,
});
const blockJson = ({ nodes, resource, bytes }: StateBlock) => ({ numaAffinity: nodes, type: resource, size: bytes });

/** Reads the content of a file of any version, or says why it is unusable. */
export function decodeMemoryState(text: string): Decoded<MemoryState> {
  const fields = readFields(text);
  if ("fault" in fields) return fields;
  const state = stateOf(fields.state);
  if (state === undefined) return { fault: "its entries are none of the policies None and Static" };
  const fault = checksumFault(fields.state, [
    dumpOf(state, "pods", "MemoryManagerCheckpoint"),
    dumpOf(state, "containers", "MemoryManagerCheckpointV1"),
    dumpOf(state, "containers", "MemoryManagerCheckpoint"),
  ]);
  return fault === undefined ? { state } : { fault };
}

function stateOf({ policyName, machineState, entries, podEntries }: JsonFields): MemoryState | undefined {
  const nodes = readMap(machineState, readNode);
  const containers = readMap(entries, (pod) => readMap(pod, readBlocks));
  const pods = readMap(podEntries, (pod) => (isJsonObject(pod) ? readBlocks(pod["memoryBlocks"] ?? []) : undefined));
  if (typeof policyName !== "string" || nodes === undefined || containers === undefined || pods === undefined) {
    return undefined;
  }
  return { policy: policyName, nodes, entries: containers, podEntries: pods };
}

function readNode(value: unknown): MemoryNodeState | undefined {
  if (!isJsonObject(value)) return undefined;
  const { numberOfAssignments, memoryMap, cells } = value;
  const memory = readMap(memoryMap, readTable);
  const areCells = Array.isArray(cells) && (cells.length === 0 || isNodes(cells.toSorted((a, b) => a - b)));
  if (!isBytes(numberOfAssignments) || memory === undefined || !areCells) return undefined;
  return { assignments: numberOfAssignments, memory, cells };
}

function readTable(value: unknown): MemoryTable | undefined {
  if (!isJsonObject(value)) return undefined;
  const { total = 0, systemReserved = 0, allocatable = 0, reserved = 0, free = 0 } = value;
  const isTable =
    isBytes(total) && isBytes(systemReserved) && isBytes(allocatable) && isBytes(reserved) && isBytes(free);
  return isTable ? { total, systemReserved, allocatable, reserved, free } : undefined;
}

/** More kinds of memory than a container can ask for. */
const MAX_BLOCKS = 32;

function readBlocks(value: unknown): readonly StateBlock[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_BLOCKS) return undefined;
  const blocks = value.flatMap((block: unknown): readonly StateBlock[] => {
    if (!isJsonObject(block)) return [];
    const { numaAffinity, type, size = 0 } = block;
    const isBlock = isNodes(numaAffinity) && typeof type === "string" && isBytes(size);
    return isBlock ? [{ nodes: numaAffinity, resource: type, bytes: size }] : [];
  });
  return blocks.length === value.length ? blocks : undefined;
}

function dumpOf({ policy, nodes, entries, podEntries }: MemoryState, format: StateFormat, type: string): string {
  const byId = new Map([...nodes].map(([id, node]) => [Number(id), node]));
  const fields = structText({
    PolicyName: ["string", policy],
    MachineState: ["state.NUMANodeMap", mapText(byId, nodeText)],
    Entries: ["state.ContainerMemoryAssignments", mapText(entries, (pod) => mapText(pod, blocksText))],
    ...(format === "pods" && {
      PodEntries: ["state.PodMemoryAssignments", mapText(podEntries, podEntryText)] as const,
    }),
    Checksum: ["checksum.Checksum", 0],
  });
  return `(*state.${type})${fields}`;
}

const nodeText = ({ assignments, memory, cells }: MemoryNodeState): string =>
  `<*>${structText({
    NumberOfAssignments: ["int", assignments],
    MemoryMap: ["map[v1.ResourceName]*state.MemoryTable", mapText(memory, tableText)],
    Cells: ["[]int", listText(cells, String)],
  })}`;

const tableText = ({ total, systemReserved, allocatable, reserved, free }: MemoryTable): string =>
  `<*>${structText({
    TotalMemSize: ["uint64", total],
    SystemReserved: ["uint64", systemReserved],
    Allocatable: ["uint64", allocatable],
    Reserved: ["uint64", reserved],
    Free: ["uint64", free],
  })}`;

const blocksText = (blocks: readonly StateBlock[]): string =>
  listText(blocks, ({ nodes, resource, bytes }) =>
    structText({
      NUMAAffinity: ["[]int", listText(nodes, String)],
      Type: ["v1.ResourceName", resource],
      Size: ["uint64", bytes],
    }),
  );

const podEntryText = (blocks: readonly StateBlock[]): string =>
  structText({ MemoryBlocks: ["[]state.Block", blocksText(blocks)] });
