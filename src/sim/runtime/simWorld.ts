/**
 * The state of one simulated runtime and its mutations. Each change is published twice: as a change (`changes$`, at
 * once) and as a CRI event (after `eventLatencyMs`). Bound: the objects the kubelet creates and removes.
 */
import { delay, type Observable, Subject } from "rxjs";
import { POD_UID_LABEL } from "../../core/container/labels.ts";
import type { RuntimeHandlerState } from "../../core/runtime/runtimeState.ts";
import type { ContainerEventType } from "../../gen/cri.ts";
import { ContainerEventResponse, NamespaceMode } from "../../gen/cri.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Rng } from "../../ports/random.ts";
import type { SimDisk, SimFill } from "../host/simDisk.ts";
import type { SimProcesses } from "../host/simProcesses.ts";
import { GroupedMap } from "./groupedMap.ts";
import { containerStatusMessage, sandboxStatusMessage } from "./simMessages.ts";
import type { SimChange, SimContainer, SimImage, SimProcess, SimSandbox } from "./simRecords.ts";

/** The state; its maps are in creation order. */
export interface SimWorld {
  readonly clock: Clock;
  /** Runtime handlers of sandboxes. */
  readonly handlers: readonly RuntimeHandlerState[];
  readonly sandboxes: GroupedMap<SimSandbox, "pod">;
  readonly containers: GroupedMap<SimContainer, "pod" | "sandbox">;
  /** The machine. */
  readonly host: SimRuntimeHost;
  /** Processes of running containers. */
  readonly processes: Map<string, SimProcess>;
  /** Process ids of the pause processes of ready sandboxes. */
  readonly pauses: Map<string, number>;
  /** Keys: ids. */
  readonly images: Map<string, SimImage>;
  /** Every change when it happens. */
  readonly changes$: Observable<SimChange>;
  /** CRI events from now on. */
  readonly events$: Observable<ContainerEventResponse>;
  /** Conditions in Status: type and reason, which is empty when the condition is true. */
  readonly conditions: Map<"RuntimeReady" | "NetworkReady", string>;
  /** Returns a new id of 64 hex digits. */
  newId(): string;
  /** Returns wall time in nanoseconds; stamps within one millisecond differ. */
  stampNs(): bigint;
  /** Returns the lowest free pod address; empty for a sandbox on the host's network. */
  newAddress(sandbox: Pick<SimSandbox, "config">): string;
  sandboxChanged(kind: SimChange["kind"], sandbox: SimSandbox, ...events: readonly ContainerEventType[]): void;
  containerChanged(kind: SimChange["kind"], container: SimContainer, event: ContainerEventType): void;
  imageChanged(kind: SimChange["kind"], image: SimImage): void;
}

const sandboxName = ({ config }: SimSandbox): string => `${config.metadata?.namespace}/${config.metadata?.name}`;

const podUidOf = (sandbox: SimSandbox | undefined): string => sandbox?.config.metadata?.uid ?? "";

const isOnHostNetwork = ({ config }: Pick<SimSandbox, "config">): boolean =>
  config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;

/** Returns the range of user IDs of a sandbox with its own user namespace. */
function userIdsOf({ config }: SimSandbox): Pick<SimChange, "userIds"> {
  const [ids] = config.linux?.securityContext?.namespaceOptions?.usernsOptions?.uids ?? [];
  return ids === undefined ? {} : { userIds: { firstId: ids.hostId, length: ids.length } };
}

const podLabelOf = ({ labels }: Pick<SimSandbox["config"], "labels">): string => labels[POD_UID_LABEL] ?? "";

/** Returns the candidates for a label selector: one pod's records if it selects that pod. */
export function candidates<Value>(
  of: GroupedMap<Value, "pod"> | GroupedMap<Value, "pod" | "sandbox">,
  { [POD_UID_LABEL]: podUid }: Readonly<Record<string, string>>,
): readonly Value[] {
  return podUid === undefined ? [...of.values()] : of.inGroup("pod", podUid);
}

const NS_PER_MS = 1_000_000n;

/** Creates wall clock stamps; a second stamp in the same millisecond is one nanosecond later. */
function stamps(clock: Clock): () => bigint {
  let lastMs = Number.NaN;
  let last = 0n;
  return () => {
    const nowMs = clock.wallTime();
    last = nowMs === lastMs ? last + 1n : BigInt(Math.floor(nowMs)) * NS_PER_MS;
    lastMs = nowMs;
    return last;
  };
}

/** Returns the lowest address of the range that is not taken; empty if there is none. */
function freeAddress(podAddresses: string, taken: ReadonlySet<string>): string {
  const [network = 10, subnet = 0, block = 0] = podAddresses.split(".").map(Number);
  for (let host = 2; host < (256 - block) * 256; host += 1) {
    const address = `${network}.${subnet}.${block + (host >> 8)}.${host & 255}`;
    if (!taken.has(address)) return address;
  }
  return "";
}

const INODES_PER_IMAGE = 500;

/** Returns the disk usage of images. */
export const imagesFill = (images: readonly SimImage[]): SimFill => ({
  bytes: images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  inodes: images.length * INODES_PER_IMAGE,
});

/** Returns the fields of a change that only some kinds have. */
/** Returns the CPUs and NUMA nodes that are named. */
function placeOf(resources: SimContainer["resources"]): Pick<SimChange, "cpus" | "mems"> {
  const { cpusetCpus: cpus = "", cpusetMems: mems = "" } = resources ?? {};
  return { ...(cpus !== "" && { cpus }), ...(mems !== "" && { mems }) };
}

function changeDetails(kind: SimChange["kind"], { phase, image, resources, config }: SimContainer): Partial<SimChange> {
  if (kind === "container created") {
    const devices = config.CDIDevices.map(({ name }) => name);
    return { imageId: image.id, ...placeOf(resources), ...(devices.length > 0 && { devices }) };
  }
  if (kind !== "container exited" || phase.kind !== "exited") return {};
  return { exitCode: phase.exitCode, reason: phase.reason };
}

/** Requirements of a runtime on its machine. */
export interface SimRuntimeHost {
  readonly processes: SimProcesses;
  /** Stores the images; default: images take no space. */
  readonly disk?: Pick<SimDisk, "fill">;
}

/** Options of a world. */
export interface SimWorldOptions {
  readonly host: SimRuntimeHost;
  readonly podAddresses: string;
  readonly eventLatencyMs: number;
  readonly handlers: readonly RuntimeHandlerState[];
}

/** Creates an empty world. `podAddresses` is the first three bytes of its pod addresses, such as `10.1.0`. */
export function createSimWorld(
  clock: Clock,
  rng: Rng,
  { host, podAddresses, eventLatencyMs, handlers }: SimWorldOptions,
): SimWorld {
  const changes = new Subject<SimChange>();
  const events = new Subject<ContainerEventResponse>();
  const sandboxes = new GroupedMap({ pod: ({ config }: SimSandbox) => podLabelOf(config) });
  const containers = new GroupedMap({
    pod: ({ config }: SimContainer) => podLabelOf(config),
    sandbox: ({ sandboxId }: SimContainer) => sandboxId,
  });
  const images = new Map<string, SimImage>();
  const stampNs = stamps(clock);
  const emit = (change: Omit<SimChange, "atMs">) => changes.next({ atMs: clock.monotonicMs(), ...change });
  const emitEvent = (containerId: string, sandboxId: string, containerEventType: ContainerEventType) => {
    const sandbox = sandboxes.get(sandboxId);
    events.next(
      ContainerEventResponse.fromPartial({
        containerId,
        containerEventType,
        createdAt: stampNs(),
        ...(sandbox === undefined ? {} : { podSandboxStatus: sandboxStatusMessage(sandbox) }),
        containersStatuses: containers
          .inGroup("sandbox", sandboxId)
          .map((container) => containerStatusMessage(container, sandbox)),
      }),
    );
  };
  return {
    clock,
    handlers,
    host,
    sandboxes,
    containers,
    processes: new Map(),
    pauses: new Map(),
    images,
    changes$: changes.asObservable(),
    events$: events.pipe(delay(eventLatencyMs, clock.scheduler)),
    conditions: new Map([
      ["RuntimeReady", ""],
      ["NetworkReady", ""],
    ]),
    newId: () => `${rng.uuid()}${rng.uuid()}`.replaceAll("-", ""),
    stampNs,
    newAddress(sandbox) {
      if (isOnHostNetwork(sandbox)) return "";
      return freeAddress(podAddresses, new Set([...sandboxes.values()].map(({ ip }) => ip)));
    },
    sandboxChanged(kind, sandbox, ...types) {
      emit({ kind, id: sandbox.id, podUid: podUidOf(sandbox), name: sandboxName(sandbox), ...userIdsOf(sandbox) });
      for (const type of types) emitEvent(sandbox.id, sandbox.id, type);
    },
    containerChanged(kind, container, type) {
      const sandbox = sandboxes.get(container.sandboxId);
      const pod = sandbox === undefined ? "" : sandboxName(sandbox);
      const { name, attempt } = container.config.metadata ?? { name: "", attempt: 0 };
      const subject = { id: container.id, podUid: podUidOf(sandbox), name: `${pod}/${name}#${attempt}` };
      emit({ kind, ...subject, ...changeDetails(kind, container) });
      emitEvent(container.id, container.sandboxId, type);
    },
    imageChanged(kind, image) {
      host.disk?.fill("/", "images", imagesFill([...images.values()]));
      emit({ kind, id: image.id, podUid: "", name: image.repoTags[0] ?? image.id, image });
    },
  };
}
