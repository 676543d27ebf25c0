/** The trust anchors that volumes request, from the bundles that are followed for them. Stateless. */
import { distinctUntilChanged, map, type Observable, of, take } from "rxjs";
import {
  type AnchorsWish,
  BUNDLES_NOT_SYNCED,
  NO_TRUST_BUNDLES,
  trustAnchors,
  type TrustBundle,
} from "../../core/cert/trustAnchors.ts";
import type { Result } from "../../core/result.ts";
import { deadline } from "../../operators/deadline.ts";
import { orElse } from "../../operators/orElse.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Followed } from "../../ports/projections.ts";

export interface TrustBundles {
  /** Follows the bundles while subscribed; emits when they are first known and after each change. Never errors. */
  readonly changes$: Observable<unknown>;
  /** Emits one value, after the server's first answer; for subscribers that follow the changes. Never errors. */
  get(wish: AnchorsWish): Observable<Result<string>>;
}

/** Maximum wait of a reader for the first state, as for other objects. */
const SYNC_MS = 1_000;

/** Creates the reader. Bound: one timer per value that is waited for. */
export function createTrustBundles(bundles$: Observable<Followed<TrustBundle>>, clock: Clock): TrustBundles {
  return {
    changes$: bundles$.pipe(distinctUntilChanged()),
    get: (wish) =>
      bundles$.pipe(
        take(1),
        map((bundles) => (bundles === "not served" ? NO_TRUST_BUNDLES : trustAnchors(wish, bundles))),
        deadline(SYNC_MS, clock),
        orElse(() => of(BUNDLES_NOT_SYNCED)),
      ),
  };
}
