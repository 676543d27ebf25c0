import { withRuntime, type Mutant } from "./mutant.ts";

/** Counts the restarts of a container in memory, from the start of the kubelet. */
export const forgottenRestarts: Mutant = {
  bug: "the restart count begins at zero when the kubelet is restarted",
  caughtBy: "restartCountsGrow",
  seed: 3,
  createKubelet: withRuntime((runtime) => {
    const made = new Map<string, number>();
    return {
      createContainer(request, options) {
        const { config, sandboxConfig } = request;
        if (config?.metadata === undefined) return runtime.createContainer(request, options);
        const container = `${sandboxConfig?.metadata?.uid} ${config.metadata.name}`;
        const attempt = made.get(container) ?? 0;
        made.set(container, attempt + 1);
        const annotations = { ...config.annotations, "io.kubernetes.container.restartCount": String(attempt) };
        const counted = { ...config, metadata: { ...config.metadata, attempt }, annotations };
        return runtime.createContainer({ ...request, config: counted }, options);
      },
    };
  }),
};
