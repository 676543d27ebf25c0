import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { NEVER } from "rxjs";
import type { ExchangeListener, Transport } from "../../../../src/sinks/apiServer/transport.ts";
import { watchEvents } from "../../../../src/sinks/apiServer/watchEvents.ts";
import { marbles } from "../../../support/marbles.ts";

/** A connection that says what its test makes it say. */
function scripted() {
  const done: string[] = [];
  const listeners: ExchangeListener[] = [];
  const note = (what: string) => () => {
    done.push(what);
  };
  const transport: Transport = {
    host: "h",
    replaced$: NEVER,
    exchange(_request, _headers, _headMs, listener) {
      listeners.push(listener);
      return { pause: note("pause"), resume: note("resume"), abort: note("abort") };
    },
    useIdentity: note("useIdentity"),
    useAuthority: note("useAuthority"),
    reconnect: note("reconnect"),
    close: note("close"),
  };
  const to = (): ExchangeListener => {
    const [listener] = listeners;
    if (listener === undefined) throw new Error("nothing was asked");
    return listener;
  };
  return { transport, done, to };
}
const lines = (count: number) => Buffer.from('{"type":"ADDED","object":{}}\n'.repeat(count));

describe("watchEvents", () => {
  it(
    "emits a hundred events a turn, and reads no more until all are emitted",
    marbles(({ clock, at, flush }) => {
      const { transport, done, to } = scripted();
      let reported = 0;
      watchEvents(transport, { method: "GET", path: "/" }, {}, clock, () => {}).subscribe({
        next: () => (reported += 1),
        complete: () => done.push(`complete after ${reported}`),
      });
      at(1, () => {
        to().head(200, {});
        to().data(lines(250));
        done.push(`told ${reported}`);
        to().data(lines(10));
        to().end();
        done.push(`told ${reported}`);
      });
      flush();
      expect(done).toEqual(["pause", "told 100", "told 100", "pause", "complete after 260", "abort"]);
    }),
  );

  it(
    "continues to read at once after few events",
    marbles(({ clock, at, expectObservable, flush }) => {
      const unsub = "   -----!";
      const expected = "--(AA)-";

      const { transport, done, to } = scripted();
      const events$ = watchEvents(transport, { method: "GET", path: "/" }, {}, clock, () => {});
      expectObservable(events$.pipe(map(({ type }) => type[0])), unsub).toBe(expected);
      at(2, () => {
        to().head(200, {});
        to().data(lines(2));
      });
      flush();
      expect(done).toEqual(["resume", "abort"]);
    }),
  );
});
