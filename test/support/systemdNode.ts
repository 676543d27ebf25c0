/**
 * A program for the namespaces of a private systemd: containerd with `SystemdCgroup`, rxlet with that driver, one pod of
 * each QoS class. Prints what it saw, a SystemdNodeReport, as JSON.
 */
import { existsSync, globSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { manifest, server } from "../e2e/manifests.ts";
import { findContainerd } from "./containerdInstallation.ts";
import { startDaemon } from "./daemon.ts";
import { startPrivateContainerd } from "./privateContainerd.ts";

export interface SystemdNodeReport {
  /** How many slices and scopes of pods there were. */
  readonly running: number;
  /** Slices of pods, below the root of the hierarchy, UIDs as names, each with the number of scopes in it. */
  readonly scopes: Readonly<Record<string, number>>;
  /** Restart counts after rxlet was killed and started again. */
  readonly restarts: readonly (number | undefined)[];
  /** Slices and scopes of pods once the manifests have gone. */
  readonly left: readonly string[];
}

/** The hierarchy that systemd keeps all units in. */
const HIERARCHY = existsSync("/sys/fs/cgroup/systemd") ? "/sys/fs/cgroup/systemd" : "/sys/fs/cgroup";
const limits = { cpu: "100m", memory: "64Mi" };
const PODS = {
  guaranteed: { requests: limits, limits },
  burstable: { requests: limits },
  besteffort: {},
};

const found = findContainerd();
if (!found.found) throw new Error(`missing: ${found.missing.join(", ")}`);
const folder = await mkdtemp(join(tmpdir(), "rxlet-"));
const containerd = await startPrivateContainerd(found.installation, { systemdCgroup: true });
const daemon = await startDaemon({
  folder,
  endpoint: containerd.endpoint,
  cgroupRoot: "/rxlet-test",
  config: { cgroupDriver: "systemd" },
});
const untilRunning = async (): Promise<readonly (number | undefined)[]> => {
  const pods = [];
  for (const name of Object.keys(PODS)) {
    pods.push(await daemon.until(name, ({ status }) => status?.phase === "Running", "Running"));
  }
  return pods.map(({ status }) => status?.containerStatuses?.[0]?.restartCount);
};

for (const [name, resources] of Object.entries(PODS)) {
  await daemon.put(
    `${name}.json`,
    manifest(name, { hostNetwork: true, containers: [server("main", ":", { resources })] }),
  );
}
/** Slices and scopes of pods, by the names of their directories. */
const traces = (): readonly string[] => {
  const patterns = [`*-pod${"?".repeat(32)}.slice`, "cri-containerd-*.scope"];
  return [
    ...new Set(globSync(patterns.map((pattern) => `/sys/fs/cgroup/**/${pattern}`)).map((path) => basename(path))),
  ];
};

await untilRunning();
const running = traces().length;
const names = new Map((await daemon.pods()).map(({ metadata: { uid, name } }) => [uid, name.split("-")[0]]));
const scopes: Record<string, number> = {};
for (const scope of globSync(`${HIERARCHY}/**/*.scope`).filter((path) => path.includes("cri-containerd-"))) {
  const slice = scope.slice(HIERARCHY.length, scope.lastIndexOf("/"));
  const named = slice.replace(/pod([0-9a-f]{32})/, (_, uid: string) => `pod${names.get(uid) ?? uid}`);
  scopes[named] = (scopes[named] ?? 0) + 1;
}
await daemon.kill("SIGKILL");
await daemon.restart();
const restarts = await untilRunning();
await daemon.dropAll();
for (const name of Object.keys(PODS)) await daemon.untilGone(name);
const left = traces();
await daemon.kill("SIGTERM");
await containerd.stop();
process.stdout.write(JSON.stringify({ running, scopes, restarts, left } satisfies SystemdNodeReport));
