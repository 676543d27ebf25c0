/**
 * Network configurations of the Container Network Interface: a list of plugins that run one after the other.
 * Upstream: NetworkConfFromBytes, ConfListFromConf and InjectConf of libcni.
 */
import { kubeletError } from "../errors.ts";
import { isJsonObject, parseJson } from "../json.ts";
import { isPathSegment } from "../pathSegment.ts";
import { err, ok, type Result } from "../result.ts";
import { chooseCniVersion, type CniVersion } from "./cniVersion.ts";

/** More plugins than any network chains. */
const MAX_PLUGINS = 64;
const MAX_VERSIONS = 64;
const NETWORK_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

type Document = Readonly<Record<string, unknown>>;

/** A plugin of a network. */
export interface PluginConfig {
  /** Name of its program. */
  readonly type: string;
  /** Runtime configuration that it takes, such as `portMappings`. */
  readonly capabilities: readonly string[];
  /** Configuration as written. */
  readonly document: Document;
}

/** A network. */
export interface NetworkList {
  readonly name: string;
  readonly cniVersion: CniVersion;
  /** Whether CHECK is left out. */
  readonly disableCheck: boolean;
  /** Whether GC is left out. */
  readonly disableGc: boolean;
  /** Whether plugins in files of a directory named after the network are left out. */
  readonly loadOnlyInlinedPlugins: boolean;
  /** Plugins in the order of ADD, MAX_PLUGINS at most. */
  readonly plugins: readonly PluginConfig[];
  /** The whole list as JSON: what the cache of results keeps. */
  readonly text: string;
}

const wrong = (message: string): Result<never> => err(kubeletError("InvalidArgument", message));

/** Parses the content of a `.conflist` file. It may have no plugins yet. Errors: InvalidArgument without the path. */
export function parseNetworkList(text: string): Result<NetworkList> {
  const document = parseJson(text);
  return isJsonObject(document) ? listOf(document) : wrong("it is not a JSON object");
}

/** Parses the content of a `.conf` or `.json` file, which is one plugin, into a list of that plugin. */
export function parseSingleNetwork(text: string): Result<NetworkList> {
  const document = parseJson(text);
  if (!isJsonObject(document)) return wrong("it is not a JSON object");
  if (document["type"] === undefined) return wrong("it has no type; a list of plugins must be in a .conflist file");
  const { name, cniVersion } = document;
  return listOf({ name, ...(cniVersion === undefined ? {} : { cniVersion }), plugins: [document] });
}

/** Parses the content of a file with a further plugin of a network. */
export function parsePluginConfig(text: string): Result<PluginConfig> {
  return pluginOf(parseJson(text));
}

/** Returns the list with further plugins at its end. Errors: InvalidArgument for too many or none in all. */
export function withPlugins(list: NetworkList, more: readonly PluginConfig[]): Result<NetworkList> {
  const plugins = [...list.plugins, ...more];
  if (plugins.length === 0) return wrong("it has no plugins");
  if (plugins.length > MAX_PLUGINS) return wrong(`it has more than ${MAX_PLUGINS} plugins`);
  if (more.length === 0) return ok(list);
  const whole = parseJson(list.text) as Document;
  return ok({ ...list, plugins, text: JSON.stringify({ ...whole, plugins: plugins.map(({ document }) => document) }) });
}

function listOf(document: Document): Result<NetworkList> {
  const { name, cniVersion, cniVersions = [], plugins = [] } = document;
  if (typeof name !== "string" || !isNetworkName(name)) {
    return wrong(`name ${JSON.stringify(name)} is not a network name: letters, digits and _.- only`);
  }
  if (cniVersion !== undefined && typeof cniVersion !== "string") return wrong("cniVersion is not a text");
  if (!isTexts(cniVersions) || cniVersions.length > MAX_VERSIONS) {
    return wrong(`cniVersions is not a list of at most ${MAX_VERSIONS} texts`);
  }
  const version = chooseCniVersion(cniVersion, cniVersions);
  if (!version.ok) return version;
  const switches = ["disableCheck", "disableGC", "loadOnlyInlinedPlugins"].map((key) => switchOf(document[key]));
  const [disableCheck, disableGc, loadOnlyInlinedPlugins] = switches;
  if (disableCheck === undefined || disableGc === undefined || loadOnlyInlinedPlugins === undefined) {
    return wrong("disableCheck, disableGC and loadOnlyInlinedPlugins are true or false");
  }
  if (!Array.isArray(plugins) || plugins.length > MAX_PLUGINS) {
    return wrong(`plugins is not a list of at most ${MAX_PLUGINS} plugins`);
  }
  if (plugins.length === 0 && (document["plugins"] !== undefined || loadOnlyInlinedPlugins)) {
    return wrong("it has no plugins");
  }
  const read: PluginConfig[] = [];
  for (const [index, each] of plugins.entries()) {
    const plugin = pluginOf(each);
    if (!plugin.ok) return wrong(`plugins[${index}]: ${plugin.error.message}`);
    read.push(plugin.value);
  }
  const text = JSON.stringify(document);
  const list = { name, cniVersion: version.value, disableCheck, disableGc, loadOnlyInlinedPlugins };
  return ok({ ...list, plugins: read, text });
}

function pluginOf(document: unknown): Result<PluginConfig> {
  if (!isJsonObject(document)) return wrong("it is not a JSON object");
  const { type, capabilities = {} } = document;
  if (typeof type !== "string" || type === "") return wrong("it has no type");
  if (!isPathSegment(type)) return wrong(`type ${JSON.stringify(type)} is not the name of a program`);
  if (!isJsonObject(capabilities) || !Object.values(capabilities).every((value) => typeof value === "boolean")) {
    return wrong("capabilities is not an object of true and false");
  }
  const taken = Object.keys(capabilities).filter((name) => capabilities[name] === true);
  return ok({ type, capabilities: taken, document });
}

/** Returns whether the text can name a network. */
export const isNetworkName = (text: string): boolean => NETWORK_NAME.test(text) && isPathSegment(text);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** Reads `true`, `"True"` and the like; undefined for a value that is no switch. */
function switchOf(value: unknown): boolean | undefined {
  if (value === undefined || value === false) return false;
  if (value === true) return true;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  return text === "true" ? true : text === "false" ? false : undefined;
}

/** Values that rxlet adds to the configuration of a plugin. */
export interface PluginInput {
  /** Result of the plugin before it, in the version of the list. */
  readonly prevResult?: object;
  /** Runtime configuration by capability; a plugin gets what it declares. */
  readonly capabilityArgs?: Readonly<Record<string, unknown>>;
  /** Attachments that exist, for GC. */
  readonly attachments?: readonly { readonly containerID: string; readonly ifname: string }[];
}

/** Returns the standard input of a plugin. */
export function pluginInput(
  { name, cniVersion }: NetworkList,
  { document, capabilities }: PluginConfig,
  { prevResult, capabilityArgs = {}, attachments }: PluginInput = {},
): string {
  const taken = capabilities.filter((capability) => Object.hasOwn(capabilityArgs, capability));
  const runtimeConfig = Object.fromEntries(taken.map((capability) => [capability, capabilityArgs[capability]]));
  return JSON.stringify({
    ...document,
    name,
    cniVersion,
    ...(prevResult === undefined ? {} : { prevResult }),
    ...(taken.length === 0 ? {} : { runtimeConfig }),
    // Version 1.1.0 has the second name; its first implementations read the other.
    ...(attachments === undefined
      ? {}
      : { "cni.dev/valid-attachments": attachments, "cni.dev/attachments": attachments }),
  });
}
