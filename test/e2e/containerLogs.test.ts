/** Logs of containers on containerd: which one a request gets, and what rotation does to them while they are followed. */
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { httpsNode } from "./httpsNode.ts";
import { manifest, script } from "./manifests.ts";

/** Whether a number up to the largest is missing. */
const isMissingAny = (seen: ReadonlySet<number>): boolean => seen.size < [...seen].reduce((a, b) => Math.max(a, b), 0);

describeOnContainerd("logs of containers on containerd", (installation) => {
  const kubelet = httpsNode(installation, {
    featureGates: { KubeletCrashLoopBackOffMax: true, PodLogsQuerySplitStreams: true },
    crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
    containerLogMaxSize: "100Ki",
    containerLogMaxFiles: 4,
    containerLogMonitorInterval: "3s",
  });
  const { node } = kubelet;
  const pathOf = ({ metadata: { name } }: Pod, query: string): string => `/containerLogs/default/${name}/main?${query}`;
  const text = async (pod: Pod, query: string): Promise<string> => (await kubelet.request(pathOf(pod, query))).body;
  /** The log, as it comes; to be destroyed. */
  async function follow(pod: Pod): Promise<IncomingMessage> {
    const { port, tls } = kubelet;
    const request = httpsRequest({
      host: "127.0.0.1",
      port,
      path: pathOf(pod, "follow=true"),
      agent: false,
      ...tls,
    }).end();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    return answer;
  }

  it("are of the container that runs, of the one before, and of either stream", async () => {
    const first = "echo first; echo oops >&2; printf unfinished; touch /state/seen; exit 1";
    const second = `echo second; exec sleep 3600`;
    const main = script("main", `if [ -f /state/seen ]; then ${second}; fi; ${first}`, {
      volumeMounts: [{ name: "state", mountPath: "/state" }],
    });
    await node.daemon.put(
      "twice.json",
      manifest("twice", { containers: [main], volumes: [{ name: "state", emptyDir: {} }] }),
    );
    const again = (pod: Pod): boolean => {
      const [found] = pod.status?.containerStatuses ?? [];
      return found?.state?.running !== undefined && found.restartCount === 1;
    };
    const pod = await node.daemon.until("twice", again, "running again");
    await node.untilOutput(pod, "main", "second", 1);
    expect(await text(pod, "")).toBe("second\n");
    // The two streams are merged as they come; a line of one may follow the unfinished line of the other.
    const previous = await text(pod, "previous=true");
    expect(previous).toHaveLength("first\nunfinishedoops\n".length);
    for (const line of ["first\n", "unfinished", "oops\n"]) expect(previous).toContain(line);
    expect(await text(pod, "previous=true&stream=Stdout")).toBe("first\nunfinished");
    expect(await text(pod, "previous=true&stream=Stderr")).toBe("oops\n");
    expect(await text(pod, "tailLines=1&timestamps=true")).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}\S+ second\n$/,
    );
    expect(await text(pod, "limitBytes=3")).toBe("sec");
  });

  it("lose nothing by rotation while they are followed, and go with the pod", async () => {
    const writes = "i=0; while :; do i=$((i+1)); echo line $i of many; [ $((i%200)) = 0 ] && sleep 0.05; done";
    await node.daemon.put("noisy.json", manifest("noisy", { containers: [script("main", writes)] }));
    const pod = await node.daemon.until("noisy", ({ status }) => status?.phase === "Running", "Running");
    const logs = join(node.folder, "logs", "pods", `default_${pod.metadata.name}_${pod.metadata.uid}`, "main");
    const followed = await follow(pod);
    let rest = "";
    /** Numbers of lines. On a busy machine the runtime writes the last ones of a file beside the first ones of the next. */
    const seen = new Set<number>();
    const wrong: string[] = [];
    for await (const piece of followed) {
      const texts = (rest + String(piece)).split("\n");
      rest = texts.pop() ?? "";
      for (const line of texts) {
        const number = Number(/^line (\d+) of many$/.exec(line)?.[1]);
        if (Number.isNaN(number) || seen.has(number)) wrong.push(line);
        seen.add(number);
      }
      const rotated = (await readdir(logs)).filter((name) => name.startsWith("0.log."));
      const isRotated = rotated.length === 3 && rotated.filter((name) => name.endsWith(".gz")).length === 2;
      if (isRotated && !isMissingAny(seen)) break;
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    const whole = (await text(pod, "")).trimEnd().split("\n");
    const [start = 0] = (whole[0] ?? "").match(/\d+/)?.map(Number) ?? [];
    expect(whole.filter((line, i) => line !== `line ${start + i} of many`).slice(0, 5)).toEqual([]);
    expect(await node.daemon.metric('rxlet_log_rotations_total{result="ok"}')).toBeGreaterThanOrEqual(3);
    const last = await follow(pod);
    await node.daemon.drop("noisy.json");
    expect((await buffer(last)).length).toBeGreaterThan(0);
    await waitFor(
      "its logs to be gone",
      async () => !(await readdir(join(node.folder, "logs", "pods"))).some((name) => name.includes("noisy")),
    );
  });
});
