import { switchMap } from "rxjs";
import type { Mutant } from "./mutant.ts";
import { withPodLane } from "./mutant.ts";

/** Creates each mirror pod a second time, under another name. */
export const secondMirror: Mutant = {
  bug: "a static pod gets two mirror pods",
  caughtBy: "oneMirror",
  seed: 2,
  createKubelet: withPodLane((pods) => ({
    create: (resource, object, options) => {
      const again = { ...object, metadata: { ...object.metadata, name: `${object.metadata?.name}-again` } };
      return pods.create(resource, again).pipe(switchMap(() => pods.create(resource, object, options)));
    },
  })),
};
