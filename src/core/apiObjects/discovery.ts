/** Discovery documents of a read-only API server: its versions and resources. */
import { API_RESOURCES, type ApiResourceName } from "../api/apiResources.ts";

/** The versions of the core group. */
export const API_VERSIONS = { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] } as const;

const METRICS_VERSION = { groupVersion: "metrics.k8s.io/v1beta1", version: "v1beta1" } as const;

/** The group of the resource metrics API. */
export const METRICS_GROUP = {
  name: "metrics.k8s.io",
  versions: [METRICS_VERSION],
  preferredVersion: METRICS_VERSION,
} as const;

/** The API groups besides the core group. */
export const API_GROUPS = { kind: "APIGroupList", apiVersion: "v1", groups: [METRICS_GROUP] } as const;

const SHORT_NAMES: Readonly<Partial<Record<ApiResourceName, readonly string[]>>> = {
  pods: ["po"],
  nodes: ["no"],
  namespaces: ["ns"],
  events: ["ev"],
};
const READ = ["get", "list", "watch"];
/** Subresources of pods with their verbs. */
const POD_STREAMS = {
  attach: { kind: "PodAttachOptions", verbs: ["create", "get"] },
  exec: { kind: "PodExecOptions", verbs: ["create", "get"] },
  log: { kind: "Pod", verbs: ["get"] },
  portforward: { kind: "PodPortForwardOptions", verbs: ["create", "get"] },
} as const;

/** Returns the readable resources of the core group. */
export function apiResourceList(resources: readonly ApiResourceName[]) {
  const readable = resources.map((name) => {
    const { kind, namespaced } = API_RESOURCES[name];
    return {
      name,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs: READ,
      shortNames: SHORT_NAMES[name] ?? [],
      ...(name === "pods" ? { categories: ["all"] } : {}),
    };
  });
  const streams = Object.entries(POD_STREAMS).map(([name, { kind, verbs }]) => ({
    name: `pods/${name}`,
    singularName: "",
    namespaced: true,
    kind,
    verbs,
  }));
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: "v1", resources: [...readable, ...streams] };
}

/** Returns the `/version` document; `gitVersion` is `v` and a semantic version. */
export function versionInfo(gitVersion: string, platform: string) {
  const [, major = "", minor = ""] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return { major, minor, gitVersion, platform };
}

/** Index of the `/openapi/v3` documents. */
export const OPENAPI_INDEX = { paths: { "api/v1": { serverRelativeURL: "/openapi/v3/api/v1" } } } as const;

/**
 * Returns the part of an OpenAPI document that kubectl needs before it sends an object: the server validates fields
 * itself. Without it, `kubectl apply` fails for the missing document and hides the real reason why nothing can be
 * applied.
 */
export function openApiDocument(version: string) {
  const patch = {
    parameters: [{ name: "fieldValidation", in: "query" }],
    responses: {},
    "x-kubernetes-group-version-kind": { group: "", version: "v1", kind: "Pod" },
  };
  return {
    openapi: "3.0.0",
    info: { title: "rxlet", version },
    paths: { "/api/v1/namespaces/{namespace}/pods/{name}": { patch } },
    components: {},
  };
}
