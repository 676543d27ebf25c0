import { map } from "rxjs";
import { ContainerState } from "../../../src/gen/cri.ts";
import { answeredBefore, withRuntime, type Mutant } from "./mutant.ts";

/** Treats a container as terminated once its stop was requested. */
export const believedOrders: Mutant = {
  bug: "the next instance of a container starts while the previous one still stops",
  caughtBy: "oneLiveInstance",
  createKubelet: withRuntime((runtime, { clock }) => {
    const ordered = new Set<string>();
    return {
      stopContainer(request, options) {
        ordered.add(request.containerId);
        return answeredBefore(runtime.stopContainer(request, options), {}, clock);
      },
      listContainers: (request, options) =>
        runtime.listContainers(request, options).pipe(
          map(({ containers }) => ({
            containers: containers.map((each) =>
              ordered.has(each.id) ? { ...each, state: ContainerState.CONTAINER_EXITED } : each,
            ),
          })),
        ),
      containerStatus: (request, options) =>
        runtime
          .containerStatus(request, options)
          .pipe(
            map((answer) =>
              answer.status !== undefined && ordered.has(request.containerId)
                ? { ...answer, status: { ...answer.status, state: ContainerState.CONTAINER_EXITED } }
                : answer,
            ),
          ),
    };
  }),
};
