/** The control files of the Debian package, and the facts that its changelog gives. Pure. */
import { createHash } from "node:crypto";

/** Facts of the newest entry of a Debian changelog. */
export interface Release {
  readonly version: string;
  readonly maintainer: string;
  /** Milliseconds since the epoch. */
  readonly dateMs: number;
}

/** A file of the package. */
export interface PackagedFile {
  /** Absolute path on the machine where the package is installed. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly isExecutable: boolean;
}

/** Names of architectures in Debian, by those of Node. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: "amd64",
  arm64: "arm64",
  ppc64: "ppc64el",
  s390x: "s390x",
};

/** Libraries that Node's releases are linked with, in the oldest versions with all of their symbols. */
const LIBRARIES = ["libc6 (>= 2.28)", "libgcc-s1 (>= 3.4)", "libstdc++6 (>= 5.2)"];
/** Packages of the programs that rxlet runs on every node, but for those that every Debian has. */
const PROGRAMS = ["iproute2", "iptables", "mount"];
const RECOMMENDS = ["containerd | containerd.io | cri-o", "containernetworking-plugins | kubernetes-cni", "nftables"];
const SUGGESTS = ["bash-completion", "nfs-common", "open-iscsi"];

const KIB = 1024;
const HEADER = /^rxlet \(([0-9][0-9A-Za-z.+~-]*)\) /;
const TRAILER = /^ -- (.+ <[^<>]+>) {2}(.+)$/m;

/** Reads the newest entry. Errors: an Error that says which line is wrong. */
export function newestRelease(changelog: string): Release {
  const [, version] = HEADER.exec(changelog) ?? [];
  const [, maintainer, date = ""] = TRAILER.exec(changelog) ?? [];
  const dateMs = Date.parse(date);
  if (version === undefined) throw new Error("changelog: the first line must be `rxlet (VERSION) DISTRIBUTION; ...`");
  if (maintainer === undefined || Number.isNaN(dateMs)) {
    throw new Error("changelog: the last line of an entry must be ` -- NAME <MAIL>  DATE`");
  }
  return { version, maintainer, dateMs };
}

/** Returns Debian's name of an architecture of Node. Errors: an Error for one that the package does not exist for. */
export function architectureOf(node: string): string {
  const name = ARCHITECTURES[node];
  if (name === undefined) throw new Error(`no Debian architecture is known for ${node}`);
  return name;
}

/** Returns the file `control`. Sizes count whole KiB of each file, as Debian's policy says. */
export function controlFile(release: Release, architecture: string, files: readonly PackagedFile[]): string {
  const kib = files.reduce((sum, { content }) => sum + Math.ceil(content.length / KIB), 0);
  return [
    "Package: rxlet",
    `Version: ${release.version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${release.maintainer}`,
    `Installed-Size: ${kib}`,
    `Depends: ${[...LIBRARIES, ...PROGRAMS].join(", ")}`,
    `Recommends: ${RECOMMENDS.join(", ")}`,
    `Suggests: ${SUGGESTS.join(", ")}`,
    "Section: admin",
    "Priority: optional",
    "Description: node agent of Kubernetes",
    " rxlet is a kubelet: it runs the pods of a node, those of a manifest directory",
    " and those of an API server, in a container runtime such as containerd.",
    " .",
    " The package contains the Node that runs it. The installation neither enables",
    " nor starts the service rxlet.service or its socket rxlet.socket.",
    "",
  ].join("\n");
}

/** Returns the file `conffiles`: everything below /etc. */
export const conffilesFile = (files: readonly PackagedFile[]): string =>
  files
    .filter(({ path }) => path.startsWith("/etc/"))
    .map(({ path }) => `${path}\n`)
    .join("");

/** Returns the file `md5sums`: of everything but configuration. */
export const md5sumsFile = (files: readonly PackagedFile[]): string =>
  files
    .filter(({ path }) => !path.startsWith("/etc/"))
    .map(({ path, content }) => `${createHash("md5").update(content).digest("hex")}  ${path.slice(1)}\n`)
    .join("");
