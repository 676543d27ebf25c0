/** Pods bound to a full node while others leave it. */
import { describe, expect, it } from "vitest";
import {
  at,
  between,
  by,
  container,
  deafToTerm,
  fromApi,
  inOrder,
  never,
  pod,
  type PodManifest,
  simulate,
  stopsIn,
} from "../../src/sim/index.ts";

const sized = (name: string, cpu: string, more: PodManifest["spec"] = {}, ports: { readonly hostPort?: number } = {}) =>
  pod(name, {
    containers: [
      container("app", {
        resources: { requests: { cpu } },
        ...(ports.hostPort === undefined ? {} : { ports: [{ containerPort: 80, hostPort: ports.hostPort }] }),
      }),
    ],
    ...more,
  });
/** A pod of the API server with this much of the node's 8 CPUs. */
const tenant = (...args: Parameters<typeof sized>) => fromApi(sized(...args));

describe("a pod bound in place of one that is deleted by force", () => {
  it("starts as soon as that pod has stopped, and names it while waiting", () => {
    const result = simulate({
      pods: [tenant("old", "8")],
      programs: { "old/app": stopsIn("4s") },
      script: [at("10s").forceDelete("old"), at("10s").put(tenant("new", "8"))],
      until: "30s",
      expect: [
        by("10s").event(
          "new",
          "WaitingForResources",
          "Waiting for pods to terminate: default/old; rejected at 2026-01-01T00:01:40Z at the latest",
        ),
        between("11s", "13s").pod("new").is("Pending"),
        between("11s", "13s").container("new/app").is("WaitingForResources"),
        inOrder("old/app exited", "old sandbox stopped", "new sandbox created"),
        between("17s", "30s").pod("new").isReady(),
        never.pod("new").is("Failed"),
      ],
    });
    expect(result.report()).toBe("");
    expect(result.story("new", /sandbox created/)).toEqual(["14s sandbox created"]);
  });

  it("waits for its host port, and a static pod for the manifest it replaces", () => {
    simulate({
      pods: [tenant("old", "1", {}, { hostPort: 8080 }), sized("web", "7")],
      programs: { "old/app": stopsIn("3s"), "web/app": stopsIn("5s") },
      script: [
        at("10s").forceDelete("old"),
        at("10s").put(tenant("new", "1", {}, { hostPort: 8080 })),
        at("20s").delete("web"),
        at("20s").put(sized("api", "7")),
      ],
      expect: [
        inOrder("old sandbox stopped", "new sandbox created"),
        inOrder("web sandbox stopped", "api sandbox created"),
        by("17s").pod("new").isReady(),
        by("29s").pod("api").isReady(),
        never.event("api", "Preempting"),
      ],
    });
  });

  it("is rejected once that pod has had its grace and a minute to stop, with its name", () => {
    const result = simulate({
      pods: [tenant("old", "8")],
      script: [at("9s").wedge("old/app", "5m"), at("10s").forceDelete("old"), at("10s").put(tenant("new", "8"))],
      until: "2m",
      expect: [
        between("11s", "99s").pod("new").is("Pending"),
        by("101s").event(
          "new",
          "OutOfcpu",
          "Node didn't have enough resource: cpu, requested: 8000, used: 8000, capacity: 8000 " +
            "(pods that have not stopped in time: default/old)",
        ),
        between("101s", "2m").pod("new").hasReason("OutOfcpu"),
      ],
    });
    expect(result.story("new", /sandbox/)).toEqual([]);
  });

  it("is decided again by a kubelet that starts while it waits, and not rejected", () => {
    simulate({
      pods: [tenant("old", "8", { terminationGracePeriodSeconds: 60 })],
      programs: { "old/app": stopsIn("40s") },
      script: [at("10s").forceDelete("old"), at("10s").put(tenant("new", "8")), at("12s").crashKubelet("5s")],
      until: "90s",
      expect: [
        never.pod("new").is("Failed"),
        inOrder("old sandbox stopped", "new sandbox created"),
        between("60s", "90s").pod("new").isReady(),
      ],
    });
  });

  it("goes at once when it is deleted itself, and leaves the resources to others", () => {
    simulate({
      pods: [tenant("old", "8")],
      programs: { "old/app": stopsIn("20s") },
      script: [
        at("10s").forceDelete("old"),
        at("10s").put(tenant("new", "8")),
        at("11s").put(tenant("late", "1")),
        at("15s").delete("new"),
        at("16s").put(tenant("next", "8")),
      ],
      until: "1m",
      expect: [
        by("12s").pod("late").hasReason("OutOfcpu"),
        by("16s").pod("new").is("Failed"),
        inOrder("old sandbox stopped", "next sandbox created"),
        between("35s", "1m").pod("next").isReady(),
      ],
    });
  });
});

describe("several pods bound at once", () => {
  it("start in the order in which they came, as far as resources are free", () => {
    simulate({
      pods: [tenant("a", "4"), tenant("b", "4")],
      programs: { "a/app": stopsIn("3s"), "b/app": stopsIn("9s") },
      script: [
        ...["a", "b"].map((name) => at("10s").forceDelete(name)),
        ...["one", "two", "three"].map((name) => at("10s").put(tenant(name, "3500m"))),
      ],
      until: "40s",
      expect: [
        by("11s").pod("three").hasReason("OutOfcpu"),
        inOrder("a sandbox stopped", "one sandbox created", "b sandbox stopped", "two sandbox created"),
        between("25s", "40s").pod("two").isReady(),
      ],
    });
  });

  it("are decided without one that is stuck as soon as others have freed resources", () => {
    simulate({
      pods: [tenant("a", "4"), tenant("b", "4")],
      programs: { "a/app": { ...deafToTerm }, "b/app": stopsIn("2s") },
      script: [
        at("9s").wedge("a/app", "10m"),
        ...["a", "b"].map((name) => at("10s").forceDelete(name)),
        ...["one", "two"].map((name) => at("10s").put(tenant(name, "4"))),
      ],
      until: "3m",
      expect: [by("16s").pod("one").isReady(), by("101s").pod("two").hasReason("OutOfcpu")],
    });
  });
});
