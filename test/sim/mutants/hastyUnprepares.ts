import { concat, defer, ignoreElements, merge, of } from "rxjs";
import { catchError } from "rxjs";
import type { Claim } from "../../../src/gen/dra.ts";
import type { DraDriver } from "../../../src/ports/draDrivers.ts";
import { type Mutant, withDrivers } from "./mutant.ts";

/** Unprepares all claims before it stops a container. */
export const hastyUnprepares: Mutant = {
  bug: "claims are unprepared while a container uses them",
  caughtBy: "claimsPrepared",
  seed: 3,
  workload: "pinned",
  createKubelet: (config, ports) => {
    const prepared = new Map<DraDriver["name"], { readonly driver: DraDriver; readonly claims: readonly Claim[] }>();
    const unprepareAll$ = defer(() =>
      merge(
        ...[...prepared.values()].map(({ driver, claims }) =>
          driver.unprepare(claims).pipe(catchError(() => of(undefined))),
        ),
      ),
    ).pipe(ignoreElements());
    const create = withDrivers((driver) => ({
      prepare: (claims) => {
        prepared.set(driver.name, { driver, claims });
        return driver.prepare(claims);
      },
    }));
    return create(config, {
      ...ports,
      runtime: {
        ...ports.runtime,
        stopContainer: (request, options) => concat(unprepareAll$, ports.runtime.stopContainer(request, options)),
      },
    });
  },
};
