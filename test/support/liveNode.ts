/** A scripted node for the live view: pods that start, a crash loop, pods that wait for planted reasons, hostile texts. */
import type {
  LiveFlow,
  LiveGraph,
  LiveMarble,
  LiveNode,
  LivePod,
  LivePods,
  LiveWait,
} from "../../src/core/live/liveMessages.ts";
import {
  CLUSTER_PLACES,
  EVICTION_PLACES,
  GARBAGE_PLACES,
  HEALTH_PLACES,
  PLEG_PLACES,
  POD_PLACES,
  SERVICE_CELLS,
  SHUTDOWN_PLACES,
  SOURCE_PLACES,
} from "../../src/pipelines/partPlaces.ts";

/** Markup, control characters, and characters that reorder text. */
export const HOSTILE = "<img src=x onerror=\"document.title='owned'\">\u0000\u001b[31m\u202Egnp.exe</script><b>";

const QUEUES = ["registryInputs", "inspections", "runtimeLooks", "events", "exhaustedDrivers", "evictions"];

const PARTS: LiveGraph["parts"] = [
  { name: "recorder", reads: ["events"], writes: [] },
  { name: "runtimeClasses", reads: ["configObjects"], writes: ["runtimeClasses"] },
  { name: "services", reads: [], writes: ["services"] },
  { name: "pluginManager", reads: ["node", "exhaustedDrivers"], writes: ["plugins", "csiDrivers"] },
  { name: "devices", reads: ["registry"], writes: ["devices", "devicePluginProblem", "events", "registryInputs"] },
  { name: "runtimeState", reads: ["runtimeLooks"], writes: ["runtimeState"] },
  { name: "pleg", ...PLEG_PLACES },
  { name: "podLifecycle", ...POD_PLACES },
  { name: "podServices", reads: [], writes: SERVICE_CELLS },
  { name: "podConfig", ...SOURCE_PLACES },
  { name: "housekeeping", reads: ["registry", "listing", "runtimeStatuses"], writes: ["orphans", "leftStages"] },
  { name: "garbageCollection", ...GARBAGE_PLACES },
  { name: "volumeHealth", ...HEALTH_PLACES },
  { name: "evictionManager", ...EVICTION_PLACES },
  { name: "nodeShutdown", ...SHUTDOWN_PLACES },
  { name: "hostAddresses", reads: [], writes: ["addresses"] },
  { name: "cloudInstance", reads: ["addresses"], writes: ["cloudInstance"] },
  { name: "clusterNode", ...CLUSTER_PLACES },
  { name: "oomWatcher", reads: [], writes: ["events"] },
  { name: "utilChains", reads: [], writes: [] },
];

/** The pipeline of the node: most of the kubelet's parts. */
export const graphOf = (at: number): LiveGraph => ({
  kind: "graph",
  at,
  node: "worker-7",
  version: "0.1.0",
  parts: PARTS,
  places: [...new Set(PARTS.flatMap(({ reads, writes }) => [...reads, ...writes]))]
    .filter((name) => name !== "sequence")
    .map((name) => ({ name, kind: QUEUES.includes(name) ? "queue" : "cell" })),
});

const START_MS = 60_000;
/** The crash loop: it runs this long, then waits. */
export const CRASH = { uid: "uid-crash", name: "crash-loop", runMs: 2_000, backoffMs: 20_000 } as const;
const CRASH_PERIOD = CRASH.runMs + CRASH.backoffMs;

/** The instant of the crash loop's next start at `now`; undefined while it runs. */
export function crashRetryAt(now: number, beginning: number): number | undefined {
  const inPeriod = (now - beginning) % CRASH_PERIOD;
  return inPeriod < CRASH.runMs ? undefined : now - inPeriod + CRASH_PERIOD;
}

/** Places that a pod goes through, with the part that writes each and what is said. */
const STEPS: readonly (readonly [place: string, part: string, text: string, afterMs: number, tookMs?: number])[] = [
  ["registryInputs", "podConfig", "update: ADD", 0],
  ["registry", "podLifecycle", "syncing", 12],
  ["timelines", "podLifecycle", "RunPodSandbox", 420, 390],
  ["inspections", "podLifecycle", "look at it", 6],
  ["runtimeStatuses", "pleg", "1 sandbox ready", 35],
  ["timelines", "podLifecycle", "ImagePull web: registry.local/web:1.4", 900, 880],
  ["timelines", "podLifecycle", "CreateContainer web", 110, 95],
  ["timelines", "podLifecycle", "StartContainer web", 160, 150],
  ["runtimeStatuses", "pleg", "web running", 40],
  ["podStatuses", "podLifecycle", "Running, ready 1/1", 8],
  ["events", "podLifecycle", "Started: container web", 2],
];

/** Size and pace of the node. */
export interface LiveScript {
  readonly pods: number;
  /** Pods that begin a start each second. */
  readonly startsPerSecond: number;
  readonly now: number;
}

export interface ScriptedNode {
  /** Marbles that came since the last call, up to `now`. */
  advance(now: number): readonly LiveMarble[];
  pods(now: number): LivePods;
  flow(now: number, marbles: readonly LiveMarble[]): LiveFlow;
  node(now: number): LiveNode;
  readonly beginning: number;
}

/** Makes a node whose marbles begin START_MS before `now`. */
export function createLiveNode({ pods: count, startsPerSecond, now: madeAt }: LiveScript): ScriptedNode {
  const beginning = madeAt - START_MS;
  const everyMs = 1000 / startsPerSecond;
  let planned: (Omit<LiveMarble, "id" | "cause"> & { readonly chain: string })[] = [];
  const lastOf = new Map<string, number>();
  let id = 0;
  let nextStart = beginning;
  let nextCrash = beginning;
  let starts = 0;
  const plan = (uid: string, at: number): void => {
    let due = at;
    for (const [place, part, text, afterMs, tookMs] of STEPS) {
      due += afterMs;
      const detail = JSON.stringify({ pod: uid, place, value: text }, null, 2);
      planned.push({ at: due, place, part, pod: uid, text, detail, chain: `${uid} ${at}`, ...(tookMs && { tookMs }) });
    }
  };
  const planCrash = (at: number): void => {
    const own = { part: "podLifecycle", pod: CRASH.uid, chain: `crash ${at}` };
    planned.push(
      { at: at + 120, place: "timelines", text: "StartContainer app", tookMs: 115, ...own },
      { at: at + CRASH.runMs, place: "runtimeStatuses", text: "app exited, code 1", outcome: "failed", ...own },
      { at: at + CRASH.runMs + 9, place: "podStatuses", text: "CrashLoopBackOff", outcome: "warning", ...own },
      { at: at + CRASH.runMs + 11, place: "events", text: `BackOff: ${HOSTILE}`, outcome: "warning", ...own },
    );
  };
  return {
    beginning,
    advance(now) {
      for (; nextStart <= now; nextStart += everyMs) plan(uidOf((starts = (starts + 7) % count)), nextStart);
      for (; nextCrash <= now; nextCrash += CRASH_PERIOD) planCrash(nextCrash);
      const due = planned.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
      planned = planned.filter(({ at }) => at > now);
      return due.map(({ chain, ...marble }) => {
        id += 1;
        const cause = lastOf.get(chain);
        lastOf.set(chain, id);
        return { id, ...marble, ...(cause !== undefined && { cause }) };
      });
    },
    pods: (now) => ({ kind: "pods", at: now, pods: [...troubledPods(now, beginning), ...plainPods(count)] }),
    flow: (now, marbles) => ({
      kind: "flow",
      at: now,
      places: graphOf(now).places.map(({ name, kind }) => ({
        name,
        count: marbles.filter(({ place }) => place === name).length,
        ...(kind === "queue" && { depth: name === "inspections" ? 3 : 0, dropped: name === "events" ? 2 : 0 }),
      })),
    }),
    node: (now) => nodeMessage(now, (now - beginning) / 1000),
  };
}

const uidOf = (index: number): string => `uid-${index}`;

const plainPods = (count: number): readonly LivePod[] =>
  Array.from({ length: count }, (_, index) => ({
    uid: uidOf(index),
    namespace: index % 3 === 0 ? "kube-system" : "default",
    name: `web-${String(index).padStart(3, "0")}`,
    source: "api",
    state: "syncing",
    phase: "Running",
    containers: [{ name: "web", kind: "main", state: "running", ready: true, restarts: index % 5 === 0 ? 1 : 0 }],
    waits: [],
  }));

const RUNNING = { name: "app", kind: "main", state: "running", ready: true, restarts: 4 } as const;

/** Pods that wait for the planted reasons. */
function troubledPods(now: number, beginning: number): readonly LivePod[] {
  const retryAt = crashRetryAt(now, beginning);
  const crashed = { what: "CrashLoopBackOff", container: "app", cause: "back-off 20s restarting failed container=app" };
  return [
    retryAt === undefined
      ? { ...pod(CRASH.name, CRASH.uid, "app", []), phase: "Running", containers: [RUNNING] }
      : pod(CRASH.name, CRASH.uid, "app", [{ ...crashed, next: { what: "next try", at: retryAt } }]),
    pod("needs-settings", "uid-settings", "api", [
      {
        what: "CreateContainerConfigError",
        container: "api",
        cause: 'configmap "settings" not found',
        since: beginning,
        next: { what: "next try", at: now - ((now - beginning) % 10_000) + 10_000 },
      },
    ]),
    {
      ...pod("wants-disk", "uid-disk", "db", []),
      state: "rejected",
      phase: "Failed",
      reason: "Evicted",
      message:
        "The node was low on resource: ephemeral-storage. The disk of /var/lib is full: 120Mi available, 2Gi needed",
    },
    pod("never-ready", "uid-probe", "shop", [
      { what: "ReadinessProbe", container: "shop", cause: "HTTP probe failed with status code 503", since: beginning },
    ]),
    pod("slow-pull", "uid-pull", "model", [
      {
        what: "ImagePull",
        container: "model",
        cause: "registry.local/model:9, second in line behind registry.local/huge:2 (pulling for 95s)",
        ahead: ["registry.local/huge:2"],
        since: beginning,
      },
    ]),
    pod("hangs-in-hook", "uid-hook", "cache", [
      {
        what: "PostStartHook",
        container: "cache",
        cause: "sh -c 'wait-for-peer' has not ended",
        since: beginning - 240_000,
      },
    ]),
    pod(HOSTILE, "uid-hostile", "x", [{ what: HOSTILE, container: "x", cause: HOSTILE.repeat(40), since: beginning }]),
  ];
}

const pod = (name: string, uid: string, container: string, waits: readonly LiveWait[]): LivePod => ({
  uid,
  namespace: "default",
  name,
  source: "file",
  state: "syncing",
  phase: "Pending",
  containers: [
    {
      name: container,
      kind: "main",
      state: "waiting",
      reason: waits[0]?.what ?? "ContainerCreating",
      ready: false,
      restarts: 4,
    },
  ],
  waits,
});

const GIB = 2 ** 30;
const CALLS = ["RunPodSandbox", "CreateContainer", "StartContainer", "ContainerStatus", "ListPodSandbox", "PullImage"];

const nodeMessage = (at: number, seconds: number): LiveNode => ({
  kind: "node",
  at,
  problems: [],
  usage: {
    cpuMillis: 1_400 + 500 * Math.sin(seconds / 9),
    cpuCapacityMillis: 4_000,
    memoryBytes: (5 + Math.sin(seconds / 30)) * GIB,
    memoryCapacityBytes: 16 * GIB,
    diskBytes: (91 + seconds / 600) * GIB,
    diskCapacityBytes: 100 * GIB,
  },
  pressures: ["DiskPressure"],
  signals: [
    { name: "memory.available", available: "10.9Gi", threshold: "100Mi", isMet: false },
    { name: "nodefs.available", available: "8.7Gi", threshold: "10%", isMet: true },
    { name: "imagefs.inodesFree", available: "91%", threshold: "5%", isMet: false },
  ],
  evictionOrder: ["default/web-001", "default/web-004", "kube-system/web-003"],
  devices: [{ resource: "example.com/gpu", used: 3, total: 4 }],
  garbage: { unusedImages: 7, unusedBytes: 3 * GIB, keptImages: 12, keptBytes: 9 * GIB, deadContainers: 5 },
  sources: [
    { name: "http", isUp: false, restarts: 3 },
    { name: "api", isUp: true, restarts: 1 },
    { name: "runtimeEvents", isUp: true, restarts: 0 },
  ],
  calls: [
    ...CALLS.map((name, index) => ({
      target: "runtime" as const,
      name,
      count: Math.floor(seconds * (index + 1)),
      failed: index === 5 ? 2 : 0,
      meanMs: 3 + index * 11 + 4 * Math.sin(seconds / (3 + index)),
      maxMs: 20 + index * 40,
    })),
    { target: "api", name: "PATCH pods/status", count: Math.floor(seconds * 3), failed: 0, meanMs: 6, maxMs: 31 },
  ],
});
