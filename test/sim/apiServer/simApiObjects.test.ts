import { describe, expect, it } from "vitest";
import type { Container } from "../../../src/core/api.ts";
import { createStatusPatch } from "../../../src/core/api/statusPatch.ts";
import type { ApiPatch } from "../../../src/ports/apiServer.ts";
import { newPod, simApi } from "../../support/simApi.ts";

const ref = (name: string) => ({ namespace: "default", name });
const merge = (body: Readonly<Record<string, unknown>>): ApiPatch => ({ type: "application/merge-patch+json", body });
const strategic = (body: Readonly<Record<string, unknown>>): ApiPatch => ({
  type: "application/strategic-merge-patch+json",
  body,
});

describe("simulated API server: objects", () => {
  it("gives a new pod identity, version, defaults and its first status", () => {
    const { admin, run } = simApi();
    const pod = run(admin.create("pods", newPod("a", {}, { resourceVersion: "" })));
    expect(pod.metadata).toEqual({
      name: "a",
      namespace: "default",
      uid: pod.metadata?.uid,
      resourceVersion: "6",
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
    });
    expect(pod.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect([pod.apiVersion, pod.kind, pod.status]).toEqual(["v1", "Pod", { phase: "Pending", qosClass: "BestEffort" }]);
    expect([pod.spec?.serviceAccountName, pod.spec?.schedulerName]).toEqual(["default", "default-scheduler"]);
  });

  it("makes names from generateName", () => {
    const { admin, run } = simApi();
    const { name: _none, ...metadata } = newPod("x").metadata;
    const pods = [1, 2].map(() =>
      run(admin.create("pods", { ...newPod("x"), metadata: { ...metadata, generateName: "web-" } })),
    );
    const names = pods.map((pod) => pod.metadata?.name ?? "");
    expect(names.map((name) => /^web-[b-z2-9]{5}$/.test(name))).toEqual([true, true]);
    expect(new Set(names).size).toBe(2);
  });

  it("raises one version over all resources", () => {
    const { admin, run, server } = simApi();
    const before = server.revision;
    run(admin.create("pods", newPod("a")));
    run(admin.create("configmaps", { metadata: { name: "c", namespace: "default" }, data: { a: "b" } }));
    const pod = run(admin.patch("pods", ref("a"), merge({ metadata: { labels: { x: "y" } } })));
    expect([server.revision - before, pod.metadata?.resourceVersion]).toEqual([3, String(server.revision)]);
  });

  it("refuses what a real server refuses", () => {
    const { admin, run, refusal } = simApi();
    run(admin.create("pods", newPod("a", { nodeName: "n1" })));
    run(admin.create("leases", { metadata: { name: "l", namespace: "default" }, spec: { leaseDurationSeconds: 40 } }));
    const stale = { ...newPod("a"), metadata: { ...newPod("a").metadata, resourceVersion: "1" } };
    const image = (text: string) => [{ op: "replace" as const, path: "/spec/containers/0/image", value: text }];
    expect([
      refusal(admin.create("pods", newPod("a"))),
      refusal(admin.create("pods", newPod("Bad Name"))),
      refusal(admin.create("pods", newPod("b", {}, { namespace: "nowhere" }))),
      refusal(admin.create("pods", newPod("b", {}, { resourceVersion: "5" }))),
      refusal(admin.create("pods", { ...newPod("b"), kind: "Node" })),
      refusal(admin.get("pods", ref("b"))),
      refusal(admin.update("pods", stale)),
      refusal(admin.update("pods", { ...newPod("a"), metadata: { ...newPod("a").metadata, uid: "other" } })),
      refusal(admin.patch("pods", ref("a"), merge({ metadata: { resourceVersion: "1" } }))),
      refusal(admin.patch("pods", ref("a"), merge({ metadata: { uid: "other" } }))),
      refusal(admin.patch("pods", ref("a"), merge({ spec: { nodeName: "n2" } }))).split(" other than")[0],
      refusal(admin.patch("pods", ref("a"), { type: "application/json-patch+json", body: image("x:2") })),
      refusal(admin.patch("pods", ref("a"), { type: "text/plain", body: {} } as unknown as ApiPatch)),
      refusal(admin.patch("pods", ref("a"), strategic({ spec: { containers: [{ image: "x" }] } }))),
      refusal(admin.update("leases", { metadata: { name: "l", namespace: "default" }, spec: {} })),
    ]).toEqual([
      'AlreadyExists/AlreadyExists: pods "a" already exists',
      expect.stringMatching(
        /^InvalidArgument\/Invalid: Pod "Bad Name" is invalid: metadata.name: Invalid value: "Bad Name"/,
      ),
      'NotFound/NotFound: namespaces "nowhere" not found',
      "InvalidArgument/BadRequest: resourceVersion should not be set on objects to be created",
      'InvalidArgument/BadRequest: Node in version "" cannot be handled as a Pod',
      'NotFound/NotFound: pods "b" not found',
      'Conflict/Conflict: Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
      expect.stringMatching(/^Conflict\/Conflict: .*Precondition failed: UID in precondition: other/),
      'Conflict/Conflict: Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
      'InvalidArgument/Invalid: Pod "a" is invalid: metadata.uid: Invalid value: "other": field is immutable',
      'InvalidArgument/Invalid: Pod "a" is invalid: spec: Forbidden: pod updates may not change fields',
      "no error",
      "InvalidArgument/UnsupportedMediaType: the body of the request was in an unknown format - text/plain",
      "InvalidArgument/BadRequest: .spec.containers: an element has no merge key name",
      'InvalidArgument/Invalid: Lease.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Required value: must be specified for an update',
    ]);
  });

  it("gives the Status of a refusal as its cause", () => {
    const { admin, run } = simApi();
    expect(() => run(admin.get("leases", { namespace: "kube-node-lease", name: "n" }))).toThrow(
      expect.objectContaining({
        code: "NotFound",
        cause: {
          kind: "Status",
          apiVersion: "v1",
          metadata: {},
          status: "Failure",
          message: 'leases.coordination.k8s.io "n" not found',
          reason: "NotFound",
          details: { name: "n", kind: "leases", group: "coordination.k8s.io" },
          code: 404,
        },
      }),
    );
  });

  it("writes status by its own request only, and nothing else by that", () => {
    const { admin, run } = simApi();
    run(admin.create("pods", newPod("a")));
    const both = merge({
      metadata: { labels: { l: "1" } },
      spec: { activeDeadlineSeconds: 5 },
      status: { phase: "Running" },
    });
    const plain = run(admin.patch("pods", ref("a"), both));
    expect([plain.status?.phase, plain.spec?.activeDeadlineSeconds]).toEqual(["Pending", 5]);
    const more = merge({ spec: { activeDeadlineSeconds: 4 }, status: { phase: "Running" } });
    const status = run(admin.patch("pods", ref("a"), more, { subresource: "status" }));
    expect([status.status?.phase, status.spec?.activeDeadlineSeconds]).toEqual(["Running", 5]);
  });

  it("counts generations of a pod's spec, not of its status, and writes nothing for no change", () => {
    const { admin, run, server } = simApi();
    run(admin.create("pods", newPod("a")));
    const generations = [
      run(admin.patch("pods", ref("a"), merge({ status: { phase: "Running" } }), { subresource: "status" })),
      run(admin.patch("pods", ref("a"), merge({ metadata: { annotations: { a: "b" } } }))),
      run(admin.patch("pods", ref("a"), merge({ spec: { activeDeadlineSeconds: 9 } }))),
    ].map((pod) => pod.metadata?.generation);
    const before = server.revision;
    const same = run(admin.patch("pods", ref("a"), merge({ spec: { activeDeadlineSeconds: 9 } })));
    expect([generations, same.metadata?.resourceVersion, server.revision - before]).toEqual([
      [1, 1, 2],
      String(before),
      0,
    ]);
  });

  it("resizes containers by the resize request only", () => {
    const { admin, run, refusal } = simApi();
    const limits = (memory: string) => ({ resources: { requests: { memory }, limits: { memory } } });
    run(admin.create("pods", newPod("a", { containers: [{ name: "main", image: "x", ...limits("10Mi") }] })));
    const body = strategic({ spec: { containers: [{ name: "main", image: "y", ...limits("20Mi") }] } });
    expect(refusal(admin.patch("pods", ref("a"), body))).toMatch(/^InvalidArgument\/Invalid/);
    const pod = run(admin.patch("pods", ref("a"), body, { subresource: "resize" }));
    expect(pod.spec?.containers.map(({ image, resources }) => [image, resources?.limits?.["memory"]])).toEqual([
      ["x", "20Mi"],
    ]);
    expect(pod.metadata?.generation).toBe(2);
  });

  it("resizes sidecars, stores amounts as any write does, and keeps the QoS class", () => {
    const { admin, run, refusal } = simApi();
    const asks = (cpu: string) => ({ resources: { requests: { cpu } } });
    const [main, step] = [
      { name: "main", image: "x" },
      { name: "step", image: "x", ...asks("1") },
    ];
    const sidecar = { name: "proxy", image: "x", restartPolicy: "Always", ...asks("1") };
    run(admin.create("pods", newPod("a", { containers: [main], initContainers: [step, sidecar] })));
    const resize = (body: object) =>
      admin.patch("pods", ref("a"), strategic({ spec: body }), { subresource: "resize" });
    const larger = ["step", "proxy"].map((name) => ({ name, ...asks("2000m") }));
    const pod = run(resize({ initContainers: larger }));
    expect(pod.spec?.initContainers?.map(({ resources }) => resources?.requests?.["cpu"])).toEqual(["1", "2"]);
    run(admin.patch("pods", ref("a"), strategic({ metadata: { labels: { seen: "yes" } } })));
    const guaranteed = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };
    run(admin.create("pods", newPod("b", { containers: [{ name: "main", image: "x", resources: guaranteed }] })));
    const uneven = { spec: { containers: [{ name: "main", resources: { limits: { cpu: "2" } } }] } };
    expect(refusal(admin.patch("pods", ref("b"), strategic(uneven), { subresource: "resize" }))).toMatch(
      /Pod QOS Class may not change as a result of resizing/,
    );
  });

  it("takes a kubelet's status patch and keeps conditions of others", () => {
    const { admin, run, server } = simApi();
    run(admin.create("pods", newPod("a")));
    server.schedule(ref("a"), "n1");
    const gate = { type: "example.com/gate", status: "True" };
    run(admin.patch("pods", ref("a"), strategic({ status: { conditions: [gate] } }), { subresource: "status" }));
    const seen = run(admin.get("pods", ref("a")));
    const newer = {
      metadata: seen.metadata,
      status: {
        ...seen.status,
        phase: "Running",
        conditions: [...(seen.status?.conditions ?? []), { type: "Ready", status: "True" }],
      },
    };
    const patch = createStatusPatch("Pod", seen, newer) ?? {};
    const { status } = run(admin.patch("pods", ref("a"), strategic(patch), { subresource: "status" }));
    expect(status?.conditions?.map(({ type }) => type).sort()).toEqual(["PodScheduled", "Ready", "example.com/gate"]);
    expect(createStatusPatch("Pod", newer as object, { ...newer, status })).toBeUndefined();
  });

  type Rules = {
    readonly restartPolicy?: string;
    readonly restartPolicyRules?: NonNullable<Container["restartPolicyRules"]>;
  };
  const rulesOf = (action: string): Rules => ({
    restartPolicy: "Never",
    restartPolicyRules: [{ action, exitCodes: { operator: "In", values: [3] } }],
  });
  it.each<readonly [what: string, policy: string, exitCode: number, own: Rules, isRefused: boolean]>([
    ["that is never restarted", "Never", 1, {}, true],
    ["of a pod that restarts", "Always", 0, {}, false],
    ["that succeeded", "OnFailure", 0, {}, true],
    ["that failed", "OnFailure", 1, {}, false],
    ["with a policy of its own", "Never", 1, { restartPolicy: "OnFailure" }, false],
    ["whose rule restarts it", "Never", 3, rulesOf("Restart"), false],
    ["whose rule does not match", "Never", 4, rulesOf("Restart"), true],
    ["of a pod that may restart all", "Never", 4, rulesOf("RestartAllContainers"), false],
  ])("lets no container come back from an end that is final: one %s", (_, restartPolicy, exitCode, own, isRefused) => {
    const { admin, run, refusal } = simApi();
    const containers = [{ name: "main", image: "registry.example/app:1", ...own }];
    run(admin.create("pods", newPod("a", { restartPolicy, containers })));
    const state = (value: object) =>
      merge({
        status: {
          containerStatuses: [{ name: "main", image: "", imageID: "", ready: false, restartCount: 0, state: value }],
        },
      });
    const options = { subresource: "status" } as const;
    run(admin.patch("pods", ref("a"), state({ terminated: { exitCode } }), options));
    const back = admin.patch("pods", ref("a"), state({ terminated: null, running: {} }), options);
    const problem =
      'InvalidArgument/Invalid: Pod "a" is invalid: status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state';
    if (isRefused) expect(refusal(back)).toBe(problem);
    else expect(run(back).status?.containerStatuses?.[0]?.state).toEqual({ running: {} });
  });

  it("binds a pod once", () => {
    const { admin, run, refusal, server } = simApi();
    run(admin.create("pods", newPod("a")));
    const bind = (node: string) =>
      admin.createSubresource("pods/binding", ref("a"), {
        metadata: { name: "a" },
        target: { kind: "Node", name: node },
      });
    run(bind("n1"));
    const pod = server.object("pods", ref("a"));
    expect([pod?.spec?.nodeName, pod?.status?.conditions?.map(({ type, status }) => [type, status])]).toEqual([
      "n1",
      [["PodScheduled", "True"]],
    ]);
    expect(refusal(bind("n2"))).toBe(
      'Conflict/Conflict: Operation cannot be fulfilled on pods "a": pod a is already assigned to node "n1"',
    );
  });

  it("keeps immutable secrets, encodes stringData, and forgets events after an hour", () => {
    const { admin, run, refusal, scheduler, server } = simApi();
    const metadata = { name: "s", namespace: "default" };
    const secret = run(admin.create("secrets", { metadata, stringData: { k: "grüße" }, immutable: true }));
    expect(secret.data).toEqual({ k: Buffer.from("grüße").toString("base64") });
    expect(refusal(admin.patch("secrets", metadata, merge({ data: { k: "eA==" } })))).toMatch(
      /field is immutable when/,
    );
    const event = (name: string) => ({
      metadata: { name, namespace: "default" },
      involvedObject: { kind: "Pod", namespace: "default", name: "a" },
    });
    run(admin.create("events", event("old")));
    scheduler.advanceTo(3_500_000);
    run(admin.create("events", event("kept")));
    run(admin.patch("events", { namespace: "default", name: "kept" }, merge({ count: 2 })));
    scheduler.advanceTo(3_700_000);
    run(admin.create("events", event("new")));
    expect(server.objects("events").map(({ metadata: { name } }) => name)).toEqual(["kept", "new"]);
    expect(refusal(admin.create("events", { ...event("bad"), involvedObject: { namespace: "other" } }))).toMatch(
      /does not match event.namespace/,
    );
  });

  it("issues tokens that a review recognises until they end", () => {
    const { admin, run, refusal, scheduler, server } = simApi();
    server.put("serviceaccounts", { metadata: { name: "default", namespace: "default" } });
    const uid = run(admin.create("pods", newPod("a"))).metadata?.uid ?? "";
    const request = (podUid: string, expirationSeconds = 3600) =>
      admin.createSubresource("serviceaccounts/token", ref("default"), {
        spec: {
          audiences: [],
          expirationSeconds,
          boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "a", uid: podUid },
        },
      });
    const { status } = run(request(uid));
    expect(status?.expirationTimestamp).toBe("2026-01-01T01:00:00Z");
    const review = () => run(admin.create("tokenreviews", { spec: { token: status?.token ?? "" } })).status;
    expect(review()).toMatchObject({
      authenticated: true,
      user: { username: "system:serviceaccount:default:default" },
    });
    expect([refusal(request("other")), refusal(request(uid, 10))]).toEqual([
      expect.stringMatching(/^Conflict\/Conflict: .*does not match the UID in record/),
      expect.stringMatching(/may not specify a duration less than 10 minutes/),
    ]);
    scheduler.advanceTo(3_600_001);
    expect(review()).toEqual({ authenticated: false, error: "invalid token" });
  });

  it("lets others approve and sign a request for a certificate", () => {
    const { node, run, server } = simApi();
    const created = run(
      node("n1").create("certificatesigningrequests", {
        metadata: { generateName: "csr-" },
        spec: { request: "cmVx", signerName: "kubernetes.io/kubelet-serving", usages: ["server auth"] },
        status: { certificate: "mine" },
      }),
    );
    const name = created.metadata?.name ?? "";
    expect([created.spec.username, created.status]).toEqual(["system:node:n1", {}]);
    server.signCertificate(name, "Y2VydA==");
    expect(run(node("n1").get("certificatesigningrequests", { name })).status).toMatchObject({
      certificate: "Y2VydA==",
      conditions: [{ type: "Approved", status: "True" }],
    });
  });

  it("answers who may do what as its owner decides, and evicts", () => {
    const { admin, run, server } = simApi({ mayAccess: ({ user }) => user === "alice" });
    const ask = (user: string) =>
      run(
        admin.create("subjectaccessreviews", { spec: { user, nonResourceAttributes: { path: "/pods", verb: "get" } } }),
      );
    expect(["alice", "bob"].map((user) => ask(user).status)).toEqual([{ allowed: true }, { allowed: false }]);
    run(admin.create("pods", newPod("a", { nodeName: "n1" })));
    run(admin.createSubresource("pods/eviction", ref("a"), { deleteOptions: { gracePeriodSeconds: 3 } }));
    expect(server.object("pods", ref("a"))?.metadata?.deletionGracePeriodSeconds).toBe(3);
  });
});

describe("simulated API server: nodes", () => {
  const node = (status: object, more: object = {}) => ({ metadata: { name: "n1" }, ...more, status });
  it.each([
    ["amounts that are none", { capacity: { cpu: "x" } }, "status.capacity.cpu"],
    ["amounts below zero", { allocatable: { memory: "-1" } }, "status.allocatable.memory"],
  ])("refuses %s", (_, status, field) => {
    const { admin, refusal } = simApi();
    expect(refusal(admin.create("nodes", node(status)))).toContain(`${field}: Invalid value`);
  });

  it("lets nobody change who provides the machine", () => {
    const { server, admin, run, refusal } = simApi();
    server.put("nodes", node({}));
    const patch = (providerID: string) => admin.patch("nodes", { name: "n1" }, merge({ spec: { providerID } }));
    run(patch("cloud://a"));
    run(patch("cloud://a"));
    expect(refusal(patch("cloud://b"))).toContain('node updates may not change providerID except from "" to valid');
  });
});

describe("simulated API server: the status of a pod", () => {
  it("is text where it has to be", () => {
    const { server, admin, refusal } = simApi();
    server.put("pods", newPod("web"));
    const body = { status: { phase: 5 } };
    const ref = { namespace: "default", name: "web" };
    expect(refusal(admin.patch("pods", ref, merge(body), { subresource: "status" }))).toContain("Invalid");
  });
});
