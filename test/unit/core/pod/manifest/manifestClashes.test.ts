import { expect, it } from "vitest";
import { withoutClashes } from "../../../../../src/core/pod/manifest/manifestClashes.ts";
import { readText } from "../../../../support/manifests.ts";

const pod = (name: string, ...head: readonly string[]): string =>
  [
    ...head,
    "apiVersion: v1",
    "kind: Pod",
    "metadata:",
    `  name: ${name}`,
    "spec: {containers: [{name: a, image: b}]}",
    "",
  ].join("\n");
const map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n";
/** The clashes of manifests by file name, as lines. */
const clashesOf = (texts: Readonly<Record<string, string>>): readonly string[] =>
  withoutClashes(
    Object.entries(texts).map(([name, text]) => ({ ...readText(text), origin: `/m/${name}` })),
  ).clashes.map(({ origin, line, reason }) => `${origin}:${line} ${reason}`);

it("a pod defined in two files names the line of each", () => {
  expect(clashesOf({ "a.yaml": pod("web", "# first"), "b.yaml": pod("web", "# one", "# two") })).toEqual([
    "/m/b.yaml:6 pod default/web-node-1 is already defined in a.yaml:5, which is the one used",
  ]);
});

it("each copy in one file names its own line, and that of the first", () => {
  const text = [pod("web"), pod("other"), pod("web"), pod("web")].join("---\n");
  expect(clashesOf({ "a.yaml": text })).toEqual([
    "/m/a.yaml:16 pod default/web-node-1 is already defined on line 4 of the same manifest, which is the one used",
    "/m/a.yaml:22 pod default/web-node-1 is already defined on line 4 of the same manifest, which is the one used",
  ]);
});

it("items of a List have lines of their own", () => {
  const item = (line: string) => `  - ${line.trimEnd().replaceAll("\n", "\n    ")}\n`;
  const list = `apiVersion: v1\nkind: List\nitems:\n${item(map)}${item(map)}`;
  expect(clashesOf({ "a.yaml": list })).toEqual([
    "/m/a.yaml:9 ConfigMap default/web is already defined on line 6 of the same manifest, which is the one used",
  ]);
});

it("items of a JSON List have lines, past other fields called name", () => {
  const item = '{"apiVersion": "v1", "kind": "ConfigMap", "data": {"name": "b"},\n"metadata": {"name": "web"}}';
  const json = `{"apiVersion": "v1", "kind": "List", "items": [\n${item},\n${item}\n]}`;
  expect(clashesOf({ "a.json": json, "b.json": item })).toEqual([
    "/m/a.json:5 ConfigMap default/web is already defined on line 3 of the same manifest, which is the one used",
    "/m/b.json:2 ConfigMap default/web is already defined in a.json:3, which is the one used",
  ]);
});
