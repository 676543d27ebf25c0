/** Commands of an operator for a pod of this node. They count as an update of the pod's source until its next one. */
import { RETRY_AT } from "../core/pod/crashLoopSteering.ts";
import type { Registry } from "../core/pod/podRegistry.ts";
import type { PodUpdate } from "../core/pod/podUpdate.ts";
import { rfc3339Nano } from "../core/time/civilTime.ts";
import type { Clock } from "../ports/clock.ts";
import type { KubeletCommands } from "../ports/kubeletCommands.ts";
import type { ReadonlyCell } from "../state/cell.ts";

/** Returns the commands; `send` passes an update on the way that updates of sources take. */
export const podCommands = (
  registry: ReadonlyCell<Registry>,
  clock: Pick<Clock, "wallTime">,
  send: (update: PodUpdate) => void,
): KubeletCommands => ({
  retry: (namespace, name) => {
    const records = [...registry.value.records.values()];
    const found = records.find(
      ({ identity: is, pod }) => pod !== undefined && is.namespace === namespace && is.name === name,
    );
    if (found?.pod === undefined) return false;
    const { metadata } = found.pod;
    const annotations = { ...metadata.annotations, [RETRY_AT]: rfc3339Nano(clock.wallTime()) };
    send({ op: "UPDATE", source: "api", pods: [{ ...found.pod, metadata: { ...metadata, annotations } }] });
    return true;
  },
});
