/** A device plugin over real sockets, as a vendor's: it lists devices, prepares them, and registers at kubelet.sock. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Client, credentials, status } from "@grpc/grpc-js";
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import {
  AllocateRequest,
  type ContainerAllocateResponse,
  DevicePluginDefinition,
  PreferredAllocationRequest,
  RegisterRequest,
} from "../../src/gen/devicePlugin.ts";
import { startGrpcServer } from "./grpcServer.ts";

/** Behaviour of the plugin. */
export interface DevicePluginOf {
  readonly resource: string;
  readonly socket: string;
  readonly version?: string;
  /** Chooses devices; absent: the plugin does not want to choose. Any ids, to try the kubelet. */
  readonly prefers?: (available: readonly string[], mustInclude: readonly string[], size: number) => readonly string[];
  /** Makes GetDevicePluginOptions fail with these words. */
  readonly optionsFault?: string;
  /** Settings for the devices of a container. */
  readonly settings?: (ids: readonly string[]) => Partial<ContainerAllocateResponse>;
}

export interface DevicePluginProcess {
  /** Devices asked for by Allocate and PreStartContainer, in order. */
  readonly calls: readonly string[];
  /** Makes Allocate fail with these words, hang, or answer without containers, from now on; undefined: it works. */
  misbehave(how: { readonly fails: string } | "hangs" | "empty" | undefined): void;
  /** Lists these devices, by their health. */
  list(devices: Readonly<Record<string, boolean>>): void;
  /** Registers at kubelet.sock; rejects with the kubelet's words. */
  register(): Promise<void>;
  /** Ends at once, with its socket. */
  stop(): Promise<void>;
}

/** Starts a plugin in the directory of device plugins. */
export async function startDevicePlugin(
  directory: string,
  { resource, socket, version = "v1beta1", settings = () => ({}), prefers, optionsFault }: DevicePluginOf,
): Promise<DevicePluginProcess> {
  const path = join(directory, socket);
  const calls: string[] = [];
  const listeners = new Set<ServerWritableStream<unknown, unknown>>();
  let devices: Readonly<Record<string, boolean>> = {};
  let fault: Parameters<DevicePluginProcess["misbehave"]>[0];
  const listing = () => ({
    devices: Object.entries(devices).map(([ID, isHealthy]) => ({
      ...{ ID, health: isHealthy ? "Healthy" : "Unhealthy", topology: undefined },
    })),
  });
  await rm(path, { force: true });
  const server = await startGrpcServer(path, DevicePluginDefinition, {
    getDevicePluginOptions: (_: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
      if (optionsFault === undefined) {
        answer(null, { preStartRequired: true, getPreferredAllocationAvailable: prefers !== undefined });
      } else {
        answer({ code: status.UNKNOWN, details: optionsFault });
      }
    },
    getPreferredAllocation: ({ request }: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
      const { containerRequests } = PreferredAllocationRequest.fromPartial(request as PreferredAllocationRequest);
      answer(null, {
        containerResponses: containerRequests.map(({ availableDeviceIDs, mustIncludeDeviceIDs, allocationSize }) => {
          calls.push(`Prefer ${allocationSize} of ${availableDeviceIDs.length}`);
          return { deviceIDs: prefers?.(availableDeviceIDs, mustIncludeDeviceIDs, allocationSize) ?? [] };
        }),
      });
    },
    listAndWatch: (stream: ServerWritableStream<unknown, unknown>) => {
      listeners.add(stream);
      stream.on("close", () => listeners.delete(stream));
      stream.write(listing());
    },
    allocate: ({ request }: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
      const { containerRequests } = AllocateRequest.fromPartial(request as AllocateRequest);
      if (fault === "hangs") return;
      if (typeof fault === "object") {
        answer({ code: status.UNKNOWN, details: fault.fails });
        return;
      }
      if (fault === "empty") {
        answer(null, { containerResponses: [] });
        return;
      }
      answer(null, {
        containerResponses: containerRequests.map(({ devicesIds }) => {
          calls.push(`Allocate ${devicesIds.join()}`);
          return { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [], ...settings(devicesIds) };
        }),
      });
    },
    preStartContainer: ({ request }: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
      calls.push(`PreStart ${(request as { readonly devicesIds: readonly string[] }).devicesIds.join()}`);
      answer(null, {});
    },
  });
  return {
    calls,
    misbehave(how) {
      fault = how;
    },
    list(next) {
      devices = next;
      for (const stream of listeners) stream.write(listing());
    },
    register: () => registerAt(directory, { version, endpoint: socket, resourceName: resource, options: undefined }),
    async stop() {
      server.stop();
      await rm(path, { force: true });
    },
  };
}

function registerAt(directory: string, request: RegisterRequest): Promise<void> {
  const client = new Client(`unix:${join(directory, "kubelet.sock")}`, credentials.createInsecure(), {
    "grpc.default_authority": "localhost",
  });
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      "/v1beta1.Registration/Register",
      (message: RegisterRequest) => Buffer.from(RegisterRequest.encode(message).finish()),
      (bytes: Buffer) => bytes,
      request,
      { deadline: Date.now() + 5_000 },
      (failure) => {
        client.close();
        if (failure === null) resolve();
        else reject(new Error(failure.details));
      },
    );
  });
}
