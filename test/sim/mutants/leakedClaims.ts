import { of } from "rxjs";
import { type Mutant, withDrivers } from "./mutant.ts";

/** Does not ask drivers to unprepare claims. */
export const leakedClaims: Mutant = {
  bug: "claims stay prepared after their pods",
  caughtBy: "devicesSettle",
  seed: 3,
  workload: "pinned",
  createKubelet: withDrivers(() => ({
    unprepare: (claims) => of({ claims: Object.fromEntries(claims.map(({ uid }) => [uid, { error: "" }])) }),
  })),
};
