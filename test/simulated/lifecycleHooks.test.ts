/** Lifecycle hooks, the order of a pod's end, and its active deadline, on a whole simulated node. */
import { describe, expect, it } from "vitest";
import {
  at,
  between,
  by,
  container,
  deafToTerm,
  fromApi,
  inOrder,
  pod,
  type PodManifest,
  type ScenarioPrograms,
  type SimProgram,
  simulate,
  story,
} from "rxlet/sim";

type Spec = PodManifest["spec"];
type Hooks = Parameters<typeof container>[1];

const exec = (...command: readonly string[]) => ({ exec: { command: [...command] } });
const preStop = (...command: readonly string[]): Hooks => ({ lifecycle: { preStop: exec(...command) } });
const postStart = (...command: readonly string[]): Hooks => ({ lifecycle: { postStart: exec(...command) } });
const sidecar = (name: string, hooks: Hooks = {}) => container(name, { restartPolicy: "Always", ...hooks });

/** Commands are `takes N` and `fails N`: they end after so many milliseconds. */
const polite: SimProgram = {
  onTerm: { afterMs: 500, code: 0 },
  exec: ([word = "", ms = "0"]) => ({ afterMs: Number(ms), code: word === "fails" ? 7 : 0, stderr: word }),
};
const stubborn: SimProgram = { ...polite, ...deafToTerm };

const web = (spec: Spec) => fromApi(pod("web", { terminationGracePeriodSeconds: 20, ...spec }));

/** The pod runs for ten seconds; the reports of its end, counted from then. */
const endsSo = (spec: Spec, reported: readonly string[], programs: ScenarioPrograms = { "*": polite }) =>
  simulate({
    pods: [web(spec)],
    programs,
    script: [at("10s").forceDelete("web")],
    expect: [story("web", { only: /StopContainer|ExecSync|exited|Hook/, since: "10s" }, reported)],
  });

describe("postStart", () => {
  it("holds back the containers after it, and shows its own as not started, until it has ended", () => {
    const first = () => at("4s").container("web/first");
    simulate({
      pods: [web({ containers: [container("first", postStart("takes", "3000")), container("second")] })],
      programs: { "*": polite },
      expect: [
        ...[first().is("running"), first().isNotStarted(), first().isNotReady()],
        between("1s", "4s").container("web/second").is("waiting"),
        ...["first", "second"].flatMap((name) => [
          at("5s").container(`web/${name}`).isStarted(),
          at("5s").container(`web/${name}`).isReady(),
        ]),
      ],
    });
  });

  it("ends the container when it fails, keeps its output out of events, and counts as a failed start", () => {
    simulate({
      pods: [web({ containers: [container("main", postStart("fails", "100"))] })],
      programs: { "*": polite },
      until: "10s",
      expect: [
        inOrder(
          "web FailedPostStartHook: PostStartHook failed",
          "web Killing: FailedPostStartHook",
          "web/main#0 exited code 0",
        ),
        by("5s").container("web/main").is("PostStartHookError"),
        at("10s").container("web/main").is("CrashLoopBackOff"),
      ],
    });
  });

  it("fails for the kind tcpSocket", () => {
    const main = container("main", { lifecycle: { postStart: { tcpSocket: { port: 80 } } } });
    simulate({ pods: [web({ containers: [main] })], expect: [by("10s").event("web", "FailedPostStartHook")] });
  });
});

describe("preStop", () => {
  it("runs before the stop signal and is counted in the grace period", () => {
    endsSo({ containers: [container("main", preStop("takes", "5000"))] }, [
      "0s main#0 ExecSync",
      "5s main#0 StopContainer within 15 s",
      "5.5s main#0 exited code 0",
    ]);
  });

  it("goes on when the grace period is over, beside the signal, which gets two seconds all the same", () => {
    endsSo(
      { containers: [container("main", preStop("takes", "60000"))] },
      [
        "0s main#0 ExecSync",
        "20s main#0 StopContainer within 2 s",
        "20s FailedPreStopHook: PreStopHook failed",
        "22s main#0 exited code 137",
      ],
      { "*": stubborn },
    );
  });

  it("emits an event when it fails, and the container is stopped all the same", () => {
    endsSo({ containers: [container("main", preStop("fails", "1000"))] }, [
      "0s main#0 ExecSync",
      "1s main#0 StopContainer within 19 s",
      "1s FailedPreStopHook: PreStopHook failed",
      "1.5s main#0 exited code 0",
    ]);
  });

  it("waits for the kind sleep, and counts when it is cut short", () => {
    const sleeps = (seconds: number): Hooks => ({ lifecycle: { preStop: { sleep: { seconds } } } });
    simulate({
      pods: [
        web({
          containers: [container("nap", sleeps(4)), container("night", sleeps(20))],
          terminationGracePeriodSeconds: 10,
        }),
      ],
      script: [
        at("10s").forceDelete("web"),
        at("60s").act("count", ({ telemetry }) =>
          expect(telemetry.value("kubelet_sleep_action_terminated_early_total")).toBe(1),
        ),
      ],
      expect: [
        story("web", { only: /StopContainer/, since: "10s" }, [
          "4s nap#0 StopContainer within 6 s",
          "10s night#0 StopContainer within 2 s",
        ]),
      ],
    });
  });

  it("runs once per instance: a shorter grace period cuts it off and begins with the signal", () => {
    simulate({
      pods: [web({ containers: [container("main", preStop("takes", "20000"))] })],
      programs: { "*": stubborn },
      script: [at("10s").delete("web", { grace: "30s" }), at("15s").delete("web", { grace: "4s" })],
      expect: [
        story("web", { only: /StopContainer|ExecSync|exited/, since: "10s" }, [
          "0s main#0 ExecSync",
          "5s main#0 StopContainer within 4 s",
          "9s main#0 exited code 137",
        ]),
      ],
    });
  });

  it("runs before a restart by a liveness probe too", () => {
    const livenessProbe = { ...exec("fails"), periodSeconds: 1, failureThreshold: 1 };
    simulate({
      pods: [web({ containers: [container("main", { ...preStop("takes", "1000"), livenessProbe })] })],
      programs: { "*": polite },
      until: "10s",
      expect: [
        inOrder(
          "web/main#0 ExecSync",
          "web/main#0 ExecSync",
          "web/main#0 StopContainer within 19 s",
          "web/main#0 exited code 0",
          "web/main#1 started",
        ),
      ],
    });
  });
});

describe("the end of a pod with sidecars", () => {
  it("runs all hooks at once, then stops the main containers, then the sidecars in reverse, all within one grace period", () => {
    endsSo(
      {
        initContainers: [sidecar("proxy", preStop("takes", "3000")), sidecar("logs")],
        containers: [container("main", preStop("takes", "5000")), container("other")],
      },
      [
        "0s other#0 StopContainer within 20 s",
        "0s main#0 ExecSync",
        "0s proxy#0 ExecSync",
        "500ms other#0 exited code 0",
        "5s main#0 StopContainer within 15 s",
        "5.5s main#0 exited code 0",
        "5.5s logs#0 StopContainer within 15 s",
        "6s logs#0 exited code 0",
        "6s proxy#0 StopContainer within 14 s",
        "6.5s proxy#0 exited code 0",
      ],
    );
  });

  it("does not wait for its turn longer than the grace period", () => {
    endsSo(
      { initContainers: [sidecar("proxy")], containers: [container("main")], terminationGracePeriodSeconds: 6 },
      [
        "0s main#0 StopContainer within 6 s",
        "6s proxy#0 StopContainer within 2 s",
        "6s main#0 exited code 137",
        "6.5s proxy#0 exited code 0",
      ],
      { main: deafToTerm, proxy: polite },
    );
  });
});

describe("activeDeadlineSeconds", () => {
  const bounded = web({ activeDeadlineSeconds: 15, containers: [container("main")] });

  it("ends the pod in time, as Failed for DeadlineExceeded, and does not start it again", () => {
    const { pods } = simulate({
      pods: [bounded],
      programs: { "*": polite },
      until: "40s",
      expect: [
        story("web", { only: /DeadlineExceeded|Killing|exited|started/, since: "2s" }, [
          "13s DeadlineExceeded: Pod was active on the node longer than the specified deadline",
          "13s Killing: Stopping container main",
          "13.5s main#0 exited code 0",
        ]),
        by("15100ms").pod("web").is("Failed"),
        between("16s", "40s").container("web/main").is("Completed"),
      ],
    });
    const { phase, reason, message } = pods[0]?.status ?? {};
    expect([phase, reason, message]).toEqual([
      "Failed",
      "DeadlineExceeded",
      "Pod was active on the node longer than the specified deadline",
    ]);
  });

  it("counts on over a restart of the kubelet, and holds for a pod whose time passed meanwhile", () => {
    simulate({
      pods: [bounded],
      programs: { "*": polite },
      script: [at("10s").crashKubelet("10s")],
      expect: [
        story("web", { only: /StartContainer|exited/ }, ["1s main#0 StartContainer", "20.5s main#0 exited code 0"]),
        between("21s", "40s").pod("web").hasReason("DeadlineExceeded"),
      ],
    });
  });
});
