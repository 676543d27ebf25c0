import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import { readApiPod, withApiStatus } from "../../../../src/core/pod/apiPod.ts";
import { type ApiPods, apiSnapshot, NO_API_PODS, readApiPods } from "../../../../src/core/pod/apiPods.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const SEEN_AT = epochMs(Date.UTC(2026, 0, 1));
const LATER = epochMs(Date.UTC(2026, 0, 2));

/** The object with a member put elsewhere than the types allow. */
const broken = (change: object, part: "metadata" | "spec" | "status" = "spec"): Pod => {
  const pod = podOf();
  return { ...pod, [part]: { ...pod[part], ...change } };
};

describe("readApiPod", () => {
  it("applies defaults and annotates the pod's source", () => {
    const object = {
      metadata: { name: "a", namespace: "demo", uid: "u" },
      spec: { containers: [{ name: "main", image: "app" }] },
    };
    const { pod } = readApiPod(object, SEEN_AT);
    expect([pod?.spec.restartPolicy, pod?.spec.containers[0]?.imagePullPolicy, pod?.metadata.annotations]).toEqual([
      "Always",
      "Always",
      { "kubernetes.io/config.seen": "2026-01-01T00:00:00Z", "kubernetes.io/config.source": "api" },
    ]);
  });

  it.each(["initContainers", "ephemeralContainers"])("rejects names that are paths in %s", (list) => {
    const { problems } = readApiPod(broken({ [list]: [containerOf({ name: "../x" })] }), SEEN_AT);
    expect(problems.map(({ field }) => field)).toEqual([`spec.${list}[0].name`]);
  });

  it("shows the name that is wrong, and rejects a container without a name", () => {
    const containers = [containerOf({ name: "../x" }), { image: "app" }];
    expect(readApiPod(broken({ containers }), SEEN_AT).problems.map(({ field, reason }) => [field, reason])).toEqual([
      ["spec.containers[0].name", expect.stringContaining('"../x"')],
      ["spec.containers[1].name", expect.stringContaining('""')],
    ]);
  });

  it("does not let a pod from the API pose as a static pod", () => {
    const { pod } = readApiPod(podOf({ annotations: { "kubernetes.io/config.source": "file" } }), SEEN_AT);
    expect(pod?.metadata.annotations?.["kubernetes.io/config.source"]).toBe("api");
  });

  it("ignores unknown fields, as of a newer server, and managed fields", () => {
    const { pod, problems } = readApiPod(
      { ...broken({ wormhole: true }), metadata: { ...podOf().metadata, managedFields: [{ manager: "kubectl" }] } },
      SEEN_AT,
    );
    expect([Object.hasOwn(pod?.spec ?? {}, "wormhole"), pod?.metadata.managedFields, problems]).toEqual([
      false,
      undefined,
      [],
    ]);
  });

  it("does not validate again what the server has admitted", () => {
    const { problems } = readApiPod(broken({ nodeName: "n", schedulingGates: [{ name: "gate" }] }), SEEN_AT);
    expect(problems).toEqual([]);
  });

  it.each<[string, Pod, string]>([
    ["a field of the wrong type", broken({ containers: "none" }), "spec.containers"],
    ["a status of the wrong type", broken({ phase: 7 }, "status"), "status.phase"],
    ["no container", broken({ containers: [] }), "spec.containers"],
    ["no UID", broken({ uid: "" }, "metadata"), "metadata.uid"],
    ["a UID that climbs out of its directory", broken({ uid: "../../etc" }, "metadata"), "metadata.uid"],
    ["a name that is a path", broken({ name: "../a" }, "metadata"), "metadata.name"],
    ["no namespace", broken({ namespace: "" }, "metadata"), "metadata.namespace"],
    [
      "a container whose name is a path",
      broken({ containers: [containerOf({ name: "../x" })] }),
      "spec.containers[0].name",
    ],
    ["a volume whose name is a path", broken({ volumes: [{ name: "a/b", emptyDir: {} }] }), "spec.volumes[0].name"],
  ])("rejects %s", (_what, object, field) => {
    const { pod, problems } = readApiPod(object, SEEN_AT);
    expect([pod, problems[0]?.field, problems.every(({ severity }) => severity === "error")]).toEqual([
      undefined,
      field,
      true,
    ]);
  });
});

describe("withApiStatus", () => {
  it("replaces status and version, and reads no status of the wrong type", () => {
    const pod = podOf();
    const object = { ...pod, metadata: { ...pod.metadata, resourceVersion: "7" }, status: { phase: "Running" } };
    expect(withApiStatus(pod, object)).toEqual(object);
    expect(withApiStatus(object, { ...pod, metadata: {} })).toEqual({ ...pod, metadata: object.metadata });
    expect(withApiStatus(pod, { ...object, status: { phase: 7 } } as never)).toBeUndefined();
  });
});

describe("readApiPods", () => {
  const objects = (...pods: readonly Pod[]): ReadonlyMap<string, Pod> =>
    new Map(pods.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
  const a = podOf({ name: "a", uid: "u-a" });
  const b = podOf({ name: "b", uid: "u-b" });
  const badB = { ...b, spec: { ...b.spec, containers: [] } };
  const imagesOf = (pods: ApiPods): readonly string[] =>
    apiSnapshot(pods).pods.map(({ metadata, spec }) => `${metadata.name} ${metadata.uid} ${spec.containers[0]?.image}`);
  const image = "registry.example/app:1";

  it("omits and reports an object that cannot be decoded, without affecting other pods", () => {
    const read = readApiPods(NO_API_PODS, objects(a, badB), SEEN_AT);
    expect([imagesOf(read), apiSnapshot(read).problems]).toEqual([
      [`a u-a ${image}`],
      [
        {
          severity: "error",
          origin: "API server: demo/b",
          line: undefined,
          field: "spec.containers",
          reason: "Required value",
          pod: { name: "b", namespace: "demo", uid: "u-b" },
        },
      ],
    ]);
  });

  it("keeps the last valid form of a pod, but not for another pod of the same name", () => {
    const known = readApiPods(NO_API_PODS, objects(b), SEEN_AT);
    const successor = { ...badB, metadata: { ...b.metadata, uid: "u-2" } };
    const [kept, gone] = [badB, successor].map((object) => readApiPods(known, objects(object), LATER));
    expect([imagesOf(kept ?? known), imagesOf(gone ?? known), gone && apiSnapshot(gone).problems.length]).toEqual([
      [`b u-b ${image}`],
      [],
      1,
    ]);
  });

  it("reports a pod as long as its spec is wrong, whatever else changes", () => {
    const labelled = { ...badB, metadata: { ...badB.metadata, labels: { x: "y" } } };
    let read = readApiPods(NO_API_PODS, objects(b), SEEN_AT);
    for (const object of [badB, structuredClone(badB), labelled]) {
      read = readApiPods(read, objects(object), LATER);
      expect(apiSnapshot(read).problems.map(({ field }) => field)).toEqual(["spec.containers"]);
    }
    expect(imagesOf(read)).toEqual([`b u-b ${image}`]);
  });

  it("decodes each object once, and keeps when the pod was first seen", () => {
    const first = readApiPods(NO_API_PODS, objects(a, b), SEEN_AT);
    const second = readApiPods(first, objects(a, { ...b }), LATER);
    expect([second.get("demo/a") === first.get("demo/a"), second.get("demo/b") === first.get("demo/b")]).toEqual([
      true,
      false,
    ]);
    expect(second.get("demo/b")?.pod).toEqual(first.get("demo/b")?.pod);
  });

  it("decodes a status-only change to the same result, with the known spec object", () => {
    const version = (resourceVersion: string, status: Pod["status"]): Pod => ({
      ...a,
      metadata: { ...a.metadata, resourceVersion, managedFields: [{ manager: resourceVersion }] },
      ...(status === undefined ? {} : { status }),
    });
    const steps = [version("1", undefined), version("2", { phase: "Running" }), version("3", undefined)];
    let read = NO_API_PODS;
    for (const object of steps) {
      const before = read.get("demo/a")?.pod;
      read = readApiPods(read, objects(structuredClone(object)), LATER);
      const pod = read.get("demo/a")?.pod;
      expect(pod).toStrictEqual(readApiPod(object, LATER).pod);
      if (before !== undefined) expect(pod?.spec).toBe(before.spec);
    }
  });

  it("decodes new metadata to the same result as the whole object, with the known spec object", () => {
    const known = readApiPods(NO_API_PODS, objects(a), SEEN_AT);
    const deleted = {
      ...a,
      metadata: { ...a.metadata, deletionTimestamp: "2026-01-02T00:00:00Z", labels: { x: "y" } },
    };
    const read = readApiPods(known, objects(structuredClone(deleted)), LATER).get("demo/a")?.pod;
    expect(read).toEqual(readApiPod(deleted, SEEN_AT).pod);
    expect(read?.spec).toBe(known.get("demo/a")?.pod?.spec);
  });

  it("keeps the spec object when only a field that it does not know is new", () => {
    const known = readApiPods(NO_API_PODS, objects(a), SEEN_AT);
    const newer = { ...a, spec: { ...a.spec, wormhole: true } };
    const read = readApiPods(known, objects(newer), LATER).get("demo/a")?.pod;
    expect(read?.spec).toBe(known.get("demo/a")?.pod?.spec);
  });

  it("reports a status of the wrong type", () => {
    const known = readApiPods(NO_API_PODS, objects(a), SEEN_AT);
    const wrong = { ...a, status: { phase: 7 } } as unknown as Pod;
    expect(apiSnapshot(readApiPods(known, objects(wrong), LATER)).problems.map(({ field }) => field)).toEqual([
      "status.phase",
    ]);
  });

  it("omits mirror pods", () => {
    const mirror = podOf({ annotations: { "kubernetes.io/config.mirror": "hash" } });
    expect(apiSnapshot(readApiPods(NO_API_PODS, objects(mirror), SEEN_AT))).toEqual({
      source: "api",
      pods: [],
      problems: [],
    });
  });
});
