/**
 * The provisioner of volumes on a simulated API server: binds the claims of pods to new volumes. Owners make some of their
 * claims larger later. Owns nothing but the objects of the server. Bound: MOST_GROWTHS pending actions per claim.
 */
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import { createPrng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { refOf } from "../workload/ownedApiPods.ts";
import { claimDriver } from "../workload/workloadClaims.ts";
import { isGrownByNode } from "./simCsiDrivers.ts";
import { createResizer } from "./simResizer.ts";
import { FIRST_SIZE, type SimVolumeSizes, sizeText } from "./simVolumeSizes.ts";

const MOST_GROWTHS = 3;
const LATEST_GROWTH_MS = 20 * 60_000;

export interface SimProvisioner {
  /** Binds a claim to a volume, both new, unless the claim is there. */
  provision(claim: string): void;
}

/** Creates the provisioner; owners make claims larger in the first `durationMs`. */
export function createProvisioner(
  node: SimNode,
  server: SimApiServer,
  sizes: SimVolumeSizes,
  durationMs: number,
): SimProvisioner {
  const resizer = createResizer(node, server, sizes);
  const growLater = (claim: string, uid: string): void => {
    const prng = createPrng(`growth of ${claim} of ${uid}`);
    const growths = isGrownByNode(claimDriver(claim).driver) && prng.chance(0.6) ? prng.int(1, MOST_GROWTHS) : 0;
    const lastMs = Math.min(LATEST_GROWTH_MS, durationMs - node.clock.monotonicMs());
    for (let each = 0; each < growths && lastMs > 0; each += 1) {
      node.scheduler.schedule(() => resizer.grow(claim), prng.int(1, lastMs));
    }
  };
  return {
    provision(claim) {
      if (server.object("persistentvolumeclaims", refOf(claim)) !== undefined) return;
      const { driver, accessModes: modes, volumeMode } = claimDriver(claim);
      const accessModes = [...modes];
      const capacity = { storage: sizeText(FIRST_SIZE) };
      const name = `pv-${claim}`;
      const made = server.put("persistentvolumeclaims", {
        metadata: refOf(claim),
        spec: { accessModes, volumeName: name, volumeMode, resources: { requests: capacity } },
      });
      const { uid = "" } = made.metadata ?? {};
      const csi = { driver, volumeHandle: `volume-of-${claim}`, fsType: "ext4" };
      const claimRef = { ...refOf(claim), uid };
      server.put("persistentvolumes", {
        metadata: { name },
        spec: { accessModes, capacity, claimRef, csi, volumeMode, persistentVolumeReclaimPolicy: "Delete" },
      });
      const seen = { driver, volume: csi.volumeHandle, path: claim, call: 0, bytes: FIRST_SIZE } as const;
      node.see({ kind: "csi", ...seen, rpc: "provision", what: "done" });
      server.setStatusOf("persistentvolumeclaims", refOf(claim), { phase: "Bound", capacity });
      growLater(claim, uid);
    },
  };
}
