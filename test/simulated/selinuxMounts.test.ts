/** A whole kubelet on a machine with SELinux: which labels its driver gets, and which pods start when. */
import { describe, expect, it } from "vitest";
import { csiSimNode, SIM_DRIVER } from "../support/csiSimNode.ts";

const MINUTE_MS = 60_000;
const FILES = "system_u:object_r:container_file_t";
const SELINUX = { selinuxEnabled: true, selinuxFileLabel: `${FILES}:s0` };
const level = (text: string) => ({ seLinuxOptions: { level: text } });
const X = `context="${FILES}:s0:c1,c2"`;
const Y = `context="${FILES}:s0:c3,c4"`;

const nodeWith = (accessMode: string, labelsAllAccessModes = false, machine: object = SELINUX) => {
  const made = csiSimNode({ machine, spec: { seLinuxMount: true }, config: { labelsAllAccessModes } });
  made.claim("c", accessMode);
  const calls = () => made.calls.splice(0).map(({ rpc, mountFlags }) => [rpc, ...mountFlags].join(" "));
  const metric = (what: "volumes_admitted_total" | "volume_context_mismatch_errors_total") =>
    made.node.telemetry.value(`volume_manager_selinux_${what}`, {
      volume_plugin: `kubernetes.io/csi/${SIM_DRIVER}`,
      access_mode: { ReadWriteOncePod: "RWOP", ReadWriteMany: "RWX" }[accessMode] ?? "",
    });
  return { ...made, calls, metric };
};

describe("a node with SELinux", () => {
  it("mounts the volume of one pod with the pod's label, and leaves its files to nobody", () => {
    const { node, pod, calls, relabelled, metric, remove } = nodeWith("ReadWriteOncePod");
    pod("a", "c", level("s0:c1,c2"));
    node.runFor(MINUTE_MS);
    expect([calls(), node.running(), relabelled.get("a"), metric("volumes_admitted_total")]).toEqual([
      [`stage ${X}`, `publish ${X}`],
      ["default/a/main#0"],
      false,
      1,
    ]);
    remove("a");
    node.runFor(MINUTE_MS);
    expect([calls(), node.violations]).toEqual([["unpublish", "unstage"], []]);
  });

  it.each([
    ["another access mode", "ReadWriteMany", level("s0:c1,c2"), SELINUX, true],
    [
      "a pod that wants its files relabelled",
      "ReadWriteOncePod",
      { ...level("s0:c1,c2"), seLinuxChangePolicy: "Recursive" },
      SELINUX,
      true,
    ],
    ["no SELinux", "ReadWriteOncePod", level("s0:c1,c2"), {}, false],
  ])("has no label with %s", (_, accessMode, securityContext, machine, isRelabelled) => {
    const { node, pod, calls, relabelled } = nodeWith(accessMode, false, machine);
    pod("a", "c", securityContext);
    node.runFor(MINUTE_MS);
    expect([calls(), relabelled.get("a")]).toEqual([["stage", "publish"], isRelabelled]);
  });

  it("has the runtime label no file of a file system without labels", () => {
    const { node, claim, pod, relabelled } = nodeWith("ReadWriteMany");
    claim("d", "ReadWriteMany", "nfs");
    pod("a", "d", level("s0:c1,c2"));
    node.runFor(MINUTE_MS);
    expect([node.running(), relabelled.get("a")]).toEqual([["default/a/main#0"], false]);
  });

  it("starts a pod with another label within a second of the end of the first one", () => {
    const { node, pod, calls, events, metric, remove } = nodeWith("ReadWriteMany", true);
    pod("a", "c", level("s0:c1,c2"));
    node.runFor(MINUTE_MS);
    pod("b", "c", level("s0:c3,c4"));
    node.runFor(MINUTE_MS);
    const conflict = `conflicting SELinux labels of volume pv-c: "${FILES}:s0:c1,c2" and "${FILES}:s0:c3,c4"`;
    expect([node.running(), calls(), metric("volume_context_mismatch_errors_total")]).toEqual([
      ["default/a/main#0"],
      [`stage ${X}`, `publish ${X}`],
      1,
    ]);
    expect(events.filter((event) => event.startsWith("b FailedMount"))).toEqual([
      `b FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: ${conflict}`,
    ]);
    remove("a");
    expect(node.runUntil(() => node.running().length === 0, MINUTE_MS)).toBe(true);
    const endedMs = node.clock.monotonicMs();
    expect(node.runUntil(() => node.running().join() === "default/b/main#0", MINUTE_MS)).toBe(true);
    expect(node.clock.monotonicMs() - endedMs).toBeLessThan(1_000);
    expect(calls()).toEqual(["unpublish", "unstage", `stage ${Y}`, `publish ${Y}`]);
    remove("b");
    node.runFor(MINUTE_MS);
    expect([
      calls(),
      node.host.mounts.all().filter(({ mountPoint }) => mountPoint.includes("csi")),
      node.violations,
    ]).toEqual([["unpublish", "unstage"], [], []]);
  });

  it("refuses a volume no longer once the refused pod is gone, and the first pod keeps it", () => {
    const { node, pod, calls, remove } = nodeWith("ReadWriteMany", true);
    pod("a", "c", level("s0:c1,c2"));
    node.runFor(MINUTE_MS);
    pod("b", "c", level("s0:c3,c4"));
    node.runFor(MINUTE_MS);
    remove("b");
    node.runFor(MINUTE_MS);
    pod("d", "c", level("s0:c1,c2"));
    node.runFor(MINUTE_MS);
    expect([node.running(), calls(), node.violations]).toEqual([
      ["default/a/main#0", "default/d/main#0"],
      [`stage ${X}`, `publish ${X}`, `publish ${X}`],
      [],
    ]);
  });

  it("never mounts a volume with two labels, wherever the kubelet crashes while one pod follows another", () => {
    for (let steps = 1; steps < 160; steps += 7) {
      const { node, pod, calls, remove } = nodeWith("ReadWriteMany", true);
      pod("a", "c", level("s0:c1,c2"));
      node.runFor(10_000);
      pod("b", "c", level("s0:c3,c4"));
      node.runFor(10_000);
      calls();
      remove("a");
      for (let step = 0; step < steps; step += 1) node.step();
      node.crashKubelet();
      node.runFor(1_000);
      node.restartKubelet();
      node.runFor(5 * MINUTE_MS);
      const seen = calls();
      const [last, first] = [seen.lastIndexOf("unstage"), seen.indexOf(`publish ${Y}`)];
      // A container that the crash left created is replaced by its next attempt.
      const running = node.running().map((name) => name.split("#")[0]);
      expect([steps, running, last >= 0 && last < first, node.violations]).toEqual([
        steps,
        ["default/b/main"],
        true,
        [],
      ]);
      expect(seen.slice(last).filter((call) => call.endsWith(X))).toEqual([]);
    }
  });
});
