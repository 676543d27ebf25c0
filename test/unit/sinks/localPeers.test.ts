import { link, mkdir, mkdtemp, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MonotonicMs } from "../../../src/core/ids.ts";
import { createLocalPeers, prepareLocalPlace } from "../../../src/sinks/localPeers.ts";
import { systemRandom } from "../../../src/sources/systemRandom.ts";
import { removeFolder } from "../../support/removeFolder.ts";

const uid = process.getuid?.() ?? -1;
let folder = "";
let proofs = "";
let now = 0;
let socket = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rxlet-peers-"));
  socket = join(folder, "local", "local.sock");
  proofs = join(folder, "local", "peers");
  now = 0;
});
afterEach(() => removeFolder(folder));

const peersHere = () =>
  createLocalPeers(
    { socket, uid, gid: undefined },
    { clock: { monotonicMs: () => now as MonotonicMs }, rng: systemRandom },
  );
const PREFIX = "this user may not use the local socket: ";
const refusal = (why: string) => expect.objectContaining({ code: "PermissionDenied", message: `${PREFIX}${why}` });

describe("the place of the socket", () => {
  it("is made private, and abandoned proofs go", async () => {
    expect(await prepareLocalPlace({ socket, uid, gid: undefined })).toEqual([]);
    expect([(await stat(join(folder, "local"))).mode & 0o7777, (await stat(proofs)).mode & 0o7777]).toEqual([
      0o750, 0o700,
    ]);
    await writeFile(join(proofs, "left"), "");
    await prepareLocalPlace({ socket, uid, gid: undefined });
    expect(await readdir(proofs)).toEqual([]);
  });

  it("is refused where others may enter, and left as it is", async () => {
    await mkdir(join(folder, "local"), { mode: 0o755 });
    await expect(prepareLocalPlace({ socket, uid, gid: undefined })).rejects.toMatchObject({
      code: "PermissionDenied",
      message: `${folder}/local has mode 0755: the socket needs a directory of its own with mode 0750`,
    });
    expect((await stat(join(folder, "local"))).mode & 0o777).toBe(0o755);
  });

  it("is refused where it is a link", async () => {
    await mkdir(join(folder, "elsewhere"), { mode: 0o700 });
    await symlink(join(folder, "elsewhere"), join(folder, "local"));
    await expect(prepareLocalPlace({ socket, uid, gid: undefined })).rejects.toMatchObject({
      message: `${folder}/local is not a directory`,
    });
  });
});

describe("a client", () => {
  beforeEach(() => prepareLocalPlace({ socket, uid, gid: undefined }));

  it("is the owner of its file, once", async () => {
    const peers = peersHere();
    const challenge = peers.challenge();
    await writeFile(join(proofs, challenge), challenge);
    expect(await firstValueFrom(peers.identify(challenge))).toEqual({ uid, gid: process.getgid?.() });
    expect(await readdir(proofs)).toEqual([]);
    await writeFile(join(proofs, challenge), challenge);
    await expect(firstValueFrom(peers.identify(challenge))).rejects.toEqual(
      refusal("the challenge is unknown or too old"),
    );
  });

  it.each([
    ["no file", async () => {}, "the client has created no file"],
    [
      "a link to a file",
      async (proof: string, challenge: string) => {
        await writeFile(`${folder}/target`, challenge);
        await symlink(`${folder}/target`, proof);
      },
      "its file cannot be read (ELOOP)",
    ],
    [
      "a second name of a file",
      async (proof: string, challenge: string) => {
        await writeFile(`${folder}/target`, challenge);
        await link(`${folder}/target`, proof);
      },
      "it is not a file of its own",
    ],
    ["a directory", (proof: string) => mkdir(proof), "it is not a file of its own"],
    ["a moved file", (proof: string) => writeFile(proof, "log"), "it does not hold the challenge"],
    [
      "a longer file",
      (proof: string, challenge: string) => writeFile(proof, challenge + "x".repeat(1_000)),
      "it does not hold the challenge",
    ],
  ])("with %s is refused", async (_title, make, why) => {
    const peers = peersHere();
    const challenge = peers.challenge();
    await make(join(proofs, challenge), challenge);
    await expect(firstValueFrom(peers.identify(challenge))).rejects.toEqual(refusal(why));
    expect(await readdir(proofs)).toEqual([]);
  });

  it("has ten seconds, and 64 unanswered challenges hold", async () => {
    const peers = peersHere();
    const [old, ...others] = Array.from({ length: 65 }, () => peers.challenge());
    const last = others.at(-1) ?? "";
    for (const name of [old ?? "", last, others[0] ?? ""]) await writeFile(join(proofs, name), name);
    now = 10_000;
    await expect(firstValueFrom(peers.identify(old ?? ""))).rejects.toEqual(
      refusal("the challenge is unknown or too old"),
    );
    expect(await firstValueFrom(peers.identify(others[0] ?? ""))).toMatchObject({ uid });
    now = 10_001;
    await expect(firstValueFrom(peers.identify(last))).rejects.toEqual(refusal("the challenge is unknown or too old"));
  });
});
