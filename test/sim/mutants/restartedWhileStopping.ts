import { concat, ignoreElements, map, switchMap } from "rxjs";
import type { CreateContainerRequest } from "../../../src/gen/cri.ts";
import { withRuntime, type Mutant } from "./mutant.ts";

/** Restarts every exited container, also in a terminating pod. */
export const restartedWhileStopping: Mutant = {
  bug: "a container is started after the termination of its pod began",
  caughtBy: "noStartAfterEnd",
  createKubelet: withRuntime((runtime) => {
    const made = new Map<string, CreateContainerRequest>();
    return {
      createContainer: (request, options) =>
        runtime.createContainer(request, options).pipe(
          map((created) => {
            made.set(created.containerId, request);
            return created;
          }),
        ),
      stopContainer(request, options) {
        const before = made.get(request.containerId);
        const stopped$ = runtime.stopContainer(request, options);
        if (before?.config?.metadata === undefined) return stopped$;
        const metadata = { ...before.config.metadata, attempt: before.config.metadata.attempt + 1 };
        const again = { ...before, config: { ...before.config, metadata } };
        const restarted$ = runtime
          .createContainer(again)
          .pipe(switchMap(({ containerId }) => runtime.startContainer({ containerId })));
        return concat(stopped$, restarted$.pipe(ignoreElements()));
      },
    };
  }),
};
