/**
 * The container runtime over gRPC: CRI v1 and, where the runtime is containerd, its own event service. One connection
 * per endpoint, owned by the client and ended by `close`. Bounds: a deadline on every call, 16 MiB per message.
 * Upstream: the cri-client module and kuberuntime's instrumented services.
 */
import { criDeadlineMs, operationType } from "../core/criOperations.ts";
import type { CriRpc } from "../core/criOperations.ts";
import type { ErrorCode } from "../core/errors.ts";
import { EventsDefinition } from "../gen/containerd.ts";
import { ImageServiceDefinition, RuntimeServiceDefinition } from "../gen/cri.ts";
import type { RunPodSandboxRequest } from "../gen/cri.ts";
import type { Clock } from "../ports/clock.ts";
import type { ContainerdEventService } from "../ports/containerd.ts";
import type { ImageService, RuntimeService } from "../ports/cri.ts";
import type { Tracing } from "../ports/tracing.ts";
import { openChannel } from "./grpcChannel.ts";
import { bindService } from "./grpcService.ts";
import type { GrpcCallRecord } from "./grpcService.ts";

/** A finished CRI call, for the metrics `kubelet_runtime_operations_*` and `kubelet_run_podsandbox_*`. */
export interface CriCallRecord {
  /** Rpc as the protocol spells it, for example `RunPodSandbox`. */
  readonly method: CriRpc;
  /** Label `operation_type`. */
  readonly operationType: string;
  readonly durationMs: number;
  /** `Cancelled` also when the subscriber unsubscribed. */
  readonly code: "Ok" | ErrorCode;
  /** Runtime handler; set for RunPodSandbox only. */
  readonly runtimeHandler?: string;
}

export interface CriClientOptions {
  /** `unix:///run/containerd/containerd.sock` */
  readonly endpoint: string;
  /** Endpoint of the ImageService, if it differs. */
  readonly imageEndpoint?: string;
  /** Deadline of ordinary calls in milliseconds (`runtimeRequestTimeout`, upstream 2 min). */
  readonly defaultDeadlineMs: number;
  /** Must run in real time. */
  readonly clock: Clock;
  /** Called once per CRI request, when the request has ended. Must not throw. */
  readonly onCall?: (record: CriCallRecord) => void;
  /** Absent: calls are not traced. */
  readonly tracing?: Tracing | undefined;
}

export interface CriClient {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Answers Unimplemented unless the runtime is containerd. */
  readonly containerdEvents: ContainerdEventService;
  /** Closes the connections; calls in flight fail and later calls are rejected. */
  close(): void;
}

/**
 * Connects on the first call. Throws a KubeletError (InvalidArgument) for an endpoint that is not a unix socket.
 * Deadlines per rpc: see `criDeadlineMs`; `CallOptions.deadlineMs` wins.
 */
export function createCriClient(options: CriClientOptions): CriClient {
  const { endpoint, imageEndpoint = endpoint, defaultDeadlineMs, clock, onCall, tracing } = options;
  const client = openChannel(endpoint);
  const imageClient = imageEndpoint === endpoint ? client : openChannel(imageEndpoint);
  const shared = {
    clock,
    tracing,
    deadlineMs: (method: string, request: unknown) => criDeadlineMs(method as CriRpc, request, defaultDeadlineMs),
    ...(onCall === undefined ? {} : { onCall: (record: GrpcCallRecord) => onCall(criCallRecord(record)) }),
  };
  return {
    runtime: bindService<RuntimeService>(RuntimeServiceDefinition, { ...shared, client, endpoint }),
    images: bindService<ImageService>(ImageServiceDefinition, {
      ...shared,
      client: imageClient,
      endpoint: imageEndpoint,
    }),
    containerdEvents: bindService<ContainerdEventService>(EventsDefinition, {
      client,
      endpoint,
      clock,
      deadlineMs: () => undefined,
    }),
    close: () => {
      client.close();
      if (imageClient !== client) imageClient.close();
    },
  };
}

function criCallRecord({ method, request, durationMs, code }: GrpcCallRecord): CriCallRecord {
  const rpc = method as CriRpc;
  const record = { method: rpc, operationType: operationType(rpc), durationMs, code };
  return rpc === "RunPodSandbox"
    ? { ...record, runtimeHandler: (request as RunPodSandboxRequest).runtimeHandler }
    : record;
}
