/**
 * The packaged units under a real systemd: the end of the start, the watchdog, reloads, the stop, the socket. The node has
 * no runtime.
 */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { privateKernelFlags } from "../support/daemon.ts";
import { mustSkip } from "../support/mustSkip.ts";
import {
  cgroupVersionsHere,
  missingForSystemd,
  type PrivateSystemd,
  startPrivateSystemd,
} from "../support/privateSystemd.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { waitFor } from "../support/waitFor.ts";

const TITLE = "rxlet as a service of systemd";
const UNIT = "rxlet.service";
const SOCKET_UNIT = "rxlet.socket";
const packaged = (unit: string): Promise<string> =>
  readFile(new URL(`../../packaging/${unit}`, import.meta.url), "utf8");
const SOCKET = "/run/rxlet/local.sock";
/** Three seconds between two messages, which a busy machine keeps. */
const WATCHDOG_SECONDS = 6;

/** Settings of the test: the built program, a quick watchdog, and what was last reported when the process has ended. */
const dropIn = (folder: string): string => `[Unit]
DefaultDependencies=no
[Service]
ExecStart=
ExecStart=${process.execPath} ${BUILT_MAIN} --config=${folder}/config.json --root-dir=${folder}/kubelet \\
  --hostname-override=test-node --proc-sys-dir=${folder}/proc-sys
ExecStopPost=/bin/sh -c 'systemctl show --property=StatusText,Result ${UNIT} >${folder}/last'
WatchdogSec=${WATCHDOG_SECONDS}
RestartSec=100ms
StandardOutput=append:${folder}/log
StandardError=append:${folder}/log
`;

const configuration = (folder: string, more: object = {}) => ({
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  enableServer: false,
  containerRuntimeEndpoint: `unix://${folder}/none.sock`,
  staticPodPath: `${folder}/manifests`,
  podLogsDir: `${folder}/logs`,
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failSwapOn: false,
  failCgroupV1: false,
  ...more,
});

describe.skipIf(mustSkip(TITLE, missingForSystemd()))(TITLE, () => {
  let systemd: PrivateSystemd;
  let folder: string;
  const show = async (property: string): Promise<string> =>
    (await systemd.run("systemctl", "show", `--property=${property}`, "--value", UNIT)).trim();
  /** Waits for a value of a property; reports the log of the service if it does not come. */
  const until = (property: string, isWanted: (value: string) => boolean): Promise<string> =>
    waitFor(`${property} of the service`, async () => {
      const value = await show(property);
      return isWanted(value) ? value : undefined;
    }).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await readFile(join(folder, "log"), "utf8")}`);
    });
  const configure = (more?: object): Promise<void> =>
    writeFile(join(folder, "config.json"), JSON.stringify(configuration(folder, more)));
  /** Counts the starts of a kubelet in the log. */
  const starts = async (): Promise<number> =>
    (await readFile(join(folder, "log"), "utf8")).split("Starting kubelet").length - 1;
  const getPods = async (): Promise<unknown> =>
    JSON.parse(await systemd.run(process.execPath, BUILT_MAIN, "get", "pods", "--output=json", `--socket=${SOCKET}`));
  const fedAt = async (): Promise<number> => Number(await show("WatchdogTimestampMonotonic"));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-service-"));
    await mkdir(join(folder, "manifests"));
    await privateKernelFlags(folder);
    await configure();
    systemd = await startPrivateSystemd(cgroupVersionsHere()[0] ?? 1, {
      [UNIT]: await packaged(UNIT),
      [`${UNIT}.d/test.conf`]: dropIn(folder),
      [SOCKET_UNIT]: await packaged(SOCKET_UNIT),
      [`${SOCKET_UNIT}.d/test.conf`]: "[Unit]\nDefaultDependencies=no\n",
    });
  });
  afterAll(async () => {
    await systemd.stop();
    await removeFolder(folder);
  });

  it("is started when it reports so, with its state in a line", async () => {
    // A job of Type=notify ends with READY=1.
    await systemd.run("systemctl", "start", UNIT);
    expect([await show("ActiveState"), await show("Type"), await show("NotifyAccess")]).toEqual([
      "active",
      "notify",
      "main",
    ]);
    expect(await show("StatusText")).toMatch(/^0 pods; container runtime /);
  });

  it("feeds the watchdog: it runs on for longer than the watchdog waits", async () => {
    const startedAt = await fedAt();
    await waitFor("messages to the watchdog", async () => (await fedAt()) - startedAt > WATCHDOG_SECONDS * 1e6);
    expect([await show("NRestarts"), await show("ActiveState")]).toEqual(["0", "active"]);
  });

  it("is ended and started again when its process stalls", async () => {
    const pid = await show("MainPID");
    await systemd.run("systemctl", "kill", "--signal=SIGSTOP", "--kill-who=main", UNIT);
    await until("NRestarts", (count) => count === "1");
    expect(await readFile(join(folder, "last"), "utf8")).toContain("Result=watchdog");
    await until("ActiveState", (state) => state === "active");
    expect(await show("MainPID")).not.toBe(pid);
  });

  it("restarts in place at a reload: the same process runs the new configuration", async () => {
    const [pid, restarts, before] = [await show("MainPID"), await show("NRestarts"), await starts()];
    await configure({ healthzPort: 10_249 });
    await systemd.run("systemctl", "reload", UNIT);
    await waitFor("a second start", async () => (await starts()) === before + 1);
    await until("StatusText", (text) => text.startsWith("0 pods"));
    expect([await show("ActiveState"), await show("MainPID"), await show("NRestarts")]).toEqual([
      "active",
      pid,
      restarts,
    ]);
    expect(await readFile(join(folder, "log"), "utf8")).toContain('server="healthz" address="127.0.0.1" port=10249');
  });

  it("refuses a reload with a faulty configuration, says why, and goes on", async () => {
    const [pid, before] = [await show("MainPID"), await starts()];
    await configure({ maxPods: -1 });
    await systemd.run("systemctl", "reload", UNIT);
    const status = await until("StatusText", (text) => text.startsWith("Configuration refused"));
    expect(status).toContain(`the old one holds: ${folder}/config.json:1: maxPods: `);
    await until("ActiveState", (state) => state === "active");
    expect([await show("MainPID"), await starts()]).toEqual([pid, before]);
    await configure();
  });

  it("reports its stop", async () => {
    await systemd.run("systemctl", "stop", UNIT);
    const last = await readFile(join(folder, "last"), "utf8");
    expect(last.trim().split("\n").toSorted()).toEqual(["Result=success", "StatusText=Stopping"]);
  });

  it("is started by a command when systemd holds the socket, which outlives it", async () => {
    await systemd.run("systemctl", "start", SOCKET_UNIT);
    expect(await show("ActiveState")).toBe("inactive");
    expect(await getPods()).toMatchObject({ kind: "List", items: [] });
    await systemd.run("systemctl", "stop", UNIT);
    expect(await getPods()).toMatchObject({ kind: "List", items: [] });

    // A reload needs another process, because only systemd passes the socket on.
    const pid = await show("MainPID");
    await systemd.run("systemctl", "reload", UNIT);
    await until("MainPID", (other) => other !== pid && other !== "0");
    expect(await getPods()).toMatchObject({ kind: "List", items: [] });
    await systemd.run("systemctl", "stop", SOCKET_UNIT, UNIT);
  });

  it("does not start with a time of the watchdog that is no time, as upstream", () => {
    const args = [BUILT_MAIN, `--config=${folder}/config.json`, `--root-dir=${folder}/kubelet`];
    const env = { ...process.env, WATCHDOG_USEC: "soon" };
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('cannot use the systemd watchdog: WATCHDOG_USEC "soon" is not a positive number'),
    ]);
  });
});
