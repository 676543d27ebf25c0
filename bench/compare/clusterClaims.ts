/** Claims in a real cluster, and the times at which their volumes are attached to a node and detached from it. */
import { CoreV1Api, StorageV1Api, type V1Node, type V1VolumeAttachment } from "@kubernetes/client-node";
import { waitFor } from "../../test/support/waitFor.ts";
import { wallMs } from "../figures.ts";
import { loadCluster, NAMESPACE } from "./cluster.ts";
import { followObjects } from "./followObjects.ts";

const WAIT_MS = 300_000;
const SIZE = "16Mi";

/** Claims of one class. Times are wall times in milliseconds. */
export interface ClusterClaims {
  /** Makes claims; ends when all are bound. */
  bind(names: readonly string[]): Promise<void>;
  /** When the Node had the volume of a claim as attached: the first that a kubelet may see of it. */
  attached(claim: string): Promise<number>;
  /** When the volume of a claim was detached. */
  detached(claim: string): Promise<number>;
  /** Deletes claims with their volumes; ends when the volumes are gone. */
  remove(names: readonly string[]): Promise<void>;
  /** Ends the watches. */
  close(): void;
}

/** Follows the volumes of claims of the class `storageClassName` on the node `nodeName`; `kubeconfig` is an administrator's. */
export async function followClusterClaims(
  kubeconfig: string,
  storageClassName: string,
  nodeName: string,
): Promise<ClusterClaims> {
  const config = loadCluster(kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const storage = config.makeApiClient(StorageV1Api);
  /** Name of the volume of each claim. */
  const volumes = new Map<string, string>();
  const attachedAt = new Map<string, number>();
  const detachedAt = new Map<string, number>();
  /** Volume of each VolumeAttachment. */
  const attachments = new Map<string, string>();
  /** Volume of each handle of the driver. */
  const handles = new Map<string, string>();
  const selector = { fieldSelector: `metadata.name=${nodeName}` };
  const unfollowNode = await followObjects<V1Node>(config, {
    path: "/api/v1/nodes",
    query: selector,
    list: () => core.listNode(selector),
    seen: ({ status }) => {
      for (const { name } of status?.volumesAttached ?? []) {
        const volume = handles.get(name.slice(name.indexOf("^") + 1)) ?? "";
        if (!attachedAt.has(volume)) attachedAt.set(volume, wallMs());
      }
    },
    gone: () => {},
  });
  const unfollowAttachments = await followObjects<V1VolumeAttachment>(config, {
    path: "/apis/storage.k8s.io/v1/volumeattachments",
    list: () => storage.listVolumeAttachment(),
    seen: ({ metadata, spec }) => void attachments.set(metadata?.name ?? "", spec.source.persistentVolumeName ?? ""),
    gone: (name) => void detachedAt.set(attachments.get(name) ?? "", wallMs()),
  });
  const bodyOf = (name: string) => ({
    metadata: { name },
    spec: { storageClassName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: SIZE } } },
  });
  const untilBound = async (name: string): Promise<void> => {
    const volume = await waitFor(
      `claim ${name} to be bound`,
      async () => {
        const { spec, status } = await core.readNamespacedPersistentVolumeClaim({ namespace: NAMESPACE, name });
        return status?.phase === "Bound" && spec?.volumeName;
      },
      WAIT_MS,
    );
    const { spec } = await core.readPersistentVolume({ name: volume });
    handles.set(spec?.csi?.volumeHandle ?? "", volume);
    volumes.set(name, volume);
  };
  const timeOf = (times: ReadonlyMap<string, number>, claim: string, what: string): Promise<number> =>
    waitFor(`the volume of ${claim} to be ${what}`, () => times.get(volumes.get(claim) ?? ""), WAIT_MS);
  const untilGone = (claim: string): Promise<unknown> =>
    waitFor(
      `the volume of ${claim} to be gone`,
      async () => {
        const { items } = await core.listPersistentVolume();
        return items.every(({ metadata }) => metadata?.name !== volumes.get(claim));
      },
      WAIT_MS,
    );
  return {
    bind: async (names) => {
      for (const name of names) {
        await core.createNamespacedPersistentVolumeClaim({ namespace: NAMESPACE, body: bodyOf(name) });
      }
      for (const name of names) await untilBound(name);
    },
    attached: (claim) => timeOf(attachedAt, claim, "attached"),
    detached: (claim) => timeOf(detachedAt, claim, "detached"),
    remove: async (names) => {
      for (const name of names) await core.deleteNamespacedPersistentVolumeClaim({ namespace: NAMESPACE, name });
      for (const name of names) await untilGone(name);
    },
    close: () => {
      unfollowNode();
      unfollowAttachments();
    },
  };
}
