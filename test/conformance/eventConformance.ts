import { ReplaySubject, filter, firstValueFrom, map, take, toArray } from "rxjs";
import { expect, it } from "vitest";
import * as cri from "../../src/gen/cri.ts";
import { ending } from "./runtimeFixture.ts";
import type { RuntimeFeatures, RuntimeUnderTest } from "./runtimeFixture.ts";

const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } =
  cri.ContainerEventType;

/** The runtime's event stream, where it has one. */
export function eventConformance(under: () => RuntimeUnderTest, features: RuntimeFeatures): void {
  if (!features.containerEvents) {
    it("answers Unimplemented to GetContainerEvents", async () => {
      const events = under().runtime.getContainerEvents(cri.GetEventsRequest.create());
      expect(await ending(events)).toEqual({ error: "Unimplemented" });
    });
    return;
  }

  it("tells creation, start, end and removal of a container in this order", async () => {
    const events$ = new ReplaySubject<cri.ContainerEventResponse>(1000);
    const stream = under().runtime.getContainerEvents(cri.GetEventsRequest.create()).subscribe(events$);
    try {
      const sandbox = await under().sandbox();
      // The stream has no "open" mark: the sandbox's own event is the proof of it.
      await firstValueFrom(events$.pipe(filter((event) => event.containerId === sandbox.id)));
      const id = await under().run(sandbox, under().programs.exits(3));
      await under().exited(id);
      await under().removeContainer(id);
      const seen = await firstValueFrom(
        events$.pipe(
          filter((event) => event.containerId === id),
          map((event) => [event.containerEventType, event.podSandboxStatus?.id, event.createdAt > 0n]),
          take(4),
          toArray(),
        ),
      );
      expect(seen).toEqual([
        [CONTAINER_CREATED_EVENT, sandbox.id, true],
        [CONTAINER_STARTED_EVENT, sandbox.id, true],
        [CONTAINER_STOPPED_EVENT, sandbox.id, true],
        [CONTAINER_DELETED_EVENT, sandbox.id, true],
      ]);
    } finally {
      stream.unsubscribe();
    }
  });
}
