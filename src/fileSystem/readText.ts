/**
 * Reads small files of the operator: tokens, certificates, keys. Follows symbolic links, because Secret volumes contain
 * them.
 */
import { readWhole } from "./regularFile.ts";

/** Far larger than any such file. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Returns the content as UTF-8. Throws InvalidArgument for a file that is not regular or larger than 4 MiB. */
export const readText = async (path: string): Promise<string> =>
  (await readWhole(path, MAX_BYTES, { links: "followed" })).toString("utf8");
