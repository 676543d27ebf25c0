/** Pods of one container that does nothing, in the network of the host: the bridge of a bench's node has 254 addresses. */
import type { Container, Pod } from "../../src/core/api.ts";
import { NODE_NAME } from "../../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../../test/support/images.ts";

/** Returns the spec of such a pod. */
export const hostPod = (container: Partial<Container> = {}): Partial<Pod["spec"]> => ({
  nodeName: NODE_NAME,
  hostNetwork: true,
  terminationGracePeriodSeconds: 1,
  containers: [{ name: "main", image: PAUSE_IMAGE, ...container }],
});
