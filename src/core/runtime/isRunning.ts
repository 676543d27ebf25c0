/** Whether a pod is running in the runtime. */
import type { PodRuntimeStatus } from "./podRuntimeStatus.ts";

/** True while a container is running or in unknown state. */
export const hasRunningContainer = ({ containers }: PodRuntimeStatus): boolean =>
  containers.some(({ state }) => state === "running" || state === "unknown");

/** True while a container is running or in unknown state, or a sandbox is ready. */
export const isRunning = (status: PodRuntimeStatus): boolean =>
  status.sandboxes.some((sandbox) => sandbox.ready) || hasRunningContainer(status);
