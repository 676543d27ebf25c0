import { map } from "rxjs";
import { answeredBefore, withRuntime, type Mutant } from "./mutant.ts";

/** Ignores parts whose removal was requested, and so treats the name of the pod as free. */
export const hastySuccessor: Mutant = {
  bug: "the next pod of a name starts before the previous one has ended",
  caughtBy: "oneIncarnation",
  seed: 6,
  createKubelet: withRuntime((runtime, { clock }) => {
    const ordered = new Set<string>();
    return {
      stopContainer(request, options) {
        ordered.add(request.containerId);
        return answeredBefore(runtime.stopContainer(request, options), {}, clock);
      },
      stopPodSandbox(request, options) {
        ordered.add(request.podSandboxId);
        return answeredBefore(runtime.stopPodSandbox(request, options), {}, clock);
      },
      listContainers: (request, options) =>
        runtime
          .listContainers(request, options)
          .pipe(map(({ containers }) => ({ containers: containers.filter(({ id }) => !ordered.has(id)) }))),
      listPodSandbox: (request, options) =>
        runtime
          .listPodSandbox(request, options)
          .pipe(map(({ items }) => ({ items: items.filter(({ id }) => !ordered.has(id)) }))),
    };
  }),
};
