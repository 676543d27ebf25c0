/** The Sealing port on node:crypto: the promises of all, then the key. */
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toKubeletError } from "../../src/core/errors.ts";
import { createSealing } from "../../src/sinks/sealing.ts";
import { recordingTelemetry } from "../support/recordingTelemetry.ts";
import { inRealTime, sealingConformance } from "./sealingConformance.ts";

describe("sealing with a key of the node", () => {
  let folder = "";
  const open = () => {
    const telemetry = recordingTelemetry();
    return { telemetry, sealing: createSealing({ directory: join(folder, "offline"), log: telemetry.log }) };
  };
  const key = () => join(folder, "offline", "key");
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-sealing-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  sealingConformance(async () => ({ sealing: open().sealing, run: inRealTime }));

  it("hides the text, and seals it differently each time", async () => {
    const { sealing } = open();
    const [first, second] = [
      await inRealTime(sealing.seal("a", "secret")),
      await inRealTime(sealing.seal("a", "secret")),
    ];
    const bytes = Buffer.from(first.split(" ")[1] ?? "", "base64").toString("latin1");
    expect([first === second, first.includes("secret"), bytes.includes("secret")]).toEqual([false, false, false]);
  });

  it("opens records with the same key after a restart, and makes one key for concurrent first uses", async () => {
    const { sealing } = open();
    const sealed = await Promise.all(["a", "b"].map((name) => inRealTime(sealing.seal(name, name))));
    const next = open().sealing;
    const texts = await Promise.all(["a", "b"].map((name, index) => inRealTime(next.open(name, sealed[index] ?? ""))));
    expect([texts, (await stat(key())).mode & 0o777, (await readFile(key(), "utf8")).length]).toEqual([
      ["a", "b"],
      0o600,
      65,
    ]);
  });

  it("closes a key that others may read, and says so", async () => {
    await inRealTime(open().sealing.seal("a", "a"));
    await chmod(key(), 0o644);
    const { sealing, telemetry } = open();
    await inRealTime(sealing.seal("a", "a"));
    expect([
      (await stat(key())).mode & 0o777,
      telemetry.lines.filter(({ message }) => message.includes("0600")).length,
    ]).toEqual([0o600, 1]);
  });

  it("sets a damaged key aside and makes another, which opens nothing of the first", async () => {
    const sealed = await inRealTime(open().sealing.seal("a", "a"));
    await writeFile(key(), "not a key");
    const { sealing, telemetry } = open();
    const error = await inRealTime(sealing.open("a", sealed)).catch((thrown: unknown) => toKubeletError(thrown).code);
    expect([
      error,
      await readFile(`${key()}.aside`, "utf8"),
      telemetry.lines.filter(({ message }) => message.includes("set aside")).length,
    ]).toEqual(["InvalidArgument", "not a key", 1]);
  });

  it("blames no record when the key cannot be read", async () => {
    const sealed = await inRealTime(open().sealing.seal("a", "a"));
    await rm(key());
    await mkdir(key());
    const error = await inRealTime(open().sealing.open("a", sealed)).catch(
      (thrown: unknown) => toKubeletError(thrown).code,
    );
    expect(error).not.toBe("InvalidArgument");
  });
});
