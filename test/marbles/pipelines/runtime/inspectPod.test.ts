import { defer, map, type Observable, of, timer } from "rxjs";
import { expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import * as cri from "../../../../src/gen/cri.ts";
import { inspectPod } from "../../../../src/pipelines/runtime/inspectPod.ts";
import type { RuntimeService } from "../../../../src/ports/cri.ts";
import { createSimFiles } from "../../../../src/sim/host/simFiles.ts";
import { createSimLogFiles } from "../../../../src/sim/host/simLogFiles.ts";
import { createSequence } from "../../../../src/state/sequence.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";

const labels = { "io.kubernetes.pod.uid": "a", "io.kubernetes.pod.name": "a", "io.kubernetes.pod.namespace": "ns" };
const sandbox = (id: string) => cri.PodSandbox.create({ id, labels, state: cri.PodSandboxState.SANDBOX_READY });
const container = (id: string, podSandboxId: string) => cri.Container.create({ id, podSandboxId, labels });

/** An inspection; `sandboxes` is the answer of each list, the last one again and again. */
function inspect({ clock }: Marbles, containersAfterMs: number, sandboxes: readonly (readonly string[])[]) {
  const asked: number[] = [];
  const later = <T>(afterMs: number, answer: T): Observable<T> =>
    timer(afterMs, clock.scheduler).pipe(map(() => answer));
  const runtime = {
    listPodSandbox: () =>
      defer(() => {
        const ids = sandboxes[Math.min(asked.length, sandboxes.length - 1)] ?? [];
        asked.push(clock.monotonicMs());
        return later(2, { items: ids.map(sandbox) });
      }),
    listContainers: () =>
      later(containersAfterMs, { containers: [container("c-old", "old"), container("c-new", "new")] }),
    podSandboxStatus: ({ podSandboxId: id }: { podSandboxId: string }) =>
      of({ status: cri.PodSandboxStatus.create({ id, labels, network: { ip: `10.0.0.${id === "old" ? 1 : 2}` } }) }),
    containerStatus: ({ containerId: id }: { containerId: string }) =>
      of({ status: cri.ContainerStatus.create({ id, labels }) }),
  } as unknown as RuntimeService;
  const files = createSimFiles({ clock });
  const ports = { runtime, clock, files, logFiles: createSimLogFiles({ clock, files }) };
  const status$ = inspectPod(podUid("a"), undefined, { ports, sequence: createSequence(), deadlineMs: 100 });
  return {
    asked,
    sandboxes$: status$.pipe(map((status) => status.sandboxes.map(({ id, ips }) => `${id} ${ips.join()}`))),
  };
}

it(
  "lists sandboxes again for a container of a sandbox that was made between the two lists",
  marbles((m) => {
    const expected = "11ms (s|)";

    const { asked, sandboxes$ } = inspect(m, 9, [["old"], ["old", "new"]]);
    m.expectObservable(sandboxes$).toBe(expected, { s: ["old 10.0.0.1", "new 10.0.0.2"] });
    m.flush();
    expect(asked).toEqual([0, 9]);
  }),
);

it(
  "lists sandboxes once when all containers have theirs",
  marbles((m) => {
    const expected = "--(s|)";

    const { asked, sandboxes$ } = inspect(m, 2, [["old", "new"]]);
    m.expectObservable(sandboxes$).toBe(expected, { s: ["old 10.0.0.1", "new 10.0.0.2"] });
    m.flush();
    expect(asked).toEqual([0]);
  }),
);

it(
  "lists sandboxes twice at most when that of a container is gone",
  marbles((m) => {
    const expected = "----(s|)";

    const { asked, sandboxes$ } = inspect(m, 2, [["old"]]);
    m.expectObservable(sandboxes$).toBe(expected, { s: ["old 10.0.0.1"] });
    m.flush();
    expect(asked).toEqual([0, 2]);
  }),
);
