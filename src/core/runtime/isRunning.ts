/** Whether a pod is running in the runtime. */
import type { PodRuntimeStatus } from "./podRuntimeStatus.ts";

/** True while a container is running or in unknown state, or a sandbox is ready. */
export const isRunning = ({ sandboxes, containers }: PodRuntimeStatus): boolean =>
  sandboxes.some((sandbox) => sandbox.ready) ||
  containers.some(({ state }) => state === "running" || state === "unknown");
