/**
 * Plugins by the answers that they give about themselves. An answer is untrusted: each part of it has a bound.
 * Upstream: pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go.
 */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { PluginSocket } from "./pluginSockets.ts";

/** Kinds of plugins that register through the directory of sockets. */
export const PLUGIN_TYPES = ["CSIPlugin", "DevicePlugin", "DRAPlugin"] as const;
export type PluginType = (typeof PLUGIN_TYPES)[number];

/** A plugin as it describes itself. */
export interface RegisteredPlugin {
  readonly type: PluginType;
  readonly name: string;
  /** Path of the socket of its own service. */
  readonly endpoint: string;
  /** Versions of its own service. */
  readonly versions: readonly string[];
  /** The socket through which it registers. */
  readonly socket: PluginSocket;
}

/** The answer of GetInfo. */
export interface PluginAnswer {
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

/** The registered plugins, by the path of their registration socket. */
export type RegisteredPlugins = ReadonlyMap<string, RegisteredPlugin>;

export type PluginEvent =
  | { readonly kind: "registered"; readonly plugin: RegisteredPlugin }
  | { readonly kind: "deregistered"; readonly plugin: RegisteredPlugin };

/** A domain of 253 characters, a slash, and a name of 63. */
const MAX_NAME_LENGTH = 317;
/** PATH_MAX of Linux. */
const MAX_PATH_LENGTH = 4096;
const MAX_VERSIONS = 32;
const MAX_VERSION_LENGTH = 64;

const isPluginType = (type: string): type is PluginType => (PLUGIN_TYPES as readonly string[]).includes(type);

/** Returns the plugin behind a socket, or why its answer cannot be used, in upstream's words where upstream has them. */
export function pluginOfAnswer(answer: PluginAnswer, socket: PluginSocket): Result<RegisteredPlugin> {
  const { type, name, endpoint, supportedVersions: versions } = answer;
  if (!isPluginType(type)) return err(noHandler(type, socket));
  const fault = faultOf(answer);
  if (fault !== undefined) {
    return err(kubeletError("InvalidArgument", `RegisterPlugin error -- plugin validation failed with err: ${fault}`));
  }
  return ok({ type, name, endpoint: endpoint === "" ? socket.path : pathOf(endpoint), versions, socket });
}

/** The refusal of a plugin of a type that nothing on this node uses. */
export const noHandler = (type: string, { path }: PluginSocket) =>
  kubeletError(
    "InvalidArgument",
    `RegisterPlugin error -- no handler registered for plugin type: ${type.slice(0, MAX_VERSION_LENGTH)} at socket ${path}`,
  );

function faultOf({ name, endpoint, supportedVersions: versions }: PluginAnswer): string | undefined {
  if (name === "") return "the name is empty";
  if (name.length > MAX_NAME_LENGTH) return `the name has more than ${MAX_NAME_LENGTH} characters`;
  if (!/^[\w./-]+$/.test(name)) return "the name has characters other than letters, digits, dots, dashes and slashes";
  if (endpoint.length > MAX_PATH_LENGTH) return `the endpoint has more than ${MAX_PATH_LENGTH} characters`;
  if (endpoint !== "" && !pathOf(endpoint).startsWith("/")) return "the endpoint is no absolute path of a socket";
  if (versions.length === 0) return "it supports no version";
  if (versions.length > MAX_VERSIONS) return `it supports more than ${MAX_VERSIONS} versions`;
  if (versions.some((version) => version.length > MAX_VERSION_LENGTH)) {
    return `a version has more than ${MAX_VERSION_LENGTH} characters`;
  }
  return undefined;
}

/** Returns the path of an endpoint, which plugins give with or without a scheme. */
const pathOf = (endpoint: string): string => endpoint.replace(/^unix:(?:\/\/)?(?=\/)/, "");

/** Returns the plugins of a type that came and went: those that went first. A plugin that registered again did both. */
export function pluginChanges(
  before: RegisteredPlugins,
  now: RegisteredPlugins,
  type: PluginType,
): readonly PluginEvent[] {
  const left = (from: RegisteredPlugins, other: RegisteredPlugins): readonly RegisteredPlugin[] =>
    [...from]
      .filter(([path, plugin]) => plugin.type === type && other.get(path) !== plugin)
      .map(([, plugin]) => plugin);
  return [
    ...left(before, now).map((plugin) => ({ kind: "deregistered", plugin }) as const),
    ...left(now, before).map((plugin) => ({ kind: "registered", plugin }) as const),
  ];
}
