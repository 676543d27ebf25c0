/** Status message and event annotations of a pod that is evicted at a threshold. Upstream: evictionMessage. */
import type { Pod } from "../api.ts";
import { findNamed } from "../findNamed.ts";
import { compareQuantity, formatQuantity, type Quantity, quantityOf } from "../quantity.ts";
import { containerRequests, podLevelRequests } from "../resources/podResources.ts";
import type { ContainerStats, PodStats } from "../stats/summary.ts";
import { availableText, type Observations } from "./observations.ts";
import { amountText, type StarvedResource, type Threshold } from "./thresholds.ts";

/** Maximum number of named containers. Differs from upstream: a pod of very many makes no event that is too large. */
const MAX_CONTAINERS = 100;

/** Why a pod is evicted. */
export interface EvictionMessage {
  /** Upstream's text, including the blank at its end. */
  readonly message: string;
  /** Annotations of the event; empty for a pod without stats. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Threshold and available amount of a signal, as quantities. */
export interface ThresholdFigures {
  readonly threshold: string;
  readonly available: string;
}

/** Returns the figures of a threshold; undefined when its signal was not observed. */
export function thresholdFigures(
  { signal, least }: Threshold,
  observations: Observations,
): ThresholdFigures | undefined {
  const seen = observations.get(signal);
  return seen && { threshold: amountText(least, seen.capacity), available: availableText(signal, seen) };
}

/** Returns message and annotations. `figures` belong to the threshold that is acted on. */
export function evictionMessage(
  resource: StarvedResource,
  pod: Pod,
  stats: PodStats | undefined,
  figures: ThresholdFigures | undefined,
): EvictionMessage {
  const low = `The node was low on resource: ${resource}. `;
  const quantities =
    figures === undefined ? "" : `Threshold quantity: ${figures.threshold}, available: ${figures.available}. `;
  if (stats === undefined) return { message: low + quantities, annotations: {} };
  const whole = podOffence(resource, pod, stats);
  const offences = stats.containers
    .flatMap((each) => containerOffence(resource, pod, each) ?? [])
    .slice(0, MAX_CONTAINERS);
  const texts = [...(whole === undefined ? [] : [`Pod ${offenceText(whole)}`]), ...offences.map(containerText)];
  return {
    message: low + quantities + texts.map((text) => `${text}, has larger consumption of ${resource}. `).join(""),
    annotations: {
      ...(whole && { offending_pod: whole.name, offending_pod_usage: whole.usage }),
      offending_containers: offences.map(({ name }) => name).join(","),
      offending_containers_usage: offences.map(({ usage }) => usage).join(","),
      starved_resource: resource,
    },
  };
}

/** The use of a resource beyond its request, as quantities. */
interface Offence {
  readonly name: string;
  readonly usage: string;
  readonly request: string;
}

const offenceText = ({ name, usage, request }: Offence): string => `${name} was using ${usage}, request is ${request}`;
const containerText = (offence: Offence): string => `Container ${offenceText(offence)}`;

/** A pod with a request of its own is named in any case, as upstream. */
function podOffence(resource: StarvedResource, pod: Pod, { memory }: PodStats): Offence | undefined {
  const request = resource === "memory" ? podLevelRequests(pod).get(resource) : undefined;
  if (request === undefined || memory === undefined) return undefined;
  const usage = formatQuantity(bytes(memory.workingSetBytes ?? 0));
  return { name: pod.metadata.name, usage, request: formatQuantity(request) };
}

/** Ephemeral containers are never named: they cannot request anything. */
function containerOffence(resource: StarvedResource, { spec }: Pod, stats: ContainerStats): Offence | undefined {
  const container = findNamed(spec.containers, stats.name) ?? findNamed(spec.initContainers, stats.name);
  const usage = usageOf(resource, stats);
  if (container === undefined || usage === undefined) return undefined;
  const request = containerRequests(container).get(resource) ?? bytes(0);
  if (compareQuantity(usage, request) <= 0) return undefined;
  return { name: stats.name, usage: formatQuantity(usage), request: formatQuantity(request) };
}

/** Inodes and processes are not compared, as upstream. */
function usageOf(resource: StarvedResource, { memory, rootfs, logs }: ContainerStats): Quantity | undefined {
  if (resource === "memory") {
    return memory?.workingSetBytes === undefined ? undefined : bytes(memory.workingSetBytes);
  }
  if (resource !== "ephemeral-storage" || rootfs?.usedBytes === undefined || logs?.usedBytes === undefined) {
    return undefined;
  }
  return bytes(rootfs.usedBytes + logs.usedBytes);
}

const bytes = (units: number): Quantity => quantityOf(units, "BinarySI");
