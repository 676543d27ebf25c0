/**
 * Sandboxes in a network of ours. A file per sandbox, written before it is connected and with its addresses after, lets
 * the next shim know what is connected, and what a killed one left half connected or in no container. Bounds: 16 MiB
 * per file as for a message of CRI, 65,536 files, `MAX_DONE` ids of disconnected sandboxes.
 */
import fs from "node:fs/promises";
import path from "node:path";
import { status } from "@grpc/grpc-js";
import { isJsonObject, parseJson } from "../core/json.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { readWhole } from "../fileSystem/regularFile.ts";
import { messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import type { ContainerSummary } from "./engine/answers.ts";
import { hasOurNetwork } from "./mapping/names.ts";
import type { SandboxNetwork } from "./mapping/sandboxMessages.ts";
import type { NetworkedSandbox, PodNetwork } from "./podNetwork.ts";

/** See the file header. */
export interface SandboxNetworks {
  /** Undefined: sandboxes are on Docker's bridge. */
  readonly podNetwork: PodNetwork | undefined;
  /** Rejects with UNAVAILABLE where the network refuses; nothing is connected then, or the file stays for a sweep. */
  connect(sandbox: NetworkedSandbox): Promise<void>;
  /**
   * Disconnects a sandbox that `connect` knows, or else one as its container describes it: another shim connected it, or
   * its file is lost. `netns` is empty once its process has ended.
   */
  disconnect(id: string, netns: string, described?: NetworkedSandbox): Promise<void>;
  /** The network of a sandbox with these addresses of Docker; those of a stranger are not known here. */
  of(sandbox: Pick<ContainerSummary, "id" | "networkMode" | "labels">, addresses: readonly string[]): SandboxNetwork;
  /** Whether a file says that the sandbox is connected, or may be. */
  has(id: string): boolean;
  /**
   * Disconnects sandboxes whose container is gone, and all that the network itself has recorded where `isWhole`. Returns whether
   * all could be disconnected. Rejects as `existing` does, which lists the containers.
   */
  sweep(existing: () => Promise<ReadonlySet<string>>, isWhole: boolean): Promise<boolean>;
}

interface Recorded {
  readonly sandbox: NetworkedSandbox;
  /** Undefined while it is being connected. */
  readonly ips: readonly string[] | undefined;
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_DONE = 16_384;
const FILE = /^([0-9a-f]{64})\.json$/;
const UNCONNECTED: SandboxNetwork = { connected: false, ips: [] };

/** Reads the files of an earlier shim. */
export async function openSandboxNetworks(
  stateDir: string,
  podNetwork: PodNetwork | undefined,
  report: (line: string) => void,
): Promise<SandboxNetworks> {
  const dir = path.join(stateDir, "sandboxes");
  await makeDirectories(dir, 0o700);
  const records = await readRecords(dir, report);
  const put = async (record: Recorded): Promise<void> => {
    const file = path.join(dir, `${record.sandbox.id}.json`);
    await fs.writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    await fs.rename(`${file}.new`, file);
    records.set(record.sandbox.id, record);
  };
  const done = new Set<string>();
  const disconnect = async (id: string, netns: string, described?: NetworkedSandbox): Promise<void> => {
    const sandbox = records.get(id)?.sandbox ?? (done.has(id) ? undefined : described);
    if (sandbox === undefined || podNetwork === undefined) return;
    const removed = await podNetwork.remove({ ...sandbox, netns });
    if (!removed.ok) throw unavailable(`sandbox "${id}" cannot be disconnected: ${removed.error.message}`);
    records.delete(id);
    done.add(id);
    const [oldest] = done;
    if (done.size > MAX_DONE && oldest !== undefined) done.delete(oldest);
    await fs.rm(path.join(dir, `${id}.json`), { force: true });
  };
  return {
    podNetwork,
    connect: async (sandbox) => {
      if (podNetwork === undefined) return;
      await put({ sandbox, ips: undefined });
      const added = await podNetwork.add(sandbox);
      if (added.ok) return put({ sandbox, ips: added.value.ips });
      const undone = await disconnect(sandbox.id, sandbox.netns).then(
        () => "",
        (thrown: unknown) => `; ${messageOf(thrown)}`,
      );
      throw unavailable(`sandbox "${sandbox.id}" cannot be connected: ${added.error.message}${undone}`);
    },
    disconnect,
    of: ({ id, networkMode, labels }, addresses) => {
      if (networkMode === "host") return { connected: true, ips: [] };
      if (networkMode !== "none") return { connected: true, ips: addresses };
      const ips = records.get(id)?.ips;
      if (ips === undefined) return hasOurNetwork(labels) ? UNCONNECTED : { connected: true, ips: [] };
      return { connected: true, ips };
    },
    has: (id) => records.has(id),
    sweep: async (existing, isWhole) => {
      // A file is younger than its container: only files from before the list have theirs in it.
      const known = [...records.keys()];
      if (known.length === 0 && !isWhole) return true;
      const live = await existing();
      const gone = known.filter((id) => !live.has(id));
      for (const id of gone) await disconnect(id, "").catch((thrown: unknown) => report(messageOf(thrown)));
      // The network may have records of its own: of another shim, or of a state directory that was lost.
      const isSwept = !isWhole || (await podNetwork?.sweep?.(live)) !== false;
      return isSwept && gone.every((id) => !records.has(id));
    },
  };
}

const unavailable = (message: string): RpcFault => new RpcFault(status.UNAVAILABLE, message);

async function readRecords(dir: string, report: (line: string) => void): Promise<Map<string, Recorded>> {
  const records = new Map<string, Recorded>();
  for (const name of await namesIn(dir)) {
    const [, id] = FILE.exec(name) ?? [];
    if (id === undefined) continue;
    const content = await readWhole(path.join(dir, name), MAX_FILE_BYTES).catch(() => undefined);
    const record = recorded(parseJson(content?.toString()), id);
    if (record === undefined) report(`${path.join(dir, name)} cannot be read`);
    else records.set(id, record);
  }
  return records;
}

function recorded(value: unknown, id: string): Recorded | undefined {
  if (!isJsonObject(value) || !isJsonObject(value["sandbox"]) || value["sandbox"]["id"] !== id) return undefined;
  const ips: unknown = value["ips"];
  const known =
    Array.isArray(ips) && ips.every((ip) => typeof ip === "string") ? (ips as readonly string[]) : undefined;
  return { sandbox: value["sandbox"] as unknown as NetworkedSandbox, ips: known };
}
