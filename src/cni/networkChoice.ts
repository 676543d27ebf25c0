/**
 * The network that new sandboxes join. Each look reads the directory of configurations again, so a change needs no
 * watcher; programs are asked for their versions once per content. The last network stays while no file is valid, as
 * in the dockershim: an installer may replace files by deletion.
 */
import type { NetworkList } from "../core/cni/networkList.ts";
import { ok, type Result } from "../core/result.ts";
import type { PluginPlace } from "./callPlugin.ts";
import { askStatus, validatePlugins } from "./networkCommands.ts";
import { type FoundNetwork, programsVersion, readNetwork } from "./readNetwork.ts";

/** Log lines of this directory. */
export interface CniLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Upstream's words for a node without a configuration. */
const UNINITIALIZED = "cni config uninitialized";
const NO_POD_CIDR = "cni config needs ipRanges but no PodCIDR set";

/** The network, and whether it can be used. */
export interface NetworkChoice {
  /** Reads the directory after all changes that precede the call. */
  look(): Promise<void>;
  /** Looks, tries configurations with faults again, and asks the plugins for their status. */
  refresh(): Promise<void>;
  network(): NetworkList | undefined;
  /** Why no sandbox can be added now; undefined if it can. `statusFault` of plugins does not count. */
  fault(podCidr: string): string | undefined;
  /** Why plugins said at the last refresh that they cannot add sandboxes. */
  statusFault(): string | undefined;
}

/** Creates the choice; its first `refresh` finds the network. */
export function createNetworkChoice(confDir: string, place: PluginPlace, log: CniLog): NetworkChoice {
  let found: FoundNetwork = { faults: [] };
  let list: NetworkList | undefined;
  let statusFault: string | undefined;
  let validations = new Map<string, Result<void>>();
  const lookOnce = async (): Promise<void> => {
    const programs = await programsVersion(place.binDirs);
    const used = new Map<string, Result<void>>();
    const now = await readNetwork(confDir, async (candidate) => {
      const key = `${programs}\n${candidate.text}`;
      const outcome = validations.get(key) ?? (await validatePlugins(candidate, place));
      used.set(key, outcome);
      return outcome;
    });
    validations = used;
    report(found, now, log);
    found = now.list === undefined ? { ...found, faults: now.faults } : now;
    list = now.list ?? list;
  };
  const look = conflated(lookOnce);
  const refresh = conflated(async () => {
    validations = new Map([...validations].filter(([, outcome]) => outcome.ok));
    await look();
    const asked = list === undefined ? ok(undefined) : await askStatus(list, place);
    statusFault = asked.ok ? undefined : asked.error.message;
  });
  return {
    look,
    refresh,
    network: () => list,
    fault: (podCidr) => {
      if (list === undefined) return UNINITIALIZED;
      const wantsRanges = list.plugins.some(({ capabilities }) => capabilities.includes("ipRanges"));
      return wantsRanges && podCidr === "" ? NO_POD_CIDR : undefined;
    },
    statusFault: () => statusFault,
  };
}

/** Runs one task at a time. Calls during a run share one further run. */
function conflated(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;
  return () => {
    waiting ??= running
      .catch(() => undefined)
      .then(() => {
        running = waiting ?? running;
        waiting = undefined;
        return task();
      });
    return waiting;
  };
}

/** Logs each fault and each network once. */
function report(before: FoundNetwork, now: FoundNetwork, log: CniLog): void {
  const known = new Set(before.faults.map(({ path, why }) => `${path}\n${why}`));
  for (const { path, why } of now.faults) {
    if (!known.has(`${path}\n${why}`)) log.warn("Passing over a network configuration", { path, reason: why });
  }
  if (now.list === undefined || (now.path === before.path && now.list.text === before.list?.text)) return;
  const { name, cniVersion, plugins } = now.list;
  const types = plugins.map(({ type }) => type).join(", ");
  log.info("Using a network configuration", { path: now.path, network: name, cniVersion, plugins: types });
}
