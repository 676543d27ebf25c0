/** Fifty static pods of every kind a node sees, and what runs inside them. */
import type { SimProgram, SimPrograms } from "../../src/sim/runtime/simProgram.ts";
import { exitsWith, ignoresTerm, runsForever } from "../../src/sim/runtime/simProgram.ts";

/** Program of each container by name, the same in every pod. */
const BEHAVIOUR: Readonly<Record<string, SimProgram>> = {
  steady: runsForever,
  stubborn: ignoresTerm,
  crash: exitsWith(1, 500),
  flaky: exitsWith(2, 45_000),
  job: exitsWith(0, 20_000),
  failing: exitsWith(3, 5_000),
  setup: exitsWith(0, 1_500),
  proxy: runsForever,
  broken: { failsToStart: "exec: no such file" },
  batch: { exits: { afterMs: 400_000, code: 0 }, terminationMessage: "all done" },
};

/** Behaviour by container name. */
export const workloadPrograms: SimPrograms = ({ container }) =>
  BEHAVIOUR[container.metadata?.name ?? ""] ?? runsForever;

type Manifest = Readonly<Record<string, unknown>>;

const container = (name: string, more: Manifest = {}): Manifest => ({
  name,
  image: "registry.example/app:1",
  resources: { requests: { cpu: "20m", memory: "16Mi" } },
  ...more,
});

/** A manifest of one pod. */
export const manifestOf = (name: string, spec: Manifest): Manifest => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "demo" },
  spec: { terminationGracePeriodSeconds: 10, ...spec },
});

/** The specs by kind. */
export const KINDS: Readonly<Record<string, Manifest>> = {
  steady: { containers: [container("steady")] },
  pair: { containers: [container("steady"), container("stubborn")] },
  crash: { containers: [container("crash")] },
  flaky: { restartPolicy: "OnFailure", containers: [container("flaky"), container("steady")] },
  job: { restartPolicy: "Never", containers: [container("job")] },
  failing: { restartPolicy: "Never", containers: [container("failing"), container("job")] },
  staged: {
    initContainers: [container("setup"), container("proxy", { restartPolicy: "Always" })],
    containers: [container("steady")],
  },
  batch: {
    restartPolicy: "OnFailure",
    initContainers: [container("proxy", { restartPolicy: "Always" }), container("setup")],
    containers: [container("batch")],
  },
  unpullable: { containers: [container("steady", { image: "registry.invalid/none:1" }), container("proxy")] },
  slow: { containers: [container("steady", { image: "registry.example/slow:1" })] },
  broken: { containers: [container("broken")] },
  host: { hostNetwork: true, containers: [container("steady")] },
};

/** `count` manifests by file name, the kinds in turn. */
export function workload(count: number, kinds: readonly string[] = Object.keys(KINDS)): Record<string, Manifest> {
  const manifests: Record<string, Manifest> = {};
  for (let index = 0; index < count; index += 1) {
    const kind = kinds[index % kinds.length] ?? "steady";
    const name = `${kind}-${index}`;
    manifests[`${name}.yaml`] = manifestOf(name, KINDS[kind] ?? {});
  }
  return manifests;
}
