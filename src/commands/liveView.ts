/** The live view of a node, for each server that has it. Loaded only by nodes that have it. */
import path from "node:path";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { Kubelet } from "../kubelet.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { Logger } from "../ports/telemetry.ts";
import type { LiveRoutesOptions } from "../server/live/liveRoutes.ts";
import { createLiveView } from "../server/live/liveView.ts";
import { pageFiles } from "../server/live/pageFiles.ts";
import type { MetricsSink } from "../sinks/metrics.ts";
import { createContainerLogs } from "../sources/containerLogs/containerLogs.ts";
import { liveFacts } from "./liveFacts.ts";

export interface LiveViewSetup {
  readonly kubelet: Pick<Kubelet, "live" | "queries" | "commands">;
  readonly ports: Pick<KubeletPorts, "clock" | "hostUsage">;
  readonly options: Pick<KubeletOptions, "flags">;
  readonly metrics: MetricsSink;
  readonly log: Logger;
  readonly nodeName: string;
  readonly version: string;
  readonly podLogsDir: string;
}

/** Returns the options of its routes; all servers share one view. */
export function liveViewRoutes(setup: LiveViewSetup): LiveRoutesOptions {
  const { kubelet, ports, log, nodeName: node, version, podLogsDir, metrics, options } = setup;
  const { queries, commands, live: source } = kubelet;
  const { clock, hostUsage } = ports;
  const host = { hostUsage, rootDir: path.resolve(options.flags.rootDir) };
  return {
    view: createLiveView({ source, clock, node, version, node$: liveFacts({ queries, host, metrics, clock }) }),
    ...{ clock, queries, commands, pageFiles },
    logs: createContainerLogs({ podLogsDir, clock, log }),
  };
}
