/** When connections begin their handshakes, in virtual time. */
import { EventEmitter } from "node:events";
import type { Server } from "node:https";
import { VirtualTimeScheduler } from "rxjs";
import { describe, expect, it } from "vitest";
import { paceHandshakes } from "../../../src/server/handshakePace.ts";
import { realClock } from "../../support/realClock.ts";

/** A server whose handshakes are noted as `PEER NUMBER @TIME`. */
function server() {
  const scheduler = new VirtualTimeScheduler();
  const emitter = new EventEmitter();
  const begun: string[] = [];
  emitter.on("connection", ({ name }: { readonly name: string }) => begun.push(`${name} @${scheduler.now()}`));
  paceHandshakes(emitter as Server, { ...realClock, scheduler });
  const connect = (peer: string, number = 0, destroyed = false): void => {
    const socket = { remoteAddress: peer, name: `${peer} ${number}`, destroyed, on: () => {} };
    emitter.emit("connection", socket);
  };
  const flood = (peer: string, count: number, destroyed = false): void => {
    for (let number = 0; number < count; number += 1) connect(peer, number, destroyed);
  };
  return { scheduler, begun, connect, flood };
}

describe("handshakes", () => {
  it("start at once in a burst, then two every 10 ms", () => {
    const { scheduler, begun, flood } = server();
    flood("a", 133);
    expect([begun.length, begun.at(-1)]).toEqual([128, "a 127 @0"]);
    scheduler.flush();
    expect(begun.slice(128).map((text) => text.split("@")[1])).toEqual(["10", "10", "20", "20", "30"]);
  });

  it("serve peers round robin, the newest connection of each first", () => {
    const { scheduler, begun, connect, flood } = server();
    flood("a", 131);
    connect("b");
    connect("b", 1);
    scheduler.flush();
    expect(begun.slice(128)).toEqual(["a 130 @10", "b 1 @10", "a 129 @20", "b 0 @20", "a 128 @30"]);
  });

  it("skip and release connections that were closed while waiting", () => {
    const { scheduler, begun, connect, flood } = server();
    flood("a", 128);
    connect("b");
    flood("c", 5_000, true);
    flood("a", 1, true);
    connect("a", 1);
    scheduler.flush();
    expect(begun.slice(128)).toEqual(["b 0 @10", "a 1 @10"]);
  });

  it("allow another burst after a pause", () => {
    const { scheduler, begun, flood } = server();
    flood("a", 128);
    scheduler.flush();
    const pausedUntil = scheduler.now();
    flood("a", 128);
    expect([pausedUntil, begun.length, begun.at(-1)]).toEqual([640, 256, "a 127 @640"]);
  });
});
