import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ContainerStatus, ImageServiceDefinition, RuntimeServiceDefinition } from "../../../src/gen/cri.ts";
import { buf, protoShape } from "./protoShape.ts";

const GENERATED = fileURLToPath(new URL("../../../src/gen/proto/", import.meta.url));
const PUBLISHED = fileURLToPath(new URL("published-names-and-numbers.txt", import.meta.url));

const filesBelow = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [file.slice(folder.length), readFileSync(file, "utf8")]),
  );

describe("proto", () => {
  it("keeps every published name, number, type and label", () => {
    expect(protoShape()).toEqual(readFileSync(PUBLISHED, "utf8").trimEnd().split("\n"));
  });

  it("is what src/gen/proto was generated from", () => {
    const folder = mkdtempSync(join(tmpdir(), "rxlet-gen-"));
    try {
      buf("generate", "--output", folder);
      expect(filesBelow(join(folder, "src/gen/proto/"))).toEqual(filesBelow(GENERATED));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("puts both services, messages and enums behind one import", () => {
    expect([RuntimeServiceDefinition.fullName, Object.keys(RuntimeServiceDefinition.methods).length]).toEqual([
      "runtime.v1.RuntimeService",
      35,
    ]);
    expect([ImageServiceDefinition.fullName, Object.keys(ImageServiceDefinition.methods).length]).toEqual([
      "runtime.v1.ImageService",
      6,
    ]);
    const status = ContainerStatus.create({ id: "c", finishedAt: 2n ** 62n, labels: { a: "b" }, exitCode: -1 });
    expect(ContainerStatus.decode(ContainerStatus.encode(status).finish())).toEqual(status);
  });
});
