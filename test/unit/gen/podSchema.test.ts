import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("the pod schema is what the client's models say", async () => {
  const script = fileURLToPath(new URL("../../../scripts/generatePodSchema.ts", import.meta.url));
  await expect(promisify(execFile)(process.execPath, [script, "--check"])).resolves.toMatchObject({ stdout: "" });
});
