/** Images for tests, built from what is installed: busybox-static and, for the pause process, the C compiler. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findProgram } from "./findProgram.ts";
import { tarArchive } from "./tarArchive.ts";
import type { TarEntry } from "./tarArchive.ts";

const run = promisify(execFile);

/** All of busybox's programs in /bin; users root and nobody; CMD sh. */
export const BUSYBOX_IMAGE = "rxlet.test/busybox:1";
/** The process that holds a sandbox's namespaces. */
export const PAUSE_IMAGE = "rxlet.test/pause:1";

/** An image as one file, to be loaded with `ctr images import` or by Docker. */
export interface ImageArchive {
  readonly name: string;
  /** OCI image layout in a tar archive. */
  readonly archive: Buffer;
}

interface ImageProcess {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
}

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const PATH = "PATH=/bin:/sbin:/usr/bin:/usr/sbin";

/** Builds BUSYBOX_IMAGE, or the same under another name and id, or for another user. Needs a static busybox in PATH. */
export async function busyboxImage(name = BUSYBOX_IMAGE, User = ""): Promise<ImageArchive> {
  const busybox = findProgram("busybox");
  if (busybox === undefined) throw new Error("no busybox in PATH (Debian: busybox-static)");
  const { stdout } = await run(busybox, ["--list"]);
  const applets = stdout.split("\n").filter((name) => name !== "" && name !== "busybox");
  return ociArchive(name, { Cmd: ["sh"], Env: [PATH, `IMAGE=${name}`], User }, [
    ...["bin", "etc", "root", "proc", "sys", "dev", "var"].map(directory),
    { kind: "directory", path: "tmp", mode: 0o1777 },
    text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"),
    text("etc/group", "root:x:0:\nnogroup:x:65534:\n"),
    { kind: "file", path: "bin/busybox", content: await readFile(busybox), mode: 0o755 },
    ...applets.map((name): TarEntry => ({ kind: "symlink", path: `bin/${name}`, target: "busybox" })),
  ]);
}

const PAUSE_SOURCE = `
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void leave(int signal) { (void)signal; _exit(0); }
static void reap(int signal) { (void)signal; while (waitpid(-1, NULL, WNOHANG) > 0); }
int main(void) {
  signal(SIGINT, leave);
  signal(SIGTERM, leave);
  signal(SIGCHLD, reap);
  for (;;) pause();
}
`;

/** Compiled once per machine, by the digest of its source: each containerd and dockerd of a test loads it. */
const PAUSE_PROGRAM = fileURLToPath(
  new URL(`../../node_modules/.cache/rxlet/pause-${digestOf(Buffer.from(PAUSE_SOURCE)).slice(0, 12)}`, import.meta.url),
);

/** Builds PAUSE_IMAGE: a small static program if there is a C compiler, else a busybox script. */
export async function pauseImage(): Promise<ImageArchive> {
  const compiler = findProgram("cc");
  if (compiler === undefined) return busyboxPause();
  const content = await readFile(PAUSE_PROGRAM).catch(() => compilePause(compiler));
  return ociArchive(PAUSE_IMAGE, { Entrypoint: ["/pause"] }, [{ kind: "file", path: "pause", content, mode: 0o755 }]);
}

/** Compiles beside and renames, because other tests look at the same time. */
async function compilePause(compiler: string): Promise<Buffer> {
  await mkdir(dirname(PAUSE_PROGRAM), { recursive: true });
  const folder = await mkdtemp(`${PAUSE_PROGRAM}-`);
  try {
    const [source, program] = [join(folder, "pause.c"), join(folder, "pause")];
    await writeFile(source, PAUSE_SOURCE);
    await run(compiler, ["-static", "-Os", "-s", "-o", program, source]);
    await rename(program, PAUSE_PROGRAM);
    return await readFile(PAUSE_PROGRAM);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function busyboxPause(): Promise<ImageArchive> {
  const busybox = findProgram("busybox");
  if (busybox === undefined) throw new Error("neither cc nor busybox in PATH");
  const script = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done";
  return ociArchive(PAUSE_IMAGE, { Entrypoint: ["/bin/sh", "-c", script], Env: [PATH] }, [
    directory("bin"),
    { kind: "file", path: "bin/busybox", content: await readFile(busybox), mode: 0o755 },
    { kind: "symlink", path: "bin/sh", target: "busybox" },
    { kind: "symlink", path: "bin/sleep", target: "busybox" },
  ]);
}

const directory = (path: string): TarEntry => ({ kind: "directory", path });
const text = (path: string, content: string): TarEntry => ({ kind: "file", path, content: Buffer.from(content) });
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Packs a single layer as an OCI image layout, annotated with the name that containerd imports. */
export function ociArchive(name: string, process_: ImageProcess, entries: readonly TarEntry[]): ImageArchive {
  const blobs: TarEntry[] = [];
  const blob = (mediaType: string, content: Buffer): { mediaType: string; digest: string; size: number } => {
    const digest = digestOf(content);
    blobs.push({ kind: "file", path: `blobs/sha256/${digest}`, content });
    return { mediaType: `application/vnd.oci.image.${mediaType}`, digest: `sha256:${digest}`, size: content.length };
  };
  const layer = blob("layer.v1.tar", tarArchive(entries));
  const config = blob(
    "config.v1+json",
    json({
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config: process_,
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    }),
  );
  const manifestType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = blob(
    "manifest.v1+json",
    json({ schemaVersion: 2, mediaType: manifestType, config, layers: [layer] }),
  );
  const index = {
    schemaVersion: 2,
    manifests: [{ ...manifest, annotations: { "io.containerd.image.name": name } }],
  };
  // Docker 20.10 knows images by this file alone; readers of the layout ignore it.
  const forDocker = [
    {
      Config: `blobs/${config.digest.replace(":", "/")}`,
      RepoTags: [name],
      Layers: [`blobs/${layer.digest.replace(":", "/")}`],
    },
  ];
  const archive = tarArchive([
    text("manifest.json", JSON.stringify(forDocker)),
    text("oci-layout", JSON.stringify({ imageLayoutVersion: "1.0.0" })),
    text("index.json", JSON.stringify(index)),
    directory("blobs"),
    directory("blobs/sha256"),
    ...blobs,
  ]);
  return { name, archive };
}
