/** A simulated node with pods given directly, and what happened on it as short lines: for tests of the pod pipelines. */
import { expect } from "vitest";
import { usualCheckers } from "../../src/sim/checkers/usualCheckers.ts";
import { simImage } from "../../src/sim/runtime/simImageCalls.ts";
import { simKubeletConfig } from "../../src/sim/simKubeletConfig.ts";
import { simMachine } from "../../src/sim/host/simMachine.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import type { SimNodeOptions } from "../../src/sim/simNodeOptions.ts";
import type { SimObservation } from "../../src/sim/simObservation.ts";

/** An image other than that of `containerOf`; both are present on every node made here. */
export const NEW_IMAGE = "registry.example/app:2";
/** Questions: they change nothing. */
const READS =
  /^(List|Status$|Version$|ContainerStatus$|PodSandboxStatus$|ImageStatus$|RuntimeConfig$|ImageFsInfo$|GetContainerEvents$)/;

/** More than any test here has the kubelet do. */
const MAX_DEEDS = 20_000;

/** An action of the kubelet and its time. */
export interface Deed {
  readonly atMs: number;
  /** `RunPodSandbox plain`, `StopContainer plain/main#0`: without the namespace, which is the same in all tests. */
  readonly what: string;
}

/** A node, and what its kubelet did. */
export interface PodNode {
  readonly node: SimNode;
  /** Requests that change something, as they were made. */
  readonly calls: Deed[];
  /** Events, as `<reason> <pod>`. */
  readonly events: Deed[];
  /** Looks at one pod or all of them. */
  readonly looks: Deed[];
  /** `calls` without their instants; then they are forgotten. */
  takeCalls(): readonly string[];
  /** How many of `calls` begin with this. */
  count(what: string): number;
  /** Phase of a pod by its UID; undefined when the kubelet has no such pod. */
  phase(uid: string): string | undefined;
  /** Why a container waits, by pod UID and container name. */
  waiting(uid: string, container?: string): string | undefined;
}

/** Makes a node whose requests take 2 ms, with the usual checkers; `check` asserts at the end that none complained. */
export function podNode(options: Partial<SimNodeOptions> = {}): PodNode & { check(): void } {
  const calls: Deed[] = [];
  const events: Deed[] = [];
  const looks: Deed[] = [];
  const short = (subject: string): string => subject.replace(/^[^/]*\//, "");
  const record = (seen: SimObservation): undefined => {
    const { atMs } = seen;
    if (seen.kind === "event" && seen.event.object.kind === "Pod") {
      events.push({ atMs, what: `${seen.event.reason} ${seen.event.object.name}` });
    }
    if (seen.kind !== "call") return;
    if (!READS.test(seen.rpc)) calls.push({ atMs, what: `${seen.rpc} ${short(seen.subject)}` });
    if (seen.rpc === "ListPodSandbox") looks.push({ atMs, what: "look" });
  };
  const config = { sources: ["api"] as const, ...options.config };
  const checkers = usualCheckers(simKubeletConfig(simMachine(options.machine), config));
  const made = createSimNode({
    seed: 1,
    latency: () => 2,
    images: [simImage("registry.example/app:1"), simImage(NEW_IMAGE)],
    ...options,
    config,
    checkers: [...checkers, { name: "recorder", check: record }],
  });
  // Time that moves a little with every turn is nothing the node itself takes for a circle.
  const runFor = (ms: number): void => {
    const endMs = made.clock.monotonicMs() + ms;
    while (made.step(endMs)) {
      if (calls.length + looks.length > MAX_DEEDS) throw new Error(`the kubelet turns in circles: ${last(calls)}`);
    }
    made.scheduler.advanceTo(endMs);
  };
  const node: SimNode = Object.create(made, { runFor: { value: runFor } });
  const statusOf = (uid: string) => node.pods().find(({ metadata }) => metadata.uid === uid)?.status;
  return {
    node,
    calls,
    events,
    looks,
    takeCalls: () => calls.splice(0).map(({ what }) => what),
    count: (what) => calls.filter((call) => call.what.startsWith(what)).length,
    phase: (uid) => statusOf(uid)?.phase,
    waiting: (uid, container = "main") =>
      [...(statusOf(uid)?.initContainerStatuses ?? []), ...(statusOf(uid)?.containerStatuses ?? [])].find(
        ({ name }) => name === container,
      )?.state?.waiting?.reason,
    check: () => expect(node.violations).toEqual([]),
  };
}

/** Milliseconds between one deed and the next. */
export const gaps = (deeds: readonly Deed[]): readonly number[] =>
  deeds.slice(1).map(({ atMs }, index) => atMs - (deeds[index]?.atMs ?? 0));

const last = (calls: readonly Deed[]): string =>
  calls
    .slice(-4)
    .map(({ atMs, what }) => `${atMs} ${what}`)
    .join(", ");
