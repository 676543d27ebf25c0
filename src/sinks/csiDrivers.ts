/**
 * CSI drivers over gRPC. Each call opens a connection and closes it, as upstream: a driver that crashed and came back is
 * reached at once. Bounds: upstream's deadlines, MAX_MESSAGE_BYTES per answer. Upstream: pkg/volume/csi/csi_client.go.
 */
import { defer, finalize } from "rxjs";
import { statusNameOf } from "../core/grpcStatus.ts";
import { IdentityDefinition, NodeDefinition } from "../gen/csi.ts";
import type { CallOptions } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServicePort } from "../ports/cri.ts";
import type { CsiAddress, CsiClient, CsiDriverPort } from "../ports/csiDrivers.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { openChannel } from "./grpcChannel.ts";
import { bindService, type GrpcCallRecord, type ServiceDefinition } from "./grpcService.ts";

const VOLUME_MS = 120_000;
const QUESTION_MS = 10_000;
/** A description has a few hundred bytes. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const QUESTIONS: ReadonlySet<string> = new Set([
  "GetPluginInfo",
  "GetPluginCapabilities",
  "NodeGetCapabilities",
  "NodeGetInfo",
]);

export interface CsiDriversOptions {
  /** Must run in real time. */
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Creates the port. */
export const createCsiDrivers = (options: CsiDriversOptions): CsiDriverPort => ({
  at: (driver): CsiClient => ({
    ...connecting<ServicePort<IdentityDefinition["methods"]>>(IdentityDefinition, driver, options),
    ...connecting<ServicePort<NodeDefinition["methods"]>>(NodeDefinition, driver, options),
  }),
});

type Method = (request: unknown, options?: CallOptions) => ReturnType<typeof defer>;

/** Returns the service with a connection for each call. */
function connecting<Port>(
  definition: ServiceDefinition,
  { name, endpoint, isMigrated = false }: CsiAddress,
  { clock, telemetry }: CsiDriversOptions,
): Port {
  const onCall = ({ method, durationMs, code }: GrpcCallRecord): void =>
    telemetry.metrics.observe("csi_operations_seconds", durationMs / 1_000, {
      driver_name: name,
      method_name: `/${definition.fullName}/${method}`,
      grpc_status_code: statusNameOf(code),
      migrated: String(isMigrated),
    });
  const methods = Object.keys(definition.methods).map((method) => [
    method,
    (request: unknown, options?: CallOptions) =>
      defer(() => {
        const client = openChannel(endpoint, MAX_MESSAGE_BYTES);
        const service = bindService<Readonly<Record<string, Method>>>(definition, {
          ...{ client, clock, endpoint, peer: "plugin", onCall },
          deadlineMs: (rpc) => (QUESTIONS.has(rpc) ? QUESTION_MS : VOLUME_MS),
        });
        return (service[method] as Method)(request, options).pipe(finalize(() => client.close()));
      }),
  ]);
  return Object.fromEntries(methods) as Port;
}
