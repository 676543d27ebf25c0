import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { metricsResourceList, nodeMetrics, podMetrics } from "../../../../src/core/stats/metricsApi.ts";
import type { ContainerStats, Summary } from "../../../../src/core/stats/summary.ts";
import { podOf } from "../../../support/pods.ts";

const AT_MS = 1_700_000_000_000;

interface Figures {
  readonly atMs?: number;
  readonly nanoSeconds?: number;
  readonly bytes?: number;
  readonly startedMs?: number;
}

function stats({ atMs = 0, nanoSeconds, bytes, startedMs = 1 }: Figures): Omit<ContainerStats, "name"> {
  const time = epochMs(AT_MS + atMs);
  return {
    startTime: epochMs(startedMs),
    cpu: { time, ...(nanoSeconds !== undefined && { usageCoreNanoSeconds: nanoSeconds }) },
    memory: { time, ...(bytes !== undefined && { workingSetBytes: bytes }) },
  };
}

/** The node and the pod demo/web with the container `main`, all with the same figures, and more containers. */
const summary = (figures: Figures, others: Readonly<Record<string, Figures>> = {}): Summary => ({
  node: { nodeName: "n", ...stats(figures) },
  pods: [
    {
      podRef: { name: "web", namespace: "demo", uid: "u" },
      startTime: epochMs(1),
      containers: Object.entries({ main: figures, ...others }).map(([name, each]) => ({ name, ...stats(each) })),
    },
  ],
});

const BEFORE: Figures = { nanoSeconds: 1_000, bytes: 1 };
const AFTER: Figures = { atMs: 1_500, nanoSeconds: 1_500_001_000, bytes: 5 * 1_024 };
const inPhase = (phase: string, name = "web") =>
  ({ ...podOf({ name, labels: { app: "a" } }), status: { phase } }) as never;
const RUNNING = inPhase("Running");

describe("usage of the node", () => {
  it.each<[string, Figures, Figures, { readonly cpu: string; readonly memory: string } | undefined]>([
    ["a whole core", BEFORE, AFTER, { cpu: "1", memory: "5Ki" }],
    ["nanocores", BEFORE, { ...AFTER, nanoSeconds: 1_000 + 185_184 }, { cpu: "123456n", memory: "5Ki" }],
    ["an idle node", BEFORE, { ...AFTER, nanoSeconds: 1_000 }, { cpu: "0", memory: "5Ki" }],
    ["a part of a KiB", BEFORE, { ...AFTER, bytes: 1_025 }, { cpu: "1", memory: "2Ki" }],
    ["a counter that restarted", BEFORE, { ...AFTER, nanoSeconds: 999 }, undefined],
    ["a start between the measurements", BEFORE, { ...AFTER, startedMs: 2 }, undefined],
    ["the same measurement", BEFORE, { ...AFTER, atMs: 0 }, undefined],
    ["no CPU time before", { bytes: 1 }, AFTER, undefined],
    ["no working set", BEFORE, { atMs: 1_500, nanoSeconds: 2_000 }, undefined],
  ])("%s", (_, before, after, usage) => {
    expect(nodeMetrics({ before: summary(before), after: summary(after) }, undefined)?.usage).toEqual(usage);
  });

  it("has the time of the later measurement and the window between them", () => {
    expect(nodeMetrics({ before: summary(BEFORE), after: summary(AFTER) }, { zone: "z" })).toMatchObject({
      apiVersion: "metrics.k8s.io/v1beta1",
      kind: "NodeMetrics",
      metadata: { name: "n", labels: { zone: "z" } },
      timestamp: "2023-11-14T22:13:21Z",
      window: "1.5s",
    });
  });
});

describe("usage of pods", () => {
  const measured = { before: summary(BEFORE), after: summary(AFTER) };

  it("lists the containers of a running pod", () => {
    expect(podMetrics(measured, [RUNNING])).toMatchObject([
      {
        kind: "PodMetrics",
        metadata: { name: "web", namespace: "demo", labels: { app: "a" } },
        window: "1.5s",
        containers: [{ name: "main", usage: { cpu: "1", memory: "5Ki" } }],
      },
    ]);
  });

  it.each([
    ["that has ended", measured, inPhase("Succeeded")],
    ["without measurements", measured, inPhase("Running", "other")],
    ["with a new container", { ...measured, after: summary(AFTER, { late: AFTER }) }, RUNNING],
  ])("leaves out a pod %s", (_, both, pod) => {
    expect(podMetrics(both, [pod])).toEqual([]);
  });
});

it("lists the resources of the group as metrics-server does", () => {
  const verbs = ["get", "list"];
  expect(metricsResourceList()).toEqual({
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: "metrics.k8s.io/v1beta1",
    resources: [
      { name: "nodes", singularName: "", namespaced: false, kind: "NodeMetrics", verbs },
      { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs },
    ],
  });
});
