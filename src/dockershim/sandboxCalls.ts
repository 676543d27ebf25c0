/** Sandbox calls. A sandbox is a pause container, whose namespaces its containers join. */
import fs from "node:fs/promises";
import { status } from "@grpc/grpc-js";
import type { PodSandboxConfig, PodSandboxFilter, RuntimeServiceDefinition, PodSandbox } from "../gen/cri.ts";
import { matchesLabels } from "../criServer/matchesLabels.ts";
import { wallClockNs } from "../criServer/wallClockNs.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { invalidArgument, messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import type { ContainerDetails } from "./engine/answers.ts";
import { isConflict, isNotFound } from "./engine/engineFault.ts";
import { textOf } from "./engine/fields.ts";
import { pullImage } from "./imagePulls.ts";
import { hasOurNetwork, LABEL, SANDBOX, sandboxMetadata, sandboxName, splitLabels } from "./mapping/names.ts";
import { resolvConf } from "./mapping/resolvConf.ts";
import { isOnHostNetwork, PROTOCOL, sandboxBody } from "./mapping/sandboxBody.ts";
import { sandboxMessage, sandboxStatusMessage } from "./mapping/sandboxMessages.ts";
import type { SandboxNetwork } from "./mapping/sandboxMessages.ts";
import { lowestOomScore } from "./oomScore.ts";
import { podAddresses } from "./podAddresses.ts";
import type { NetworkedSandbox } from "./podNetwork.ts";
import { removeContainer } from "./containerRemoval.ts";
import { seccompText } from "./seccompProfile.ts";
import type { Shim } from "./shim.ts";
import { containerStatuses } from "./containerStatuses.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

/** Time for a pause process to end on its signal, in seconds. */
const PAUSE_GRACE_SECONDS = 10;
const NOT_PERMITTED: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** Returns the handlers of the PodSandbox calls. */
export function sandboxCalls(shim: Shim): Handlers {
  const { docker, networks } = shim;
  return {
    runPodSandbox: async ({ config, runtimeHandler }) => ({ podSandboxId: await run(shim, config, runtimeHandler) }),
    stopPodSandbox: async ({ podSandboxId }) => {
      const sandbox = await docker.find("sandbox", podSandboxId);
      if (sandbox === undefined) await networks.disconnect(podSandboxId, "");
      else await stopSandbox(shim, sandbox);
      return {};
    },
    removePodSandbox: async ({ podSandboxId }) => {
      const sandbox = await docker.find("sandbox", podSandboxId);
      if (sandbox === undefined) await networks.disconnect(podSandboxId, "");
      else await removeSandbox(shim, sandbox);
      return {};
    },
    podSandboxStatus: async ({ podSandboxId, verbose }) => {
      const sandbox = await docker.inspect("sandbox", podSandboxId);
      return {
        status: sandboxStatusMessage(sandbox, await networkOf(shim, sandbox)),
        info: verbose ? { info: JSON.stringify({ pid: sandbox.pid }) } : {},
        containersStatuses: await containerStatuses(shim, sandbox.id),
        timestamp: wallClockNs(),
      };
    },
    listPodSandbox: async ({ filter }) => ({ items: await list(shim, filter) }),
    updatePodSandboxResources: async ({ podSandboxId }) => {
      // The cgroup of a pod is its kubelet's; a pause process needs nothing.
      await docker.inspect("sandbox", podSandboxId);
      return {};
    },
  };
}

/** Returns the network of an inspected sandbox. */
export async function networkOf({ networks }: Shim, sandbox: ContainerDetails): Promise<SandboxNetwork> {
  const network = networks.of(sandbox, sandbox.addresses);
  return isStranger(sandbox) ? { ...network, ips: await podAddresses(sandbox.pid) } : network;
}

/** Whether another shim, such as cri-dockerd, connected the sandbox to a network that Docker does not know. */
const isStranger = ({ networkMode, labels }: ContainerDetails): boolean =>
  networkMode === "none" && !hasOurNetwork(labels);

/** A sandbox as far as its container tells; undefined for one in no network of ours. */
function describedBy(sandbox: ContainerDetails): NetworkedSandbox | undefined {
  const metadata = sandboxMetadata(sandbox.name);
  if (metadata === undefined || sandbox.networkMode !== "none") return undefined;
  const { name, namespace, uid } = metadata;
  return {
    id: sandbox.id,
    name,
    namespace,
    uid,
    netns: netnsOf(sandbox),
    portMappings: [],
    annotations: splitLabels(sandbox.labels).annotations,
    dns: { servers: [], searches: [], options: [] },
    cgroupParent: textOf(sandbox.hostConfig, "CgroupParent"),
  };
}

const netnsOf = ({ pid }: ContainerDetails): string => (pid > 0 ? `/proc/${pid}/ns/net` : "");

async function run(shim: Shim, config: PodSandboxConfig | undefined, handler: string): Promise<string> {
  const metadata = config?.metadata;
  if (config === undefined || metadata === undefined) throw invalidArgument("config.metadata", "is required");
  const name = sandboxName(metadata);
  const { docker } = shim;
  const body = await bodyOf(shim, config, handler);
  const id = await createSandbox(shim, name, body);
  try {
    await docker.start(id);
    const sandbox = await docker.inspect("sandbox", id);
    if (!sandbox.running) throw endedAtOnce(shim, sandbox);
    await writeResolvConf(sandbox, config);
    if (!isOnHostNetwork(config)) await shim.networks.connect(networked(config, sandbox));
    return id;
  } catch (thrown) {
    await docker
      .remove(id)
      .catch((also: unknown) => shim.report(`sandbox ${id} cannot be removed: ${messageOf(also)}`));
    // No client knows the id of a sandbox that was not made: none asks again for its end.
    if (shim.networks.has(id)) shim.sweeps.later();
    throw thrown;
  }
}

const endedAtOnce = ({ podSandboxImage }: Shim, { exitCode }: ContainerDetails): RpcFault =>
  new RpcFault(
    status.FAILED_PRECONDITION,
    `the process of ${podSandboxImage} ended at once with ${exitCode}: no pause image?`,
  );

async function bodyOf(shim: Shim, config: PodSandboxConfig, handler: string): Promise<Record<string, unknown>> {
  const { runtimes, cgroupDriver, remapsUsers } = await shim.info();
  const runtime = handler === "docker" ? "" : handler;
  if (runtime !== "" && !runtimes.includes(runtime)) {
    throw invalidArgument("runtime_handler", `no runtime for "${runtime}" is configured in Docker`);
  }
  const place = {
    image: shim.podSandboxImage,
    runtime,
    cgroupDriver,
    hasPodNetwork: shim.networks.podNetwork !== undefined,
    remapsUsers,
    lowestOomScore: await lowestOomScore(),
  };
  return sandboxBody(config, place, await seccompText(config.linux?.securityContext?.seccomp));
}

/** Creates a container; a name that is taken is the caller's to free, as everywhere in CRI. */
export async function create({ docker }: Shim, name: string, body: unknown): Promise<string> {
  try {
    return await docker.create(name, body);
  } catch (thrown) {
    if (!isConflict(thrown)) throw thrown;
    throw new RpcFault(status.ALREADY_EXISTS, messageOf(thrown));
  }
}

/** The image of pause containers is missing once on a machine: Docker is not asked for it before each sandbox. */
async function createSandbox(shim: Shim, name: string, body: unknown): Promise<string> {
  try {
    return await create(shim, name, body);
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    await pullImage(shim.docker.engine, shim.podSandboxImage, undefined, new AbortController().signal);
    return create(shim, name, body);
  }
}

/**
 * Docker was asked for these servers as well: where the file is not ours to write, as without root, its own version of
 * them stays.
 */
async function writeResolvConf({ resolvConfPath }: ContainerDetails, { dnsConfig }: PodSandboxConfig): Promise<void> {
  const text = resolvConf(dnsConfig);
  if (text === undefined || resolvConfPath === "") return;
  try {
    await fs.writeFile(resolvConfPath, text, { flag: fs.constants.O_WRONLY | fs.constants.O_TRUNC });
  } catch (thrown) {
    if (!NOT_PERMITTED.has((thrown as NodeJS.ErrnoException).code ?? "")) throw thrown;
  }
}

function networked(config: PodSandboxConfig, sandbox: ContainerDetails): NetworkedSandbox {
  const { name = "", namespace = "", uid = "" } = config.metadata ?? {};
  return {
    id: sandbox.id,
    name,
    namespace,
    uid,
    netns: netnsOf(sandbox),
    portMappings: config.portMappings
      .filter(({ hostPort }) => hostPort > 0)
      .map(({ protocol, hostPort, containerPort, hostIp }) => ({
        protocol: PROTOCOL[protocol] ?? "tcp",
        hostPort,
        containerPort,
        hostIp,
      })),
    annotations: config.annotations,
    dns: {
      servers: config.dnsConfig?.servers ?? [],
      searches: config.dnsConfig?.searches ?? [],
      options: config.dnsConfig?.options ?? [],
    },
    cgroupParent: config.linux?.cgroupParent ?? "",
  };
}

const containersOf = ({ docker }: Shim, id: string) => docker.list({ [LABEL.sandboxId]: id });

/** Kills the containers without a grace period, then takes the network, then stops the pause process. */
async function stopSandbox(shim: Shim, sandbox: ContainerDetails): Promise<void> {
  const { docker, networks } = shim;
  const running = (await containersOf(shim, sandbox.id)).filter(
    ({ state }) => state === "running" || state === "paused",
  );
  await Promise.all(running.map(({ id }) => unlessGone(docker.stop(id, 0))));
  await networks.disconnect(sandbox.id, netnsOf(sandbox), describedBy(sandbox));
  await unlessGone(docker.stop(sandbox.id, PAUSE_GRACE_SECONDS));
}

async function removeSandbox(shim: Shim, sandbox: ContainerDetails): Promise<void> {
  const containers = await containersOf(shim, sandbox.id);
  await Promise.all(
    containers.map(async ({ id }) => {
      const details = await shim.docker.find("container", id);
      if (details !== undefined) await removeContainer(shim, details);
    }),
  );
  await shim.networks.disconnect(sandbox.id, netnsOf(sandbox), describedBy(sandbox));
  await shim.docker.remove(sandbox.id);
}

/** Awaits a stop, which a removal by a call at the same time may overtake. */
async function unlessGone(call: Promise<void>): Promise<void> {
  try {
    await call;
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
  }
}

async function list(shim: Shim, filter: PodSandboxFilter | undefined): Promise<PodSandbox[]> {
  const listed = (await shim.docker.list({ [LABEL.type]: SANDBOX })).filter(({ name }) => name.startsWith("/k8s_"));
  const facts = await shim.facts.ofListed("sandbox", listed);
  return listed
    .flatMap((summary) => {
      const createdAt = facts.get(summary.id)?.facts.createdAt;
      const network = shim.networks.of(summary, []);
      return createdAt === undefined ? [] : [sandboxMessage(summary, createdAt, network)];
    })
    .filter((sandbox) => matches(sandbox, filter));
}

function matches({ id, state, labels }: PodSandbox, filter: PodSandboxFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (!id.startsWith(filter.id)) return false;
  if (filter.state !== undefined && filter.state.state !== state) return false;
  return matchesLabels(labels, filter.labelSelector);
}
