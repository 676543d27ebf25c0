/** Calls about the runtime itself: version, readiness, configuration. */
import { status } from "@grpc/grpc-js";
import { CgroupDriver, type RuntimeServiceDefinition } from "../gen/cri.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import type { Shim } from "./shim.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

const KUBE_API_VERSION = "0.1.0";
/** A version of the Engine API whose containers can be read-only below their mounts. */
const READ_ONLY_BELOW = 44;

/** Limits of Docker, for the verbose status. Each is refused by name where a pod asks for it. */
const LIMITS = [
  "no checkpoints of containers",
  "no user namespace per pod",
  "no images as volumes",
  "no other user ids in mounts",
  "no ambient capabilities",
  "no supplemental groups without those of the image",
  "no environment that is no UTF-8",
  "logs are json-file and rotated by Docker",
];

/** Returns the handlers. Pod metrics are empty, because the shim defines no metric descriptors. */
export function nodeCalls(shim: Shim): Handlers {
  const { docker, networks, podSandboxImage } = shim;
  return {
    version: async () => ({
      version: KUBE_API_VERSION,
      runtimeName: "docker",
      runtimeVersion: (await docker.engine.version()).engine,
      runtimeApiVersion: "v1",
    }),
    status: async ({ verbose }) => {
      const problem = await docker.answers().then(
        () => "",
        (thrown: unknown) => messageOf(thrown),
      );
      const network = networks.podNetwork?.status() ?? { ready: true };
      return {
        status: {
          conditions: [
            {
              type: "RuntimeReady",
              status: problem === "",
              reason: problem === "" ? "" : "DockerDaemonNotReady",
              message: problem,
            },
            {
              type: "NetworkReady",
              status: network.ready,
              reason: network.reason ?? "",
              message: network.message ?? "",
            },
          ],
        },
        info: verbose ? { config: JSON.stringify({ sandboxImage: podSandboxImage, limits: LIMITS }) } : {},
        runtimeHandlers: problem === "" ? await runtimeHandlers(shim) : [],
        features: { supplementalGroupsPolicy: false, userNamespacesHostNetwork: false },
      };
    },
    runtimeConfig: async () => {
      const { cgroupDriver } = await shim.info();
      return { linux: { cgroupDriver: cgroupDriver === "systemd" ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS } };
    },
    updateRuntimeConfig: ({ runtimeConfig }) => {
      shim.networks.podNetwork?.updatePodCidr?.(runtimeConfig?.networkConfig?.podCidr ?? "");
      return {};
    },
    listMetricDescriptors: () => ({ descriptors: [] }),
    listPodSandboxMetrics: () => ({ podMetrics: [] }),
    checkpointContainer: () => {
      throw new RpcFault(status.UNIMPLEMENTED, "Docker cannot do this: checkpoints of containers for other runtimes");
    },
  };
}

/** The default runtime has no name, and its own besides. */
async function runtimeHandlers(shim: Shim) {
  const [{ runtimes, defaultRuntime }, version] = await Promise.all([shim.info(), shim.docker.engine.version()]);
  const features = { recursiveReadOnlyMounts: version.atLeast(READ_ONLY_BELOW), userNamespaces: false };
  const names = [...(defaultRuntime === "" ? [] : [""]), ...runtimes];
  return names.map((name) => ({ name, features }));
}
