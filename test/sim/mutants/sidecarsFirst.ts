import { concat, ignoreElements } from "rxjs";
import { CONTAINER_NAME_LABEL } from "../../../src/core/container/labels.ts";
import { listedContainers, withRuntime, type Mutant } from "./mutant.ts";

/** Stops the containers of a pod in the order of its spec: sidecars stop first. */
export const sidecarsFirst: Mutant = {
  bug: "sidecars are stopped before the containers they serve",
  caughtBy: "sidecarsOutliveMains",
  seed: 2,
  createKubelet: withRuntime((runtime) => {
    const { known, listContainers } = listedContainers(runtime);
    return {
      listContainers,
      stopContainer(request, options) {
        const sandboxId = known.get(request.containerId)?.podSandboxId;
        const [sidecar] = [...known.values()].filter(
          ({ podSandboxId, labels }) => podSandboxId === sandboxId && labels[CONTAINER_NAME_LABEL] === "proxy",
        );
        const stopped$ = runtime.stopContainer(request, options);
        if (sidecar === undefined || sidecar.id === request.containerId) return stopped$;
        const first$ = runtime.stopContainer({ ...request, containerId: sidecar.id }, options);
        return concat(first$.pipe(ignoreElements()), stopped$);
      },
    };
  }),
};
