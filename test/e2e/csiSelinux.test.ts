/** SELinux labels of CSI volumes over a real socket with real mounts: the requests of the driver, and pods that wait for others. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { containerMounts } from "../../src/core/container/mounts.ts";
import { sha256 } from "../../src/core/sha256.ts";
import { mountedLayouts } from "../../src/core/volume/podVolumes.ts";
import { startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { CSI_MOUNT, CSI_NAME, type CsiNode, type CsiNodePod, startCsiNode } from "../support/csiNode.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { nodeContextOf } from "../support/nodeContext.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const FILES = "system_u:object_r:container_file_t";
const withLevel = (level: string) => ({ ...CSI_MOUNT, securityContext: { seLinuxOptions: { level } } });
const optionOf = (level: string) => `context="${FILES}:${level}"`;
const CONFLICT = `conflicting SELinux labels of volume pv1: "${FILES}:s0:c1,c2" and "${FILES}:s0:c3,c4"`;
const START = "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[]";

describe.skipIf(mustSkip("CSI volumes", missingForMounts()))("a CSI volume on a node with SELinux", () => {
  let place: PrivateMounts;
  let driver: TestCsiDriver;
  let held: string | undefined;
  const lives: CsiNode[] = [];
  beforeEach(async () => {
    place = privateMounts();
    held = undefined;
    driver = await startCsiDriver(join(place.place, "csi.sock"), {
      fault: ({ rpc }) => (rpc === held ? "hang" : undefined),
    });
  });
  afterEach(async () => {
    for (const life of lives.splice(0)) life.kill();
    driver.stop();
    await driver.release();
    place.close();
  });

  const live = async (accessMode = "ReadWriteOncePod", allModes = false, seLinuxMount = true) => {
    const life = await startCsiNode({
      place,
      spec: { seLinuxMount },
      selinux: { fileLabel: `${FILES}:s0`, allModes },
      objects: {
        persistentvolumeclaims: { metadata: { uid: "c1" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
        persistentvolumes: {
          metadata: { name: "pv1" },
          spec: {
            ...{ claimRef: { uid: "c1" }, accessModes: [accessMode], mountOptions: ["noatime"] },
            csi: { driver: CSI_NAME, volumeHandle: "h1", fsType: "ext4" },
          },
        },
      },
    });
    lives.push(life);
    const samples = () =>
      [...life.telemetry.samples].filter(([name]) => name.startsWith("volume_manager_selinux_")).map(String);
    return { ...life, said: () => life.events.map(({ reason, message }) => `${reason}: ${message}`), samples };
  };
  const calls = () =>
    driver.calls.map(({ rpc, request }) => {
      const { volumeCapability } = request as { volumeCapability?: { mount?: { mountFlags: readonly string[] } } };
      return [rpc, ...(volumeCapability?.mount?.mountFlags ?? [])].join(" ");
    });
  const volData = (path: string) => readFile(join(place.place, path, "vol_data.json"), "utf8");
  /** Whether the runtime is asked to label the files. */
  const isRelabelled = (pod: CsiNodePod) => {
    const built = containerMounts({
      ...{ pod: podOf(), container: containerOf(CSI_MOUNT), podIps: [], volumes: mountedLayouts(pod.state()) },
      ...{ terminationLogPath: "", recursiveReadOnlyMounts: false, environment: new Map(), volumeImages: new Map() },
      ...{ runtimeHandler: "", node: nodeContextOf({ selinuxEnabled: true }) },
    });
    return built.ok ? built.value.find(({ containerPath }) => containerPath === "/data")?.selinuxRelabel : built.error;
  };

  it("is mounted with the label of its pod, which both calls and both records name", async () => {
    const { start, samples } = await live();
    const pod = start("a", withLevel("s0:c1,c2"));
    await pod.until("mounted");
    const option = optionOf("s0:c1,c2");
    expect(calls()).toEqual([`nodeStageVolume noatime ${option}`, `nodePublishVolume noatime ${option}`]);
    expect(isRelabelled(pod)).toBe(false);
    const label = `"seLinuxMountContext":"${FILES}:s0:c1,c2"`;
    expect(await volData("pods/a/volumes/kubernetes.io~csi/pv1")).toContain(
      `"nodeName":"n1",${label},"specVolID":"pv1"`,
    );
    expect(await volData(`plugins/kubernetes.io/csi/${CSI_NAME}/${sha256("h1")}`)).toBe(
      `{"driverName":"${CSI_NAME}",${label},"volumeHandle":"h1"}\n`,
    );
    const plugin = `volume_plugin="kubernetes.io/csi/${CSI_NAME}"`;
    expect(samples()).toEqual([`volume_manager_selinux_volumes_admitted_total{${plugin},access_mode="RWOP"},1`]);
  });

  it.each<[string, Parameters<typeof live>, object]>([
    ["of other access modes", ["ReadWriteOnce"], withLevel("s0:c1,c2")],
    ["of a driver that does not support it", ["ReadWriteOncePod", true, false], withLevel("s0:c1,c2")],
    ["of a pod without a level", ["ReadWriteOncePod"], CSI_MOUNT],
  ])("%s is relabelled by the runtime", async (_, options, use) => {
    const { start } = await live(...options);
    const pod = start("a", use);
    await pod.until("mounted");
    expect([calls(), isRelabelled(pod)]).toEqual([["nodeStageVolume noatime", "nodePublishVolume noatime"], true]);
  });

  it("is refused to a pod with another label, which then waits until it is unmounted", async () => {
    const { start, said, samples } = await live("ReadWriteMany", true);
    const a = start("a", withLevel("s0:c1,c2"));
    await a.until("mounted");
    start("b", withLevel("s0:c3,c4"));
    await waitFor("the event", () => said().length > 0);
    expect(said()).toEqual([`FailedMount: ${START}, failed to process volumes=[data]: ${CONFLICT}`]);
    const plugin = `volume_plugin="kubernetes.io/csi/${CSI_NAME}"`;
    expect(samples()).toContain(
      `volume_manager_selinux_volume_context_mismatch_errors_total{${plugin},access_mode="RWX"},1`,
    );
    held = "nodeUnpublishVolume";
    a.end();
    await waitFor("the wait", () => said().length > 1);
    const why = `waiting for unmount of volume "kubernetes.io/csi/${CSI_NAME}^h1", because it is already mounted to a different pod with a different SELinux label`;
    expect(said().slice(1)).toEqual([`FailedMount: ${START}, failed to process volumes=[]: ${why}`]);
    await waitFor("the call", () => calls().at(-1) === "nodeUnpublishVolume");
  });

  it("is unstaged for the pod with another label, and staged again with that", async () => {
    const { start, said } = await live("ReadWriteMany", true);
    const a = start("a", withLevel("s0:c1,c2"));
    await a.until("mounted");
    const b = start("b", withLevel("s0:c3,c4"));
    await waitFor("the event", () => said().length > 0);
    a.end();
    await b.until("mounted");
    const option = optionOf("s0:c3,c4");
    expect(calls().slice(2)).toEqual([
      ...["nodeUnpublishVolume", "nodeUnstageVolume"],
      ...[`nodeStageVolume noatime ${option}`, `nodePublishVolume noatime ${option}`],
    ]);
    await a.gone();
    b.end();
    await b.gone();
    expect(calls().slice(-2)).toEqual(["nodeUnpublishVolume", "nodeUnstageVolume"]);
  });

  it("is shared by pods with one label", async () => {
    const { start } = await live("ReadWriteMany", true);
    const pods = [start("a", withLevel("s0:c1,c2")), start("b", withLevel("s0:c1,c2"))];
    for (const pod of pods) await pod.until("mounted");
    expect(calls().map((call) => call.split(" ")[0])).toEqual([
      ...["nodeStageVolume", "nodePublishVolume", "nodePublishVolume"],
    ]);
  });

  it("is refused to a pod whose options would end the mount option", async () => {
    const { start, said } = await live();
    start("a", withLevel('s0",ro,context="s0'));
    await waitFor("the event", () => said().length > 0);
    expect(said()).toEqual([
      `FailedMount: ${START}, failed to process volumes=[data]: failed to construct SELinux label from context: seLinuxOptions.level has more than 1024 characters, or others than an SELinux level has`,
    ]);
    expect(calls()).toEqual([]);
  });

  it.each([
    ["another label", "s0:c1,c2", ["nodeUnstageVolume", "nodeStageVolume", "nodePublishVolume", "nodePublishVolume"]],
    ["no label", undefined, ["nodeUnstageVolume", "nodeStageVolume", "nodePublishVolume", "nodePublishVolume"]],
    ["the label of the pods", "s0:c3,c4", ["nodeStageVolume", "nodePublishVolume", "nodePublishVolume"]],
  ])(
    "that an earlier kubelet staged for no pod with %s is staged with that of its pods",
    async (_, level, expected) => {
      const stageDir = join(place.place, "plugins/kubernetes.io/csi", CSI_NAME, sha256("h1"));
      mkdirSync(join(stageDir, "globalmount"), { recursive: true });
      const label = level === undefined ? {} : { seLinuxMountContext: `${FILES}:${level}` };
      writeFileSync(
        join(stageDir, "vol_data.json"),
        JSON.stringify({ driverName: CSI_NAME, ...label, volumeHandle: "h1" }),
      );
      execFileSync("mount", ["-t", "tmpfs", "csi-h1", join(stageDir, "globalmount")]);
      const { start } = await live("ReadWriteMany", true);
      const pods = [start("b", withLevel("s0:c3,c4")), start("c", withLevel("s0:c3,c4"))];
      for (const pod of pods) await pod.until("mounted");
      expect(calls().map((call) => call.split(" ")[0])).toEqual(expected);
      expect(calls().slice(-2)).toEqual(Array(2).fill(`nodePublishVolume noatime ${optionOf("s0:c3,c4")}`));
    },
  );

  it("stays with the pod that has it over kill -9, whatever order the pods come in", async () => {
    const first = await live("ReadWriteMany", true);
    await first.start("a", withLevel("s0:c1,c2")).until("mounted");
    first.kill();
    const second = await live("ReadWriteMany", true);
    second.start("b", withLevel("s0:c3,c4"));
    await waitFor("the refusal", () => second.said().length > 0);
    expect(second.said()).toEqual([`FailedMount: ${START}, failed to process volumes=[data]: ${CONFLICT}`]);
    const a = second.start("a", withLevel("s0:c1,c2"));
    await a.until("mounted");
    expect(new Set(calls().map((call) => call.split(" ").at(-1)))).toEqual(new Set([optionOf("s0:c1,c2")]));
  });
});
