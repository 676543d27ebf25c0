/**
 * A program for the namespaces of a private systemd: a login manager, containerd, rxlet, and 20 pods of three priorities, of
 * which one does not listen. Has the machine shut down, and the shutdown cancelled. Prints a ShutdownReport as JSON.
 */
import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Pod } from "../../src/core/api.ts";
import { manifest, script, server } from "../e2e/manifests.ts";
import { findContainerd } from "./containerdInstallation.ts";
import { startDaemon } from "./daemon.ts";
import { startPrivateContainerd } from "./privateContainerd.ts";
import { waitFor } from "./waitFor.ts";

export interface ShutdownReport {
  /** The list of locks at the login manager while the node works. */
  readonly inhibitors: string;
  /**
   * Priorities of the pods in the order in which their containers ended, each once in a row; without the deaf one, which is
   * killed as the next period begins.
   */
  readonly order: readonly number[];
  /** Phases of the pods at the moment at which the machine went down, each once. */
  readonly phases: readonly (string | undefined)[];
  readonly reasons: readonly (string | undefined)[];
  /** Exit codes of the pod that does not listen, and of the others, each once. */
  readonly deaf: number | undefined;
  readonly others: readonly (number | undefined)[];
  /** Whether the node rejected a pod meanwhile, and why. */
  readonly rejected: string | undefined;
  /** How many pods ran after the shutdown was cancelled: those that it had ended, and the rejected one. */
  readonly again: number;
}

/** Long enough for the pods of a period on a busy machine: its deaf pod takes all of it. */
const PERIODS = [0, 1_000, 100_000].map((priority) => ({ priority, shutdownGracePeriodSeconds: 15 }));
const WAIT_MS = 150_000;
const COUNT = 20;

const found = findContainerd();
if (!found.found) throw new Error(`missing: ${found.missing.join(", ")}`);
const execute = promisify(execFile);
const output = async (program: string, ...args: readonly string[]): Promise<string> =>
  (await execute(program, args)).stdout.trim();

await output("systemctl", "start", "systemd-logind.service");
const folder = await mkdtemp(join(tmpdir(), "rxlet-"));
const containerd = await startPrivateContainerd(found.installation, { systemdCgroup: true });
const daemon = await startDaemon({
  folder,
  endpoint: containerd.endpoint,
  cgroupRoot: "/rxlet-test",
  config: { cgroupDriver: "systemd", shutdownGracePeriodByPodPriority: PERIODS },
});

const priorityOf = (index: number): number => PERIODS[index % PERIODS.length]?.priority ?? 0;
const podNamed = (name: string, priority: number, isDeaf = false): unknown => {
  const deaf = script("main", "trap '' TERM; while :; do sleep 0.1; done");
  const spec = { hostNetwork: true, terminationGracePeriodSeconds: 30, containers: [isDeaf ? deaf : server()] };
  return manifest(name, { ...spec, priority });
};
for (let index = 0; index < COUNT; index += 1) {
  await daemon.put(`pod-${index}.json`, podNamed(`pod-${index}`, priorityOf(index), index === 0));
}
const isRunning = ({ status }: Pod): boolean => status?.phase === "Running";
const running = async (): Promise<number> => (await daemon.pods()).filter(isRunning).length;
await waitFor("all pods to run", async () => (await running()) === COUNT);
const isInhibited = async (): Promise<string | false> => {
  const text = await output("systemd-inhibit", "--list", "--no-pager", "--no-legend");
  return text.includes("kubelet") && text;
};
const inhibitors = await waitFor("the node to hold the lock", isInhibited);

const MANAGER = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"];
await output("busctl", "--system", "call", ...MANAGER, "PowerOff", "b", "false");
await waitFor("the node to notice", async () =>
  (await daemon.logEntries()).some(({ msg }) => msg.startsWith("Shutdown manager detected new shutdown event")),
);
await daemon.put("late.json", podNamed("late", 0));
const rejected = (await daemon.until("late", ({ status }) => status?.phase === "Failed", "rejected")).status?.reason;
await waitFor(
  "the machine to go down",
  async () => (await output("systemctl", "list-jobs")).includes("poweroff.target"),
  WAIT_MS,
);

const pods = (await daemon.pods()).filter(({ metadata: { name } }) => !name.startsWith("late"));
const endOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.terminated;
const once = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];
/** Seconds at which the container ended, as the API has them: ends of the same second are in no order. */
const endedAt = (pod: Pod): number => Date.parse(String(endOf(pod)?.finishedAt));
const priorityIn = ({ spec }: Pod): number => spec.priority ?? 0;
const ended = pods.toSorted((a, b) => endedAt(a) - endedAt(b) || priorityIn(a) - priorityIn(b));
/** Leaves out what repeats the one before. */
const inRows = <T>(values: readonly T[]): readonly T[] => values.filter((value, index) => value !== values[index - 1]);
const isDeaf = ({ metadata: { name } }: Pod): boolean => name.startsWith("pod-0-");

await output("systemctl", "cancel");
await waitFor("all pods to run again", async () => (await running()) > COUNT);
const report: ShutdownReport = {
  inhibitors,
  order: inRows(ended.filter((pod) => !isDeaf(pod)).map(priorityIn)),
  phases: once(pods.map(({ status }) => status?.phase)),
  reasons: once(pods.map(({ status }) => status?.reason)),
  deaf: pods.filter(isDeaf).map(endOf)[0]?.exitCode,
  others: once(pods.filter((pod) => !isDeaf(pod)).map((pod) => endOf(pod)?.exitCode)),
  rejected,
  again: await running(),
};
await daemon.dropAll();
for (let index = 0; index < COUNT; index += 1) await daemon.untilGone(`pod-${index}`);
await daemon.kill("SIGTERM");
await containerd.stop();
process.stdout.write(JSON.stringify(report));
