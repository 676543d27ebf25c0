/** Pods configured from ConfigMaps and Secrets that are manifests, on a real containerd. */
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

const PASSWORD = "correct horse";
const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "web" },
  data: { MODE: "fast", "a.b": "dots" },
};
const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "login" }, stringData: { password: PASSWORD } };
const waiting = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting;

describeOnContainerd("configured pods on containerd", (installation) => {
  const node = containerdNode(installation);

  it("wait for what is missing, say so, and see all of it once it is there", async () => {
    const { daemon } = node;
    const print = "tr '\\0' '\\n' </proc/1/environ | grep -E '^(MODE|a.b|PASSWORD|BOTH|NONE)=' | sort; pwd; echo end";
    const container = server("main", print, {
      workingDir: "/tmp",
      envFrom: [{ configMapRef: { name: "web" } }, { secretRef: { name: "none", optional: true } }],
      env: [
        { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "login", key: "password" } } },
        { name: "NONE", valueFrom: { configMapKeyRef: { name: "web", key: "none", optional: true } } },
        { name: "BOTH", value: "$(MODE) $(PASSWORD) $(NONE) $$(MODE)" },
      ],
    });
    await daemon.put("login.json", secret);
    await daemon.put("configured.json", manifest("configured", { containers: [container] }));
    const message = 'configmap "web" not found';
    const refused = await daemon.until("configured", (pod) => waiting(pod)?.message === message, "refused");
    expect(waiting(refused)).toEqual({ reason: "CreateContainerConfigError", message });
    expect(await daemon.events("configured")).toContainEqual(
      expect.objectContaining({ type: "Warning", reason: "Failed", message: `Error: ${message}` }),
    );
    await daemon.put("web.json", configMap);
    const pod = await daemon.until("configured", ({ status }) => status?.phase === "Running", "Running");
    expect(await node.untilOutput(pod, "main", "end")).toEqual([
      `BOTH=fast ${PASSWORD} $(NONE) $(MODE)`,
      "MODE=fast",
      `PASSWORD=${PASSWORD}`,
      "a.b=dots",
      "/tmp",
      "end",
    ]);
    expect(await daemon.metric('rxlet_manifest_problems{source="file"}')).toBe(0);
    const reported = [await daemon.log(), await daemon.metrics(), JSON.stringify(await daemon.pods())].join("\n");
    for (const text of [PASSWORD, btoa(PASSWORD)]) expect(reported).not.toContain(text);
  });

  it("take variables from a file an init container wrote, and never one outside of the volume", async () => {
    const { daemon } = node;
    const volumeMounts = [{ name: "data", mountPath: "/data" }];
    const ref = (path: string) => ({ volumeName: "data", path, key: "WORD" });
    const containerOf = (name: string, path: string) =>
      server(name, "echo $WORD; echo end", { env: [{ name: "WORD", valueFrom: { fileKeyRef: ref(path) } }] });
    const write = "echo \"WORD='hello'\" >/data/env; ln -s /../env /data/link; ln -s /etc/hostname /data/escape";
    const spec = {
      volumes: [{ name: "data", emptyDir: {} }],
      initContainers: [script("write", write, { volumeMounts })],
      containers: [containerOf("main", "link"), containerOf("other", "escape")],
    };
    await daemon.put("filed.json", manifest("filed", spec));
    const pod = await daemon.until(
      "filed",
      ({ status }) => status?.containerStatuses?.[1]?.state?.waiting?.reason === "CreateContainerConfigError",
      "half refused",
    );
    expect(pod.status?.containerStatuses?.[1]?.state?.waiting?.message).toBe("couldn't parse env file");
    expect(await node.untilOutput(pod, "main", "end")).toEqual(["hello", "end"]);
  });

  it("get a log line for a bad Secret that does not reveal its content", async () => {
    const { daemon } = node;
    const text = `apiVersion: v1\nkind: Secret\nmetadata: {name: login}\ndata:\n  password: "${PASSWORD}"\n`;
    await daemon.put("login.yaml", text);
    const problem = await waitFor("the Secret to be reported", async () =>
      (await daemon.logEntries()).find(({ origin }) => String(origin).endsWith("login.yaml")),
    );
    expect(problem).toMatchObject({
      level: "error",
      line: 5,
      field: "data[password]",
      reason: "must be base64 text, not a string",
    });
    expect(await daemon.log()).not.toContain(PASSWORD);
  });
});
