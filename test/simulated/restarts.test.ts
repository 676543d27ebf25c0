/** Restarts by the rules of containers, and what the status says between two instances, on a whole simulated node. */
import { describe, expect, it } from "vitest";
import { at, between, container, exits, fromApi, inOrder, never, pod, runs, simulate, timeline } from "rxlet/sim";

type Rule = NonNullable<NonNullable<Parameters<typeof container>[1]>["restartPolicyRules"]>[number];

const rule = (action: string, operator: string, ...values: readonly number[]): Rule => ({
  action,
  exitCodes: { operator, values: [...values] },
});

describe("a restart out of CrashLoopBackOff", () => {
  it("goes from waiting to running, without reporting the exit before the wait a second time", () => {
    simulate({
      pods: [pod("web", { containers: [container("app")] })],
      programs: { app: exits(1, "5s") },
      until: "1m30s",
      expect: [
        timeline("web/app", "-20ms w1.09s R4.996s x50ms R4.996s b10.029s R4.996s b20.029s R4.996s b38.798s", {
          precision: "1ms",
        }),
      ],
    });
  });
});

describe("a container's own restart policy", () => {
  const one = (name: string, more: Parameters<typeof container>[1]) => container(name, more);

  it("goes before the pod's, and its first matching rule before both", () => {
    simulate({
      pods: [
        fromApi(
          pod("web", {
            restartPolicy: "Never",
            containers: [
              one("always", { restartPolicy: "Always" }),
              one("ruled", { restartPolicy: "Never", restartPolicyRules: [rule("Restart", "In", 42)] }),
              one("unruled", { restartPolicy: "Never", restartPolicyRules: [rule("Restart", "NotIn", 1)] }),
              one("pods", {}),
            ],
          }),
        ),
      ],
      programs: {
        always: exits(0, "3s"),
        ruled: [exits(42, "3s"), exits(1, "3s")],
        unruled: exits(1, "3s"),
        pods: exits(0, "3s"),
      },
      until: "30s",
      expect: [
        at("8s").container("web/always").hasRestarts(1),
        at("30s").container("web/ruled").hasRestarts(1),
        at("30s").container("web/ruled").hasExited(1),
        at("30s").container("web/unruled").hasRestarts(0),
        at("30s").container("web/pods").hasRestarts(0),
        between("2s", "30s").pod("web").is("Running"),
      ],
    });
  });
});

describe("RestartAllContainers", () => {
  const restartAll = { restartPolicy: "Never", restartPolicyRules: [rule("RestartAllContainers", "In", 88)] };
  const web = fromApi(
    pod("web", {
      restartPolicy: "Never",
      initContainers: [container("setup"), container("proxy", { restartPolicy: "Always" })],
      containers: [
        container("main", { lifecycle: { preStop: { exec: { command: ["bye"] } } } }),
        container("watcher", restartAll),
        container("done"),
      ],
    }),
  );
  const programs = {
    setup: exits(0, "1s"),
    proxy: runs,
    main: runs,
    watcher: [exits(88, "10s"), exits(0, "10s")],
    done: exits(0, "2s"),
  };

  it("restarts every container in the same sandbox: no hook, init containers first, every count one higher", () => {
    const result = simulate({
      pods: [web],
      programs,
      until: "40s",
      expect: [
        never.event("web", "SandboxChanged"),
        between("4s", "12s").pod("web").is("Running"),
        between("15s", "40s").pod("web").is("Running"),
        inOrder(
          "web/watcher#0 exited code 88",
          "web/setup#0 removed",
          "web/main#0 exited",
          "web/main#0 removed",
          "web/done#0 removed",
          "web/watcher#0 removed",
          "web/setup#1 started",
          "web/proxy#1 started",
          "web/main#1 started",
          "web/done#1 started",
        ),
        ...["setup", "proxy", "main", "watcher", "done"].map((name) =>
          at("35s").container(`web/${name}`).hasRestarts(1),
        ),
      ],
    });
    expect(result.story("web", /ExecSync/)).toEqual([]);
  });

  it("goes on after a crash of the kubelet in the middle of it", () => {
    simulate({
      pods: [web],
      programs,
      script: [at("12.29s").crashKubelet("5s")],
      until: "50s",
      expect: [
        inOrder("web/proxy#0 removed", "web/main#0 removed", "web/watcher#0 removed", "web/setup#1 started"),
        ...["setup", "proxy", "main", "watcher", "done"].map((name) =>
          at("45s").container(`web/${name}`).hasRestarts(1),
        ),
      ],
    });
  });
});
