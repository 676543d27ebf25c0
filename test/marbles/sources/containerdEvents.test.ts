import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import {
  ContainerCreate,
  ContainerDelete,
  Envelope,
  TaskDelete,
  TaskExit,
  TaskOOM,
  TaskStart,
} from "../../../src/gen/containerd.ts";
import type { SubscribeRequest } from "../../../src/gen/containerd.ts";
import { containerdEvents, hintOf } from "../../../src/sources/containerdEvents.ts";
import { marbles } from "../../support/marbles.ts";

const AT = { seconds: 1_767_225_600n, nanos: 1_999_999 };
const AT_MS = 1_767_225_600_001;

const envelope = (topic: string, payload: Uint8Array, namespace = "k8s.io"): Envelope =>
  Envelope.create({ timestamp: AT, namespace, topic, event: { typeUrl: "unused", value: payload } });

const start = envelope("/tasks/start", TaskStart.encode(TaskStart.create({ containerId: "c1", pid: 7 })).finish());
const exit = (id: string): Envelope =>
  envelope("/tasks/exit", TaskExit.encode(TaskExit.create({ containerId: "c1", id, exitStatus: 3 })).finish());
const reaped = (id: string): Envelope =>
  envelope("/tasks/delete", TaskDelete.encode(TaskDelete.create({ containerId: "c1", id })).finish());
const oom = envelope("/tasks/oom", TaskOOM.encode(TaskOOM.create({ containerId: "c1" })).finish());
const created = envelope("/containers/create", ContainerCreate.encode(ContainerCreate.create({ id: "c1" })).finish());
const deleted = envelope("/containers/delete", ContainerDelete.encode(ContainerDelete.create({ id: "c1" })).finish());

describe("hintOf", () => {
  it("reads container and kind from every topic that concerns a container", () => {
    expect([created, start, oom, exit("c1"), reaped(""), deleted].map(hintOf)).toEqual(
      ["create", "start", "oom", "exit", "exit", "delete"].map((kind) => ({
        kind,
        containerId: "c1",
        timestamp: AT_MS,
      })),
    );
  });

  it("ignores processes that were executed inside a container", () => {
    expect([exit("exec-1"), reaped("exec-1")].map(hintOf)).toEqual([undefined, undefined]);
  });

  it("ignores other topics, other namespaces, empty and broken events", () => {
    const broken = [
      envelope("/images/create", start.event?.value ?? new Uint8Array()),
      envelope("/tasks/start", start.event?.value ?? new Uint8Array(), "moby"),
      envelope("/tasks/start", new Uint8Array()),
      envelope("/tasks/start", Uint8Array.of(0x0a, 0xff)),
      Envelope.create({ namespace: "k8s.io", topic: "/tasks/start" }),
    ];
    expect(broken.map(hintOf)).toEqual(broken.map(() => undefined));
  });
});

describe("containerdEvents", () => {
  it(
    "subscribes to container topics of CRI's namespace and passes hints on at once",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const events = "     s-x-e-d-";
      const eventsSubs = " ^------!";
      const unsubscribe = "-------!";
      const expected = "   s---e-d-";

      const requests: SubscribeRequest[] = [];
      const events$ = cold<Envelope>(events, { s: start, x: exit("exec-1"), e: exit("c1"), d: deleted });
      const service = {
        subscribe: (request: SubscribeRequest) => {
          requests.push(request);
          return events$;
        },
      };
      const hint = (kind: string) => ({ kind, containerId: "c1", timestamp: AT_MS });
      expectObservable(containerdEvents(service), unsubscribe).toBe(expected, {
        s: hint("start"),
        e: hint("exit"),
        d: hint("delete"),
      });
      expectSubscriptions(events$).toBe(eventsSubs);
      const topics = [
        "containers/create",
        "containers/delete",
        "tasks/start",
        "tasks/oom",
        "tasks/exit",
        "tasks/delete",
      ];
      expect(requests).toEqual([{ filters: topics.map((topic) => `namespace==k8s.io,topic=="/${topic}"`) }]);
    }),
  );

  it(
    "ends with the stream's error",
    marbles(({ cold, expectObservable }) => {
      const events = "  s-#";
      const expected = "s-#";

      const gone = kubeletError("Unavailable", "Subscribe: connection dropped");
      const events$ = cold<Envelope>(events, { s: start }, gone);
      expectObservable(containerdEvents({ subscribe: () => events$ })).toBe(
        expected,
        { s: { kind: "start", containerId: "c1", timestamp: AT_MS } },
        gone,
      );
    }),
  );
});
