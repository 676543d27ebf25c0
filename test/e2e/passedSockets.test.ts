/** A daemon does not start with sockets of a service manager that it cannot use, and says why. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { removeFolder } from "../support/removeFolder.ts";

describe("a daemon with sockets of a service manager", () => {
  let folder: string;
  let server: Server;
  /** Starts it with these descriptors from 3 on. The shell knows the process ID that the daemon has. */
  const refusal = (descriptors: readonly number[], names: string, ...flags: readonly string[]): string => {
    const program = [process.execPath, BUILT_MAIN, `--root-dir=${folder}/kubelet`, ...flags];
    const { status, stderr } = spawnSync("sh", ["-c", 'LISTEN_PID=$$ exec "$@"', "sh", ...program], {
      stdio: ["ignore", "pipe", "pipe", ...descriptors],
      env: { ...process.env, LISTEN_FDS: String(descriptors.length), LISTEN_FDNAMES: names, NOTIFY_SOCKET: "" },
      encoding: "utf8",
    });
    expect(status).toBe(1);
    return stderr;
  };
  const listener = (): number => (server as Server & { _handle: { readonly fd: number } })._handle.fd;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-passed-"));
    server = createServer().listen(join(folder, "local.sock"));
    await once(server, "listening");
  });
  afterAll(async () => {
    server.close();
    await removeFolder(folder);
  });

  it("refuses one that is not the socket of its flag", () => {
    expect(refusal([listener()], "local", `--local-socket=${folder}/other.sock`)).toContain(
      `--local-socket: systemd passes the socket ${folder}/local.sock, and the flag says \\"${folder}/other.sock\\"`,
    );
  });

  it("refuses two of the same name", () => {
    expect(refusal([listener(), listener()], "local:local")).toContain("2 of them have the name local");
  });

  it("refuses a file", () => {
    expect(refusal([openSync("/dev/null", "r")], "local")).toContain(
      "local is not a Unix stream socket that listens at a path",
    );
  });

  it("warns of a socket that it does not know", () => {
    const said = refusal([listener(), openSync("/dev/null", "r")], "metrics:local");
    expect(said).toContain("systemd passed a socket that rxlet does not use: its FileDescriptorName is not local");
  });
});
