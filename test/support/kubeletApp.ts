/** The routes of the authenticated server over a node that a test makes up. */
import { AllocatableResourcesResponse } from "../../src/gen/podResources.ts";
import { EMPTY, NEVER, of, throwError } from "rxjs";
import { kubeletError } from "../../src/core/errors.ts";
import type { KubeletQueries } from "../../src/ports/kubeletQueries.ts";
import { ALWAYS_ALLOW } from "../../src/server/auth/authorize.ts";
import { createAuthenticate } from "../../src/server/auth/authenticate.ts";
import { kubeletApp, type KubeletAppOptions } from "../../src/server/kubeletServer.ts";
import { createNodeLogs } from "../../src/sources/nodeLogs.ts";
import { measuredStats } from "./measuredStats.ts";
import { realClock } from "./realClock.ts";
import { recordingTelemetry } from "./recordingTelemetry.ts";

/** A node without pods. */
export const NO_PODS: KubeletQueries = {
  pods: () => [],
  arePodsKnown: () => true,
  shownPods: () => [],
  node: () => ({ metadata: { name: "node" } }),
  manifestProblems: () => [],
  runtimePods: () => [],
  runtimeProblems: () => [],
  timeline: () => undefined,
  timelineNames: () => [],
  volumes: () => ({ at: "T0", pods: [], orphans: [] }),
  podVolumes: () => undefined,
  pressure: () => of({ at: "T0", conditions: [], signals: [], eviction: { pods: [], more: 0 } }),
  hardware: () => ({
    at: "T0",
    policies: { cpu: "none", memory: "None", topology: "none", scope: "container" },
    ...{ nodes: [], devices: [], claims: { first: [], more: 0 } },
  }),
  areHoldersKnown: () => true,
  podResources: () => ({ podResources: [] }),
  podResourcesOf: () => undefined,
  allocatableResources: () => AllocatableResourcesResponse.create({}),
  health: () => ["ping", "log", "syncloop"].map((name) => ({ name, problem: undefined })),
};

const unimplemented = () => throwError(() => kubeletError("Unimplemented", "not in this test"));

/** A runtime that does nothing. */
export const IDLE_RUNTIME: KubeletAppOptions["runtime"] = {
  exec: unimplemented,
  attach: unimplemented,
  portForward: unimplemented,
  execSync: unimplemented,
  checkpointContainer: unimplemented,
};

/** Options of an app that lets in everybody. */
export function testAppOptions(more: Partial<KubeletAppOptions> = {}) {
  const telemetry = recordingTelemetry();
  const options: KubeletAppOptions = {
    queries: NO_PODS,
    runtime: IDLE_RUNTIME,
    containerLogs: { logs: { open: unimplemented }, podsChanged$: NEVER, splitStreams: false },
    access: {
      authenticate: createAuthenticate({
        anonymous: true,
        reviewer: undefined,
        clock: realClock,
        metrics: telemetry.metrics,
      }),
      authorize: ALWAYS_ALLOW,
      rules: { fineGrained: true, streamsNeedCreate: true },
    },
    commands: { retry: () => false },
    checkpoints: { directory: "/checkpoints", files: { makeDirectory: () => EMPTY } },
    nodeLogs: createNodeLogs("/nothing"),
    handlers: {
      enableDebuggingHandlers: true,
      enableProfilingHandler: true,
      enableDebugFlagsHandler: true,
      enableSystemLogHandler: true,
    },
    gates: { flagz: true, statusz: true, checkpoint: true, nodeLogQuery: true, extendWebSockets: true },
    flags: new Map([["v", "0"]]),
    process: { version: "1.36.0", platform: "node v24" },
    setVerbosity: () => {},
    configuration: {},
    stats: measuredStats(),
    metricsPage: { render: () => Promise.resolve("up 1\n") },
    telemetry,
    clock: realClock,
    ...more,
  };
  return { options, telemetry };
}

/** The app, without a listener. */
export function testKubeletApp(more: Partial<KubeletAppOptions> = {}) {
  const { options, telemetry } = testAppOptions(more);
  return { app: kubeletApp(options), telemetry };
}
