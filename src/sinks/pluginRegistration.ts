/**
 * The registration service of plugins over gRPC. Each call opens a connection and closes it. Bounds: upstream's deadlines,
 * MAX_MESSAGE_BYTES per message. Upstream: pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go.
 */
import { defer, finalize } from "rxjs";
import { RegistrationDefinition } from "../gen/pluginRegistration.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServicePort } from "../ports/cri.ts";
import type { PluginRegistration } from "../ports/plugins.ts";
import { openChannel } from "./grpcChannel.ts";
import { bindService } from "./grpcService.ts";

/** 10 s for the connection and 1 s for the answer. A socket that refuses the connection fails at once. */
const GET_INFO_DEADLINE_MS = 11_000;
const NOTIFY_DEADLINE_MS = 5_000;
/** A description has a few hundred bytes. */
const MAX_MESSAGE_BYTES = 64 * 1024;

type Service = ServicePort<(typeof RegistrationDefinition)["methods"]>;

/** Creates the client. */
export function createPluginRegistration(clock: Clock): PluginRegistration {
  const call = <T>(path: string, request: (service: Service) => Call<T>): Call<T> =>
    defer(() => {
      const client = openChannel(path, MAX_MESSAGE_BYTES);
      const service = bindService<Service>(RegistrationDefinition, {
        ...{ client, clock, endpoint: path, peer: "plugin" },
        deadlineMs: (method) => (method === "GetInfo" ? GET_INFO_DEADLINE_MS : NOTIFY_DEADLINE_MS),
      });
      return request(service).pipe(finalize(() => client.close()));
    });
  return {
    getInfo: (path) => call(path, (service) => service.getInfo({})),
    notify: (path, outcome) => call(path, (service) => service.notifyRegistrationStatus(outcome)),
  };
}
