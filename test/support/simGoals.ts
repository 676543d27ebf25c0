/** Checks the state that a simulated node must have reached. */
import type { SimNode } from "../../src/sim/simNode.ts";

/** Leftovers of pods on the node; empty when there are none. */
export function leftovers(node: SimNode): readonly string[] {
  const { rootDir, podLogsDir, containerLogsDir } = node.config.directories;
  const places = [`${rootDir}/pods/`, `${podLogsDir}/`, `${containerLogsDir}/`];
  const workers = node.telemetry.value("rxlet_live_keys", { worker: "pod" });
  return [
    ...node.pods().map(({ metadata }) => `pod ${metadata.namespace}/${metadata.name}`),
    ...node.runtime.sandboxes().map(({ config }) => `sandbox of ${config.metadata?.name}`),
    ...node.runtime.containers().map(({ config }) => `container ${config.metadata?.name}`),
    ...node.files.paths().filter((path) => places.some((place) => path.startsWith(place))),
    ...[...node.cgroups.all().keys()].filter((name) => /\/pod[^/]+$/.test(name)),
    ...(workers === 0 ? [] : [`${workers} pod workers`]),
  ];
}

/** Containers that keep running, by kind of workload pod. */
const RUNNING: Readonly<Record<string, readonly string[]>> = {
  steady: ["steady"],
  pair: ["steady", "stubborn"],
  staged: ["proxy", "steady"],
  slow: ["steady"],
  host: ["steady"],
};
/** Phases a pod may settle in; the others run, restarting now and then. One that was killed may have failed. */
const PHASES: Readonly<Record<string, readonly string[]>> = {
  job: ["Succeeded", "Failed"],
  batch: ["Succeeded"],
  failing: ["Failed"],
};

const kindOf = (name: string): string => name.split("-")[0] ?? "";

/** Lists the goals that the workload's pods have not reached yet; empty when all are met. */
export function unmetGoals(node: SimNode): readonly string[] {
  const wanted = node.manifests.names().map((file) => `${file.replace(/\.yaml$/, "")}-${node.config.nodeName}`);
  const running = node.running().map((name) => name.replace(/#\d+$/, ""));
  const goals = wanted.flatMap((pod) => (RUNNING[kindOf(pod)] ?? []).map((name) => `demo/${pod}/${name}`));
  const pods = new Map(node.pods().map((pod) => [pod.metadata.name, pod.status?.phase ?? "unknown"]));
  const ready = node.runtime.sandboxes().filter((sandbox) => sandbox.ready);
  const readyOf = (name: string): number => ready.filter(({ config }) => config.metadata?.name === name).length;
  const hasEnded = (phase: string): boolean => phase === "Succeeded" || phase === "Failed";
  return [
    ...goals.filter((name) => !running.includes(name)).map((name) => `${name} does not run`),
    ...running.filter(
      (name) => RUNNING[kindOf(name.split("/")[1] ?? "")]?.includes(name.split("/")[2] ?? "") === false,
    ),
    ...wanted.filter((name) => !pods.has(name)).map((name) => `${name} is missing`),
    ...[...pods.keys()].filter((name) => !wanted.includes(name)).map((name) => `${name} is still there`),
    ...[...pods].flatMap(([name, phase]) =>
      (PHASES[kindOf(name)] ?? ["Running"]).includes(phase) ? [] : [`${name} is ${phase}`],
    ),
    ...[...pods].flatMap(([name, phase]) =>
      readyOf(name) === (hasEnded(phase) ? 0 : 1) ? [] : [`${name} has ${readyOf(name)} sandboxes`],
    ),
  ];
}
