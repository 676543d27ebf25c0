/**
 * Follows the inputs of a projected volume other than the objects its pod refers to, and reports their changes: trust
 * bundles, certificates. Bounds: the watches of Projections, and one certificate per source.
 */
import { distinctUntilChanged, map, merge, type Observable, switchMap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { podCertificateWishes } from "../../core/cert/podCertificate.ts";
import { podEventObject } from "../../core/pod/podEvents.ts";
import { anchorsWishes } from "../../core/volume/identityFiles.ts";
import type { Volume } from "../../core/volume/volumeLayout.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import type { ContentSources } from "./volumeContent.ts";

/** The content may have changed; `warning` is an event to write as well. */
export interface VolumeNews {
  readonly warning?: PodOutput;
}

interface Wish {
  readonly pod: Pod;
  readonly volume: Volume;
}

type Sources = Pick<ContentSources, "trustBundles" | "podCertificates">;

/** Returns whether there are any such sources: otherwise no volume subscribes. */
export const hasNews = ({ trustBundles, podCertificates }: Sources): boolean =>
  trustBundles !== undefined || podCertificates !== undefined;

/**
 * Emits the changes of a volume while it is desired.
 *
 *     wishes     w-----w'-------------------(not wanted)
 *     certs      --------issued----renewed--
 *     output     --------n---------n--------
 */
export const volumeNews = (wishes$: Observable<Wish | undefined>, sources: Sources): Observable<VolumeNews> =>
  wishes$.pipe(
    // The sources of a volume never change.
    distinctUntilChanged((before, now) => (before === undefined) === (now === undefined)),
    switchMap((wish) => merge(...(wish === undefined ? [] : newsOf(wish, sources)))),
  );

function newsOf({ pod, volume }: Wish, { trustBundles, podCertificates }: Sources): readonly Observable<VolumeNews>[] {
  const object = podEventObject(pod);
  const bundles = trustBundles !== undefined && anchorsWishes(volume).length > 0 ? [trustBundles.changes$] : [];
  const certificates =
    podCertificates === undefined ? [] : podCertificateWishes(pod, volume).map((wish) => podCertificates.follow(wish));
  return [
    ...bundles.map((changes$) => changes$.pipe(map(() => ({})))),
    ...certificates.map((news$) =>
      news$.pipe(
        map((news) => {
          if (news.kind === "changed") return {};
          const { reason, message } = news;
          return { warning: eventOutput({ type: "Warning", reason, message, object }) };
        }),
      ),
    ),
  ];
}
