import { existsSync } from "node:fs";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom, forkJoin } from "rxjs";
import { beforeEach, describe, expect, it } from "vitest";
import type { ExecPlugin, TlsIdentity } from "../../../../src/core/api/clientConfig.ts";
import { epochMs, monotonicMs } from "../../../../src/core/ids.ts";
import { toKubeletError } from "../../../../src/core/errors.ts";
import type { Clock } from "../../../../src/ports/clock.ts";
import { createAuthorization } from "../../../../src/sinks/apiServer/authorization.ts";
import type { PluginEnd } from "../../../../src/sinks/apiServer/execAuthorization.ts";
import type { ApiAuthorization } from "../../../../src/sinks/apiServer/createApiServer.ts";
import { realClock } from "../../../support/realClock.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { waitFor } from "../../../support/waitFor.ts";

/** The real clock, ahead by what a test says. */
function clockAhead(): { readonly clock: Clock; aheadMs: number } {
  const ahead = {
    aheadMs: 0,
    clock: {
      scheduler: realClock.scheduler,
      monotonicMs: () => monotonicMs(realClock.monotonicMs() + ahead.aheadMs),
      wallTime: () => epochMs(realClock.wallTime() + ahead.aheadMs),
    },
  };
  return ahead;
}
const proofOf = async (authorization: ApiAuthorization): Promise<string> => {
  try {
    return (await firstValueFrom(authorization.headers()))["authorization"] ?? "nothing";
  } catch (thrown) {
    const { code, message } = toKubeletError(thrown);
    return `${code}: ${message}`;
  }
};

describe("a proof that does not change", () => {
  it("is a header, or none", async () => {
    const options = { clock: realClock, onIdentity: () => {} };
    const proofs = [
      await proofOf(createAuthorization({ kind: "none" }, options)),
      await proofOf(createAuthorization({ kind: "token", token: "t" }, options)),
      await proofOf(createAuthorization({ kind: "basic", username: "ü", password: "p" }, options)),
    ];
    expect(proofs).toEqual(["nothing", "Bearer t", `Basic ${Buffer.from("ü:p").toString("base64")}`]);
  });
});

describe("a token file", () => {
  const directory = temporaryDirectory();
  const start = () => {
    const file = join(directory(), "token");
    const ahead = clockAhead();
    const options = { clock: ahead.clock, onIdentity: () => {} };
    return { file, ahead, authorization: createAuthorization({ kind: "tokenFile", file }, options) };
  };

  it("is read again once the token is nearly a minute old", async () => {
    const { file, ahead, authorization } = start();
    await writeFile(file, "first\n");
    const proofs = [await proofOf(authorization)];
    await writeFile(file, "second\n");
    ahead.aheadMs = 45_000;
    proofs.push(await proofOf(authorization));
    ahead.aheadMs = 51_000;
    proofs.push(await proofOf(authorization));
    expect(proofs).toEqual(["Bearer first", "Bearer first", "Bearer second"]);
  });

  it("leaves the last token in use while it is missing or empty", async () => {
    const { file, ahead, authorization } = start();
    await writeFile(file, "first");
    const proofs = [await proofOf(authorization)];
    await rm(file);
    ahead.aheadMs = 60_000;
    proofs.push(await proofOf(authorization));
    await writeFile(file, " \n");
    proofs.push(await proofOf(authorization));
    expect(proofs).toEqual(["Bearer first", "Bearer first", "Bearer first"]);
  });

  it("is an error when it never had a token", async () => {
    const { file, authorization } = start();
    const missing = await proofOf(authorization);
    await writeFile(file, "");
    expect([missing, await proofOf(authorization)]).toEqual([
      `NotFound: cannot read ${file}: ENOENT`,
      `PermissionDenied: read empty token from file ${file}`,
    ]);
  });
});

describe("an exec plugin", () => {
  const directory = temporaryDirectory();
  const identities: TlsIdentity[] = [];
  const ends: string[] = [];
  beforeEach(() => void ends.splice(0));
  const start = async (script: string, more: Partial<ExecPlugin> = {}) => {
    const command = join(directory(), "login");
    await writeFile(command, `#!/bin/sh\necho run >>"${directory()}/runs"\n${script}\n`);
    await chmod(command, 0o755);
    const plugin: ExecPlugin = {
      apiVersion: "client.authentication.k8s.io/v1",
      command,
      args: ["arg"],
      env: { WHO: "n1" },
      installHint: "get it there",
      cluster: undefined,
      ...more,
    };
    const ahead = clockAhead();
    const onIdentity = (identity: TlsIdentity) => void identities.push(identity);
    const onRun = ({ status, code }: PluginEnd) => void ends.push(`${status} ${code}`);
    const authorization = createAuthorization({ kind: "exec", plugin }, { clock: ahead.clock, onIdentity, onRun });
    const runs = async () => (await readFile(`${directory()}/runs`, "utf8")).trim().split("\n").length;
    return { authorization, ahead, runs, command };
  };
  const prints = (status: string) =>
    `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}'`;

  it("receives the user of the request, and runs once for simultaneous requests", async () => {
    const { authorization, runs } = await start(
      [
        'case "$KUBERNETES_EXEC_INFO" in *\'"interactive":false\'*) ;; *) exit 9 ;; esac',
        'echo "{\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"$1-$WHO\\"}}"',
      ].join("\n"),
    );
    const both = await firstValueFrom(forkJoin([authorization.headers(), authorization.headers()]));
    const later = await proofOf(authorization);
    expect([both.map(({ authorization: proof }) => proof), later, await runs()]).toEqual([
      ["Bearer arg-n1", "Bearer arg-n1"],
      "Bearer arg-n1",
      1,
    ]);
  });

  it("is run again when what it gave is over, or was refused", async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { authorization, ahead, runs } = await start(prints(`{"token":"t","expirationTimestamp":"${soon}"}`));
    const counts: number[] = [];
    const use = async () => {
      await proofOf(authorization);
      counts.push(await runs());
    };
    await use();
    await use();
    authorization.rejected();
    await use();
    ahead.aheadMs = 3_600_001;
    await use();
    expect(counts).toEqual([1, 1, 2, 3]);
  });

  it("gives a certificate to the connections before the request goes", async () => {
    const { authorization } = await start(prints('{"clientCertificateData":"c","clientKeyData":"k"}'));
    expect([await proofOf(authorization), identities]).toEqual(["nothing", [{ certificate: "c", key: "k" }]]);
  });

  it("is killed when no request waits for it any more, also if it ignores SIGTERM", async () => {
    const { authorization } = await start(`trap '' TERM; echo $$ >"${directory()}/pid"; exec sleep 600`);
    const waiting = authorization.headers().subscribe({ error: () => {} });
    const pid = await waitFor(
      "the plugin to run",
      async () => Number(await readFile(join(directory(), "pid"), "utf8").catch(() => "")) || undefined,
    );
    waiting.unsubscribe();
    await waitFor("the plugin to end", () => !existsSync(`/proc/${pid}`));
  });

  it("says what went wrong, in the plugin's last words", async () => {
    const failing = await start("echo no network >&2; exit 3");
    const proofs = [await proofOf(failing.authorization)];
    const silent = await start("true");
    proofs.push(await proofOf(silent.authorization));
    const missing = await start("", { command: "/nowhere/login" });
    proofs.push(await proofOf(missing.authorization));
    const killed = await start("kill -9 $$", { args: ["--token=hunter2"] });
    proofs.push(await proofOf(killed.authorization));
    expect(proofs).toEqual([
      `PermissionDenied: exec plugin ${failing.command}: it ended with code 3: no network`,
      `PermissionDenied: exec plugin ${silent.command}: its output is not a JSON object`,
      "PermissionDenied: exec plugin /nowhere/login: it could not be run: ENOENT\nget it there",
      `PermissionDenied: exec plugin ${killed.command}: it was ended by SIGKILL`,
    ]);
    expect(ends).toEqual([
      "plugin_execution_error 3",
      "no_error 0",
      "plugin_not_found_error 1",
      "client_internal_error 1",
    ]);
  });
});
