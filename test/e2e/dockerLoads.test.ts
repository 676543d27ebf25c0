/** A node on another runtime carries no code for Docker. */
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { startDaemon } from "../support/daemon.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";

/** Modules of the bundle for Docker and its network plugins. */
const DOCKER = /dockershim|onDocker/i;

it("a node with --container-runtime=remote loads no module for Docker", async () => {
  const chunks = readdirSync(join(dirname(BUILT_MAIN), "chunks")).filter((name) => DOCKER.test(name));
  expect(chunks).not.toEqual([]);
  const folder = temporaryDir();
  const { socketPath } = await startRuntime(folder);
  const loads = join(folder, "loads");
  const hook = pathToFileURL(join(import.meta.dirname, "../support/noteLoads.mjs")).href;
  const daemon = await startDaemon({
    folder,
    endpoint: `unix://${socketPath}`,
    args: ["--container-runtime=remote"],
    env: { NODE_OPTIONS: `--import ${hook}`, RXLET_TEST_LOADS: loads },
  });
  onTestFinished(() => daemon.kill());
  const modules = (await readFile(loads, "utf8"))
    .trim()
    .split("\n")
    .map((url) => basename(url));
  expect(modules).toContain("main.js");
  expect(modules.filter((name) => DOCKER.test(name))).toEqual([]);
});
