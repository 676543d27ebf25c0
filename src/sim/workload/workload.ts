/**
 * The pods of a run, drawn from a seed, with the changes that their owners make over time. Plain data: leaving out a pod
 * does not change the others.
 */
import type { Container } from "../../core/api.ts";
import { createPrng, type Prng } from "../prng.ts";
import {
  configNameOf,
  configured,
  drawConfiguring,
  drawConfigSteps,
  type SimConfiguring,
  type SimConfigStep,
} from "./workloadConfig.ts";
import { type Fields, POD_KINDS } from "./podKinds.ts";
import { drawPinning, pinnedSpec, type SimPinning } from "./workloadPinning.ts";
import { deviceSpec, drawDeviceUse, type SimDeviceUse } from "./workloadDevices.ts";
import { claimedSpec, drawClaimUse, type SimClaimUse } from "./workloadClaims.ts";
import { type SimTenancy, tenantSpec } from "./workloadTenants.ts";
import { drawMounting, mountedSpec, type SimMounting } from "./workloadVolumes.ts";
import { drawResizes, drawSizing, type SimResizeStep, type SimSizing, sizedSpec } from "./workloadSizes.ts";

/** A change to a pod and its time. */
export type SimPodStep =
  | { readonly atMs: number; readonly kind: "add"; readonly revision: number }
  /** Acts like `kubectl apply` with another spec: a manifest gives a new pod, an API pod a new object. */
  | { readonly atMs: number; readonly kind: "edit"; readonly revision: number }
  /** The manifest is deleted; the API pod gets a deletion timestamp and this grace. */
  | { readonly atMs: number; readonly kind: "delete"; readonly graceSeconds: number }
  /** The API object is removed at once. */
  | { readonly atMs: number; readonly kind: "forceDelete" }
  | SimResizeStep
  | SimConfigStep;

/** The plan of a pod name: several pods may use the name one after another. */
export interface SimPodPlan {
  readonly name: string;
  readonly kind: string;
  readonly source: "file" | "http" | "api";
  readonly graceSeconds: number;
  readonly image: string;
  /** Set only for API pods: pods from manifests are recreated instead of resized. */
  readonly sizing?: SimSizing;
  /** Set only for API pods: the objects their containers read. */
  readonly configuring?: SimConfiguring;
  /** Set only for API pods: the volumes their containers mount. */
  readonly mounting?: SimMounting;
  /** Set only for API pods of a node whose resources run short. */
  readonly priority?: number;
  /** Set only for API pods that take the resources of others. */
  readonly tenancy?: SimTenancy;
  /** Set only on nodes that give pods hardware of their own. */
  readonly pinning?: SimPinning;
  /** Set only for API pods on nodes with device plugins and drivers. */
  readonly deviceUse?: SimDeviceUse;
  /** Set only for API pods on nodes with CSI drivers. */
  readonly claimUse?: SimClaimUse;
  readonly steps: readonly SimPodStep[];
}

/** A pod that has to exist on the node. */
export interface WantedPod {
  readonly plan: SimPodPlan;
  /** Name of the pod in the kubelet. */
  readonly name: string;
  /** UID of an API pod. */
  readonly uid: string | undefined;
}

/** Namespace of all pods of a workload. */
export const SIM_NAMESPACE = "demo";

const pickKind = (prng: Prng): string => {
  const kinds = Object.entries(POD_KINDS);
  let left = prng.next() * kinds.reduce((sum, [, { weight }]) => sum + weight, 0);
  return (kinds.find(([, { weight }]) => (left -= weight) < 0) ?? kinds[0])?.[0] ?? "steady";
};

/**
 * Kinds of workloads: `drawn` from the seed, with pods that fail among them; `steady`: healthy pods on a modern runtime;
 * `cores`: drawn, on a node of two NUMA nodes that gives pods CPUs and memory of their own; `pinned`: such a node with device
 * plugins and drivers, and pods that ask for devices; `csi`: drawn, on a node with CSI drivers, and pods with their volumes.
 */
export const WORKLOADS = ["drawn", "steady", "cores", "pinned", "csi"] as const;
export type Workload = (typeof WORKLOADS)[number];

/** Returns API pods that start at once, run forever and never change, like most pods of a real fleet. */
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

/** Whether a node with CSI drivers has SELinux: a fifth of them do. */
export const hasSelinux = (seed: string | number): boolean => createPrng(`${seed}/modules`).chance(0.2);

/** Priorities of pods; one of them is critical. */
const PRIORITIES = [-10, 0, 0, 0, 100, 1_000, 2_000_000_000];

/** Returns the pods of a run. `isCalm`: all exist from the start and none changes. `hasPriorities`: not all are equal. */
export function drawWorkload(
  seed: string | number,
  {
    pods,
    durationMs,
    isCalm = false,
    hasPriorities = false,
  }: {
    readonly pods: number;
    readonly durationMs: number;
    readonly isCalm?: boolean;
    readonly hasPriorities?: boolean;
  },
): readonly SimPodPlan[] {
  const hasPage = readsPage(seed);
  return Array.from({ length: pods }, (_, index) => {
    const plan = drawPod(createPrng(`${seed}/pod/${index}`), index, durationMs, isCalm);
    if (plan.source === "api") {
      const prngs = [createPrng(`${seed}/sizes/${index}`), createPrng(`${seed}/podLevel/${index}`)] as const;
      const sized = withSizes(plan, prngs, durationMs, isCalm);
      const configured = isCalm ? sized : withConfig(sized, createPrng(`${seed}/config/${index}`), durationMs);
      const mounting = drawMounting(createPrng(`${seed}/volumes/${index}`));
      const mounted = mounting === undefined ? configured : { ...configured, mounting };
      return hasPriorities
        ? { ...mounted, priority: createPrng(`${seed}/priority/${index}`).pick(PRIORITIES) }
        : mounted;
    }
    const isOnPage = hasPage && createPrng(`${seed}/page/${index}`).chance(0.4);
    return isOnPage ? { ...plan, source: "http" } : plan;
  });
}

/** Returns the pods of a node that also has devices. */
export const pinnedWorkload: typeof coresWorkload = (seed, options) =>
  coresWorkload(seed, options).map((plan, index) => {
    const deviceUse = plan.source === "api" ? drawDeviceUse(createPrng(`${seed}/devices/${index}`)) : undefined;
    return deviceUse === undefined ? plan : { ...plan, deviceUse };
  });

/** Returns the pods of a node with CSI drivers. */
export const csiWorkload: typeof coresWorkload = (seed, options) =>
  drawWorkload(seed, options).map((plan, index) => {
    const claimUse = plan.source === "api" ? drawClaimUse(createPrng(`${seed}/claims/${index}`)) : undefined;
    if (claimUse === undefined) return plan;
    return { ...plan, claimUse: hasSelinux(seed) ? { ...claimUse, hasLevel: true } : claimUse };
  });

/** Returns the pods of a node that gives them CPUs and memory of their own; none of them is resized. */
export const coresWorkload = (
  seed: string | number,
  options: Parameters<typeof drawWorkload>[1],
): readonly SimPodPlan[] =>
  drawWorkload(seed, options).map(({ sizing: _, steps, ...plan }, index) => {
    const pinning = drawPinning(createPrng(`${seed}/pinning/${index}`));
    const others = steps.filter(({ kind }) => kind !== "resize");
    return { ...plan, steps: others, ...(pinning === undefined ? {} : { pinning }) };
  });

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
    // A part of the changes follows the last one before it has taken effect.
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

/**
 * Returns the manifest of a pod as its owner writes it. Revisions differ in their environment, those of API pods in
 * their image; `incarnation` counts the pods of this name.
 */
export function podManifest(plan: SimPodPlan, revision: number, incarnation = 0): Fields {
  const {
    name,
    kind,
    source,
    graceSeconds,
    image,
    sizing,
    configuring,
    mounting,
    tenancy,
    pinning,
    priority,
    deviceUse,
    claimUse,
  } = plan;
  const tagged = source === "api" ? `${image}.${revision}` : image;
  const { containers, ...spec } = (POD_KINDS[kind] ?? POD_KINDS["steady"])?.spec(tagged) ?? {};
  const env = source === "api" ? {} : { env: [{ name: "REVISION", value: String(revision) }] };
  const revised = (containers as readonly Container[]).map((each) =>
    configured({ ...each, ...env }, configuring, name),
  );
  const ranked = priority === undefined ? {} : { priority };
  const made = { terminationGracePeriodSeconds: graceSeconds, ...ranked, ...spec, containers: revised };
  const mounted = mountedSpec(
    tenantSpec(deviceSpec(pinnedSpec(sizedSpec(made, sizing), pinning), deviceUse, name), tenancy),
    mounting,
    configuring && { name: configNameOf(configuring, name), hasSecret: configuring.hasSecret },
  );
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: SIM_NAMESPACE },
    spec: claimedSpec(mounted, claimUse, name, incarnation),
  };
}
