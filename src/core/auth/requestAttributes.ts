/**
 * The permission that a request to the kubelet's server needs: a verb on any one of several subresources of this node.
 * Upstream: GetRequestAttributes in pkg/kubelet/server/auth.go.
 */

/** The request, with its path decoded as the router sees it. */
export interface AuthorizedRequest {
  readonly method: string;
  readonly path: string;
}

/** Rules that map requests to permissions. */
export interface AttributeRules {
  /** The gate KubeletFineGrainedAuthz: pods, healthz and configz are separate subresources. */
  readonly fineGrained: boolean;
  /**
   * Requests that run commands in a container or connect to it need `create`, whatever their HTTP method. Differs from
   * upstream: a WebSocket is opened by GET, so upstream's `get` on nodes/proxy, which many monitoring systems have, is
   * enough to run a command in any container.
   */
  readonly streamsNeedCreate: boolean;
}

/** Any one of the subresources suffices; they are checked in this order. */
export interface RequestAttributes {
  /** Empty for methods that the API does not use. */
  readonly verb: string;
  readonly subresources: readonly string[];
}

const VERBS: ReadonlyMap<string, string> = new Map([
  ["POST", "create"],
  ["GET", "get"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

const FINE_GRAINED: readonly (readonly [path: string, subresource: string])[] = [
  ["/pods", "pods"],
  ["/healthz", "healthz"],
  ["/configz", "configz"],
  ["/runningpods", "pods"],
];

const OWN: readonly (readonly [path: string, subresource: string])[] = [
  ["/stats", "stats"],
  ["/metrics", "metrics"],
  ["/logs", "log"],
  ["/checkpoint", "checkpoint"],
  ["/statusz", "statusz"],
  ["/flagz", "configz"],
];

const INTO_CONTAINERS: readonly string[] = ["/exec", "/attach", "/portForward", "/run"];

const isBelow = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

const find = (rows: readonly (readonly [string, string])[], path: string): readonly string[] => {
  const row = rows.find(([root]) => isBelow(path, root));
  return row === undefined ? [] : [row[1]];
};

/** Returns the permission that the request needs. */
export function requestAttributes({ method, path }: AuthorizedRequest, rules: AttributeRules): RequestAttributes {
  const own = find(OWN, path);
  const needsCreate = rules.streamsNeedCreate && INTO_CONTAINERS.some((root) => isBelow(path, root));
  return {
    verb: needsCreate ? "create" : (VERBS.get(method) ?? ""),
    subresources: [...(rules.fineGrained ? find(FINE_GRAINED, path) : []), ...(own.length > 0 ? own : ["proxy"])],
  };
}

/** Upstream's text of a denied request. */
export const forbiddenText = (user: string, { verb, subresources }: RequestAttributes): string =>
  `Forbidden (user=${user}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(" ")}])\n`;

/** Upstream's text when the permission cannot be checked. */
export const authorizationErrorText = (user: string, verb: string, subresource: string): string =>
  `Authorization error (user=${user}, verb=${verb}, resource=nodes, subresource=${subresource})`;
