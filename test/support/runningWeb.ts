/** The pod that tests of servers ask for. */
import type { Pod } from "../../src/core/api.ts";
import { containerId, podUid, sandboxId } from "../../src/core/ids.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../src/core/runtime/podRuntimeStatus.ts";

/** `demo/web` with the container `main`. */
export const WEB: Pod = {
  metadata: { name: "web", namespace: "demo", uid: "u" },
  spec: { containers: [{ name: "main", image: "i" }] },
};

/** Runtime status of a pod: the sandbox `s1` is up, the container `c1` runs. */
export const RUNNING_WEB: PodRuntimeStatus = {
  ...emptyRuntimeStatus(podUid("u"), "web", "demo", 1),
  sandboxes: [{ id: sandboxId("s1"), ready: true } as never],
  containers: [{ id: containerId("c1"), name: "main", state: "running" } as never],
};
