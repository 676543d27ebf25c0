/** Kernel permissions of a container, read from inside, and pods whose security settings this node rejects. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { SECOND_HANDLER } from "../support/containerdConfig.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { busyboxImage } from "../support/images.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, server } from "./manifests.ts";

const REFUSED = "CreateContainerConfigError";
/** The rejected setting, the pod's name and spec, and the reason and message of its status. */
type Refusal = [what: string, name: string, spec: Partial<Pod["spec"]>, reason: string, message: string];

describeOnContainerd("pod security on containerd", (installation) => {
  const node = containerdNode(installation, { config: { allowedUnsafeSysctls: ["kernel.msg*"] } });
  const running = (name: string): Promise<Pod> =>
    node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
  const put = (name: string, spec: Partial<Pod["spec"]>): Promise<void> =>
    node.daemon.put(`${name}.json`, manifest(name, { containers: [server()], ...spec }));

  it("filters system calls as the profile says: not at all, as the runtime does, by a file of the node", async () => {
    const folder = join(node.folder, "kubelet", "seccomp");
    await mkdir(folder, { recursive: true });
    const noFolders = {
      defaultAction: "SCMP_ACT_ALLOW",
      syscalls: [{ names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 38 }],
    };
    await writeFile(join(folder, "no-folders.json"), JSON.stringify(noFolders));
    const tell = "grep '^Seccomp:' /proc/self/status; mkdir /tmp/x 2>&1; echo end";
    const filtered = (name: string, seccompProfile?: { readonly type: string; readonly localhostProfile?: string }) =>
      server(name, tell, seccompProfile === undefined ? {} : { securityContext: { seccompProfile } });
    await put("filtered", {
      containers: [
        filtered("none"),
        filtered("runtime", { type: "RuntimeDefault" }),
        filtered("local", { type: "Localhost", localhostProfile: "no-folders.json" }),
      ],
    });
    const pod = await running("filtered");
    expect(await node.untilOutput(pod, "none", "end")).toEqual(["Seccomp:\t0", "end"]);
    expect(await node.untilOutput(pod, "runtime", "end")).toEqual(["Seccomp:\t2", "end"]);
    expect(await node.untilOutput(pod, "local", "end")).toEqual([
      "Seccomp:\t2",
      "mkdir: can't create directory '/tmp/x': Function not implemented",
      "end",
    ]);
  });

  it("hides what the kernel tells of the node, but not from a privileged container", async () => {
    const tell = "wc -c </proc/timer_list; echo 1 2>&1 >/proc/sys/kernel/msgmax; grep -c . /proc/interrupts; echo end";
    await put("open", {
      containers: [server("usual", tell), server("privileged", tell, { securityContext: { privileged: true } })],
    });
    const pod = await running("open");
    expect(await node.untilOutput(pod, "usual", "end")).toEqual([
      "0",
      "/bin/sh: can't create /proc/sys/kernel/msgmax: Read-only file system",
      "0",
      "end",
    ]);
    const [timers, interrupts] = await node.untilOutput(pod, "privileged", "end");
    expect([Number(timers) > 0, Number(interrupts) > 0]).toEqual([true, true]);
  });

  it("sets kernel settings of the pod alone, in either spelling", async () => {
    const tell = "cat /proc/sys/net/ipv4/ip_unprivileged_port_start /proc/sys/kernel/msgmax; echo end";
    await put("tuned", {
      securityContext: {
        sysctls: [
          { name: "net/ipv4/ip_unprivileged_port_start", value: "79" },
          { name: "kernel.msgmax", value: "12345" },
        ],
      },
      containers: [server("main", tell)],
    });
    await put("untouched", { containers: [server("main", tell)] });
    expect(await node.untilOutput(await running("tuned"), "main", "end")).toEqual(["79", "12345", "end"]);
    const [, msgmax] = await node.untilOutput(await running("untouched"), "main", "end");
    expect(msgmax).not.toBe("12345");
  });

  it("runs an image's user who is not root by number, and refuses one it only knows by name", async () => {
    const users = { numbered: "65534", named: "nobody" };
    for (const [name, user] of Object.entries(users))
      await node.containerd.importImage(await busyboxImage(`rxlet.test/${name}:1`, user));
    const containers = Object.keys(users).map((name) =>
      server(name, "id -u; echo end", { image: `rxlet.test/${name}:1` }),
    );
    await put("users", { securityContext: { runAsNonRoot: true }, containers });
    const pod = await node.daemon.until(
      "users",
      ({ status }) => status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === REFUSED) === true,
      "half refused",
    );
    expect(await node.untilOutput(pod, "numbered", "end")).toEqual(["65534", "end"]);
    const { metadata, status } = pod;
    const named = status?.containerStatuses?.find(({ name }) => name === "named");
    expect(named?.state?.waiting?.message).toBe(
      "container has runAsNonRoot and image has non-numeric user (nobody), cannot verify user is non-root " +
        `(pod: "${metadata.name}_default(${metadata.uid})", container: named)`,
    );
  });

  it("tells the runtime of SELinux options, a container's own before those of its pod", async () => {
    const seLinuxOptions = { user: "u", role: "r", type: "t", level: "s0:c1,c2" };
    const own = { ...seLinuxOptions, level: "s0:c3" };
    await put("labelled", {
      securityContext: { seLinuxOptions },
      containers: [server("pods"), server("own", ":", { securityContext: { seLinuxOptions: own } })],
    });
    const { metadata } = await running("labelled");
    const reported = await Promise.all(
      (await node.containers(metadata.uid)).map(async (container) => {
        const { linux } = await node.containerConfig(container.id);
        return [container.metadata?.name, linux?.security_context?.["selinux_options"]];
      }),
    );
    expect(Object.fromEntries(reported)).toEqual({ pods: seLinuxOptions, own });
  });

  const appArmor: Refusal = [
    "a profile of AppArmor, which this kernel does not have",
    "apparmor",
    { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } },
    "AppArmor",
    "Cannot enforce AppArmor: AppArmor is not enabled on the host",
  ];
  it.each<Refusal>([
    ...(existsSync("/sys/kernel/security/apparmor") ? [] : [appArmor]),
    [
      "a kernel setting that is not allowed",
      "sysctl",
      { securityContext: { sysctls: [{ name: "kernel.shmmax", value: "1" }] } },
      "SysctlForbidden",
      'forbidden sysctl: "kernel.shmmax" not allowlisted',
    ],
  ])("refuses %s", async (_, name, spec, reason, message) => {
    await put(name, spec);
    const { status } = await node.daemon.until(name, (pod) => pod.status?.phase === "Failed", "Failed");
    expect(status).toMatchObject({ phase: "Failed", reason, message: `Pod was rejected: ${message}` });
    expect(await node.daemon.events(name)).toMatchObject([{ type: "Warning", reason, message }]);
    expect(await node.sandboxes()).toEqual([]);
  });

  it("says why a pod cannot have a class nobody defined, and makes nothing", async () => {
    await put("class", { runtimeClassName: "kata" });
    const why = 'Failed to create pod sandbox: runtimeclass.node.k8s.io "kata" not found';
    const { status } = await node.daemon.until("class", () => true, "known");
    await expect
      .poll(async () => (await node.daemon.events("class")).map(({ message }) => message), { timeout: 20_000 })
      .toContainEqual(expect.stringContaining(why));
    expect(status?.phase).toBe("Pending");
    expect(await node.sandboxes()).toEqual([]);
  });

  it("runs a pod by the handler of its class, with the class's overhead, as soon as the manifest of the class is there", async () => {
    await put("classed", { runtimeClassName: "second" });
    await expect
      .poll(async () => (await node.daemon.events("classed")).map(({ reason }) => reason), { timeout: 20_000 })
      .toContain("FailedCreatePodSandBox");
    await node.daemon.put("class.json", {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "second" },
      handler: SECOND_HANDLER,
      overhead: { podFixed: { cpu: "100m" } },
    });
    const { spec } = await running("classed");
    const [sandbox] = await node.sandboxes();
    const { config } = await node.sandboxInfo(sandbox?.id ?? "");
    expect([sandbox?.runtimeHandler, spec.overhead]).toEqual([SECOND_HANDLER, { cpu: "100m" }]);
    expect(config.linux?.overhead).toMatchObject({ cpu_period: 100_000, cpu_quota: 10_000, cpu_shares: 102 });
  });
});
