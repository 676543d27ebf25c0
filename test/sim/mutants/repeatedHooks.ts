import { concat, ignoreElements } from "rxjs";
import { parseContainerAnnotations } from "../../../src/core/container/labels.ts";
import { listedContainers, withRuntime, type Mutant } from "./mutant.ts";

/** Runs the preStop hook before every stop, retries included. */
export const repeatedHooks: Mutant = {
  bug: "the preStop hook runs again when a stop is repeated",
  caughtBy: "preStopOnce",
  seed: 3,
  createKubelet: withRuntime((runtime) => {
    const { known, listContainers } = listedContainers(runtime);
    const stopped = new Set<string>();
    return {
      listContainers,
      stopContainer(request, options) {
        const { containerId } = request;
        const hook = parseContainerAnnotations(known.get(containerId)?.annotations ?? {}).preStopHandler?.exec?.command;
        const isRepeated = stopped.has(containerId);
        stopped.add(containerId);
        const stopped$ = runtime.stopContainer(request, options);
        if (hook === undefined || !isRepeated) return stopped$;
        const again$ = runtime.execSync({ containerId, cmd: [...hook], timeout: request.timeout });
        return concat(again$.pipe(ignoreElements()), stopped$);
      },
    };
  }),
};
