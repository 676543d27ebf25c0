/** A broken invariant in any effect below the kubelet ends the node: no stage treats it as a failure of the effect. */
import { isObservable, type Observable, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { InvariantError } from "../../src/core/invariant.ts";
import { createKubelet } from "../../src/kubelet.ts";
import type { KubeletPorts } from "../../src/ports/kubeletPorts.ts";
import { noFaults } from "../../src/sim/faults/faultKinds.ts";
import type { CreateKubelet } from "../../src/sim/simKubelet.ts";
import { simulateSeed } from "../../src/sim/simulateSeed.ts";

/** Created before the run, which therefore ends only if the stages rethrow the error. */
const BROKEN = new InvariantError("broken below the kubelet");
type Effect = (...args: unknown[]) => unknown;

/**
 * Replaces each effect of the ports for which `adapt` returns one. Each lane to the API server is a port of its own.
 */
function adapted(ports: KubeletPorts, adapt: (name: string) => Observable<never> | undefined): KubeletPorts {
  const wrap = <T extends object>(at: string, port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, value]: [string, unknown]) => {
        if (typeof value !== "function") return [name, value];
        const call = (...args: unknown[]): unknown => {
          const effect = (value as Effect).apply(port, args);
          return isObservable(effect) ? (adapt(`${at}.${name}`) ?? effect) : effect;
        };
        return [name, call];
      }),
    ) as T;
  const { runtime, images, files, volumeFiles, mounts, cgroups, logFiles, hostUsage, probers, api } = ports;
  return {
    ...ports,
    runtime: wrap("runtime", runtime),
    images: wrap("images", images),
    files: wrap("files", files),
    volumeFiles: wrap("volumeFiles", volumeFiles),
    mounts: mounts && wrap("mounts", mounts),
    cgroups: cgroups && wrap("cgroups", cgroups),
    logFiles: wrap("logFiles", logFiles),
    hostUsage: wrap("hostUsage", hostUsage),
    probers: wrap("probers", probers),
    api: api && {
      ...api,
      objects: wrap("api.objects", api.objects),
      heartbeats: wrap("api.heartbeats", api.heartbeats),
      pods: wrap("api.pods", api.pods),
      events: wrap("api.events", api.events),
    },
  };
}

const run = (createBroken: CreateKubelet) =>
  simulateSeed({ seed: 1, pods: 25, durationMs: 10 * 60_000, faults: noFaults(), createKubelet: createBroken });

describe("a broken invariant in", () => {
  const used = new Set<string>();
  run((config, ports) =>
    createKubelet(
      config,
      adapted(ports, (name) => {
        used.add(name);
        return undefined;
      }),
    ),
  );
  it.each([...used])("%s ends the node", (broken) => {
    const { outcome, violations } = run((config, ports) =>
      createKubelet(
        config,
        adapted(ports, (name) => (name === broken ? throwError(() => BROKEN) : undefined)),
      ),
    );
    expect([outcome, violations.map(({ message }) => message)]).toEqual(["crash", [BROKEN.message]]);
  });
});
