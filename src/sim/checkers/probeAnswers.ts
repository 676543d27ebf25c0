/** Maps a probe result to the probes and running containers it belongs to. */
import type { Container } from "../../core/api.ts";
import { perObject } from "../../core/perObject.ts";
import { PROBE_KINDS, type ProbeKind, probeOf } from "../../core/probe/probeTypes.ts";
import type { SimObservation } from "../simObservation.ts";
import { askedOf } from "../simProbers.ts";
import type { LiveContainer, liveContainers } from "./liveContainers.ts";

/** The result of a probe. A warning is a success. */
export interface ProbeAnswer {
  readonly container: LiveContainer;
  readonly kind: ProbeKind;
  readonly isSuccess: boolean;
}

/** Request of each probe of a container, as text. */
const askedBy = perObject((spec: Container): readonly (readonly [kind: ProbeKind, asked: string])[] =>
  PROBE_KINDS.flatMap((kind) => {
    const probe = probeOf(spec, kind);
    return probe === undefined ? [] : [[kind, askedOf(probe, spec)] as const];
  }),
);

/** Returns the results of a probe observation; containers of a pod that probe the same address share the result. */
export function probeAnswers(
  live: ReturnType<typeof liveContainers>,
  { podUid, containerId, asked, result }: SimObservation & { readonly kind: "probe" },
): readonly ProbeAnswer[] {
  return live.ofPod(podUid).flatMap((container) => {
    const spec = live.spec(container);
    if (spec === undefined || (containerId !== undefined && containerId !== container.id)) return [];
    const answered = askedBy(spec).filter(([, each]) => each === asked);
    return answered.map(([kind]) => ({ container, kind, isSuccess: result !== "failure" }));
  });
}
