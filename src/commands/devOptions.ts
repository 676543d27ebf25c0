/** The configuration of the node that `rxlet dev` runs. */
import path from "node:path";
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import { runProgram } from "../cli/program.ts";
import type { DevOptions } from "../cli/subCommands.ts";
import { kubeletError } from "../core/errors.ts";
import type { CredentialPaths } from "./devCredentials.ts";
import { KUBERNETES_VERSION } from "./version.ts";

/** Address of the servers of `rxlet dev`. */
export const LOOPBACK = "127.0.0.1";

/** Paths of an `rxlet dev`. */
export interface DevPlaces {
  readonly manifests: string;
  readonly root: string;
  /** URL of the runtime's socket. */
  readonly endpoint: string;
  readonly credentials: CredentialPaths;
}

/** The authenticated server uses any free port; clients read it from files. */
const ANY_PORT = 0;

/** Builds a command line of the daemon, so that both commands share one way to configure a node. */
export async function devKubeletOptions(
  dev: DevOptions,
  { manifests, root, endpoint, credentials }: DevPlaces,
): Promise<KubeletOptions> {
  const argv = [
    `--container-runtime-endpoint=${endpoint}`,
    `--root-dir=${path.join(root, "kubelet")}`,
    `--pod-manifest-path=${manifests}`,
    // The daemon makes this directory: a trial makes nothing outside of its own.
    `--volume-plugin-dir=${path.join(root, "volume-plugins")}`,
    `--read-only-port=${dev.readOnlyPort}`,
    `--read-only-bind-address=${LOOPBACK}`,
    "--healthz-port=0",
    `--address=${LOOPBACK}`,
    "--authorization-mode=AlwaysAllow",
    "--anonymous-auth=false",
    `--client-ca-file=${credentials.authority}`,
    `--tls-cert-file=${credentials.certificate}`,
    `--tls-private-key-file=${credentials.key}`,
    "--live-view",
    "--cgroups-per-qos=false",
    "--enforce-node-allocatable=",
    `--v=${dev.logLevel}`,
    ...(dev.nodeName === undefined ? [] : [`--hostname-override=${dev.nodeName}`]),
  ];
  const invocation = await runProgram(argv, { version: KUBERNETES_VERSION });
  if (invocation.command === "kubelet") {
    const { config } = invocation.options;
    // A trial also runs on a machine with cgroup v1 or swap, or whose disk is nearly full.
    const own = {
      failCgroupV1: false,
      failSwapOn: false,
      podLogsDir: path.join(root, "logs", "pods"),
      evictionHard: {},
      imageGCHighThresholdPercent: 100,
      port: ANY_PORT,
    };
    return { ...invocation.options, config: { ...config, ...own } };
  }
  const why = invocation.command === "error" ? invocation.errors.join("; ") : invocation.command;
  throw kubeletError("InvalidArgument", `rxlet dev: ${why}`);
}
