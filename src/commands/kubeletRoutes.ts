/** Options of the kubelet's routes from the configuration of a node, for each server that has them. */
import path from "node:path";
import type { Observable } from "rxjs";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { shownFlags } from "../cli/shownFlags.ts";
import type { KubeletCommands } from "../ports/kubeletCommands.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import type { NodeStats } from "../ports/nodeStats.ts";
import type { LeveledLogger } from "../ports/telemetry.ts";
import type { KubeletRouteOptions } from "../server/kubeletServer.ts";
import type { LiveRoutesOptions } from "../server/live/liveRoutes.ts";
import type { LocalApiOptions } from "../server/localApi/localApi.ts";
import type { MetricsSink } from "../sinks/metrics.ts";
import { createContainerLogs } from "../sources/containerLogs/containerLogs.ts";
import { createNodeLogs } from "../sources/nodeLogs.ts";
import { shownConfiguration } from "./shownConfiguration.ts";

/** Directory that `/logs/` serves. */
const NODE_LOG_DIRECTORY = "/var/log";

/** The node, as its routes show it. */
export interface RoutesSetup {
  readonly options: KubeletOptions;
  readonly queries: KubeletQueries;
  readonly stats: NodeStats;
  readonly commands: KubeletCommands;
  /** Emits after the pods of `queries` changed. */
  readonly podsChanged$: Observable<unknown>;
  readonly podLogsDir: string;
  readonly ports: Pick<KubeletPorts, "clock" | "runtime" | "files">;
  readonly log: LeveledLogger;
  readonly version: string;
  readonly metrics: MetricsSink;
  readonly live?: LiveRoutesOptions | undefined;
  /** Absent: the server has no API for kubectl. */
  readonly localApi?: LocalApiOptions | undefined;
}

/** Returns the options of the routes. */
export function kubeletRoutes(setup: RoutesSetup): KubeletRouteOptions {
  const { options, ports, log, metrics } = setup;
  const { config, flags, featureGates } = options;
  const isOn = (gate: string): boolean => featureGates.get(gate) === true;
  return {
    queries: setup.queries,
    stats: setup.stats,
    runtime: ports.runtime,
    containerLogs: {
      logs: createContainerLogs({ podLogsDir: setup.podLogsDir, clock: ports.clock, log }),
      podsChanged$: setup.podsChanged$,
      splitStreams: isOn("PodLogsQuerySplitStreams"),
    },
    commands: setup.commands,
    checkpoints: { directory: path.resolve(flags.rootDir, "checkpoints"), files: ports.files },
    nodeLogs: createNodeLogs(NODE_LOG_DIRECTORY),
    handlers: config,
    gates: {
      flagz: isOn("ComponentFlagz"),
      statusz: isOn("ComponentStatusz"),
      checkpoint: isOn("ContainerCheckpoint"),
      nodeLogQuery: isOn("NodeLogQuery"),
      extendWebSockets: isOn("ExtendWebSocketsToKubelet"),
    },
    flags: shownFlags(options),
    process: { version: setup.version, platform: `node ${process.version}` },
    setVerbosity: (verbosity) => log.setVerbosity(verbosity),
    configuration: shownConfiguration(config, isOn),
    metricsPage: metrics,
    showsHidden: config.showHiddenMetricsForVersion !== "",
    telemetry: { log, metrics },
    clock: ports.clock,
    localApi: setup.localApi,
    live: setup.live,
  };
}
