import { withRuntime, type Mutant } from "./mutant.ts";

const FIRST_ID = 65_536;

/** Gives the same user IDs to every pod with a user namespace. */
export const sharedUserIds: Mutant = {
  bug: "two pods share user IDs of the node",
  caughtBy: "disjointUserIds",
  seed: 4,
  createKubelet: withRuntime((runtime) => ({
    runPodSandbox(request, options) {
      const shared = structuredClone(request);
      const ids = shared.config?.linux?.securityContext?.namespaceOptions?.usernsOptions;
      for (const mapping of [...(ids?.uids ?? []), ...(ids?.gids ?? [])]) Object.assign(mapping, { hostId: FIRST_ID });
      return runtime.runPodSandbox(shared, options);
    },
  })),
};
