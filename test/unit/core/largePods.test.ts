/** Work on a pod with many entries grows with their number: it reads no entry once for each of the others. */
import { describe, expect, it } from "vitest";
import type { Pod, PodCondition } from "../../../src/core/api.ts";
import { hostPortsConflict } from "../../../src/core/admission/hostPorts.ts";
import { samePodStatus } from "../../../src/core/api/podStatusMerge.ts";
import { allNamed, findIdentified, findNamed, findTyped } from "../../../src/core/findNamed.ts";
import { computePodActions } from "../../../src/core/pod/podActions.ts";
import { planPodKill } from "../../../src/core/pod/podKill.ts";
import { restoredPod } from "../../../src/core/pod/restoredPod.ts";
import { generatePodStatus } from "../../../src/core/pod/status.ts";
import { validateMounts } from "../../../src/core/pod/validateMounts.ts";
import { type Counted, countedReads } from "../../support/countedReads.ts";
import { container, instance, mono, pod, runtime, sidecar, wall } from "./samples.ts";

const SIZE = 100;
const FACTOR = 4;

/** Names from 0 to `size`. */
const names = (size: number): readonly string[] => Array.from({ length: size }, (_, index) => `c${index}`);

const status = (of: Pod, seen: ReturnType<typeof runtime>) =>
  generatePodStatus({
    pod: of,
    runtime: seen,
    failures: new Map(),
    verdicts: new Map(),
    previous: undefined,
    now: wall(100),
    node: { hostIPs: ["192.0.2.10"] },
  });

const actions = (of: Pod, seen: ReturnType<typeof runtime>) =>
  computePodActions({
    pod: of,
    runtime: seen,
    verdicts: new Map(),
    backoffs: new Map(),
    backoffPolicy: { initialMs: 10_000, maxMs: 300_000, resetMs: 600_000 },
    resizeRestarts: new Set(),
    now: mono(100),
  } as never);

type Work = (size: number, counted: Counted) => unknown;

const instances = (size: number, { of }: Counted) => runtime(names(size).map((name) => of(instance(name))));
const regular = (size: number, { of }: Counted) => pod({ containers: names(size).map((name) => of(container(name))) });
const sidecars = (size: number, { of }: Counted) =>
  pod({ initContainers: names(size).map((name) => of(sidecar(name))) });
const conditions = (size: number, { of }: Counted): PodCondition[] =>
  names(size).map((type) => of({ type, status: "True" }));
const ports = (size: number, first: number) =>
  pod({
    containers: [container("a", { ports: names(size).map((_, at) => ({ containerPort: 1, hostPort: first + at })) })],
  });
const mounts = (size: number, { of }: Counted) => ({
  volumeMounts: names(size).map((name) => of({ name, mountPath: `/${name}` })),
  volumeDevices: names(size).map((name) => of({ name: `d${name}`, devicePath: `/d${name}` })),
});

const WORK: readonly (readonly [string, Work])[] = [
  ["the status of regular containers", (size, counted) => status(regular(size, counted), instances(size, counted))],
  ["the status of sidecars", (size, counted) => status(sidecars(size, counted), instances(size, counted))],
  ["a plan for regular containers", (size, counted) => actions(regular(size, counted), instances(size, counted))],
  ["a plan for sidecars", (size, counted) => actions(sidecars(size, counted), instances(size, counted))],
  ["the stop of sidecars", (size, counted) => planPodKill(sidecars(size, counted), instances(size, counted), 1)],
  ["a pod that only the runtime knows", (size, counted) => restoredPod({} as never, instances(size, counted))],
  [
    "readiness gates and conditions",
    (size, counted) => {
      const readinessGates = conditions(size, counted).map(({ type }) => ({ conditionType: type }));
      const of = pod({ readinessGates }, { status: { conditions: conditions(size, counted) } });
      return status(of, runtime([counted.of(instance("web"))]));
    },
  ],
  [
    "conditions told and conditions of the server",
    (size, counted) =>
      samePodStatus({ conditions: conditions(size, counted) }, { conditions: conditions(size, counted) }),
  ],
  [
    "mounts, devices and volumes",
    (size, counted) => [
      ...validateMounts(
        mounts(size, counted),
        names(size).map((name) => counted.of({ name })),
        "",
      ),
    ],
  ],
];

describe("work on a pod with many entries", () => {
  it.each(WORK)("%s", (_what, work) => {
    const [small, large] = [SIZE, SIZE * FACTOR].map((size) => {
      const counted = countedReads();
      work(size, counted);
      return counted.reads();
    });
    expect(small).toBeGreaterThanOrEqual(SIZE);
    expect(large).toBeLessThan((small ?? 0) * FACTOR * 1.5);
  });
});

it("compares 100,000 host ports with as many taken ones", () => {
  const size = 100_000;
  expect(hostPortsConflict(ports(size, 1), [ports(size, 1 + size)])).toBe(false);
  expect(hostPortsConflict(ports(size, 1), [ports(size, size)])).toBe(true);
});

describe("an entry by its key", () => {
  it.each([3, 300])("is the first of %i, others of that key follow in their order", (size) => {
    const list = names(size).map((name, at) => ({ name, type: name, id: name, at }));
    const again = [...list, { name: "c1", type: "c1", id: "c1", at: -1 }];
    expect([findNamed(again, "c1"), findTyped(again, "c1"), findIdentified(again, "c1")]).toEqual(
      Array.from({ length: 3 }, () => list[1]),
    );
    expect(allNamed(again, "c1").map(({ at }) => at)).toEqual([1, -1]);
    expect([findNamed(again, "none"), allNamed(again, "none"), findNamed(undefined, "c1")]).toEqual([
      undefined,
      [],
      undefined,
    ]);
  });
});
