/** kubectl at the HTTPS server on a real containerd, through a stand-in for the API server: WebSockets, as users have it. */
import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { expectHundredForwards, KUBECTL, kubectlAt } from "../support/kubectl.ts";
import { type KubectlGateway, openKubectlGateway } from "../support/kubectlGateway.ts";
import { httpsNode } from "./httpsNode.ts";
import { manifest, script, server, UNTIL_TERM } from "./manifests.ts";

const isRunning = ({ status }: Pod) => status?.phase === "Running";
/** Bytes copied in and out; RXLET_COPY_BYTES for more. */
const COPIED_BYTES = Number(process.env["RXLET_COPY_BYTES"] ?? 20_000_000);
/** kubectl reads before it has made its streams, and drops the first bytes with a message: an empty chunk of stdout. */
const EARLY_MESSAGE = /^E\d{4} .* websocket\.go:\d+\] Unknown stream id \d, discarding message\n/gm;
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describeOnContainerd(
  "kubectl at the HTTPS server on containerd",
  (installation) => {
    const kubelet = httpsNode(installation);
    const { node } = kubelet;
    let gateway: KubectlGateway | undefined;
    beforeAll(async () => {
      const target = { host: "127.0.0.1", port: kubelet.port, ...kubelet.tls };
      gateway = await openKubectlGateway(target, () => node.daemon.pods());
    });
    afterAll(() => gateway?.close());

    const client = kubectlAt(
      () => gateway?.url,
      () => node.folder,
    );
    const { start, run: kubectl } = client;
    const webPod = async (): Promise<string> => {
      await node.daemon.put("web.json", manifest("web", { containers: [server()] }));
      return (await node.daemon.until("web", isRunning, "Running")).metadata.name;
    };

    it("execs: outputs, exit code, the end of the input", async () => {
      const pod = await webPod();
      const failed = await kubectl(["exec", pod, "--", "sh", "-c", "echo out; echo err >&2; exit 3"]);
      expect([failed.text, failed.errors, failed.code]).toEqual([
        "out\n",
        "err\ncommand terminated with exit code 3\n",
        3,
      ]);
      const counted = await kubectl(["exec", "-i", pod, "--", "sh", "-c", "cat; echo end"], "some input\n");
      expect([counted.text, counted.code]).toEqual(["some input\nend\n", 0]);
    });

    it("shows logs, and follows them until the pod goes", async () => {
      const talks = script("main", `echo one; echo two >&2; ${UNTIL_TERM}`);
      await node.daemon.put("talks.json", manifest("talks", { containers: [talks] }));
      const pod = await node.daemon.until("talks", isRunning, "Running");
      await node.untilOutput(pod, "main", "two");
      const { name } = pod.metadata;
      const shown = await kubectl(["logs", name]);
      expect([shown.text.split("\n").sort(), shown.errors, shown.code]).toEqual([["", "one", "two"], "", 0]);
      expect((await kubectl(["logs", "--tail=1", "--timestamps", name])).text).toMatch(
        /^\d{4}-\d\d-\d\dT\S+ (one|two)\n$/,
      );
      // An API server would put the kubelet's own words into it.
      expect((await kubectl(["logs", "--previous", name])).errors).toContain("BadRequest");
      const follower = start("logs", "--follow", name);
      const exited = new Promise<number>((resolve) => follower.on("exit", (code) => resolve(code ?? -1)));
      const followed = new Promise<string>((resolve) => {
        let text = "";
        follower.stdout.on("data", (piece) => {
          if (text === "") void node.daemon.drop("talks.json");
          text += String(piece);
        });
        follower.stdout.on("end", () => resolve(text));
      });
      expect([(await followed).split("\n").sort(), await exited]).toEqual([["", "one", "two"], 0]);
    });

    it("copies bytes in and out as they are", async () => {
      const pod = await webPod();
      const bytes = randomBytes(COPIED_BYTES);
      const startedAt = performance.now();
      const copied = await kubectl(["exec", "-i", pod, "--", "sh", "-c", "cat > /data; sha256sum < /data"], bytes);
      const between = performance.now();
      expect([copied.text.split(" ")[0], copied.code]).toEqual([sha256(bytes), 0]);
      const back = await kubectl(["exec", pod, "--", "cat", "/data"]);
      expect([back.stdout.length, sha256(back.stdout), back.code]).toEqual([bytes.length, sha256(bytes), 0]);
      const speed = (ms: number) => `${(COPIED_BYTES / 1000 / ms).toFixed(1)} MB/s`;
      if (process.env["RXLET_COPY_BYTES"] !== undefined) {
        process.stderr.write(`in ${speed(between - startedAt)}, out ${speed(performance.now() - between)}\n`);
      }
    });

    it("copies files in and out with cp, as they are", async () => {
      const pod = await webPod();
      const [sent, back] = [join(node.folder, "sent"), join(node.folder, "back")];
      const bytes = randomBytes(COPIED_BYTES);
      await writeFile(sent, bytes);
      for (const [from, to] of [
        [sent, `${pod}:/copied`],
        [`${pod}:/copied`, back],
      ] as const) {
        const { code, errors } = await kubectl(["cp", "--retries=0", from, to]);
        expect([code, errors.replaceAll(EARLY_MESSAGE, "")]).toEqual([0, ""]);
      }
      expect(sha256(await readFile(back))).toBe(sha256(bytes));
    });

    it("attaches", async () => {
      const main = script("main", "read line; echo heard $line; exit 5", { stdin: true, stdinOnce: true });
      await node.daemon.put("echo.json", manifest("echo", { restartPolicy: "Never", containers: [main] }));
      const { metadata } = await node.daemon.until("echo", isRunning, "Running");
      const { text } = await kubectl(["attach", "-i", metadata.name], "you\n");
      expect(text).toContain("heard you\n");
    });

    it("forwards a hundred connections at once through one", async () => {
      await node.daemon.put("net.json", manifest("net", { hostNetwork: true, containers: [server()] }));
      const { metadata } = await node.daemon.until("net", isRunning, "Running");
      await expectHundredForwards(client, metadata.name);
    });
  },
  KUBECTL === undefined ? ["kubectl (Debian: kubernetes-client)"] : [],
);
