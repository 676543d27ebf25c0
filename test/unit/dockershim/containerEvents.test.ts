/** Events of Docker: when their statuses are asked for, and what becomes of one that fails. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { followContainerEvents } from "../../../src/dockershim/containerEvents.ts";
import type { Shim } from "../../../src/dockershim/shim.ts";
import type { ContainerEventResponse } from "../../../src/gen/cri.ts";

const ID = "ab".repeat(32);

const eventOf = (change: string) => ({
  Type: "container",
  Action: change,
  timeNano: 1,
  Actor: { ID, Attributes: { "io.kubernetes.docker.type": "podsandbox" } },
});

/** A stream of events whose test says when they come, and what Docker is asked about them. */
function docker(find: () => Promise<undefined>) {
  const lines = new TransformStream<unknown, unknown>();
  const writer = lines.writable.getWriter();
  const asked: string[] = [];
  const reports: string[] = [];
  const shim = {
    docker: {
      engine: { stream: async () => lines.readable.values() },
      find: async (_kind: string, id: string) => {
        asked.push(id);
        return find();
      },
      list: async () => [],
    },
    report: (line: string) => void reports.push(line),
  };
  return {
    shim: shim as unknown as Shim,
    asked,
    reports,
    emit: (change: string) => writer.write(eventOf(change)),
    /** Lets all run that waits for no timer. */
    settle: () => vi.advanceTimersByTimeAsync(0),
  };
}

async function followed(find: () => Promise<undefined> = async () => undefined) {
  const { shim, ...rest } = docker(find);
  const sent: ContainerEventResponse[] = [];
  const events = await followContainerEvents(shim, () => undefined);
  const send = (message: ContainerEventResponse) => sent.push(message) > 0;
  const unsubscribe = events.subscribe({ send, sendAll: () => undefined, fail: () => undefined });
  return { ...rest, sent, events, send, unsubscribe };
}

describe("the statuses of an event", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it.each(["create", "start"])("of a %s are asked for after 50 ms", async (change) => {
    const { asked, sent, emit, events } = await followed();
    await emit(change);
    await vi.advanceTimersByTimeAsync(49);
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect([asked, sent.map(({ containerId }) => containerId)]).toEqual([[ID], [ID]]);
    events.close();
  });

  it("of a start are asked for with the next event, and in its order", async () => {
    const { sent, emit, settle, events } = await followed();
    await emit("start");
    await settle();
    expect(sent).toEqual([]);
    await emit("die");
    await settle();
    expect(sent.map(({ containerEventType }) => containerEventType)).toEqual([1, 2]);
    events.close();
  });

  it.each(["die", "destroy"])("of a %s are asked for at once", async (change) => {
    const { asked, emit, settle, events } = await followed();
    await emit(change);
    await settle();
    expect(asked).toEqual([ID]);
    events.close();
  });

  it("are left out after two seconds, for the events behind, and Docker is not asked again meanwhile", async () => {
    const { asked, sent, emit, settle, events } = await followed(() => new Promise(() => undefined));
    await emit("die");
    await settle();
    await emit("destroy");
    await vi.advanceTimersByTimeAsync(1_999);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent.map(({ containerEventType }) => containerEventType)).toEqual([2, 3]);
    expect(asked).toEqual([ID]);
    events.close();
  });

  it("are not asked for without a subscriber left", async () => {
    const { asked, emit, unsubscribe, events } = await followed();
    await emit("start");
    unsubscribe();
    await vi.advanceTimersByTimeAsync(50);
    expect(asked).toEqual([]);
    events.close();
  });
});

describe("an event", () => {
  it("that cannot be sent is reported, and the next one comes all the same", async () => {
    const { shim, emit, reports } = docker(async () => undefined);
    const events = await followContainerEvents(shim, () => undefined);
    const sent: ContainerEventResponse[] = [];
    let isBroken = true;
    const send = (message: ContainerEventResponse): boolean => {
      if (isBroken) throw new Error("the subscriber is broken");
      return sent.push(message) > 0;
    };
    events.subscribe({ send, sendAll: () => undefined, fail: () => undefined });
    await emit("die");
    await vi.waitFor(() => expect(reports).toEqual([`event of container ${ID}: the subscriber is broken`]));
    isBroken = false;
    await emit("destroy");
    await vi.waitFor(() => expect(sent.map(({ containerEventType }) => containerEventType)).toEqual([3]));
    events.close();
  });

  it("whose statuses Docker does not answer is sent without them", async () => {
    const { sent, emit, events } = await followed(() => Promise.reject(new Error("Docker hangs")));
    await emit("die");
    await vi.waitFor(() => expect(sent.map(({ podSandboxStatus }) => podSandboxStatus)).toEqual([undefined]));
    events.close();
  });

  it("disconnects the subscribers when 1,000 events wait for their statuses", async () => {
    const { shim, emit } = docker(() => new Promise(() => undefined));
    const events = await followContainerEvents(shim, () => undefined);
    const faults: string[] = [];
    const fail = ({ message }: Error) => void faults.push(message);
    events.subscribe({ send: () => true, sendAll: () => undefined, fail });
    // The first one is being asked for, and waits no more.
    for (let count = 0; count < 1_001; count += 1) await emit("die");
    expect(faults).toEqual([]);
    await emit("die");
    const expected = "docker: no events: 1000 events wait; subscribe again and list";
    await vi.waitFor(() => expect(faults).toEqual([expected]));
    // Docker's stream is still there, so they may come back.
    events.subscribe({ send: () => true, sendAll: () => undefined, fail });
    await Promise.resolve();
    expect(faults).toEqual([expected]);
    events.close();
    expect(faults).toEqual([expected, "docker: no events: the runtime ends; subscribe again and list"]);
  });
});
