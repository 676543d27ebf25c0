import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BLOCKING, fileCallsFor, THREADED } from "../../../../src/sinks/volumeFiles/fileCalls.ts";
import { IN_MEMORY, temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { mustSkip } from "../../../support/mustSkip.ts";

const FEW = 64;
const cannotUseMemory = mustSkip("small volumes in memory", IN_MEMORY === tmpdir() ? ["/dev/shm"] : []);

const files = (count: number, bytes: number, parents = "") =>
  new Map(Array.from({ length: count }, (_, index) => [`${parents}${index}`, { content: new Uint8Array(bytes) }]));

describe("the calls that write files", () => {
  const onDisk = temporaryDirectory();

  it.skipIf(cannotUseMemory).each([
    ["few", files(FEW, 4_096), BLOCKING],
    ["one too many", files(FEW + 1, 1), THREADED],
    ["a byte too large", files(1, 262_145), THREADED],
    ["as deep as few", files(1, 1, "d/".repeat(FEW - 1)), BLOCKING],
    ["a directory too deep", files(1, 1, "d/".repeat(FEW)), THREADED],
  ])("in memory, for %s", async (_, contents, calls) => {
    expect(await fileCallsFor(IN_MEMORY, contents)).toBe(calls);
  });

  it("on disk are threaded", async () => {
    expect(await fileCallsFor(onDisk(), files(1, 1))).toBe(THREADED);
  });

  it("list few entries at once, and no more of a large directory", async () => {
    for (let index = 0; index < FEW; index += 1) await fs.writeFile(join(onDisk(), `${index}`), "");
    expect(BLOCKING.list(onDisk(), 1_000)).toHaveLength(FEW);
    await fs.writeFile(join(onDisk(), "more"), "");
    const listed = BLOCKING.list(onDisk(), FEW + 1);
    expect(listed).toBeInstanceOf(Promise);
    expect(await listed).toHaveLength(FEW + 1);
    await expect(BLOCKING.list(onDisk(), FEW)).rejects.toMatchObject({ code: "ResourceExhausted" });
    await expect(THREADED.list(onDisk(), FEW)).rejects.toMatchObject({ code: "ResourceExhausted" });
  });
});
