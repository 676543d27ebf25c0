/**
 * What a request to the kubelet's server needs permission for: a verb on subresources of this node, any of which will
 * do. Counterpart: GetRequestAttributes in pkg/kubelet/server/auth.go.
 */

/** The request, its path decoded as routes see it. */
export interface AuthorizedRequest {
  readonly method: string;
  readonly path: string;
}

/** How permissions are divided up. */
export interface AttributeRules {
  /** The gate KubeletFineGrainedAuthz: pods, healthz and configz are subresources of their own. */
  readonly fineGrained: boolean;
  /**
   * Whoever runs or reaches something in a container needs `create`, however the connection is opened.
   * Differs from upstream: a WebSocket is opened by GET, so that there `get` on nodes/proxy, which much monitoring has,
   * is enough to run anything in any container.
   */
  readonly streamsNeedCreate: boolean;
}

/** Asked in this order. */
export interface RequestAttributes {
  /** Empty for methods that are none of the API's. */
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

/** The permission to ask for. */
export function requestAttributes({ method, path }: AuthorizedRequest, rules: AttributeRules): RequestAttributes {
  const own = find(OWN, path);
  const needsCreate = rules.streamsNeedCreate && INTO_CONTAINERS.some((root) => isBelow(path, root));
  return {
    verb: needsCreate ? "create" : (VERBS.get(method) ?? ""),
    subresources: [...(rules.fineGrained ? find(FINE_GRAINED, path) : []), ...(own.length > 0 ? own : ["proxy"])],
  };
}

/** Upstream's words for a refusal. */
export const forbiddenText = (user: string, { verb, subresources }: RequestAttributes): string =>
  `Forbidden (user=${user}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(" ")}])\n`;

/** Upstream's words when nobody can be asked. */
export const authorizationErrorText = (user: string, verb: string, subresource: string): string =>
  `Authorization error (user=${user}, verb=${verb}, resource=nodes, subresource=${subresource})`;
