/** The queues that close the kubelet's feedback loops, and the outputs that go into each. */
import type { KubeletEvent } from "../core/events.ts";
import type { PodUid } from "../core/ids.ts";
import { unreachable } from "../core/invariant.ts";
import type { RegistryInput } from "../core/pod/podRegistry.ts";
import { createQueue, type Queue } from "../operators/createQueue.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { PodConfigOutput } from "./podConfig.ts";
import type { PodOutput } from "./podOutputs.ts";
import type { PlegOutput } from "./runtime/pleg.ts";

/** Capacity of a queue. Beyond it the oldest value is dropped and counted, and the next relist compensates. */
const QUEUE_BOUND = 65_536;

/** All queues of a kubelet. */
export interface Queues {
  readonly registryInputs: Queue<RegistryInput>;
  /** Pods to inspect. */
  readonly inspections: Queue<PodUid>;
  /** The runtime's event stream opened or broke, so the state of the runtime may have changed. */
  readonly runtimeLooks: Queue<undefined>;
  readonly events: Queue<KubeletEvent>;
  /** Names of CSI drivers of which the node has as many volumes as it can have. */
  readonly exhaustedDrivers: Queue<string>;
  /** Pods that the node ends, and reports of that: evictions, shutdowns. */
  readonly evictions: Queue<PodOutput>;
}

/** Creates the queues. `rxlet_dropped_total` counts the values they drop. */
export const createQueues = (ports: Pick<KubeletPorts, "clock" | "telemetry">): Queues => ({
  registryInputs: queue("registry", ports, isEnd),
  inspections: queue("inspections", ports),
  runtimeLooks: queue("runtimeLooks", ports),
  events: queue("events", ports),
  exhaustedDrivers: queue("exhaustedDrivers", ports),
  evictions: queue("evictions", ports),
});

/**
 * Returns whether the input ends a pod. Ends overtake the pods of the sources: the status of the ended pod is known
 * already, and a rejection is final, so no pod may be rejected for resources that such a pod is about to free.
 * Upstream: filterOutInactivePods, which asks the status manager.
 */
const isEnd = ({ kind }: RegistryInput): boolean =>
  kind === "finished" ||
  kind === "deadlineExceeded" ||
  kind === "evicted" ||
  kind === "shutDown" ||
  kind === "rejected";

function queue<T>(
  name: string,
  { clock, telemetry }: Pick<KubeletPorts, "clock" | "telemetry">,
  overtakes: (value: T) => boolean = () => false,
): Queue<T> {
  return createQueue<T>(name, {
    bound: QUEUE_BOUND,
    clock,
    overtakes,
    onDrop: () => telemetry.metrics.count("rxlet_dropped_total", { queue: name }),
  });
}

type Into<Name extends keyof Queues> = { readonly [N in Name]: Pick<Queues[N], "push"> };

/** Routes an output of the pod sources. The registry resyncs only when it knows the pods of all sources. */
export function routeConfigOutput(
  output: PodConfigOutput,
  into: Into<"registryInputs" | "events">,
  allSourcesSeen: () => boolean,
): void {
  if (output.kind === "update") into.registryInputs.push(output);
  else if (output.kind === "event") into.events.push(output.event);
  else if (allSourcesSeen()) into.registryInputs.push({ kind: "resync" });
}

/** Routes an output of the PLEG. */
export function routePlegOutput(
  output: PlegOutput,
  into: Into<"registryInputs" | "inspections" | "runtimeLooks">,
  allSourcesSeen: () => boolean,
): void {
  if (output.kind === "streamChanged") into.runtimeLooks.push(undefined);
  if (output.kind === "inspectAgain") into.inspections.push(output.uid);
  if (output.kind === "relisted" && allSourcesSeen()) into.registryInputs.push({ kind: "resync" });
}

/** Routes an output of a pod worker. */
export function routePodOutput(
  output: PodOutput,
  into: Into<"registryInputs" | "inspections" | "events" | "exhaustedDrivers">,
): void {
  switch (output.kind) {
    case "finished":
    case "deadlineExceeded":
    case "evicted":
    case "shutDown":
    case "startAgain":
    case "rejected":
    case "resized":
    case "kept":
    case "prepared":
    case "stopped":
    case "overdue":
    case "reclaimed":
    case "removed":
      into.registryInputs.push(output);
      break;
    case "exhausted":
      into.exhaustedDrivers.push(output.driver);
      break;
    case "inspect":
      into.inspections.push(output.uid);
      break;
    case "event":
      into.events.push(output.event);
      break;
    case "status":
    case "fact":
      break;
    default:
      unreachable(output);
  }
}
