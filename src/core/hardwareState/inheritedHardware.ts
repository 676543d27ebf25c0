/**
 * Takes over what another kubelet gave to pods, from its state files. Upstream refuses to start after a change of policy or
 * machine until somebody removes the file; here pods keep what still suits the node, and get the rest anew.
 */
import { type CpuSet, cpuSet, cpuSetText, cpusWithout, NO_CPUS, parseCpuSet } from "../cpu/cpuSet.ts";
import { type PodUid, podUid } from "../ids.ts";
import type { MemoryPolicy } from "../numaMemory/memoryPolicy.ts";
import { type ContainerHardware, type PodHardware, WHOLE_POD } from "../topology/hardware.ts";
import type { NodeHardware } from "../topology/nodeHardware.ts";
import type { CpuState } from "./cpuState.ts";
import type { MemoryState } from "./memoryState.ts";

/** Hardware of pods, and what the log should say about the file. */
export interface Inherited {
  readonly pods: ReadonlyMap<PodUid, PodHardware>;
  readonly changes: readonly string[];
}

/** Returns the CPUs of containers. */
export function inheritedCpus(
  { policy, sharedCpus, entries: containers, podEntries }: CpuState,
  hardware: NodeHardware | undefined,
): Inherited {
  const own = hardware?.cpus === undefined ? "none" : "static";
  const entries = withWholePods(containers, podEntries);
  const changes = policy === own ? [] : [policyChange(policy, own)];
  if (hardware?.cpus === undefined) return { pods: new Map(), changes };
  const pods = podsOf(entries, (text) => ({ cpus: cpusOf(text) }));
  if (policy !== own) return { pods, changes };
  const { topology, reserved } = hardware.cpus;
  const before = cpuSet([
    ...cpusOf(sharedCpus),
    ...[...entries.values()].flatMap((pod) => [...pod.values()].flatMap(cpusOf)),
  ]);
  const gone = cpusWithout(before, topology.cpus);
  // With the option strict-cpu-reservation reserved CPUs are in no list.
  const added = cpusWithout(cpusWithout(topology.cpus, before), reserved);
  const both = [
    ...(gone.length > 0 ? [`the machine has no CPUs ${cpuSetText(gone)} any more`] : []),
    ...(added.length > 0 ? [`CPUs ${cpuSetText(added)} are new`] : []),
  ];
  return { pods, changes: both };
}

/** Returns the memory of containers. */
export function inheritedMemory(
  { policy, nodes, entries: containers, podEntries }: MemoryState,
  hardware: NodeHardware | undefined,
): Inherited {
  const own = hardware?.memory === undefined ? "None" : "Static";
  const entries = withWholePods(containers, podEntries);
  const changes = policy === own ? [] : [policyChange(policy, own)];
  if (hardware?.memory === undefined) return { pods: new Map(), changes };
  const pods = podsOf(entries, (blocks): ContainerHardware => {
    if (blocks.length === 0) return {};
    return { memory: blocks.map((block) => ({ ...block, heldBytes: block.bytes })) };
  });
  return { pods, changes: policy === own ? nodeChanges(nodes, hardware.memory) : changes };
}

/** Adds what pods have as a whole. */
const withWholePods = <V>(
  entries: ReadonlyMap<string, ReadonlyMap<string, V>>,
  podEntries: ReadonlyMap<string, V>,
): ReadonlyMap<string, ReadonlyMap<string, V>> =>
  new Map([
    ...entries,
    ...[...podEntries].map(([uid, whole]) => [uid, new Map(entries.get(uid)).set(WHOLE_POD, whole)] as const),
  ]);

const policyChange = (before: string, now: string): string => `the policy was ${before} and is ${now} now`;

function podsOf<V>(
  entries: ReadonlyMap<string, ReadonlyMap<string, V>>,
  of: (value: V) => ContainerHardware,
): ReadonlyMap<PodUid, PodHardware> {
  const pods = new Map<PodUid, PodHardware>();
  for (const [uid, containers] of entries) {
    pods.set(podUid(uid), new Map([...containers].map(([name, value]) => [name, of(value)])));
  }
  return pods;
}

function cpusOf(text: string): CpuSet {
  const parsed = parseCpuSet(text);
  return "cpus" in parsed ? parsed.cpus : NO_CPUS;
}

/** Says which NUMA nodes have other memory for containers than before. */
function nodeChanges(before: MemoryState["nodes"], { nodes }: MemoryPolicy): readonly string[] {
  const gone = [...before.keys()].filter((id) => !nodes.some((node) => String(node.id) === id));
  const changed = nodes.filter(({ id, amounts }) => {
    const memory = before.get(String(id))?.memory;
    return [...amounts].some(([resource, { allocatable }]) => memory?.get(resource)?.allocatable !== allocatable);
  });
  return [
    ...(gone.length > 0 ? [`the machine has no NUMA nodes ${gone.join(",")} any more`] : []),
    ...(changed.length > 0 ? [`NUMA nodes ${changed.map(({ id }) => id).join(",")} have other memory`] : []),
  ];
}

/** Joins the CPUs and the memory of the same containers. */
export function joinHardware(
  a: ReadonlyMap<PodUid, PodHardware>,
  b: ReadonlyMap<PodUid, PodHardware>,
): ReadonlyMap<PodUid, PodHardware> {
  const joined = new Map(a);
  for (const [uid, pod] of b) {
    const containers = new Map(joined.get(uid));
    for (const [name, hardware] of pod) containers.set(name, { ...containers.get(name), ...hardware });
    joined.set(uid, containers);
  }
  return joined;
}
