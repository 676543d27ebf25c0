/** The columns of each resource, as kubectl shows them. Upstream: printersinternal's AddHandlers. */
import type { Node, Pod } from "../../api.ts";
import type { ApiObjects, ApiResourceName } from "../../api/apiResources.ts";
import type { EpochMs } from "../../ids.ts";
import { humanDuration } from "../../pod/humanDuration.ts";
import { podRow } from "../../pod/podRow.ts";
import { parseInstant } from "../../time/civilTime.ts";
import type { ApiObject } from "../storedObject.ts";
import { integer, type TableShape, text, wideInteger, wideText } from "./tableTypes.ts";

const NONE = "<none>";
const UNKNOWN = "<unknown>";
const orElse = (value: string | undefined, otherwise: string): string =>
  value === undefined || value === "" ? otherwise : value;

const since = (instant: string | undefined, now: EpochMs): string => {
  const at = parseInstant(instant);
  return at === undefined ? UNKNOWN : humanDuration(now - at);
};
const ageOf = ({ metadata }: ApiObject, now: EpochMs): string => since(metadata?.creationTimestamp, now);

const PODS: TableShape = {
  columns: [
    ...["Name", "Ready", "Status", "Restarts", "Age"].map(text),
    ...["IP", "Node", "Nominated Node", "Readiness Gates"].map(wideText),
  ],
  cells: (object, now) => {
    const pod = object as unknown as Pod;
    const { name, ready, status, restarts, age, ip } = podRow(pod, now);
    const { nominatedNodeName } = pod.status ?? {};
    return [
      ...[name, ready, status, restarts, age, ip],
      ...[orElse(pod.spec.nodeName, NONE), orElse(nominatedNodeName, NONE), readinessGates(pod)],
    ];
  },
};

function readinessGates({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const isMet = (type: string): boolean =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === "True") === true;
  return `${gates.filter(({ conditionType }) => isMet(conditionType)).length}/${gates.length}`;
}

const ROLE = "node-role.kubernetes.io/";

const NODES: TableShape = {
  columns: [
    ...["Name", "Status", "Roles", "Age", "Version"].map(text),
    ...["Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"].map(wideText),
  ],
  cells: (object, now) => {
    const { metadata, spec, status } = object as unknown as Node;
    const roles = Object.keys(metadata?.labels ?? {}).filter((label) => label.startsWith(ROLE));
    const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "Unknown";
    const word = { True: "Ready", False: "NotReady" }[ready] ?? "Unknown";
    const address = (kind: string): string =>
      orElse(status?.addresses?.find(({ type }) => type === kind)?.address, NONE);
    const { nodeInfo } = status ?? {};
    return [
      metadata?.name ?? "",
      spec?.unschedulable === true ? `${word},SchedulingDisabled` : word,
      orElse(roles.map((label) => label.slice(ROLE.length)).join(","), NONE),
      ageOf(object, now),
      nodeInfo?.kubeletVersion ?? "",
      address("InternalIP"),
      address("ExternalIP"),
      orElse(nodeInfo?.osImage, UNKNOWN),
      orElse(nodeInfo?.kernelVersion, UNKNOWN),
      orElse(nodeInfo?.containerRuntimeVersion, UNKNOWN),
    ];
  },
};

const NAMESPACES: TableShape = {
  columns: ["Name", "Status", "Age"].map(text),
  cells: (object, now) => {
    const { metadata, status } = object as unknown as ApiObjects["namespaces"];
    return [metadata?.name ?? "", status?.phase ?? "", ageOf(object, now)];
  },
};

const EVENTS: TableShape = {
  columns: [
    ...["Last Seen", "Type", "Reason", "Object"].map(text),
    ...["Subobject", "Source"].map(wideText),
    text("Message"),
    wideText("First Seen"),
    wideInteger("Count"),
    { ...wideText("Name"), format: "name" },
  ],
  cells: (object, now) => {
    const event = object as unknown as ApiObjects["events"];
    const { involvedObject, source, count = 1, firstTimestamp, lastTimestamp } = event;
    const target = `${(involvedObject.kind ?? "").toLowerCase()}/${involvedObject.name ?? ""}`;
    const parts = [source?.component, source?.host].filter((part) => part !== undefined && part !== "");
    return [
      since(lastTimestamp ?? firstTimestamp, now),
      event.type ?? "",
      event.reason ?? "",
      target,
      involvedObject.fieldPath ?? "",
      parts.join(", "),
      (event.message ?? "").trim(),
      since(firstTimestamp, now),
      count,
      event.metadata.name ?? "",
    ];
  },
};

const OTHERS: TableShape = {
  columns: ["Name", "Age"].map(text),
  cells: (object, now) => [object.metadata?.name ?? "", ageOf(object, now)],
};

const dataSize = (object: ApiObject): number =>
  [object["data"], object["binaryData"]].reduce<number>(
    (sum, map) => sum + (typeof map === "object" && map !== null ? Object.keys(map).length : 0),
    0,
  );

const CONFIG_MAPS: TableShape = {
  columns: [text("Name"), integer("Data"), text("Age")],
  cells: (object, now) => [object.metadata?.name ?? "", dataSize(object), ageOf(object, now)],
};

const SECRETS: TableShape = {
  columns: [text("Name"), text("Type"), integer("Data"), text("Age")],
  cells: (object, now) => [
    object.metadata?.name ?? "",
    orElse(object["type"] as string | undefined, "Opaque"),
    dataSize(object),
    ageOf(object, now),
  ],
};

const SHAPES: Readonly<Partial<Record<ApiResourceName, TableShape>>> = {
  pods: PODS,
  nodes: NODES,
  namespaces: NAMESPACES,
  events: EVENTS,
  configmaps: CONFIG_MAPS,
  secrets: SECRETS,
};

/** Returns the columns of a resource; name and age for a resource without its own. */
export const tableShape = (resource: ApiResourceName): TableShape => SHAPES[resource] ?? OTHERS;
