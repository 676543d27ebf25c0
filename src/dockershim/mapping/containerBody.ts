/** A container, as Docker is asked for it. Pure. */
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { NamespaceMode, Signal } from "../../gen/cri.ts";
import type { ContainerConfig, KeyValue, LinuxContainerSecurityContext, PodSandboxConfig } from "../../gen/cri.ts";
import { invalidArgument } from "../../grpcServer/rpcFault.ts";
import type { ApiVersion } from "../engine/apiVersion.ts";
import { cgroupFiles } from "./cgroupFiles.ts";
import { mountPart } from "./mountBindings.ts";
import { CONTAINER, LABEL, mergedLabels } from "./names.ts";
import { cgroupParent, resourcePart } from "./resourceLimits.ts";
import { refuseUserNamespace } from "./sandboxBody.ts";
import { cannot, containerSecurityPart, userOf } from "./securityOptions.ts";
import { dockerSignal } from "./signals.ts";

/** Surroundings of the container that its body depends on. */
export interface ContainerPlace {
  readonly sandboxId: string;
  /** Runtime of the sandbox. */
  readonly runtime: string;
  readonly cgroupDriver: "cgroupfs" | "systemd";
  readonly version: ApiVersion;
  readonly remapsUsers: boolean;
  readonly lowestOomScore: number;
  /** Options of Docker's log: its rotation. */
  readonly logOptions: Readonly<Record<string, string>>;
}

const NAMES_DEVICES = 44;

/** Returns the body of the request. Throws UNIMPLEMENTED for what Docker cannot do, INVALID_ARGUMENT for the rest. */
export function containerBody(
  config: ContainerConfig,
  sandbox: PodSandboxConfig,
  place: ContainerPlace,
  seccompText: string | undefined,
): Record<string, unknown> {
  const context = config.linux?.securityContext;
  const user = context && userOf(context);
  return {
    Image: config.image?.image ?? "",
    Entrypoint: config.command.length === 0 ? null : config.command,
    Cmd: config.args.length === 0 ? null : config.args,
    Env: config.envs.map(variable),
    WorkingDir: config.workingDir,
    Labels: labelsOf(config, sandbox, place.sandboxId),
    OpenStdin: config.stdin,
    StdinOnce: config.stdinOnce,
    Tty: config.tty,
    // Health is the kubelet's to probe.
    Healthcheck: { Test: ["NONE"] },
    ...(user === undefined ? {} : { User: user }),
    ...(config.stopSignal === Signal.RUNTIME_DEFAULT ? {} : { StopSignal: dockerSignal(config.stopSignal) }),
    HostConfig: hostConfig(config, sandbox, place, seccompText),
  };
}

function hostConfig(
  config: ContainerConfig,
  sandbox: PodSandboxConfig,
  place: ContainerPlace,
  seccompText: string | undefined,
): Record<string, unknown> {
  const context = config.linux?.securityContext;
  const resources = config.linux?.resources;
  return {
    ...(context === undefined ? {} : containerSecurityPart(context, seccompText)),
    ...namespaces(context, place),
    ...mountPart(config.mounts, place.version),
    ...(resources === undefined ? {} : resourcePart(resources)),
    OomScoreAdj: Math.max(Number(resources?.oomScoreAdj ?? 0n), place.lowestOomScore),
    CgroupParent: cgroupParent(sandbox.linux?.cgroupParent ?? "", place.cgroupDriver),
    Devices: config.devices.map(({ hostPath, containerPath, permissions }) => ({
      PathOnHost: hostPath,
      PathInContainer: containerPath,
      CgroupPermissions: permissions,
    })),
    ...namedDevices(config, place.version),
    RestartPolicy: { Name: "no" },
    LogConfig: { Type: "json-file", Config: place.logOptions },
    ...(place.runtime === "" ? {} : { Runtime: place.runtime }),
  };
}

function namespaces(
  context: LinuxContainerSecurityContext | undefined,
  { sandboxId, remapsUsers }: ContainerPlace,
): Record<string, string> {
  refuseUserNamespace(context);
  const shared = `container:${sandboxId}`;
  const options = context?.namespaceOptions;
  return {
    NetworkMode: shared,
    IpcMode: shared,
    ...pidMode(options?.pid, shared, options?.targetId ?? ""),
    ...(options?.network === NamespaceMode.NODE ? { UTSMode: "host" } : {}),
    ...(remapsUsers ? { UsernsMode: "host" } : {}),
  };
}

/** A container has process ids of its own unless options say otherwise. */
function pidMode(mode: NamespaceMode | undefined, shared: string, targetId: string): Record<string, string> {
  switch (mode) {
    case NamespaceMode.NODE:
      return { PidMode: "host" };
    case NamespaceMode.POD:
      return { PidMode: shared };
    case NamespaceMode.TARGET:
      return { PidMode: `container:${targetId}` };
    default:
      return {};
  }
}

function namedDevices(config: ContainerConfig, version: ApiVersion): Record<string, unknown> {
  if (config.CDIDevices.length === 0) return {};
  if (!version.atLeast(NAMES_DEVICES)) throw cannot("devices by their CDI name: Docker 25 can");
  return { DeviceRequests: config.CDIDevices.map(({ name }) => ({ Driver: "cdi", DeviceIDs: [name] })) };
}

function variable({ key, value }: KeyValue): string {
  if (!isUtf8(value)) throw cannot(`the environment variable ${key}, whose value is no UTF-8`);
  return `${key}=${Buffer.from(value).toString()}`;
}

function labelsOf(config: ContainerConfig, sandbox: PodSandboxConfig, sandboxId: string): Record<string, string> {
  if (config.logPath.split("/").includes("..")) throw invalidArgument("config.log_path", "must not contain ..");
  const files = config.linux?.resources === undefined ? {} : cgroupFiles(config.linux.resources);
  return {
    ...mergedLabels(config.labels, config.annotations),
    [LABEL.type]: CONTAINER,
    [LABEL.sandboxId]: sandboxId,
    ...(sandbox.logDirectory === "" || config.logPath === ""
      ? {}
      : { [LABEL.logPath]: path.join(sandbox.logDirectory, config.logPath) }),
    ...(Object.keys(files).length === 0 ? {} : { [LABEL.cgroupFiles]: JSON.stringify(files) }),
  };
}
