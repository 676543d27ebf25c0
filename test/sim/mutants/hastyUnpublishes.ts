import { catchError, concat, defer, ignoreElements, merge, of } from "rxjs";
import type { CsiClient } from "../../../src/ports/csiDrivers.ts";
import { type Mutant, withCsi } from "./mutant.ts";

type Unpublish = () => ReturnType<CsiClient["nodeUnpublishVolume"]>;

/** Unpublishes all volumes before it stops a container. */
export const hastyUnpublishes: Mutant = {
  bug: "volumes are unpublished while a container uses them",
  caughtBy: "volumesOutliveContainers",
  workload: "csi",
  createKubelet: (config, ports) => {
    const published = new Map<string, Unpublish>();
    const unpublishAll$ = defer(() =>
      merge(...[...published.values()].map((unpublish) => unpublish().pipe(catchError(() => of({}))))),
    ).pipe(ignoreElements());
    const create = withCsi((client) => ({
      nodePublishVolume: (request) => {
        const { volumeId, targetPath } = request;
        published.set(targetPath, () => client.nodeUnpublishVolume({ volumeId, targetPath }));
        return client.nodePublishVolume(request);
      },
    }));
    const { runtime } = ports;
    const stopContainer: typeof runtime.stopContainer = (request, options) =>
      concat(unpublishAll$, runtime.stopContainer(request, options));
    return create(config, { ...ports, runtime: { ...runtime, stopContainer } });
  },
};
