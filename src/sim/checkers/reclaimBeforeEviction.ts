/**
 * The kubelet evicts no pod for disk space or inodes while an image could be removed instead: one that is not pinned,
 * that has been there for longer than any minimum age, that no pod and no container names, and that the kubelet has not
 * tried to remove. Rests until the pods of all sources are known, after the clock was set, and while requests that a
 * removal needs fail or are slow, or the runtime is down.
 */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SimChecker } from "../simChecker.ts";
import type { SimImage } from "../runtime/simRecords.ts";
import type { SimObservation } from "../simObservation.ts";
import { createImageNames } from "./imageNames.ts";
import { nodeEvictionOf } from "./nodeEvictions.ts";

/** Two minutes of minimum age count from a collection, which comes every five minutes. */
const OLD_MS = 450_000;
/** A collection waits for requests of the one before it, which end after two minutes. */
const FAILING_MS = 150_000;

const DISKS: readonly string[] = ["ephemeral-storage", "inodes"];

interface Present {
  readonly image: SimImage;
  /** When it was pulled, or the last failed collection ended that could have been the first to see it. */
  readonly sinceMs: number;
}

/** Creates the images of a node and their users. Bound: the images and containers of the node. */
function createPresentImages() {
  const present = new Map<string, Present>();
  /** Images of containers, by container id. */
  const users = new Map<string, string>();
  return {
    changed({ atMs, change }: SimObservation & { readonly kind: "change" }): void {
      const { kind, id, image, imageId } = change;
      if (kind === "image pulled" && image !== undefined) present.set(id, { image, sinceMs: atMs });
      if (kind === "image removed") present.delete(id);
      if (kind === "container created" && imageId !== undefined) users.set(id, imageId);
      if (kind === "container removed") users.delete(id);
    },
    /** The age of an image counts from the first collection that lists it: one that fails leaves this to the next. */
    rejuvenate(failedAtMs: number): void {
      for (const [id, { image, sinceMs }] of present) {
        if (failedAtMs - sinceMs < OLD_MS) present.set(id, { image, sinceMs: failedAtMs + FAILING_MS });
      }
    },
    /** No collection lists images while the kubelet does not know the pods of all sources. */
    unlisted(fromMs: number, untilMs: number): void {
      for (const [id, { image, sinceMs }] of present) {
        if (fromMs - sinceMs < OLD_MS) present.set(id, { image, sinceMs: untilMs });
      }
    },
    /** Returns the images beyond any minimum age that are not pinned and that no container names. */
    unused(atMs: number): readonly SimImage[] {
      const used = new Set(users.values());
      return [...present.values()].flatMap(({ image, sinceMs }) =>
        image.pinned === true || atMs - sinceMs < OLD_MS || used.has(image.id) ? [] : [image],
      );
    },
  };
}

/** Bound: the images of the node, and the names of images in the pods of this kubelet. */
export function reclaimBeforeEviction({ sources }: Pick<KubeletConfig, "sources">): SimChecker {
  const images = createPresentImages();
  const names = createImageNames();
  const tried = new Set<string>();
  let restsUntilMs = 0;
  /** Time since which this kubelet does not know the pods of all sources; undefined: it does. */
  let unknownSinceMs: number | undefined = 0;
  const isKnown = (): boolean => sources.every((source) => names.sources().has(source));
  let imagesListedAtMs = -1;
  /** A collection lists containers together with images; other parts of the kubelet list them too. */
  const isNeeded = ({ rpc, atMs }: SimObservation & { readonly kind: "call" }): boolean =>
    rpc === "ListImages" || rpc === "RemoveImage" || (rpc === "ListContainers" && atMs === imagesListedAtMs);
  const collectionFailed = (atMs: number): void => {
    restsUntilMs = Math.max(restsUntilMs, atMs + FAILING_MS);
    images.rejuvenate(atMs);
  };
  const removable = (atMs: number): SimImage | undefined => {
    const named = names.all();
    return images.unused(atMs).find(({ id, repoTags }) => !tried.has(id) && !repoTags.some((tag) => named.has(tag)));
  };
  return {
    name: "reclaimBeforeEviction",
    sees: ["kubelet", "clock", "wanted", "status", "call", "action", "change", "event"],
    check(observation) {
      const { atMs } = observation;
      switch (observation.kind) {
        case "kubelet":
          names.clear();
          tried.clear();
          unknownSinceMs ??= atMs;
          return undefined;
        case "clock":
          // Ages of images count anew after the clock was set back.
          restsUntilMs = atMs + OLD_MS;
          return undefined;
        case "wanted":
          names.wanted(observation);
          if (unknownSinceMs === undefined || !isKnown()) return undefined;
          images.unlisted(unknownSinceMs, atMs);
          unknownSinceMs = undefined;
          return undefined;
        case "status":
          if (observation.after === undefined) names.removed(observation.podUid);
          return undefined;
        case "call":
          if (observation.image !== undefined) tried.add(observation.image.id);
          if (observation.rpc === "ListImages") imagesListedAtMs = atMs;
          if (observation.fate === "proceed" || !isNeeded(observation)) return undefined;
          if (observation.rpc !== "RemoveImage") collectionFailed(atMs);
          else restsUntilMs = Math.max(restsUntilMs, atMs + FAILING_MS);
          return undefined;
        case "action":
          // Collections failed meanwhile without a request.
          if (observation.text === "runtime started") collectionFailed(atMs);
          return undefined;
        case "change":
          images.changed(observation);
          return undefined;
        case "event": {
          const eviction = nodeEvictionOf(observation);
          if (eviction === undefined || !DISKS.includes(eviction.resource)) return undefined;
          if (atMs < restsUntilMs || !isKnown()) return undefined;
          const image = removable(atMs);
          return image && `${eviction.subject} was evicted although image ${image.repoTags[0]} could be removed`;
        }
        default:
          return undefined;
      }
    },
  };
}
