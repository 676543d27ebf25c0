/** `rxlet apply`, `delete` and `get events` on the local socket of a daemon. */
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { waitFor } from "../support/waitFor.ts";
import { HOST, type LocalNode, startLocalNode } from "./localNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const isRunning = ({ status }: Pod) => status?.phase === "Running";
const pod = (name: string, text = UNTIL_TERM) => manifest(name, { containers: [script("main", text, HOST)] });

describe("apply and delete", () => {
  let node: LocalNode;

  beforeAll(async () => {
    node = await startLocalNode();
    await node.daemon.put("own.json", pod("own"));
    await node.daemon.until("own", isRunning, "Running");
    await waitFor("the socket", () => stat(node.socket));
  });
  afterAll(() => node.close());

  const write = async (name: string, value: unknown): Promise<string> => {
    const file = join(node.folder, name);
    await writeFile(file, typeof value === "string" ? value : JSON.stringify(value));
    return file;
  };
  const files = async () => (await readdir(node.daemon.manifests)).toSorted();

  it("creates, leaves and changes a pod", async () => {
    const file = await write("web.json", pod("web"));
    const apply = () => node.run(["apply", "-f", file]);
    expect(await apply()).toEqual({ out: "pod/web-test-node created\n", err: "", code: 0 });
    const { metadata } = await node.daemon.until("web", isRunning, "Running");
    const written = join(node.daemon.manifests, "rxlet-apply.pod.default_web.json");
    expect((await stat(written)).mode & 0o777).toBe(0o600);
    expect(await apply()).toEqual({ out: "pod/web-test-node unchanged\n", err: "", code: 0 });
    const changed = await node.run(["apply", "-f", "-"], JSON.stringify(pod("web", `:; ${UNTIL_TERM}`)));
    expect(changed).toEqual({ out: "pod/web-test-node configured\n", err: "", code: 0 });
    const isNew = (found: Pod) => isRunning(found) && found.metadata.uid !== metadata.uid;
    await node.daemon.until("web", isNew, "running as changed");
    expect(await files()).toEqual(["own.json", "rxlet-apply.pod.default_web.json"]);
  });

  it("checks the whole manifest before it writes any object, and names file, line, field and reason", async () => {
    const bad =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: bad\nspec:\n  containers:\n  - name: Main_1\n    image: i\n";
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: good\n---\n${bad}`;
    const file = await write("bad.yaml", text);
    const before = await files();
    const { out, err, code } = await node.run(["apply", "-f", file]);
    expect([out, err, code]).toEqual([
      "",
      expect.stringMatching(/^rxlet: \S+\/bad\.yaml:12: spec\.containers\[0\]\.name: Invalid value: "Main_1"/),
      1,
    ]);
    expect(await files()).toEqual(before);
    const { err: broken } = await node.run(["apply", "-f", "-"], "kind: [");
    expect(broken).toMatch(/^rxlet: standard input:1: is not valid YAML: /);
    expect((await node.run(["apply", "-f", "-"], "kind: Deployment\n")).err).toContain("rxlet template FILE");
    expect(await node.run(["apply", "-f", join(node.folder, "none.yaml")])).toEqual({
      out: "",
      err: `rxlet: ${node.folder}/none.yaml: there is no such file or directory\n`,
      code: 1,
    });
  });

  it("takes a directory, goes on after a bad file, and changes nothing on a dry run", async () => {
    const directory = join(node.folder, "many");
    await mkdir(directory);
    await writeFile(join(directory, "a.yaml"), "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n");
    await writeFile(join(directory, "b.yaml"), "nothing: here\n");
    await writeFile(join(directory, "c.yml"), "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: one}\n");
    await writeFile(join(directory, "README"), "not read");
    const before = await files();
    const dry = await node.run(["apply", "-f", directory, "--dry-run=server"]);
    expect([dry.out, dry.code]).toEqual([
      "secret/key created (server dry run)\nconfigmap/one created (server dry run)\n",
      1,
    ]);
    expect(dry.err).toContain("b.yaml:1: kind: Required value");
    expect(await files()).toEqual(before);
    expect((await node.run(["apply", "-f", directory])).out).toBe("secret/key created\nconfigmap/one created\n");
    expect(await node.run(["delete", "-f", join(directory, "a.yaml"), "-f", join(directory, "c.yml")])).toEqual({
      out: 'secret "key" deleted from default namespace\nconfigmap "one" deleted from default namespace\n',
      err: "",
      code: 0,
    });
    expect(await files()).toEqual(before);
  });

  it("neither replaces nor removes the operator's manifests", async () => {
    const own = join(node.daemon.manifests, "own.json");
    const reason = `pod default/own is in ${own}, which rxlet apply did not write: change or remove that file\n`;
    const file = await write("own-again.json", pod("own", `true; ${UNTIL_TERM}`));
    const content = await readFile(own, "utf8");
    expect(await node.run(["apply", "-f", file])).toEqual({ out: "", err: `rxlet: ${file}: ${reason}`, code: 1 });
    expect(await node.run(["delete", "pod", "own-test-node"])).toEqual({ out: "", err: `rxlet: ${reason}`, code: 1 });
    expect(await node.run(["delete", "-f", file])).toEqual({ out: "", err: `rxlet: ${reason}`, code: 1 });
    expect(await readFile(own, "utf8")).toBe(content);
    await node.daemon.until("own", isRunning, "still running");
  });

  it("bounds a manifest", async () => {
    const big = JSON.stringify({ ...pod("big"), filler: "x".repeat(1024 * 1024) });
    expect(await node.run(["apply", "-f", "-"], big)).toEqual({
      out: "",
      err: "rxlet: standard input: is larger than 1 MiB\n",
      code: 1,
    });
    // Half a MiB of text can be more than a MiB once it is written.
    const wide = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"wide"},"data":{${Array.from(
      { length: 60_000 },
      (_, index) => `"k${index}":""`,
    ).join(",")}}}`;
    const { err, code } = await node.run(["apply", "-f", "-"], wide);
    expect([err, code]).toEqual([
      expect.stringMatching(/configmap default\/wide is larger than 1048576 bytes|must/),
      1,
    ]);
  });

  it("deletes by name, waits for the end, and knows what is not there", async () => {
    expect(await node.run(["delete", "pod/web-test-node"])).toEqual({
      out: 'pod "web-test-node" deleted from default namespace\n',
      err: "",
      code: 0,
    });
    expect(await node.daemon.pod("web")).toBeUndefined();
    expect(await node.run(["delete", "pod", "web-test-node"])).toEqual({
      out: "",
      err: 'rxlet: pod "web-test-node" not found\n',
      code: 1,
    });
    expect((await node.run(["delete", "pod", "web", "--ignore-not-found"])).code).toBe(0);
    expect(await files()).toEqual(["own.json"]);
  });

  it("shows events of the node, newest last", async () => {
    const { out, code } = await node.run(["get", "events"]);
    const lines = out.trimEnd().split("\n");
    expect([lines[0]?.split(/ +/), code]).toEqual([["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"], 0]);
    expect(lines.slice(1).every((line) => /^\S+ +(Normal|Warning) +\w+ +\w+\/\S+ +\S/.test(line))).toBe(true);
    expect(out).toMatch(/Normal +Killing +pod\/web-test-node +Stopping container main/);
    const list = JSON.parse((await node.run(["get", "events", "-A", "-o", "json"])).out) as { items: unknown[] };
    expect(list.items.length).toBeGreaterThanOrEqual(lines.length - 1);
  });
});
