import { describe, expect, it } from "vitest";
import type { Pod } from "../../../src/core/api.ts";
import { newPod, simApi } from "../../support/simApi.ts";

const ref = { namespace: "default", name: "a" };

function withPod(spec: Partial<Pod["spec"]> = { nodeName: "n1" }, metadata: Partial<Pod["metadata"]> = {}) {
  const api = simApi();
  const pod = api.server.put("pods", newPod("a", spec, metadata));
  const watch = api.watch(api.admin.watch("pods", { resourceVersion: String(api.server.revision) }));
  api.scheduler.advanceTo(100);
  const revision = api.server.revision;
  /** Events of the watch, with versions counted from the pod's creation. */
  const seen = () => {
    api.scheduler.advanceTo(api.scheduler.now() + 100);
    return watch.seen.map((line) => line.replace(/@(\d+)$/, (_all, digits) => `+${Number(digits) - revision}`));
  };
  const marks = () => {
    const { deletionTimestamp, deletionGracePeriodSeconds, generation } =
      api.server.object("pods", ref)?.metadata ?? {};
    return [deletionTimestamp, deletionGracePeriodSeconds, generation];
  };
  return { ...api, pod, seen, marks };
}

describe("simulated API server: deletion", () => {
  it("marks a pod with the instant by which it is to be gone; grace 0 removes it", () => {
    const { admin, run, seen, marks } = withPod();
    run(admin.delete("pods", ref));
    expect(marks()).toEqual(["2026-01-01T00:00:30Z", 30, 2]);
    run(admin.delete("pods", ref, { gracePeriodSeconds: 0 }));
    expect([seen(), marks()[0]]).toEqual([["MODIFIED a+1", "MODIFIED a+2", "DELETED a+3"], undefined]);
  });

  it("only ever shortens the time a pod has left", () => {
    const { admin, run, clock, scheduler, marks, seen } = withPod();
    run(admin.delete("pods", ref, { gracePeriodSeconds: 60 }));
    const first = marks();
    scheduler.advanceTo(5_000);
    run(admin.delete("pods", ref, { gracePeriodSeconds: 90 }));
    run(admin.delete("pods", ref));
    const longer = marks();
    run(admin.delete("pods", ref, { gracePeriodSeconds: 20 }));
    expect([first, longer, marks()]).toEqual([
      ["2026-01-01T00:01:00Z", 60, 2],
      ["2026-01-01T00:01:00Z", 60, 2],
      ["2026-01-01T00:00:20Z", 20, 2],
    ]);
    expect(seen()).toEqual(["MODIFIED a+1", "MODIFIED a+2"]);
    expect(clock.monotonicMs()).toBeLessThan(6_000);
  });

  it("takes the mark from the wall clock", () => {
    const { admin, run, clock, marks } = withPod();
    clock.stepWallBy(3_600_000);
    run(admin.delete("pods", ref, { gracePeriodSeconds: 1 }));
    expect(marks()).toEqual(["2026-01-01T01:00:01Z", 1, 2]);
  });

  it.each([
    ["that has no node", {}, undefined],
    ["that ended", { nodeName: "n1" }, { phase: "Succeeded" }],
  ])("removes a pod %s at once", (_what, spec, status) => {
    const { admin, run, server } = withPod(spec);
    const body = { status };
    if (status !== undefined) {
      run(admin.patch("pods", ref, { type: "application/merge-patch+json", body }, { subresource: "status" }));
    }
    run(admin.delete("pods", ref));
    expect(server.objects("pods")).toEqual([]);
  });

  it("deletes only what the preconditions name", () => {
    const { admin, run, refusal, pod, server } = withPod();
    const { uid = "", resourceVersion = "" } = pod.metadata ?? {};
    expect([
      refusal(admin.delete("pods", ref, { preconditions: { uid: "other" } })).split(" (")[0],
      refusal(admin.delete("pods", ref, { preconditions: { uid, resourceVersion: "1" } })).split(" (")[0],
      refusal(admin.delete("pods", { ...ref, name: "b" })),
    ]).toEqual([
      'Conflict/Conflict: Operation cannot be fulfilled on pods "a": the UID in the precondition',
      'Conflict/Conflict: Operation cannot be fulfilled on pods "a": the ResourceVersion in the precondition',
      'NotFound/NotFound: pods "b" not found',
    ]);
    run(admin.delete("pods", ref, { gracePeriodSeconds: 0, preconditions: { uid, resourceVersion } }));
    expect(server.objects("pods")).toEqual([]);
  });

  it("is held back by finalizers until the last one is taken away", () => {
    const { admin, run, refusal, server, seen, marks } = withPod(
      { nodeName: "n1" },
      { finalizers: ["example.com/hold"] },
    );
    const finalizers = (list: readonly string[]) =>
      admin.patch("pods", ref, { type: "application/merge-patch+json", body: { metadata: { finalizers: list } } });
    run(admin.delete("pods", ref, { gracePeriodSeconds: 0 }));
    expect(marks()).toEqual(["2026-01-01T00:00:00Z", 0, 2]);
    expect(refusal(finalizers(["example.com/hold", "example.com/more"]))).toMatch(/no new finalizers can be added/);
    run(finalizers([]));
    expect([server.objects("pods"), seen()]).toEqual([[], ["MODIFIED a+1", "DELETED a+2"]]);
  });

  it("never lets an update bring a marked pod back", () => {
    const { admin, run, marks } = withPod();
    run(admin.delete("pods", ref));
    const before = marks();
    const metadata = { deletionTimestamp: null, labels: { a: "b" } };
    run(admin.patch("pods", ref, { type: "application/merge-patch+json", body: { metadata } }));
    expect(marks()).toEqual(before);
  });

  it("removes other objects at once and tells so", () => {
    const { admin, run, server } = withPod();
    const { metadata } = server.put("configmaps", { metadata: { name: "c", namespace: "default" } });
    expect(run(admin.delete("configmaps", { namespace: "default", name: "c" }))).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "c", kind: "configmaps", uid: metadata?.uid },
    });
  });

  it("ends a namespace with the last of what is in it, and lets nothing new in", () => {
    const { admin, run, refusal, server } = simApi();
    server.put("namespaces", { metadata: { name: "demo" } });
    server.put("configmaps", { metadata: { name: "c", namespace: "demo" } });
    server.put("pods", newPod("a", { nodeName: "n1" }, { namespace: "demo" }));
    run(admin.delete("namespaces", { name: "demo" }));
    expect(server.object("namespaces", { name: "demo" })?.status?.phase).toBe("Terminating");
    expect(refusal(admin.create("pods", newPod("b", {}, { namespace: "demo" })))).toMatch(
      /^PermissionDenied\/Forbidden: .*because it is being terminated$/,
    );
    run(admin.delete("pods", { namespace: "demo", name: "a" }, { gracePeriodSeconds: 0 }));
    expect([server.object("namespaces", { name: "demo" }), server.objects("configmaps")]).toEqual([undefined, []]);
  });
});
