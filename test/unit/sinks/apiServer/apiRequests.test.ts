import { describe, expect, it } from "vitest";
import {
  createRequest,
  deleteRequest,
  getRequest,
  listRequest,
  patchRequest,
  subresourceRequest,
  updateRequest,
  watchRequest,
} from "../../../../src/sinks/apiServer/apiRequests.ts";

const ref = { namespace: "default", name: "a" };

describe("requests of the API", () => {
  it.each([
    ["a get", getRequest("pods", ref, {}), "GET /api/v1/namespaces/default/pods/a"],
    [
      "a get at a version",
      getRequest("nodes", { name: "n1" }, { resourceVersion: "0" }),
      "GET /api/v1/nodes/n1?resourceVersion=0",
    ],
    [
      "a list by field",
      listRequest("pods", { fieldSelector: "spec.nodeName=n1", limit: 500 }),
      "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit=500",
    ],
    [
      "a list in a namespace",
      listRequest("leases", { namespace: "kube-node-lease", labelSelector: "a in (b,c)" }),
      "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases?labelSelector=a%20in%20(b%2Cc)",
    ],
    [
      "a watch",
      watchRequest("runtimeclasses", { resourceVersion: "7", allowWatchBookmarks: true, timeoutSeconds: 60 }),
      "GET /apis/node.k8s.io/v1/runtimeclasses?watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=60",
    ],
    [
      "a watch that begins with the state, as the server demands",
      watchRequest("pods", { sendInitialEvents: true }),
      "GET /api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
    ],
  ])("makes %s", (_what, { method, path }, expected) => {
    expect(`${method} ${path}`).toBe(expected);
  });

  it.each([
    [
      "a create, with its type",
      createRequest("leases", { metadata: { namespace: "kube-node-lease", name: "n1" } }),
      "POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases application/json",
      { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace: "kube-node-lease", name: "n1" } },
    ],
    [
      "an update of the status",
      updateRequest("nodes", { metadata: { name: "n1" } }, "status"),
      "PUT /api/v1/nodes/n1/status application/json",
      { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } },
    ],
    [
      "a patch by its type",
      patchRequest(
        "pods",
        ref,
        { type: "application/strategic-merge-patch+json", body: { status: {} } },
        { subresource: "status" },
      ),
      "PATCH /api/v1/namespaces/default/pods/a/status application/strategic-merge-patch+json",
      { status: {} },
    ],
    [
      "a deletion with its options",
      deleteRequest("pods", ref, { gracePeriodSeconds: 0, preconditions: { uid: "u" }, deadlineMs: 5 }),
      "DELETE /api/v1/namespaces/default/pods/a application/json",
      { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid: "u" } },
    ],
    [
      "a token request",
      subresourceRequest("serviceaccounts/token", ref, "TokenRequest", { spec: { audiences: [] } }),
      "POST /api/v1/namespaces/default/serviceaccounts/a/token application/json",
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: [] } },
    ],
  ])("makes %s", (_what, { method, path, contentType, body }, expected, sent) => {
    expect([`${method} ${path} ${contentType}`, JSON.parse(body ?? "")]).toEqual([expected, sent]);
  });

  it("asks for metadata first, and takes the whole object too, in the answer of a patch", () => {
    const patch = { type: "application/merge-patch+json", body: {} } as const;
    const accepted = [{ answer: "metadata" } as const, {}].map(
      (options) => patchRequest("pods", ref, patch, options).accept,
    );
    expect(accepted).toEqual([
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json",
      undefined,
    ]);
  });

  it("escapes names, and refuses those that would make another path", () => {
    expect(getRequest("nodes", { name: "a/b?c" }, {}).path).toBe("/api/v1/nodes/a%2Fb%3Fc");
    for (const odd of [{ namespace: "default", name: "" }, { name: "a" }, { namespace: "..", name: "a" }]) {
      expect(() => getRequest("pods", odd, {})).toThrow(expect.objectContaining({ code: "InvalidArgument" }));
    }
  });
});
