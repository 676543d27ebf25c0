/**
 * The network of the dockershim's sandboxes by plugins of the Container Network Interface. State: the files of
 * attachments, and the ids of sandboxes that this process added. Upstream: cniNetworkPlugin of the dockershim.
 */
import { type Attachment, isLeft } from "../core/cni/attachment.ts";
import { podIps } from "../core/cni/cniResult.ts";
import { type NetworkList, parseNetworkList } from "../core/cni/networkList.ts";
import {
  capabilityArgsOf,
  cniArgsOf,
  LOOPBACK_INTERFACE,
  POD_INTERFACE,
  sandboxFault,
} from "../core/cni/sandboxArgs.ts";
import { kubeletError } from "../core/errors.ts";
import { err, ok, type Result, valueOf } from "../core/result.ts";
import type { NetworkedSandbox, PodNetwork } from "../dockershim/podNetwork.ts";
import { openAttachmentFiles } from "./attachmentFiles.ts";
import { attach, type AttachmentPlace, checkAttached, detach, existing } from "./attachments.ts";
import { limitOf, type PluginPlace } from "./callPlugin.ts";
import { type CniLog, createNetworkChoice, type NetworkChoice } from "./networkChoice.ts";
import { collectInNetwork, collectsLeftovers, type SandboxCall } from "./networkCommands.ts";
import { createSandboxQueue } from "./sandboxQueue.ts";
import { createSharedLock, type SharedLock } from "./sharedLock.ts";

/** Time for all plugins of one ADD, DEL or CHECK: upstream's, below the kubelet's limit of four minutes. */
const DEADLINE_MS = 220_000;
/** Time to undo a failed ADD, and to remove a leftover. */
const UNDO_MS = 20_000;
const ASK_MS = 10_000;
/** Time for all plugins of a GC, and time that it waits for sandboxes that join or leave: others wait for both. */
const GC_MS = 10_000;
const GC_WAIT_MS = 5_000;
const BUSY_PAUSE_MS = 1_000;
const NOT_READY = "NetworkPluginNotReady";

/** Directories, and times for tests. */
export interface CniOptions {
  /** Directory of configurations, such as `/etc/cni/net.d`. */
  readonly confDir: string;
  /** Directories of plugins. */
  readonly binDirs: readonly string[];
  /** Directory of attachments. */
  readonly cacheDir: string;
  readonly log: CniLog;
  readonly deadlineMs?: number;
  readonly undoMs?: number;
  readonly askMs?: number;
  readonly busyPauseMs?: number;
  readonly gcWaitMs?: number;
  readonly gcMs?: number;
}

/** A sandbox whose network is removed or checked. */
type Known = Pick<NetworkedSandbox, "id" | "namespace" | "name" | "uid" | "netns">;

/** The network of a node by plugins. */
export interface CniNetwork extends PodNetwork {
  /** Sets the range of the node's pods. The first one stays, as upstream: no plugin supports a change. */
  updatePodCidr(podCidr: string): void;
  /** Checks that a sandbox is still on its networks. */
  check(sandbox: Known): Promise<Result<void>>;
  /**
   * Removes attachments of sandboxes that are gone, where only these exist; then plugins remove their leftovers. Returns false
   * where one could not be removed, or a sandbox that joined or left kept the plugins out.
   */
  sweep(live: ReadonlySet<string>): Promise<boolean>;
  /** Kills plugins that run; later calls fail. */
  close(): void;
}

/** Version 0.3.1 is the oldest that has interfaces, and every loopback plugin speaks it. */
const LOOPBACK: NetworkList = valueOf(
  parseNetworkList(JSON.stringify({ cniVersion: "0.3.1", name: "cni-loopback", plugins: [{ type: "loopback" }] })),
);

interface State extends AttachmentPlace {
  readonly choice: NetworkChoice;
  /** Sandboxes that this process added. */
  readonly added: Set<string>;
  readonly undoMs: number;
  readonly gcWaitMs: number;
  readonly gcMs: number;
  /** ADD and DEL share it, GC does not: its list of attachments would lack those that an ADD begins meanwhile. */
  readonly lock: SharedLock;
  podCidr: string;
}

/** Opens the network; resolves after the first look at the configurations, whether one is valid or not. */
export async function createCniNetwork(options: CniOptions): Promise<CniNetwork> {
  const { confDir, binDirs, cacheDir, log, deadlineMs = DEADLINE_MS, undoMs = UNDO_MS } = options;
  const { askMs = ASK_MS, busyPauseMs = BUSY_PAUSE_MS, gcWaitMs = GC_WAIT_MS, gcMs = GC_MS } = options;
  const closing = new AbortController();
  const plugins: PluginPlace = { binDirs, deadlineMs, askMs, busyPauseMs, closing: closing.signal };
  const files = openAttachmentFiles(cacheDir);
  const choice = createNetworkChoice(confDir, plugins, log);
  const lock = createSharedLock();
  const times = { undoMs, gcWaitMs, gcMs };
  const state: State = { files, plugins, log, choice, added: new Set(), ...times, lock, podCidr: "" };
  const queue = createSandboxQueue();
  const inTurn = <T>(sandbox: Known, task: () => Promise<Result<T>>): Promise<Result<T>> => {
    const fault = sandboxFault(sandbox);
    return fault === undefined ? queue.run(sandbox.id, task) : Promise.resolve(err(fault));
  };
  await files.removeUnfinished();
  await choice.refresh();
  return {
    add: (sandbox) => inTurn(sandbox, () => lock.shared(() => addSandbox(sandbox, state))),
    remove: (sandbox) => inTurn(sandbox, () => lock.shared(() => removeSandbox(sandbox, state, deadlineMs))),
    check: (sandbox) => inTurn(sandbox, () => checkSandbox(sandbox, state)),
    status: () => {
      // The kubelet asks every few seconds: each answer is that of the look before.
      if (!closing.signal.aborted) choice.refresh().catch(() => undefined);
      const message = choice.fault(state.podCidr) ?? choice.statusFault();
      return message === undefined ? { ready: true } : { ready: false, reason: NOT_READY, message };
    },
    updatePodCidr: (podCidr) => {
      if (podCidr === "" || podCidr === state.podCidr) return;
      if (state.podCidr === "") state.podCidr = podCidr;
      else log.warn("Ignoring a change of the pod range", { podCidr, kept: state.podCidr });
    },
    sweep: async (live) => {
      const left = await leftAttachments(live, state);
      let isClean = true;
      for (const { id, netns } of left) {
        log.info("Removing the network of a sandbox that is gone", { sandbox: id, netns });
        // The recorded namespace may be that of another process now.
        const gone = { id, namespace: "", name: "", uid: "", netns: "" };
        const removed = await queue.run(id, () => lock.shared(() => removeSandbox(gone, state, undoMs)));
        if (removed.ok) continue;
        isClean = false;
        log.warn("Cannot remove the network of a sandbox that is gone", { error: removed.error });
      }
      return (await collect(state)) && isClean;
    },
    close: () => closing.abort(),
  };
}

async function addSandbox(
  sandbox: NetworkedSandbox,
  state: State,
): Promise<Result<{ readonly ips: readonly string[] }>> {
  const { choice, log } = state;
  await choice.look();
  const list = choice.network();
  const fault = choice.fault(state.podCidr);
  if (list === undefined || fault !== undefined) {
    return err(kubeletError("Unavailable", fault ?? "", { reason: NOT_READY }));
  }
  if (sandbox.netns === "")
    return err(kubeletError("InvalidArgument", `sandbox ${sandbox.id} has no network namespace`));
  const wished = capabilityArgsOf(sandbox, state.podCidr);
  if (!wished.ok) return wished;
  const call: SandboxCall = {
    id: sandbox.id,
    netns: sandbox.netns,
    ifName: POD_INTERFACE,
    args: cniArgsOf(sandbox),
    capabilityArgs: wished.value,
  };
  state.added.add(sandbox.id);
  const added = await addBoth(list, call, state);
  if (added.ok) return added;
  const undone = await removeSandbox(sandbox, state, state.undoMs);
  if (!undone.ok) log.warn("Cannot undo a failed ADD", { sandbox: sandbox.id, error: undone.error });
  return added;
}

/** Adds the sandbox to the loopback network, then to the pod network. */
async function addBoth(list: NetworkList, call: SandboxCall, state: State) {
  const looped = await attach(LOOPBACK, { ...call, ifName: LOOPBACK_INTERFACE, capabilityArgs: {} }, state);
  if (!looped.ok) return looped;
  const added = await attach(list, call, state);
  if (!added.ok) return added;
  const ips = podIps(added.value, POD_INTERFACE);
  if (ips.length > 0) return ok({ ips });
  return err(kubeletError("Io", `network ${JSON.stringify(list.name)} gave sandbox ${call.id} no IP address`));
}

/** Removes the sandbox from all networks it may be on; succeeds where it is on none. */
async function removeSandbox(sandbox: Known, state: State, limitMs: number): Promise<Result<void>> {
  const { files, choice, log } = state;
  const found = await files.list(sandbox.id);
  if (!found.ok) return found;
  const attachments = found.value.flatMap(({ attachment }) => attachment ?? []);
  const how = { netns: sandbox.netns, present: choice.network(), limitMs };
  for (const attachment of withUnrecorded(attachments, sandbox, how.present)) {
    const removed = await detach(attachment, how, state);
    if (!removed.ok) return removed;
  }
  for (const { name } of found.value.filter(({ attachment }) => attachment === undefined)) {
    log.warn("Removing a file that is no attachment", { file: name });
    await files.removeFile(name);
  }
  state.added.delete(sandbox.id);
  return ok(undefined);
}

/**
 * Returns the attachments, the loopback interface last. A sandbox without a record may be on the present network: an
 * earlier runtime added it with another directory of attachments.
 */
function withUnrecorded(
  attachments: readonly Attachment[],
  sandbox: Known,
  present: NetworkList | undefined,
): readonly Attachment[] {
  const isLoopback = ({ ifName }: Attachment): boolean => ifName === LOOPBACK_INTERFACE;
  const loops = attachments.filter(isLoopback);
  const others = attachments.filter((attachment) => !isLoopback(attachment));
  if (others.length > 0 || present === undefined) return [...others, ...loops];
  const { id, netns } = sandbox;
  const args = cniArgsOf(sandbox);
  const key = { network: present.name, id, ifName: POD_INTERFACE };
  return [{ ...key, config: present.text, netns, args, capabilityArgs: {} }, ...loops];
}

async function checkSandbox({ id }: Known, state: State): Promise<Result<void>> {
  const found = await state.files.list(id);
  if (!found.ok) return found;
  const attachments = found.value.flatMap(({ attachment }) => attachment ?? []);
  const pods = attachments.filter(({ ifName }) => ifName !== LOOPBACK_INTERFACE);
  if (pods.length === 0) return err(kubeletError("NotFound", `sandbox ${id} is on no network`));
  for (const attachment of pods) {
    const checked = await checkAttached(attachment, state);
    if (!checked.ok) return checked;
  }
  return ok(undefined);
}

/** Returns one attachment of each sandbox that is gone. */
async function leftAttachments(
  live: ReadonlySet<string>,
  { files, added, log }: State,
): Promise<readonly Attachment[]> {
  const found = await files.list();
  if (!found.ok) {
    log.warn("Cannot list the networks of sandboxes", { error: found.error });
    return [];
  }
  const left = new Map<string, Attachment>();
  for (const { attachment } of found.value) {
    if (attachment === undefined || added.has(attachment.id)) continue;
    const netnsExists = (await existing(attachment.netns)) !== "";
    if (isLeft(attachment, live, netnsExists)) left.set(attachment.id, attachment);
  }
  return [...left.values()];
}

/** Lets the plugins of the present network remove leftovers of attachments that have no file. Returns false if they were kept out. */
async function collect({ choice, files, plugins, log, lock, gcWaitMs, gcMs }: State): Promise<boolean> {
  const collectAlone = async (): Promise<void> => {
    const list = choice.network();
    const found = await files.list();
    if (list === undefined || !found.ok) return;
    const kept = found.value.flatMap(({ attachment }) => (attachment?.network === list.name ? [attachment] : []));
    const attachments = kept.map(({ id, ifName }) => ({ containerID: id, ifname: ifName }));
    const collected = await collectInNetwork(list, attachments, plugins, gcMs);
    if (!collected.ok) log.warn("Plugins cannot remove leftovers", { error: collected.error });
  };
  const present = choice.network();
  if (present === undefined || !collectsLeftovers(present)) return true;
  const isDone = await lock.exclusive(collectAlone, limitOf(gcWaitMs, plugins).signal);
  if (!isDone) log.warn("Plugins remove no leftovers now: a sandbox joins or leaves a network for long");
  return isDone;
}
