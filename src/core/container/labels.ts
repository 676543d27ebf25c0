/**
 * Writes and parses the `io.kubernetes.*` labels and annotations that mark sandboxes and containers as the kubelet's. A
 * restarted kubelet identifies running containers by them alone. Upstream: pkg/kubelet/kuberuntime/labels.go.
 */
import { parseJson } from "../json.ts";
import type { Container, Pod } from "../api.ts";
import { goJson } from "./goJson.ts";
import { containerSpecHash } from "./specHash.ts";

const POD_NAME_LABEL = "io.kubernetes.pod.name";
const POD_NAMESPACE_LABEL = "io.kubernetes.pod.namespace";
export const POD_UID_LABEL = "io.kubernetes.pod.uid";
export const CONTAINER_NAME_LABEL = "io.kubernetes.container.name";

const DELETION_GRACE_PERIOD = "io.kubernetes.pod.deletionGracePeriod";
const TERMINATION_GRACE_PERIOD = "io.kubernetes.pod.terminationGracePeriod";
const HASH = "io.kubernetes.container.hash";
const RESTART_COUNT = "io.kubernetes.container.restartCount";
const TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath";
const TERMINATION_MESSAGE_POLICY = "io.kubernetes.container.terminationMessagePolicy";
const PRE_STOP_HANDLER = "io.kubernetes.container.preStopHandler";
const PORTS = "io.kubernetes.container.ports";

export type StringMap = Readonly<Record<string, string>>;
export type ContainerPort = NonNullable<Container["ports"]>[number];
export type LifecycleHandler = NonNullable<NonNullable<Container["lifecycle"]>["preStop"]>;

/** Returns the labels of a sandbox: the pod's, overridden by the kubelet's. */
export const sandboxLabels = ({ metadata }: Pod): StringMap => ({
  ...metadata.labels,
  [POD_NAME_LABEL]: metadata.name,
  [POD_NAMESPACE_LABEL]: metadata.namespace,
  [POD_UID_LABEL]: metadata.uid,
});

/** Returns the annotations of a sandbox: the pod's. */
export const sandboxAnnotations = ({ metadata }: Pod): StringMap => ({ ...metadata.annotations });

/** Returns the labels of a container. */
export const containerLabels = ({ metadata }: Pod, container: Pick<Container, "name">): StringMap => ({
  [CONTAINER_NAME_LABEL]: container.name,
  [POD_NAME_LABEL]: metadata.name,
  [POD_NAMESPACE_LABEL]: metadata.namespace,
  [POD_UID_LABEL]: metadata.uid,
});

/** Returns a handler with its members in upstream's order. */
function orderedHandler({ exec, httpGet, tcpSocket, sleep }: LifecycleHandler): LifecycleHandler {
  return {
    ...(exec && { exec: { ...(exec.command?.length && { command: exec.command }) } }),
    ...(httpGet && {
      httpGet: {
        ...(httpGet.path && { path: httpGet.path }),
        port: httpGet.port,
        ...(httpGet.host && { host: httpGet.host }),
        ...(httpGet.scheme && { scheme: httpGet.scheme }),
        ...(httpGet.httpHeaders?.length && {
          httpHeaders: httpGet.httpHeaders.map(({ name, value }) => ({ name, value })),
        }),
      },
    }),
    ...(tcpSocket && { tcpSocket: { port: tcpSocket.port, ...(tcpSocket.host && { host: tcpSocket.host }) } }),
    ...(sleep && { sleep: { seconds: sleep.seconds } }),
  };
}

const orderedPort = (port: ContainerPort): ContainerPort => ({
  ...(port.name && { name: port.name }),
  ...(port.hostPort && { hostPort: port.hostPort }),
  containerPort: port.containerPort,
  ...(port.protocol && { protocol: port.protocol }),
  ...(port.hostIP && { hostIP: port.hostIP }),
});

/** Returns the annotations of one attempt of a container. */
export function containerAnnotations(pod: Pod, container: Container, restartCount: number): StringMap {
  const { deletionGracePeriodSeconds } = pod.metadata;
  const { terminationGracePeriodSeconds } = pod.spec;
  const preStop = container.lifecycle?.preStop;
  const ports = container.ports ?? [];
  return {
    [HASH]: containerSpecHash(container),
    ...(preStop !== undefined && { [PRE_STOP_HANDLER]: goJson(orderedHandler(preStop)) }),
    ...(ports.length > 0 && { [PORTS]: goJson(ports.map(orderedPort)) }),
    [RESTART_COUNT]: String(restartCount),
    [TERMINATION_MESSAGE_PATH]: container.terminationMessagePath ?? "",
    [TERMINATION_MESSAGE_POLICY]: container.terminationMessagePolicy ?? "",
    ...(deletionGracePeriodSeconds !== undefined && { [DELETION_GRACE_PERIOD]: String(deletionGracePeriodSeconds) }),
    ...(terminationGracePeriodSeconds !== undefined && {
      [TERMINATION_GRACE_PERIOD]: String(terminationGracePeriodSeconds),
    }),
  };
}

/** Identifies the pod of a sandbox or container. */
export interface PodLabels {
  readonly podName: string;
  readonly podNamespace: string;
  readonly podUid: string;
}

/** Parses the labels of a sandbox; undefined when no kubelet created it. */
export function parseSandboxLabels(labels: StringMap): PodLabels | undefined {
  const podName = labels[POD_NAME_LABEL];
  const podNamespace = labels[POD_NAMESPACE_LABEL];
  const podUid = labels[POD_UID_LABEL];
  if (!podName || !podNamespace || !podUid) return undefined;
  return { podName, podNamespace, podUid };
}

/** The parts of its spec that a container's annotations record. */
export interface ContainerAnnotations {
  /** Hash of the spec in hex, as returned by `containerSpecHash`; empty when unknown. */
  readonly specHash: string;
  readonly restartCount: number;
  readonly terminationMessagePath: string;
  readonly terminationMessagePolicy: string;
  readonly deletionGracePeriodSeconds: number | undefined;
  readonly terminationGracePeriodSeconds: number | undefined;
  readonly preStopHandler: LifecycleHandler | undefined;
  readonly ports: readonly ContainerPort[];
}

function parseWhole(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Parses the annotations; a missing or malformed one counts as not set. */
export function parseContainerAnnotations(annotations: StringMap): ContainerAnnotations {
  const handler = parseJson(annotations[PRE_STOP_HANDLER]);
  const ports = parseJson(annotations[PORTS]);
  return {
    specHash: annotations[HASH] ?? "",
    restartCount: Math.max(0, parseWhole(annotations[RESTART_COUNT]) ?? 0),
    terminationMessagePath: annotations[TERMINATION_MESSAGE_PATH] ?? "",
    terminationMessagePolicy: annotations[TERMINATION_MESSAGE_POLICY] ?? "",
    deletionGracePeriodSeconds: parseWhole(annotations[DELETION_GRACE_PERIOD]),
    terminationGracePeriodSeconds: parseWhole(annotations[TERMINATION_GRACE_PERIOD]),
    preStopHandler: typeof handler === "object" && handler !== null ? handler : undefined,
    ports: Array.isArray(ports) ? ports : [],
  };
}
