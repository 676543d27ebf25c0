/**
 * Attaches sandboxes to networks and detaches them, with a file for each attachment that exists or may exist: it is
 * written before ADD and removed after DEL, so a kill at any moment leaves a file for what is left.
 */
import * as fs from "node:fs/promises";
import type { Attachment, AttachmentKey } from "../core/cni/attachment.ts";
import { type CniResult, formatCniResult } from "../core/cni/cniResult.ts";
import { type NetworkList, parseNetworkList } from "../core/cni/networkList.ts";
import { LOOPBACK_INTERFACE } from "../core/cni/sandboxArgs.ts";
import { errnoOf } from "../core/ioError.ts";
import { ok, type Result } from "../core/result.ts";
import type { AttachmentFiles } from "./attachmentFiles.ts";
import type { PluginPlace } from "./callPlugin.ts";
import type { CniLog } from "./networkChoice.ts";
import { addToNetwork, cachedResult, checkInNetwork, removeFromNetwork, type SandboxCall } from "./networkCommands.ts";

/** Dependencies of these calls. */
export interface AttachmentPlace {
  readonly files: AttachmentFiles;
  readonly plugins: PluginPlace;
  readonly log: CniLog;
}

/** Adds the sandbox to the network. A failure leaves the file, so that `detach` undoes the plugins that succeeded. */
export async function attach(
  list: NetworkList,
  call: SandboxCall,
  { files, plugins }: AttachmentPlace,
): Promise<Result<CniResult>> {
  const begun: Attachment = { network: list.name, config: list.text, ...call };
  const written = await files.write(begun);
  if (!written.ok) return written;
  const added = await addToNetwork(list, call, plugins);
  if (!added.ok) return added;
  // A result without a form in its version has no address, which the caller refuses.
  const result = formatCniResult(added.value, list.cniVersion);
  const kept = await files.write({ ...begun, ...(result.ok ? { result: result.value } : {}) });
  return kept.ok ? added : kept;
}

/** How a sandbox is detached. */
export interface Detachment {
  /** Path of its namespace; empty once it is gone. */
  readonly netns: string;
  /** The present network, for an attachment whose own configuration cannot be read. */
  readonly present: NetworkList | undefined;
  readonly limitMs: number;
}

/** Removes the sandbox from the network with the configuration of its ADD, then the file. */
export async function detach(
  attachment: Attachment,
  { netns, present, limitMs }: Detachment,
  { files, plugins, log }: AttachmentPlace,
): Promise<Result<void>> {
  const own = parseNetworkList(attachment.config);
  const list = own.ok ? own.value : present?.name === attachment.network ? present : undefined;
  if (list === undefined) {
    log.warn("No configuration is left to remove a sandbox from a network", keyOf(attachment));
  } else {
    const call = { ...attachment, netns: await existing(netns) };
    const result = cachedResult(attachment.result, list.cniVersion);
    const removed = await removeFromNetwork(list, call, result, plugins, limitMs);
    if (!removed.ok && attachment.ifName !== LOOPBACK_INTERFACE) return removed;
    // The loopback interface goes with its namespace.
    if (!removed.ok) log.warn("Cannot remove a loopback interface", { ...keyOf(attachment), error: removed.error });
  }
  await files.remove(attachment);
  return ok(undefined);
}

/** Checks that the sandbox is on the network as ADD left it. */
export function checkAttached(attachment: Attachment, { plugins }: AttachmentPlace): Promise<Result<void>> {
  const own = parseNetworkList(attachment.config);
  if (!own.ok) return Promise.resolve(own);
  const result = cachedResult(attachment.result, own.value.cniVersion);
  return checkInNetwork(own.value, attachment, result, plugins);
}

const keyOf = ({ network, id, ifName }: AttachmentKey) => ({ network, id, ifName });

/** Returns the path of a namespace; empty if it is gone, which the specification has plugins accept. */
export async function existing(netns: string): Promise<string> {
  if (netns === "") return "";
  const isGone = await fs.stat(netns).then(
    () => false,
    (thrown: unknown) => errnoOf(thrown) === "ENOENT",
  );
  return isGone ? "" : netns;
}
