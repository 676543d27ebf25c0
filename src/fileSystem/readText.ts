/** Reads small files that operators keep: tokens, certificates, keys. Links are followed, as volumes of Secrets have them. */
import { readWhole } from "./regularFile.ts";

/** Far above the size of any such file. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Content as UTF-8. Throws InvalidArgument for a file that is not regular or larger than 4 MiB. */
export const readText = async (path: string): Promise<string> =>
  (await readWhole(path, MAX_BYTES, { links: "followed" })).toString("utf8");
