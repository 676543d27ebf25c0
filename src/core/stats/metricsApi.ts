/**
 * Objects of the resource metrics API: CPU use between two measurements, and the working set at the second. Upstream:
 * k8s.io/metrics/pkg/apis/metrics/v1beta1, metrics-server's pkg/storage and pkg/api.
 */
import type { Pod } from "../api.ts";
import { formatQuantity, quantityOf } from "../quantity.ts";
import { epochMs, type EpochMs } from "../ids.ts";
import { formatInstant } from "../time/civilTime.ts";
import type { CpuStats, MemoryStats, PodStats, Summary } from "./summary.ts";

const API_VERSION = "metrics.k8s.io/v1beta1";
const MS_PER_SECOND = 1_000;
const BYTES_PER_KIBIBYTE = 1_024;

/** Two measurements of the node, the earlier one first. */
export interface MeasuredTwice {
  readonly before: Summary;
  readonly after: Summary;
}

/** Quantities of CPU and memory. */
interface ResourceUsage {
  readonly cpu: string;
  readonly memory: string;
}

/** Metadata of an object in the metrics API. */
export interface MetricsMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly creationTimestamp: string;
}

interface Measurement {
  readonly apiVersion: typeof API_VERSION;
  readonly metadata: MetricsMeta;
  readonly timestamp: string;
  /** A Go duration. */
  readonly window: string;
}

/** Usage of the node. */
export type NodeMetrics = Measurement & { readonly kind: "NodeMetrics"; readonly usage: ResourceUsage };

/** Usage of the containers of a pod. */
export type PodMetrics = Measurement & {
  readonly kind: "PodMetrics";
  readonly containers: readonly { readonly name: string; readonly usage: ResourceUsage }[];
};

interface Measured {
  readonly startTime: EpochMs;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
}

interface Usage {
  readonly usage: ResourceUsage;
  readonly time: EpochMs;
  readonly windowMs: number;
}

/** Returns the discovery document of the resources. */
export function metricsResourceList() {
  const read = { singularName: "", verbs: ["get", "list"] };
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: API_VERSION,
    resources: [
      { name: "nodes", namespaced: false, kind: "NodeMetrics", ...read },
      { name: "pods", namespaced: true, kind: "PodMetrics", ...read },
    ],
  };
}

/** Returns the list of these items. */
export const metricsList = <Item extends NodeMetrics | PodMetrics>(
  kind: Item["kind"],
  items: readonly Item[],
): {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly items: readonly Item[];
} => ({
  kind: `${kind}List`,
  apiVersion: API_VERSION,
  metadata: {},
  items,
});

/** Returns the usage of the node; undefined while a figure is missing. */
export function nodeMetrics(
  { before, after }: MeasuredTwice,
  labels: Readonly<Record<string, string>> | undefined,
): NodeMetrics | undefined {
  const used = usageOf(before.node, after.node);
  if (used === undefined) return undefined;
  const measurement = measurementOf({ name: after.node.nodeName, ...(labels && { labels }) }, [used]);
  return { kind: "NodeMetrics", ...measurement, usage: used.usage };
}

/**
 * Returns the usage of the running pods among `pods`, in their order. Like upstream, leaves out a pod with a container
 * that has not been measured twice.
 */
export function podMetrics({ before, after }: MeasuredTwice, pods: readonly Pod[]): readonly PodMetrics[] {
  const [earlier, later] = [statsByPod(before), statsByPod(after)];
  return pods.flatMap((pod): readonly PodMetrics[] => {
    const { name, namespace, labels } = pod.metadata;
    const key = `${namespace}/${name}`;
    const stats = later.get(key);
    if (pod.status?.phase !== "Running" || stats === undefined || stats.containers.length === 0) return [];
    const measuredBefore = new Map(earlier.get(key)?.containers.map((each) => [each.name, each]));
    const used = stats.containers.flatMap((each) => {
      const usage = usageOf(measuredBefore.get(each.name), each);
      return usage === undefined ? [] : [{ name: each.name, ...usage }];
    });
    if (used.length < stats.containers.length) return [];
    const containers = used.map(({ name: container, usage }) => ({ name: container, usage }));
    const measurement = measurementOf({ name, namespace, ...(labels && { labels }) }, used);
    return [{ kind: "PodMetrics", ...measurement, containers }];
  });
}

const statsByPod = ({ pods }: Summary): ReadonlyMap<string, PodStats> =>
  new Map(pods.map((pod) => [`${pod.podRef.namespace}/${pod.podRef.name}`, pod]));

/** Returns the usage between two measurements; undefined if a figure is missing or the counter restarted. */
function usageOf(before: Measured | undefined, after: Measured): Usage | undefined {
  const [from, to] = [before?.cpu, after.cpu];
  const memoryBytes = after.memory?.workingSetBytes;
  if (from?.usageCoreNanoSeconds === undefined || to?.usageCoreNanoSeconds === undefined) return undefined;
  if (memoryBytes === undefined || before?.startTime !== after.startTime) return undefined;
  const windowMs = to.time - from.time;
  const usedNanoSeconds = to.usageCoreNanoSeconds - from.usageCoreNanoSeconds;
  if (windowMs <= 0 || usedNanoSeconds < 0) return undefined;
  const nanoCores = Math.round((usedNanoSeconds * MS_PER_SECOND) / windowMs);
  const cpu = formatQuantity({ nano: BigInt(nanoCores), format: "DecimalSI" });
  const kibibytes = Math.ceil(memoryBytes / BYTES_PER_KIBIBYTE);
  const memory = formatQuantity(quantityOf(kibibytes * BYTES_PER_KIBIBYTE, "BinarySI"));
  return { usage: { cpu, memory }, time: to.time, windowMs };
}

/** Containers are measured one after another: the first instant and the longest window stand for all of them. */
function measurementOf(meta: Omit<MetricsMeta, "creationTimestamp">, used: readonly Usage[]): Measurement {
  const time = Math.min(...used.map((each) => each.time));
  const windowMs = Math.max(...used.map((each) => each.windowMs));
  const timestamp = formatInstant(epochMs(time));
  return {
    apiVersion: API_VERSION,
    metadata: { ...meta, creationTimestamp: timestamp },
    timestamp,
    window: `${windowMs / MS_PER_SECOND}s`,
  };
}
