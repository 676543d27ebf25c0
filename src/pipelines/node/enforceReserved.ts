/**
 * Limits the cgroups of the system and of Kubernetes to their reservations. The administrator owns these cgroups: a
 * missing one is never created, and a node that cannot enforce its configuration does not start. Upstream:
 * enforceNodeAllocatableCgroups of node_container_manager_linux.go.
 */
import { catchError, concat, defer, ignoreElements, type Observable, of } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletEvent } from "../../core/events.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import { printedCgroupName } from "../../core/resources/podCgroup.ts";
import { type ReservedCgroup, reservedCgroupName } from "../../core/resources/reservedCgroups.ts";
import { inSequence } from "../../operators/inSequence.ts";
import type { Cgroups } from "../../ports/cgroup.ts";

type Config = Pick<KubeletConfig, "nodeName" | "cgroupDriver" | "reservedCgroups">;

const TITLES = { "system reserved": "System Reserved", "kube reserved": "Kube Reserved" } as const;

/** Emits an event per cgroup. Errors with upstream's message when a cgroup cannot be limited. */
export const enforceReserved = (cgroups: Cgroups, config: Config): Observable<KubeletEvent> =>
  inSequence(config.reservedCgroups, (reserved) => enforce(cgroups, config, reserved));

function enforce(
  cgroups: Cgroups,
  { nodeName, cgroupDriver }: Config,
  reserved: ReservedCgroup,
): Observable<KubeletEvent> {
  const { cgroup, reservation, isCompressible, limits } = reserved;
  const name = reservedCgroupName(cgroupDriver, reserved);
  const done = `Updated limits on ${reservation} cgroup ${cgroup}`;
  const write$ = defer(() => {
    if (limits !== undefined) return cgroups.update(name, limits);
    throw kubeletError("InvalidArgument", `${printedCgroupName(name)} cgroup is not configured properly`);
  });
  return concat(write$.pipe(ignoreElements()), of(nodeEvent(nodeName, "NodeAllocatableEnforced", done))).pipe(
    catchError((thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      const title = `${TITLES[reservation]}${isCompressible ? " Compressible" : ""}`;
      const failed = `Failed to enforce ${title} Cgroup Limits on ${JSON.stringify(cgroup)}: ${message}`;
      throw kubeletError(code, failed, { cause: thrown });
    }),
  );
}
