import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { lazyListener } from "../../../src/server/lazyListener.ts";
import type { RequestListener } from "../../../src/server/requestListener.ts";

/** A request with a name; `cut` has the names of those whose connection was closed. */
const request = (name: string, cut: string[] = []) =>
  [{ name, destroyed: false }, { destroy: () => cut.push(name) }] as unknown as [
    IncomingMessage & { destroyed: boolean },
    ServerResponse,
  ];

/** A listener and the names that it received. */
function namesOf(): { readonly names: string[]; readonly listener: RequestListener } {
  const names: string[] = [];
  return { names, listener: (incoming) => names.push((incoming as unknown as { name: string }).name) };
}

/** Ends after everything that is under way in promises. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("is loaded once, with the first request, and then gets the requests in their order", async () => {
  const { names, listener } = namesOf();
  let loads = 0;
  const lazy = lazyListener(
    async () => {
      loads += 1;
      return listener;
    },
    (thrown) => expect.unreachable(String(thrown)),
  );
  expect(loads).toBe(0);
  lazy(...request("first"));
  lazy(...request("second"));
  expect({ loads, names }).toEqual({ loads: 1, names: [] });
  await settled();
  lazy(...request("third"));
  expect({ loads, names }).toEqual({ loads: 1, names: ["first", "second", "third"] });
});

it("passes on no request whose client has gone meanwhile", async () => {
  const { names, listener } = namesOf();
  const lazy = lazyListener(
    () => Promise.resolve(listener),
    (thrown) => expect.unreachable(String(thrown)),
  );
  const [incoming, outgoing] = request("gone");
  lazy(incoming, outgoing);
  incoming.destroyed = true;
  await settled();
  expect(names).toEqual([]);
});

it("cuts off the requests that wait for a listener which cannot be loaded, and loads it again for the next", async () => {
  const { names, listener } = namesOf();
  const failures: unknown[] = [];
  const cut: string[] = [];
  const outcomes = [Promise.reject(new Error("no memory")), Promise.resolve(listener)];
  const lazy = lazyListener(
    () => outcomes.shift() ?? expect.unreachable("loaded a third time"),
    (thrown) => failures.push(String(thrown)),
  );
  lazy(...request("first", cut));
  lazy(...request("second", cut));
  await settled();
  expect({ cut, failures }).toEqual({ cut: ["first", "second"], failures: Array(2).fill("Error: no memory") });
  lazy(...request("third", cut));
  await settled();
  expect({ cut: cut.length, names }).toEqual({ cut: 2, names: ["third"] });
});
