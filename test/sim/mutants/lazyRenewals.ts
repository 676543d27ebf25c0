import { of } from "rxjs";
import type { ApiServer } from "../../../src/ports/apiServer.ts";
import { type Mutant, withPorts } from "./mutant.ts";

const MINUTE_MS = 60_000;

/** Skips the renewal of a lease that was renewed less than a minute ago. */
export const lazyRenewals: Mutant = {
  bug: "a lease is renewed once a minute",
  caughtBy: "leaseGap",
  createKubelet: withPorts(({ api, clock }) => {
    let lastAt = -Infinity;
    const update: ApiServer["update"] = (resource, object, options) => {
      if (resource === "leases" && clock.monotonicMs() - lastAt < MINUTE_MS) return of(object);
      lastAt = clock.monotonicMs();
      return (api as NonNullable<typeof api>).heartbeats.update(resource, object, options);
    };
    return { api: api && { ...api, heartbeats: { ...api.heartbeats, update } } };
  }),
};
