/** Sources of projected volumes, each kind behind one reflector that runs while it has subscribers. */
import { distinctUntilChanged, filter, map, type Observable, ReplaySubject, share, tap, timer } from "rxjs";
import type { ApiObjects, ApiResourceName } from "../core/api/apiResources.ts";
import type { KubeletError } from "../core/errors.ts";
import type { PodKeys } from "../ports/podKeys.ts";
import type { Followed, Projections } from "../ports/projections.ts";
import type { Logger } from "../ports/telemetry.ts";
import { reflect, type Reflected, type ReflectorOptions } from "./reflector.ts";

export interface ProjectionSourcesOptions
  extends Pick<ReflectorOptions<"pods">, "api" | "clock" | "rng" | "usesStreams"> {
  readonly nodeName: string;
  readonly log: Logger;
  readonly keys: PodKeys;
  /** Feature gates ClusterTrustBundleProjection and PodCertificateRequest. */
  readonly gates: { readonly trustBundles: boolean; readonly podCertificates: boolean };
}

/** Creates the sources whose gate is on; requests nothing before the first subscriber. */
export function createProjections({ gates, keys, nodeName, ...options }: ProjectionSourcesOptions): Projections {
  const selection = { fieldSelector: `spec.nodeName=${nodeName}` };
  return {
    ...(gates.trustBundles ? { trustBundles$: followed({ ...options, resource: "clustertrustbundles" }) } : {}),
    ...(gates.podCertificates
      ? {
          podCertificates: { requests$: followed({ ...options, resource: "podcertificaterequests", selection }), keys },
        }
      : {}),
  };
}

function followed<R extends ApiResourceName>({
  log,
  ...options
}: ReflectorOptions<R> & { readonly log: Logger }): Observable<Followed<ApiObjects[R]>> {
  let reportedOf: string | undefined;
  const report = (problem: KubeletError | undefined): void => {
    if (problem !== undefined && problem.message !== reportedOf) {
      log.warn("Cannot follow objects", { resource: options.resource, error: problem });
    }
    reportedOf = problem?.message;
  };
  return reflect(options).pipe(
    tap(({ problem }) => report(problem)),
    map(followedOf),
    filter((reported) => reported !== undefined),
    distinctUntilChanged(),
    share({
      connector: () => new ReplaySubject(1),
      // A pod that changes its request unsubscribes before it subscribes again.
      resetOnRefCountZero: () => timer(0, options.clock.scheduler),
    }),
  );
}

/**
 * Returns undefined while the server cannot be reached, and `not served` if it does not know the resource, which its
 * next restart may change.
 */
function followedOf<T>({ objects, problem }: Reflected<T>): Followed<T> | undefined {
  return objects ?? (problem?.code === "NotFound" ? "not served" : undefined);
}
