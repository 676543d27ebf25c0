/** Events about the expansion of a volume on the node, in upstream's words. Upstream: node_expander.go. */
import type { Pod } from "../api.ts";
import { goQuote } from "../container/goJson.ts";
import type { EventObject, KubeletEvent } from "../events.ts";
import { podEventObject } from "../pod/podEvents.ts";
import type { Claim } from "./volumeExpansion.ts";

/** `readOnly`: the file system cannot grow, because the pod has it read-only. */
export type ExpansionOutcome = "succeeded" | "readOnly";

/** Returns the events of the pod and of its claim. */
export function expansionEvents(
  pod: Pod,
  claim: Claim,
  volume: string,
  outcome: ExpansionOutcome,
): readonly KubeletEvent[] {
  const event =
    outcome === "succeeded"
      ? {
          ...{ type: "Normal", reason: "FileSystemResizeSuccessful" },
          message: `MountVolume.NodeExpandVolume succeeded for volume ${goQuote(volume)} ${pod.spec.nodeName ?? ""}`,
        }
      : {
          ...{ type: "Warning", reason: "FileSystemResizeFailed" },
          message: `MountVolume.NodeExpandVolume failed for volume ${goQuote(volume)} requested read-only file system`,
        };
  return [podEventObject(pod), claimEventObject(claim)].map((object) => ({ ...event, object }) as KubeletEvent);
}

function claimEventObject({ metadata = {} }: Claim): EventObject {
  const { namespace = "", name = "", uid = "", resourceVersion } = metadata;
  return {
    ...{ kind: "PersistentVolumeClaim", namespace, name, uid, fieldPath: "" },
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/** Returns reason and message of the pod's event for a volume in use that the node could not expand. */
export const expansionFailure = (volume: string, message: string): Pick<KubeletEvent, "reason" | "message"> => ({
  reason: "VolumeResizeFailed",
  message: `NodeExpandVolume.NodeExpandVolume failed for volume ${goQuote(volume)} : ${message}`,
});
