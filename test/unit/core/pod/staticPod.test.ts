import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { type DecodedPod, defaultPod } from "../../../../src/core/pod/defaults.ts";
import { type StaticOrigin, staticPod, staticPodUid } from "../../../../src/core/pod/staticPod.ts";
import { alwaysRefused, apiReferences } from "../../../../src/core/pod/staticPodReferences.ts";

const FILE: StaticOrigin = { source: "file", origin: "/m/web.yaml", nodeName: "Node-1" };
const HTTP: StaticOrigin = { source: "http", origin: "http://h/web", nodeName: "Node-1" };
const SEEN = epochMs(1_767_225_600_120);
const parts = (digested: readonly string[]) => digested.join("|");
const WEB: DecodedPod = { metadata: { name: "web" }, spec: { containers: [{ name: "main", image: "app:1" }] } };
const NO_EXECUTE = { operator: "Exists", effect: "NoExecute" };

describe("staticPodUid", () => {
  it("digests content, host and file", () => {
    expect(staticPodUid(WEB, FILE, parts)).toBe(
      '{"metadata":{"name":"web"},"spec":{"containers":[{"image":"app:1","name":"main"}]}}|host:Node-1|file:/m/web.yaml',
    );
  });
  it("digests content and URL", () => {
    expect(staticPodUid({ metadata: {} }, HTTP, parts)).toBe('{"metadata":{}}|url:http://h/web');
  });
  it("does not depend on the order of fields or on the status", () => {
    const turned: DecodedPod = {
      status: { phase: "Running" },
      spec: { containers: [{ image: "app:1", name: "main" }] },
      metadata: { name: "web" },
    };
    expect(staticPodUid(turned, FILE, parts)).toBe(staticPodUid(WEB, FILE, parts));
  });
  it.each([
    ["alone", {}],
    ["among others", { a: "b" }],
  ])("does not depend on a request to retry at once: %s", (_title, annotations) => {
    const kept = Object.keys(annotations).length === 0 ? {} : { annotations };
    const plain: DecodedPod = { ...WEB, metadata: { name: "web", ...kept } };
    const asked: DecodedPod = {
      ...WEB,
      metadata: { name: "web", annotations: { ...annotations, "rxlet.dev/retry-at": "now" } },
    };
    expect(staticPodUid(asked, FILE, parts)).toBe(staticPodUid(plain, FILE, parts));
  });
  it("is the manifest's own if it sets one", () => {
    expect(staticPodUid({ metadata: { uid: "mine" } }, FILE, parts)).toBe("mine");
  });
});

describe("staticPod", () => {
  it("names, binds and annotates a pod from a file", () => {
    expect(staticPod(defaultPod(WEB), FILE, "u1", SEEN)).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "web-node-1",
        namespace: "default",
        uid: "u1",
        annotations: {
          "kubernetes.io/config.hash": "u1",
          "kubernetes.io/config.seen": "2026-01-01T00:00:00.12Z",
          "kubernetes.io/config.source": "file",
        },
      },
      spec: { ...defaultPod(WEB).spec, nodeName: "Node-1", tolerations: [NO_EXECUTE] },
      status: { phase: "Pending" },
    });
  });
  it("gives a pod from a URL no toleration, as upstream", () => {
    const { spec, metadata } = staticPod(defaultPod(WEB), HTTP, "u1", epochMs(1_767_225_600_000));
    expect([spec.tolerations, metadata.annotations]).toEqual([
      undefined,
      {
        "kubernetes.io/config.hash": "u1",
        "kubernetes.io/config.seen": "2026-01-01T00:00:00Z",
        "kubernetes.io/config.source": "http",
      },
    ]);
  });
  it("keeps namespace, labels and annotations, drops selfLink and the manifest's status", () => {
    const metadata = { name: "web", namespace: "demo", labels: { a: "b" }, annotations: { c: "d" }, selfLink: "/x" };
    const pod = staticPod(
      defaultPod({ ...WEB, metadata, status: { phase: "Running", podIP: "10.0.0.1" } }),
      FILE,
      "u",
      SEEN,
    );
    expect([pod.metadata, pod.status]).toEqual([
      {
        name: "web-node-1",
        namespace: "demo",
        uid: "u",
        labels: { a: "b" },
        annotations: {
          c: "d",
          "kubernetes.io/config.hash": "u",
          "kubernetes.io/config.seen": "2026-01-01T00:00:00.12Z",
          "kubernetes.io/config.source": "file",
        },
      },
      { phase: "Pending" },
    ]);
  });
  it.each([
    ["adds it after others", [{ key: "a", operator: "Exists" }], [{ key: "a", operator: "Exists" }, NO_EXECUTE]],
    [
      "replaces one with a time limit",
      [{ ...NO_EXECUTE, tolerationSeconds: 5 }, { key: "a" }],
      [NO_EXECUTE, { key: "a" }],
    ],
    ["leaves one that is there", [NO_EXECUTE], [NO_EXECUTE]],
  ])("toleration of NoExecute: %s", (_title, given, expected) => {
    const spec = { containers: [], tolerations: given };
    expect(staticPod(defaultPod({ spec }), FILE, "u", SEEN).spec.tolerations).toEqual(expected);
  });
});

describe("apiReferences", () => {
  const main = { name: "main", image: "app:1" };
  it.each([
    [
      "none",
      {
        volumes: [
          { name: "v", hostPath: { path: "/x" } },
          { name: "e", emptyDir: {} },
        ],
      },
      [],
    ],
    ["a service account", { serviceAccountName: "sa" }, ["serviceaccounts spec.serviceAccountName"]],
    ["pull secrets", { imagePullSecrets: [{ name: "s" }] }, ["secrets spec.imagePullSecrets[0]"]],
    [
      "environment variables",
      {
        containers: [
          {
            ...main,
            env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
            envFrom: [{ configMapRef: { name: "c" } }],
          },
        ],
      },
      [
        "secrets spec.containers[0].env[0].valueFrom.secretKeyRef",
        "configmaps spec.containers[0].envFrom[0].configMapRef",
      ],
    ],
    ["claims", { resourceClaims: [{ name: "c" }] }, ["resourceclaims spec.resourceClaims[0]"]],
    [
      "a ConfigMap volume",
      { volumes: [{ name: "v", configMap: { name: "c" } }] },
      ["configmaps spec.volumes[0].configMap"],
    ],
    [
      "projected volumes, of which the downward API is no reference",
      {
        volumes: [{ name: "v", projected: { sources: [{ downwardAPI: {} }, { clusterTrustBundle: { path: "p" } }] } }],
      },
      ["clustertrustbundles spec.volumes[0].projected.sources[1].clusterTrustBundle"],
    ],
    ...(
      [
        ["configMap", "configmaps (via projected volumes)"],
        ["secret", "secrets (via projected volumes)"],
        ["serviceAccountToken", "serviceaccounts (via projected volumes)"],
        ["podCertificate", "podcertificates"],
      ] as const
    ).map(([key, resource]): [string, object, readonly string[]] => [
      `a projected ${key}`,
      { volumes: [{ name: "v", projected: { sources: [{ [key]: { path: "p", name: "n" } }] } }] },
      [`${resource} spec.volumes[0].projected.sources[0].${key}`],
    ]),
    [
      "a volume claim",
      { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
      ["persistentvolumeclaims spec.volumes[0].persistentVolumeClaim"],
    ],
  ])("finds %s", (_title, spec, expected) => {
    const found = apiReferences({ containers: [main], ...spec });
    expect(found.map(({ resource, field }) => `${resource} ${field}`)).toEqual(expected);
  });
  it("marks references that manifests can provide: ConfigMaps and Secrets of environments and volumes", () => {
    const env = [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }];
    const sources = [{ secret: { name: "s" } }, { serviceAccountToken: { path: "t" } }];
    const volumes = [
      { name: "v", secret: { secretName: "s" } },
      { name: "w", projected: { sources } },
    ];
    const spec = { containers: [{ ...main, env }], imagePullSecrets: [{ name: "p" }], volumes };
    expect(apiReferences(spec).map(({ field, isServed }) => [field, isServed])).toEqual([
      ["spec.imagePullSecrets[0]", false],
      ["spec.containers[0].env[0].valueFrom.secretKeyRef", true],
      ["spec.volumes[0].secret", true],
      ["spec.volumes[1].projected.sources[0].secret", true],
      ["spec.volumes[1].projected.sources[1].serviceAccountToken", false],
    ]);
  });
  it("rejects trust bundles and claims regardless of the gate", () => {
    const resources = ["secrets", "configmaps", "resourceclaims", "clustertrustbundles"];
    expect(resources.filter((resource) => alwaysRefused({ resource, field: "", isServed: true }))).toEqual([
      "resourceclaims",
      "clustertrustbundles",
    ]);
  });
});
