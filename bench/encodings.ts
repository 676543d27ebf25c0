/**
 * Measures the encodings in which an API server can send pods: `node bench/encodings.ts` [pods, default 500] [rounds,
 * default 20]. Bytes of a list, and CPU time to decode it: JSON by V8, protobuf by the generated decoder of the Pods API,
 * CBOR by a decoder without options. The two binary ones are measured at their best: neither result is converted to the
 * documents that rxlet works on (instants and quantities of protobuf have other shapes).
 */
import { gzipSync } from "node:zlib";
import { isDeepStrictEqual } from "node:util";
import type { Pod } from "../src/core/api.ts";
import { encodePod } from "../src/core/podsApi/podMessage.ts";
import { PodMessage } from "../src/gen/pods.ts";
import { decodeCbor, encodeCbor } from "./cbor.ts";
import { median, printFigure } from "./figures.ts";

const count = Number(process.argv[2] ?? 500);
const rounds = Number(process.argv[3] ?? 20);

/** A pod of a Deployment as an API server sends it. */
function apiPod(index: number): Pod {
  const name = `web-5d4f8c7b9d-${index.toString(36).padStart(5, "x")}`;
  const at = "2026-01-02T03:04:05Z";
  const uid = `0e1f2a3b-4c5d-6e7f-8a9b-${index.toString(16).padStart(12, "0")}`;
  const image = "registry.example/team/web:1.27.3";
  const token = { name: "kube-api-access-x7k2p", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" };
  const types = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
  return {
    metadata: {
      ...{ name, generateName: "web-5d4f8c7b9d-", namespace: "shop", uid, resourceVersion: String(900_000 + index) },
      creationTimestamp: at,
      labels: { app: "web", "pod-template-hash": "5d4f8c7b9d", "app.kubernetes.io/part-of": "shop" },
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9102" },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: "web-5d4f8c7b9d",
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      containers: [
        {
          ...{ name: "web", image, imagePullPolicy: "IfNotPresent" },
          ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
          env: [
            { name: "LOG_LEVEL", value: "info" },
            { name: "POD_IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
          ],
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
          volumeMounts: [
            { name: "config", mountPath: "/etc/web" },
            { ...token, readOnly: true },
          ],
          readinessProbe: {
            httpGet: { path: "/ready", port: 8080, scheme: "HTTP" },
            periodSeconds: 10,
            timeoutSeconds: 1,
          },
          livenessProbe: {
            httpGet: { path: "/live", port: 8080, scheme: "HTTP" },
            periodSeconds: 10,
            timeoutSeconds: 1,
          },
          ...{ terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" },
        },
      ],
      volumes: [
        { name: "config", configMap: { name: "web-config", defaultMode: 420 } },
        {
          name: token.name,
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
              { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            ],
          },
        },
      ],
      ...{ restartPolicy: "Always", terminationGracePeriodSeconds: 30, dnsPolicy: "ClusterFirst" },
      ...{ serviceAccountName: "web", nodeName: "node-1", schedulerName: "default-scheduler", priority: 0 },
      tolerations: ["not-ready", "unreachable"].map((key) => ({
        ...{ key: `node.kubernetes.io/${key}`, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      })),
    },
    status: {
      ...{ phase: "Running", hostIP: "10.0.0.4", podIP: "10.244.1.7", podIPs: [{ ip: "10.244.1.7" }], startTime: at },
      qosClass: "Burstable",
      conditions: types.map((type) => ({ type, status: "True", lastTransitionTime: at })),
      containerStatuses: [
        {
          ...{ name: "web", ready: true, started: true, restartCount: 0, image },
          imageID: `registry.example/team/web@sha256:${"0123456789abcdef".repeat(4)}`,
          containerID: `containerd://${"fedcba9876543210".repeat(4)}`,
          state: { running: { startedAt: at } },
          lastState: {},
        },
      ],
    },
  };
}

/** The record of field owners, which each object of an API server has. */
const MANAGED = {
  "f:metadata": { "f:labels": { ".": {}, "f:app": {}, "f:pod-template-hash": {} }, "f:ownerReferences": { ".": {} } },
  "f:spec": {
    "f:containers": {
      'k:{"name":"web"}': { ".": {}, "f:env": { ".": {} }, "f:image": {}, "f:name": {}, "f:resources": {} },
    },
    ...{ "f:dnsPolicy": {}, "f:restartPolicy": {}, "f:schedulerName": {}, "f:terminationGracePeriodSeconds": {} },
  },
  "f:status": { "f:conditions": { 'k:{"type":"Ready"}': { ".": {}, "f:status": {}, "f:type": {} } }, "f:podIP": {} },
};

interface Encoding {
  readonly name: string;
  readonly bytes: readonly Uint8Array[];
  readonly decode: (bytes: Uint8Array) => unknown;
}

const plain = Array.from({ length: count }, (_, index) => apiPod(index));
const withFields = plain.map((pod) => ({
  ...pod,
  metadata: { ...pod.metadata, managedFields: [{ manager: "kubelet", operation: "Update", fieldsV1: MANAGED }] },
}));
// In protobuf the record is bytes that no client decodes: a text of the same length stands for it.
const withText = plain.map((pod) => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, managed: JSON.stringify(MANAGED) } },
}));
const ENCODINGS: readonly Encoding[] = [
  {
    name: "JSON",
    bytes: withFields.map((pod) => Buffer.from(JSON.stringify(pod))),
    decode: (bytes) => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")),
  },
  { name: "protobuf", bytes: withText.map(encodePod), decode: (bytes) => PodMessage.decode(bytes) },
  { name: "CBOR", bytes: withFields.map(encodeCbor), decode: decodeCbor },
];

for (const { name, bytes, decode } of ENCODINGS) {
  if (name !== "protobuf" && !isDeepStrictEqual(bytes.map(decode), JSON.parse(JSON.stringify(withFields)))) {
    throw new Error(`${name} does not return what it was given`);
  }
}

// Rounds alternate, so that the machine treats the encodings alike.
const times = new Map(ENCODINGS.map(({ name }) => [name, [] as number[]]));
for (let round = -3; round < rounds; round += 1) {
  for (const { name, bytes, decode } of ENCODINGS) {
    const before = process.cpuUsage();
    for (const each of bytes) decode(each);
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) times.get(name)?.push((user + system) / 1000);
  }
}
console.log(`\n${count} pods, ${rounds} rounds`);
for (const { name, bytes } of ENCODINGS) {
  const all = Buffer.concat(bytes);
  console.log(`\n${name}`);
  printFigure("  size", all.length / 1024, "KiB", `${(gzipSync(all).length / 1024).toFixed(0)} KiB by gzip`);
  printFigure("  CPU to decode, p50", median(times.get(name) ?? []), "ms");
}
