/** Manifests on a real containerd: created, edited, half-written and removed, and what the machine shows of them. */
import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { podLogDir } from "../../src/core/paths.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode, NO_TRACES, podLogFolder, waitForTraces } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

describeOnContainerd("manifests on containerd", (installation) => {
  const node = containerdNode(installation);

  it("runs a pod with everything at its place, and removes all of it with its manifest", async () => {
    const { daemon } = node;
    await daemon.put("one.json", manifest("one", { containers: [server("main", "echo hello")] }));
    const pod = await daemon.until("one", ({ status }) => status?.phase === "Running", "Running");
    const { uid } = pod.metadata;
    await node.untilOutput(pod, "main", "hello");
    const [container] = await node.containers(uid);
    const id = container?.id ?? "";
    const link = `one-test-node_default_main-${id}.log`;
    expect(pod.status?.containerStatuses?.map(({ containerID }) => containerID)).toEqual([`containerd://${id}`]);
    expect(await node.traces()).toEqual({
      sandboxes: [container?.podSandboxId],
      containers: [id],
      podDirs: [uid],
      logDirs: [`default_one-test-node_${uid}`],
      logLinks: [link],
      cgroups: [`pod${uid}`],
    });
    const log = join(podLogFolder(node.folder, pod), "main", "0.log");
    expect(podLogDir({ podLogsDir: join(node.folder, "logs", "pods") }, pod.metadata)).toBe(
      podLogFolder(node.folder, pod),
    );
    expect(await readlink(join(node.folder, "logs", "containers", link))).toBe(log);
    expect(await readFile(log, "utf8")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}\S+ stdout F hello\n$/);
    await daemon.drop("one.json");
    await daemon.untilGone("one");
    expect(await node.traces()).toEqual(NO_TRACES);
  });

  it("ends the old incarnation before the new one starts when a manifest is edited", async () => {
    const { daemon, folder } = node;
    await mkdir(join(folder, "journal"));
    const journal = join(folder, "journal", "lines");
    const edited = (word: string): unknown =>
      manifest("edited", {
        volumes: [{ name: "journal", hostPath: { path: join(folder, "journal") } }],
        containers: [
          script(
            "main",
            `echo ${word} starts >>/journal/lines; trap 'sleep 0.3; echo ${word} ends >>/journal/lines; exit 0' TERM
             while :; do sleep 3600 & wait $!; done`,
            { volumeMounts: [{ name: "journal", mountPath: "/journal" }] },
          ),
        ],
      });
    const started = (word: string): Promise<boolean> =>
      waitFor(`${word} to start`, async () => (await readFile(journal, "utf8")).includes(`${word} starts`));
    await daemon.put("edited.json", edited("first"));
    await started("first");
    const first = await daemon.until("edited", ({ status }) => status?.phase === "Running", "Running");
    await daemon.put("edited.json", edited("second"));
    await started("second");
    await daemon.overwrite("edited.json", edited("third"));
    await started("third");
    const third = await daemon.until(
      "edited",
      ({ metadata, status }) => metadata.uid !== first.metadata.uid && status?.phase === "Running",
      "Running again",
    );
    await waitFor("the earlier incarnations to be gone", async () => (await daemon.pods()).length === 1);
    expect((await node.traces()).podDirs).toEqual([third.metadata.uid]);
    await daemon.drop("edited.json");
    await daemon.untilGone("edited");
    expect((await readFile(journal, "utf8")).trimEnd().split("\n")).toEqual(
      ["first", "second", "third"].flatMap((word) => [`${word} starts`, `${word} ends`]),
    );
  });

  it("resizes a pod in place when nothing but the size in a manifest that states its UID is edited", async () => {
    const sized = (cpu: string, memory: string) =>
      manifest(
        "grows",
        { containers: [server("main", ":", { resources: { limits: { cpu, memory } } })] },
        { uid: "aaaaaaaa-0000-4000-8000-000000000001" },
      );
    const mainOf = ({ status }: Pod) => status?.containerStatuses?.[0];
    await node.daemon.put("grows.json", sized("50m", "32Mi"));
    const before = await node.daemon.until("grows", (pod) => mainOf(pod)?.ready === true, "ready");
    await node.daemon.put("grows.json", sized("80m", "48Mi"));
    const isGrown = (pod: Pod): boolean =>
      mainOf(pod)?.allocatedResources?.["cpu"] === "80m" &&
      (pod.status?.conditions ?? []).every(({ type }) => !type.startsWith("PodResize"));
    const after = await node.daemon.until("grows", isGrown, "grown");
    expect([mainOf(after)?.containerID, mainOf(after)?.restartCount, mainOf(after)?.resources]).toEqual([
      mainOf(before)?.containerID,
      0,
      { limits: { cpu: "80m", memory: "48Mi" }, requests: { cpu: "80m", memory: "48Mi" } },
    ]);
  });

  it("does not touch a pod whose manifest is rewritten with the same meaning", async () => {
    const { daemon } = node;
    const same = manifest("same", { containers: [server()] });
    await daemon.put("same.json", same);
    const before = await daemon.until("same", ({ status }) => status?.phase === "Running", "Running");
    await daemon.put("same.json", JSON.stringify(same, undefined, 2));
    // A later manifest shows that the directory was read since.
    await daemon.put("later.json", manifest("later", { containers: [server()] }));
    await daemon.until("later", ({ status }) => status?.phase === "Running", "Running");
    expect(await daemon.pod("same")).toEqual(before);
  });

  it("keeps the last good pod while a manifest is half-written, and follows once it is whole", async () => {
    const { daemon, folder } = node;
    const whole = `apiVersion: v1
kind: Pod
metadata:
  name: halved
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: rxlet.test/busybox:1
    command: ["/bin/sh", "-c", "trap exit TERM; sleep 3600 & wait"]
`;
    await daemon.put("halved.yaml", whole);
    const before = await daemon.until("halved", ({ status }) => status?.phase === "Running", "Running");
    const half = `${whole.slice(0, whole.indexOf("trap exit"))}trap`;
    await daemon.overwrite("halved.yaml", half);
    const problem = await waitFor("the half-written manifest to be reported", async () =>
      (await daemon.logEntries()).find(({ level, msg }) => msg === "Manifest problem" && level === "error"),
    );
    expect(problem).toMatchObject({
      level: "error",
      source: "file",
      origin: join(folder, "manifests", "halved.yaml"),
      line: 10,
    });
    const problems = 'rxlet_manifest_problems{source="file"}';
    expect(await daemon.metric(problems)).toBeGreaterThan(0);
    expect(await daemon.pod("halved")).toEqual(before);
    await daemon.overwrite("halved.yaml", whole.replace("3600", "3601"));
    await daemon.until(
      "halved",
      ({ metadata, status }) => metadata.uid !== before.metadata.uid && status?.phase === "Running",
      "Running as a new pod",
    );
    expect(await daemon.metric(problems)).toBe(0);
  });

  it("creates and removes pods in bursts, and what only an earlier daemon's files tell of goes too", async () => {
    const { daemon, folder } = node;
    const names = Array.from({ length: 10 }, (_, index) => `burst-${index}`);
    for (const name of names) await daemon.put(`${name}.json`, manifest(name, { containers: [server()] }));
    for (const name of names) await daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
    await daemon.dropAll();
    await waitForTraces(node.traces, NO_TRACES);
    await daemon.kill();
    const left = [
      join(folder, "kubelet", "pods", "0123456789abcdef", "volumes"),
      join(folder, "logs", "pods", "default_gone_0123456789abcdef", "main"),
    ];
    for (const path of left) await mkdir(path, { recursive: true });
    await writeFile(join(left[1] ?? "", "0.log"), "");
    await daemon.restart();
    await waitForTraces(node.traces, NO_TRACES);
  });
});
