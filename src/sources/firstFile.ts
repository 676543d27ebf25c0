/** Reads the first file of a list that exists, as `--machine-id-file` and `--boot-id-file` name them. */
import { readWhole } from "../fileSystem/regularFile.ts";

/** Far larger than any ID. */
const MAX_BYTES = 4_096;

/**
 * Returns the trimmed content of the first file with any. `paths` are separated by commas. A file that is missing, not
 * regular or larger than 4 KiB is skipped. Upstream: getInfoFromFiles of cadvisor.
 */
export async function firstFile(paths: string, prefix = ""): Promise<string | undefined> {
  for (const path of paths.split(",")) {
    const content = await readWhole(prefix + path, MAX_BYTES, { links: "followed" }).catch(() => undefined);
    const text = content?.toString("utf8").trim() ?? "";
    if (text !== "") return text;
  }
  return undefined;
}
