import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { AllocatableResourcesResponse, ContainerResources, PodResources } from "../../../../src/gen/podResources.ts";
import { podResourcesServer } from "../../../../src/server/podResources/podResourcesServer.ts";
import type { PodResourcesQueries } from "../../../../src/server/podResources/podResourcesService.ts";
import { systemClock } from "../../../../src/sources/systemClock.ts";
import { podResourcesClient } from "../../../support/podResourcesClient.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { waitFor } from "../../../support/waitFor.ts";

const POD = PodResources.create({
  name: "a",
  namespace: "demo",
  containers: [ContainerResources.create({ name: "main", cpuIds: [2n, 3n] })],
});
const QUERIES: PodResourcesQueries = {
  areHoldersKnown: () => true,
  podResources: () => ({ podResources: [POD] }),
  podResourcesOf: (namespace, name) => (namespace === "demo" && name === "a" ? POD : undefined),
  allocatableResources: () => AllocatableResourcesResponse.create({ cpuIds: [1n, 2n, 3n] }),
};

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "rxpr-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function start(queries = QUERIES) {
  const socket = join(folder(), "pod-resources", "kubelet.sock");
  const telemetry = recordingTelemetry();
  const serving = podResourcesServer({ socket, queries, telemetry, clock: systemClock }).subscribe();
  onTestFinished(() => serving.unsubscribe());
  await waitFor("the socket", () => existsSync(socket));
  const client = podResourcesClient(socket);
  onTestFinished(() => client.close());
  return { socket, telemetry, serving, client };
}

it("answers v1: all pods, one pod, and what pods can have", async () => {
  const { client } = await start();
  expect(await client.list()).toEqual({ podResources: [POD] });
  expect(await client.get("demo", "a")).toEqual({ podResources: POD });
  expect((await client.allocatable()).cpuIds).toEqual([1n, 2n, 3n]);
});

it("answers v1alpha1", async () => {
  const { client } = await start();
  expect(await client.listV1Alpha1()).toEqual({
    podResources: [{ name: "a", namespace: "demo", containers: [{ name: "main", devices: [] }] }],
  });
});

it("names the pod that does not exist", async () => {
  const { client } = await start();
  await expect(client.get("demo", "b")).rejects.toMatchObject({
    code: status.UNKNOWN,
    details: "pod b in namespace demo not found",
  });
});

it("counts requests and errors by version", async () => {
  const { client, telemetry } = await start();
  await client.list();
  await client.listV1Alpha1();
  await client.get("demo", "b").catch(() => {});
  const counted = (name: string, version: string) =>
    telemetry.samples.get(`kubelet_pod_resources_endpoint_${name}{server_api_version="${version}"}`);
  expect([
    counted("requests_total", "v1"),
    counted("requests_total", "v1alpha1"),
    counted("requests_list", "v1"),
    counted("requests_get", "v1"),
    counted("errors_get", "v1"),
  ]).toEqual([2, 1, 1, 1, 1]);
});

it("counts requests that fail", async () => {
  const fail = () => {
    throw new Error("no devices");
  };
  const { client, telemetry } = await start({ ...QUERIES, podResources: fail, allocatableResources: fail });
  await expect(client.list()).rejects.toMatchObject({ code: status.INTERNAL, details: "no devices" });
  await expect(client.allocatable()).rejects.toMatchObject({ code: status.INTERNAL });
  const failed = (name: string) =>
    telemetry.samples.get(`kubelet_pod_resources_endpoint_errors_${name}{server_api_version="v1"}`);
  expect([failed("list"), failed("get_allocatable"), failed("get")]).toEqual([1, 1, undefined]);
});

it("lists no pods before those of all sources are known, and says so", async () => {
  const known = { areHoldersKnown: false };
  const { client, telemetry } = await start({ ...QUERIES, areHoldersKnown: () => known.areHoldersKnown });
  const refusal = { code: status.UNAVAILABLE, details: "the kubelet does not know the pods of all its sources yet" };
  await expect(client.list()).rejects.toMatchObject(refusal);
  await expect(client.listV1Alpha1()).rejects.toMatchObject(refusal);
  await expect(client.get("demo", "a")).rejects.toMatchObject(refusal);
  expect((await client.allocatable()).cpuIds).toEqual([1n, 2n, 3n]);
  expect(telemetry.samples.get('kubelet_pod_resources_endpoint_errors_list{server_api_version="v1"}')).toBe(1);
  known.areHoldersKnown = true;
  expect(await client.list()).toEqual({ podResources: [POD] });
});

it("refuses a flood", async () => {
  const { client } = await start();
  const answers = await Promise.allSettled(Array.from({ length: 500 }, () => client.list()));
  const refused = answers.filter((answer) => answer.status === "rejected").map(({ reason }) => reason as unknown);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: "rejected by rate limit" });
});

it("removes its socket at the end", async () => {
  const { serving, socket } = await start();
  serving.unsubscribe();
  expect(existsSync(socket)).toBe(false);
});

it("says why it does not serve while another process holds the socket", async () => {
  const socket = join(folder(), "kubelet.sock");
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(socket, resolve));
  onTestFinished(() => void other.close());
  const telemetry = recordingTelemetry();
  const serving = podResourcesServer({ socket, queries: QUERIES, telemetry, clock: systemClock }).subscribe();
  onTestFinished(() => serving.unsubscribe());
  await waitFor("a line in the log", () => telemetry.lines.length > 0);
  expect(telemetry.lines[0]).toMatchObject({
    message: "Failed to serve the pod resources API",
    fields: { socket, error: `Error: ${socket}: another process is listening there` },
  });
});
