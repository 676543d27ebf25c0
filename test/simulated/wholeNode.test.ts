import { describe, expect, it } from "vitest";
import { at, between, container, deafToTerm, exits, pod, simulate, story, timeline } from "rxlet/sim";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import { workload, workloadPrograms } from "../support/simWorkload.ts";
import { leftovers, unmetGoals } from "../support/simGoals.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The scheduler needs about 25,000 for these pods; a loop that feeds itself needs many times as many. */
const STEPS_PER_HOUR = 50_000;

const fiftyPods = (seed: string, more: Partial<Parameters<typeof createSimNode>[0]> = {}): SimNode =>
  createSimNode({ seed, manifests: workload(50), programs: workloadPrograms, ...more });

/** Phase and restarts of one pod of each kind. */
const summary = (node: SimNode): readonly string[] =>
  node
    .pods()
    .slice()
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map(({ metadata, status }) => {
      const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
      const words = [...initContainerStatuses, ...containerStatuses].map(({ name, state, restartCount }) => {
        const [word = "", detail] = Object.entries(state ?? {})[0] ?? [];
        const { reason = "" } = { ...(detail as { readonly reason?: string } | undefined) };
        return `${name} ${reason === "" ? word : reason} ${restartCount}`;
      });
      return [metadata.name.replace(/-\d+-sim-node$/, ""), status?.phase ?? "", ...words].join(", ");
    });

describe("a node of 50 pods", () => {
  it("lives an hour in a bounded number of steps, and the same hour whenever the seed is the same", () => {
    const node = fiftyPods("an hour");
    let steps = 0;
    while (node.step(HOUR_MS)) steps += 1;
    node.runFor(HOUR_MS - node.clock.monotonicMs());
    expect(steps).toBeLessThan(STEPS_PER_HOUR);
    expect([...new Set(summary(node))]).toEqual([
      "batch, Succeeded, proxy Error 0, setup Completed 0, batch Completed 0",
      "broken, Running, broken CrashLoopBackOff 16",
      "crash, Running, crash CrashLoopBackOff 16",
      "failing, Failed, failing Error 0, job Completed 0",
      "flaky, Running, flaky CrashLoopBackOff 14, steady running 0",
      "host, Running, steady running 0",
      "job, Succeeded, job Completed 0",
      "pair, Running, steady running 0, stubborn running 0",
      "slow, Running, steady running 0",
      "staged, Running, setup Completed 0, proxy running 0, steady running 0",
      "steady, Running, steady running 0",
      "unpullable, Pending, steady ImagePullBackOff 0, proxy running 0",
    ]);
    expect(node.violations).toEqual([]);

    const again = fiftyPods("an hour");
    again.runFor(HOUR_MS);
    expect([again.trace.fingerprint, again.trace.length]).toEqual([node.trace.fingerprint, node.trace.length]);
  });

  it("lives another hour with another seed", () => {
    const [one, other] = [fiftyPods("one"), fiftyPods("other")];
    for (const node of [one, other]) node.runFor(MINUTE_MS);
    expect(other.trace.fingerprint).not.toBe(one.trace.fingerprint);
  });

  it("leaves nothing behind when all manifests have gone: no sandbox, container, file, cgroup, worker or timer", () => {
    const idle = createSimNode({ seed: "idle" });
    idle.runFor(20 * MINUTE_MS);
    const node = fiftyPods("gone");
    node.runFor(10 * MINUTE_MS);
    for (const name of node.manifests.names()) node.dropManifest(name);
    node.runFor(10 * MINUTE_MS);
    expect(leftovers(node)).toEqual([]);
    // Pull records of the remaining images are kept.
    const paths = node.files.paths().filter((path) => !path.startsWith("/var/lib/kubelet/image_manager"));
    expect([node.scheduler.pending, paths, [...node.cgroups.all().keys()]]).toEqual([
      idle.scheduler.pending,
      idle.files.paths(),
      [...idle.cgroups.all().keys()],
    ]);
    expect(node.violations).toEqual([]);
  });
});

describe("one pod on the node", () => {
  it("restarts a crashing container at once, then 10, 20, 40, 80, 160 and ever 300 s after its exit", () => {
    const waits = ["b10s", "b20s", "b40s", "b1m20s", "b2m40s", "b5m", "b5m", "b5m", "b5m"];
    simulate({
      pods: [pod("web", { containers: [container("app")] })],
      programs: { app: exits(1, "2s") },
      until: "1h",
      expect: [timeline("web/app", `w1s R2s ${waits.map((wait) => `R2s ${wait}`).join(" ")} ...`)],
    });
  });

  it("ends the earlier incarnation of an edited manifest before the next one begins", () => {
    const web = (tag: number) =>
      pod("web", {
        terminationGracePeriodSeconds: 10,
        containers: [container("app", { image: `registry.example/app:${tag}` })],
      });
    // Every edit finds the first incarnation still ending.
    const { pods } = simulate({
      pods: [web(1)],
      programs: { app: deafToTerm },
      script: [at("60s").put(web(2)), at("64s").put(web(3)), at("68s").put(web(4))],
      until: "3m",
      expect: [
        story("web", { only: /#\d+ (started|exited)|sandbox/, since: "60s" }, [
          "10s app#0 exited code 137",
          "10s sandbox stopped",
          "10s sandbox removed",
          "10s sandbox created",
          "11.1s app#0 started",
        ]),
        between("72s", "3m").container("web/app").isReady(),
      ],
    });
    expect(pods.map(({ spec }) => spec.containers[0]?.image)).toEqual(["registry.example/app:4"]);
  });
});

describe("a kubelet that crashes and starts again on the same disk and runtime", () => {
  const kinds = ["steady", "pair", "staged", "host", "slow", "job"];
  const crashing = (seed: string, goesOn: boolean): SimNode =>
    createSimNode({ seed, manifests: workload(6, kinds), programs: workloadPrograms, goesOn: () => goesOn });
  const liveIds = (node: SimNode): ReadonlyMap<string, string> =>
    new Map(
      node.runtime
        .containers()
        .flatMap(({ id, phase, config }) =>
          phase.kind === "running" ? [[id, config.metadata?.name ?? ""] as const] : [],
        ),
    );
  const dropped = ["pair-1.yaml", "host-3.yaml"];

  it.each([
    ["die with it", false],
    ["take effect all the same", true],
  ])("adopts what runs and restarts nothing, wherever it was, when its calls under way %s", (_how, goesOn) => {
    for (let point = 37; point <= 37 * 40; point += 37) {
      const node = crashing(`point ${point % 5}`, goesOn);
      node.at(3_500, () => dropped.forEach((name) => node.dropManifest(name)));
      for (let action = 0; action < point; action += 1) node.step();
      const before = liveIds(node);
      node.crashKubelet();
      node.restartKubelet();
      node.runFor(MINUTE_MS);
      expect(node.runUntil(() => unmetGoals(node).length === 0, MINUTE_MS) ? [] : unmetGoals(node)).toEqual([]);
      const after = liveIds(node);
      const lost = [...before].filter(([id, name]) => !after.has(id) && !["setup", "job", "stubborn"].includes(name));
      const gone = lost.filter(([id]) => node.runtime.containers().some((container) => container.id === id));
      expect([point, gone, node.violations]).toEqual([point, [], []]);
    }
  });

  it("survives crash after crash, and cleans up after all of them", () => {
    const node = crashing("crash after crash", true);
    for (let crash = 1; crash <= 200; crash += 1) {
      for (let action = 0; action < 37 * (1 + (crash % 13)); action += 1) node.step();
      node.crashKubelet();
      if (crash % 40 === 0) node.runFor(30_000);
      node.restartKubelet();
    }
    expect(node.runUntil(() => unmetGoals(node).length === 0, 5 * MINUTE_MS) ? [] : unmetGoals(node)).toEqual([]);
    for (const name of node.manifests.names()) node.dropManifest(name);
    node.runFor(5 * MINUTE_MS);
    expect([leftovers(node), node.violations]).toEqual([[], []]);
  });
});
