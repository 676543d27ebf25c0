/**
 * Writes files of a container's cgroup, for limits that Docker has no words for: where the shim may write there, that
 * is as root on the machine of Docker. A file that this version of cgroups has not is left out.
 */
import fs from "node:fs/promises";
import path from "node:path";
import type { CgroupFiles } from "./mapping/cgroupFiles.ts";

const ROOT = "/sys/fs/cgroup";
/** Answers of the kernel where there is no such file, or no right to it. */
const ELSEWHERE: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM", "EROFS"]);

/** Writes the files into the cgroup of the process. Rejects for values that the kernel refuses. */
export async function writeCgroupFiles(pid: number, files: CgroupFiles): Promise<void> {
  const entries = Object.entries(files);
  if (entries.length === 0) return;
  const lines = (await fs.readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "")).split("\n");
  for (const [name, value] of entries) {
    for (const place of lines.flatMap((line) => placeOf(line, name))) {
      await fs.writeFile(path.join(place, name), value, { flag: fs.constants.O_WRONLY }).catch((thrown: unknown) => {
        if (!ELSEWHERE.has((thrown as NodeJS.ErrnoException).code ?? "")) throw thrown;
      });
    }
  }
}

/** The directory of a hierarchy, `0::/path` for version 2, that may have the file. */
function placeOf(line: string, name: string): readonly string[] {
  const [, controllers = "", cgroup] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
  if (cgroup === undefined || cgroup === "/") return [];
  if (controllers === "") return [path.join(ROOT, cgroup)];
  return controllers.split(",").includes(name.slice(0, name.indexOf(".")))
    ? [path.join(ROOT, controllers, cgroup)]
    : [];
}
