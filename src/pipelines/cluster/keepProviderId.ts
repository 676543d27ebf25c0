/**
 * Gives the Node the provider id of its instance in the cloud, when the Node was created before the metadata service
 * answered. A provider id never changes: another one stays, and is logged once per Node.
 * Writes no cell. Bound: one request at a time. Upstream: initialNode of pkg/kubelet/kubelet_node_status.go, which delays
 * the registration instead.
 */
import { defer, EMPTY, ignoreElements, type Observable, switchMap } from "rxjs";
import type { CloudInstance } from "../../core/cloud/cloudInstance.ts";
import type { Node } from "../../core/api.ts";
import { sameItems } from "../../core/sameValue.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { derived } from "../../operators/derived.ts";
import { retryWithBackoff } from "../../operators/retryWithBackoff.ts";
import type { ApiServer } from "../../ports/apiServer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

export interface ProviderIdWriter extends Pick<KubeletPorts, "clock" | "rng" | "telemetry"> {
  readonly api: Pick<ApiServer, "patch">;
  readonly nodeName: string;
  /** `providerID` of the configuration, which precedes the cloud's; empty: none. */
  readonly configured: string;
  /** Deadline of a request, in milliseconds. */
  readonly deadlineMs: number;
  readonly node: ReadonlyCell<Node | undefined>;
  readonly cloudInstance: ReadonlyCell<CloudInstance | undefined>;
}

const BACKOFF: BackoffCurve = { initialMs: 1_000, maxMs: 60_000, jitter: 0.5 };

/** Follows the Node and the instance. Never emits or errors. Cancels: the request for an earlier Node. */
export const providerId = (writer: ProviderIdWriter): Observable<never> =>
  derived([writer.node.changes$, writer.cloudInstance.changes$], () => idsOf(writer), sameItems).pipe(
    switchMap(([uid = "", current = "", wanted = ""]) => {
      if (uid === "" || wanted === "" || current === wanted) return EMPTY;
      if (current !== "") return refused(writer, current, wanted);
      return write(writer, uid, wanted);
    }),
  );

/** Returns the UID and the provider id of the Node, and the wanted one; empty when unknown. */
const idsOf = ({ node, cloudInstance, configured }: ProviderIdWriter): readonly string[] => [
  node.value?.metadata?.uid ?? "",
  node.value?.spec?.providerID ?? "",
  cloudInstance.value === undefined ? "" : configured || cloudInstance.value.providerId,
];

const refused = ({ telemetry }: ProviderIdWriter, current: string, wanted: string): Observable<never> =>
  defer(() => {
    const message =
      "The Node has another provider id than its instance; delete the Node to register it with the new one";
    telemetry.log.error(message, { current, wanted });
    return EMPTY;
  });

function write(writer: ProviderIdWriter, uid: string, id: string): Observable<never> {
  const { api, nodeName: name, deadlineMs, telemetry } = writer;
  const type = "application/strategic-merge-patch+json";
  // The UID keeps the id from a later Node of the same name.
  const body = { metadata: { uid }, spec: { providerID: id } };
  return defer(() => api.patch("nodes", { name }, { type, body }, { deadlineMs })).pipe(
    retryWithBackoff(BACKOFF, writer, (failure) =>
      telemetry.log.error("Failed to set the provider id of the Node", { ...failure }),
    ),
    ignoreElements(),
  );
}
