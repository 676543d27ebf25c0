/** Short builders of pods and runtime statuses for the table tests of the core. */
import type { Container, Pod, PodSpec } from "../../../src/core/api.ts";
import { containerSpecHash } from "../../../src/core/container/specHash.ts";
import { containerId, epochMs, monotonicMs, podUid, sandboxId } from "../../../src/core/ids.ts";
import type { PodRuntimeStatus, RuntimeContainer, RuntimeSandbox } from "../../../src/core/runtime/podRuntimeStatus.ts";

/** 2026-01-01T00:00:00Z; instants of samples are given in seconds after it. */
export const EPOCH_S = 1_767_225_600;

export const wall = (seconds: number) => epochMs((EPOCH_S + seconds) * 1000);
export const mono = (seconds: number) => monotonicMs(seconds * 1000);

export const container = (name: string, more: Partial<Container> = {}): Container => ({
  name,
  image: `registry.test/${name}:1`,
  ...more,
});

export const sidecar = (name: string, more: Partial<Container> = {}): Container =>
  container(name, { restartPolicy: "Always", ...more });

export function pod(spec: Partial<PodSpec> = {}, more: Partial<Omit<Pod, "spec">> = {}): Pod {
  return {
    metadata: { name: "web", namespace: "default", uid: "uid" },
    spec: { restartPolicy: "Always", containers: [container("web")], ...spec },
    ...more,
  };
}

export const sandbox = (more: Partial<RuntimeSandbox> = {}): RuntimeSandbox => ({
  id: sandboxId("sb"),
  attempt: 0,
  ready: true,
  createdAt: wall(0),
  ips: ["10.0.0.2"],
  hostNetwork: false,
  labels: {},
  annotations: {},
  ...more,
});

/** A container in the sandbox `sb`, by default running with the hash of `container(name)`. */
export function instance(name: string, more: Partial<RuntimeContainer> = {}): RuntimeContainer {
  const restartCount = more.restartCount ?? 0;
  return {
    id: containerId(`${name}-${restartCount}`),
    name,
    sandboxId: sandboxId("sb"),
    restartCount,
    state: "running",
    createdAt: wall(1 + restartCount * 10),
    startedAt: wall(2 + restartCount * 10),
    finishedAt: undefined,
    exitedAt: undefined,
    exitCode: 0,
    reason: "",
    message: "",
    image: `registry.test/${name}:1`,
    imageRef: `registry.test/${name}@sha256:0${name}`,
    imageId: `sha256:0${name}`,
    specHash: containerSpecHash(container(name)),
    logPath: "",
    terminationMessageFile: undefined,
    annotations: {},
    ...more,
  };
}

/** An exited instance; `exitedAt` is in seconds, on both clocks. */
export function exited(name: string, exitCode: number, more: Partial<RuntimeContainer> & { at?: number } = {}) {
  const { at = 5, ...rest } = more;
  return instance(name, {
    state: "exited",
    exitCode,
    reason: exitCode === 0 ? "Completed" : "Error",
    finishedAt: wall(at),
    exitedAt: mono(at),
    ...rest,
  });
}

export const runtime = (
  containers: readonly RuntimeContainer[] = [],
  sandboxes: readonly RuntimeSandbox[] = [sandbox()],
): PodRuntimeStatus => ({
  podUid: podUid("uid"),
  name: "web",
  namespace: "default",
  sandboxes,
  containers,
  sequence: 1,
});
