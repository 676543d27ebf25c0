/** Probes on a whole simulated node: what they do to containers, conditions and what survives a crash of the kubelet. */
import { describe, expect, it } from "vitest";
import type { Container, Pod } from "../../src/core/api.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import type { SimExec } from "../../src/sim/runtime/simProgram.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { simStory } from "../support/simStory.ts";

const POD = "demo/plain";
const JOURNAL = "/var/lib/kubelet/pods/uid-1/probe-verdicts.json";
const YES: SimExec = { afterMs: 0, code: 0 };
const NO: SimExec = { afterMs: 0, code: 1, stdout: "no" };

const exec = (...command: readonly string[]) => ({ exec: { command: [...command] } });

/** A node with one pod of one container; `answer` says what a command run inside does, so long after its start. */
function nodeOf(
  container: Partial<Container>,
  answer: (command: string, ageMs: number) => SimExec,
  more: Partial<SimNodeOptions> & { readonly pod?: Parameters<typeof podOf>[0] } = {},
): SimNode {
  const node: SimNode = createSimNode({
    seed: 1,
    latency: () => 2,
    pods: [podOf({ ...more.pod, spec: { containers: [containerOf(container)], ...more.pod?.spec } })],
    programs: () => {
      const bornAt = node.clock.monotonicMs();
      return { exec: ([command = ""]) => answer(command, node.clock.monotonicMs() - bornAt) };
    },
    ...more,
  });
  return node;
}

const readyOf = (node: SimNode): string | undefined =>
  node.pods()[0]?.status?.conditions?.find(({ type }) => type === "Ready")?.status;

describe("probes on a node", () => {
  it("restart a container whose liveness probe fails, with the probe's own grace period", () => {
    const node = nodeOf(
      { livenessProbe: { ...exec("live"), periodSeconds: 2, failureThreshold: 2, terminationGracePeriodSeconds: 7 } },
      (_, ageMs) => (ageMs > 10_000 ? NO : YES),
    );
    node.runFor(20_000);
    const story = simStory(node, POD, /Unhealthy|Killing|StopContainer|container exited|container started/);
    expect(story.map((line) => line.replace(/^\S+ /, ""))).toEqual([
      "main#0 started",
      "Unhealthy: Liveness probe failed: no",
      "main#0 StopContainer within 7 s",
      "Unhealthy: Liveness probe failed: no",
      "Killing: Container main failed liveness probe, will be restarted",
      "main#0 exited code 143",
      "main#1 started",
    ]);
    expect(node.violations).toEqual([]);
  });

  it("keep a pod from being Ready until the startup probe and then the readiness probe have passed", () => {
    const node = nodeOf(
      {
        startupProbe: { ...exec("startup"), periodSeconds: 1, failureThreshold: 30 },
        readinessProbe: { ...exec("ready"), periodSeconds: 1 },
        livenessProbe: { ...exec("live"), periodSeconds: 1, failureThreshold: 1 },
      },
      (command, ageMs) => (ageMs < { startup: 5_000, live: 0, ready: 8_000 }[command]! ? NO : YES),
    );
    const probed = (name: string): boolean => node.trace.lines.some((line) => line.includes(`${name} probe`));
    expect(node.runUntil(() => node.pods()[0]?.status?.containerStatuses?.[0]?.started === true, 20_000)).toBe(true);
    expect([readyOf(node), probed("Startup"), probed("Readiness"), probed("Liveness")]).toEqual([
      "False",
      true,
      false,
      false,
    ]);
    const startedMs = node.clock.monotonicMs();
    expect(node.runUntil(() => readyOf(node) === "True", 20_000)).toBe(true);
    expect([probed("Readiness"), node.clock.monotonicMs() - startedMs > 2_000]).toEqual([true, true]);
  });

  it("move the Ready condition in the instant a readiness verdict changes, and restart nothing", () => {
    let isWell = true;
    const node = nodeOf({ readinessProbe: { ...exec("ready"), periodSeconds: 1, failureThreshold: 2 } }, () =>
      isWell ? YES : NO,
    );
    expect(node.runUntil(() => readyOf(node) === "True", 10_000)).toBe(true);
    isWell = false;
    const failed = (): number => node.trace.lines.filter((line) => line.includes("Readiness probe failed")).length;
    expect(node.runUntil(() => failed() === 2, 10_000)).toBe(true);
    expect(node.runUntil(() => readyOf(node) === "False", 0)).toBe(true);
    isWell = true;
    expect(node.runUntil(() => readyOf(node) === "True", 1_100)).toBe(true);
    expect(node.running()).toEqual([`${POD}/main#0`]);
  });

  it("gate the containers after a sidecar by its startup probe", () => {
    const sidecar = containerOf({
      name: "proxy",
      restartPolicy: "Always",
      startupProbe: { ...exec("startup"), periodSeconds: 1, failureThreshold: 30 },
    });
    const node = nodeOf({}, (_, ageMs) => (ageMs < 4_000 ? NO : YES), { pod: { spec: { initContainers: [sidecar] } } });
    node.runFor(20_000);
    const [proxyAt = 0, mainAt = 0] = simStory(node, POD, /change .* container started/).map(Number.parseFloat);
    expect([mainAt - proxyAt >= 4, mainAt - proxyAt <= 5.1]).toEqual([true, true]);
  });

  it.each([1_000, 0])("do not let a pod that is ready for %i ms flip when the kubelet is killed", (readyMs) => {
    const node = nodeOf({ readinessProbe: { ...exec("ready"), periodSeconds: 10 } }, () => YES);
    expect(node.runUntil(() => readyOf(node) === "True", 20_000)).toBe(true);
    node.runFor(readyMs);
    node.crashKubelet();
    node.runFor(2_000);
    node.restartKubelet();
    const restartedMs = node.clock.monotonicMs();
    node.runFor(30_000);
    const statuses = simStory(node, POD, /^status (?!gone)/, restartedMs);
    expect(statuses.map((line) => line.replace(/^\S+ /, ""))).toEqual(["Running main=running+#0"]);
    expect(node.running()).toEqual([`${POD}/main#0`]);
  });

  it("believe no journal about another instance, and put one aside that cannot be read", () => {
    const probe = { readinessProbe: { ...exec("ready"), periodSeconds: 5 } };
    const node = nodeOf(probe, () => YES);
    expect(node.runUntil(() => readyOf(node) === "True", 20_000)).toBe(true);
    node.runFor(1_000);
    const written = node.files.read(JOURNAL) ?? "";
    const restartWith = (journal: string): string | undefined => {
      node.crashKubelet();
      node.files.put(JOURNAL, journal);
      node.restartKubelet();
      node.runUntil(() => node.pods()[0]?.status !== undefined, 1_000);
      return readyOf(node);
    };
    expect(written).toContain('"started":true,"ready":true');
    expect(restartWith(written)).toBe("True");
    expect(restartWith(written.replace(/"id":"[^"]*"/, '"id":"another"'))).toBe("False");
    expect(restartWith(written.slice(0, 40))).toBe("False");
    node.runFor(10_000);
    expect([readyOf(node), node.files.read(`${JOURNAL}.corrupt`), node.files.read(JOURNAL)]).toEqual([
      "True",
      written.slice(0, 40),
      written,
    ]);
    expect(
      node.telemetry.lines.filter(({ message }) => message.startsWith("Probe verdicts cannot be used")),
    ).toHaveLength(1);
  });

  it("leave liveness alone once the pod is to end, and let readiness turn false while it still runs", () => {
    const node: SimNode = createSimNode({
      seed: 1,
      latency: () => 2,
      pods: [
        podOf({
          spec: {
            containers: [
              containerOf({
                livenessProbe: { ...exec("live"), periodSeconds: 1, failureThreshold: 1 },
                readinessProbe: { ...exec("ready"), periodSeconds: 1, failureThreshold: 1 },
              }),
            ],
          },
        }),
      ],
      programs: () => ({
        onTerm: { afterMs: 10_000, code: 0 },
        exec: () => (node.clock.monotonicMs() < 20_000 ? YES : NO),
      }),
    });
    node.runFor(19_500);
    node.dropPod("uid-1");
    node.runFor(20_000);
    const reported = simStory(node, POD, /status|Unhealthy|Killing|exited/, 19_000).map((line) =>
      line.replace(/^\S+ /, ""),
    );
    expect(reported.slice(0, 4)).toEqual([
      "Killing: Stopping container main",
      "Running main=running#0",
      "Unhealthy: Readiness probe failed: no",
      "Unhealthy: Readiness probe failed: no",
    ]);
    expect(reported.filter((line) => /Liveness|Killing/.test(line))).toEqual(["Killing: Stopping container main"]);
  });

  it("write a verdict down that could not be written while the disk was full", () => {
    let isFull = false;
    const node = nodeOf(
      { readinessProbe: { ...exec("ready"), periodSeconds: 1, failureThreshold: 1 } },
      (_, ageMs) => (ageMs > 10_000 ? NO : YES),
      { fileFault: (operation) => (isFull && operation === "replaceFile" ? "ResourceExhausted" : undefined) },
    );
    const written = (): unknown => JSON.parse(node.files.read(JOURNAL) ?? "{}");
    node.runFor(9_000);
    const before = written();
    isFull = true;
    node.runFor(11_000);
    expect([readyOf(node), written()]).toEqual(["False", before]);
    isFull = false;
    node.runFor(11_000);
    expect(JSON.stringify(written())).toBe(JSON.stringify(before).replace('"ready":true', '"ready":false'));
  });

  it("count although the disk is full, a disk that does not answer holding them back for a second", () => {
    const fileFault = () => "ResourceExhausted" as const;
    const node = nodeOf({ readinessProbe: { ...exec("ready"), periodSeconds: 1 } }, () => YES);
    const full = nodeOf({ readinessProbe: { ...exec("ready"), periodSeconds: 1 } }, () => YES, {
      fileFault: (operation, path) => (operation === "replaceFile" && path === JOURNAL ? fileFault() : undefined),
    });
    const readyAt = (of: SimNode): number => {
      expect(of.runUntil(() => readyOf(of) === "True", 20_000)).toBe(true);
      return of.clock.monotonicMs();
    };
    expect(readyAt(full)).toBe(readyAt(node));
  });

  it("probe over the network at the pod's address, and leave no series behind", () => {
    const pod: Pod = podOf({
      spec: { containers: [containerOf({ readinessProbe: { httpGet: { port: 80, path: "/" }, periodSeconds: 1 } })] },
    });
    const node = createSimNode({ seed: 1, latency: () => 2, pods: [pod] });
    expect(node.runUntil(() => readyOf(node) === "True", 10_000)).toBe(true);
    const labels = { container: "main", namespace: "demo", pod: "plain", probe_type: "Readiness" };
    const counted = (): number =>
      node.telemetry.value("prober_probe_total", { ...labels, pod_uid: "uid-1", result: "successful" });
    expect(counted()).toBe(1);
    node.dropPod("uid-1");
    node.runFor(60_000);
    expect([counted(), node.telemetry.value("prober_probe_duration_seconds", labels)]).toEqual([0, 0]);
  });
});
