import { describe, expect, it } from "vitest";
import type { ApiPatch } from "../../../src/ports/apiServer.ts";
import { newPod, simApi } from "../../support/simApi.ts";

const ref = (name: string) => ({ namespace: "default", name });
const merge = (body: Readonly<Record<string, unknown>>): ApiPatch => ({ type: "application/merge-patch+json", body });
const status = { subresource: "status" } as const;
const ALLOWED = "no error";
/** The authorizer gives no reason beyond the denial. */
const NO_RULE = "";

/** The part of a refusal that says why. */
const why = (refusal: string): string =>
  refusal.replace(/^.*? is forbidden: /, "").replace(/^User .*?(scope|namespace "[^"]*")(: |$)/, "");

function cluster(options: Parameters<typeof simApi>[0] = {}) {
  const api = simApi(options);
  const { server } = api;
  const uid = server.put("nodes", { metadata: { name: "n1" } }).metadata?.uid ?? "";
  server.put("nodes", { metadata: { name: "n2" } });
  for (const name of ["mine", "theirs"]) {
    server.put("secrets", { metadata: { name, namespace: "default" } });
    server.put("configmaps", { metadata: { name, namespace: "default" } });
    server.put("serviceaccounts", { metadata: { name, namespace: "default" } });
  }
  const using = (name: string) => ({
    serviceAccountName: name,
    volumes: [
      { name: "s", secret: { secretName: name } },
      { name: "c", configMap: { name } },
    ],
  });
  const mine = server.put("pods", newPod("mine", { nodeName: "n1", ...using("mine") }));
  const theirs = server.put("pods", newPod("theirs", { nodeName: "n2", ...using("theirs") }));
  const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid, controller: true };
  const mirror = newPod(
    "static-n1",
    { nodeName: "n1" },
    {
      annotations: { "kubernetes.io/config.mirror": "hash" },
      ownerReferences: [owner],
    },
  );
  const node = api.node("n1");
  return {
    ...api,
    node,
    mine,
    theirs,
    mirror,
    ask: (call: Parameters<typeof api.refusal>[0]) => why(api.refusal(call)),
  };
}

describe("simulated API server: what a node may do", () => {
  it("reads its own node and pods, and single objects its pods refer to", () => {
    const { node, ask } = cluster();
    expect([
      ask(node.get("nodes", { name: "n1" })),
      ask(node.list("pods", { fieldSelector: "spec.nodeName=n1" })),
      ask(node.get("pods", ref("mine"))),
      ask(node.get("secrets", ref("mine"))),
      ask(node.list("configmaps", { namespace: "default", fieldSelector: "metadata.name=mine" })),
      ask(node.list("services")),
      ask(node.get("nodes", { name: "n2" })),
      ask(node.list("pods")),
      ask(node.list("pods", { fieldSelector: "spec.nodeName=n2" })),
      ask(node.get("pods", ref("theirs"))),
      ask(node.get("secrets", ref("theirs"))),
      ask(node.list("secrets", { namespace: "default" })),
      ask(node.list("namespaces")),
    ]).toEqual([
      ...Array<string>(6).fill(ALLOWED),
      "node 'n1' cannot read 'n2', only its own Node object",
      "can only list/watch pods with spec.nodeName field selector",
      "can only list/watch pods with spec.nodeName field selector",
      "no relationship found between node 'n1' and this object",
      "no relationship found between node 'n1' and this object",
      "No Object name found",
      NO_RULE,
    ]);
  });

  it("gets the authorizer's reason for a denial", () => {
    const { node, refusal } = cluster();
    expect(refusal(node.list("secrets", { namespace: "default" }))).toBe(
      'PermissionDenied/Forbidden: secrets is forbidden: User "system:node:n1" cannot list resource "secrets" in API ' +
        'group "" in the namespace "default": No Object name found',
    );
  });

  it("writes the status of its own pods, without labels, and no specs", () => {
    const { node, ask } = cluster();
    const running = merge({ status: { phase: "Running" } });
    expect([
      ask(node.patch("pods", ref("mine"), running, status)),
      ask(node.patch("pods", ref("theirs"), running, status)),
      ask(node.patch("pods", ref("mine"), merge({ metadata: { labels: { a: "b" } } }), status)),
      ask(node.patch("pods", ref("mine"), merge({ spec: { activeDeadlineSeconds: 1 } }))),
      ask(node.delete("pods", ref("theirs"))),
      ask(node.delete("pods", ref("mine"), { gracePeriodSeconds: 0 })),
    ]).toEqual([
      ALLOWED,
      'node "n1" can only update pod status for pods with spec.nodeName set to itself',
      'node "n1" cannot update labels through pod status',
      NO_RULE,
      'node "n1" can only delete pods with spec.nodeName set to itself',
      ALLOWED,
    ]);
  });

  it("creates mirror pods of its own, and no others", () => {
    const { node, ask, mirror } = cluster();
    const without = (change: object) => ({ ...mirror, metadata: { ...mirror.metadata, name: "x", ...change } });
    const owners = (change: object) =>
      without({ ownerReferences: [{ ...mirror.metadata.ownerReferences?.[0], ...change }] });
    const [owner] = mirror.metadata.ownerReferences ?? [];
    const using = (volume: object) => ({
      ...without({}),
      spec: { ...mirror.spec, volumes: [{ name: "v", ...volume }] },
    });
    const bundle = { clusterTrustBundle: { name: "anchors", path: "ca" } };
    expect([
      ask(node.create("pods", mirror)),
      ask(node.create("pods", without({ annotations: {} }))),
      ask(node.create("pods", without({ ownerReferences: [] }))),
      ask(node.create("pods", without({ ownerReferences: [owner, { ...owner, controller: false }] }))),
      ask(node.create("pods", owners({ blockOwnerDeletion: true }))),
      ask(node.create("pods", owners({ uid: "old" }))).split(":")[0],
      ask(node.create("pods", owners({ controller: false }))),
      ask(node.create("pods", { ...without({}), spec: { ...mirror.spec, nodeName: "n2" } })),
      ask(node.create("pods", { ...without({}), spec: { ...mirror.spec, serviceAccountName: "mine" } })),
      ask(node.create("pods", using({ secret: { secretName: "mine" } }))),
      ask(node.create("pods", using({ configMap: { name: "mine" } }))),
      ask(node.create("pods", using({ projected: { sources: [bundle] } }))),
      ask(node.create("pods", using({ persistentVolumeClaim: { claimName: "mine" } }))),
    ]).toEqual([
      ALLOWED,
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
      'node "n1" can only create pods with an owner reference set to itself',
      'node "n1" can only create pods with a single owner reference set to itself',
      'node "n1" must not set blockOwnerDeletion on an owner reference',
      "node n1 UID mismatch",
      'node "n1" can only create pods with a controller owner reference set to itself',
      'node "n1" can only create pods with spec.nodeName set to itself',
      ...["service accounts", "secrets"].map((what) => `a mirror pod may not reference ${what}`),
      ...["configmaps", "clustertrustbundles", "persistentvolumeclaims"].map(
        (what) => `node "n1" can not create pods that reference ${what}`,
      ),
    ]);
  });

  it("keeps to its own node, without taints and labels of others", () => {
    const { node, ask } = cluster();
    const labels = (key: string) => merge({ metadata: { labels: { [key]: "x" } } });
    expect([
      ask(node.patch("nodes", { name: "n1" }, labels("kubernetes.io/arch"))),
      ask(node.patch("nodes", { name: "n1" }, labels("node.kubernetes.io/mine"))),
      ask(node.patch("nodes", { name: "n1" }, labels("example.com/free"))),
      ask(node.patch("nodes", { name: "n1" }, labels("node-restriction.kubernetes.io/x"))),
      ask(node.patch("nodes", { name: "n1" }, labels("node-role.kubernetes.io/control-plane"))),
      ask(node.patch("nodes", { name: "n1" }, merge({ spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }))),
      ask(node.patch("nodes", { name: "n1" }, merge({ metadata: { ownerReferences: [{ uid: "x" }] } }), status)),
      ask(node.patch("nodes", { name: "n2" }, labels("a"), status)),
      ask(node.delete("nodes", { name: "n1" })),
    ]).toEqual([
      ALLOWED,
      ALLOWED,
      ALLOWED,
      "is not allowed to modify labels: node-restriction.kubernetes.io/x",
      "is not allowed to modify labels: node-role.kubernetes.io/control-plane",
      'node "n1" is not allowed to modify taints',
      'node "n1" is not allowed to modify ownerReferences',
      'node "n1" is not allowed to modify node "n2"',
      NO_RULE,
    ]);
  });

  it("has its own lease, and tokens bound to its pods", () => {
    const { node, ask, mine, theirs } = cluster();
    const lease = (name: string, namespace = "kube-node-lease") => ({ metadata: { name, namespace }, spec: {} });
    const uid = mine.metadata?.uid ?? "";
    const token = (account: string, bound: object | undefined) =>
      node.createSubresource("serviceaccounts/token", ref(account), {
        spec: {
          audiences: [],
          ...(bound === undefined ? {} : { boundObjectRef: { apiVersion: "v1", kind: "Pod", ...bound } }),
        },
      });
    expect([
      ask(node.create("leases", lease("n1"))),
      ask(node.get("leases", { namespace: "kube-node-lease", name: "n1" })),
      ask(node.create("leases", lease("n2"))),
      ask(node.create("leases", lease("n1", "default"))),
      ask(token("mine", { name: "mine", uid })),
      ask(token("mine", undefined)),
      ask(token("mine", { name: "mine" })),
      ask(token("mine", { name: "theirs", uid: "x" })).split(" (")[0],
      ask(token("theirs", { name: "theirs", uid: theirs.metadata?.uid ?? "" })),
      ask(token("theirs", { name: "mine", uid })),
    ]).toEqual([
      ALLOWED,
      ALLOWED,
      "can only access node lease with the same name as the requesting node",
      'can only access leases in the "kube-node-lease" system namespace',
      ALLOWED,
      "node requested token not bound to a pod",
      "node requested token with a pod binding without a uid",
      "the UID in the bound object reference",
      "node requested token bound to a pod scheduled on a different node",
      "node requested token for a service account the pod does not use: theirs",
    ]);
  });

  it("writes the size of claims of its pods, and nothing else of any claim", () => {
    const { server, node, ask } = cluster();
    for (const name of ["data", "other"]) {
      server.put("persistentvolumeclaims", { metadata: ref(name), spec: { accessModes: ["ReadWriteOnce"] } });
    }
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }];
    server.put("pods", newPod("claiming", { nodeName: "n1", volumes }));
    const others = [{ name: "v", persistentVolumeClaim: { claimName: "other" } }];
    server.put("pods", newPod("elsewhere", { nodeName: "n2", volumes: others }));
    const grown = merge({
      status: {
        capacity: { storage: "2Gi" },
        conditions: [{ type: "NodeResizeError", status: "True" }],
        allocatedResources: { storage: "2Gi" },
        allocatedResourceStatuses: { storage: "NodeResizeInProgress" },
      },
    });
    const patch = (body: ApiPatch, name = "data", options: object = status) =>
      ask(node.patch("persistentvolumeclaims", ref(name), body, options));
    const only = 'node "n1" is not allowed to update fields other than status.capacity and status.conditions';
    expect([
      patch(grown),
      patch(grown, "other"),
      patch(merge({ status: { phase: "Lost" } })),
      patch(merge({ metadata: { labels: { a: "b" } } })),
      patch(merge({ spec: { volumeName: "x" } })),
      patch(grown, "data", {}),
      ask(node.list("persistentvolumeclaims", { namespace: "default" })),
      ask(node.delete("persistentvolumeclaims", ref("data"))),
    ]).toEqual([
      ALLOWED,
      "no relationship found between node 'n1' and this object",
      ...Array<string>(3).fill(only),
      ...Array<string>(3).fill("can only get individual resources of this type"),
    ]);
    expect(server.object("persistentvolumeclaims", ref("data"))?.status).toMatchObject({
      capacity: { storage: "2Gi" },
      allocatedResourceStatuses: { storage: "NodeResizeInProgress" },
    });
  });

  it("reads the attachments of its own volumes, and makes, watches and removes none", () => {
    const { server, node, ask } = cluster();
    const attachment = (name: string, nodeName: string) => ({
      metadata: { name },
      spec: { attacher: "csi.example.com", nodeName, source: { persistentVolumeName: "pv1" } },
    });
    server.put("volumeattachments", attachment("mine", "n1"));
    server.put("volumeattachments", attachment("theirs", "n2"));
    expect([
      ask(node.get("volumeattachments", { name: "mine" })),
      ask(node.get("volumeattachments", { name: "theirs" })),
      ask(node.create("volumeattachments", attachment("new", "n1"))),
      ask(node.watch("volumeattachments", { fieldSelector: "metadata.name=mine" })),
      ask(node.patch("volumeattachments", { name: "mine" }, merge({ status: { attached: true } }), status)),
      ask(node.delete("volumeattachments", { name: "mine" })),
    ]).toEqual([
      ALLOWED,
      "no relationship found between node 'n1' and this object",
      ...Array<string>(4).fill("can only get individual resources of this type"),
    ]);
  });

  it("has tokens for the audiences its pod wants them for, and for those an administrator allows", () => {
    const { server, node, ask } = cluster({
      mayAccess: ({ user, resourceAttributes: { verb, resource, name } = {} }) =>
        `${user} ${verb} ${resource} ${name}` === "system:node:n1 request-serviceaccounts-token-audience registry mine",
    });
    const projected = { sources: [{ serviceAccountToken: { path: "token", audience: "vault" } }] };
    const volumes = [
      { name: "projected", projected },
      { name: "inline", csi: { driver: "inline.example" } },
      { name: "claimed", persistentVolumeClaim: { claimName: "claim" } },
    ];
    const tokenRequests = (audience: string) => ({ spec: { tokenRequests: [{ audience }] } });
    server.put("csidrivers", { metadata: { name: "inline.example" }, ...tokenRequests("inline") });
    server.put("csidrivers", { metadata: { name: "bound.example" }, ...tokenRequests("bound") });
    server.put("persistentvolumes", {
      metadata: { name: "volume" },
      spec: { csi: { driver: "bound.example", volumeHandle: "v" } },
    });
    server.put("persistentvolumeclaims", { metadata: ref("claim"), spec: { volumeName: "volume" } });
    const pod = server.put("pods", newPod("asking", { nodeName: "n1", serviceAccountName: "mine", volumes }));
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "asking", uid: pod.metadata?.uid ?? "" };
    const token = (...audiences: string[]) =>
      ask(node.createSubresource("serviceaccounts/token", ref("mine"), { spec: { audiences, boundObjectRef } }));
    const unknown = (audience: string) =>
      `audience "${audience}" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience`;
    expect([...["vault", "inline", "bound", "registry", "other"].map((each) => token(each)), token()]).toEqual([
      ...Array<string>(4).fill(ALLOWED),
      unknown("other"),
      unknown(""),
    ]);
    expect(token("vault", "registry")).toBe("node may only request 0 or 1 audiences");
  });
});
