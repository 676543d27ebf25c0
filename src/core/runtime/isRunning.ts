/** Whether anything of a pod is alive in the runtime. */
import type { PodRuntimeStatus } from "./podRuntimeStatus.ts";

/** True while a container runs, or may run, or a sandbox holds its network. */
export const isRunning = ({ sandboxes, containers }: PodRuntimeStatus): boolean =>
  sandboxes.some((sandbox) => sandbox.ready) ||
  containers.some(({ state }) => state === "running" || state === "unknown");
