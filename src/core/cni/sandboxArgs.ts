/**
 * Arguments of network plugins for the sandbox of a pod. Upstream: buildCNIRuntimeConf of the dockershim, AsEnv of
 * libcni; `K8S_POD_UID` and `cgroupPath` as containerd passes them.
 */
import { kubeletError, type KubeletError } from "../errors.ts";
import { compareQuantity, parseQuantity, quantityValue } from "../quantity.ts";
import { err, ok, type Result } from "../result.ts";
import { isPathSegment } from "../pathSegment.ts";

/** Interface of a pod in its namespace. */
export const POD_INTERFACE = "eth0";
/** Loopback interface of a namespace. */
export const LOOPBACK_INTERFACE = "lo";

/** Bandwidths that upstream takes as reasonable, in bits per second. */
const [LEAST_BANDWIDTH, MOST_BANDWIDTH] = ["1k", "1P"] as const;
/** Burst without a limit in practice, as upstream sets it, in bits. */
const BURST = 2 ** 31 - 1;
const INGRESS = "kubernetes.io/ingress-bandwidth";
const EGRESS = "kubernetes.io/egress-bandwidth";

/** Longer than any name of the API. */
const MAX_VALUE_CHARS = 1024;
const MAX_PATH_CHARS = 4096;
const SANDBOX_ID = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** The parts of a sandbox that plugins get. */
export interface SandboxIdentity {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly netns: string;
}

/** The parts of a sandbox that become runtime configuration. */
export interface SandboxWishes {
  readonly portMappings: readonly {
    readonly protocol: string;
    readonly hostPort: number;
    readonly containerPort: number;
    readonly hostIp: string;
  }[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly dns: {
    readonly servers: readonly string[];
    readonly searches: readonly string[];
    readonly options: readonly string[];
  };
  readonly cgroupParent: string;
}

/** Pairs of CNI_ARGS. */
export type CniArgs = readonly (readonly [string, string])[];

/** Returns why a sandbox cannot be passed to a plugin; undefined for one that can. */
export function sandboxFault({ id, netns, ...names }: SandboxIdentity): KubeletError | undefined {
  const fault = (why: string): KubeletError => kubeletError("InvalidArgument", `sandbox ${quoted(id)}: ${why}`);
  if (!SANDBOX_ID.test(id) || !isPathSegment(id)) return fault("its id has characters other than letters, digits, _.-");
  for (const key of ["namespace", "name", "uid"] as const) {
    // CNI_ARGS has no way to write these characters: the value would be read as further arguments.
    if (/[;=\0]/.test(names[key])) return fault(`its ${key} ${quoted(names[key])} has a character of ;= or zero`);
    if (names[key].length > MAX_VALUE_CHARS) return fault(`its ${key} has more than ${MAX_VALUE_CHARS} characters`);
  }
  if (netns === "") return undefined;
  const isPath = netns.startsWith("/") && !netns.includes("\0") && netns.length <= MAX_PATH_CHARS;
  return isPath ? undefined : fault(`its network namespace ${quoted(netns)} is not an absolute path`);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));

/** Returns the pairs of CNI_ARGS. */
export const cniArgsOf = ({ id, namespace, name, uid }: SandboxIdentity): CniArgs => [
  ["IgnoreUnknown", "1"],
  ["K8S_POD_NAMESPACE", namespace],
  ["K8S_POD_NAME", name],
  ["K8S_POD_INFRA_CONTAINER_ID", id],
  ["K8S_POD_UID", uid],
];

/**
 * Returns runtime configuration by capability. `podCidr` is the range of the node's pods, or two with a comma; empty
 * if it is not known. Errors: InvalidArgument for a bandwidth that is no quantity or unreasonable.
 */
export function capabilityArgsOf(
  { portMappings, annotations, dns, cgroupParent }: SandboxWishes,
  podCidr: string,
): Result<Readonly<Record<string, unknown>>> {
  const ingress = bandwidth(annotations, INGRESS);
  if (!ingress.ok) return ingress;
  const egress = bandwidth(annotations, EGRESS);
  if (!egress.ok) return egress;
  const limits = {
    ...(ingress.value === undefined ? {} : { ingressRate: ingress.value, ingressBurst: BURST }),
    ...(egress.value === undefined ? {} : { egressRate: egress.value, egressBurst: BURST }),
  };
  const names = Object.fromEntries(Object.entries(dns).filter(([, list]) => list.length > 0));
  const ranges = podCidr.split(",").filter((subnet) => subnet !== "");
  return ok({
    portMappings: portMappings
      .filter(({ hostPort }) => hostPort > 0)
      .map(({ hostPort, containerPort, protocol, hostIp }) => ({ hostPort, containerPort, protocol, hostIP: hostIp })),
    ...(Object.keys(limits).length === 0 ? {} : { bandwidth: limits }),
    ...(ranges.length === 0 ? {} : { ipRanges: ranges.map((subnet) => [{ subnet }]) }),
    ...(Object.keys(names).length === 0 ? {} : { dns: names }),
    ...(cgroupParent === "" ? {} : { cgroupPath: cgroupParent }),
  });
}

/** Returns the limit that an annotation sets, in bits per second; undefined without it. */
function bandwidth(annotations: SandboxWishes["annotations"], key: string): Result<number | undefined> {
  const text = annotations[key];
  if (text === undefined) return ok(undefined);
  const amount = parseQuantity(text);
  if (amount === undefined) return err(kubeletError("InvalidArgument", `${key}: ${quoted(text)} is not a quantity`));
  const [least, most] = [parseQuantity(LEAST_BANDWIDTH), parseQuantity(MOST_BANDWIDTH)];
  const isSmall = least !== undefined && compareQuantity(amount, least) < 0;
  const isLarge = most !== undefined && compareQuantity(amount, most) > 0;
  if (!isSmall && !isLarge) return ok(Number(quantityValue(amount)));
  const why = isSmall ? `small (< ${LEAST_BANDWIDTH}bit)` : `large (> ${MOST_BANDWIDTH}bit)`;
  return err(kubeletError("InvalidArgument", `${key}: resource is unreasonably ${why}`));
}

/** Commands of the specification. */
export type CniCommand = "ADD" | "DEL" | "CHECK" | "GC" | "STATUS" | "VERSION";

/** Parameters of one run of a plugin. */
export interface PluginCall {
  readonly command: CniCommand;
  readonly id: string;
  readonly netns: string;
  readonly ifName: string;
  readonly args: CniArgs;
}

/** Returns the variables of one run, for plugins in these directories. */
export const pluginEnvironment = (
  { command, id, netns, ifName, args }: PluginCall,
  binDirs: readonly string[],
): Readonly<Record<string, string>> => ({
  CNI_COMMAND: command,
  CNI_CONTAINERID: id,
  CNI_NETNS: netns,
  CNI_ARGS: args.map(([key, value]) => `${key}=${value}`).join(";"),
  CNI_IFNAME: ifName,
  CNI_PATH: binDirs.join(":"),
});
