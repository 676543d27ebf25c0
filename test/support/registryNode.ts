/** A registry of pods that receives one input after the other, with admission as on a node. */
import { type AdmissionInput, admitPod } from "../../src/core/admission/admit.ts";
import { type AllocationRecord, allocationRecord } from "../../src/core/allocation/allocationFile.ts";
import type { Pod, PodSpec } from "../../src/core/api.ts";
import { monotonicMs, podUid } from "../../src/core/ids.ts";
import { NO_PRESSURE } from "../../src/core/node/nodeFacts.ts";
import {
  advanceRegistry,
  emptyRegistry,
  type PodRecord,
  type Registry,
  type RegistryContext,
  type RegistryInput,
  type RegistryStep,
} from "../../src/core/pod/podRegistry.ts";
import type { PodOperation } from "../../src/core/pod/podUpdate.ts";
import { sysctlAllowlist } from "../../src/core/pod/sysctls.ts";
import type { ListedPod } from "../../src/core/runtime/runtimeListing.ts";
import { ALL_RESIZABLE, containerOf, podOf } from "./pods.ts";

const NODE: AdmissionInput["node"] = {
  name: "node",
  labels: {},
  taints: [],
  os: "linux",
  supplementalGroupsPolicy: true,
  sysctls: sysctlAllowlist([]),
  appArmor: undefined,
  pressures: NO_PRESSURE,
  shuttingDown: false,
  declaredFeatures: undefined,
  podLevelResources: true,
};

/** Sizes of a pod in a test, beside its spec. */
export interface SizeOf extends Partial<PodSpec> {
  readonly requests?: Readonly<Record<string, string>>;
  readonly hostPort?: number;
  readonly createdAt?: string;
  readonly generation?: number;
}

/** A pod that asks for this much CPU, named like its UID. */
export function sizedPod(uid: string, cpu: string, more: SizeOf = {}): Pod {
  const { requests, hostPort, createdAt, generation, ...spec } = more;
  const ports = hostPort === undefined ? {} : { ports: [{ containerPort: hostPort, hostPort }] };
  const container = containerOf({ resources: { requests: { cpu, ...requests } }, ...ports });
  const pod = podOf({ uid, name: uid, spec: { containers: [container], ...spec } });
  const reported = { ...(createdAt && { creationTimestamp: createdAt }), ...(generation && { generation }) };
  return { ...pod, metadata: { ...pod.metadata, ...reported } };
}

/** Priority of a critical pod. */
export const CRITICAL = 2_000_000_000;

export const reported = (op: PodOperation, ...pods: readonly Pod[]): RegistryInput => ({
  kind: "update",
  update: { op, source: "api", pods },
});
export const said = (kind: "finished" | "stopped" | "removed", uid: string): RegistryInput => ({
  kind,
  uid: podUid(uid),
});
/** Returns the input that restores the allocations of an earlier kubelet. */
export const restored = (...pods: readonly Pod[]): RegistryInput => ({
  kind: "restored",
  allocations: new Map(
    pods.map((pod): [ReturnType<typeof podUid>, AllocationRecord] => [
      podUid(pod.metadata.uid),
      allocationRecord(pod, { resizing: false }),
    ]),
  ),
});
/** A pod that runs, as the runtime lists it. */
export const running = (pod: Pod): ListedPod => ({
  podUid: podUid(pod.metadata.uid),
  name: pod.metadata.name,
  namespace: pod.metadata.namespace,
  running: true,
  print: "",
});

/** A node, of 4 CPUs by default. */
export function registryNode({
  allocatable = { cpu: "4" },
  maxPods = 110,
}: {
  readonly allocatable?: AdmissionInput["allocatable"];
  readonly maxPods?: number;
} = {}) {
  let registry: Registry = emptyRegistry;
  let last: RegistryStep | undefined;
  const context: RegistryContext = {
    now: monotonicMs(0),
    parts: ALL_RESIZABLE,
    admit: (pod, activePods) => admitPod({ pod, activePods, node: NODE, allocatable, maxPods }),
    infeasible: () => undefined,
    sourcesReady: true,
    runtimePods: [],
  };
  const self = {
    context,
    send(...inputs: readonly RegistryInput[]) {
      for (const input of inputs) {
        last = advanceRegistry(registry, input, self.context);
        registry = last.registry;
      }
      return self;
    },
    at(ms: number) {
      self.context = { ...self.context, now: monotonicMs(ms) };
      return self;
    },
    runs(...pods: readonly Pod[]) {
      self.context = { ...self.context, runtimePods: pods.map(running) };
      return self;
    },
    get registry(): Registry {
      return registry;
    },
    record: (uid: string): PodRecord | undefined => registry.records.get(podUid(uid)),
    /** `a:syncing b:waiting`, in order. */
    states: (): string => [...registry.records].map(([uid, { state }]) => `${uid}:${state}`).join(" "),
    /** Names of the pods this one waits for. */
    behind: (uid: string): readonly string[] =>
      (registry.records.get(podUid(uid))?.behind ?? []).map(({ name }) => name.split("/")[1] ?? ""),
    /** `reason: message` of each rejection of the last step. */
    rejections: (): readonly string[] => (last?.rejections ?? []).map(({ reason, message }) => `${reason}: ${message}`),
    step: (): RegistryStep => last as RegistryStep,
  };
  return self;
}
