/** kubectl's streams on the embedded runtime, through the kubelet's HTTPS server, by WebSocket and by SPDY. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { type EmbeddedRuntime, runEmbeddedRuntime } from "../../src/embeddedRuntime/runEmbeddedRuntime.ts";
import { createTestAuthority } from "../support/apiServer/certificates.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { expectHundredForwards, KUBECTL, kubectlAt, type StreamProtocol } from "../support/kubectl.ts";
import { type KubectlGateway, openKubectlGateway } from "../support/kubectlGateway.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { freePort } from "../support/ports.ts";

const isRunning = ({ status }: Pod) => status?.phase === "Running";
const HOST = { image: "rxlet.dev/host" };
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const PROTOCOLS: readonly StreamProtocol[] = ["WebSocket", "SPDY"];

const TITLE = "kubectl on the embedded runtime";
const MISSING = KUBECTL === undefined ? ["kubectl"] : [];

describe.skipIf(mustSkip(TITLE, MISSING))(TITLE, () => {
  let folder = "";
  let runtime: EmbeddedRuntime | undefined;
  let daemon: Daemon | undefined;
  let gateway: KubectlGateway | undefined;
  let pod = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-ek-"));
    const socketPath = join(folder, "runtime.sock");
    runtime = await runEmbeddedRuntime({ socketPath, stateDir: join(folder, "runtime") });
    const port = await freePort();
    const authority = await createTestAuthority();
    const [serving, admin] = [await authority.server(), await authority.client({ commonName: "admin" })];
    await writeFile(join(folder, "ca.crt"), authority.certificate);
    await writeFile(join(folder, "server.crt"), serving.certificate);
    await writeFile(join(folder, "server.key"), serving.key);
    const started = await startDaemon({
      folder,
      endpoint: `unix://${socketPath}`,
      args: [
        ...["--enable-server", `--port=${port}`, "--authorization-mode=AlwaysAllow"],
        ...[`--client-ca-file=${folder}/ca.crt`, `--cert-dir=${folder}/pki`],
        ...[`--tls-cert-file=${folder}/server.crt`, `--tls-private-key-file=${folder}/server.key`],
      ],
    });
    daemon = started;
    const tls = { ca: authority.certificate, cert: admin.certificate, key: admin.key };
    gateway = await openKubectlGateway({ host: "127.0.0.1", port, ...tls }, () => started.pods());
    const main = script("main", UNTIL_TERM, { ...HOST, env: [{ name: "GREETING", value: "hello" }] });
    await started.put("web.json", manifest("web", { containers: [main] }));
    pod = (await started.until("web", isRunning, "Running")).metadata.name;
  });
  afterAll(async () => {
    await gateway?.close();
    await daemon?.kill("SIGTERM");
    await runtime?.close({ stopContainers: true, graceMs: 0 });
    await removeFolder(folder);
  });

  describe.each(PROTOCOLS)("by %s", (protocol) => {
    const kubectl = kubectlAt(
      () => gateway?.url,
      () => folder,
      protocol,
    );
    const { run } = kubectl;

    it("execs: environment, outputs, exit code", async () => {
      const { text, errors, code } = await run(["exec", pod, "--", "sh", "-c", "echo $GREETING; echo err >&2; exit 3"]);
      expect([text, errors, code]).toEqual(["hello\n", "err\ncommand terminated with exit code 3\n", 3]);
    });

    it("copies bytes in to their end and out as they are", async () => {
      const bytes = randomBytes(20_000_000);
      const file = join(folder, `copied-by-${protocol}`);
      const copied = await run(["exec", "-i", pod, "--", "sh", "-c", `cat > ${file}; sha256sum < ${file}`], bytes);
      expect([copied.text.split(" ")[0], copied.errors, copied.code]).toEqual([sha256(bytes), "", 0]);
      const back = await run(["exec", pod, "--", "cat", file]);
      expect([sha256(back.stdout), back.code]).toEqual([sha256(bytes), 0]);
    });

    it("says that there is no such program", async () => {
      const missing = await run(["exec", pod, "--", "no-such-program"]);
      expect([missing.errors, missing.code]).toEqual([
        expect.stringContaining('exec: "no-such-program": executable file not found in $PATH'),
        1,
      ]);
    });

    it("attaches", async () => {
      const name = `echo-${protocol.toLowerCase()}`;
      const main = script("main", "read line; echo heard $line; exit 5", { ...HOST, stdin: true, stdinOnce: true });
      await daemon?.put(`${name}.json`, manifest(name, { restartPolicy: "Never", containers: [main] }));
      const started = await daemon?.until(name, isRunning, "Running");
      const { text } = await run(["attach", "-i", started?.metadata.name ?? ""], "you\n");
      expect(text).toContain("heard you\n");
    });

    it("forwards a hundred connections at once through one", async () => {
      await expectHundredForwards(kubectl, pod);
    });
  });
});
