import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { KubeletAccess } from "../../../src/core/auth/kubeletAccess.ts";
import { connectionOptions, MAX_CREDENTIAL_BYTES } from "../../../src/sinks/kubeletConnection.ts";

const NOBODY: KubeletAccess = {
  certificateAuthority: "",
  insecure: false,
  clientCertificate: "",
  clientKey: "",
  tokenFile: "",
};

it.each<[keyof KubeletAccess]>([["certificateAuthority"], ["clientCertificate"], ["clientKey"], ["tokenFile"]])(
  "the file of %s is read up to the limit",
  async (field) => {
    const folder = await mkdtemp(join(tmpdir(), "rxlet-access-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "file");
    await writeFile(path, "");
    await truncate(path, MAX_CREDENTIAL_BYTES);
    const { ca, cert, key, headers } = await connectionOptions({ ...NOBODY, [field]: path });
    const read = [ca, cert, key, headers["authorization"]].map((text) => text?.length ?? 0);
    expect(Math.max(...read)).toBe(MAX_CREDENTIAL_BYTES + (field === "tokenFile" ? "Bearer ".length : 0));
    await truncate(path, MAX_CREDENTIAL_BYTES + 1);
    await expect(connectionOptions({ ...NOBODY, [field]: path })).rejects.toMatchObject({
      message: `cannot read ${path}: it has more than ${MAX_CREDENTIAL_BYTES} bytes`,
    });
  },
);

it("a device without an end is refused, and a missing file is named", async () => {
  await expect(connectionOptions({ ...NOBODY, tokenFile: "/dev/zero" })).rejects.toMatchObject({
    message: `cannot read /dev/zero: it has more than ${MAX_CREDENTIAL_BYTES} bytes`,
  });
  await expect(connectionOptions({ ...NOBODY, tokenFile: "/none/token" })).rejects.toMatchObject({
    message: expect.stringContaining("/none/token") as string,
  });
});
