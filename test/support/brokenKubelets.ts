/** Kubelets with a bug put between them and their ports, to show that a simulation notices it. */
import { catchError, map, merge, of, switchMap, tap, throwError, timer } from "rxjs";
import type { CreateContainerRequest } from "../../src/gen/cri.ts";
import { InvariantError } from "../../src/core/invariant.ts";
import { createKubelet } from "../../src/kubelet.ts";
import type { CreateKubelet } from "../../src/sim/simKubelet.ts";

/** Takes a lost answer to StartContainer for a container that does not run, and starts a second one at once. */
export const hastyKubelet: CreateKubelet = (config, ports) => {
  const { runtime } = ports;
  const created = new Map<string, CreateContainerRequest>();
  return createKubelet(config, {
    ...ports,
    runtime: {
      ...runtime,
      createContainer: (request, options) =>
        runtime
          .createContainer(request, options)
          .pipe(tap(({ containerId }) => void created.set(containerId, request))),
      startContainer: (request, options) =>
        runtime.startContainer(request, options).pipe(
          catchError((thrown: unknown) => {
            const first = created.get(request.containerId);
            const metadata = first?.config?.metadata;
            if (first?.config === undefined || metadata === undefined) return throwError(() => thrown);
            const second = { ...first.config, metadata: { ...metadata, attempt: metadata.attempt + 1 } };
            return runtime
              .createContainer({ ...first, config: second })
              .pipe(switchMap(({ containerId }) => runtime.startContainer({ containerId })));
          }),
        ),
    },
  });
};

/** Believes that it has removed a sandbox without asking for it. */
export const untidyKubelet: CreateKubelet = (config, ports) =>
  createKubelet(config, { ...ports, runtime: { ...ports.runtime, removePodSandbox: () => of({}) } });

const breaking =
  (afterMs: (ports: Parameters<CreateKubelet>[1]) => number): CreateKubelet =>
  (config, ports) => {
    const end$ = timer(afterMs(ports), ports.clock.scheduler).pipe(
      map((): never => {
        throw new InvariantError("its time has come");
      }),
    );
    const kubelet = createKubelet(config, ports);
    return { ...kubelet, run$: merge(kubelet.run$, end$) };
  };

/** Breaks an invariant at each write of a log line, and swallows the error. */
export const swallowingKubelet: CreateKubelet = (config, ports) => {
  const { log } = ports.telemetry;
  const swallowing = (message: string): void => {
    try {
      throw new InvariantError(message);
    } catch {
      // The bug.
    }
  };
  return createKubelet(config, { ...ports, telemetry: { ...ports.telemetry, log: { ...log, info: swallowing } } });
};

/** Breaks an invariant after a minute. */
export const fragileKubelet = breaking(() => 60_000);

/** Breaks an invariant at an instant of its first hour that its node draws. */
export const restlessKubelet = breaking(({ rng }) => rng.next() * 3_600_000);
