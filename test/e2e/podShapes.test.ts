/** Runtime configuration derived from a pod: command lines, its fields as variables, resolver settings, names, cgroups and scores. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Container, Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { cgroupFolders } from "../support/kernelState.ts";
import { BUSYBOX_IMAGE } from "../support/images.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, server, UNTIL_TERM } from "./manifests.ts";

const MIB = 1024 ** 2;

describeOnContainerd("shapes of pods on containerd", (installation) => {
  const node = containerdNode(installation, { config: { clusterDNS: ["192.0.2.10"], clusterDomain: "cluster.local" } });
  const put = (name: string, spec: Partial<Pod["spec"]>, metadata = {}): Promise<void> =>
    node.daemon.put(`${name}.json`, manifest(name, spec, metadata));
  const running = (name: string): Promise<Pod> =>
    node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
  const tell = (text: string, more: Partial<Container> = {}): Container => server("main", `${text}; echo end`, more);
  const reported = async (name: string): Promise<readonly string[]> =>
    (await node.untilOutput(await running(name), "main", "end")).slice(0, -1);

  it("expands variables in command and arguments, and has every field of the pod as a variable", async () => {
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const resource = (name: string, from: string, divisor: string) => ({
      name,
      valueFrom: { resourceFieldRef: { resource: from, divisor } },
    });
    await node.daemon.put("words.json", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "words" },
      data: { GREETING: "hello" },
    });
    const env = [
      { name: "WORD", value: "one two" },
      field("NAMESPACE", "metadata.namespace"),
      field("UID", "metadata.uid"),
      field("NOTE", "metadata.annotations['note']"),
      field("ACCOUNT", "spec.serviceAccountName"),
      field("HOST", "status.hostIP"),
      field("HOSTS", "status.hostIPs"),
      field("IPS", "status.podIPs"),
      resource("ASKED", "requests.memory", "1Ki"),
      resource("ROUNDED", "limits.cpu", "1"),
    ];
    const print = 'printf "%s\\n" "$0" "$@" "$PRE_GREETING" "$NOTE" "$ACCOUNT" "$ASKED" "$ROUNDED"';
    const fields = 'printf "%s\\n" "$NAMESPACE" "$UID" "$HOST" "$HOSTS" "$IPS"';
    const main: Container = {
      name: "main",
      image: BUSYBOX_IMAGE,
      command: ["/bin/sh", "-c", `${print}; ${fields}; echo end; ${UNTIL_TERM}`, "$(WORD)"],
      args: ["$$(WORD)", "$(NONE)", "a $(WORD)", "$(PRE_GREETING)"],
      envFrom: [{ prefix: "PRE_", configMapRef: { name: "words" } }],
      env,
      resources: { requests: { memory: "2Mi" }, limits: { cpu: "1200m" } },
    };
    await put("worded", { containers: [main] }, { annotations: { note: "of mine" } });
    const lines = await reported("worded");
    const { metadata, status } = await running("worded");
    expect(lines.slice(0, 10)).toEqual([
      ...["one two", "$(WORD)", "$(NONE)", "a one two", "hello"],
      ...["hello", "of mine", "", "2048", "2"],
    ]);
    expect(lines.slice(10)).toEqual([
      "default",
      metadata.uid,
      status?.hostIP,
      status?.hostIPs?.map(({ ip }) => ip).join(),
      status?.podIPs?.map(({ ip }) => ip).join(),
    ]);
  });

  it("has the resolver of the cluster or the node, and gets events for settings over the limits", async () => {
    const print = "grep -E '^(nameserver|search)' /etc/resolv.conf";
    const own = Array.from({ length: 32 }, (_, index) => `zone-${index}.example`);
    const containers = [tell(print)];
    await put("cluster", { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet", containers });
    await put("hosted", { hostNetwork: true, dnsPolicy: "ClusterFirst", containers });
    await put("default", { dnsPolicy: "Default", containers });
    await put("many", { dnsPolicy: "ClusterFirst", dnsConfig: { searches: own }, containers });
    const ofNode = readFileSync("/etc/resolv.conf", "utf8")
      .split("\n")
      .filter((line) => line.startsWith("nameserver "));
    const ofCluster = "default.svc.cluster.local svc.cluster.local cluster.local";
    const servers = async (name: string) => (await reported(name)).filter((line) => line.startsWith("nameserver"));
    expect(await reported("cluster")).toEqual([
      expect.stringMatching(new RegExp(`^search ${ofCluster}`)),
      "nameserver 192.0.2.10",
    ]);
    expect([await servers("hosted"), await servers("default")]).toEqual([ofNode, ofNode]);
    const [line = ""] = await reported("many");
    expect(line.startsWith(`search ${ofCluster} `)).toBe(true);
    expect(line.split(" ").length).toBe(1 + 32);
    expect((await node.daemon.events("many")).find(({ reason }) => reason === "DNSConfigForming")?.message).toBe(
      "Search Line limits were exceeded, some search paths have been omitted, " +
        `the applied search line is: ${line.replace("search ", "")}`,
    );
  });

  it("has the name that its override says, whatever else it says of its name", async () => {
    const named = { hostname: "web", subdomain: "site", hostnameOverride: "db.example.com" };
    await put("overridden", { ...named, containers: [tell("hostname; tail -n 1 /etc/hosts")] });
    const lines = await reported("overridden");
    const { status } = await running("overridden");
    expect(lines).toEqual(["db.example.com", `${status?.podIP}\tdb.example.com`]);
  });

  it("is in the cgroup of its class, with limits of the whole pod, and scored by class for the OOM killer", async () => {
    const size = { cpu: "100m", memory: "32Mi" };
    const whole = { requests: size, limits: { cpu: "200m", memory: "64Mi" } };
    await put("besteffort", { containers: [server()] });
    await put("burstable", { resources: whole, containers: [server()] });
    await put("guaranteed", { containers: [server("main", ":", { resources: { requests: size, limits: size } })] });
    const shapeOf = async (name: string) => {
      const { metadata, status } = await running(name);
      const [container] = await node.containers(metadata.uid);
      const [sandbox] = await node.sandboxes(metadata.uid);
      const { linux } = await node.containerConfig(container?.id ?? "");
      const parent = (await node.sandboxInfo(sandbox?.id ?? "")).config.linux?.cgroup_parent ?? "";
      return { uid: metadata.uid, status, parent, resources: linux?.resources ?? {} };
    };
    const kubepods = `${node.containerd.cgroupParent}/kubepods`;
    const [besteffort, burstable, guaranteed] = [
      await shapeOf("besteffort"),
      await shapeOf("burstable"),
      await shapeOf("guaranteed"),
    ];
    expect([besteffort, burstable, guaranteed].map(({ status, parent }) => [status?.qosClass, parent])).toEqual([
      ["BestEffort", `${kubepods}/besteffort/pod${besteffort.uid}`],
      ["Burstable", `${kubepods}/burstable/pod${burstable.uid}`],
      ["Guaranteed", `${kubepods}/pod${guaranteed.uid}`],
    ]);
    expect([besteffort, guaranteed].map(({ resources }) => resources["oom_score_adj"])).toEqual([1000, -997]);
    const score = Number(burstable.resources["oom_score_adj"]);
    expect([score > 2, score < 1000]).toEqual([true, true]);
    // A container without limits of its own has those of its pod.
    expect(burstable.resources).toMatchObject({ cpu_quota: 20_000, memory_limit_in_bytes: 64 * MIB });
    expect(burstable.status?.resources).toEqual(whole);
    const limits = cgroupFolders(burstable.parent).flatMap((folder) =>
      ["memory.limit_in_bytes", "memory.max"].flatMap((file) => {
        try {
          return [readFileSync(join(folder, file), "utf8").trim()];
        } catch {
          return []; // Another controller's hierarchy, or the other version's file.
        }
      }),
    );
    expect(limits).toEqual([String(64 * MIB)]);
    // A container without huge page requests gets a limit of zero for each page size of the machine.
    const pages = (guaranteed.resources["hugepage_limits"] ?? []) as readonly Readonly<Record<string, unknown>>[];
    expect(pages.map(({ page_size: size, limit = 0 }) => `${size} ${limit}`).sort()).toEqual(
      hugePageSizes().map((size) => `${size} 0`),
    );
  });
});

/** Sizes of huge pages, as cgroups name them. */
function hugePageSizes(): readonly string[] {
  const folder = "/sys/kernel/mm/hugepages";
  const kib = (existsSync(folder) ? readdirSync(folder) : []).map((name) =>
    Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]),
  );
  return kib.map((size) => (size < 1024 ? `${size}KB` : size < MIB ? `${size / 1024}MB` : `${size / MIB}GB`)).sort();
}
