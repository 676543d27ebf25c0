import { catchError, concat, ignoreElements, of } from "rxjs";
import { type Mutant, withCsi } from "./mutant.ts";

/** Unstages the volume of each pod that ends, also while another pod uses it. */
export const hastyUnstages: Mutant = {
  bug: "volumes are unstaged while they are published for another pod",
  caughtBy: "unstagedLast",
  workload: "csi",
  createKubelet: (config, ports) => {
    const staged = new Map<string, string>();
    const create = withCsi((client) => ({
      nodeStageVolume: (request) => {
        staged.set(request.volumeId, request.stagingTargetPath);
        return client.nodeStageVolume(request);
      },
      nodeUnpublishVolume: (request) => {
        const { volumeId } = request;
        const stagingTargetPath = staged.get(volumeId);
        if (stagingTargetPath === undefined) return client.nodeUnpublishVolume(request);
        const unstaged$ = client.nodeUnstageVolume({ volumeId, stagingTargetPath }).pipe(catchError(() => of({})));
        return concat(unstaged$.pipe(ignoreElements()), client.nodeUnpublishVolume(request));
      },
    }));
    return create(config, ports);
  },
};
