import { describe, expect, it } from "vitest";
import type { AdmissionResult } from "../../../../src/core/admission/admit.ts";
import { takenResources } from "../../../../src/core/allocation/heldResources.ts";
import { infeasibleResize, type ResizeNode } from "../../../../src/core/allocation/infeasibleResize.ts";
import {
  inResizeOrder,
  judgeResizes,
  type ResizeRules,
  type WantedResize,
} from "../../../../src/core/allocation/pendingResizes.ts";
import type { Pod, PodSpec } from "../../../../src/core/api.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { podRequests } from "../../../../src/core/resources/podResources.ts";
import { resourceMilli } from "../../../../src/core/resources/resourceList.ts";
import { ALL_RESIZABLE, containerOf, podOf } from "../../../support/pods.ts";

const sized = (uid: string, cpu: string, spec: Partial<PodSpec> = {}, limits: Record<string, string> = {}): Pod =>
  podOf({ uid, spec: { containers: [containerOf({ resources: { requests: { cpu }, limits } })], ...spec } });
const wanted = (uid: string, from: string, to: string, spec: Partial<PodSpec> = {}): WantedResize => ({
  uid: podUid(uid),
  desired: sized(uid, to, spec),
  allocated: sized(uid, from, spec),
  refused: undefined,
});

describe("the order of resizes", () => {
  const guaranteed = (cpu: string): Pod =>
    podOf({
      uid: "guaranteed",
      spec: {
        containers: [containerOf({ resources: { requests: { cpu, memory: "1" }, limits: { cpu, memory: "1" } } })],
      },
    });
  it("puts resizes that request no more first, then priority, Guaranteed pods, waiting time", () => {
    const waiting: readonly WantedResize[] = [
      wanted("early", "1", "2"),
      wanted("late", "1", "2"),
      { uid: podUid("guaranteed"), desired: guaranteed("2"), allocated: guaranteed("1"), refused: undefined },
      wanted("important", "1", "2", { priority: 10 }),
      wanted("smaller", "2", "1"),
      wanted("smaller and important", "2", "1", { priority: 5 }),
    ];
    expect(inResizeOrder(waiting).map(({ uid }) => uid)).toEqual([
      "smaller and important",
      "smaller",
      "important",
      "guaranteed",
      "early",
      "late",
    ]);
  });
});

describe("what counts as more", () => {
  const amounts = (cpu: string, memory: string): Pod =>
    podOf({ spec: { containers: [containerOf({ resources: { requests: { cpu, memory } } })] } });
  it.each([
    ["more cpu", "2", "1Gi", true],
    ["more memory", "1", "2Gi", true],
    ["more memory and less cpu", "500m", "2Gi", true],
    ["the same", "1", "1Gi", false],
    ["less of both", "500m", "1Mi", false],
  ])("is %s", (_, cpu, memory, isMore) => {
    const plain = wanted("plain", "1", "1", { priority: -1 });
    const resize = {
      uid: podUid("resize"),
      desired: amounts(cpu, memory),
      allocated: amounts("1", "1Gi"),
      refused: undefined,
    };
    // A resize that asks for no more goes first, by priority.
    expect(inResizeOrder([resize, plain]).map(({ uid }) => uid)).toEqual(
      isMore ? ["plain", "resize"] : ["resize", "plain"],
    );
  });
});

describe("evaluating resizes", () => {
  const cpus = (pods: readonly Pod[]) => pods.reduce((sum, pod) => sum + resourceMilli(podRequests(pod), "cpu"), 0n);
  /** A node of 4 CPUs that never takes more than 3 for one pod. */
  const rules: ResizeRules = {
    parts: ALL_RESIZABLE,
    admit: (pod, others): AdmissionResult =>
      cpus([pod, ...others]) <= 4000n
        ? { admitted: true, preempt: [] }
        : { admitted: false, reason: "OutOfcpu", message: `${cpus(others)} used` },
    infeasible: (pod) => (cpus([pod]) > 3000n ? { message: "too large", detail: "size" } : undefined),
  };
  const outcomes = (...waiting: readonly WantedResize[]) => {
    const taken = new Map(waiting.map(({ uid, allocated }) => [uid, takenResources(allocated, undefined)]));
    taken.set(podUid("rest"), takenResources(sized("rest", "1"), undefined));
    return judgeResizes(waiting, taken, new Set(), rules).map(({ uid, refused }) => [
      uid,
      refused?.reason,
      refused?.message,
    ]);
  };

  it("counts other pods with their allocated size", () => {
    expect(outcomes(wanted("a", "1", "2"), wanted("b", "1", "2"))).toEqual([
      ["a", undefined, undefined],
      ["b", "Deferred", "3000 used"],
    ]);
  });

  it("distinguishes infeasible from deferred resizes, and records the generation", () => {
    expect(outcomes(wanted("a", "1", "3500m"))).toEqual([["a", "Infeasible", "too large"]]);
    const { desired, ...rest } = wanted("a", "1", "3500m");
    const newer = { ...rest, desired: { ...desired, metadata: { ...desired.metadata, generation: 4 } } };
    expect(judgeResizes([newer], new Map(), new Set(), rules)[0]?.refused?.generation).toBe(4);
  });

  it("gives no outcome to a resize that needs resources which are not checkpointed as released", () => {
    const granted = ["b", undefined, undefined];
    expect(outcomes(wanted("a", "1", "2"), wanted("b", "2", "1"))).toEqual([granted]);
    // All other resizes are granted, or refused, at once.
    expect(outcomes(wanted("a", "500m", "1"), wanted("b", "2", "1"))).toEqual([granted, ["a", undefined, undefined]]);
    expect(outcomes(wanted("a", "1", "2500m"), wanted("b", "2", "1"))).toEqual([
      granted,
      ["a", "Deferred", "2000 used"],
    ]);
  });

  it("records which resizes were deferred", () => {
    const waited: WantedResize = { ...wanted("a", "1", "2"), refused: { reason: "Deferred", message: "full" } };
    const [first, second] = [waited, wanted("b", "1", "1")].map(
      (each) => judgeResizes([each], new Map(), new Set(), rules)[0],
    );
    expect([first?.wasDeferred, second?.wasDeferred]).toEqual([true, false]);
  });
});

type InfeasibleRow = readonly [
  title: string,
  desired: Pod,
  allocated: Pod,
  on: ResizeNode,
  message: string | undefined,
  detail: string | undefined,
];

describe("infeasible resizes", () => {
  const node: ResizeNode = {
    cpuManagerPolicy: "none",
    memoryManagerPolicy: "None",
    resizeGates: { exclusiveCpus: false, exclusiveMemory: false },
    podSwapBytes: undefined,
  };
  const guaranteed = (cpu: string, memory: string): Pod =>
    podOf({
      spec: { containers: [containerOf({ resources: { requests: { cpu, memory }, limits: { cpu, memory } } })] },
    });
  const pinned = { ...node, cpuManagerPolicy: "static", memoryManagerPolicy: "Static" };
  const burstable = (request: string, limit: string, restartPolicy = "NotRequired"): Pod => {
    const resources = { requests: { memory: request }, limits: { memory: limit } };
    return podOf({
      spec: { containers: [containerOf({ resources, resizePolicy: [{ resourceName: "memory", restartPolicy }] })] },
    });
  };
  function swapRows(): readonly InfeasibleRow[] {
    const swapping = { ...node, podSwapBytes: 1n };
    const refused = ["In-place resize of containers with swap is not supported.", "swap_limitation"] as const;
    return [
      [
        "of the memory request of a container with swap",
        burstable("2Mi", "4Mi"),
        burstable("1Mi", "4Mi"),
        swapping,
        ...refused,
      ],
      ["of a container that gets swap", burstable("2Mi", "4Mi"), burstable("4Mi", "4Mi"), swapping, ...refused],
      ["of a container that loses its swap", burstable("4Mi", "4Mi"), burstable("2Mi", "4Mi"), swapping, ...refused],
      [
        "of a container that restarts for it",
        burstable("2Mi", "4Mi", "RestartContainer"),
        burstable("1Mi", "4Mi", "RestartContainer"),
        swapping,
        undefined,
        undefined,
      ],
      ["of the memory limit alone", burstable("1Mi", "8Mi"), burstable("1Mi", "4Mi"), swapping, undefined, undefined],
      ["of a container without swap", guaranteed("1", "2Gi"), guaranteed("1", "1Gi"), swapping, undefined, undefined],
      [
        "of memory on a node whose pods get no swap",
        burstable("2Mi", "4Mi"),
        burstable("1Mi", "4Mi"),
        node,
        undefined,
        undefined,
      ],
    ];
  }
  const rows: readonly InfeasibleRow[] = [
    ["a resize that fits", guaranteed("2", "1Gi"), guaranteed("1", "1Gi"), node, undefined, undefined],
    [
      "of whole CPUs",
      guaranteed("2", "1Gi"),
      guaranteed("1", "1Gi"),
      pinned,
      'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
      "guaranteed_pod_cpu_manager_static_policy",
    ],
    [
      "of pinned memory",
      guaranteed("1", "2Gi"),
      guaranteed("1", "1Gi"),
      pinned,
      'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"',
      "guaranteed_pod_memory_manager_static_policy",
    ],
    [
      "of pinned CPUs and memory, which the gates let through",
      guaranteed("2", "2Gi"),
      guaranteed("1", "1Gi"),
      { ...pinned, resizeGates: { exclusiveCpus: true, exclusiveMemory: true } },
      undefined,
      undefined,
    ],
    ...swapRows(),
    ["of a Burstable pod alongside pinned ones", sized("a", "2"), sized("a", "1"), pinned, undefined, undefined],
  ];
  it.each(rows)("%s", (_title, desired, allocated, on, message, detail) => {
    const found = infeasibleResize(desired, allocated, on);
    expect([found?.message, found?.detail]).toEqual([message, detail]);
  });
});
