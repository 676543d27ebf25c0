import { type Mutant, withCsi } from "./mutant.ts";

/** Publishes volumes without the mount options that they are staged with. */
export const lostContexts: Mutant = {
  bug: "volumes are published without their SELinux context",
  caughtBy: "oneContext",
  workload: "csi",
  // The first seed of a node with SELinux.
  seed: 8,
  createKubelet: withCsi((client) => ({
    nodePublishVolume: ({ volumeCapability, ...request }) => {
      const mount = volumeCapability?.mount;
      const without = mount && { ...volumeCapability, mount: { ...mount, mountFlags: [] } };
      return client.nodePublishVolume({ ...request, volumeCapability: without ?? volumeCapability });
    },
  })),
};
