/** The health checks of a whole node, on which systemd's watchdog depends. */
import { NEVER } from "rxjs";
import { describe, expect, it } from "vitest";
import { createKubelet } from "../../src/kubelet.ts";
import type { KubeletPorts } from "../../src/ports/kubeletPorts.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";

/** The period of relists and three minutes. */
const limitMs = ({ config }: SimNode): number => config.resyncPeriodMs + 180_000;

/** A node whose ports can be broken. */
const nodeWith = (broken: (ports: KubeletPorts) => Partial<KubeletPorts>): SimNode =>
  createSimNode({ seed: 1, createKubelet: (config, ports) => createKubelet(config, { ...ports, ...broken(ports) }) });

const failed = ({ kubelet }: SimNode): readonly string[] =>
  (kubelet?.queries.health() ?? []).flatMap(({ name, problem }) =>
    problem === undefined ? [] : [`${name}: ${problem}`],
  );

describe("the health of a node", () => {
  it("is good while the runtime is listed and pods are taken up", () => {
    const node = nodeWith(() => ({}));
    node.runFor(3_600_000);
    expect(failed(node)).toEqual([]);
  });

  it("fails once the runtime has not been listed for its period and three minutes, until it is listed", () => {
    let hangs = true;
    const node = nodeWith(({ runtime }) => ({
      runtime: { ...runtime, listPodSandbox: (request) => (hangs ? NEVER : runtime.listPodSandbox(request)) },
    }));
    node.runFor(limitMs(node));
    expect(failed(node)).toEqual([]);
    node.runFor(1);
    expect(failed(node)).toEqual([`syncloop: the runtime was last listed ${limitMs(node) / 1_000} s ago`]);
    hangs = false;
    expect(node.runUntil(() => failed(node).length === 0, 300_000)).toBe(true);
  });

  it("fails once changes of pods have waited for as long, although the runtime is listed", () => {
    // The registry starts when the records of earlier kubelets are read.
    const node = nodeWith(({ files }) => ({ files: { ...files, list: () => NEVER } }));
    const isWaiting = (): boolean => node.kubelet?.queries.arePodsKnown() === true;
    expect(node.runUntil(isWaiting, 60_000)).toBe(true);
    expect(node.kubelet?.queries.areHoldersKnown()).toBe(false);
    const sinceMs = node.clock.monotonicMs();
    node.runFor(limitMs(node) - sinceMs);
    expect(failed(node)).toEqual([]);
    node.runFor(sinceMs + 1);
    expect(failed(node)).toEqual([`syncloop: changes of pods have waited for ${limitMs(node) / 1_000} s`]);
  });
});
