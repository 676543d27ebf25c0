/** Leftovers on a node after all its pods were removed: an empty list when the cleanup is complete. */
import type { ApiPod } from "../../core/api/apiPodObjects.ts";
import { parsePodCgroupName } from "../../core/resources/podCgroup.ts";
import type { SimNode } from "../simNode.ts";

/** The part of a node that `leftovers` reads. */
export interface LeftNode extends Pick<SimNode, "config" | "kubelet" | "pods"> {
  readonly runtime: Pick<SimNode["runtime"], "sandboxes" | "containers">;
  readonly files: Pick<SimNode["files"], "paths">;
  readonly host: { readonly mounts: Pick<SimNode["host"]["mounts"], "all"> };
  readonly cgroups: Pick<SimNode["cgroups"], "all">;
  readonly telemetry: Pick<SimNode["telemetry"], "value">;
  readonly api: Pick<NonNullable<SimNode["api"]>, "objects"> | undefined;
}

/** Lists one sentence per object that should have been removed with its pod. */
export function leftovers(node: LeftNode): readonly string[] {
  const { rootDir, podLogsDir, containerLogsDir } = node.config.directories;
  const inside = [`${rootDir}/pods`, podLogsDir, containerLogsDir].map((path) => `${path}/`);
  const sandboxes = node.runtime.sandboxes().map(({ config: { metadata } }) => `sandbox of ${metadata?.name}`);
  const containers = node.runtime.containers().map(({ config }) => `container ${config.metadata?.name}`);
  const paths = node.files.paths().filter((path) => inside.some((place) => path.startsWith(place)));
  const cgroups = [...node.cgroups.all().keys()].filter(
    (name) => parsePodCgroupName(name.slice(name.lastIndexOf("/") + 1)) !== undefined,
  );
  const mounts = node.host.mounts
    .all()
    .filter(({ mountPoint }) => inside.some((place) => mountPoint.startsWith(place)));
  const keys = node.kubelet === undefined ? 0 : node.telemetry.value("rxlet_live_keys", { worker: "pod" });
  return [
    ...sandboxes,
    ...containers,
    ...paths.map((path) => `path ${path}`),
    ...mounts.map(({ mountPoint }) => `mount ${mountPoint}`),
    ...cgroups.map((name) => `cgroup ${name}`),
    ...(keys === 0 ? [] : [`${keys} pod workers`]),
    ...objectsOf(node).map(({ metadata }) => `object ${metadata?.namespace}/${metadata?.name}`),
    ...node.pods().map(({ metadata }) => `pod ${metadata.namespace}/${metadata.name}`),
  ];
}

const objectsOf = ({ api, config }: LeftNode): readonly ApiPod[] =>
  (api?.objects("pods") ?? []).filter(({ spec }) => spec?.nodeName === config.nodeName);

/** Counts timers still scheduled after the kubelet has ended and its node is empty. */
export function leftTimers({ scheduler: { pending } }: { readonly scheduler: Pick<SimNode["scheduler"], "pending"> }) {
  return pending === 0 ? [] : [`${pending} timers`];
}
