/** The life of pods as marble diagrams: one letter per slice of virtual time (docs/simulation.md has the letters). */
import { describe, it } from "vitest";
import {
  at,
  commands,
  container,
  deafToTerm,
  diagram,
  exits,
  fromApi,
  pod,
  runs,
  type Scenario,
  simulate,
  stopsIn,
} from "rxlet/sim";

/** A pod of these containers, and its course. */
const draw = (slice: string, lines: Readonly<Record<string, string>>, scenario: Scenario) =>
  simulate({ ...scenario, expect: [diagram(slice, lines)] });

const sidecar = (name: string) => container(name, { restartPolicy: "Always" });

describe("crash loops", () => {
  const web = pod("web", { containers: [container("app")] });

  it("wait 10 s and twice that each time, up to 5 min", () => {
    const crashing = { pods: [web], programs: { app: exits(1, "5s") } };
    draw(
      "1s",
      { "web/app": "wRRRRR|RRRR|bbbbbbbbbRRRRR|bbbbbbbbbbbbbbbbbbbRRRRR|bbbbbbbb" },
      { ...crashing, until: "1m" },
    );
    draw(
      "30s",
      { "web/app": "||b|bb|bbbb|bbbbbbbbb|bbbbbbbbb|bbbbbbbbbb|bbbbbbbbb|bbbbbbb" },
      { ...crashing, until: "30m" },
    );
  });

  it("restart after ten minutes without a crash", () => {
    const crash = exits(1, "5s");
    draw(
      "1m",
      { "web/app": "||bRRRRRRRRRR||||bb|" },
      {
        pods: [web],
        programs: { app: [crash, crash, crash, crash, crash, exits(1, "11m"), crash] },
        until: "20m",
      },
    );
  });

  it("end with the pod when it is to be restarted only on failure", () => {
    draw(
      "5s",
      { "job/work": "R||bR|cccc" },
      {
        pods: [pod("job", { restartPolicy: "OnFailure", containers: [container("work")] })],
        programs: { work: [exits(1, "5s"), exits(1, "5s"), exits(0, "5s")] },
        until: "50s",
      },
    );
  });
});

describe("the start of a pod", () => {
  it("runs init containers one after the other, sidecars on, and containers at last", () => {
    draw(
      "1s",
      {
        "web/setup": "wrrr|cccccccccc",
        "web/proxy": "wwwwRRRRRRRRRRR",
        "web/check": "wwwwrr|cccccccc",
        "web/app": "wwwwwwRRRRRRRRR",
      },
      {
        pods: [
          pod("web", {
            initContainers: [container("setup"), sidecar("proxy"), container("check")],
            containers: [container("app")],
          }),
        ],
        programs: { setup: exits(0, "3s"), check: exits(0, "2s") },
        until: "15s",
      },
    );
  });

  it("waits for the startup probe of a sidecar, and is ready when its readiness probe says so", () => {
    const probe = (command: string) => ({ exec: { command: [command] }, periodSeconds: 1, failureThreshold: 60 });
    draw(
      "1s",
      { "web/proxy": "wrrrrrrRRRRRRRRRRRRR", "web/app": "wwwwwwwrrrrrrRRRRRRR" },
      {
        pods: [
          pod("web", {
            initContainers: [container("proxy", { restartPolicy: "Always", startupProbe: probe("up") })],
            containers: [container("app", { readinessProbe: probe("ready") })],
          }),
        ],
        programs: { "*": commands({ up: { code: 1 }, ready: { code: 1 } }) },
        script: [
          at("6s").answer("web/proxy", { command: "up", code: 0 }),
          at("12s").answer("web/app", { command: "ready", code: 0 }),
        ],
        until: "20s",
      },
    );
  });
});

describe("the end of a pod", () => {
  const preStop = (takes: string) => ({ lifecycle: { preStop: { exec: { command: [takes] } } } });
  const hooks = commands({ flush: { takes: "4s" }, forever: { takes: "10m" } });

  it("runs preStop hooks first, all within one grace period, and KILL ends what is left then", () => {
    draw(
      "1s",
      {
        "web/polite": "wRRRRRRRRRR|ccc-----",
        "web/stubborn": "wRRRRRRRRRRRRRR|----",
        "web/hanging": "wRRRRRRRRRRRRRR|----",
      },
      {
        pods: [
          fromApi(
            pod("web", {
              containers: [
                container("polite", preStop("flush")),
                container("stubborn", preStop("flush")),
                container("hanging", preStop("forever")),
              ],
            }),
          ),
        ],
        programs: {
          polite: { ...stopsIn("2s"), ...hooks },
          stubborn: { ...deafToTerm, ...hooks },
          hanging: { ...runs, ...hooks },
        },
        script: [at("5s").delete("web", { grace: "10s" })],
        until: "20s",
      },
    );
  });

  it("stops sidecars after the main containers, the last one first", () => {
    draw(
      "1s",
      {
        "web/proxy": "wRRRRRRRRRRRR|------",
        "web/logs": "wRRRRRRRRRR|c-------",
        "web/app": "wRRRRRRRR|ccc-------",
      },
      {
        pods: [
          fromApi(pod("web", { initContainers: [sidecar("proxy"), sidecar("logs")], containers: [container("app")] })),
        ],
        programs: { "*": stopsIn("2s"), app: stopsIn("4s") },
        script: [at("5s").delete("web", { grace: "30s" })],
        until: "20s",
      },
    );
  });

  it("leaves sidecars of a job to be stopped when its work is done", () => {
    draw(
      "1s",
      { "job/proxy": "wRRRRRRRR|ccccc", "job/work": "wRRRRRR|ccccccc" },
      {
        pods: [
          pod("job", { restartPolicy: "Never", initContainers: [sidecar("proxy")], containers: [container("work")] }),
        ],
        programs: { proxy: stopsIn("2s"), work: exits(0, "6s") },
        until: "15s",
      },
    );
  });
});

describe("grace periods", () => {
  const seconds = (terminationGracePeriodSeconds: number) => ({ terminationGracePeriodSeconds });
  const deaf = (spec: Parameters<typeof pod>[1]) => fromApi(pod("web", { containers: [container("app")], ...spec }));
  const script = (...steps: NonNullable<Scenario["script"]>) => steps;
  const live = (own: object) => ({
    livenessProbe: { exec: { command: ["live"] }, periodSeconds: 1, failureThreshold: 1, ...own },
  });

  it.each([
    [
      "is the pod's when the deletion names none",
      deaf(seconds(4)),
      script(at("5s").delete("web")),
      "wRRRRRRRR|----------",
    ],
    [
      "is the deletion's, be it shorter",
      deaf(seconds(9)),
      script(at("5s").delete("web", { grace: "3s" })),
      "wRRRRRRR|-----------",
    ],
    [
      "is the deletion's, be it longer",
      deaf(seconds(2)),
      script(at("5s").delete("web", { grace: "6s" })),
      "wRRRRRRRRRR|--------",
    ],
    [
      "shrinks while it runs",
      deaf(seconds(9)),
      script(at("5s").delete("web"), at("8s").delete("web", { grace: "2s" })),
      "wRRRRRRRRR|---------",
    ],
    [
      "does not grow while it runs",
      deaf(seconds(4)),
      script(at("5s").delete("web"), at("8s").delete("web", { grace: "9s" })),
      "wRRRRRRRR|----------",
    ],
    [
      "gives the signal two seconds after a hook that took all of it",
      deaf({
        ...seconds(3),
        containers: [container("app", { lifecycle: { preStop: { exec: { command: ["hook"] } } } })],
      }),
      script(at("5s").delete("web")),
      "wRRRRRRRRR|---------",
    ],
    [
      "is the pod's at its active deadline",
      deaf({ ...seconds(3), activeDeadlineSeconds: 5 }),
      script(),
      "wRRRRRRR|xxxxxxxxxxx",
    ],
    [
      "is the pod's for a failed liveness probe",
      deaf({ ...seconds(4), containers: [container("app", live({}))] }),
      script(
        at("5s").answer("web/app", { command: "live", code: 1 }),
        at("8s").answer("web/app", { command: "live", code: 0 }),
      ),
      "wRRRRRRRR|RRRRRRRRRR",
    ],
    [
      "is the liveness probe's where it has one",
      deaf({ ...seconds(9), containers: [container("app", live(seconds(2)))] }),
      script(
        at("5s").answer("web/app", { command: "live", code: 1 }),
        at("8s").answer("web/app", { command: "live", code: 0 }),
      ),
      "wRRRRRR|RRRRRRRRRRRR",
    ],
    [
      "is the startup probe's where it has one",
      deaf({
        ...seconds(9),
        containers: [container("app", { startupProbe: { ...live(seconds(3)).livenessProbe, initialDelaySeconds: 2 } })],
      }),
      script(
        at("1s").answer("web/app", { command: "live", code: 1 }),
        at("5s").answer("web/app", { command: "live", code: 0 }),
      ),
      "wrrrrr|rrRRRRRRRRRRR",
    ],
    [
      "is two seconds for each container at least",
      deaf(seconds(1)),
      script(at("5s").delete("web")),
      "wRRRRRR|------------",
    ],
    [
      "shrinks to that of the deletion while one of a liveness probe runs",
      deaf({ ...seconds(9), containers: [container("app", live(seconds(8)))] }),
      script(at("5s").answer("web/app", { command: "live", code: 1 }), at("7s").delete("web", { grace: "3s" })),
      "wRRRRRRRRR|---------",
    ],
    [
      "does not grow to that of the deletion while one of a liveness probe runs",
      deaf({ ...seconds(9), containers: [container("app", live(seconds(3)))] }),
      script(at("5s").answer("web/app", { command: "live", code: 1 }), at("7s").delete("web")),
      "wRRRRRRRR|----------",
    ],
  ] as const)("%s", (_title, web, steps, app) => {
    const programs = { app: { ...deafToTerm, ...commands({ hook: { takes: "10m" }, live: { code: 0 } }) } };
    draw("1s", { "web/app": app }, { pods: [web], programs, script: steps, until: "20s" });
  });

  it("is one for all: sidecars have what the main containers have left of it", () => {
    draw(
      "1s",
      { "web/proxy": "wRRRRRRRRRRRR|------", "web/app": "wRRRRRRR|cccc-------" },
      {
        pods: [deaf({ ...seconds(8), initContainers: [sidecar("proxy")] })],
        programs: { app: stopsIn("3s"), proxy: deafToTerm },
        script: [at("5s").delete("web")],
        until: "20s",
      },
    );
  });
});
