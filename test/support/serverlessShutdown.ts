/**
 * A program for the namespaces of a private systemd: a login manager, containerd, an API server, rxlet, and pods of two
 * priorities. The API server dies, the machine shuts down, and boots again beside a server that is back. Prints a
 * ServerlessShutdownReport as JSON.
 */
import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Pod } from "../../src/core/api.ts";
import { manifest, server as serving } from "../e2e/manifests.ts";
import { startHttpsApiServer } from "./apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "./apiServer/nodeKubeconfig.ts";
import { findContainerd } from "./containerdInstallation.ts";
import { NODE_NAME, startDaemon } from "./daemon.ts";
import { startPrivateContainerd } from "./privateContainerd.ts";
import { newPod } from "./simApi.ts";
import { waitFor } from "./waitFor.ts";

/** States of the pods, by name, as `PHASE REASON`. */
type States = Readonly<Record<string, string>>;

export interface ServerlessShutdownReport {
  /** On the node, and at the API server, when the machine went down. */
  readonly onNode: States;
  readonly atServer: States;
  /** Pods that the kubelet named when it gave up waiting for the server. */
  readonly untold: readonly string[];
  /** After the boot, at the API server. */
  readonly after: States;
  /** Whether the pods have the UIDs from before. */
  readonly sameUids: boolean;
  /** How many containers of each pod run, and whether none is from before the shutdown. */
  readonly runningContainers: readonly number[];
  readonly newContainers: boolean;
  readonly nodeReady: string | undefined;
}

const WAIT_MS = 150_000;
const PRIORITIES = { low: 0, high: 1_000 };
const NAMES = Object.keys(PRIORITIES);
const STATIC = `agent-${NODE_NAME}`;
const PERIODS = [0, 1_000].map((priority) => ({ priority, shutdownGracePeriodSeconds: 5 }));

const found = findContainerd();
if (!found.found) throw new Error(`missing: ${found.missing.join(", ")}`);
const execute = promisify(execFile);
const output = async (program: string, ...args: readonly string[]): Promise<string> =>
  (await execute(program, args)).stdout.trim();

await output("systemctl", "start", "systemd-logind.service");
const folder = await mkdtemp(join(tmpdir(), "rxlet-"));
const containerd = await startPrivateContainerd(found.installation, { systemdCgroup: true });
const api = await startHttpsApiServer();
const kubeconfig = await writeNodeKubeconfig(api, NODE_NAME, folder);
const daemon = await startDaemon({
  folder,
  endpoint: containerd.endpoint,
  cgroupRoot: "/rxlet-test",
  config: { cgroupDriver: "systemd", shutdownGracePeriodByPodPriority: PERIODS },
  args: ["--kubeconfig", kubeconfig, "--cert-dir", join(folder, "pki")],
});
const until = <T>(what: string, probe: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> =>
  waitFor(what, probe, WAIT_MS).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${(await daemon.log()).slice(-6_000)}`);
  });

const spec = { hostNetwork: true, terminationGracePeriodSeconds: 30, containers: [serving()] };
for (const [name, priority] of Object.entries(PRIORITIES)) {
  api.sim.put("pods", newPod(name, { ...spec, nodeName: NODE_NAME, dnsPolicy: "Default", priority }));
}
await daemon.put("agent.json", manifest("agent", spec));

const all = [...NAMES, STATIC];
const atServer = (name: string) => api.sim.object("pods", { namespace: "default", name }) as Pod | undefined;
const stateOf = (pod: Pod | undefined): string => `${pod?.status?.phase} ${pod?.status?.reason ?? ""}`.trim();
const serverStates = (): States => Object.fromEntries(all.map((name) => [name, stateOf(atServer(name))]));
const nodeStates = async (): Promise<States> => {
  const pods = await daemon.pods();
  return Object.fromEntries(all.map((name) => [name, stateOf(pods.find(({ metadata }) => metadata.name === name))]));
};
const haveState = (states: States, state: string): boolean => Object.values(states).every((each) => each === state);
const uids = (): readonly (string | undefined)[] => NAMES.map((name) => atServer(name)?.metadata.uid);
const ready = (): string | undefined =>
  api.sim.object("nodes", { name: NODE_NAME })?.status?.conditions?.find(({ type }) => type === "Ready")?.status;

await until("all pods to run, as the server knows", () => haveState(serverStates(), "Running"));
const before = uids();
const first = (await daemon.pods())
  .flatMap(({ status }) => status?.containerStatuses ?? [])
  .map((each) => each.containerID);
await until("the node to hold the lock", async () =>
  (await output("systemd-inhibit", "--list", "--no-pager", "--no-legend")).includes("kubelet"),
);

await api.network.refuse();
const MANAGER = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"];
await output("busctl", "--system", "call", ...MANAGER, "PowerOff", "b", "false");
await until("the machine to go down", async () => (await output("systemctl", "list-jobs")).includes("poweroff.target"));
const [onNode, serverThen] = [await nodeStates(), serverStates()];
const gaveUp = (await daemon.logEntries()).find(({ msg }) => msg.startsWith("The API server does not know"));

// The power goes, and the machine boots.
await daemon.kill("SIGKILL");
await output("systemctl", "cancel");
await api.network.accept();
await daemon.restart();
/** Ids of the containers that run, by the node or by the server. */
const running = ({ status }: Pod): readonly (string | undefined)[] =>
  (status?.containerStatuses ?? []).filter(({ state }) => state?.running !== undefined).map((each) => each.containerID);
// The server has the statuses from before the shutdown until the node reports new containers.
const again = await until("all pods to run again, as the server knows", async () => {
  const pods = await daemon.pods();
  const ids = pods.map(running);
  const known = pods.map(({ metadata }) => atServer(metadata.name)).map((pod) => pod && running(pod));
  return pods.length === all.length && ids.flat().length === all.length && String(ids) === String(known) && ids;
});
await until("the node to be Ready", () => ready() === "True");
const report: ServerlessShutdownReport = {
  onNode,
  atServer: serverThen,
  untold: [...((gaveUp?.["pods"] as readonly string[] | undefined) ?? [])].toSorted(),
  after: serverStates(),
  sameUids: String(uids()) === String(before),
  runningContainers: again.map(({ length }) => length),
  newContainers: again.flat().every((id) => !first.includes(id)),
  nodeReady: ready(),
};
for (const name of NAMES) api.sim.delete("pods", { namespace: "default", name }, { gracePeriodSeconds: 1 });
await daemon.dropAll();
await until("all pods to be gone", async () => (await daemon.pods()).length === 0);
await daemon.kill("SIGTERM");
await api.close();
await containerd.stop();
process.stdout.write(JSON.stringify(report));
