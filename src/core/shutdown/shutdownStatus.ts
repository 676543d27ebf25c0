/** The status of pods that a node shutdown ends. Upstream: pkg/kubelet/nodeshutdown. */
import type { StatusOverride } from "../pod/status.ts";
import { NODE_SHUTDOWN_REASON } from "./shutdownTexts.ts";

const MESSAGE = "Pod was terminated in response to imminent node shutdown.";

/**
 * Status of a pod that is ended by a shutdown. Differs from upstream: the pod has Failed although all of its containers
 * exit with 0. The kubelet stopped them: a Job must not count that as success, and the reason stays visible.
 */
export const SHUTDOWN_STATUS: StatusOverride = {
  phase: "Failed",
  outlastsContainers: true,
  reason: "Terminated",
  message: MESSAGE,
  disruption: MESSAGE,
};

/** Reasons of pods that a shutdown has ended or refused. */
export const SHUTDOWN_REASONS: readonly string[] = [SHUTDOWN_STATUS.reason, NODE_SHUTDOWN_REASON];
