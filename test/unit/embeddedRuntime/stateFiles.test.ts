import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openStateFiles } from "../../../src/embeddedRuntime/stateFiles.ts";
import { MAX_STATE_BYTES, readStateFile } from "../../../src/embeddedRuntime/readStateFile.ts";
import { PodSandboxConfig } from "../../../src/gen/cri.ts";

function temporary(): string {
  const dir = mkdtempSync(path.join(tmpdir(), "rxlet-state-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

const config = PodSandboxConfig.fromPartial({ metadata: { name: "web", uid: "1", namespace: "demo", attempt: 0 } });

it("a state file is read up to the limit, also in several pieces", () => {
  const file = path.join(temporary(), "state.json");
  const content = Buffer.from("0123456789".repeat(20_000));
  writeFileSync(file, content);
  expect(readStateFile(file).equals(content)).toBe(true);
  expect(readStateFile(file, content.length).equals(content)).toBe(true);
  expect(() => readStateFile(file, content.length - 1)).toThrow("state.json: has more than 199999 bytes");
});

it.each<[string, (file: string) => void, string]>([
  ["is too large", (file) => truncateSync(file, MAX_STATE_BYTES + 1), `has more than ${MAX_STATE_BYTES} bytes`],
  ["is a FIFO", (file) => [rmSync(file), execFileSync("mkfifo", [file])], "is not a regular file"],
  ["is a device", (file) => [rmSync(file), execFileSync("ln", ["-s", "/dev/zero", file])], "is not a regular file"],
])("a sandbox is moved aside when one of its files %s, and the others load", async (_, spoil, why) => {
  const root = temporary();
  const files = openStateFiles(root);
  const ids = ["a", "b", "c"];
  for (const id of ids) files.addSandbox({ id, config, createdAt: 1n, ready: true, ip: "10.0.0.1" });
  spoil(path.join(root, "sandboxes", "a", "state.json"));
  spoil(path.join(root, "sandboxes", "b", "config.pb"));
  const { sandboxes, setAside } = await files.load();
  expect(sandboxes.map(({ id }) => id)).toEqual(["c"]);
  expect(setAside.map(({ from, reason }) => [path.basename(from), reason])).toEqual([
    ["a", `state.json: ${why}`],
    ["b", `config.pb: ${why}`],
  ]);
});
