/**
 * The commands of the specification on whole networks: plugins run one after the other, each with the result of the
 * one before. Upstream: AddNetworkList, DelNetworkList, CheckNetworkList, GCNetworkList, ValidateNetworkList of libcni.
 */
import { type CniResult, formatCniResult, parseCniResult } from "../core/cni/cniResult.ts";
import { type CniVersion, CURRENT_CNI_VERSION, isAtLeast } from "../core/cni/cniVersion.ts";
import { type NetworkList, type PluginConfig, type PluginInput, pluginInput } from "../core/cni/networkList.ts";
import { isBeforeVersions, quotedText, supportedVersions } from "../core/cni/pluginAnswer.ts";
import type { CniArgs, CniCommand, PluginCall } from "../core/cni/sandboxArgs.ts";
import { kubeletError } from "../core/errors.ts";
import { parseJson } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import { callPlugin, type Limit, limitOf, pluginFault, type PluginPlace, type PluginTask } from "./callPlugin.ts";

/** A sandbox that joins, leaves or is checked. */
export interface SandboxCall {
  readonly id: string;
  /** Path of the namespace; empty once it is gone. */
  readonly netns: string;
  readonly ifName: string;
  readonly args: CniArgs;
  readonly capabilityArgs: Readonly<Record<string, unknown>>;
}

const callOf = (command: CniCommand, { id, netns, ifName, args }: SandboxCall): PluginCall => ({
  command,
  id,
  netns,
  ifName,
  args,
});

const NO_SANDBOX: SandboxCall = { id: "", netns: "", ifName: "", args: [], capabilityArgs: {} };

/** Adds the sandbox to the network. Errors: those of the first plugin that fails; the caller undoes the others. */
export async function addToNetwork(
  list: NetworkList,
  sandbox: SandboxCall,
  place: PluginPlace,
): Promise<Result<CniResult>> {
  const limit = limitOf(place.deadlineMs, place);
  let result: CniResult | undefined;
  for (const plugin of list.plugins) {
    const added = await addOnce(list, plugin, result, sandbox, place, limit);
    if (!added.ok) return added;
    result = added.value;
  }
  return ok(result ?? { interfaces: [], ips: [], routes: [], dns: {} });
}

async function addOnce(
  list: NetworkList,
  plugin: PluginConfig,
  before: CniResult | undefined,
  sandbox: SandboxCall,
  place: PluginPlace,
  limit: Limit,
): Promise<Result<CniResult>> {
  const previous = before === undefined ? undefined : formatCniResult(before, list.cniVersion);
  if (previous?.ok === false) return previous;
  const given = { capabilityArgs: sandbox.capabilityArgs, ...prevResultOf(previous?.value) };
  const task = taskOf(list, plugin, callOf("ADD", sandbox), given);
  const answered = await callPlugin(task, place, limit);
  if (!answered.ok) return err(answered.error);
  const value = parseJson(answered.value);
  if (value === undefined) {
    return err(pluginFault(task, "Io", `it printed no JSON: ${quotedText(answered.value) || "nothing"}`));
  }
  const parsed = parseCniResult(value, list.cniVersion);
  return parsed.ok ? parsed : err(pluginFault(task, "Io", parsed.error.message));
}

const prevResultOf = (prevResult: object | undefined): PluginInput => (prevResult === undefined ? {} : { prevResult });

const taskOf = (list: NetworkList, plugin: PluginConfig, call: PluginCall, given: PluginInput): PluginTask => ({
  network: list.name,
  type: plugin.type,
  call,
  input: pluginInput(list, plugin, given),
});

/** Runs a command on plugins in this order; ends at the first failure. */
async function onEach(
  list: NetworkList,
  plugins: readonly PluginConfig[],
  wanted: PluginCall,
  given: PluginInput,
  place: PluginPlace,
  limit: Limit,
): Promise<Result<void>> {
  for (const plugin of plugins) {
    const answered = await callPlugin(taskOf(list, plugin, wanted, given), place, limit);
    if (!answered.ok) return err(answered.error);
  }
  return ok(undefined);
}

/**
 * Removes the sandbox from the network, the last plugin first; succeeds where it is not on the network. `result` is
 * that of ADD, in the version of the list, where it is known.
 */
export function removeFromNetwork(
  list: NetworkList,
  sandbox: SandboxCall,
  result: object | undefined,
  place: PluginPlace,
  limitMs: number,
): Promise<Result<void>> {
  const given = {
    capabilityArgs: sandbox.capabilityArgs,
    ...prevResultOf(isAtLeast(list.cniVersion, "0.4.0") ? result : undefined),
  };
  const limit = limitOf(limitMs, place);
  return onEach(list, list.plugins.toReversed(), callOf("DEL", sandbox), given, place, limit);
}

/** Checks that the sandbox is still on the network. Errors: Unimplemented for a network before version 0.4.0. */
export async function checkInNetwork(
  list: NetworkList,
  sandbox: SandboxCall,
  result: object | undefined,
  place: PluginPlace,
): Promise<Result<void>> {
  if (!isAtLeast(list.cniVersion, "0.4.0")) {
    const why = `network ${JSON.stringify(list.name)} of version ${list.cniVersion} does not support the CHECK command`;
    return err(kubeletError("Unimplemented", why));
  }
  if (list.disableCheck) return ok(undefined);
  const given = { capabilityArgs: sandbox.capabilityArgs, ...prevResultOf(result) };
  return onEach(list, list.plugins, callOf("CHECK", sandbox), given, place, limitOf(place.deadlineMs, place));
}

/** Asks the plugins whether they can add sandboxes now. A network before version 1.1.0 always can. */
export function askStatus(list: NetworkList, place: PluginPlace): Promise<Result<void>> {
  if (!isAtLeast(list.cniVersion, "1.1.0")) return Promise.resolve(ok(undefined));
  return onEach(list, list.plugins, callOf("STATUS", NO_SANDBOX), {}, place, limitOf(place.askMs, place));
}

/** Whether the network has the command GC, which is none before version 1.1.0. */
export const collectsLeftovers = ({ disableGc, cniVersion }: NetworkList): boolean =>
  !disableGc && isAtLeast(cniVersion, "1.1.0");

/** Lets the plugins remove leftovers of all but these attachments. Does nothing in a network without GC. */
export function collectInNetwork(
  list: NetworkList,
  attachments: NonNullable<PluginInput["attachments"]>,
  place: PluginPlace,
  limitMs: number,
): Promise<Result<void>> {
  if (!collectsLeftovers(list)) return Promise.resolve(ok(undefined));
  const limit = limitOf(limitMs, place);
  return onEach(list, list.plugins, callOf("GC", NO_SANDBOX), { attachments }, place, limit);
}

/** Confirms that all plugins of the list are installed and speak its version. */
export async function validatePlugins(list: NetworkList, place: PluginPlace): Promise<Result<void>> {
  for (const plugin of list.plugins) {
    const versions = await versionsOf(list, plugin, place);
    if (!versions.ok) return versions;
    if (!versions.value.includes(list.cniVersion)) {
      const type = JSON.stringify(plugin.type);
      return err(kubeletError("Unimplemented", `plugin ${type} does not support version ${list.cniVersion}`));
    }
  }
  return ok(undefined);
}

async function versionsOf(
  list: NetworkList,
  plugin: PluginConfig,
  place: PluginPlace,
): Promise<Result<readonly string[]>> {
  // Plugins that are older than the command check these values first.
  const call: PluginCall = { command: "VERSION", id: "", netns: "dummy", ifName: "dummy", args: [] };
  const task = {
    network: list.name,
    type: plugin.type,
    call,
    input: JSON.stringify({ cniVersion: CURRENT_CNI_VERSION }),
  };
  const answered = await callPlugin(task, place, limitOf(place.askMs, place));
  if (!answered.ok)
    return answered.failed !== undefined && isBeforeVersions(answered.failed) ? ok(["0.1.0"]) : err(answered.error);
  const versions = supportedVersions(answered.value);
  return versions.ok ? versions : err(pluginFault(task, "Io", versions.error.message));
}

/** Returns a cached result in the version of the list; undefined for one that has no form in it. */
export function cachedResult(result: object | undefined, cniVersion: CniVersion): object | undefined {
  if (result === undefined) return undefined;
  const parsed = parseCniResult(result, cniVersion);
  if (!parsed.ok) return undefined;
  const formatted = formatCniResult(parsed.value, cniVersion);
  return formatted.ok ? formatted.value : undefined;
}
