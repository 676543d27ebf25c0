import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, credentials, Server, ServerCredentials, type ServiceError, status } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { ContainerEventResponse, GetEventsRequest, RuntimeServiceDefinition } from "../../../src/gen/cri.ts";
import { grpcService, type ServiceHandlers } from "../../../src/grpcServer/grpcService.ts";
import { RpcFault } from "../../../src/grpcServer/rpcFault.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

async function serve(handlers: Handlers): Promise<Client> {
  const dir = mkdtempSync(path.join(os.tmpdir(), "rxg-"));
  const server = new Server();
  const { definition, implementation } = grpcService(RuntimeServiceDefinition, handlers);
  server.addService(definition, implementation);
  const address = `unix:${path.join(dir, "s")}`;
  await new Promise((resolve) => server.bindAsync(address, ServerCredentials.createInsecure(), resolve));
  const client = new Client(address, credentials.createInsecure());
  onTestFinished(() => {
    client.close();
    server.forceShutdown();
    rmSync(dir, { recursive: true, force: true });
  });
  return client;
}

const openEvents = (client: Client) =>
  client.makeServerStreamRequest(
    "/runtime.v1.RuntimeService/GetContainerEvents",
    (message: GetEventsRequest) => Buffer.from(GetEventsRequest.encode(message).finish()),
    (bytes) => ContainerEventResponse.decode(bytes),
    {},
  );

const version = (client: Client): Promise<ServiceError | null> =>
  new Promise((resolve) => {
    client.makeUnaryRequest(
      "/runtime.v1.RuntimeService/Version",
      () => Buffer.alloc(0),
      (bytes) => bytes,
      {},
      (error) => resolve(error),
    );
  });

it("disconnects a subscriber that is too far behind once and releases it", async () => {
  let released = 0;
  const client = await serve({
    getContainerEvents: (_request, sink) => {
      for (let count = 0; count < 5000; count++) sink.send(ContainerEventResponse.create());
      return () => void released++;
    },
  });
  const stream = openEvents(client);
  let received = 0;
  stream.on("data", () => void received++);
  const error = await new Promise<ServiceError>((resolve) => stream.once("error", resolve));
  expect([error.code, error.details, received <= 1024, released]).toEqual([
    status.RESOURCE_EXHAUSTED,
    "GetContainerEvents: the subscriber is 1024 messages behind and was disconnected; subscribe again and list",
    true,
    1,
  ]);
});

it("sends a snapshot of any size as a whole, and counts only the messages after it", async () => {
  const sent: boolean[] = [];
  const client = await serve({
    getContainerEvents: (_request, sink) => {
      sink.sendAll(Array.from({ length: 3000 }, () => ContainerEventResponse.create()));
      for (let count = 0; count < 1025; count++) sent.push(sink.send(ContainerEventResponse.create()));
      return () => {};
    },
  });
  const stream = openEvents(client);
  const error = await new Promise<ServiceError>((resolve) => stream.once("error", resolve));
  expect(error.code).toBe(status.RESOURCE_EXHAUSTED);
  expect([sent.indexOf(false) >= 1024, sent.at(-1)]).toEqual([true, false]);
});

it("returns the status that a handler of a stream throws", async () => {
  const client = await serve({
    getContainerEvents: () => {
      throw new RpcFault(status.FAILED_PRECONDITION, "too early");
    },
  });
  const error = await new Promise<ServiceError>((resolve) => openEvents(client).once("error", resolve));
  expect(error).toMatchObject({ code: status.FAILED_PRECONDITION, details: "too early" });
});

it("releases a subscriber that disconnects", async () => {
  const left = Promise.withResolvers<string>();
  const client = await serve({ getContainerEvents: () => () => left.resolve("released") });
  const stream = openEvents(client);
  stream.on("error", () => {});
  await new Promise((resolve) => stream.once("metadata", resolve));
  stream.cancel();
  expect(await left.promise).toBe("released");
});

it("returns INTERNAL with the text of a handler's error, UNIMPLEMENTED without a handler", async () => {
  const throwing = await serve({
    version: () => {
      throw new Error("the disk is gone");
    },
  });
  const empty = await serve({});
  expect([await version(throwing), await version(empty)]).toMatchObject([
    { code: status.INTERNAL, details: "the disk is gone" },
    { code: status.UNIMPLEMENTED, details: "Version: not implemented by rxlet" },
  ]);
});
