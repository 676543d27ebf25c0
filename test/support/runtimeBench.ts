/** A simulated runtime alone on virtual time, without a kubelet, and the few steps every test of it begins with. */
import type { Observable } from "rxjs";
import * as cri from "../../src/gen/cri.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import type { SimChange } from "../../src/sim/runtime/simRecords.ts";
import { createSimRuntime, type SimRuntimeOptions } from "../../src/sim/runtime/simRuntime.ts";

/** Present on every node made here. */
export const SIM_IMAGE = "registry.example/app:1";

/** How a stream has ended so far: its values and, once it ended, its error or completion, each with its instant. */
export interface Outcome<T> {
  readonly values: readonly T[];
  readonly end: { readonly atMs: number; readonly error?: unknown } | undefined;
  stop(): void;
}

/** Makes a node with one image and the given behaviour; RPCs take 2 ms by default. */
export function createRuntimeBench(options: Omit<SimRuntimeOptions, "clock"> = {}) {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const sim = createSimRuntime({ clock, images: [simImage(SIM_IMAGE)], latency: () => 2, ...options });
  const changes: SimChange[] = [];
  sim.changes$.subscribe({ next: (change) => changes.push(change) });

  const watch = <T>(stream$: Observable<T>): Outcome<T> => {
    const values: T[] = [];
    const outcome: { -readonly [Key in keyof Outcome<T>]: Outcome<T>[Key] } = {
      values,
      end: undefined,
      stop: () => subscription.unsubscribe(),
    };
    const subscription = stream$.subscribe({
      next: (value) => values.push(value),
      error: (error: unknown) => (outcome.end = { atMs: scheduler.now(), error }),
      complete: () => (outcome.end = { atMs: scheduler.now() }),
    });
    return outcome;
  };
  /** The value of a call, moving time until it has ended; throws its error. */
  const run = <T>(call: Observable<T>): T => {
    const outcome = watch(call);
    while (outcome.end === undefined && scheduler.runNext());
    if (outcome.end?.error !== undefined) throw outcome.end.error;
    return outcome.values[0] as T;
  };
  const newSandbox = (name: string, attempt = 0): string => {
    const metadata = { name, namespace: "ns", uid: `${name}-uid`, attempt };
    const config = cri.PodSandboxConfig.create({ metadata, logDirectory: `/logs/${name}` });
    return run(sim.runtime.runPodSandbox(cri.RunPodSandboxRequest.create({ config }))).podSandboxId;
  };
  const newContainer = (
    podSandboxId: string,
    name: string,
    config: Parameters<typeof cri.ContainerConfig.create>[0] = {},
  ): string => {
    const request = cri.CreateContainerRequest.create({
      podSandboxId,
      config: { metadata: { name, attempt: 0 }, image: { image: SIM_IMAGE }, ...config },
    });
    return run(sim.runtime.createContainer(request)).containerId;
  };
  const start = (containerId: string): void =>
    void run(sim.runtime.startContainer(cri.StartContainerRequest.create({ containerId })));
  const statusOf = (containerId: string): cri.ContainerStatus | undefined =>
    run(sim.runtime.containerStatus(cri.ContainerStatusRequest.create({ containerId }))).status;
  return { ...sim, scheduler, clock, changes, watch, run, newSandbox, newContainer, start, statusOf };
}
