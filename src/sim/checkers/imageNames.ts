/** The names of images in the pods of a kubelet, for checkers. */
import { imagesOfPod } from "../../core/image/imageGc.ts";
import type { SimObservation } from "../simObservation.ts";

/** Creates the names of no pods. Bound: the pods that are on the node or that their source lists. */
export function createImageNames() {
  const byPod = new Map<string, readonly string[]>();
  const listed = new Map<string, ReadonlySet<string>>();
  const clean = (podUid: string): void => {
    if (![...listed.values()].some((podUids) => podUids.has(podUid))) byPod.delete(podUid);
  };
  return {
    clear(): void {
      byPod.clear();
      listed.clear();
    },
    wanted({ source, podUids, news }: SimObservation & { readonly kind: "wanted" }): void {
      listed.set(source, podUids);
      for (const pod of news)
        byPod.set(pod.metadata.uid, [...(byPod.get(pod.metadata.uid) ?? []), ...imagesOfPod(pod)]);
    },
    /** Records that a pod was removed from the node. */
    removed: clean,
    /** The sources that have listed their pods. */
    sources: (): ReadonlySet<string> => new Set(listed.keys()),
    all: (): ReadonlySet<string> => new Set([...byPod.values()].flat()),
  };
}
