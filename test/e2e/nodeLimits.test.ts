/** The daemon's limits on real cgroups and a real file system: all pods together, the system, and Kubernetes itself. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KERNEL_TUNABLES } from "../../src/core/node/hostRequirements.ts";
import { type EmbeddedRuntime, runEmbeddedRuntime } from "../../src/embeddedRuntime/runEmbeddedRuntime.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { cgroupFolders, cgroupRoots, removeCgroup } from "../support/kernelState.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";
import { manifest, server } from "./manifests.ts";

const TITLE = "limits of the node on real cgroups";
/** Everything this test makes is below it; cgroups of the machine itself stay as they are. */
const OWN = `/rxlet-limits-${process.pid}`;
const [SYSTEM, KUBE, PODS] = [`${OWN}/system`, `${OWN}/kube`, `${OWN}/kubepods`];
const MI = 2 ** 20;
const RESERVED = {
  enforceNodeAllocatable: ["pods", "system-reserved", "kube-reserved-compressible"],
  systemReserved: { cpu: "250m", memory: "64Mi", pid: "500" },
  systemReservedCgroup: SYSTEM,
  kubeReserved: { cpu: "500m", memory: "32Mi", pid: "100", "ephemeral-storage": "4Mi" },
  kubeReservedCgroup: KUBE,
  evictionHard: {},
};

/** The first of these control files the cgroup has, in one hierarchy or another: that of v1, that of v2. */
function limitOf(cgroup: string, ...files: readonly string[]): string | undefined {
  const places = cgroupFolders(cgroup).flatMap((folder) => files.map((file) => join(folder, file)));
  const found = places.find((place) => existsSync(place));
  return found === undefined ? undefined : readFileSync(found, "utf8").trim();
}

const limitsOf = (cgroup: string) => ({
  cpu: limitOf(cgroup, "cpu.shares", "cpu.weight"),
  memory: limitOf(cgroup, "memory.limit_in_bytes", "memory.max"),
  pids: limitOf(cgroup, "pids.max"),
});

describe.skipIf(mustSkip(TITLE, missingForMounts()))(TITLE, () => {
  let disk: PrivateMounts | undefined;
  let runtime: EmbeddedRuntime | undefined;
  let daemon: Daemon | undefined;
  let before: ReturnType<typeof limitsOf> | undefined;

  const makeCgroup = (name: string): void => {
    for (const root of cgroupRoots()) mkdirSync(join(root, name), { recursive: true });
  };
  beforeAll(async () => {
    disk = privateMounts();
    const socketPath = join(disk.place, "runtime.sock");
    runtime = await runEmbeddedRuntime({ socketPath, stateDir: join(disk.place, "runtime") });
    for (const name of [SYSTEM, KUBE]) makeCgroup(name);
    before = limitsOf(KUBE);
    const endpoint = `unix://${socketPath}`;
    daemon = await startDaemon({ folder: disk.place, endpoint, cgroupRoot: OWN, config: RESERVED });
  });
  afterAll(async () => {
    await daemon?.kill("SIGKILL");
    await runtime?.close({ stopContainers: true, graceMs: 0 });
    disk?.close();
    removeCgroup(OWN);
  });

  it("leaves pods the process ids that are not reserved, and the rest of the machine its own", async () => {
    const least = ["pid_max", "threads-max"].map((name) => Number(readFileSync(`/proc/sys/kernel/${name}`, "utf8")));
    const pids = String(Math.min(...least) - 600);
    await waitFor("the limit of all pods", () => Promise.resolve(limitOf(PODS, "pids.max") === pids));
    expect(limitOf("/", "pids.max") ?? "max").toBe("max");
  });

  it("limits the system's cgroup in all that is reserved, and that of Kubernetes in CPU time alone", async () => {
    for (const cgroup of [`system reserved cgroup ${SYSTEM}`, `kube reserved cgroup ${KUBE}`]) {
      await waitFor(cgroup, async () => (await daemon?.log())?.includes(`Updated limits on ${cgroup}`));
    }
    const isV1 = limitOf(SYSTEM, "cpu.shares") !== undefined;
    expect(limitsOf(SYSTEM)).toEqual({ cpu: isV1 ? "256" : "10", memory: String(64 * MI), pids: "500" });
    expect(limitsOf(KUBE)).toEqual({ ...before, cpu: isV1 ? "512" : "20" });
  });

  it("sets the kernel flags of the machine, which tests keep in a directory of their own", async () => {
    for (const [flag, value] of Object.entries(KERNEL_TUNABLES)) {
      expect(readFileSync(join(disk?.place ?? "", "proc-sys", flag), "utf8")).toBe(String(value));
    }
    expect(await daemon?.log()).toContain("Set a kernel flag");
  });

  it("sets the limits of QoS classes back that another program changed, when a pod comes", async () => {
    const files = (cgroup: string) =>
      cgroupFolders(cgroup).flatMap((folder) =>
        ["cpu.shares", "cpu.weight"].map((file) => join(folder, file)).filter((file) => existsSync(file)),
      );
    const classes = [`${PODS}/burstable`, `${PODS}/besteffort`];
    const hasLeast = (cgroup: string): boolean => ["2", "1"].includes(limitsOf(cgroup).cpu ?? "");
    const areSet = () => Promise.resolve(classes.every(hasLeast));
    await waitFor("the first limits of both classes", areSet);
    for (const file of classes.flatMap(files)) writeFileSync(file, "77");
    await daemon?.put("any.json", manifest("any", { containers: [server("main", ":")] }));
    await waitFor("the limits of both classes", areSet);
    const reported = async () =>
      ((await daemon?.logEntries()) ?? [])
        .filter(({ msg }) => msg === "Another program changed a cgroup of the node: set it back")
        .map(({ cgroup, found }) => `${String(cgroup)} had ${String(found)}`);
    await waitFor("a line per class", async () => (await reported()).length >= classes.length);
    expect((await reported()).sort()).toEqual(classes.map((cgroup) => `${cgroup} had 77`).sort());
    await daemon?.drop("any.json");
    await daemon?.untilGone("any");
  });

  it("has the ephemeral storage of the file system of its root directory, less what is reserved of it", async () => {
    const requests = { "ephemeral-storage": "61Mi" };
    await daemon?.put(
      "large.json",
      manifest("large", { containers: [server("main", ":", { resources: { requests } })] }),
    );
    const pod = await daemon?.until("large", ({ status }) => status?.phase === "Failed", "Failed");
    expect(pod?.status?.message).toContain(`ephemeral-storage, q: ${1 * MI})`);
  });

  it("keeps logs of pods from others on the machine, as upstream", () => {
    const modeOf = (path: string) => statSync(join(disk?.place ?? "", path)).mode & 0o777;
    expect([modeOf("logs/pods"), modeOf("logs/containers"), modeOf("kubelet")]).toEqual([0o750, 0o755, 0o750]);
  });

  it("does not start when a cgroup it is to limit is missing, and does not make it", async () => {
    await daemon?.kill("SIGTERM");
    removeCgroup(KUBE);
    // The server may answer once before it ends.
    await daemon?.restart().catch(() => undefined);
    const hasEnded = async (): Promise<boolean> =>
      fetch(`${daemon?.readOnlyUrl}/healthz`).then(
        () => false,
        () => true,
      );
    await waitFor("the daemon to end", hasEnded);
    expect(await daemon?.log()).toContain(
      `Failed to enforce Kube Reserved Compressible Cgroup Limits on \\"${KUBE}\\": cgroup [\\"rxlet-limits-${process.pid}\\" \\"kube\\"]`,
    );
    expect(cgroupFolders(KUBE)).toEqual([]);
  });
});
