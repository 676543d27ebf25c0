/** kubernetes-csi's csi-driver-host-path on a measured kubelet, with the programs that serve a cluster beside it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants, mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { StorageV1Api, type V1CSIDriver, type V1StorageClass } from "@kubernetes/client-node";
import { waitFor } from "../../test/support/waitFor.ts";
import { loadCluster, unlessThere } from "./cluster.ts";

/** Name of the driver, and of the class whose claims it provisions. */
export const HOST_PATH_DRIVER = "hostpath.csi.k8s.io";
const START_MS = 60_000;

const DRIVER: V1CSIDriver = {
  metadata: { name: HOST_PATH_DRIVER },
  spec: { attachRequired: true, podInfoOnMount: true, fsGroupPolicy: "File", volumeLifecycleModes: ["Persistent"] },
};
const CLASS: V1StorageClass = {
  metadata: { name: HOST_PATH_DRIVER },
  provisioner: HOST_PATH_DRIVER,
  volumeBindingMode: "Immediate",
  allowVolumeExpansion: true,
};

export interface HostPathNode {
  /** Directory of the programs: hostpathplugin, csi-node-driver-registrar, csi-provisioner, csi-attacher. */
  readonly programs: string;
  readonly kubeconfig: string;
  readonly nodeName: string;
  /** Directory of the driver's volumes and of all logs. */
  readonly folder: string;
  /** Root directory of the kubelet. */
  readonly rootDir: string;
}

export interface HostPathDriver {
  /** When the driver was asked to stage each volume, oldest first: wall times in milliseconds. */
  stagedAt(): Promise<readonly number[]>;
  /** Ends all programs. */
  end(): Promise<void>;
}

/** Times of the calls in the driver's log, which tells no year. */
function stageTimes(log: string): readonly number[] {
  const lines = log.matchAll(
    /^I(\d\d)(\d\d) (\d\d):(\d\d):(\d\d\.\d+) .*GRPC call: \/csi\.v1\.Node\/NodeStageVolume/gm,
  );
  return [...lines].map(([, ...parts]) => {
    const [month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = parts.map(Number);
    return new Date(new Date().getFullYear(), month - 1, day, hours, minutes).getTime() + seconds * 1_000;
  });
}

/** Starts all programs. Rejects with the path of a program that is missing. Resolves once the kubelet has registered the driver. */
export async function startHostPathDriver(node: HostPathNode): Promise<HostPathDriver> {
  const { programs, kubeconfig, nodeName, rootDir } = node;
  const api = loadCluster(kubeconfig).makeApiClient(StorageV1Api);
  await api.createCSIDriver({ body: DRIVER }).catch(unlessThere);
  await api.createStorageClass({ body: CLASS }).catch(unlessThere);
  const folder = join(node.folder, "host-path");
  const plugin = join(rootDir, "plugins", HOST_PATH_DRIVER);
  const registry = join(rootDir, "plugins_registry");
  for (const directory of [join(folder, "volumes"), plugin, registry]) await mkdir(directory, { recursive: true });
  const socket = join(plugin, "csi.sock");
  // By default five requests per second: with many claims, nothing but that limit would be measured.
  const pace = ["--kube-api-qps=1000", "--kube-api-burst=1000"];
  const atCluster = [`--csi-address=${socket}`, `--kubeconfig=${kubeconfig}`, ...pace];
  const registration = [`--kubelet-registration-path=${socket}`, `--plugin-registration-path=${registry}`];
  const wanted: Readonly<Record<string, readonly string[]>> = {
    hostpathplugin: [
      `--endpoint=unix://${socket}`,
      `--nodeid=${nodeName}`,
      `--statedir=${join(folder, "volumes")}`,
      "--enable-attach",
      "--v=4",
    ],
    "csi-node-driver-registrar": [`--csi-address=${socket}`, ...registration],
    "csi-provisioner": [...atCluster, "--feature-gates=Topology=true"],
    "csi-attacher": atCluster,
  };
  for (const name of Object.keys(wanted)) await access(join(programs, name), constants.X_OK);
  const started: ChildProcess[] = [];
  for (const [name, args] of Object.entries(wanted)) {
    const log = await open(join(folder, `${name}.log`), "a");
    started.push(spawn(join(programs, name), args, { stdio: ["ignore", log.fd, log.fd] }));
    await log.close();
  }
  const end = async (): Promise<void> => {
    for (const child of started.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
  };
  const isRegistered = async (): Promise<boolean> => {
    const { spec } = await api.readCSINode({ name: nodeName });
    // A node without drivers has null here.
    return (spec.drivers as typeof spec.drivers | null)?.some(({ name }) => name === HOST_PATH_DRIVER) === true;
  };
  await waitFor(`${HOST_PATH_DRIVER} to be registered`, isRegistered, START_MS).catch(async (thrown: unknown) => {
    await end();
    const names = Object.keys(wanted);
    const logs = await Promise.all(names.map((name) => readFile(join(folder, `${name}.log`), "utf8")));
    throw new Error([String(thrown), ...logs.map((log) => log.slice(-500))].join("\n"), { cause: thrown });
  });
  return { stagedAt: async () => stageTimes(await readFile(join(folder, "hostpathplugin.log"), "utf8")), end };
}
