/** The files of the Debian package: the bundled program with its Node, and files made from packaging/ and the tables. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bashCompletion, fishCompletion, zshCompletion } from "./completions.ts";
import type { PackagedFile, Release } from "./controlFiles.ts";
import { manPage } from "./manPage.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const LIBRARY = "/usr/lib/rxlet";
const DOCS = "/usr/share/doc/rxlet";

const read = (path: string): Buffer => readFileSync(join(ROOT, path));
const text = (path: string): string => read(path).toString("utf8");

/** Scripts can be executed, and `isProgram` says so of other files. */
function file(path: string, content: string | Uint8Array, isProgram = false): PackagedFile {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return { path, content: bytes, isExecutable: isProgram || Buffer.from(bytes.subarray(0, 2)).toString() === "#!" };
}

/** Without a time and a name in its header, as `gzip -n`. */
const compressed = (content: string | Uint8Array): Uint8Array => gzipSync(content, { level: 9 });

/** Replaces a part that must occur once. */
export function replaced(whole: string, part: string, by: string): string {
  if (whole.split(part).length !== 2) throw new Error(`packaging: must contain ${JSON.stringify(part)} once`);
  return whole.replace(part, () => by);
}

/** The unit with the paths of the package, and arguments from /etc/default. */
export const packagedUnit = (unit: string): string =>
  replaced(
    replaced(
      unit,
      "ExecStart=/usr/local/bin/rxlet --config=/etc/rxlet/config.yaml\n",
      "EnvironmentFile=-/etc/default/rxlet\nExecStart=/usr/bin/rxlet --config=/etc/rxlet/config.yaml $RXLET_ARGS\n",
    ),
    "Description=rxlet, a Kubernetes node agent\n",
    "Description=rxlet, a Kubernetes node agent\nDocumentation=man:rxlet(8)\n",
  );

/** The configuration with the paths of the package. */
export const packagedConfig = (config: string): string =>
  replaced(
    replaced(
      config,
      "# Install as /etc/rxlet/config.yaml. Every field and its default: docs/operations.md.\n",
      `# Every field and its default: ${DOCS}/operations.md.gz.\n`,
    ),
    "# One pod per file, YAML or JSON. Create the directory before the first start.\n",
    "# One pod per file, YAML or JSON.\n",
  );

/** Code that the packaged Node runs, without the line that names another one. */
const module = (content: Buffer): Uint8Array => Buffer.from(content.toString("utf8").replace(/^#!.*\n/, ""));

/** Everything below a directory, sorted by path. */
const tree = (from: string, to: string): readonly PackagedFile[] =>
  readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) =>
      file(join(to, relative(from, path)), path.endsWith(".js") ? module(readFileSync(path)) : readFileSync(path)),
    );

function nodeFiles(): readonly PackagedFile[] {
  const installed = dirname(createRequire(import.meta.url).resolve("node/package.json"));
  // The package node installs the one of this machine below itself.
  const license = join(installed, `node_modules/node-${process.platform}-${process.arch}/LICENSE`);
  return [
    file(`${LIBRARY}/bin/node`, readFileSync(join(installed, "bin/node")), true),
    file(`${DOCS}/LICENSE.node.gz`, compressed(readFileSync(license))),
  ];
}

/** The program as `bundle`, the directory of a build, has it. */
function programFiles(bundle: string, manifest: { readonly version: string }): readonly PackagedFile[] {
  const isLicense = ({ path }: PackagedFile): boolean => path.endsWith("/LICENSES.txt");
  const files = tree(bundle, `${LIBRARY}/dist`);
  const about = { name: "rxlet", version: manifest.version, license: "Apache-2.0", type: "module" };
  return [
    ...files.filter((each) => !isLicense(each)),
    ...files.filter(isLicense).map(({ content }) => file(`${DOCS}/LICENSES.txt.gz`, compressed(content))),
    file(`${LIBRARY}/package.json`, `${JSON.stringify(about)}\n`),
    file(`${LIBRARY}/bin/rxlet.js`, module(read("bin/rxlet.js"))),
    ...tree(join(ROOT, "examples"), `${LIBRARY}/examples`),
    file("/usr/bin/rxlet", text("packaging/debian/rxlet.sh")),
  ];
}

const systemFiles = (): readonly PackagedFile[] => [
  file("/usr/lib/systemd/system/rxlet.service", packagedUnit(text("packaging/rxlet.service"))),
  file("/usr/lib/systemd/system/rxlet.socket", text("packaging/rxlet.socket")),
  file("/etc/rxlet/config.yaml", packagedConfig(text("packaging/config.yaml"))),
  file("/etc/default/rxlet", text("packaging/debian/default")),
  file("/usr/share/bash-completion/completions/rxlet", bashCompletion()),
  file("/usr/share/fish/vendor_completions.d/rxlet.fish", fishCompletion()),
  file("/usr/share/zsh/vendor-completions/_rxlet", zshCompletion()),
];

const documents = ({ version, dateMs }: Release): readonly PackagedFile[] => [
  file("/usr/share/man/man8/rxlet.8.gz", compressed(manPage({ version, dateMs }))),
  file("/usr/share/lintian/overrides/rxlet", text("packaging/debian/lintian-overrides")),
  file(`${DOCS}/copyright`, text("packaging/debian/copyright")),
  file(`${DOCS}/changelog.gz`, compressed(text("packaging/debian/changelog"))),
  file(`${DOCS}/operations.md.gz`, compressed(text("docs/operations.md"))),
  file(`${DOCS}/joining.md.gz`, compressed(text("docs/joining.md"))),
  file(`${DOCS}/examples/10-rxlet.conflist`, text("packaging/10-rxlet.conflist")),
  file(`${DOCS}/examples/grafana-dashboard.json.gz`, compressed(text("packaging/monitoring/grafana-dashboard.json"))),
  file(`${DOCS}/examples/prometheus-rules.yaml.gz`, compressed(text("packaging/monitoring/prometheus-rules.yaml"))),
  file(`${DOCS}/examples/10-kubeadm.conf`, text("packaging/10-kubeadm.conf")),
];

/** Returns all files, sorted by path. `bundle` is the directory with the built program. */
export function packagedFiles(bundle: string, release: Release): readonly PackagedFile[] {
  const manifest = JSON.parse(text("package.json")) as { readonly version: string };
  if (manifest.version !== release.version) {
    throw new Error(`packaging/debian/changelog: is of ${release.version}, package.json of ${manifest.version}`);
  }
  const all = [...programFiles(bundle, manifest), ...nodeFiles(), ...systemFiles(), ...documents(release)];
  return all.sort((a, b) => (a.path < b.path ? -1 : 1));
}
