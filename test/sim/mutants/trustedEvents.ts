import { defer, map, tap } from "rxjs";
import { ContainerState, type ContainerStatus } from "../../../src/gen/cri.ts";
import type { RuntimeService } from "../../../src/ports/cri.ts";
import { eventedPleg } from "../../../src/sources/eventedPleg.ts";
import { withPorts, type Mutant } from "./mutant.ts";

/** Takes the state of a container from its last event, and reads the runtime only for containers without events. */
export const trustedEvents: Mutant = {
  bug: "a late event hides the actual state because the order of events is trusted",
  caughtBy: "leftovers",
  seed: 4,
  createKubelet: withPorts(({ runtime, clock }) => {
    const reported = new Map<string, ContainerStatus>();
    const containerStatus: RuntimeService["containerStatus"] = (request, options) =>
      runtime
        .containerStatus(request, options)
        .pipe(map((answer) => ({ ...answer, status: reported.get(request.containerId) ?? answer.status })));
    const listContainers: RuntimeService["listContainers"] = (request, options) =>
      runtime.listContainers(request, options).pipe(
        map(({ containers }) => ({
          containers: containers.map((each) => ({ ...each, state: reported.get(each.id)?.state ?? each.state })),
        })),
      );
    const getContainerEvents: RuntimeService["getContainerEvents"] = (request) =>
      defer(() => runtime.getContainerEvents(request)).pipe(
        tap(({ containersStatuses }) => {
          for (const status of containersStatuses) {
            if (status.state !== ContainerState.CONTAINER_UNKNOWN) reported.set(status.id, status);
          }
        }),
      );
    const trusting = { ...runtime, containerStatus, listContainers, getContainerEvents };
    return {
      runtime: trusting,
      runtimeSignals$: eventedPleg({ runtime: trusting, containerdHints$: undefined, clock }),
    };
  }),
};
