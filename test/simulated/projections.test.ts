/** Certificates of pods and authorities they trust, on a simulated node: there in time, renewed in time, gone with the pod. */
import { lastValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../src/core/api.ts";
import type { PodCertificateRequest } from "../../src/core/cert/podCertificate.ts";
import { kubeletError } from "../../src/core/errors.ts";
import { epochMs } from "../../src/core/ids.ts";
import { formatInstant } from "../../src/core/time/civilTime.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { createSimNode } from "../../src/sim/simNode.ts";
import { runsForever } from "../../src/sim/runtime/simProgram.ts";
import type { SimObservation } from "../../src/sim/simObservation.ts";
import { containerOf } from "../support/pods.ts";
import { newPod } from "../support/simApi.ts";

type Volumes = NonNullable<PodSpec["volumes"]>;
type Sources = NonNullable<NonNullable<Volumes[number]["projected"]>["sources"]>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const REF = { namespace: "default", name: "web" };
const block = (content: string): string => `-----BEGIN CERTIFICATE-----\n${btoa(content)}\n-----END CERTIFICATE-----\n`;

/** A node and one pod that mounts these sources; what is asked of the server is in `requests`. */
function nodeWith(sources: Sources, { hasProjections = true, isServed = true } = {}) {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const requests: string[] = [];
  const server = createSimApiServer({
    clock,
    latency: () => 2,
    intercept: (verb, resource) => {
      requests.push(`${verb} ${resource}`);
      if (isServed || resource !== "clustertrustbundles") return { kind: "proceed" };
      return { kind: "fail", error: kubeletError("NotFound", "the server could not find the requested resource") };
    },
  });
  const seen: SimObservation[] = [];
  const node = createSimNode({
    seed: "projections",
    scheduler,
    api: server,
    hasProjections,
    images: [simImage("registry.example/app:1")],
    programs: () => ({ ...runsForever, onTerm: { afterMs: 300, code: 0 } }),
    latency: () => 2,
    watch: (observation) => seen.push(observation),
  });
  server.put("serviceaccounts", { metadata: { namespace: "default", name: "default" } });
  const volumes = [{ name: "identity", projected: { defaultMode: 0o644, sources } }];
  const volumeMounts = [{ name: "identity", mountPath: "/identity" }];
  server.put(
    "pods",
    newPod("web", { volumes, containers: [containerOf({ volumeMounts })], serviceAccountName: "default" }),
  );
  server.schedule(REF, node.config.nodeName);
  const uid = () => server.object("pods", REF)?.metadata?.uid ?? "";
  return {
    node,
    server,
    requests,
    clock,
    asked: (resource: string) => requests.filter((request) => request.endsWith(` ${resource}`)),
    read: (path: string) =>
      node.files.read(`/var/lib/kubelet/pods/${uid()}/volumes/kubernetes.io~projected/identity/${path}`) ?? "",
    events: () =>
      seen.flatMap((each) =>
        each.kind === "event" && each.event.object.kind === "Pod" && each.event.type === "Warning"
          ? [`${each.event.reason}: ${each.event.message}`]
          : [],
      ),
    bundle: (name: string, trustBundle: string, labels: Record<string, string> = {}) =>
      server.put("clustertrustbundles", {
        metadata: { name, labels },
        spec: { signerName: "example.com/s", trustBundle },
      }),
  };
}

describe("authorities of a bundle", () => {
  const named: Sources = [{ clusterTrustBundle: { name: "roots", path: "ca.pem" } }];

  it("are waited for, and follow the bundle within a second", () => {
    const { node, bundle, read, events } = nodeWith(named);
    node.runFor(MINUTE_MS);
    expect([node.running(), events()[0]]).toEqual([
      [],
      'FailedMount: MountVolume.SetUp failed for volume "identity" : while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "roots" not found',
    ]);
    bundle("roots", `told by hand\n${block("b")}${block("a")}`);
    node.runFor(1_000);
    expect([read("ca.pem"), node.running()]).toEqual([`${block("a")}${block("b")}`, ["default/web/main#0"]]);
    bundle("roots", block("c"));
    node.runFor(1_000);
    expect([read("ca.pem"), node.running(), node.violations]).toEqual([block("c"), ["default/web/main#0"], []]);
  });

  it("are chosen by signer and labels, each once", () => {
    const chosen: Sources = [
      {
        clusterTrustBundle: {
          signerName: "example.com/s",
          labelSelector: { matchLabels: { live: "yes" } },
          path: "ca.pem",
        },
      },
    ];
    const { node, bundle, read } = nodeWith(chosen);
    bundle("example.com:s:one", `${block("a")}${block("b")}`, { live: "yes" });
    bundle("example.com:s:two", `${block("b")}${block("c")}`, { live: "yes" });
    bundle("example.com:s:old", block("d"), { live: "no" });
    node.runFor(2_000);
    expect(read("ca.pem")).toBe(`${block("a")}${block("b")}${block("c")}`);
  });

  it("are watched once a pod asks for them, and no longer than that", () => {
    const { node, server, bundle, asked, requests } = nodeWith(named);
    bundle("roots", block("a"));
    node.runFor(2_000);
    expect(asked("clustertrustbundles")).toEqual(["watch clustertrustbundles"]);
    server.delete("pods", REF, { gracePeriodSeconds: 1 });
    node.runFor(MINUTE_MS);
    requests.splice(0);
    node.runFor(HOUR_MS);
    expect(asked("clustertrustbundles")).toEqual([]);
  });

  it.each([
    ["the feature is off", { hasProjections: false }, 0],
    ["the server has none", { isServed: false }, 20],
  ])("are refused where %s", (_where, options, atMost) => {
    const { node, events, asked } = nodeWith(named, options);
    node.runFor(MINUTE_MS);
    expect(asked("clustertrustbundles").length).toBeLessThanOrEqual(atMost);
    expect([node.running(), events()[0]]).toEqual([
      [],
      'FailedMount: MountVolume.SetUp failed for volume "identity" : ClusterTrustBundle projection is not supported in static kubelet mode',
    ]);
  });
});

describe("the certificate of a pod", () => {
  const wanted: Sources = [
    {
      podCertificate: {
        signerName: "example.com/s",
        keyType: "ED25519",
        maxExpirationSeconds: 7_200,
        credentialBundlePath: "pair.pem",
      },
    },
  ];
  /** The node, and a signer that answers when the test says so. */
  const nodeAndSigner = () => {
    const on = nodeWith(wanted);
    const all = (): readonly PodCertificateRequest[] => on.server.objects("podcertificaterequests");
    const decide = (status: (now: number) => object): void => {
      const undecided = all().filter((request) => request.status?.conditions === undefined);
      for (const request of undecided) {
        const decided = { ...request, status: status(on.clock.wallTime()) } as PodCertificateRequest;
        void lastValueFrom(on.server.client().update("podcertificaterequests", decided, { subresource: "status" }));
      }
    };
    const at = (ms: number): string => formatInstant(epochMs(ms));
    return {
      ...on,
      all,
      /** Good for two hours, to be renewed after one. */
      sign: () =>
        decide((now) => ({
          conditions: [{ type: "Issued", status: "True", reason: "Issued", message: "" }],
          certificateChain: `for a reader\n${block(`leaf ${all().length}`)}${block("middle")}`,
          notBefore: at(now),
          beginRefreshAt: at(now + HOUR_MS),
          notAfter: at(now + 2 * HOUR_MS),
        })),
      refuse: (type: string) =>
        decide(() => ({ conditions: [{ type, status: "True", reason: "Because", message: 'no "such" key' }] })),
    };
  };

  it("is asked for with a key that stays on the node, and written once it is issued", () => {
    const { node, server, all, sign, read, events } = nodeAndSigner();
    node.runFor(5_000);
    const [request] = all();
    const [pod, thisNode] = [server.object("pods", REF), server.object("nodes", { name: node.config.nodeName })];
    expect([node.running(), all().length, request?.metadata?.ownerReferences?.[0]?.name, request?.spec]).toEqual([
      [],
      1,
      "web",
      {
        signerName: "example.com/s",
        podName: "web",
        podUID: pod?.metadata?.uid,
        serviceAccountName: "default",
        serviceAccountUID: server.object("serviceaccounts", { namespace: "default", name: "default" })?.metadata?.uid,
        nodeName: node.config.nodeName,
        nodeUID: thisNode?.metadata?.uid,
        maxExpirationSeconds: 7_200,
        stubPKCS10Request: btoa("ED25519 1"),
      },
    ]);
    expect(new Set(events())).toEqual(
      new Set(['FailedMount: MountVolume.SetUp failed for volume "identity" : credential bundle is not issued yet']),
    );
    sign();
    node.runFor(1_000);
    const key = `-----BEGIN PRIVATE KEY-----\n${btoa("ED25519 1")}\n-----END PRIVATE KEY-----\n`;
    expect([read("pair.pem"), node.running()]).toEqual([
      `${key}${block("leaf 1")}${block("middle")}`,
      ["default/web/main#0"],
    ]);
  });

  it("is renewed with another key, some minutes after the signer's word and long before its end", () => {
    const { node, all, sign, read } = nodeAndSigner();
    node.runFor(5_000);
    sign();
    node.runFor(59 * MINUTE_MS);
    expect(all().length).toBe(1);
    node.runFor(7 * MINUTE_MS);
    expect(all().length).toBe(2);
    const before = read("pair.pem");
    sign();
    node.runFor(1_000);
    expect([before.includes(btoa("leaf 1")), read("pair.pem").includes(btoa("leaf 2"))]).toEqual([true, true]);
    expect([read("pair.pem").includes(btoa("ED25519 2")), node.running()]).toEqual([true, ["default/web/main#0"]]);
  });

  it("is warned of when nobody renews it, and used on", () => {
    const { node, sign, events, read } = nodeAndSigner();
    node.runFor(5_000);
    sign();
    node.runFor(90 * MINUTE_MS);
    const isOf = (event: string): boolean => !event.startsWith("FailedMount");
    expect(events().filter(isOf)).toEqual(["CertificateOverdueForRefresh: PodCertificate refresh overdue"]);
    node.runFor(HOUR_MS);
    expect(events().filter(isOf).at(-1)).toBe("CertificateExpired: PodCertificate expired");
    expect([read("pair.pem").includes(btoa("leaf 1")), node.running()]).toEqual([true, ["default/web/main#0"]]);
  });

  it.each([
    ["Denied", "was denied", "denied"],
    ["Failed", "failed", "failed"],
  ])("is %s for good", (type, words, how) => {
    const { node, all, refuse, events } = nodeAndSigner();
    node.runFor(5_000);
    refuse(type);
    node.runFor(3 * HOUR_MS);
    expect(all().length).toBe(1);
    expect(events()).toContain(
      `${type}: PodCertificateRequest of pod default/web ${words}, reason="Because", message="no \\"such\\" key"`,
    );
    expect(events().at(-1)).toBe(
      `FailedMount: MountVolume.SetUp failed for volume "identity" : PodCertificateRequest was permanently ${how}: reason="Because" message="no \\"such\\" key"`,
    );
  });

  it("is asked for again when the request was deleted, once it cannot just be late", () => {
    const { node, server, all } = nodeAndSigner();
    node.runFor(5_000);
    const name = all()[0]?.metadata?.name ?? "";
    server.delete("podcertificaterequests", { namespace: "default", name });
    node.runFor(9 * MINUTE_MS);
    expect(all().length).toBe(0);
    node.runFor(8 * MINUTE_MS);
    expect(all().length).toBe(1);
  });

  it("is another one after a restart of the kubelet, which keeps no keys", () => {
    const { node, all, sign, read } = nodeAndSigner();
    node.runFor(5_000);
    sign();
    node.runFor(1_000);
    const before = read("pair.pem");
    node.crashKubelet();
    node.restartKubelet();
    node.runFor(10_000);
    expect([all().length, read("pair.pem")]).toEqual([2, before]);
    sign();
    node.runFor(MINUTE_MS);
    expect([read("pair.pem").includes(btoa("leaf 2")), node.running()]).toEqual([true, ["default/web/main#0"]]);
  });

  it("costs nothing while it is good, and goes with its pod", () => {
    const { node, server, sign, asked, requests } = nodeAndSigner();
    node.runFor(5_000);
    sign();
    node.runFor(MINUTE_MS);
    requests.splice(0);
    node.runFor(50 * MINUTE_MS);
    expect(asked("podcertificaterequests")).toEqual([]);
    server.delete("pods", REF, { gracePeriodSeconds: 1 });
    node.runFor(5 * HOUR_MS);
    expect([asked("podcertificaterequests"), node.violations]).toEqual([[], []]);
  });
});
