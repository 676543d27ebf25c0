import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { watchLiveness } from "../../../../src/sinks/apiServer/liveness.ts";
import { marbles } from "../../../support/marbles.ts";

/** The parts of a connection that the watch uses. */
class FakeConnection extends EventEmitter {
  bytesRead = 0;
  destroyedAt: number | undefined;
  readonly alpnProtocol: string;
  readonly now: () => number;

  constructor(alpnProtocol: string, now: () => number) {
    super();
    this.alpnProtocol = alpnProtocol;
    this.now = now;
  }

  destroy(): void {
    this.destroyedAt = this.now();
    this.emit("close");
  }
}

describe("watchLiveness", () => {
  it(
    "ends a connection of HTTP/2 45 s after its last byte",
    marbles(({ clock, scheduler, at, flush }) => {
      const connection = new FakeConnection("h2", () => scheduler.now());
      watchLiveness(connection as unknown as Socket, clock);
      for (const atMs of [29_000, 59_000]) at(atMs, () => (connection.bytesRead += 17));
      flush();
      // Seen at the look after it came, a minute in.
      expect(connection.destroyedAt).toBe(60_000 + 45_000);
    }),
  );

  it(
    "leaves a connection of HTTP/1.1 alone",
    marbles(({ clock, scheduler, flush }) => {
      const connection = new FakeConnection("http/1.1", () => scheduler.now());
      watchLiveness(connection as unknown as Socket, clock);
      flush();
      expect([connection.destroyedAt, scheduler.now()]).toEqual([undefined, 0]);
    }),
  );

  it(
    "stops at the end of the connection",
    marbles(({ clock, scheduler, at, flush }) => {
      const connection = new FakeConnection("h2", () => scheduler.now());
      watchLiveness(connection as unknown as Socket, clock);
      at(7_000, () => connection.emit("close"));
      flush();
      expect([connection.destroyedAt, scheduler.now()]).toEqual([undefined, 7_000]);
    }),
  );
});
