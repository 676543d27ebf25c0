/**
 * The network of a node: the first valid configuration of a directory, by file name, whose plugins are installed.
 * Bounds: MAX_FILES of the directory, MAX_BYTES of a file. Upstream: getDefaultCNINetwork of the dockershim.
 */
import * as fs from "node:fs/promises";
import { extname, join } from "node:path";
import {
  type NetworkList,
  parseNetworkList,
  parsePluginConfig,
  parseSingleNetwork,
  type PluginConfig,
  withPlugins,
} from "../core/cni/networkList.ts";
import { kubeletError, toKubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { err, ok, type Result } from "../core/result.ts";
import { listDirectory } from "../fileSystem/listDirectory.ts";
import { readWhole } from "../fileSystem/regularFile.ts";

const EXTENSIONS: ReadonlySet<string> = new Set([".conf", ".conflist", ".json"]);
const MAX_FILES = 1024;
const MAX_BYTES = 1024 * 1024;

/** A configuration that is passed over. */
export interface NetworkFault {
  readonly path: string;
  readonly why: string;
}

/** The network of the directory, if it has one, and the faults of files before it. */
export interface FoundNetwork {
  readonly path?: string;
  readonly list?: NetworkList;
  readonly faults: readonly NetworkFault[];
}

/** Reads the directory, which may be missing. `validate` confirms that the plugins of a list can be used. */
export async function readNetwork(
  directory: string,
  validate: (list: NetworkList) => Promise<Result<void>>,
): Promise<FoundNetwork> {
  const faults: NetworkFault[] = [];
  const names = await configNames(directory);
  if (!names.ok) return { faults: [{ path: directory, why: names.error.message }] };
  for (const name of names.value) {
    const path = join(directory, name);
    const list = await readList(directory, path);
    const validated = list.ok ? await validate(list.value) : list;
    if (list.ok && validated.ok) return { path, list: list.value, faults };
    if (!validated.ok) faults.push({ path, why: validated.error.message });
  }
  return { faults };
}

/** Returns whether the directory has a file that may be a configuration. */
export async function hasConfigurations(directory: string): Promise<boolean> {
  const names = await configNames(directory);
  return names.ok && names.value.length > 0;
}

/** Returns names of configurations in their order. A missing directory has none. */
async function configNames(directory: string): Promise<Result<readonly string[]>> {
  try {
    const entries = await listDirectory(directory, MAX_FILES);
    const names = entries.filter((entry) => !entry.isDirectory() && EXTENSIONS.has(extname(entry.name)));
    return ok(names.map(({ name }) => name).toSorted());
  } catch (thrown) {
    return errnoOf(thrown) === "ENOENT" ? ok([]) : err(ioError("list", directory, thrown));
  }
}

async function readList(directory: string, path: string): Promise<Result<NetworkList>> {
  try {
    const text = await read(path);
    if (extname(path) !== ".conflist") return parseSingleNetwork(text);
    const list = parseNetworkList(text);
    if (!list.ok) return list;
    const more = list.value.loadOnlyInlinedPlugins ? ok([]) : await furtherPlugins(join(directory, list.value.name));
    return more.ok ? withPlugins(list.value, more.value) : more;
  } catch (thrown) {
    return err(toKubeletError(thrown));
  }
}

/** Reads plugins in files of their own, in a directory named after the network; it may be missing. */
async function furtherPlugins(directory: string): Promise<Result<readonly PluginConfig[]>> {
  const plugins: PluginConfig[] = [];
  const names = await configNames(directory);
  if (!names.ok) return names;
  for (const name of names.value.filter((each) => extname(each) === ".conf")) {
    const plugin = parsePluginConfig(await read(join(directory, name)));
    if (!plugin.ok) return err(kubeletError("InvalidArgument", `${join(directory, name)}: ${plugin.error.message}`));
    plugins.push(plugin.value);
  }
  return ok(plugins);
}

/** Reads a file of the operator, who may have linked it. */
async function read(path: string): Promise<string> {
  try {
    return (await readWhole(path, MAX_BYTES, { links: "followed" })).toString("utf8");
  } catch (thrown) {
    throw ioError("read", path, thrown);
  }
}

/** Returns a text that changes with the programs of the directories: names that appear, go or are replaced. */
export async function programsVersion(binDirs: readonly string[]): Promise<string> {
  const times = binDirs.map(async (directory) => {
    const stats = await fs.stat(directory, { bigint: true }).catch(() => undefined);
    return String(stats?.mtimeNs ?? "");
  });
  return (await Promise.all(times)).join(" ");
}
