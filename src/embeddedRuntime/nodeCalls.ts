/** Calls about the runtime itself: version, readiness, configuration. */
import fs from "node:fs";
import { CgroupDriver, type RuntimeServiceDefinition } from "../gen/cri.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import type { Runtime } from "./runtime.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

const LIMITS = [
  "containers are processes of the host: no isolation, no resource limits, no mounts, no pod network",
  "not for nodes: use containerd there",
];

/** Returns the version of this package. */
function packageVersion(): string {
  const manifest: unknown = JSON.parse(fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((manifest as { readonly version?: unknown }).version);
}

/** Returns the handlers. Pod metrics are empty, because this runtime defines no metric descriptors. */
export function nodeCalls({ registry, files }: Runtime): Handlers {
  const runtimeVersion = packageVersion();
  return {
    version: () => ({ version: "0.1.0", runtimeName: "rxlet", runtimeVersion, runtimeApiVersion: "v1" }),
    status: ({ verbose }) => ({
      status: {
        conditions: ["RuntimeReady", "NetworkReady"].map((type) => ({ type, status: true, reason: "", message: "" })),
      },
      info: verbose
        ? {
            config: JSON.stringify({
              stateDir: files.root,
              sandboxes: registry.sandboxes.size,
              containers: registry.containers.size,
              limits: LIMITS,
            }),
          }
        : {},
      runtimeHandlers: [{ name: "", features: { recursiveReadOnlyMounts: false, userNamespaces: false } }],
      features: { supplementalGroupsPolicy: false, userNamespacesHostNetwork: false },
    }),
    runtimeConfig: () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } }),
    updateRuntimeConfig: () => ({}),
    listMetricDescriptors: () => ({ descriptors: [] }),
    listPodSandboxMetrics: () => ({ podMetrics: [] }),
  };
}
