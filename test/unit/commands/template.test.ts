import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { template } from "../../../src/commands/template.ts";
import { toKubeletError } from "../../../src/core/errors.ts";

describe("rxlet template", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-template-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function run(name: string) {
    let [out, notes, error] = ["", "", ""];
    const output = (write: (text: string) => unknown) => ({ write });
    await lastValueFrom(
      template(
        { file: join(folder, name) },
        output((text) => (out += text)),
        output((text) => (notes += text)),
      ),
      { defaultValue: undefined },
    ).catch((thrown: unknown) => (error = toKubeletError(thrown).message));
    return { out, notes, error: error.replaceAll(`${folder}/`, "") };
  }

  it("prints the pods as YAML 1.1, one document each, and notes of what it leaves out", async () => {
    const spec = '{template: {spec: {containers: [{name: main, image: app, args: ["yes", "0644"]}]}}}';
    const documents = ["a", "b"].map((name) => `kind: Deployment\nmetadata: {name: ${name}}\nspec: ${spec}\n`);
    await writeFile(join(folder, "web.yaml"), [...documents, "kind: Service\n"].join("---\n"));
    const pod = (name: string): string =>
      `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n    - name: main\n      image: app\n` +
      `      args:\n        - "yes"\n        - "0644"\n`;
    expect(await run("web.yaml")).toEqual({
      out: `${pod("a")}---\n${pod("b")}`,
      notes: expect.stringMatching(/^rxlet: \S+web\.yaml:9: kind: "Service" is left out\n$/),
      error: "",
    });
  });

  it.each([
    ["no file", "nowhere.yaml", "nowhere.yaml: there is no such file or directory"],
    ["a directory", "directory", "directory: is a directory"],
    ["a large file", "large.yaml", "large.yaml: is larger than 1 MiB"],
    ["no workload", "pod.yaml", "pod.yaml: has no workload with a pod template"],
  ])("refuses %s", async (_title, name, error) => {
    await mkdir(join(folder, "directory"));
    await writeFile(join(folder, "large.yaml"), "#".repeat(1024 * 1024 + 1));
    await writeFile(join(folder, "pod.yaml"), "kind: Service\n");
    expect(await run(name)).toEqual({ out: "", notes: "", error });
  });
});
