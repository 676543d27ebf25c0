/** How containers end on containerd, and what a pod is called: pods of one test run side by side. */
import { readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { ApiContainerStatus, Container, Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

const statusOf = (pod: Pod, name = "main"): ApiContainerStatus | undefined =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].find(
    (status) => status.name === name,
  );

describeOnContainerd("ends and names of pods on containerd", (installation) => {
  const node = containerdNode(installation, { config: { clusterDomain: "cluster.local" } });
  const ended = (name: string): Promise<Pod> =>
    node.daemon.until(name, (pod) => statusOf(pod)?.state?.terminated !== undefined, "ended");

  it("tells of an end for lack of memory and of one past the active deadline, and kills what ignores TERM", async () => {
    const { daemon, folder } = node;
    const journal = { name: "journal", mountPath: "/journal" };
    // The runtime watches the memory of a container only after its start, and has to hear of the kill before it hears of
    // the end: the first process waits for both, and outlives the one that is killed.
    const eat = "until [ -e /journal/eat ]; do sleep 0.1; done; tail /dev/zero; code=$?; sleep 3; exit $code";
    const hungry = script("main", eat, { volumeMounts: [journal], resources: { limits: { memory: "16Mi" } } });
    const deaf = script("main", "trap 'echo term >>/journal/deaf' TERM; echo up; while :; do sleep 0.1; done", {
      volumeMounts: [journal],
      lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", "echo bye >>/journal/deaf; sleep 3600"] } } },
    });
    const volumes = [{ name: "journal", hostPath: { path: `${folder}/ends`, type: "DirectoryOrCreate" } }];
    await daemon.put("hungry.json", manifest("hungry", { restartPolicy: "Never", volumes, containers: [hungry] }));
    await daemon.put("short.json", manifest("short", { activeDeadlineSeconds: 2, containers: [server()] }));
    const spec = { terminationGracePeriodSeconds: 2, volumes, containers: [deaf] };
    await daemon.put("deaf.json", manifest("deaf", spec));

    await daemon.until("hungry", ({ status }) => status?.phase === "Running", "Running");
    await writeFile(`${folder}/ends/eat`, "");
    const oom = await ended("hungry");
    expect([oom.status?.phase, statusOf(oom)?.state?.terminated]).toMatchObject([
      "Failed",
      { exitCode: 137, reason: "OOMKilled" },
    ]);
    const late = await ended("short");
    const { phase, reason, message } = late.status ?? {};
    expect({ phase, reason, message }).toEqual({
      phase: "Failed",
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    });
    expect((await daemon.events("short")).map(({ type, reason }) => `${type} ${reason}`)).toContain(
      "Normal DeadlineExceeded",
    );
    const up = await daemon.until("deaf", ({ status }) => status?.phase === "Running", "Running");
    await node.untilOutput(up, "main", "up");
    await daemon.drop("deaf.json");
    await daemon.untilGone("deaf");
    expect(await readFile(`${folder}/ends/deaf`, "utf8")).toBe("bye\nterm\n");
  });

  it("lets a container serve on while its preStop hook sleeps, and signals it then", async () => {
    const { daemon, folder } = node;
    const file = join(folder, "sleepy", "journal");
    const lines = async (): Promise<readonly string[]> => (await readFile(file, "utf8")).trimEnd().split("\n");
    const serving =
      "trap 'echo term >>/journal/journal; exit' TERM; while :; do echo serve >>/journal/journal; sleep 0.1; done";
    const sleepy = script("main", serving, {
      volumeMounts: [{ name: "journal", mountPath: "/journal" }],
      lifecycle: { preStop: { sleep: { seconds: 2 } } },
    });
    const volumes = [{ name: "journal", hostPath: { path: dirname(file), type: "DirectoryOrCreate" } }];
    await daemon.put(
      "sleepy.json",
      manifest("sleepy", { terminationGracePeriodSeconds: 30, volumes, containers: [sleepy] }),
    );
    await waitFor("it to serve", async () => (await lines()).length > 0);
    await daemon.drop("sleepy.json");
    await waitFor("the stop to begin", async () =>
      (await daemon.events("sleepy")).some(({ reason }) => reason === "Killing"),
    );
    const { length } = await lines();
    await daemon.untilGone("sleepy");
    const after = (await lines()).slice(length);
    expect([after.slice(0, 5), after.at(-1), after.filter((line) => line === "term").length]).toEqual([
      Array.from({ length: 5 }, () => "serve"),
      "term",
      1,
    ]);
  });

  it("keeps so much of a container's last words: the last 4096 bytes of its file, 80 lines and 2048 bytes of its log", async () => {
    const { daemon } = node;
    const count = (line: string): string => `i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo ${line}; done`;
    const logged = { terminationMessagePolicy: "FallbackToLogsOnError" };
    const containers = [
      script("file", `(${count("line $i of far too many to keep")}) >/dev/termination-log; exit 1`),
      script("long", `${count("line $i of far too many to keep")}; exit 1`, logged),
      script("short", `${count("$i")}; exit 1`, logged),
    ];
    await daemon.put("worded.json", manifest("worded", { restartPolicy: "Never", containers }));
    const pod = await daemon.until("worded", ({ status }) => status?.phase === "Failed", "Failed");
    const words = containers.map(({ name }) => statusOf(pod, name)?.state?.terminated?.message);
    const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
    const lines = numbers.map((number) => `line ${number} of far too many to keep\n`).join("");
    const last80 = numbers.slice(-80).map((number) => `${number}\n`);
    expect(words).toEqual([lines.slice(-4096), lines.slice(-2048), last80.join("")]);
  });

  it("restarts every container in the existing sandbox when a container's rule requires it", async () => {
    const { daemon } = node;
    const rule = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [88] } };
    const watcher = script(
      "watcher",
      "[ -e /state/again ] && exec sleep 3600; touch /state/again; sleep 0.5; exit 88",
      {
        restartPolicy: "Never",
        restartPolicyRules: [rule],
        volumeMounts: [{ name: "state", mountPath: "/state" }],
      },
    );
    await daemon.put(
      "again.json",
      manifest("again", {
        restartPolicy: "Never",
        volumes: [{ name: "state", emptyDir: {} }],
        initContainers: [script("setup", "echo set up")],
        containers: [server("main", "echo up"), watcher],
      }),
    );
    const again = await daemon.until(
      "again",
      (pod) => pod.status?.phase === "Running" && statusOf(pod, "watcher")?.restartCount === 1,
      "restarted",
    );
    const { uid } = again.metadata;
    const running = await daemon.until(
      "again",
      (pod) => statusOf(pod)?.state?.running !== undefined && statusOf(pod, "watcher")?.state?.running !== undefined,
      "running again",
    );
    expect(["setup", "main", "watcher"].map((name) => statusOf(running, name)?.restartCount)).toEqual([1, 1, 1]);
    expect([(await node.sandboxes(uid)).length, (await node.containers(uid)).length]).toEqual([1, 3]);
    expect(await node.output(running, "setup", 1)).toEqual(["set up"]);
    expect(running.status?.conditions?.find(({ type }) => type === "AllContainersRestarting")?.status).toBe("False");
  });

  it("gives a pod its full name when it may, its own resolver settings, and the host's names on the host's network", async () => {
    const { daemon } = node;
    const tell = (text: string, more: Partial<Container> = {}): Container => server("main", `${text}; echo end`, more);
    const dnsConfig = {
      nameservers: ["192.0.2.53"],
      searches: ["one.example", "two.example"],
      options: [{ name: "ndots", value: "3" }, { name: "edns0" }],
    };
    await daemon.put(
      "named.json",
      manifest("named", {
        ...{ hostname: "web", subdomain: "site", setHostnameAsFQDN: true, dnsPolicy: "None", dnsConfig },
        containers: [tell("hostname; tail -n 1 /etc/hosts; cat /etc/resolv.conf")],
      }),
    );
    await daemon.put(
      "hosted.json",
      manifest("hosted", {
        hostNetwork: true,
        hostAliases: [{ ip: "192.0.2.7", hostnames: ["backend"] }],
        containers: [
          tell('hostname; echo "$IP"; head -n 1 /etc/hosts; tail -n 2 /etc/hosts', {
            env: [{ name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
          }),
        ],
      }),
    );
    const subdomain = "s".repeat(40);
    await daemon.put("long.json", manifest("long", { subdomain, setHostnameAsFQDN: true, containers: [server()] }));
    const running = (name: string): Promise<Pod> =>
      daemon.until(name, ({ status }) => status?.phase === "Running", "Running");

    const named = await running("named");
    const fqdn = "web.site.default.svc.cluster.local";
    expect(await node.untilOutput(named, "main", "end")).toEqual([
      fqdn,
      `${named.status?.podIP ?? ""}\t${fqdn}\tweb`,
      "search one.example two.example",
      "nameserver 192.0.2.53",
      "options ndots:3 edns0",
      "end",
    ]);
    const hosted = await running("hosted");
    expect(await node.untilOutput(hosted, "main", "end")).toEqual([
      hostname(),
      hosted.status?.hostIP,
      "# Kubernetes-managed hosts file (host network).",
      "# Entries added by HostAliases.",
      "192.0.2.7\tbackend",
      "end",
    ]);
    const long = `long-test-node.${subdomain}.default.svc.cluster.local`;
    const refused = await waitFor("its sandbox to be refused", async () => (await daemon.events("long")).at(-1));
    expect(refused).toEqual({
      type: "Warning",
      reason: "FailedCreatePodSandBox",
      message:
        "Failed to create pod sandbox: failed to construct FQDN from pod hostname and cluster domain, " +
        `FQDN ${long} is too long (64 characters is the max, ${long.length} characters requested)`,
    });
  });
});
