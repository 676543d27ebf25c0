/**
 * Gives each resource with GPUs to the plugin of a vendor or to the GPU manager of the kubelet. Their ids differ, so both
 * at once could give one GPU to two containers. State: whether a vendor's plugin has registered, per resource.
 */
import { defer, filter, type Observable } from "rxjs";
import { type DeviceAllocations, idsOf } from "../../core/device/deviceAllocations.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { isPciAddress } from "../../core/gpu/gpus.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import type { Logger } from "../../ports/telemetry.ts";
import type { Registration } from "./resourceChanges.ts";

/** Reason of the event. */
const REFUSED = "GPUManagerRefused";

/** Tells the operator about a refusal. */
export interface RefusalReport {
  readonly log: Logger;
  readonly nodeName: string;
  readonly event: (event: KubeletEvent) => void;
}

/** Returns why a vendor's plugin cannot register beside the GPU manager; undefined if it can. */
export const vendorRefusal = (resource: string, allocations: DeviceAllocations | undefined): string | undefined =>
  heldIds(resource, allocations, true)
    ? `pods use devices of ${resource} that the GPU manager of the kubelet gave them; ` +
      "remove these pods, or start the kubelet without --gpu-manager"
    : undefined;

/** Whether pods hold devices of the GPU manager (`isOwn`) or of another plugin. */
function heldIds(resource: string, allocations: DeviceAllocations | undefined, isOwn: boolean): boolean {
  const containers = [...(allocations?.pods.values() ?? [])].flatMap((pod) => [...pod.values()]);
  return containers.some((own) => {
    const allocation = own.get(resource);
    return allocation !== undefined && idsOf(allocation).some((id) => isPciAddress(id) === isOwn);
  });
}

/**
 * Passes the registrations of one resource, without the GPU manager's if a vendor's plugin has registered or pods hold
 * devices of one.
 *
 *     registrations    g-----v---g---      g GPU manager, v vendor's plugin
 *     vendorsFirst     g-----v-------
 *     report           ------!---!---
 *
 * Errors: the source's. Bound: two flags.
 */
export const vendorsFirst =
  (resource: string, allocations: () => DeviceAllocations | undefined, report: RefusalReport) =>
  (registrations$: Observable<Registration>): Observable<Registration> =>
    defer(() => {
      let hasVendor = false;
      let offersOwn = false;
      const refuse = (why: string): void => {
        report.log.warn("The GPU manager does not offer the GPUs of a resource", { resource, why });
        const message = `The GPU manager of the kubelet does not offer ${resource}: ${why}`;
        report.event(nodeEvent(report.nodeName, REFUSED, message, "Warning"));
      };
      return registrations$.pipe(
        filter(({ socket, isBuiltIn }) => {
          if (isBuiltIn !== true) {
            if (socket !== undefined && offersOwn && !hasVendor) refuse("a device plugin has registered for it");
            hasVendor ||= socket !== undefined;
            return true;
          }
          const holdsOthers = heldIds(resource, allocations(), false);
          if (hasVendor) refuse("a device plugin has registered for it");
          else if (holdsOthers) refuse("pods use devices that a device plugin gave them");
          offersOwn ||= !hasVendor && !holdsOthers;
          return !hasVendor && !holdsOthers;
        }),
      );
    });
