/** Limits that Docker cannot set, as files of the container's cgroup for the shim to write. Pure. */
import type { LinuxContainerResources } from "../../gen/cri.ts";
import { isJsonObject, parseJson } from "../../core/json.ts";

/** Values by the name of the file. */
export type CgroupFiles = Readonly<Record<string, string>>;

/** A file of a cgroup: a controller and a name, no path. */
const FILE_NAME = /^[a-z]+\.[\w.-]+$/;
const MAX_FILES = 64;

/**
 * Returns the files for limits of huge pages (both versions of cgroups) and for the values that CRI names for version
 * 2. Entries that are no files of a cgroup are left out.
 */
export function cgroupFiles(resources: LinuxContainerResources): CgroupFiles {
  const hugePages = resources.hugepageLimits.flatMap(({ pageSize, limit }) => [
    [`hugetlb.${pageSize}.max`, limit.toString()],
    [`hugetlb.${pageSize}.limit_in_bytes`, limit.toString()],
  ]);
  return kept(Object.fromEntries([...hugePages, ...Object.entries(resources.unified)]));
}

/** Reads the files from a label; none for any other text. */
export function cgroupFilesOf(label: string | undefined): CgroupFiles {
  const value = parseJson(label);
  return isJsonObject(value) ? kept(value) : {};
}

const kept = (entries: Readonly<Record<string, unknown>>): CgroupFiles =>
  Object.fromEntries(
    Object.entries(entries)
      .filter((entry): entry is [string, string] => FILE_NAME.test(entry[0]) && typeof entry[1] === "string")
      .slice(0, MAX_FILES),
  );
