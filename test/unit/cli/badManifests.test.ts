/** Manifests a newcomer gets wrong, as files, and the exact lines that `rxlet dev` prints of each in a pipe. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { changedProblems, NO_PROBLEM_LINES } from "../../../src/cli/problemLines.ts";
import { epochMs } from "../../../src/core/ids.ts";
import { filePodSource } from "../../../src/sources/filePodSource.ts";
import { manifestDigest } from "../../../src/sources/manifestDigest.ts";
import { manifestDirectory } from "../../../src/sources/manifestDirectory.ts";
import { systemClock } from "../../../src/sources/systemClock.ts";

/** A good pod of eight lines; `more` are further lines of its container. */
const pod = (name: string, ...more: readonly string[]): string =>
  [
    "apiVersion: v1",
    "kind: Pod",
    `metadata: {name: ${name}}`,
    "spec:",
    "  containers:",
    "    - name: main",
    "      image: app:1",
    ...more.map((line) => `      ${line}`),
    "",
  ].join("\n");
const nested = (text: string): string => `  - ${text.trimEnd().replaceAll("\n", "\n    ")}\n`;

type Make = (path: string) => unknown;
const file =
  (content: string | Uint8Array): Make =>
  (path) =>
    writeFile(path, content);
const SUPPORTED = 'supported values: "Pod", "ConfigMap", "Secret", "RuntimeClass", "List"';

/** By file name: how it is made, and its lines without the name. */
const CASES: Readonly<Record<string, readonly [Make, readonly string[]]>> = {
  "api-version.yaml": [
    file(pod("a").replace("apiVersion: v1", "apiVersion: V1")),
    ['error     :1: apiVersion: Unsupported value: "V1": supported values: "v1"'],
  ],
  "bad-name.yaml": [
    file(pod("Bad_Name")),
    [
      "error     :3: metadata.name: Invalid value: \"Bad_Name-n\": a lowercase RFC 1123 subdomain holds lower case letters, digits, '-' and '.', and each part starts and ends with a letter or digit",
    ],
  ],
  "binary.yaml": [
    file(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0)),
    ["error     : is a binary file: it holds a NUL character"],
  ],
  "deployment.yaml": [
    file("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"),
    [
      'error     :2: kind: Invalid value: "Deployment": rxlet runs pods only; "rxlet template FILE" prints the pod of its template',
    ],
  ],
  "directory.yaml": [
    (path) => mkdir(path),
    ["warning   : is a directory; only the files directly in the manifest directory are read"],
  ],
  "duplicate-key.yaml": [
    file(pod("b").replace("kind: Pod", "kind: Pod\nkind: Pod")),
    ['error     :3: is not valid YAML: duplicate key "kind"'],
  ],
  "duplicate-ports.yaml": [
    file(pod("c", "ports: [{name: web, containerPort: 80}, {name: web, containerPort: 81}]")),
    ['error     :8: spec.containers[0].ports[1].name: Duplicate value: "web"'],
  ],
  "empty.yaml": [file(""), ["warning   : is empty: it defines no pod"]],
  "good.yaml": [file(pod("good")), []],
  "huge.yaml": [file("#".repeat(1024 * 1024 + 1)), ["error     : is larger than 1 MiB, the most that is read"]],
  "json.json": [
    file('{"apiVersion": "v1", "kind": "Pod",'),
    ["error     :1: is not valid JSON: the text ends too early"],
  ],
  "kind.yaml": [
    file(pod("d").replace("kind: Pod", "kind: Pdo")),
    [`error     :2: kind: Unsupported value: "Pdo": ${SUPPORTED}; did you mean "Pod"?`],
  ],
  "latin1.yaml": [
    file(Buffer.from("apiVersion: v1\nkind: Pod\nmetadata: {name: caf\u00e9}\n", "latin1")),
    ["error     :3: is not UTF-8 text"],
  ],
  "list.yaml": [
    file(
      `apiVersion: v1\nkind: List\nitems:\n${nested(pod("good-item"))}${nested(pod("e").replace("      image: app:1\n", ""))}`,
    ),
    ["error     :16: items[1].spec.containers[0].image: Required value"],
  ],
  "loop.yaml": [(path) => symlink("loop.yaml", path), ["warning   : is a symbolic link that leads back to itself"]],
  "negative.yaml": [
    file(pod("f", "ports: [{containerPort: -80}]", "resources: {requests: {cpu: -1, memory: 12XB}}")),
    [
      "error     :8: spec.containers[0].ports[0].containerPort: Invalid value: -80: must be between 1 and 65535, inclusive",
      'error     :9: spec.containers[0].resources.requests[memory]: must be a quantity such as 100m, 1.5 or 64Mi, not the string "12XB"',
      'error     :9: spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
  "no-name.yaml": [
    file(pod("g").replace("{name: g}", "{}")),
    ["error     :3: metadata.name: Required value: name is needed for the pod"],
  ],
  "no-volume.yaml": [
    file(pod("h", "volumeMounts: [{name: data, mountPath: /data}]")),
    [
      'error     :8: spec.containers[0].volumeMounts[0].name: Not found: "data": spec.volumes has no volume of this name',
    ],
  ],
  "nowhere.yaml": [(path) => symlink("missing.yaml", path), ["warning   : is a symbolic link that leads nowhere"]],
  "pipe.yaml": [
    (path) => execFileSync("mkfifo", [path]),
    ["warning   : is neither a file nor a directory; it is ignored"],
  ],
  "quantity.yaml": [
    file(pod("i", "resources: {limits: {memory: 100MB}}")),
    [
      'error     :8: spec.containers[0].resources.limits[memory]: must be a quantity such as 100m, 1.5 or 64Mi, not the string "100MB"; did you mean 100M or 100Mi?',
    ],
  ],
  "service.yaml": [
    file("apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
    [`error     :2: kind: Unsupported value: "Service": ${SUPPORTED}`],
  ],
  "syntax.yaml": [
    file(pod("j").replace("      image", "     image")),
    ["error     :7: is not valid YAML: Sequence item without - indicator; check the indentation of the line"],
  ],
  "tabs-in-list.yaml": [
    file(pod("t").replace("    - name", "\t- name")),
    ["error     :6: is not valid YAML: Tabs are not allowed as indentation"],
  ],
  "tabs.yaml": [
    file("apiVersion: v1\nkind: Pod\nmetadata:\n\tname: k\n"),
    ["error     :4: is not valid YAML: Tabs are not allowed as indentation"],
  ],
  "text.yaml": [file("just some text\n"), ["error     :1: must be a map with apiVersion and kind, such as a Pod"]],
  "twin-a.yaml": [file(pod("twin")), []],
  "twin-b.yaml": [
    file(pod("twin")),
    ["error     :3: pod default/twin-n is already defined in twin-a.yaml:3, which is the one used"],
  ],
  "types.yaml": [
    file(pod("l", "command: sleep 1000", "env: [{name: A, value: 1}]", "ports: 80")),
    [
      'error     :8: spec.containers[0].command: must be a list, not the string "sleep 1000"',
      "error     :9: spec.containers[0].env[0].value: must be a string (put it in quotes), not the number 1",
      "error     :10: spec.containers[0].ports: must be a list, not the number 80",
    ],
  ],
  "unknown-field.yaml": [
    file(pod("misspelt", "imagePullPolcy: Never")),
    ['warning   :8: spec.containers[0].imagePullPolcy: unknown field, ignored; did you mean "imagePullPolicy"?'],
  ],
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "rxlet-bad-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it("prints what is wrong with each file, all at once, in order of files and lines, and runs the good pods", async () => {
  for (const [name, [make]] of Object.entries(CASES)) await make(join(directory, name));
  const { pods, problems } = await firstValueFrom(
    filePodSource({
      path: directory,
      directory: manifestDirectory(directory, systemClock),
      nodeName: "n",
      resyncPeriodMs: 3_600_000,
      clock: systemClock,
      digest: manifestDigest,
    }),
  );
  const { text } = changedProblems(NO_PROBLEM_LINES, problems, directory, epochMs(0));
  const expected = Object.entries(CASES).flatMap(([name, [, lines]]) =>
    lines.map((line) => `1970-01-01T00:00:00Z  ${line.replace(/^(\w+ +)/, `$1${name}`)}`),
  );
  expect(text.map((line) => line.replace(directory, "DIR"))).toEqual(expected);
  expect(pods.map(({ metadata }) => metadata.name)).toEqual(["good-n", "good-item-n", "twin-n", "misspelt-n"]);
});
