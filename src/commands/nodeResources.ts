/** Resources of a node that stay open while it runs: connections to the runtime, metrics, processes for file trees. */
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { LeveledLogger } from "../ports/telemetry.ts";
import type { Tracing } from "../ports/tracing.ts";
import { type CriClient, createCriClient } from "../sinks/cri.ts";
import { createMetrics, type MetricsSink } from "../sinks/metrics.ts";
import { createTrees, type Trees } from "../sinks/trees/trees.ts";
import { systemClock } from "../sources/systemClock.ts";
import { countCriCalls } from "./criMetrics.ts";
import { createMemoryShedder, type MemoryShedder } from "./memoryShedder.ts";

/** The resources. `unsubscribe` closes them. */
export interface NodeResources {
  readonly metrics: MetricsSink;
  readonly client: CriClient;
  readonly trees: Trees;
  readonly memoryShedder: MemoryShedder;
  unsubscribe(): void;
}

/** Opens the resources of a node with this configuration. */
export function openNodeResources(
  config: KubeletOptions["config"],
  log: LeveledLogger,
  tracing: Tracing | undefined,
): NodeResources {
  const metrics = createMetrics();
  const client = createCriClient({
    endpoint: config.containerRuntimeEndpoint,
    ...(config.imageServiceEndpoint === "" ? {} : { imageEndpoint: config.imageServiceEndpoint }),
    defaultDeadlineMs: config.runtimeRequestTimeout,
    clock: systemClock,
    onCall: countCriCalls({ metrics, log }),
    tracing,
  });
  return {
    metrics,
    client,
    trees: createTrees({ clock: systemClock }),
    memoryShedder: createMemoryShedder(),
    unsubscribe: () => {
      client.close();
      metrics.close();
    },
  };
}
