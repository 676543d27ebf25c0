import { describe, expect, it } from "vitest";
import { type Reflected, reflect } from "../../../src/sources/reflector.ts";
import type { ApiObjects } from "../../../src/core/api/apiResources.ts";
import { serviceUnavailable, tooManyRequests } from "../../../src/core/apiObjects/refusals.ts";
import type { SimAction } from "../../../src/sim/runtime/simCall.ts";
import type { SimApiServerOptions } from "../../../src/sim/apiServer/simApiServer.ts";
import type { SimEventAction } from "../../../src/sim/apiServer/watchStream.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import { newPod, simApi } from "../../support/simApi.ts";

const NODE = "node-1";
const MINUTE_MS = 60_000;

/** A server, a reflector of the pods of one of its nodes, and all outputs of the reflector. */
function reflecting(options: Omit<SimApiServerOptions, "clock"> = {}, usesStreams = true) {
  const api = simApi(options);
  const reported: Reflected<ApiObjects["pods"]>[] = [];
  const selection = { fieldSelector: `spec.nodeName=${NODE}` };
  const prng = createPrng("reflector");
  const reflected$ = reflect({
    api: api.node(NODE),
    resource: "pods",
    selection,
    clock: api.clock,
    rng: { next: () => prng.next(), uuid: () => prng.uuid() },
    usesStreams,
  });
  const subscription = reflected$.subscribe((reflected) => void reported.push(reflected));
  const uidsOf = (objects: Iterable<ApiObjects["pods"]>): readonly string[] =>
    [...objects].map(({ metadata }) => `${metadata?.name} ${metadata?.uid} ${metadata?.resourceVersion}`).sort();
  return {
    ...api,
    reported,
    subscription,
    place(name: string): void {
      api.server.put("pods", newPod(name));
      api.server.schedule({ namespace: "default", name }, NODE);
    },
    runFor(ms: number): void {
      const endMs = api.scheduler.now() + ms;
      while (api.scheduler.runNext(endMs));
      api.scheduler.advanceTo(endMs);
    },
    reflected: () => uidsOf(reported.at(-1)?.objects?.values() ?? []),
    stored: () => uidsOf(api.server.objects("pods").filter(({ spec }) => spec?.nodeName === NODE)),
    names: () =>
      reported.map(({ objects }) => [...(objects?.keys() ?? ["unknown"])].join(" ").replaceAll("default/", "")),
  };
}

describe("reflect, from the simulated API server", () => {
  it.each([
    ["streamed", true],
    ["listed", false],
  ] as const)("tells what is on the node, %s", (_how, usesStreams) => {
    const { place, runFor, names, server } = reflecting({}, usesStreams);
    place("early");
    server.put("pods", newPod("elsewhere"));
    runFor(100);
    place("late");
    runFor(100);
    server.delete("pods", { namespace: "default", name: "early" }, { gracePeriodSeconds: 0 });
    runFor(100);
    expect(names()).toEqual(["early", "early late", "late"]);
  });

  it("reads a long list page by page", () => {
    const { place, runFor, reflected, stored } = reflecting({}, false);
    for (let index = 0; index < 1_203; index += 1) place(`pod-${index}`);
    runFor(1_000);
    expect([reflected().length, reflected()]).toEqual([1_203, stored()]);
  });

  it("misses nothing that happened while its watch was broken, and tells a recreated pod as another one", () => {
    const { place, runFor, reflected, stored, server } = reflecting();
    place("a");
    place("b");
    runFor(100);
    const before = reflected();
    server.cutWatches();
    server.delete("pods", { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 });
    place("a");
    runFor(5_000);
    expect([before.length, reflected()]).toEqual([2, stored()]);
    expect(reflected()[0]).not.toBe(before[0]);
  });

  it("tells what comes at once as one state, the last", () => {
    const { place, runFor, names, server } = reflecting();
    runFor(100);
    server.setNetwork("silent");
    for (const name of ["a", "b", "c"]) place(name);
    server.delete("pods", { namespace: "default", name: "b" }, { gracePeriodSeconds: 0 });
    runFor(1_000);
    server.setNetwork("up");
    runFor(100);
    expect(names()).toEqual(["", "a c"]);
  });

  it("forgets what vanished while its version expired", () => {
    const { place, runFor, reflected, stored, server } = reflecting();
    place("a");
    place("b");
    runFor(100);
    server.expireWatches();
    server.delete("pods", { namespace: "default", name: "a" }, { gracePeriodSeconds: 0 });
    runFor(5_000);
    expect([reflected().length, reflected()]).toEqual([1, stored()]);
  });

  it("detects a silently dead connection within minutes", () => {
    const { place, runFor, reflected, stored, server, reported } = reflecting();
    runFor(100);
    server.setNetwork("silent");
    place("a");
    runFor(3 * MINUTE_MS);
    const during = reported.at(-1)?.problem?.code;
    server.setNetwork("up");
    runFor(3 * MINUTE_MS);
    expect([during, reflected(), reported.at(-1)?.problem]).toEqual(["DeadlineExceeded", stored(), undefined]);
  });

  it("costs next to nothing while nothing happens: bookmarks, and a new watch every few minutes", () => {
    const { scheduler, runFor, reported, place } = reflecting();
    place("a");
    runFor(1_000);
    let actions = 0;
    while (scheduler.runNext(61 * MINUTE_MS)) actions += 1;
    // Two per bookmark (sent, arrived), a few more for each of six to twelve watches.
    expect([actions < 250, reported.length]).toEqual([true, 1]);
  });

  it("leaves no timer and no watch behind", () => {
    const { scheduler, runFor, subscription, server } = reflecting();
    runFor(MINUTE_MS);
    subscription.unsubscribe();
    expect([server.watchCount, scheduler.pending]).toEqual([0, 0]);
  });

  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    "has the server's state once all is well, whatever went wrong before (seed %i)",
    (seed) => {
      const prng = createPrng(`trouble ${seed}`);
      let isWell = false;
      const refusals: readonly SimAction[] = [
        { kind: "fail", error: serviceUnavailable() },
        { kind: "fail", error: tooManyRequests(3) },
        { kind: "hang" },
        { kind: "delay", ms: 20_000 },
      ];
      const events: readonly SimEventAction[] = [{ kind: "cut" }, { kind: "duplicate" }, { kind: "delay", ms: 7_000 }];
      const run = reflecting(
        {
          intercept: () => (!isWell && prng.chance(0.3) ? prng.pick(refusals) : { kind: "proceed" }),
          interceptEvent: () => (!isWell && prng.chance(0.2) ? prng.pick(events) : { kind: "deliver" }),
          windowSize: 20,
          watchBuffer: 10,
        },
        prng.chance(0.7),
      );
      const { server, place, runFor } = run;
      const accidents = [
        () => server.cutWatches(),
        () => server.expireWatches(),
        () => server.compact(),
        () => server.restart(),
        () => server.setNetwork(prng.pick(["refused", "silent", "up"])),
      ];
      for (let turn = 0; turn < 200; turn += 1) {
        const name = `pod-${prng.int(0, 8)}`;
        const ref = { namespace: "default", name };
        if (server.object("pods", ref) === undefined) place(name);
        else server.delete("pods", ref, { gracePeriodSeconds: prng.pick([0, 30]) });
        if (prng.chance(0.15)) prng.pick(accidents)();
        runFor(prng.int(0, 5_000));
      }
      expect(run.reported.some(({ problem }) => problem !== undefined)).toBe(true);
      isWell = true;
      server.setNetwork("up");
      runFor(10 * MINUTE_MS);
      expect([run.reported.at(-1)?.problem, run.reflected()]).toEqual([undefined, run.stored()]);
    },
  );
});
