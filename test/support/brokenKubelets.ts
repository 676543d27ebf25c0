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

/** Breaks an invariant after a minute. */
export const fragileKubelet: CreateKubelet = (config, ports) => {
  const kubelet = createKubelet(config, ports);
  const end$ = timer(60_000, ports.clock.scheduler).pipe(
    map((): never => {
      throw new InvariantError("a minute has passed");
    }),
  );
  return { ...kubelet, run$: merge(kubelet.run$, end$) };
};
