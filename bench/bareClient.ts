/**
 * The floor: a pod started, or removed, by nothing but the CRI calls on the critical path, one after the other, with
 * the configs the kubelet would send. What a kubelet takes beyond it is its own.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { firstValueFrom } from "rxjs";
import type { Pod } from "../src/core/api.ts";
import { NO_CONFIG_OBJECTS } from "../src/core/configObjects.ts";
import { buildContainerConfig } from "../src/core/container/containerConfig.ts";
import type { NodeContext } from "../src/core/container/nodeContext.ts";
import { NODE_USER_NAMESPACE } from "../src/core/container/namespaces.ts";
import { podDns } from "../src/core/container/dns.ts";
import { buildSandboxConfig } from "../src/core/container/sandboxConfig.ts";
import { imageUserOf } from "../src/core/container/securityContext.ts";
import { podDir } from "../src/core/paths.ts";
import type { Result } from "../src/core/result.ts";
import { type ContainerConfig, ImageSpec, type PodSandboxConfig } from "../src/gen/cri.ts";
import type { CriClient } from "../src/sinks/cri.ts";
import { createCgroups } from "../src/sinks/cgroups.ts";
import { realClock } from "../test/support/realClock.ts";

/** A pod the bare client runs. */
export interface BarePod {
  readonly sandboxId: string;
  readonly containerId: string;
  /** Milliseconds each call took, as seen by the client. */
  readonly took: Readonly<Record<string, number>>;
  /** Sum of all durations. */
  readonly totalMs: number;
}

/** The label by which a kubelet knows its own: without it the daemon under measurement leaves the pod alone. */
const OWNER_LABEL = "io.kubernetes.pod.uid";

type Labelled = { readonly labels: Record<string, string> };

/** Starts a pod like `pod` under another name. */
export async function startBarePod(
  client: CriClient,
  pod: Pod,
  node: NodeContext,
  name: string,
  grace = 1,
): Promise<BarePod> {
  const renamed: Pod = {
    ...pod,
    metadata: { ...pod.metadata, name, uid: name },
    spec: { ...pod.spec, terminationGracePeriodSeconds: grace },
  };
  const config = withoutOwner(
    valueOf(
      buildSandboxConfig({
        pod: renamed,
        attempt: 0,
        userNamespace: NODE_USER_NAMESPACE,
        node,
        dnsConfig: podDns(renamed, node, undefined).config,
      }),
    ),
  );
  mkdirSync(config.logDirectory, { recursive: true });
  const cgroup = config.linux?.cgroupParent ?? "";
  if (cgroup !== "") await firstValueFrom(createCgroups({ clock: realClock }).ensure(cgroup, {}));
  const { took, time } = stopwatch();

  const { podSandboxId: sandboxId } = await time("RunPodSandbox", () =>
    client.runtime.runPodSandbox({ config, runtimeHandler: "" }),
  );
  const sandbox = await time("PodSandboxStatus", () =>
    client.runtime.podSandboxStatus({ podSandboxId: sandboxId, verbose: false }),
  );
  const image = ImageSpec.fromPartial({ image: renamed.spec.containers[0]?.image ?? "" });
  const found = await time("ImageStatus", () => client.images.imageStatus({ image, verbose: false }));
  if (found.image === undefined) throw new Error(`no image ${image.image}`);
  const container = prepared(renamed, node, found.image, sandbox.status?.network?.ip ?? "");
  const { containerId } = await time("CreateContainer", () =>
    client.runtime.createContainer({ podSandboxId: sandboxId, config: container, sandboxConfig: config }),
  );
  await time("StartContainer", () => client.runtime.startContainer({ containerId }));
  return { sandboxId, containerId, took, totalMs: Object.values(took).reduce((sum, ms) => sum + ms, 0) };
}

/** Stops and removes it; the result is what the four calls took. */
export async function removeBarePod(client: CriClient, { sandboxId, containerId }: BarePod): Promise<number> {
  const { took, time } = stopwatch();
  const { runtime } = client;
  await time("StopContainer", () => runtime.stopContainer({ containerId, timeout: 2n }));
  await time("StopPodSandbox", () => runtime.stopPodSandbox({ podSandboxId: sandboxId }));
  await time("RemoveContainer", () => runtime.removeContainer({ containerId }));
  await time("RemovePodSandbox", () => runtime.removePodSandbox({ podSandboxId: sandboxId }));
  return Object.values(took).reduce((sum, ms) => sum + ms, 0);
}

/** The container's config, with the files it mounts made as the kubelet makes them; none of it is timed. */
function prepared(
  pod: Pod,
  node: NodeContext,
  image: Parameters<typeof imageUserOf>[0] & { readonly id: string },
  podIp: string,
): ContainerConfig {
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error("a pod without containers");
  const config = valueOf(
    buildContainerConfig({
      pod,
      container,
      restartCount: 0,
      imageRef: image.id,
      imageUser: imageUserOf(image),
      userNamespace: NODE_USER_NAMESPACE,
      recursiveReadOnlyMounts: false,
      volumes: new Map(),
      podIps: podIp === "" ? [] : [podIp],
      terminationLogPath: `${podDir(node.directories, pod.metadata.uid)}/termination-log`,
      objects: NO_CONFIG_OBJECTS,
      node,
    }),
  );
  for (const { hostPath } of config.mounts) {
    mkdirSync(dirname(hostPath), { recursive: true });
    writeFileSync(hostPath, "");
  }
  return withoutOwner(config);
}

const withoutOwner = <T extends Labelled & (PodSandboxConfig | ContainerConfig)>(config: T): T => ({
  ...config,
  labels: Object.fromEntries(Object.entries(config.labels).filter(([key]) => key !== OWNER_LABEL)),
});

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function stopwatch() {
  const took: Record<string, number> = {};
  const time = async <T>(name: string, call: () => Parameters<typeof firstValueFrom<T>>[0]): Promise<T> => {
    const startedAt = performance.now();
    const answer = await firstValueFrom(call());
    took[name] = performance.now() - startedAt;
    return answer;
  };
  return { took, time };
}
