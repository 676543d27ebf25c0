/** Parses URL paths of the API server. */
import { API_RESOURCES, type ApiResourceName } from "../api/apiResources.ts";

/** The object or collection that a path names. */
export interface ApiPath {
  readonly resource: ApiResourceName;
  readonly namespace: string | undefined;
  /** undefined: the whole collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const CORE = /^\/api\/v1\/(.*)$/;
const GROUP = /^\/apis\/([^/]+)\/([^/]+)\/(.*)$/;

function groupOf(
  path: string,
): { readonly group: string; readonly version: string; readonly rest: string } | undefined {
  const core = CORE.exec(path);
  if (core !== null) return { group: "", version: "v1", rest: core[1] ?? "" };
  const [, group = "", version = "", rest = ""] = GROUP.exec(path) ?? [];
  return group === "" ? undefined : { group, version, rest };
}

/** Decodes the percent-encoding of each path element; undefined when it is malformed. */
function decodedSteps(path: string): readonly string[] | undefined {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Parses a path; undefined when the server has no such resource. */
export function parseApiPath(path: string): ApiPath | undefined {
  const found = groupOf(path);
  if (found === undefined) return undefined;
  const steps = decodedSteps(found.rest);
  if (steps === undefined) return undefined;
  const isScoped = steps[0] === "namespaces" && steps.length > 2;
  const namespace = isScoped ? steps[1] : undefined;
  const [resource = "", name, subresource, ...more] = isScoped ? steps.slice(2) : steps;
  if (!Object.hasOwn(API_RESOURCES, resource) || more.length > 0) return undefined;
  const info = API_RESOURCES[resource as ApiResourceName];
  if (info.group !== found.group || info.version !== found.version) return undefined;
  // A single object of a namespaced resource is only found below its namespace.
  if (info.namespaced ? namespace === undefined && name !== undefined : namespace !== undefined) return undefined;
  return { resource: resource as ApiResourceName, namespace, name, subresource };
}
