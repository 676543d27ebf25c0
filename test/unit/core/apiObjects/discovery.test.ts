import { describe, expect, it } from "vitest";
import {
  API_GROUPS,
  API_VERSIONS,
  apiResourceList,
  OPENAPI_INDEX,
  openApiDocument,
  versionInfo,
} from "../../../../src/core/apiObjects/discovery.ts";

describe("discovery", () => {
  it("lists each resource with its short names, and the streams of pods", () => {
    const { resources, ...list } = apiResourceList(["pods", "nodes", "namespaces", "events", "leases"]);
    expect(list).toEqual({ kind: "APIResourceList", apiVersion: "v1", groupVersion: "v1" });
    expect(
      resources.map(({ name, singularName, namespaced, kind, verbs, ...more }) => [
        `${name} ${singularName} ${namespaced} ${kind} ${verbs.join(",")}`,
        more,
      ]),
    ).toEqual([
      ["pods pod true Pod get,list,watch", { shortNames: ["po"], categories: ["all"] }],
      ["nodes node false Node get,list,watch", { shortNames: ["no"] }],
      ["namespaces namespace false Namespace get,list,watch", { shortNames: ["ns"] }],
      ["events event true Event get,list,watch", { shortNames: ["ev"] }],
      ["leases lease true Lease get,list,watch", { shortNames: [] }],
      ["pods/attach  true PodAttachOptions create,get", {}],
      ["pods/exec  true PodExecOptions create,get", {}],
      ["pods/log  true Pod get", {}],
      ["pods/portforward  true PodPortForwardOptions create,get", {}],
    ]);
  });

  it("has the core group and the resource metrics API", () => {
    const version = { groupVersion: "metrics.k8s.io/v1beta1", version: "v1beta1" };
    const metrics = { name: "metrics.k8s.io", versions: [version], preferredVersion: version };
    expect([API_VERSIONS, API_GROUPS]).toEqual([
      { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] },
      { kind: "APIGroupList", apiVersion: "v1", groups: [metrics] },
    ]);
  });

  it.each([
    ["v1.36.2", "1", "36"],
    ["v12.3", "12", "3"],
    ["1.36.2", "", ""],
    ["unknown", "", ""],
  ])("the version %s is %j.%j", (gitVersion, major, minor) => {
    expect(versionInfo(gitVersion, "linux/amd64")).toEqual({ major, minor, gitVersion, platform: "linux/amd64" });
  });

  it("has an OpenAPI document that lets kubectl validate on the server", () => {
    expect(OPENAPI_INDEX).toEqual({ paths: { "api/v1": { serverRelativeURL: "/openapi/v3/api/v1" } } });
    expect(openApiDocument("7")).toEqual({
      openapi: "3.0.0",
      info: { title: "rxlet", version: "7" },
      paths: {
        "/api/v1/namespaces/{namespace}/pods/{name}": {
          patch: {
            parameters: [{ name: "fieldValidation", in: "query" }],
            responses: {},
            "x-kubernetes-group-version-kind": { group: "", version: "v1", kind: "Pod" },
          },
        },
      },
      components: {},
    });
  });
});
