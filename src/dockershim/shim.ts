/** The components of a dockershim, passed to every call. */
import type { RecentKeys } from "../core/recentKeys.ts";
import type { EngineInfo } from "./engine/answers.ts";
import type { DockerCalls } from "./dockerCalls.ts";
import type { FactsCache } from "./factsCache.ts";
import type { NetworkSweeps } from "./networkSweeps.ts";
import type { SandboxNetworks } from "./sandboxNetworks.ts";
import type { StartedCgroups } from "./startedCgroups.ts";

/** The components that the calls share. */
export interface Shim {
  readonly docker: DockerCalls;
  /** Returns Docker's description of itself, asked again each minute; the last one while Docker does not answer. */
  info(): Promise<EngineInfo>;
  readonly facts: FactsCache;
  /**
   * Containers that this shim prepared for a start and nobody started, or is starting: their first start need not ask Docker what they
   * are, and lists need not ask it for their state.
   */
  readonly unstarted: RecentKeys;
  readonly cgroups: StartedCgroups;
  readonly networks: SandboxNetworks;
  readonly sweeps: NetworkSweeps;
  readonly podSandboxImage: string;
  /** Options of the logs of containers. */
  readonly logOptions: Readonly<Record<string, string>>;
  /** Reports a problem in one line to the operator. */
  report(line: string): void;
}
