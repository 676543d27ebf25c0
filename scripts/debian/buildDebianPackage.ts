/**
 * Builds the Debian package of rxlet for the architecture of this machine, in the directory that `--output` names, and
 * prints its path. Needs dpkg-deb. Equal sources give equal bytes: all times are SOURCE_DATE_EPOCH, by default the date of
 * the changelog. `--compression=none` is faster, and makes a package of about 140 MiB.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "rolldown";
import { program } from "../../rolldown.config.ts";
import {
  architectureOf,
  conffilesFile,
  controlFile,
  md5sumsFile,
  newestRelease,
  type PackagedFile,
} from "./controlFiles.ts";
import { packagedFiles } from "./packagedFiles.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PACKAGING = join(ROOT, "packaging/debian");
const SCRIPTS = ["postinst", "prerm", "postrm"];
/** Directories without files. */
const EMPTY_DIRECTORIES = ["/etc/kubernetes/manifests"];
const MS_PER_SECOND = 1_000;

/** Writes files below `root`; modes do not depend on the umask, nor times on the clock. */
function writeTree(root: string, files: readonly PackagedFile[], seconds: number): void {
  const directories = new Set<string>([root]);
  const need = (path: string): void => {
    if (directories.has(path)) return;
    need(dirname(path));
    mkdirSync(path);
    directories.add(path);
  };
  for (const path of EMPTY_DIRECTORIES) need(join(root, path));
  for (const { path, content, isExecutable } of files) {
    const target = join(root, path);
    need(dirname(target));
    writeFileSync(target, content);
    chmodSync(target, isExecutable ? 0o755 : 0o644);
    utimesSync(target, seconds, seconds);
  }
  for (const path of [...directories].toReversed()) {
    chmodSync(path, 0o755);
    utimesSync(path, seconds, seconds);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { output: { type: "string", default: ROOT }, compression: { type: "string", default: "xz" } },
  });
  const release = newestRelease(readFileSync(join(PACKAGING, "changelog"), "utf8"));
  const architecture = architectureOf(process.arch);
  const seconds = Number(process.env["SOURCE_DATE_EPOCH"] ?? release.dateMs / MS_PER_SECOND);
  if (!Number.isSafeInteger(seconds)) throw new Error("SOURCE_DATE_EPOCH: must be a number of seconds");
  const folder = mkdtempSync(join(tmpdir(), "rxlet-deb-"));
  try {
    const bundle = join(folder, "dist");
    await build({ ...program, cwd: ROOT, logLevel: "warn", output: { ...program.output, dir: bundle } });
    const files = packagedFiles(bundle, { ...release, dateMs: seconds * MS_PER_SECOND });
    const control = (name: string, content: string, isExecutable = false): PackagedFile => ({
      ...{ path: `/DEBIAN/${name}`, content: Buffer.from(content), isExecutable },
    });
    const root = join(folder, "root");
    mkdirSync(root);
    writeTree(
      root,
      [
        ...files,
        control("control", controlFile(release, architecture, files)),
        control("conffiles", conffilesFile(files)),
        control("md5sums", md5sumsFile(files)),
        ...SCRIPTS.map((name) => control(name, readFileSync(join(PACKAGING, name), "utf8"), true)),
      ],
      seconds,
    );
    const target = join(resolve(values.output), `rxlet_${release.version}_${architecture}.deb`);
    execFileSync("dpkg-deb", ["--root-owner-group", `-Z${values.compression}`, "--build", root, target], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
      stdio: ["ignore", "ignore", "inherit"],
    });
    console.log(target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
