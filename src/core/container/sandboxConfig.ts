/** Builds PodSandboxConfig; no other code does. Upstream: kuberuntime_sandbox.go. */
import type { Pod } from "../api.ts";
import { type DNSConfig, PodSandboxConfig, type UserNamespace } from "../../gen/cri.ts";
import { withReason } from "../errors.ts";
import { podLogDir } from "../paths.ts";
import { dottedSysctl } from "../pod/sysctls.ts";
import { podCgroupParent } from "../resources/podCgroup.ts";
import { type Result, err, ok } from "../result.ts";
import { kernelHostname, podHostname } from "./hostname.ts";
import { sandboxAnnotations, sandboxLabels } from "./labels.ts";
import type { NodeContext } from "./nodeContext.ts";
import { podPortMappings } from "./ports.ts";
import { sandboxOverhead, sandboxResources } from "./resources.ts";
import { sandboxSecurityContext } from "./securityContext.ts";

/** The inputs of a sandbox's config. */
export interface SandboxConfigInput {
  readonly pod: Pod;
  /** Number of earlier sandboxes of this pod, from 0. */
  readonly attempt: number;
  readonly userNamespace: UserNamespace;
  readonly node: NodeContext;
  /** The result of `podDns`. */
  readonly dnsConfig: DNSConfig;
}

/** Returns the sandbox's hostname; empty for a host-network pod, then the runtime uses the node's. */
function sandboxHostname(pod: Pod, clusterDomain: string): Result<string> {
  if (pod.spec.hostNetwork) return ok("");
  const hostname = podHostname(pod, clusterDomain);
  const kernel = hostname.ok ? kernelHostname(pod, hostname.value) : hostname;
  return kernel.ok ? kernel : err(withReason(kernel.error, "CreatePodSandboxError"));
}

/** Builds the config of a pod's sandbox. Errors: CreatePodSandboxError. */
export function buildSandboxConfig({
  pod,
  attempt,
  userNamespace,
  node,
  dnsConfig,
}: SandboxConfigInput): Result<PodSandboxConfig> {
  const { name, namespace, uid } = pod.metadata;
  const hostname = sandboxHostname(pod, node.clusterDomain);
  if (!hostname.ok) return hostname;
  const securityContext = sandboxSecurityContext(pod, userNamespace);
  if (!securityContext.ok) return securityContext;
  const sysctls = pod.spec.securityContext?.sysctls ?? [];
  return ok(
    PodSandboxConfig.fromPartial({
      metadata: { name, namespace, uid, attempt },
      hostname: hostname.value,
      logDirectory: podLogDir(node.directories, pod.metadata),
      dnsConfig,
      portMappings: podPortMappings(pod),
      labels: sandboxLabels(pod),
      annotations: sandboxAnnotations(pod),
      linux: {
        cgroupParent: podCgroupParent(pod, node),
        securityContext: securityContext.value,
        sysctls: Object.fromEntries(sysctls.map((each) => [dottedSysctl(each.name), each.value])),
        overhead: sandboxOverhead(pod, node),
        resources: sandboxResources(pod, node),
      },
    }),
  );
}
