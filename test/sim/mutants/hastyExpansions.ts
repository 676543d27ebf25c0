import { catchError, concat, ignoreElements, of } from "rxjs";
import { NodeExpandVolumeRequest } from "../../../src/gen/csi.ts";
import { FIRST_SIZE } from "../../../src/sim/storage/simVolumeSizes.ts";
import { type Mutant, withCsi } from "./mutant.ts";

/** Expands a volume before each publication. */
export const hastyExpansions: Mutant = {
  bug: "volumes are expanded before they are published",
  caughtBy: "expandedInPlace",
  workload: "csi",
  createKubelet: withCsi((client) => ({
    nodePublishVolume: (request) => {
      const { volumeId, targetPath: volumePath } = request;
      const capacityRange = { requiredBytes: FIRST_SIZE, limitBytes: 0n };
      const expand = NodeExpandVolumeRequest.fromPartial({ volumeId, volumePath, capacityRange });
      const expanded$ = client.nodeExpandVolume(expand).pipe(catchError(() => of({})));
      return concat(expanded$.pipe(ignoreElements()), client.nodePublishVolume(request));
    },
  })),
};
