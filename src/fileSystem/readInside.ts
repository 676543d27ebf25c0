/**
 * Reads files below a directory that other processes write to. Symbolic links are resolved as if that directory were
 * the root, and no file outside it is read even if path components are swapped during the read.
 * Upstream: filepath-securejoin, which does not detect the swap.
 */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/ioError.ts";
import { kubeletError } from "../core/errors.ts";
import { namesOf } from "../core/mount/subPath.ts";
import { openRegular, readUpTo } from "./regularFile.ts";

const MAX_LINKS = 255;
/** PATH_MAX of Linux. */
const MAX_PATH_CHARS = 4096;

/** Returns the content of a regular file as UTF-8. Also throws if it exceeds `maxBytes`. */
export async function readInside(root: string, path: string, maxBytes: number): Promise<string> {
  if (path.length > MAX_PATH_CHARS) throw kubeletError("InvalidArgument", `${root}: a path within it is too long`);
  const realRoot = await fs.realpath(root);
  const place = join(realRoot, ...(await resolveInside(realRoot, path)));
  const refuse = (why: string) => kubeletError("InvalidArgument", `cannot read ${join(root, path)}: ${why}`);
  await using file = await openRegular(place, { refuse: (why) => refuse(`it is ${why}`) });
  const opened = await fs.readlink(`/proc/self/fd/${file.fd}`).catch(() => place);
  if (opened !== place) throw refuse("it was moved during the read");
  const content = await readUpTo(file, maxBytes + 1);
  if (content.length > maxBytes) throw refuse(`it has more than ${maxBytes} bytes`);
  return content.toString("utf8");
}

/** Returns the path components from the root without symbolic links. */
async function resolveInside(root: string, path: string): Promise<readonly string[]> {
  const left = namesOf(path).toReversed();
  const here: string[] = [];
  let links = 0;
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (name === "..") {
      here.pop();
      continue;
    }
    const target = await linkTarget(join(root, ...here, name));
    if (target === undefined) {
      here.push(name);
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw kubeletError("Io", `cannot follow ${join(root, path)}: ELOOP`);
    if (target.startsWith("/")) here.length = 0;
    left.push(...namesOf(target).toReversed());
  }
  return here;
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await fs.readlink(path);
  } catch (thrown) {
    if (errnoOf(thrown) === "EINVAL") return undefined;
    throw thrown;
  }
}
