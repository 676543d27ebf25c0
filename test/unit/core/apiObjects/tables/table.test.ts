import { describe, expect, it } from "vitest";
import type { ApiResourceName } from "../../../../../src/core/api/apiResources.ts";
import { epochMs } from "../../../../../src/core/ids.ts";
import type { ApiObject } from "../../../../../src/core/apiObjects/storedObject.ts";
import { tableOf, tableWish } from "../../../../../src/core/apiObjects/tables/table.ts";

const NOW = epochMs(Date.UTC(2026, 0, 1, 0, 5));
const BEFORE = "2026-01-01T00:00:00Z";
const meta = (name: string) => ({ name, namespace: "demo", creationTimestamp: BEFORE });

const pod: ApiObject = {
  metadata: meta("web"),
  spec: {
    nodeName: "n",
    containers: [{ name: "a" }],
    readinessGates: [{ conditionType: "x" }, { conditionType: "y" }],
  },
  status: {
    phase: "Running",
    podIPs: [{ ip: "10.0.0.2" }],
    conditions: [{ type: "x", status: "True" }],
    containerStatuses: [{ name: "a", ready: true, restartCount: 0, state: { running: {} } }],
  },
};
const node = (status: string, spec: object = {}): ApiObject => ({
  metadata: { name: "n", creationTimestamp: BEFORE, labels: { "node-role.kubernetes.io/worker": "" } },
  spec,
  status: {
    conditions: [{ type: "Ready", status }],
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    nodeInfo: { kubeletVersion: "v1.36.2", osImage: "Debian", kernelVersion: "6.1", containerRuntimeVersion: "c://1" },
  },
});
const event: ApiObject = {
  metadata: meta("web.1"),
  involvedObject: { kind: "Pod", name: "web", fieldPath: "spec.containers{a}" },
  reason: "Started",
  message: "Container started\n",
  type: "Normal",
  source: { component: "kubelet", host: "n" },
  count: 3,
  firstTimestamp: BEFORE,
  lastTimestamp: "2026-01-01T00:04:50Z",
};

describe("tableOf", () => {
  it.each<[ApiResourceName, ApiObject, readonly unknown[]]>([
    ["pods", pod, ["web", "1/1", "Running", "0", "5m", "10.0.0.2", "n", "<none>", "1/2"]],
    ["nodes", node("True"), ["n", "Ready", "worker", "5m", "v1.36.2", "10.0.0.1", "<none>", "Debian", "6.1", "c://1"]],
    [
      "nodes",
      node("False", { unschedulable: true }),
      ["n", "NotReady,SchedulingDisabled", "worker", "5m", "v1.36.2", "10.0.0.1", "<none>", "Debian", "6.1", "c://1"],
    ],
    ["namespaces", { metadata: meta("demo"), status: { phase: "Active" } }, ["demo", "Active", "5m"]],
    [
      "events",
      event,
      [
        "10s",
        "Normal",
        "Started",
        "pod/web",
        "spec.containers{a}",
        "kubelet, n",
        "Container started",
        "5m",
        3,
        "web.1",
      ],
    ],
    ["configmaps", { metadata: meta("c"), data: { a: "1" }, binaryData: { b: "" } }, ["c", 2, "5m"]],
    ["secrets", { metadata: meta("s") }, ["s", "Opaque", 0, "5m"]],
    ["leases", { metadata: meta("l") }, ["l", "5m"]],
  ])("shows %s with kubectl's columns", (resource, object, cells) => {
    const wish = { apiVersion: "meta.k8s.io/v1", include: "None" } as const;
    const table = tableOf(resource, [object], {}, wish, NOW);
    expect(table.rows).toEqual([{ cells }]);
    expect(table.columnDefinitions).toHaveLength(cells.length);
    expect(table.columnDefinitions.map(({ type }) => type)).toEqual(
      cells.map((cell) => (typeof cell === "number" ? "integer" : "string")),
    );
  });

  it.each<[ApiResourceName, columns: string]>([
    ["pods", "Name Ready Status Restarts Age | IP Node Nominated+Node Readiness+Gates"],
    ["nodes", "Name Status Roles Age Version | Internal-IP External-IP OS-Image Kernel-Version Container-Runtime"],
    ["namespaces", "Name Status Age | "],
    ["events", "Last+Seen Type Reason Object Message | Subobject Source First+Seen Count Name"],
    ["configmaps", "Name Data Age | "],
    ["secrets", "Name Type Data Age | "],
    ["leases", "Name Age | "],
  ])("names the columns of %s, and those of the wide output", (resource, columns) => {
    const { columnDefinitions } = tableOf(resource, [], {}, { apiVersion: "meta.k8s.io/v1", include: "None" }, NOW);
    const named = (priority: number): string =>
      columnDefinitions
        .filter((column) => column.priority === priority)
        .map(({ name }) => name.replace(" ", "+"))
        .join(" ");
    expect(`${named(0)} | ${named(1)}`).toBe(columns);
    expect(columnDefinitions.filter(({ name, format }) => (format === "name") !== (name === "Name"))).toEqual([]);
    expect(columnDefinitions.filter(({ name, description }) => name !== description)).toEqual([]);
  });

  it.each<[ApiResourceName, ApiObject, readonly unknown[]]>([
    ["namespaces", {}, ["", "", "<unknown>"]],
    ["nodes", {}, ["", "Unknown", "<none>", "<unknown>", "", "<none>", "<none>", ...Array(3).fill("<unknown>")]],
    ["configmaps", { data: null, binaryData: { a: "", b: "" } }, ["", 2, "<unknown>"]],
    ["secrets", { type: "", data: { a: "" } }, ["", "Opaque", 1, "<unknown>"]],
    ["secrets", { type: "kubernetes.io/tls" }, ["", "kubernetes.io/tls", 0, "<unknown>"]],
    ["leases", { metadata: { creationTimestamp: "never" } }, ["", "<unknown>"]],
    [
      "events",
      { metadata: { name: "e" }, involvedObject: {}, firstTimestamp: BEFORE, source: { component: "", host: "n" } },
      ["5m", "", "", "/", "", "n", "", "5m", 1, "e"],
    ],
  ])("shows %s without fields: %j", (resource, object, cells) => {
    const { rows } = tableOf(resource, [object], {}, { apiVersion: "meta.k8s.io/v1", include: "None" }, NOW);
    expect(rows).toEqual([{ cells }]);
  });

  it.each([
    ["Metadata", { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: pod.metadata }],
    ["Object", pod],
  ] as const)("includes of each object: %s", (include, object) => {
    const { rows, metadata } = tableOf(
      "pods",
      [pod],
      { resourceVersion: "7" },
      { apiVersion: "meta.k8s.io/v1", include },
      NOW,
    );
    expect([rows[0]?.object, metadata]).toEqual([object, { resourceVersion: "7" }]);
  });
});

describe("tableWish", () => {
  const KUBECTL =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

  it.each([
    [KUBECTL, null, { apiVersion: "meta.k8s.io/v1", include: "Metadata" }],
    [KUBECTL, "Object", { apiVersion: "meta.k8s.io/v1", include: "Object" }],
    [KUBECTL, "nonsense", { apiVersion: "meta.k8s.io/v1", include: "Metadata" }],
    [
      "application/json; as=Table; v=v1beta1; g=meta.k8s.io",
      "None",
      { apiVersion: "meta.k8s.io/v1beta1", include: "None" },
    ],
  ])("parses %s", (accept, include, expected) => {
    expect(tableWish(accept, include)).toEqual(expected);
  });

  it.each([
    [undefined],
    ["application/json"],
    ["application/json,application/json;as=Table;v=v1;g=meta.k8s.io"],
    ["application/json;as=Table;v=v2;g=meta.k8s.io,application/json"],
    ["application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"],
    ["application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io, */*"],
  ])("finds no table in %s", (accept) => {
    expect(tableWish(accept, null)).toBeUndefined();
  });
});
