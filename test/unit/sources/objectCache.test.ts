/** ConfigMaps and Secrets kept for pods, from the simulated API server, as a node may read them. */
import { describe, expect, it } from "vitest";
import type { ConfigLookup } from "../../../src/core/configObjects.ts";
import type { ConfigObjectRef } from "../../../src/ports/objectCache.ts";
import type { Sheddable } from "../../../src/ports/shedding.ts";
import type { SimApiServerOptions } from "../../../src/sim/apiServer/simApiServer.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import { createObjectCache } from "../../../src/sources/objectCache.ts";
import { newPod, simApi } from "../../support/simApi.ts";
import { containerOf } from "../../support/pods.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const NODE = "node-1";
const MINUTE_MS = 60_000;
const REF: ConfigObjectRef = { kind: "ConfigMap", namespace: "default", name: "web" };
const metadata = { namespace: "default", name: "web" };

/** A cache of a node with a pod that names `web`, and the requests it makes. */
function caching(strategy: string, options: Omit<SimApiServerOptions, "clock"> = {}, nodeTtlMs?: () => number) {
  const requests: string[] = [];
  const api = simApi({
    ...options,
    intercept(verb, resource, request) {
      requests.push(`${verb} ${resource}`);
      return options.intercept?.(verb, resource, request) ?? { kind: "proceed" };
    },
  });
  const prng = createPrng("objects");
  api.server.put(
    "pods",
    newPod("web", { containers: [containerOf({ envFrom: [{ configMapRef: { name: "web" } }] })] }),
  );
  api.server.schedule(metadata, NODE);
  const telemetry = recordingTelemetry();
  const sheddables: Sheddable[] = [];
  const cache = createObjectCache(strategy, {
    shedding: { register: (sheddable) => (sheddables.push(sheddable), () => {}) },
    api: api.node(NODE),
    clock: api.clock,
    rng: { next: () => prng.next(), uuid: () => prng.uuid() },
    log: telemetry.log,
    syncPeriodMs: MINUTE_MS,
    ...(nodeTtlMs === undefined ? {} : { nodeTtlMs }),
  });
  const shown = (lookup: ConfigLookup): string => {
    if (lookup.kind === "missing") return "missing";
    return lookup.kind === "found" ? `${lookup.object.data?.["MODE"]}` : lookup.error.message;
  };
  return {
    ...api,
    cache,
    requests,
    lines: telemetry.lines,
    shed: () => sheddables.map(({ name, kind, shed }) => [name, kind, shed()]),
    put: (mode: string, more = {}) => api.server.put("configmaps", { metadata, data: { MODE: mode }, ...more }),
    get: (ref = REF) => shown(api.run(cache.get(ref))),
    follow(ref = REF) {
      const reported: string[] = [];
      const subscription = cache.follow(ref).subscribe((lookup) => void reported.push(shown(lookup)));
      return { reported, stop: () => subscription.unsubscribe() };
    },
    runFor(ms: number): void {
      const endMs = api.scheduler.now() + ms;
      while (api.scheduler.runNext(endMs));
      api.scheduler.advanceTo(endMs);
    },
  };
}

describe("the strategy Watch", () => {
  it("tells what the object is whenever that changed, and reads without another request", () => {
    const { follow, put, runFor, get, requests, server } = caching("Watch");
    const { reported } = follow();
    runFor(100);
    put("slow");
    runFor(100);
    put("fast");
    runFor(100);
    expect([reported, get(), requests, server.watchCount]).toEqual([
      ["missing", "slow", "fast"],
      "fast",
      ["watch configmaps"],
      1,
    ]);
  });

  it("shares one watch among those who follow the object, and ends it with the last of them", () => {
    const { follow, put, runFor, requests, server, get } = caching("Watch");
    put("slow");
    const [one, other] = [follow(), follow()];
    runFor(100);
    one.stop();
    runFor(100);
    const shared = [server.watchCount, other.reported, requests.length];
    other.stop();
    runFor(100);
    expect([shared, server.watchCount, get()]).toEqual([[1, ["slow"], 1], 0, 'object "default"/"web" not registered']);
  });

  it("goes on without a break when one follower takes the place of another", () => {
    const { follow, runFor, requests } = caching("Watch");
    const one = follow();
    runFor(100);
    one.stop();
    follow();
    runFor(100);
    expect(requests).toEqual(["watch configmaps"]);
  });

  it("waits a second for the first answer, then says what upstream says", () => {
    const { follow, get, scheduler } = caching("Watch", { intercept: () => ({ kind: "hang" }) });
    follow();
    const before = scheduler.now();
    expect([get(), scheduler.now() - before]).toEqual([
      "failed to sync configmap cache: timed out waiting for the condition",
      1_000,
    ]);
  });

  it("no longer watches an immutable object, which stays known", () => {
    const { follow, put, runFor, get, server } = caching("Watch");
    put("fixed", { immutable: true });
    const { reported } = follow();
    runFor(100);
    server.delete("configmaps", metadata);
    runFor(10 * MINUTE_MS);
    expect([reported, server.watchCount, get()]).toEqual([["fixed"], 0, "fixed"]);
  });

  it("stops watching an object unused for five syncs, and reads it again on the next request", () => {
    const { follow, put, runFor, get, server } = caching("Watch");
    put("slow");
    follow();
    runFor(100);
    get();
    runFor(5 * MINUTE_MS - 1_000);
    const busy = server.watchCount;
    runFor(2_000);
    const idle = server.watchCount;
    put("fast");
    expect([busy, idle, get(), server.watchCount]).toEqual([1, 0, "fast", 1]);
  });

  it("drops a watch and its object under memory pressure, and reads it again on the next request", () => {
    const { follow, put, runFor, get, requests, shed } = caching("Watch");
    put("slow");
    const { reported } = follow();
    runFor(100);
    const before = requests.length;
    expect([shed(), shed()]).toEqual([[["objects of pods", "watchers", 1]], [["objects of pods", "watchers", 0]]]);
    put("fast");
    runFor(100);
    expect([reported, requests.length]).toEqual([["slow"], before]);
    expect([get(), reported, requests.length > before]).toEqual(["fast", ["slow", "fast"], true]);
  });

  it("has the server end a watch after half an hour at least, an hour at most", () => {
    const { follow, get, put, requests, runFor } = caching("Watch");
    put("a");
    follow();
    const minutes = (count: number): void => {
      for (let left = count; left > 0; left -= 1) {
        runFor(MINUTE_MS);
        get();
      }
    };
    minutes(29);
    expect(requests).toEqual(["watch configmaps"]);
    minutes(33);
    expect(requests).toEqual(["watch configmaps", "watch configmaps"]);
  });

  it("says once why an object cannot be followed, and keeps trying", () => {
    const { follow, runFor, get, requests, lines } = caching("Watch");
    const stranger: ConfigObjectRef = { ...REF, name: "not-mine" };
    follow(stranger);
    runFor(MINUTE_MS);
    expect([get(stranger), requests.length > 3, lines.map(({ level, message }) => `${level} ${message}`)]).toEqual([
      "failed to sync configmap cache: timed out waiting for the condition",
      true,
      ["warn Cannot follow an object"],
    ]);
  });
});

describe("the strategy Cache", () => {
  it("asks again once an answer is a minute old, and takes what the server has at hand then", () => {
    const { follow, put, get, runFor, requests } = caching("Cache");
    put("slow");
    follow();
    const first = get();
    put("fast");
    runFor(59_000);
    const kept = get();
    runFor(1_000);
    expect([first, kept, get(), requests]).toEqual(["slow", "slow", "fast", ["get configmaps", "get configmaps"]]);
  });

  it("keeps answers as long as the node's annotation says", () => {
    const { follow, put, get, runFor } = caching("Cache", {}, () => 0);
    put("slow");
    follow();
    get();
    put("fast");
    runFor(1);
    expect(get()).toBe("fast");
  });

  it("asks again for a pod that comes to name the object, and while the object is missing", () => {
    const { follow, put, get, requests } = caching("Cache");
    follow();
    const absent = get();
    put("slow");
    const found = get();
    put("fast");
    follow();
    expect([absent, found, get(), requests.length]).toEqual(["missing", "slow", "fast", 3]);
  });

  it("gives up its answers when memory runs out, and asks again", () => {
    const { follow, put, get, requests, shed } = caching("Cache");
    put("slow");
    follow();
    get();
    expect([shed(), shed()]).toEqual([[["objects of pods", "caches", 1]], [["objects of pods", "caches", 0]]]);
    expect([get(), requests.length]).toEqual(["slow", 2]);
  });

  it("prefers an old answer to none", () => {
    let isDown = false;
    const { follow, put, get, runFor } = caching("Cache", {
      intercept: () => (isDown ? { kind: "hang" } : { kind: "proceed" }),
    });
    put("slow");
    follow();
    get();
    isDown = true;
    runFor(2 * MINUTE_MS);
    expect(get()).toBe("slow");
  });
});

describe("the strategy Get", () => {
  it("asks each time", () => {
    const { follow, put, get, requests } = caching("Get");
    put("slow");
    const { reported } = follow();
    get();
    put("fast");
    expect([get(), reported, requests.length]).toEqual(["fast", ["slow", "fast"], 2]);
  });
});
