/** Builds ContainerConfig; no other code does. Upstream: generateContainerConfig in kuberuntime_container.go. */
import type { Container, Pod } from "../api.ts";
import type { ConfigObjects } from "../configObjects.ts";
import { ContainerConfig, type UserNamespace } from "../../gen/cri.ts";
import { containerLogName } from "../paths.ts";
import type { DeviceSettings } from "../device/deviceSettings.ts";
import { type Result, ok } from "../result.ts";
import type { VolumeLayout } from "../volume/volumeLayout.ts";
import { containerBlockDevices } from "./blockDevices.ts";
import { containerConfigError } from "./configError.ts";
import { containerEnvironment } from "./env.ts";
import type { EnvFiles } from "./envFile.ts";
import { containerAnnotations, containerLabels } from "./labels.ts";
import { containerMounts } from "./mounts.ts";
import type { NodeContext } from "./nodeContext.ts";
import { containerResources } from "./resources.ts";
import { type ImageUser, containerSecurityContext, verifyRunAsNonRoot } from "./securityContext.ts";
import { stopSignal } from "./stopSignal.ts";
import { programText, type TextBudget } from "./textBudget.ts";

/** The inputs of a container's config. */
export interface ContainerConfigInput {
  readonly pod: Pod;
  readonly container: Container;
  /** Restart count of the container; also the CRI attempt. */
  readonly restartCount: number;
  /** The image to run, as returned by the pull. */
  readonly imageRef: string;
  readonly imageUser: ImageUser;
  /** User namespace of the sandbox. */
  readonly userNamespace: UserNamespace;
  /** Whether the runtime supports recursive read-only mounts. */
  readonly recursiveReadOnlyMounts: boolean;
  /** Pod IPs, primary first. */
  readonly podIps: readonly string[];
  /** The pod's mounted volumes by name. */
  readonly volumes: ReadonlyMap<string, VolumeLayout>;
  /** References of the images mounted as volumes, by volume name; default: none. */
  readonly volumeImages?: ReadonlyMap<string, string>;
  /** Runtime handler of the sandbox; default: the runtime's default. */
  readonly runtimeHandler?: string;
  /** Host path of this attempt's termination message file; it must exist before the container is created. */
  readonly terminationLogPath: string;
  /** Objects that the environment references. */
  readonly objects: ConfigObjects;
  /** Files that the environment references; default: none. */
  readonly envFiles?: EnvFiles;
  /** CPUs that the container may run on, such as `0-3,8`; default: all. */
  readonly cpus?: string;
  /** Names of CDI devices; default: none. */
  readonly cdiDevices?: readonly string[];
  /** Settings of the container's devices; default: it has none. */
  readonly devices?: DeviceSettings | undefined;
  /** NUMA nodes of the container's memory, such as `0,1`; default: all. */
  readonly memoryNodes?: string | undefined;
  /** The container may use all the time of its CPUs, whatever its limit. */
  readonly hasNoCpuQuota?: boolean;
  /** Container whose processes an ephemeral container joins. */
  readonly targetContainerId?: string | undefined;
  readonly node: NodeContext;
}

const utf8 = new TextEncoder();

/** Replaces references to variables in each word of a command. */
function expandedWords(
  field: "command" | "args",
  words: readonly string[] = [],
  values: ReadonlyMap<string, string>,
  budget: TextBudget,
): Result<readonly string[]> {
  const expanded: string[] = [];
  for (const [index, word] of words.entries()) {
    const text = budget.expand(`${field}[${index}]`, word, (name) => values.get(name));
    if (!text.ok) return text;
    expanded.push(text.value);
  }
  return ok(expanded);
}

/** Builds the config of one attempt of a container. Errors: CreateContainerConfigError or FailedMount. */
export function buildContainerConfig(input: ContainerConfigInput): Result<ContainerConfig> {
  const { pod, container, restartCount, objects, envFiles: files = new Map(), node } = input;
  const nonRoot = verifyRunAsNonRoot(pod, container, input.imageUser);
  if (!nonRoot.ok) return nonRoot;
  const addresses = { podIps: input.podIps, nodeIps: node.nodeIps };
  const budget = programText(container.name);
  const env = containerEnvironment({ pod, container, addresses, objects, files, node }, budget);
  if (!env.ok) return env;
  const values = new Map(env.value.map(({ name, value }) => [name, value]));
  const mounts = containerMounts({ volumeImages: new Map(), runtimeHandler: "", ...input, environment: values });
  if (!mounts.ok) return mounts;
  const blockDevices = containerBlockDevices(container, input.volumes);
  if (!blockDevices.ok) return blockDevices;
  const securityContext = containerSecurityContext(input);
  if (!securityContext.ok) return securityContext;
  const { uids, gids } = input.userNamespace;
  const signalName = container.lifecycle?.stopSignal;
  const signal = stopSignal(signalName);
  if (signal === undefined) {
    return containerConfigError(`lifecycle.stopSignal: unknown signal "${signalName}"`);
  }
  const command = expandedWords("command", container.command, values, budget);
  if (!command.ok) return command;
  const args = expandedWords("args", container.args, values, budget);
  if (!args.ok) return args;
  return ok(
    ContainerConfig.fromPartial({
      metadata: { name: container.name, attempt: restartCount },
      image: { image: input.imageRef, userSpecifiedImage: container.image ?? "" },
      command: [...command.value],
      args: [...args.value],
      workingDir: container.workingDir ?? "",
      // The pod's own variables follow those of its devices, so they win.
      envs: [
        ...[...(input.devices?.envs ?? [])].map(([key, value]) => ({ key, value: utf8.encode(value) })),
        ...env.value.map(({ name, value, bytes }) => ({ key: name, value: bytes ?? utf8.encode(value) })),
      ],
      // ID-mapped mounts: files on disk keep the IDs that the pod uses inside its user namespace.
      mounts: [
        ...(input.devices?.mounts ?? []).map(({ containerPath, hostPath, readOnly }) => ({
          ...{ containerPath, hostPath, readonly: readOnly },
        })),
        ...mounts.value.map((mount) => ({ ...mount, uidMappings: [...uids], gidMappings: [...gids] })),
      ],
      devices: [...(input.devices?.devices ?? []), ...blockDevices.value],
      CDIDevices: [...new Set([...(input.cdiDevices ?? []), ...(input.devices?.cdiDevices ?? [])])].map((name) => ({
        name,
      })),
      labels: containerLabels(pod, container),
      annotations: {
        ...Object.fromEntries(input.devices?.annotations ?? []),
        ...containerAnnotations(pod, container, restartCount),
      },
      logPath: containerLogName(container.name, restartCount),
      stdin: container.stdin ?? false,
      stdinOnce: container.stdinOnce ?? false,
      tty: container.tty ?? false,
      stopSignal: signal,
      linux: {
        resources: {
          ...containerResources(pod, container, node),
          ...(input.hasNoCpuQuota === true && { cpuQuota: 0n, cpuPeriod: 0n }),
          cpusetCpus: input.cpus ?? "",
          cpusetMems: input.memoryNodes ?? "",
        },
        securityContext: securityContext.value,
      },
    }),
  );
}
