/** Facts of a node for tests. */
import type { NodeFacts } from "../../../../src/core/node/nodeFacts.ts";
import type { NodeSettings } from "../../../../src/core/node/nodeSettings.ts";

export const SETTINGS: NodeSettings = {
  register: true,
  labels: {},
  taints: [],
  providerId: "",
  hasExternalCloud: false,
  hostname: "n1",
  ips: [],
  attachDetachByController: true,
  hasEphemeralStorage: true,
  kubeletVersion: "v1.2.3",
  port: 10250,
  declaredFeatures: undefined,
  maxImages: 50,
  statusUpdatePeriodMs: 10_000,
  statusReportPeriodMs: 300_000,
  leaseDurationSeconds: 40,
};

export const FACTS: NodeFacts = {
  name: "n1",
  settings: SETTINGS,
  machine: {
    ips: ["192.0.2.10", "2001:db8::10"],
    interfaceIps: ["127.0.0.1", "::1", "192.0.2.10", "192.0.2.11", "2001:db8::10", "fe80::1"],
    nameIps: [],
    machineId: "machine",
    systemUuid: "system",
    bootId: "boot",
    kernelVersion: "6.1.0",
    osImage: "Example Linux 1",
    operatingSystem: "linux",
    architecture: "amd64",
    swapBytes: 0n,
  },
  capacity: { cpu: "2", memory: "4Gi", pods: "110", "ephemeral-storage": "10Gi" },
  allocatable: { cpu: "2", memory: "3Gi", pods: "110", "ephemeral-storage": "9Gi" },
  runtime: { name: "containerd", version: "2.1.9", handlers: [], supplementalGroupsPolicy: true },
  problems: [],
  pressures: { memory: false, disk: false, pid: false },
  images: undefined,
};
