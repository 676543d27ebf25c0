/**
 * Names and labels by which the shim knows its containers: those of cri-dockerd, so that either finds what the other
 * made. Docker has no annotations; they are labels with a prefix. Pure.
 * Upstream: core/naming.go and core/helpers.go of cri-dockerd.
 */
import type { ContainerMetadata, PodSandboxMetadata } from "../../gen/cri.ts";
import { invalidArgument } from "../../grpcServer/rpcFault.ts";

/** Labels of the shim's own. */
export const LABEL = {
  type: "io.kubernetes.docker.type",
  sandboxId: "io.kubernetes.sandbox.id",
  logPath: "io.kubernetes.container.logpath",
  containerName: "io.kubernetes.container.name",
  /** Set on sandboxes that a network of ours connects. */
  network: "dev.rxlet.docker.network",
  /** Values for the cgroup that Docker cannot set, as JSON. */
  cgroupFiles: "dev.rxlet.docker.cgroup",
} as const;

/** Values of the label `type`. */
export const SANDBOX = "podsandbox";
export const CONTAINER = "container";
/** Value of the label `network`. */
const OURS = "pod";

const PREFIX = "k8s";
const PAUSE = "POD";
const DELIMITER = "_";
const ANNOTATION = "annotation.";
const INTERNAL: ReadonlySet<string> = new Set([
  LABEL.type,
  LABEL.sandboxId,
  LABEL.logPath,
  LABEL.cgroupFiles,
  LABEL.network,
]);

type Texts = Readonly<Record<string, string>>;

const checked = (field: string, value: string): string => {
  if (value === "") throw invalidArgument(field, "is required");
  if (!/^[\w.-]+$/.test(value) || value.includes(DELIMITER)) {
    throw invalidArgument(field, `"${value.slice(0, 256)}" cannot be part of the name of a container of Docker`);
  }
  return value;
};

function podName(pod: PodSandboxMetadata): readonly string[] {
  return [
    checked("config.metadata.name", pod.name),
    checked("config.metadata.namespace", pod.namespace),
    checked("config.metadata.uid", pod.uid),
  ];
}

/** Returns the name of the pause container. Throws INVALID_ARGUMENT for metadata that no name can hold. */
export const sandboxName = (pod: PodSandboxMetadata): string =>
  [PREFIX, PAUSE, ...podName(pod), pod.attempt].join(DELIMITER);

/** Returns the name of a container. Throws as `sandboxName`. */
export const containerName = (pod: PodSandboxMetadata, container: ContainerMetadata): string =>
  [PREFIX, checked("config.metadata.name", container.name), ...podName(pod), container.attempt].join(DELIMITER);

/** The parts of a name; undefined for one that is none of ours. cri-dockerd may have added a random part. */
function partsOf(name: string): readonly [string, string, string, string, number] | undefined {
  const parts = name.replace(/^\//, "").split(DELIMITER);
  const [prefix, container = "", pod = "", namespace = "", uid = "", attempt = ""] = parts;
  if (prefix !== PREFIX || parts.length < 6 || parts.length > 7 || !/^\d{1,9}$/.test(attempt)) return undefined;
  return [container, pod, namespace, uid, Number(attempt)];
}

/** Returns the metadata in the name of a pause container. */
export function sandboxMetadata(name: string): PodSandboxMetadata | undefined {
  const parts = partsOf(name);
  if (parts === undefined) return undefined;
  const [, pod, namespace, uid, attempt] = parts;
  return { name: pod, namespace, uid, attempt };
}

/** Returns the metadata in the name of a container. */
export function containerMetadata(name: string): ContainerMetadata | undefined {
  const parts = partsOf(name);
  return parts && { name: parts[0], attempt: parts[4] };
}

/** Returns labels and annotations as labels of Docker, without labels of a pod that only the shim may set. */
export const mergedLabels = (labels: Texts, annotations: Texts): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(labels).filter(([key]) => !INTERNAL.has(key))),
  ...Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`${ANNOTATION}${key}`, value])),
});

/** Whether a sandbox was made for a network of ours, instead of one of cri-dockerd. */
export const hasOurNetwork = (merged: Texts): boolean => merged[LABEL.network] === OURS;

/** Returns the labels of a sandbox. */
export const sandboxLabels = (labels: Texts, annotations: Texts, hasPodNetwork: boolean): Record<string, string> => ({
  ...mergedLabels(labels, annotations),
  ...(hasPodNetwork ? { [LABEL.network]: OURS } : {}),
  [LABEL.type]: SANDBOX,
  [LABEL.containerName]: PAUSE,
});

/** Returns the labels and annotations that CRI knows, without those of the shim. */
export function splitLabels(merged: Texts): { readonly labels: Texts; readonly annotations: Texts } {
  const labels: Record<string, string> = {};
  const annotations: Record<string, string> = {};
  for (const [key, value] of Object.entries(merged)) {
    if (INTERNAL.has(key) || (key === LABEL.containerName && merged[LABEL.type] === SANDBOX)) continue;
    if (key.startsWith(ANNOTATION)) annotations[key.slice(ANNOTATION.length)] = value;
    else labels[key] = value;
  }
  return { labels, annotations };
}
