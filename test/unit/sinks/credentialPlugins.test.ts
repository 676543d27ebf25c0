import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import { toKubeletError } from "../../../src/core/errors.ts";
import { createCredentialPlugins } from "../../../src/sinks/credentialPlugins.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("a credential plugin", () => {
  const directory = temporaryDirectory();
  const plugin = async (script: string) => {
    const file = join(directory(), "plugin");
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return createCredentialPlugins(directory());
  };
  const command = { name: "plugin", args: ["get", "a b"], env: { REGION: "eu" } };
  const answer = async (script: string): Promise<string> => {
    const plugins = await plugin(script);
    return firstValueFrom(plugins.run(command, "request")).catch((thrown: unknown) => toKubeletError(thrown).message);
  };

  it("passes request, arguments and environment to the plugin and returns its output", async () => {
    expect(await answer('echo "$(cat) $# $1 $2 $REGION ${PATH:+path}"')).toBe("request 2 get a b eu path\n");
  });

  it("may leave the request unread", async () => expect(await answer("echo done")).toBe("done\n"));

  it.each([
    ["cat >/dev/null; echo no access >&2; echo secret; exit 3", "exit status 3: no access"],
    ["kill -9 $$", "signal: SIGKILL"],
    ["head -c 2000000 /dev/zero", "it printed more than 1048576 bytes"],
  ])("fails when it does: %s", async (script, message) => expect(await answer(script)).toBe(message));

  it("fails when it is not there", async () => {
    const run$ = createCredentialPlugins(directory()).run({ ...command, name: "absent" }, "");
    const thrown = await firstValueFrom(run$).catch((error: unknown) => toKubeletError(error).message);
    expect(thrown).toBe("it cannot be run: ENOENT");
  });

  it("is killed when nobody waits for it any more, also if it ignores SIGTERM", async () => {
    const plugins = await plugin(`trap '' TERM; echo $$ >${directory()}/pid; exec sleep 600`);
    const waiting = plugins.run(command, "").subscribe({ error: () => {} });
    const pid = await waitFor(
      "the plugin to run",
      async () => Number(await readFile(join(directory(), "pid"), "utf8")) || undefined,
    );
    waiting.unsubscribe();
    await waitFor("the plugin to end", () => !isAlive(pid));
  });
});
