/**
 * The resizer of volumes on a simulated API server: makes a volume as large as its claim asks, at once, or once the volume is
 * attached to no node, and leaves its file system or device to the node. The owner of a claim asks for more after an expansion
 * that the node has found infeasible. Owns nothing but the objects of the server. Bound: one pending action per request.
 */
import { attachmentId } from "../../core/csi/csiLayout.ts";
import { type StoredObject, typed } from "../../core/apiObjects/storedObject.ts";
import { sizeBytes } from "../../core/volume/volumeExpansion.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import { createPrng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { refOf } from "../workload/ownedApiPods.ts";
import { isAttachedFirst } from "./simCsiDrivers.ts";
import { RESIZE_INFEASIBLE, SIM_GIBIBYTE, type SimVolumeSizes, sizeText } from "./simVolumeSizes.ts";

const RESIZE_MS = 2_000;
const LATER_MS = 10_000;

export interface SimResizer {
  /** Asks for a larger volume, as the owner of the claim. */
  grow(claim: string): void;
}

/** Creates the resizer. */
export function createResizer(node: SimNode, server: SimApiServer, sizes: SimVolumeSizes): SimResizer {
  const later = (ms: number, action: () => void): void => void node.scheduler.schedule(action, ms);
  const resize = (claim: string): void => {
    const found = server.object("persistentvolumeclaims", refOf(claim));
    const name = found?.spec?.volumeName ?? "";
    const { spec, metadata } = server.object("persistentvolumes", { name }) ?? {};
    const { driver = "", volumeHandle: volume = "" } = spec?.csi ?? {};
    const bytes = sizeBytes(found?.spec?.resources?.requests?.["storage"]);
    if (found === undefined || spec === undefined || bytes <= sizeBytes(spec.capacity?.["storage"])) return;
    const attachment = { name: attachmentId(driver, volume, node.config.nodeName) };
    const isOffline = isAttachedFirst(driver) && createPrng(`expansion of ${claim}`).chance(0.3);
    const isAwaited = isOffline && server.object("volumeattachments", attachment) !== undefined;
    sizes.setAwaited(volume, isAwaited);
    if (isAwaited) {
      later(LATER_MS, () => resize(claim));
      return;
    }
    sizes.grow(volume, bytes);
    node.see({ kind: "csi", driver, rpc: "grow", volume, path: claim, call: 0, what: "done", bytes });
    const capacity = { storage: sizeText(bytes) };
    server.put("persistentvolumes", { metadata: metadata ?? {}, spec: { ...spec, capacity } });
    const status = { allocatedResources: capacity, allocatedResourceStatuses: { storage: "NodeResizePending" } };
    server.setStatusOf("persistentvolumeclaims", refOf(claim), { ...found.status, ...status });
  };
  const grow = (claim: string): void => {
    const { spec } = server.object("persistentvolumeclaims", refOf(claim)) ?? {};
    if (spec === undefined) return;
    const storage = sizeText(sizeBytes(spec.resources?.requests?.["storage"]) + SIM_GIBIBYTE);
    node.note(`claim ${claim} asks for ${storage}`);
    server.put("persistentvolumeclaims", {
      metadata: refOf(claim),
      spec: { ...spec, resources: { requests: { storage } } },
    });
    later(RESIZE_MS, () => resize(claim));
  };
  server.changes$.subscribe({
    next({ resource, type, object, previous }) {
      if (resource !== "persistentvolumeclaims" || type !== "MODIFIED") return;
      const isNews = resizingOf(object) === RESIZE_INFEASIBLE && resizingOf(previous) !== RESIZE_INFEASIBLE;
      const { name = "" } = object.metadata;
      if (isNews) later(LATER_MS, () => grow(name));
    },
  });
  return { grow };
}

const resizingOf = (claim: StoredObject | undefined): string | undefined =>
  claim && typed<"persistentvolumeclaims">(claim).status?.allocatedResourceStatuses?.["storage"];
