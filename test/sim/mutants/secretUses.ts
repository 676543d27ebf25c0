import { type Mutant, withPorts } from "./mutant.ts";

const EVERY = 3;

/** Removes the list of volumes in use with every third write of the Node's status. */
export const secretUses: Mutant = {
  bug: "a mounted volume is not in the Node's list of volumes in use",
  caughtBy: "inUseWhileMounted",
  workload: "csi",
  createKubelet: withPorts(({ api }) => {
    if (api === undefined) return {};
    const { heartbeats } = api;
    let writes = 0;
    const patch: typeof heartbeats.patch = (resource, ref, { body, ...type }, options) => {
      const { status } = body as { readonly status?: object };
      if (resource === "nodes" && status !== undefined) writes += 1;
      const isForgetful = resource === "nodes" && status !== undefined && writes % EVERY === 0;
      const sent = isForgetful ? { ...body, status: { ...status, volumesInUse: null } } : body;
      return heartbeats.patch(
        resource,
        ref,
        { ...type, body: sent } as Parameters<typeof heartbeats.patch>[2],
        options,
      );
    };
    return { api: { ...api, heartbeats: { ...heartbeats, patch } } };
  }),
};
