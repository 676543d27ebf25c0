/**
 * Pods of every kind a node sees, drawn from a seed, and how the people who own them change their minds over time. Plain
 * data: any pod can be left out and the others stay as they are.
 */
import type { Container } from "../../core/api.ts";
import { createPrng, type Prng } from "../prng.ts";
import {
  exitsWith,
  ignoresTerm,
  runsForever,
  type SimExec,
  type SimProgram,
  type SimPrograms,
} from "../runtime/simProgram.ts";

import {
  configNameOf,
  configured,
  drawConfiguring,
  drawConfigSteps,
  type SimConfiguring,
  type SimConfigStep,
} from "./workloadConfig.ts";
import { MOODY_PATH, NEVER_PATH, SICKLY_PATH } from "./workloadAnswers.ts";
import { type SimTenancy, tenantSpec } from "./workloadTenants.ts";
import { drawMounting, mountedSpec, type SimMounting } from "./workloadVolumes.ts";
import { drawResizes, drawSizing, type SimResizeStep, type SimSizing, sizedSpec } from "./workloadSizes.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Where a pod has to be, some time after the last fault. */
export type SimGoal =
  /** All containers run and are ready; one of a pod that is never restarted may have ended. */
  | "running"
  /** It has ended: Succeeded or Failed. */
  | "over"
  /** It is being tried, again and again. */
  | "trying";

interface PodKind {
  readonly weight: number;
  /** Nobody remembers when a static pod ran out of time, but for the wall clock, which may be set back. */
  readonly isApiOnly?: true;
  readonly goal: SimGoal;
  readonly spec: (image: string) => Fields;
}

/** What the container of that name does, in every pod. */
const PROGRAMS: Readonly<Record<string, SimProgram>> = {
  steady: { ...runsForever, onTerm: { afterMs: 300, code: 0 }, usage: { cpuMilli: 10, memoryBytes: 20_000_000 } },
  stubborn: ignoresTerm,
  leaving: { onTerm: { afterMs: 8_000, code: 0 } },
  crash: exitsWith(1, 700),
  flaky: exitsWith(2, 45_000),
  job: exitsWith(0, 40_000),
  failing: exitsWith(3, 5_000),
  setup: exitsWith(0, 1_500),
  proxy: { onTerm: { afterMs: 100, code: 0 } },
  batch: { exits: { afterMs: 400_000, code: 0 }, terminationMessage: "all done" },
  broken: { failsToStart: "exec: no such file" },
};

/** Commands of hooks and probes: `takes 5000` ends so many milliseconds later, `fails 5000` too, with code 1. */
function command([word = "", ms = "0"]: readonly string[]): SimExec {
  return { afterMs: Number(ms), code: word === "fails" ? 1 : 0 };
}

/** A program that is up only after it was asked a few times whether it is. */
function warmingUp(): SimProgram {
  let asked = 0;
  return {
    ...runsForever,
    exec: (words) => (words[0] === "up" ? { afterMs: 20, code: (asked += 1) > 5 ? 0 : 1 } : command(words)),
  };
}

/** Behaviour by container name. */
export const workloadPrograms: SimPrograms = ({ container }) => {
  const name = container.metadata?.name ?? "";
  return name === "warming" ? warmingUp() : { exec: command, ...PROGRAMS[name] };
};

const container = (name: string, image: string, more: Fields = {}): Fields => ({
  name,
  image,
  resources: { requests: { cpu: "20m", memory: "32Mi" } },
  ...more,
});
const sidecar = (image: string): Fields => container("proxy", image, { restartPolicy: "Always" });
const hooks = (postStart: readonly string[], preStop: readonly string[]): Fields => ({
  lifecycle: { postStart: { exec: { command: postStart } }, preStop: { exec: { command: preStop } } },
});
const LONG_MS = "3600000";
const startupProbe: Fields = { exec: { command: ["up"] }, periodSeconds: 2, failureThreshold: 30 };
const probes: Fields = {
  startupProbe,
  readinessProbe: { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 10 },
  livenessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 10 },
};

/** The kinds of pods by name. */
export const POD_KINDS: Readonly<Record<string, PodKind>> = {
  steady: { weight: 5, goal: "running", spec: (image) => ({ containers: [container("steady", image)] }) },
  pair: {
    weight: 3,
    goal: "running",
    spec: (image) => ({
      hostUsers: false,
      containers: [container("steady", image), container("stubborn", image)],
    }),
  },
  leaving: {
    weight: 2,
    goal: "running",
    spec: (image) => ({ containers: [container("leaving", image, hooks(["greet"], ["bye"]))] }),
  },
  probed: { weight: 2, goal: "running", spec: (image) => ({ containers: [container("steady", image, probes)] }) },
  crash: { weight: 2, goal: "trying", spec: (image) => ({ containers: [container("crash", image)] }) },
  flaky: {
    weight: 2,
    goal: "trying",
    spec: (image) => ({
      restartPolicy: "OnFailure",
      containers: [container("flaky", image), container("steady", image)],
    }),
  },
  job: {
    weight: 2,
    goal: "over",
    spec: (image) => ({ restartPolicy: "Never", hostUsers: false, containers: [container("job", image)] }),
  },
  failing: {
    weight: 1,
    goal: "over",
    spec: (image) => ({ restartPolicy: "Never", containers: [container("failing", image), container("job", image)] }),
  },
  staged: {
    weight: 2,
    goal: "running",
    spec: (image) => ({
      initContainers: [container("setup", image), sidecar(image)],
      containers: [container("steady", image)],
      volumes: [{ name: "scratch", emptyDir: {} }],
    }),
  },
  batch: {
    weight: 2,
    goal: "over",
    spec: (image) => ({
      restartPolicy: "OnFailure",
      initContainers: [sidecar(image), container("setup", image)],
      containers: [container("batch", image)],
    }),
  },
  warming: {
    weight: 2,
    goal: "running",
    spec: (image) => ({ containers: [container("warming", image, { ...probes, startupProbe })] }),
  },
  cold: {
    weight: 1,
    goal: "trying",
    spec: (image) => ({
      containers: [
        container("steady", image, {
          startupProbe: { exec: { command: ["fails"] }, periodSeconds: 3, failureThreshold: 4 },
        }),
      ],
    }),
  },
  moody: {
    weight: 2,
    goal: "trying",
    spec: (image) => ({
      containers: [
        container("steady", image, {
          readinessProbe: { httpGet: { path: MOODY_PATH, port: 8080 }, periodSeconds: 5, successThreshold: 2 },
          livenessProbe: { httpGet: { path: SICKLY_PATH, port: 8080 }, periodSeconds: 10, failureThreshold: 2 },
        }),
        container("stubborn", image, { readinessProbe: { httpGet: { path: NEVER_PATH, port: 8081 } } }),
      ],
    }),
  },
  hooked: {
    weight: 2,
    goal: "running",
    spec: (image) => ({
      containers: [
        container("leaving", image, hooks(["takes", "3000"], ["takes", "4000"])),
        container("stubborn", image, hooks(["greet"], ["takes", LONG_MS])),
        container("steady", image, hooks(["greet"], ["fails", "1500"])),
      ],
    }),
  },
  unwelcome: {
    weight: 1,
    goal: "trying",
    spec: (image) => ({ containers: [container("leaving", image, hooks(["fails", "2000"], ["takes", "500"]))] }),
  },
  crew: {
    weight: 3,
    goal: "running",
    spec: (image) => ({
      initContainers: [
        container("warming", image, { restartPolicy: "Always", startupProbe, ...hooks(["greet"], ["takes", "2000"]) }),
        container("setup", image),
        sidecar(image),
      ],
      containers: [container("leaving", image, hooks(["greet"], ["bye"])), container("stubborn", image)],
    }),
  },
  timed: {
    weight: 1,
    goal: "over",
    isApiOnly: true,
    spec: (image) => ({
      activeDeadlineSeconds: 90,
      initContainers: [sidecar(image)],
      containers: [container("leaving", image, hooks(["greet"], ["takes", "3000"])), container("crash", image)],
    }),
  },
  bounded: {
    weight: 1,
    goal: "over",
    isApiOnly: true,
    spec: (image) => ({ activeDeadlineSeconds: 600, containers: [container("steady", image)] }),
  },
  unpullable: {
    weight: 1,
    goal: "trying",
    spec: (image) => ({ containers: [container("steady", "registry.invalid/none:1"), container("proxy", image)] }),
  },
  broken: { weight: 1, goal: "trying", spec: (image) => ({ containers: [container("broken", image)] }) },
  // Never drawn: pods that take the room of others.
  deaf: { weight: 0, goal: "running", spec: (image) => ({ containers: [container("stubborn", image)] }) },
  host: {
    weight: 1,
    goal: "running",
    spec: (image) => ({ hostNetwork: true, containers: [container("steady", image)] }),
  },
  big: {
    weight: 1,
    goal: "running",
    spec: (image) => ({
      containers: [container("steady", image, { resources: { requests: { cpu: "2500m", memory: "4Gi" } } })],
    }),
  },
};

/** What is done to a pod, and when. */
export type SimPodStep =
  | { readonly atMs: number; readonly kind: "add"; readonly revision: number }
  /** As `kubectl apply` with another spec: of a manifest a new pod, of an API pod a new object. */
  | { readonly atMs: number; readonly kind: "edit"; readonly revision: number }
  /** The manifest is deleted; the API pod gets a deletion timestamp and this grace. */
  | { readonly atMs: number; readonly kind: "delete"; readonly graceSeconds: number }
  /** The API object is gone at once. */
  | { readonly atMs: number; readonly kind: "forceDelete" }
  | SimResizeStep
  | SimConfigStep;

/** One pod, or rather its name: whoever bears it comes and goes. */
export interface SimPodPlan {
  readonly name: string;
  readonly kind: string;
  readonly source: "file" | "http" | "api";
  readonly graceSeconds: number;
  readonly image: string;
  /** Of API pods: those from manifests are made anew instead of resized. */
  readonly sizing?: SimSizing;
  /** Of API pods: what their containers read. */
  readonly configuring?: SimConfiguring;
  /** Of API pods: what their containers mount. */
  readonly mounting?: SimMounting;
  /** Of API pods that take the room of others. */
  readonly tenancy?: SimTenancy;
  readonly steps: readonly SimPodStep[];
}

/** A pod that has to be there. */
export interface WantedPod {
  readonly plan: SimPodPlan;
  /** As the kubelet calls it. */
  readonly name: string;
  /** Of an API pod. */
  readonly uid: string | undefined;
}

/** Namespace of all pods of a workload. */
export const SIM_NAMESPACE = "demo";

const pickKind = (prng: Prng): string => {
  const kinds = Object.entries(POD_KINDS);
  let left = prng.next() * kinds.reduce((sum, [, { weight }]) => sum + weight, 0);
  return (kinds.find(([, { weight }]) => (left -= weight) < 0) ?? kinds[0])?.[0] ?? "steady";
};

/** What a node is given: `drawn` from the seed, pods that fail among them, or `steady`: healthy pods on a modern runtime. */
export const WORKLOADS = ["drawn", "steady"] as const;
export type Workload = (typeof WORKLOADS)[number];

/** Pods of the API server that start at once, run for ever, and that nobody touches: what most of a real fleet is. */
export const steadyWorkload = (pods: number): readonly SimPodPlan[] =>
  Array.from({ length: pods }, (_, index) => ({
    name: `steady-${index}`,
    kind: "steady",
    source: "api",
    graceSeconds: 30,
    image: "registry.example/app-1:1",
    steps: [{ atMs: 0, kind: "add", revision: 0 }],
  }));

/** Whether a node also takes pods from a page of manifests: half of them do. */
export const readsPage = (seed: string | number): boolean => createPrng(`${seed}/page`).chance(0.5);

/** The pods of a run. `isCalm`: all are there from the start and nobody touches them. */
export function drawWorkload(
  seed: string | number,
  {
    pods,
    durationMs,
    isCalm = false,
  }: { readonly pods: number; readonly durationMs: number; readonly isCalm?: boolean },
): readonly SimPodPlan[] {
  const hasPage = readsPage(seed);
  return Array.from({ length: pods }, (_, index) => {
    const plan = drawPod(createPrng(`${seed}/pod/${index}`), index, durationMs, isCalm);
    if (plan.source === "api") {
      const prngs = [createPrng(`${seed}/sizes/${index}`), createPrng(`${seed}/podLevel/${index}`)] as const;
      const sized = withSizes(plan, prngs, durationMs, isCalm);
      const configured = isCalm ? sized : withConfig(sized, createPrng(`${seed}/config/${index}`), durationMs);
      const mounting = drawMounting(createPrng(`${seed}/volumes/${index}`));
      return mounting === undefined ? configured : { ...configured, mounting };
    }
    const isOnPage = hasPage && createPrng(`${seed}/page/${index}`).chance(0.4);
    return isOnPage ? { ...plan, source: "http" } : plan;
  });
}

function withSizes(
  plan: DrawnPod,
  [prng, podPrng]: readonly [Prng, Prng],
  durationMs: number,
  isCalm: boolean,
): SimPodPlan {
  const sizing = drawSizing(prng, podPrng);
  const resizes = isCalm ? [] : drawResizes(prng, plan.steps[0]?.atMs ?? 0, durationMs);
  return { ...plan, sizing, steps: [...plan.steps, ...resizes].sort((a, b) => a.atMs - b.atMs) };
}

function withConfig(plan: SimPodPlan, prng: Prng, durationMs: number): SimPodPlan {
  const configuring = drawConfiguring(prng);
  if (configuring === undefined) return plan;
  const steps = drawConfigSteps(prng, plan.steps[0]?.atMs ?? 0, durationMs);
  return { ...plan, configuring, steps: [...plan.steps, ...steps].sort((a, b) => a.atMs - b.atMs) };
}

interface DrawnPod extends SimPodPlan {
  readonly source: "file" | "api";
}

function drawPod(prng: Prng, index: number, durationMs: number, isCalm: boolean): DrawnPod {
  const kind = pickKind(prng);
  const source = prng.chance(0.5) && POD_KINDS[kind]?.isApiOnly !== true ? "file" : "api";
  const graceSeconds = prng.pick([0, 1, 5, 10, 30, 60]);
  const image = `registry.example/app-${prng.int(1, 5)}:1`;
  const steps: SimPodStep[] = [
    { atMs: isCalm || prng.chance(0.6) ? 0 : prng.int(0, durationMs), kind: "add", revision: 0 },
  ];
  const changes = isCalm ? 0 : prng.int(0, 4);
  for (let change = 1, atMs = steps[0]?.atMs ?? 0; change <= changes; change += 1) {
    // Some changes come in a hurry: before the last one has taken effect.
    atMs += prng.chance(0.3) ? prng.int(0, 3_000) : prng.int(0, durationMs / 2);
    if (atMs >= durationMs) break;
    steps.push(drawStep(prng, steps.at(-1), source, atMs, change));
  }
  return { name: `${kind}-${index}`, kind, source, graceSeconds, image, steps };
}

function drawStep(
  prng: Prng,
  last: SimPodStep | undefined,
  source: DrawnPod["source"],
  atMs: number,
  revision: number,
): SimPodStep {
  const isAway = last?.kind === "forceDelete" || (last?.kind === "delete" && source === "file");
  if (isAway) return { atMs, kind: "add", revision: prng.chance(0.5) ? revision : 0 };
  const draw = prng.next();
  if (draw < 0.5) return { atMs, kind: "edit", revision };
  if (draw < 0.8 || source === "file") return { atMs, kind: "delete", graceSeconds: prng.pick([0, 1, 5, 30]) };
  return { atMs, kind: "forceDelete" };
}

/** The manifest of a pod as its owner writes it. Revisions differ in their environment, those of API pods in their image. */
export function podManifest(plan: SimPodPlan, revision: number): Fields {
  const { name, kind, source, graceSeconds, image, sizing, configuring, mounting, tenancy } = plan;
  const tagged = source === "api" ? `${image}.${revision}` : image;
  const { containers, ...spec } = (POD_KINDS[kind] ?? POD_KINDS["steady"])?.spec(tagged) ?? {};
  const env = source === "api" ? {} : { env: [{ name: "REVISION", value: String(revision) }] };
  const revised = (containers as readonly Container[]).map((each) =>
    configured({ ...each, ...env }, configuring, name),
  );
  const made = { terminationGracePeriodSeconds: graceSeconds, ...spec, containers: revised };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: SIM_NAMESPACE },
    spec: mountedSpec(
      tenantSpec(sizedSpec(made, sizing), tenancy),
      mounting,
      configuring && { name: configNameOf(configuring, name), hasSecret: configuring.hasSecret },
    ),
  };
}
