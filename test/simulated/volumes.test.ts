/** Volumes on a whole simulated node: made before containers, filled anew with their objects, gone after containers. */
import { describe, expect, it } from "vitest";
import type { ApiResourceName } from "../../src/core/api/apiResources.ts";
import type { PodSpec } from "../../src/core/api.ts";
import { kubeletError } from "../../src/core/errors.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import type { SimObservation } from "../../src/sim/simObservation.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

type Volumes = NonNullable<PodSpec["volumes"]>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ref = (name: string) => ({ namespace: "default", name });
/** The volume that API server admission adds to every pod. */
const defaultAccess: Volumes[number] = {
  name: "kube-api-access-x",
  projected: {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
    ],
  },
};

/** A node, and one pod of the API server that mounts these volumes. */
function nodeWithVolumes(
  volumes: Volumes,
  mount: { readonly subPath?: string } = {},
  options: Partial<SimNodeOptions> = {},
  unserved: readonly ApiResourceName[] = [],
) {
  const scheduler = createHeapScheduler();
  const requests: string[] = [];
  const server = createSimApiServer({
    clock: createSimClock(scheduler),
    latency: () => 2,
    intercept: (verb, resource) => {
      requests.push(`${verb} ${resource}`);
      if (!unserved.includes(resource)) return { kind: "proceed" };
      return { kind: "fail", error: kubeletError("PermissionDenied", "no") };
    },
  });
  const seen: SimObservation[] = [];
  const node = createSimNode({
    seed: "volumes",
    scheduler,
    api: server,
    images: [simImage("registry.example/app:1")],
    programs: () => ({ ...runsForever, onTerm: { afterMs: 300, code: 0 } }),
    latency: () => 2,
    watch: (observation) => seen.push(observation),
    ...options,
  });
  server.put("serviceaccounts", { metadata: ref("default") });
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}`, ...mount }));
  server.put(
    "pods",
    newPod("web", { volumes, containers: [containerOf({ volumeMounts })], serviceAccountName: "default" }),
  );
  server.schedule(ref("web"), node.config.nodeName);
  const uid = () => server.object("pods", ref("web"))?.metadata?.uid ?? "";
  const volumePath = (plugin: string, name: string) =>
    `/var/lib/kubelet/pods/${uid()}/volumes/kubernetes.io~${plugin}/${name}`;
  return {
    server,
    node,
    requests,
    asked: (resource: string) => requests.filter((request) => request.endsWith(` ${resource}`)),
    volumePath,
    read: (plugin: string, path: string) => node.files.read(volumePath(plugin, path)),
    putConfigMap: (data: Record<string, string>, name = "web") =>
      server.put("configmaps", { metadata: ref(name), data }),
    events: () =>
      seen.flatMap((each) =>
        each.kind === "event" && each.event.object.kind === "Pod"
          ? [`${each.event.reason}: ${each.event.message}`]
          : [],
      ),
    calls: () => seen.flatMap((each) => (each.kind === "call" ? [each.rpc] : [])),
    mounts: () => node.host.mounts.all().map(({ fsType, mountPoint }) => `${fsType} ${mountPoint.split("/").at(-1)}`),
  };
}

describe("the volume every pod has", () => {
  it("is there before the container, with token, certificate and namespace", () => {
    const { node, putConfigMap, read, mounts } = nodeWithVolumes([defaultAccess]);
    putConfigMap({ "ca.crt": "PEM" }, "kube-root-ca.crt");
    node.runFor(2_000);
    const files = ["ca.crt", "namespace", "token"].map((name) => read("projected", `kube-api-access-x/${name}`));
    expect([files, node.running(), mounts(), node.violations]).toEqual([
      ["PEM", "default", expect.stringMatching(/^sim\./)],
      ["default/web/main#0"],
      ["tmpfs kube-api-access-x"],
      [],
    ]);
    const mounted = node.runtime
      .containers()[0]
      ?.config.mounts.find(({ containerPath }) => containerPath !== "/etc/hosts");
    expect([mounted?.containerPath, mounted?.readonly]).toEqual(["/kube-api-access-x", true]);
  });

  it("gets a new token before the old one expires", () => {
    const { node, putConfigMap, read } = nodeWithVolumes([defaultAccess]);
    putConfigMap({ "ca.crt": "PEM" }, "kube-root-ca.crt");
    node.runFor(2_000);
    const token = () => read("projected", "kube-api-access-x/token");
    const first = token();
    node.runFor(45 * MINUTE_MS);
    const before = token();
    node.runFor(10 * MINUTE_MS);
    expect([before === first, token() === first]).toEqual([true, false]);
  });
});

describe("a volume of a ConfigMap", () => {
  const volumes = [{ name: "settings", configMap: { name: "web", defaultMode: 0o644 } }];

  it("keeps the pod waiting with an event until the object exists, and is set up at once then", () => {
    const { node, server, putConfigMap, events, read } = nodeWithVolumes(volumes);
    // That somebody writes to the pod meanwhile is no new wait.
    for (let round = 0; round < 20; round += 1) {
      node.runFor(30_000);
      server.put("pods", { metadata: { ...ref("web"), annotations: { round: String(round) } } });
    }
    expect([node.runtime.sandboxes(), node.pods()[0]?.status?.containerStatuses?.[0]?.state?.waiting?.reason]).toEqual([
      [],
      "ContainerCreating",
    ]);
    const reported = new Set(events());
    expect(reported).toEqual(
      new Set([
        'FailedMount: MountVolume.SetUp failed for volume "settings" : configmap "web" not found',
        "FailedMount: Unable to attach or mount volumes: unmounted volumes=[settings], unattached volumes=[], failed to process volumes=[]: context deadline exceeded",
      ]),
    );
    const waits = () => node.kubelet?.queries.timeline("default", "web")?.waits.map(({ what, cause }) => [what, cause]);
    expect(waits()).toEqual([["Volume", 'settings: configmap "web" not found']]);
    putConfigMap({ mode: "fast" });
    node.runFor(100);
    expect(waits()).toEqual([]);
    expect([read("configmap", "settings/mode"), node.running()]).toEqual(["fast", ["default/web/main#0"]]);
  });

  it("follows the object within a second, without a restart", () => {
    const { node, putConfigMap, read } = nodeWithVolumes(volumes);
    putConfigMap({ mode: "slow" });
    node.runFor(2_000);
    putConfigMap({ mode: "fast", extra: "yes" });
    node.runFor(1_000);
    expect([read("configmap", "settings/mode"), read("configmap", "settings/extra")]).toEqual(["fast", "yes"]);
    expect(node.running()).toEqual(["default/web/main#0"]);
  });

  it("takes one request per sync without watches, and one more after a change", () => {
    const { node, putConfigMap, read, requests } = nodeWithVolumes(volumes, {}, { objectStrategy: "Get" });
    putConfigMap({ mode: "slow" });
    node.runFor(10_000);
    requests.splice(0);
    node.runFor(10 * MINUTE_MS);
    putConfigMap({ mode: "fast" });
    node.runFor(2 * MINUTE_MS);
    const gets = requests.filter((request) => request === "get configmaps").length;
    expect([read("configmap", "settings/mode"), gets]).toEqual(["fast", 13]);
  });

  it("stays unchanged when the object is deleted", () => {
    const { node, server, putConfigMap, read, events } = nodeWithVolumes(volumes);
    putConfigMap({ mode: "slow" });
    node.runFor(2_000);
    server.delete("configmaps", ref("web"));
    node.runFor(MINUTE_MS);
    expect([read("configmap", "settings/mode"), node.running()]).toEqual(["slow", ["default/web/main#0"]]);
    expect(events()).toContain(
      'FailedMount: MountVolume.SetUp failed for volume "settings" : configmap "web" not found',
    );
  });
});

describe("volumes of a pod that goes", () => {
  const volumes: Volumes = [
    { name: "scratch", emptyDir: {} },
    { name: "fast", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
    { name: "login", secret: { secretName: "login", optional: true } },
  ];

  it("are unmounted once its containers have ended, before its object is deleted", () => {
    const { node, server, mounts } = nodeWithVolumes(volumes);
    node.runFor(2_000);
    expect([mounts(), node.running()]).toEqual([["tmpfs fast", "tmpfs login"], ["default/web/main#0"]]);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 5 });
    const isUnmounted = node.runUntil(() => mounts().length === 0, MINUTE_MS);
    expect([isUnmounted, node.running(), server.object("pods", ref("web")) === undefined]).toEqual([true, [], false]);
    node.runFor(MINUTE_MS);
    expect([server.object("pods", ref("web")), node.files.paths().filter((path) => path.includes("/volumes"))]).toEqual(
      [undefined, []],
    );
    expect(node.violations).toEqual([]);
  });

  it("are mounted once wherever the kubelet crashes, and none is left", () => {
    // A life ends after each of the first steps, another one goes on from what is on disk.
    for (let steps = 1; steps < 130; steps += 3) {
      const { node, server, mounts } = nodeWithVolumes(volumes);
      for (let step = 0; step < steps; step += 1) node.step();
      node.crashKubelet();
      node.runFor(1_000);
      node.restartKubelet();
      node.runFor(20_000);
      expect([steps, mounts().toSorted(), node.running().length]).toEqual([steps, ["tmpfs fast", "tmpfs login"], 1]);
      server.delete("pods", ref("web"), { gracePeriodSeconds: 1 });
      for (let step = 0; step < steps; step += 1) node.step();
      node.crashKubelet();
      node.runFor(1_000);
      node.restartKubelet();
      node.runFor(2 * MINUTE_MS);
      const left = node.files.paths().filter((path) => path.includes("/volumes"));
      expect([steps, mounts(), left, server.object("pods", ref("web")), node.violations]).toEqual([
        steps,
        [],
        [],
        undefined,
        [],
      ]);
    }
  });

  it("are rejected by kind, at once", () => {
    const { node, events, asked } = nodeWithVolumes([{ name: "disk", glusterfs: { endpoints: "e", path: "p" } }]);
    node.runFor(HOUR_MS);
    expect([new Set(events()), node.runtime.sandboxes()]).toEqual([
      new Set([
        'FailedMount: Unable to attach or mount volumes: unmounted volumes=[disk], unattached volumes=[], failed to process volumes=[disk]: failed to get Plugin from volumeSpec for volume "disk" err=no volume plugin matched (glusterfs is not served)',
      ]),
      [],
    ]);
    expect(asked("csidrivers")).toEqual([]);
  });
});

describe("a volume of a CSI driver", () => {
  const inline: Volumes = [{ name: "disk", csi: { driver: "d.example" } }];
  const refused = (why: string): string =>
    `FailedMount: Unable to attach or mount volumes: unmounted volumes=[disk], unattached volumes=[], failed to process volumes=[disk]: failed to get Plugin from volumeSpec for volume "disk" err=no volume plugin matched (CSI driver d.example is not served${why})`;

  it("is rejected at once, with the cluster's information about its driver", () => {
    const { node, server, events } = nodeWithVolumes(inline);
    server.put("csidrivers", {
      metadata: { name: "d.example" },
      spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ["Ephemeral"] },
    });
    node.runFor(2_000);
    expect([events(), node.runtime.sandboxes()]).toEqual([[refused("; its CSIDriver requires podInfoOnMount")], []]);
  });

  it("is rejected with the current driver, followed by one watch while a pod names a driver", () => {
    const { node, server, events, asked, requests } = nodeWithVolumes(inline);
    node.runFor(MINUTE_MS);
    server.put("csidrivers", { metadata: { name: "d.example" }, spec: { volumeLifecycleModes: ["Ephemeral"] } });
    node.runFor(2 * MINUTE_MS);
    expect([events(), asked("csidrivers")]).toEqual([
      [
        refused('; volume mode "Ephemeral" not supported by driver d.example (no CSIDriver object)'),
        refused("; its CSIDriver requires attachRequired"),
      ],
      ["watch csidrivers"],
    ]);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 1 });
    node.runFor(MINUTE_MS);
    requests.splice(0);
    node.runFor(HOUR_MS);
    expect([asked("csidrivers"), node.violations]).toEqual([[], []]);
  });

  it("is rejected without driver information when the server does not serve CSIDrivers", () => {
    const { node, events } = nodeWithVolumes(inline, {}, {}, ["csidrivers"]);
    node.runFor(2_000);
    expect(events()).toEqual([refused("")]);
  });
});

describe("a volume behind a claim", () => {
  const claim = [{ name: "data", persistentVolumeClaim: { claimName: "disk" } }];
  const bind = (server: ReturnType<typeof nodeWithVolumes>["server"], spec: object): void => {
    const claimed = server.put("persistentvolumeclaims", { metadata: ref("disk"), spec: { volumeName: "pv1" } });
    const claimRef = { uid: claimed.metadata?.uid ?? "", ...ref("disk") };
    server.put("persistentvolumes", { metadata: { name: "pv1" }, spec: { claimRef, ...spec } });
    server
      .client()
      .update("persistentvolumeclaims", { ...claimed, status: { phase: "Bound" } }, { subresource: "status" })
      .subscribe();
  };

  it("is named while the pod waits, and mounted once the claim is bound", () => {
    const { node, server, events, mounts } = nodeWithVolumes(claim);
    node.runFor(MINUTE_MS);
    const refused =
      'FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/disk: failed to fetch PVC from API server: persistentvolumeclaims "disk" not found';
    expect([new Set(events()), node.running()]).toEqual([new Set([refused]), []]);
    bind(server, { nfs: { server: "nfs.example", path: "/x" }, mountOptions: ["soft"] });
    node.runFor(3 * MINUTE_MS);
    expect([mounts(), node.running(), node.violations]).toEqual([["nfs pv1"], ["default/web/main#0"], []]);
  });

  it("is rejected for a CSI driver, with the cluster's information about that driver", () => {
    const { node, server, events } = nodeWithVolumes(claim);
    server.put("csidrivers", { metadata: { name: "d.example" }, spec: { requiresRepublish: true } });
    bind(server, { csi: { driver: "d.example", volumeHandle: "h" } });
    node.runFor(2_000);
    expect(events()).toEqual([
      'FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: failed to get Plugin from volumeSpec for volume "pv1" err=no volume plugin matched (CSI driver d.example is not served; its CSIDriver requires attachRequired, requiresRepublish)',
    ]);
  });

  it("stays mounted over a restart of the kubelet without its server", () => {
    const { node, server, mounts } = nodeWithVolumes(claim);
    bind(server, { nfs: { server: "nfs.example", path: "/x" } });
    node.runFor(MINUTE_MS);
    const before = node.host.mounts.all();
    server.setNetwork("refused");
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(10 * MINUTE_MS);
    server.setNetwork("up");
    node.runFor(5 * MINUTE_MS);
    expect([node.host.mounts.all(), node.running()]).toEqual([before, ["default/web/main#0"]]);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 1 });
    node.runFor(MINUTE_MS);
    expect([mounts(), node.violations]).toEqual([[], []]);
  });
});

describe("parts of a volume", () => {
  it("are bound for the container, and removed with the volume", () => {
    const { node, server, volumePath, mounts } = nodeWithVolumes([{ name: "scratch", emptyDir: {} }], {
      subPath: "logs/web",
    });
    node.runFor(2_000);
    const [part] = node.host.mounts.all();
    const mounted = node.runtime
      .containers()[0]
      ?.config.mounts.find(({ containerPath }) => containerPath === "/scratch");
    expect([part?.root, mounted?.hostPath]).toEqual([
      `${volumePath("empty-dir", "scratch")}/logs/web`,
      part?.mountPoint,
    ]);
    server.delete("pods", ref("web"), { gracePeriodSeconds: 1 });
    node.runFor(MINUTE_MS);
    expect([mounts(), node.violations]).toEqual([[], []]);
  });
});

describe("a mount that takes its time", () => {
  it("does not start a container after the end of the pod", () => {
    const { node, server, calls, mounts } = nodeWithVolumes(
      [{ name: "scratch", emptyDir: {} }],
      { subPath: "logs" },
      { mountFate: (what) => (what === "bindInside" ? { kind: "delay", ms: 10_000 } : { kind: "proceed" }) },
    );
    node.runFor(5_000);
    expect(calls()).toContain("RunPodSandbox");
    server.delete("pods", ref("web"), { gracePeriodSeconds: 1 });
    node.runFor(MINUTE_MS);
    expect([calls().includes("CreateContainer"), mounts(), node.pods(), node.violations]).toEqual([false, [], [], []]);
  });
});

describe("an image as a volume", () => {
  it("is pulled, and mounted by the runtime", () => {
    const reference = "registry.example/tools:1";
    const { node } = nodeWithVolumes([{ name: "tools", image: { reference, pullPolicy: "IfNotPresent" } }], {
      subPath: "bin",
    });
    node.runFor(10_000);
    const mounted = node.runtime.containers()[0]?.config.mounts.find(({ containerPath }) => containerPath === "/tools");
    expect([mounted?.image?.image, mounted?.imageSubPath, mounted?.readonly]).toEqual([
      expect.stringMatching(/^sha256:/),
      "bin",
      true,
    ]);
  });
});
