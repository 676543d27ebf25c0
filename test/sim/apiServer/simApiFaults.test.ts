import { describe, expect, it } from "vitest";
import {
  connectionLost,
  connectionRefused,
  internalError,
  serviceUnavailable,
  tooManyRequests,
} from "../../../src/core/apiObjects/refusals.ts";
import type { SimApiRequest } from "../../../src/sim/apiServer/apiCall.ts";
import type { SimAction } from "../../../src/sim/runtime/simCall.ts";
import { newPod, simApi } from "../../support/simApi.ts";

describe("simulated API server: faults", () => {
  it("puts what the interceptor says between request and effect", () => {
    const lost = connectionLost();
    const actions: SimAction[] = [
      { kind: "fail", error: tooManyRequests(7) },
      { kind: "fail", error: internalError() },
      { kind: "fail", error: serviceUnavailable() },
      { kind: "loseReply", error: lost },
      { kind: "hang" },
      { kind: "delay", ms: 40 },
    ];
    const seen: SimApiRequest[] = [];
    const { admin, refusal, scheduler, server } = simApi({
      defaultDeadlineMs: 1_000,
      intercept(_verb, _resource, request) {
        seen.push(request);
        return actions.shift() ?? { kind: "proceed" };
      },
    });
    const names = ["busy", "broken", "starting", "lost", "hung", "slow", "fine"];
    const outcomes = names.map((name) => {
      const from = scheduler.now();
      const outcome = refusal(admin.create("pods", newPod(name)));
      return [outcome.split(":")[0], scheduler.now() - from];
    });
    expect(outcomes).toEqual([
      ["TooManyRequests/TooManyRequests", 2],
      ["Unknown/InternalError", 2],
      ["Unavailable/ServiceUnavailable", 2],
      ["Unavailable/Unavailable", 2],
      ["DeadlineExceeded/DeadlineExceeded", 1_000],
      ["no error", 42],
      ["no error", 2],
    ]);
    expect(server.objects("pods").map(({ metadata }) => metadata?.name)).toEqual(["lost", "slow", "fine"]);
    expect(seen.map(({ verb, resource, ref, identity }) => [verb, resource, ref?.name, identity.kind])).toEqual(
      names.map((name) => ["create", "pods", name, "admin"]),
    );
  });

  it("does not happen when the caller leaves before its effect", () => {
    const { admin, scheduler, server } = simApi({ latency: () => 100 });
    const left = admin.create("pods", newPod("a")).subscribe();
    scheduler.advanceTo(40);
    left.unsubscribe();
    scheduler.advanceTo(500);
    expect([server.objects("pods"), scheduler.pending]).toEqual([[], 0]);
  });

  it("refuses connections and breaks watches while it is away; what was on its way back is lost", () => {
    const { admin, refusal, watch, scheduler, server } = simApi({ latency: () => 100 });
    const pods = watch(admin.watch("pods", { resourceVersion: "5" }));
    scheduler.advanceTo(100);
    const half = admin.create("pods", newPod("a"));
    const errors: unknown[] = [];
    half.subscribe({ error: (error: unknown) => errors.push(error) });
    scheduler.advanceTo(160);
    server.setNetwork("refused");
    expect(pods.end).toEqual({ atMs: 160, error: connectionLost() });
    scheduler.advanceTo(300);
    expect(errors).toEqual([connectionLost()]);
    expect(refusal(admin.get("pods", { namespace: "default", name: "a" }))).toBe(
      `Unavailable/Unavailable: ${connectionRefused().message}`,
    );
    server.setNetwork("up");
    expect(refusal(admin.get("pods", { namespace: "default", name: "a" }))).toBe("no error");
  });

  it("loses every packet while it is silent; watches catch up when it is back", () => {
    const { admin, refusal, watch, scheduler, server } = simApi({ defaultDeadlineMs: 5_000 });
    const pods = watch(admin.watch("pods", { resourceVersion: "5" }));
    scheduler.advanceTo(100);
    server.setNetwork("silent");
    server.put("pods", newPod("a"));
    expect(refusal(admin.list("pods"))).toBe("DeadlineExceeded/DeadlineExceeded: list pods: no answer within 5000 ms");
    expect([pods.seen, pods.end]).toEqual([[], undefined]);
    server.setNetwork("up");
    scheduler.advanceTo(6_000);
    expect(pods.seen).toEqual(["ADDED a@6"]);
  });

  it("loses one of two writers that read the same version", () => {
    const { admin, run, refusal, server } = simApi();
    server.put("nodes", { metadata: { name: "n1" } });
    const read = run(admin.get("nodes", { name: "n1" }));
    const write = (key: string) =>
      admin.update("nodes", { ...read, metadata: { ...read.metadata, labels: { [key]: "x" } } });
    expect([refusal(write("a")), refusal(write("b")).split(":")[0]]).toEqual(["no error", "Conflict/Conflict"]);
    expect(server.object("nodes", { name: "n1" })?.metadata?.labels).toEqual({ a: "x" });
  });
});
