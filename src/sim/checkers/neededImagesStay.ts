/**
 * The kubelet removes no image that is pinned, that a created or running container uses, or that a pod names which may
 * still start: a pod of a source that is neither terminal nor deleted. Judges each request when it is sent.
 */
import type { Pod } from "../../core/api.ts";
import type { PodSource } from "../../core/pod/sourceSnapshot.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { SimImage } from "../runtime/simRecords.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimObservation } from "../simObservation.ts";

/** The images that a pod names, and when it first named them. */
interface Naming {
  readonly pod: string;
  readonly images: string;
  readonly sinceMs: number;
}

const imagesOf = ({ spec }: Pod): readonly string[] =>
  [...(spec.initContainers ?? []), ...spec.containers].map(({ image = "" }) => image);

/** Bound: the pods of the last snapshots, and the containers of the runtime. */
export function neededImagesStay(): SimChecker {
  const named = new Map<PodSource, ReadonlyMap<string, Naming>>();
  const over = new Set<string>();
  /** Image and name of each container that has not exited, by container id. */
  const users = new Map<string, readonly [imageId: string, name: string]>();
  const wanted = ({ atMs, source, pods }: SimObservation & { readonly kind: "wanted" }): void => {
    const before = named.get(source);
    const after = new Map<string, Naming>();
    for (const pod of pods) {
      const { uid, name, deletionTimestamp } = pod.metadata;
      if (deletionTimestamp !== undefined || isTerminalPhase(pod.status?.phase)) continue;
      const images = imagesOf(pod).join(" ");
      const known = before?.get(uid);
      after.set(uid, known?.images === images ? known : { pod: name, images, sinceMs: atMs });
      if (known === undefined) over.delete(uid);
    }
    named.set(source, after);
  };
  const problemOf = ({ id, repoTags, pinned }: SimImage, atMs: number): string | undefined => {
    if (pinned === true) return "is pinned";
    const user = [...users.values()].find(([imageId]) => imageId === id);
    if (user !== undefined) return `is used by ${user[1]}`;
    for (const [uid, { pod, images, sinceMs }] of [...named.values()].flatMap((pods) => [...pods])) {
      // The kubelet may have decided before it read the snapshot of the same instant.
      if (sinceMs === atMs || over.has(uid)) continue;
      if (repoTags.some((tag) => images.split(" ").includes(tag))) return `is needed by pod ${pod}`;
    }
    return undefined;
  };
  return {
    name: "neededImagesStay",
    sees: ["wanted", "status", "change", "call", "kubelet"],
    check(observation) {
      switch (observation.kind) {
        case "kubelet":
          named.clear();
          over.clear();
          return undefined;
        case "wanted":
          wanted(observation);
          return undefined;
        case "status":
          if (isTerminalPhase(observation.after?.phase)) over.add(observation.podUid);
          return undefined;
        case "change": {
          const { kind, id, name, imageId } = observation.change;
          if (kind === "container created") users.set(id, [imageId ?? "", name]);
          if (kind === "container exited" || kind === "container removed") users.delete(id);
          return undefined;
        }
        case "call": {
          const { image, atMs } = observation;
          const problem = image && problemOf(image, atMs);
          return problem === undefined ? undefined : `image ${image?.repoTags[0]} was removed, but it ${problem}`;
        }
        default:
          return undefined;
      }
    },
  };
}
