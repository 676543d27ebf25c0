import { describe, expect, it } from "vitest";
import type { Pod, PodStatus } from "../../../../src/core/api.ts";
import type { ConfigLookup, ManifestObjectKey } from "../../../../src/core/configObjects.ts";
import { epochMs, type PodUid, podUid } from "../../../../src/core/ids.ts";
import { recordName } from "../../../../src/core/offline/keptRecord.ts";
import { createRecordsPlan, type KeptToken, type KnownNeeds } from "../../../../src/core/offline/wantedRecords.ts";
import { emptyRegistry, type PodRecord, type Registry } from "../../../../src/core/pod/podRegistry.ts";
import { freshRecord, identityOf } from "../../../../src/core/pod/podRecord.ts";
import { tokenKey } from "../../../../src/core/token/serviceAccountToken.ts";
import { podOf } from "../../../support/pods.ts";

const NOW = epochMs(1_000_000);
const NOTHING: KnownNeeds = {
  ...{ objects: new Map(), tokens: new Map(), claims: new Map(), volumes: new Map() },
  ...{ services: undefined, runtimeClasses: undefined },
};

const apiPod = (uid: string, more: Parameters<typeof podOf>[0] = {}): Pod =>
  podOf({
    uid,
    name: uid,
    namespace: "demo",
    ...more,
    annotations: { "kubernetes.io/config.source": "api", ...more.annotations },
  });
const withMeta = (more: Partial<Pod["metadata"]>, pod = apiPod("a")): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, ...more },
});
const needy = (uid: string): Pod =>
  apiPod(uid, { spec: { containers: [{ name: "main", envFrom: [{ secretRef: { name: "login" } }] }] } });

function registryOf(...records: readonly (readonly [Pod, Partial<PodRecord>?])[]): Registry {
  const entries = records.map(([pod, more]): readonly [PodUid, PodRecord] => [
    podUid(pod.metadata.uid),
    { ...freshRecord(identityOf(pod)), pod, state: "syncing", ...more },
  ]);
  return { ...emptyRegistry, records: new Map(entries) };
}

/** Kinds and keys of the wanted records, `!` for an end and `?` for a value that is not known. */
function wanted(registry: Registry, needs: Partial<KnownNeeds> = {}, status?: PodStatus): readonly string[] {
  const records = createRecordsPlan().of(registry, () => status, { ...NOTHING, ...needs }, NOW);
  return [...records].map(([name, record]) => {
    if (record === undefined) return `${name.split("-")[0]}?`;
    expect(name).toBe(recordName(record.kind, record.key));
    return `${record.kind} ${record.key}${record.isEnd ? "!" : ""}`.trim();
  });
}
const CLUSTER = ["services?", "runtimeclasses?"];
const token = (uid: string, expiresAt = NOW + 1): readonly [string, KeptToken] => {
  const wish = {
    namespace: "demo",
    serviceAccount: "robot",
    audiences: [],
    expirationSeconds: 600,
    pod: { name: uid, uid },
  };
  return [tokenKey(wish), { token: "t", expiresAt: epochMs(expiresAt), lifeMs: 600_000, wish }];
};
const secret = (found: boolean): readonly [ManifestObjectKey, ConfigLookup] => [
  "Secret demo/login",
  found
    ? { kind: "found", object: { kind: "Secret", metadata: { name: "login", namespace: "demo" } } as never }
    : { kind: "missing" },
];

describe("the wanted records", () => {
  it("have the API pods that the node has decided about, until their source removes them", () => {
    const pods = registryOf(
      [apiPod("runs")],
      [apiPod("waits"), { state: "waiting" }],
      [apiPod("rejected"), { state: "rejected" }],
      [apiPod("over"), { state: "terminated" }],
      [apiPod("unwanted"), { state: "terminating", wanted: false }],
      [apiPod("static", { annotations: { "kubernetes.io/config.source": "file" } })],
    );
    expect(wanted(pods)).toEqual(["pod runs", "pod rejected", "pod over", ...CLUSTER]);
  });

  it.each<[string, Pod, PodStatus | undefined, boolean]>([
    ["a status of this kubelet", apiPod("a"), { phase: "Failed" }, true],
    ["a status of the API server", { ...apiPod("a"), status: { phase: "Succeeded" } }, { phase: "Running" }, true],
    ["a deletion", withMeta({ deletionTimestamp: "2026-01-01T00:00:00Z" }), { phase: "Running" }, true],
    ["neither", apiPod("a"), { phase: "Running" }, false],
  ])("say that a pod must not run again after %s", (_, pod, status, isEnd) => {
    expect(wanted(registryOf([pod]), {}, status)).toEqual([`pod a${isEnd ? "!" : ""}`, ...CLUSTER]);
  });

  it("have the objects that running pods name, those of unknown value included, and none that is missing", () => {
    const pods = registryOf([needy("a")]);
    expect([
      wanted(pods),
      wanted(pods, { objects: new Map([secret(true)]) }),
      wanted(pods, { objects: new Map([secret(false)]) }),
      wanted(pods, { objects: new Map([secret(true)]) }, { phase: "Succeeded" }),
    ]).toEqual([
      ["pod a", "object?", ...CLUSTER],
      ["pod a", "object Secret demo/login", ...CLUSTER],
      ["pod a", ...CLUSTER],
      ["pod a!", ...CLUSTER],
    ]);
  });

  it("have the claims of running pods whose volumes are on the node; one that is not known stays as it is", () => {
    const volumes = [
      { name: "data", persistentVolumeClaim: { claimName: "disk" } },
      { name: "scratch", ephemeral: {} },
    ];
    const pods = registryOf([apiPod("a", { spec: { containers: [{ name: "main" }], volumes } })]);
    const claim = (name: string, volumeName: string) =>
      [`demo/${name}`, { metadata: { name, namespace: "demo" }, spec: { volumeName } }] as const;
    const claims = new Map([claim("disk", "pv1"), claim("a-scratch", "pv2")]);
    const volume = (name: string, spec: object) => [name, { metadata: { name }, spec }] as const;
    const onNode = [volume("pv1", { local: { path: "/d" } }), volume("pv2", { hostPath: { path: "/h" } })] as const;
    const elsewhere = volume("pv1", { csi: { driver: "d", volumeHandle: "h" } });
    const both = (...known: readonly (readonly [string, object])[]) =>
      wanted(pods, { claims, volumes: new Map(known) });
    const restOf = ["claim?", "volume?", ...CLUSTER];
    expect({
      known: both(...onNode),
      unknownVolumes: both(),
      unknownClaims: wanted(pods, {
        claims: new Map([["demo/disk", { metadata: { name: "disk", namespace: "demo" }, spec: {} }]]),
      }),
      elsewhere: both(elsewhere),
      ended: wanted(pods, { claims, volumes: new Map(onNode) }, { phase: "Failed" }),
    }).toEqual({
      known: ["pod a", "claim demo/disk", "volume pv1", "claim demo/a-scratch", "volume pv2", ...CLUSTER],
      unknownVolumes: ["pod a", "claim?", "volume?", ...restOf],
      unknownClaims: ["pod a", "claim?", "claim?", ...CLUSTER],
      elsewhere: ["pod a", ...restOf],
      ended: ["pod a!", ...CLUSTER],
    });
  });

  it("have the tokens of running pods that are still good", () => {
    const tokens = new Map([token("a"), token("gone"), token("a2", NOW)]);
    expect(wanted(registryOf([apiPod("a")], [apiPod("a2")]), { tokens })).toEqual([
      "pod a",
      "pod a2",
      `token ${token("a")[0]}`,
      ...CLUSTER,
    ]);
  });

  it("have the services of the namespaces of pods and of the API server, and no more of them than pods see", () => {
    const service = (name: string, namespace: string) => ({
      metadata: { name, namespace, labels: { big: "x" } },
      spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }], selector: { app: "x" } },
    });
    const services = [service("kubernetes", "default"), service("web", "demo"), service("web", "elsewhere")];
    const record = createRecordsPlan()
      .of(registryOf([apiPod("a")]), () => undefined, { ...NOTHING, services }, NOW)
      .get(recordName("services", ""));
    const kept = (name: string, namespace: string) => ({
      metadata: { name, namespace },
      spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] },
    });
    expect(record?.value).toEqual([kept("kubernetes", "default"), kept("web", "demo")]);
  });

  it("stay the same values until they change: a new status, version or mark of the kubelet is none", () => {
    const plan = createRecordsPlan();
    const valueOf = (pod: Pod, status: PodStatus): unknown => plan.ofPod(registryOf([pod]), podUid("a"), status)?.value;
    const status = (restartCount: number): PodStatus => ({
      phase: "Running",
      podIP: `10.0.0.${restartCount}`,
      containerStatuses: [{ name: "main", image: "", imageID: "", ready: true, restartCount }],
    });
    const first = valueOf(apiPod("a"), status(0));
    expect([
      valueOf(withMeta({ resourceVersion: "9" }), { ...status(0), podIP: "10.0.0.9" }) === first,
      valueOf(apiPod("a", { annotations: { "rxlet.dev/restored": "true" } }), status(0)) === first,
      valueOf(apiPod("a", { labels: { app: "x" } }), status(0)) === first,
      valueOf(apiPod("a"), status(1)) === first,
    ]).toEqual([true, true, false, false]);
  });
});
