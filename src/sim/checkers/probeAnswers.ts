/** Which probe of which running container an answer belongs to. */
import { PROBE_KINDS, type ProbeKind, probeOf } from "../../core/probe/probeTypes.ts";
import type { SimObservation } from "../simObservation.ts";
import { askedOf } from "../simProbers.ts";
import type { LiveContainer, liveContainers } from "./liveContainers.ts";

/** One answer. A warning is a success. */
export interface ProbeAnswer {
  readonly container: LiveContainer;
  readonly kind: ProbeKind;
  readonly isSuccess: boolean;
}

/** What an answered probe says; two containers of a pod that ask the same address get the same answer. */
export function probeAnswers(
  live: ReturnType<typeof liveContainers>,
  { podUid, containerId, asked, result }: SimObservation & { readonly kind: "probe" },
): readonly ProbeAnswer[] {
  return live.ofPod(podUid).flatMap((container) => {
    const spec = live.spec(container);
    if (spec === undefined || (containerId !== undefined && containerId !== container.id)) return [];
    const kinds = PROBE_KINDS.filter((kind) => {
      const probe = probeOf(spec, kind);
      return probe !== undefined && askedOf(probe, spec) === asked;
    });
    return kinds.map((kind) => ({ container, kind, isSuccess: result !== "failure" }));
  });
}
