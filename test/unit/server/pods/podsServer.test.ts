import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { Subject } from "rxjs";
import { expect, it, onTestFinished } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { PodMessage } from "../../../../src/gen/pods.ts";
import {
  GetPodRequest,
  GetPodResponse,
  ListPodsResponse,
  WatchPodsEvent,
} from "../../../../src/gen/proto/podsapi/v1alpha1.ts";
import { podsServer } from "../../../../src/server/pods/podsServer.ts";
import { systemClock } from "../../../../src/sources/systemClock.ts";
import { podOf } from "../../../support/pods.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { waitFor } from "../../../support/waitFor.ts";

const NOTHING = new Uint8Array();
const bytesOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const pod = (uid: string, phase?: "Running"): Pod => ({
  ...podOf({ uid, name: `pod-${uid}` }),
  ...(phase === undefined ? {} : { status: { phase } }),
});

async function start(pods: readonly Pod[], { arePodsKnown = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "rxpods-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const socket = join(folder, "pods-api", "pods-api.sock");
  const node = { pods };
  const podsChanged$ = new Subject<void>();
  const telemetry = recordingTelemetry();
  const queries = { pods: () => node.pods, arePodsKnown: () => arePodsKnown };
  const serving = podsServer({ socket, queries, podsChanged$, telemetry, clock: systemClock }).subscribe();
  onTestFinished(() => serving.unsubscribe());
  await waitFor("the socket", () => existsSync(socket));
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  const call = <T>(method: string, request: Uint8Array, decode: (bytes: Buffer) => T): Promise<T> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(`/v1alpha1.Pods/${method}`, bytesOf, decode, request, (error, answer) =>
        answer === undefined ? reject(error ?? new Error("no answer")) : resolve(answer),
      );
    });
  /** Watches; collects events as text: `ADDED pod-a Running`. */
  const watch = () => {
    const events: string[] = [];
    const ended: ServiceError[] = [];
    const stream = client.makeServerStreamRequest("/v1alpha1.Pods/WatchPods", bytesOf, WatchPodsEvent.decode, NOTHING);
    stream.on("data", (event: WatchPodsEvent) => {
      const { metadata, status: is } = PodMessage.decode(event.pod);
      const name = ["UNSPECIFIED", "ADDED", "MODIFIED", "DELETED", "INITIAL_SYNC_COMPLETE"][event.type];
      events.push([name, metadata?.name, is?.phase].filter((word) => word !== undefined).join(" "));
    });
    stream.on("error", (error: ServiceError) => ended.push(error));
    return { events, ended, stream };
  };
  const change = (next: readonly Pod[]): void => {
    node.pods = next;
    podsChanged$.next();
  };
  return {
    socket,
    telemetry,
    podsChanged$,
    change,
    watch,
    list: () => call("ListPods", NOTHING, ListPodsResponse.decode),
    get: (podUID: string) => call("GetPod", GetPodRequest.encode({ podUID }).finish(), GetPodResponse.decode),
  };
}

it("lists the pods by UID, and returns one of them", async () => {
  const { list, get, socket } = await start([pod("b", "Running"), pod("a")]);
  const { pods } = await list();
  const listed = pods.map((bytes) => PodMessage.decode(bytes));
  expect(listed.map(({ metadata, status: is }) => [metadata?.uid, is?.phase])).toEqual([
    ["a", "Pending"],
    ["b", "Running"],
  ]);
  expect(PodMessage.decode((await get("b")).pod).metadata?.name).toBe("pod-b");
  expect(statSync(socket).mode & 0o777).toBe(0o600);
});

it("names the pod that does not exist", async () => {
  const { get } = await start([]);
  await expect(get("c")).rejects.toMatchObject({ code: status.NOT_FOUND, details: "pod with UID c not found" });
});

it("answers nothing before all sources have reported", async () => {
  const { list, get, watch } = await start([pod("a")], { arePodsKnown: false });
  const refused = { code: status.FAILED_PRECONDITION, details: "Kubelet is initializing" };
  await expect(list()).rejects.toMatchObject(refused);
  await expect(get("a")).rejects.toMatchObject(refused);
  const { ended, events } = watch();
  await waitFor("the end of the watch", () => ended.length === 1);
  expect(ended[0]).toMatchObject(refused);
  expect(events).toEqual([]);
});

it("sends a watcher all pods, a mark, and each change after that", async () => {
  const { watch, change, podsChanged$ } = await start([pod("a")]);
  const { events, stream } = watch();
  await waitFor("the snapshot", () => events.length === 2);
  change([pod("a", "Running"), pod("b")]);
  await waitFor("the changes", () => events.length === 4);
  change([pod("b", "Running")]);
  await waitFor("the removal", () => events.length >= 6);
  expect(events).toEqual([
    "ADDED pod-a Pending",
    "INITIAL_SYNC_COMPLETE",
    "MODIFIED pod-a Running",
    "ADDED pod-b Pending",
    "DELETED pod-a",
    "MODIFIED pod-b Running",
  ]);
  stream.cancel();
  await waitFor("the end of the watch", () => !podsChanged$.observed);
});

it("serves a second watcher from the current pods", async () => {
  const { watch, change } = await start([pod("a")]);
  const first = watch();
  await waitFor("the snapshot", () => first.events.length === 2);
  change([pod("a"), pod("b")]);
  const second = watch();
  await waitFor("the second snapshot", () => second.events.length === 3);
  expect(second.events).toEqual(["ADDED pod-a Pending", "ADDED pod-b Pending", "INITIAL_SYNC_COMPLETE"]);
});

it("refuses requests beyond the limit", async () => {
  const { list } = await start([]);
  const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => list()));
  const refusals = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refusals.length).toBeGreaterThan(20);
  expect(refusals[0]?.reason).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: "rejected by rate limit" });
});
