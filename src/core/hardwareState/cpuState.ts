/**
 * The file `cpu_manager_state` in upstream's format, for upstream's kubelet before and after ours on the same node.
 * Upstream: pkg/kubelet/cm/cpumanager/state/checkpoint.go.
 */
import { parseCpuSet } from "../cpu/cpuSet.ts";
import { isJsonObject } from "../json.ts";
import { mapText, structText } from "./goDump.ts";
import { checksumFault, type Decoded, type JsonFields, readFields, readMap, sortedObject } from "./stateFile.ts";
import { fnv32a } from "../fnv32a.ts";

/** CPUs as text, such as `0-3,8`. */
export interface CpuState {
  /** `none` or `static`. */
  readonly policy: string;
  /** CPUs of containers without CPUs of their own; empty with policy none. */
  readonly sharedCpus: string;
  /** CPUs by UID of the pod and name of the container. */
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** CPUs of pods as a whole, by UID: pod-level resources. */
  readonly podEntries: ReadonlyMap<string, string>;
}

/**
 * How the checksum is computed. `containers`: as all versions can read it, without pods as a whole. `pods`: as upstream
 * does with the gate PodLevelResourceManagers.
 */
export type StateFormat = "containers" | "pods";

/** Returns the content of the file. */
export const encodeCpuState = (state: CpuState, format: StateFormat): string =>
  JSON.stringify({
    policyName: state.policy,
    defaultCpuSet: state.sharedCpus,
    entries: sortedObject(state.entries, (containers) => sortedObject(containers, (cpus) => cpus) ?? {}),
    podEntries: format === "pods" ? sortedObject(state.podEntries, (cpuSet) => ({ cpuSet })) : undefined,
    checksum: fnv32a(dumpOf(state, format, "CPUManagerCheckpoint")),
  });

/** Reads the content of a file of any version, or says why it is unusable. */
export function decodeCpuState(text: string): Decoded<CpuState> {
  const fields = readFields(text);
  if ("fault" in fields) return fields;
  const state = stateOf(fields.state);
  if (state === undefined) return { fault: "its entries are none of the policies none and static" };
  const fault = checksumFault(fields.state, [
    dumpOf(state, "pods", "CPUManagerCheckpoint"),
    dumpOf(state, "containers", "CPUManagerCheckpointV2"),
    dumpOf(state, "containers", "CPUManagerCheckpoint"),
  ]);
  return fault === undefined ? { state } : { fault };
}

function stateOf({ policyName, defaultCpuSet, defaultCPUSet, entries, podEntries }: JsonFields): CpuState | undefined {
  const sharedCpus = defaultCpuSet ?? defaultCPUSet ?? "";
  const containers = readMap(entries, (pod) => (isJsonObject(pod) ? readMap(pod, cpusText) : undefined));
  const pods = readMap(podEntries, (pod) => (isJsonObject(pod) ? cpusText(pod["cpuSet"] ?? "") : undefined));
  const isState = typeof policyName === "string" && cpusText(sharedCpus) !== undefined;
  if (!isState || containers === undefined || pods === undefined) return undefined;
  return { policy: policyName, sharedCpus: String(sharedCpus), entries: containers, podEntries: pods };
}

const cpusText = (value: unknown): string | undefined =>
  typeof value === "string" && "cpus" in parseCpuSet(value) ? value : undefined;

function dumpOf({ policy, sharedCpus, entries, podEntries }: CpuState, format: StateFormat, type: string): string {
  const fields = structText({
    PolicyName: ["string", policy],
    DefaultCPUSet: ["string", sharedCpus],
    Entries: ["map[string]map[string]string", mapText(entries, (pod) => mapText(pod, (cpus) => cpus))],
    ...(format === "pods" && { PodEntries: ["state.PodCPUAssignments", mapText(podEntries, podEntryText)] as const }),
    Checksum: ["checksum.Checksum", 0],
  });
  return `(*state.${type})${fields}`;
}

function podEntryText(text: string): string {
  const parsed = parseCpuSet(text);
  const elements = new Map("cpus" in parsed ? parsed.cpus.map((cpu) => [cpu, "{}"] as const) : []);
  const cpus = structTextOf("elems", "map[int]struct {}", mapText(elements, String));
  return structTextOf("CPUSet", "cpuset.CPUSet", cpus);
}

const structTextOf = (name: string, type: string, text: string): string => structText({ [name]: [type, text] });
