/**
 * Device plugins over gRPC: kubelet.sock, and calls to the plugins. Bounds: a deadline for each call, MAX_REQUEST_BYTES per
 * registration, MAX_REGISTERING registrations at once and MAX_ANSWER_BYTES per answer. Upstream: pkg/kubelet/cm/devicemanager/plugin/v1beta1.
 */
import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { Server, ServerCredentials, status, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { catchError, defer, EMPTY, finalize, map, Observable, of, tap } from "rxjs";
import { ALLOCATION_MS, PLUGIN_OPTIONS_MS, PRE_START_MS, PREFERENCE_MS } from "../core/device/pluginDeadlines.ts";
import { asFailure, kubeletError } from "../core/errors.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { DevicePluginDefinition, Empty, RegisterRequest, RegistrationDefinition } from "../gen/devicePlugin.ts";
import { boundedMergeMap } from "../operators/boundedMergeMap.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServicePort } from "../ports/cri.ts";
import type { DevicePlugins, DeviceRegistration } from "../ports/devicePlugins.ts";
import { openChannel } from "./grpcChannel.ts";
import { bindService } from "./grpcService.ts";

const SOCKET = "kubelet.sock";
const DIRECTORY_MODE = 0o750;
/** A list of 20,000 devices with long ids. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_REQUEST_BYTES = 64 * 1024;

/** Admission has deadlines of its own for two calls; these behind them end a call that its caller has forgotten. */
const BEHIND_MS = 5_000;
const DEADLINES_MS: Readonly<Record<string, number>> = {
  GetDevicePluginOptions: PLUGIN_OPTIONS_MS,
  GetPreferredAllocation: PREFERENCE_MS + BEHIND_MS,
  Allocate: ALLOCATION_MS + BEHIND_MS,
  PreStartContainer: PRE_START_MS,
};

type Service = ServicePort<(typeof DevicePluginDefinition)["methods"]>;

/** Creates the port; `directory` has kubelet.sock and the sockets of plugins that register there. */
export function createDevicePlugins(directory: string, clock: Clock): DevicePlugins {
  const call = <T>(socket: string, request: (service: Service) => Observable<T>): Observable<T> =>
    defer(() => {
      const client = openChannel(socket, MAX_ANSWER_BYTES);
      const service = bindService<Service>(DevicePluginDefinition, {
        ...{ client, clock, endpoint: socket, peer: "plugin" },
        deadlineMs: (method) => DEADLINES_MS[method],
      });
      return request(service).pipe(finalize(() => client.close()));
    });
  const options: DevicePlugins["options"] = (socket) => call(socket, (service) => service.getDevicePluginOptions({}));
  return {
    serve: (refusalOf) => serve(directory, refusalOf, options),
    options,
    listAndWatch: (socket) => call(socket, (service) => service.listAndWatch({})),
    preferred: (socket, { available, mustInclude, size }) =>
      call(socket, (service) =>
        service.getPreferredAllocation({
          containerRequests: [
            { availableDeviceIDs: available, mustIncludeDeviceIDs: mustInclude, allocationSize: size },
          ],
        }),
      ),
    allocate: (socket, devicesIds) =>
      call(socket, (service) => service.allocate({ containerRequests: [{ devicesIds }] })),
    preStart: (socket, devicesIds) => call(socket, (service) => service.preStartContainer({ devicesIds })),
  };
}

/** Registrations whose plugins have not answered yet; more are refused. */
const MAX_REGISTERING = 64;

interface Asked {
  readonly kind: "asks";
  readonly request: RegisterRequest;
  readonly answer: sendUnaryData<Empty>;
}

/**
 * Answers registrations. As upstream, a plugin that fails in GetDevicePluginOptions is refused, and reads why in the answer.
 */
function serve(
  directory: string,
  refusalOf: (request: RegisterRequest) => string | undefined,
  optionsOf: DevicePlugins["options"],
): Observable<DeviceRegistration> {
  const answered = ({ request, answer }: Asked): Observable<DeviceRegistration> => {
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      answer({ code: status.INVALID_ARGUMENT, details: refusal });
      return EMPTY;
    }
    const { resourceName: resource, endpoint } = request;
    const socket = join(directory, endpoint);
    return optionsOf(socket).pipe(
      tap(() => answer(null, {})),
      map((options) => ({ kind: "registered", resource, socket, options }) as const),
      catchError((thrown: unknown) => {
        const { message } = asFailure(thrown);
        answer({ code: status.UNKNOWN, details: `failed to get device plugin options: ${message}` });
        return EMPTY;
      }),
    );
  };
  return requestsAt(directory).pipe(
    boundedMergeMap((item) => (item.kind === "serving" ? of(item) : answered(item)), {
      limit: MAX_REGISTERING,
      queueLimit: 0,
      onDrop: (item) => {
        if (item.kind === "serving") return;
        const details = `${MAX_REGISTERING} plugins are registering already`;
        item.answer({ code: status.RESOURCE_EXHAUSTED, details });
      },
    }),
  );
}

/** The server listens on a new socket each time: plugins watch the directory, and register again at a new one. */
const requestsAt = (directory: string): Observable<{ readonly kind: "serving" } | Asked> =>
  new Observable((subscriber) => {
    const server = new Server({ "grpc.max_receive_message_length": MAX_REQUEST_BYTES });
    server.addService(REGISTRATION, {
      register: ({ request }: ServerUnaryCall<RegisterRequest, Empty>, answer: sendUnaryData<Empty>) =>
        subscriber.next({ kind: "asks", request, answer }),
    });
    const fail = (thrown: unknown): void => subscriber.error(asFailure(thrown));
    emptied(directory).then(() => {
      if (subscriber.closed) return;
      server.bindAsync(`unix:${join(directory, SOCKET)}`, ServerCredentials.createInsecure(), (failure) => {
        if (failure === null) subscriber.next({ kind: "serving" });
        else fail(kubeletError("Io", `cannot listen on ${SOCKET}: ${failure.message}`, { cause: failure }));
      });
    }, fail);
    return () => server.forceShutdown();
  });

/** Removes sockets of earlier processes. Plugins that watch theirs start again, and register. */
async function emptied(directory: string): Promise<void> {
  await makeDirectories(directory, DIRECTORY_MODE);
  for (const name of await namesIn(directory)) {
    const path = join(directory, name);
    const isSocket = await lstat(path).then(
      (found) => found.isSocket(),
      () => false,
    );
    if (isSocket) await rm(path, { force: true });
  }
}

const { register } = RegistrationDefinition.methods;
const REGISTRATION = {
  register: {
    path: `/${RegistrationDefinition.fullName}/${register.name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message: RegisterRequest) => Buffer.from(RegisterRequest.encode(message).finish()),
    requestDeserialize: (bytes: Buffer) => RegisterRequest.decode(bytes),
    responseSerialize: (message: Empty) => Buffer.from(Empty.encode(message).finish()),
    responseDeserialize: (bytes: Buffer) => Empty.decode(bytes),
  },
} as const;
