import { describe, expect, it } from "vitest";
import {
  at,
  between,
  by,
  commands,
  container,
  deafToTerm,
  diagram,
  during,
  every,
  exits,
  fromApi,
  inOrder,
  never,
  pod,
  runScenario,
  type Scenario,
  type ScenarioResult,
  simulate,
  stopsIn,
  story,
  timeline,
  usesMemory,
} from "rxlet/sim";

const web = pod("web", { terminationGracePeriodSeconds: 10, containers: [container("app")] });

/** Runs a scenario of that pod for one minute. */
const play = (more: Scenario): ScenarioResult => runScenario({ pods: [web], until: "1m", ...more });

/** Summarizes the faults of a run. */
const faultsOf = ({ faults }: ScenarioResult): readonly string[] =>
  faults.map(({ expected, found }) => `${expected} | ${found}`);

describe("a scenario", () => {
  it("repeats the same run, and another run with another seed", () => {
    const run = (seed: number): string =>
      runScenario({ pods: [web], seed, script: [at("10s").kill("web/app")] }).fingerprint;
    expect([run(1) === run(1), run(1) === run(2)]).toEqual([true, false]);
  });

  it("runs until its given end, by default one minute past the last time in it", () => {
    const endOf = (more: Scenario): string => simulate({ pods: [web], ...more }).timeline("web/app");
    expect([
      endOf({ until: "20s" }),
      endOf({ script: [at("30s").kill("web/app")], expect: [by("40s").pod("web").isReady()] }),
    ]).toEqual(["w1s R19s", "w1s R29s R1m10s"]);
  });

  it("throws a report with the expected and the found state and the last lines before", () => {
    const expected = [at("15s").container("web/app").is("running"), by("20s").event("web", "Killing")];
    const wrong = (): unknown => simulate({ pods: [web], programs: { app: exits(1, "5s") }, expect: expected });
    const found = "at 15s: container web/app is running\nfound     waiting CrashLoopBackOff, not ready, 1 restarts";
    expect(wrong).toThrow(found);
    expect(wrong).toThrow(/an event Killing of pod web\nfound +events .*Pulled, Created, Started, BackOff\n/);
    expect(wrong).toThrow(/the last 20 lines up to 15s:\n(.*\n)*.*Running app=CrashLoopBackOff#1/);
  });

  it("fails when a checker reports or the kubelet ends", () => {
    const noStarts = {
      name: "noStarts",
      check: ({ kind }: { kind: string }) => (kind === "change" ? "no" : undefined),
    };
    const broken = play({ node: { checkers: [noStarts] } });
    expect(faultsOf(broken)[0]).toBe("rule noStarts | no");
    const createKubelet = (): never => {
      throw new Error("no kubelet");
    };
    expect(() => play({ node: { createKubelet } })).toThrow("no kubelet");
  });

  it("rejects invalid input with its place", () => {
    expect(() => at("soon")).toThrow('at: "soon" is not a duration like 500ms, 10s or 1m30s');
    expect(() => at("10s").reboot("-1s")).toThrow('at 10s.reboot: "-1s" is not a duration');
    expect(() => pod("a/b/c", {})).toThrow('pod "a/b/c": must be a name like web or demo/web');
    expect(() => play({ expect: [at("1s").container("web").isReady()] })).toThrow(
      '"web" is not a name like web/app or demo/web/app',
    );
    expect(() => play({ until: "1 m" })).toThrow("until:");
    expect(() => story("web", { only: /x/g }, [])).toThrow("global");
  });
});

describe("the verbs of a script", () => {
  const timelineAfter = (more: Scenario): string => {
    const result = play(more);
    expect(faultsOf(result)).toEqual([]);
    return result.timeline("web/app");
  };

  it.each<readonly [string, Scenario, string]>([
    ["kill ends a container", { script: [at("10s").kill("web/app")] }, "w1s R9s R50s"],
    ["every repeats the verb", { script: [every("20s", { to: "40s" }).kill("web/app")] }, "w1s R19s R20s b10s R10s"],
    ["killSandbox restarts all containers of a pod", { script: [at("10s").killSandbox("web")] }, "w1s R9s R50s"],
    ["crashKubelet ends the kubelet for a time", { script: [at("10s").crashKubelet("5s")] }, "w1s R9s ?5s R45s"],
    [
      "crashKubelet without a time lasts until restartKubelet",
      { script: [at("10s").crashKubelet(), at("20s").restartKubelet()] },
      "w1s R9s ?10s R40s",
    ],
    [
      "during runs the verb in the middle of a call",
      { script: [during("StartContainer", { of: "web" }).crashKubelet("5s")], abandonedCalls: "complete" },
      "w1s ?5s R54s",
    ],
    [
      "crashRuntime keeps containers running unless they die with it",
      { script: [at("10s").crashRuntime("5s"), at("30s").crashRuntime("5s", "die")] },
      "w1s R34s R25s",
    ],
    ["reboot ends all containers", { script: [at("10s").reboot("20s")] }, "w1s R9s ?20s R30s"],
    ["delete removes the manifest of a static pod", { script: [at("10s").delete("web")] }, "w1s R9s -50s"],
    [
      "failCalls makes calls fail without effect",
      { script: [at("0s").failCalls("RunPodSandbox", { for: "20s" })] },
      "",
    ],
    ["stepWallClock changes no duration", { script: [at("10s").stepWallClock("-1h")] }, "w1s R59s"],
  ])("%s", (_, scenario, expected) => {
    const found = timelineAfter(scenario);
    if (expected === "") expect(found).toMatch(/^w2\ds R\d\ds$/);
    else expect(found).toBe(expected);
  });

  it("delete gives an API pod its grace period and removes its object after its containers have ended", () => {
    const result = simulate({
      pods: [fromApi(web)],
      programs: { app: deafToTerm },
      script: [at("10s").delete("web", { grace: "5s" })],
      expect: [
        inOrder("web/app StopContainer within 5 s", "web/app exited code 137", "web sandbox removed"),
        at("14s").container("web/app").is("running"),
        by("16s").pod("web").isGone(),
      ],
    });
    expect(result.pods).toEqual([]);
  });

  it("put replaces a static pod and updates the spec of an API pod", () => {
    const newer = pod("web", { containers: [container("app", { image: "registry.example/app:2" })] });
    const imageOf = ({ pods }: ScenarioResult): unknown => pods[0]?.spec.containers[0]?.image;
    const uidOf = ({ pods }: ScenarioResult): unknown => pods[0]?.metadata.uid;
    const file = play({ script: [at("10s").put(newer)] });
    const api = play({ pods: [fromApi(web)], script: [at("10s").put(fromApi(newer))] });
    expect([imageOf(file), imageOf(api), uidOf(file) === uidOf(play({})), uidOf(api)]).toEqual([
      "registry.example/app:2",
      "registry.example/app:2",
      false,
      "web-uid-1",
    ]);
  });

  it("wedge blocks every signal until it ends", () => {
    const script = [at("10s").wedge("web/app", "20s"), at("15s").delete("web")];
    expect(play({ script }).timeline("web/app")).toBe("w1s R29s -30s");
  });

  it("answer changes the outcome of commands in the container, and so of its probes", () => {
    const readinessProbe = { exec: { command: ["ready"] }, periodSeconds: 1, failureThreshold: 1 };
    simulate({
      pods: [pod("web", { containers: [container("app", { readinessProbe })] })],
      programs: { app: commands({ ready: { code: 1 } }) },
      script: [
        at("10s").answer("web/app", { command: "ready", code: 0 }),
        at("20s").answer("web/app", { command: "other", code: 1 }),
        at("30s").answer("web/app", { code: 1 }),
        at("40s").answer("web/app", { command: "ready", code: 1, output: "not well" }),
      ],
      expect: [
        at("9s").pod("web").isNotReady(),
        between("12s", "45s").event("web", "Unhealthy", "not well"),
        between("12s", "40s").pod("web").isReady(),
        by("42s").pod("web").isNotReady(),
      ],
    });
  });

  it("putManifest writes any content and dropManifest removes it", () => {
    const result = play({
      script: [at("5s").putManifest("bad.yaml", "kind: [Pod"), at("10s").dropManifest("bad.yaml")],
      expect: [between("2s", "1m").pod("web").isReady()],
    });
    expect(faultsOf(result)).toEqual([]);
  });

  it("hangCalls, delayCalls, loseReplies, fillDisk and loseNetwork delay a pod while they last", () => {
    const script = [
      at("20ms").fillDisk("10s"),
      at("0s").loseNetwork("10s"),
      at("0s").delayCalls("CreateContainer", { of: "web", by: "5s", for: "1m" }),
      at("0s").loseReplies("StartContainer", { of: "web", for: "20s" }),
    ];
    const result = play({ script, until: "2m", expect: [by("2m").pod("web").isReady()] });
    expect(faultsOf(result)).toEqual([]);
    expect(Number(/^w(\d+)s /.exec(result.timeline("web/app"))?.[1])).toBeGreaterThan(14);
    const hung = play({ script: [at("0s").hangCalls("RunPodSandbox", { for: "1s" })], until: "10m" });
    expect(hung.timeline("web/app")).toMatch(/^w4m\d+s R5m\d+s$/);
  });

  it("act runs any action and records it in the trace", () => {
    const { trace } = play({
      script: [at("10s").act("streams break", (node) => node.runtime.breakEventStreams("reset"))],
    });
    expect(trace.filter((line) => line.includes("streams break"))).toEqual(["     10.000  action  streams break"]);
  });

  it("fail the scenario when they have no target", () => {
    const script = [
      at("10s").kill("web/none"),
      at("10s").killSandbox("none"),
      at("10s").delete("none"),
      at("10s").forceDelete("web"),
      at("10s").dropManifest("none.yaml"),
      at("10s").restartKubelet(),
      at("10s").restartRuntime(),
    ];
    expect(play({ script }).faults.map(({ found }) => found)).toEqual([
      "kill web/none: it does not run",
      "kill the sandbox of none: there is none",
      "delete none: there is no pod of that name",
      "delete web by force: there is no API pod of that name",
      "drop manifest none.yaml: there is none",
      "restart the kubelet: it runs",
      "restart the runtime: it runs",
    ]);
  });
});

describe("expectations", () => {
  const crashing: Scenario = { programs: { app: exits(1, "5s") } };

  it.each<readonly [string, Scenario["expect"], readonly string[]]>([
    ["at an instant: the claim holds", [at("3s").container("web/app").isReady()], []],
    [
      "at an instant: the claim does not hold",
      [at("15s").container("web/app").isReady()],
      ["at 15s: container web/app is ready | waiting CrashLoopBackOff, not ready, 1 restarts"],
    ],
    ["by an instant: the claim held once", [by("15s").container("web/app").hasExited(1)], []],
    [
      "by an instant: the claim never held",
      [by("15s").container("web/app").hasRestarts(2)],
      ["by 15s: container web/app has 2 restarts | waiting CrashLoopBackOff, not ready, 1 restarts"],
    ],
    [
      "between two instants: the claim stops holding",
      [between("3s", "8s").pod("web").isReady()],
      ["between 3s and 8s: pod web is ready | Running, not ready"],
    ],
    [
      "never: the claim held once",
      [never.container("web/app").is("CrashLoopBackOff")],
      ["never: container web/app is CrashLoopBackOff | waiting CrashLoopBackOff, not ready, 1 restarts"],
    ],
    [
      "never: an unexpected event",
      [never.event("web", "BackOff")],
      [
        "never: no event BackOff of pod web | BackOff: Back-off restarting failed container app in pod web-sim-node_default(*)",
      ],
    ],
    [
      "a claim about an unknown pod",
      [never.pod("wbe").is("Failed")],
      ["never: pod wbe is Failed | nothing: there never was a pod for wbe, only web"],
    ],
    ["a matching order", [inOrder("web/app#0 exited code 1", "web/app#1 started", "web/app exited")], []],
    [
      "a different order",
      [inOrder("web/app#1 started", "web/app#0 exited")],
      ["in order: web/app#1 started, web/app#0 exited | no web/app#0 exited after web/app#1 started at *s"],
    ],
    ["a timeline with any rest", [timeline("web/app", "w1s R5s R5s b10s ...")], []],
    ["a timeline with finer precision", [timeline("web/app", "w1.1s R5s x100ms R5s ...", { precision: "100ms" })], []],
    [
      "a different timeline",
      [timeline("web/app", "w1s R5s b10s ...")],
      ["timeline of web/app: w1s R5s b10s ... | w1s R5s R5s b10s R5s b20s R5s b9s"],
    ],
    ["a matching diagram", [diagram("5s", { "web/app": "R || bR | bbbR | b" })], []],
    [
      "a different diagram",
      [diagram("30s", { "web/app": "|b" })],
      ["diagram in steps of 30s: web/app  |b | web/app  ||"],
    ],
    ["a different story", [story("web", { only: /exited/, since: "5s" }, ["800ms app#0 exited code 1"])], ["*"]],
  ])("%s", (_, expected = [], faults) => {
    const found = faultsOf(play({ ...crashing, expect: expected })).map((text) => text.replace(/\s+/g, " "));
    expect(found).toHaveLength(faults.length);
    faults.forEach((fault, index) => {
      const parts = fault.replace(/\s+/g, " ").split("*");
      for (const part of parts) expect(found[index]).toContain(part);
    });
  });

  it("compare stories in tenths of a second from their start", () => {
    const result = play({ programs: { app: stopsIn("2500ms") }, script: [at("10s").delete("web")] });
    expect(result.story("web", /StopContainer|exited/, "10s")).toEqual([
      "0s app#0 StopContainer within 10 s",
      "2.5s app#0 exited code 0",
    ]);
  });
});

describe("memory", () => {
  const limited = (memory: string) =>
    pod("web", { containers: [container("app", { resources: { limits: { memory } } })] });
  const programs = { app: usesMemory("200Mi", "20s") };

  it("ends a container that exceeds its limit", () => {
    const result = simulate({
      pods: [limited("100Mi")],
      programs,
      expect: [
        between("5s", "20s").container("web/app").is("running"),
        at("22s").container("web/app").hasRestarts(1),
        story("web", { only: /exited/ }, ["21s app#0 exited code 137"]),
      ],
      until: "25s",
    });
    const { state, lastState } = result.pods[0]?.status?.containerStatuses?.[0] ?? {};
    expect([state?.running !== undefined, lastState?.terminated?.exitCode, lastState?.terminated?.reason]).toEqual([
      true,
      137,
      "OOMKilled",
    ]);
    expect(result.trace.filter((line) => line.includes("  kernel  "))).toHaveLength(3);
  });

  it("is available within the limit, or on the machine without a limit", () => {
    for (const pods of [[limited("300Mi")], [web]]) {
      simulate({ pods, programs, expect: [at("1m").container("web/app").hasRestarts(0)] });
    }
  });

  it("is a quantity as in manifests", () => {
    expect(() => usesMemory("much")).toThrow('usesMemory("much"): not a quantity like 64Mi or 1Gi');
  });
});

describe("answers of servers", () => {
  const GENTLE = { periodSeconds: 1, failureThreshold: 1 };
  const ports = [{ name: "web", containerPort: 8080 }];
  const probed = pod("web", {
    containers: [
      container("app", { ports, readinessProbe: { ...GENTLE, httpGet: { path: "/ready", port: "web" } } }),
      container("db", { readinessProbe: { ...GENTLE, tcpSocket: { port: 5432 } } }),
      container("rpc", { readinessProbe: { ...GENTLE, grpc: { port: 90 } } }),
    ],
  });
  const settled = [at("10s").pod("web").isReady()];

  it.each([
    ["app", { http: 503 }, { http: 200 }, "Readiness probe failed: HTTP probe failed with statuscode: 503"],
    ["app", { http: 500, path: "/ready" }, { http: 204, path: "/ready" }, "HTTP probe failed with statuscode: 500"],
    ["app", { http: 200, takes: "5s" }, { http: 200 }, "context deadline exceeded"],
    ["db", { tcp: "refused" }, { tcp: "open" }, ":5432: connect: connection refused"],
    ["rpc", { grpc: "NOT_SERVING" }, { grpc: "SERVING" }, 'service unhealthy (responded with "NOT_SERVING")'],
  ] as const)("make %s not ready: %j, and ready again: %j", (name, bad, good, message) => {
    const of = `web/${name}`;
    simulate({
      pods: [probed],
      script: [at("10s").answer(of, bad), at("20s").answer(of, good)],
      expect: [
        ...settled,
        between("13s", "20s").container(of).isNotReady(),
        by("20s").event("web", "Unhealthy", message),
        at("23s").container(of).isReady(),
        ...["app", "db", "rpc"]
          .filter((other) => other !== name)
          .map((other) => between("10s", "30s").container(`web/${other}`).isReady()),
      ],
    });
  });

  it("are separate for each path; a redirect is a warning", () => {
    simulate({
      pods: [probed],
      script: [at("10s").answer("web/app", { http: 503, path: "/live" }), at("20s").answer("web/app", { http: 302 })],
      expect: [...settled, between("10s", "30s").pod("web").isReady(), by("25s").event("web", "ProbeWarning")],
      until: "30s",
    });
  });
});

describe("random faults", () => {
  const faults = { containerExits: 120, criFails: 0.1, kubeletCrashes: 30, memoryHog: 0.2 };
  const storm = (seed: number): Scenario => ({ pods: [web], seed, faults, faultsUntil: "20m", until: "40m" });

  it("follow from the seed and end at the given time", () => {
    const first = runScenario(storm(1));
    const lines = (pattern: RegExp): readonly string[] => first.trace.filter((line) => pattern.test(line));
    const lastAt = Math.max(
      ...lines(/\(fail\)|kill |kubelet crashed|oom-killer/).map((line) => Number(line.trim().split(" ")[0])),
    );
    expect([
      first.fingerprint === runScenario(storm(1)).fingerprint,
      first.fingerprint === runScenario(storm(2)).fingerprint,
    ]).toEqual([true, false]);
    expect([lines(/\(fail\)/).length > 0, lines(/ kill /).length > 0, lines(/kubelet +crashed/).length > 0]).toEqual([
      true,
      true,
      true,
    ]);
    expect(lastAt).toBeLessThanOrEqual(20 * 60);
    expect([first.report(), first.pods.map(({ status }) => status?.phase)]).toEqual(["", ["Running"]]);
  });

  it("are rejected when they are invalid or cannot occur", () => {
    const play = (given: object) => () => runScenario({ pods: [web], until: "1s", faults: given });
    expect(play({ apiOutage: 1 })).toThrow("faults: apiOutage cannot happen in a scenario");
    expect(play({ criFails: 2 })).toThrow("criFails must be a number from 0 to 1 (per call), got 2");
    expect(play({ earthquake: 1 })).toThrow("earthquake is no fault");
  });
});
