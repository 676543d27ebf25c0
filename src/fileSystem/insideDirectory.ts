/**
 * Opens paths below a directory that other processes write to, one component at a time and without following symbolic
 * links. Node has no openat(2), but a name below `/proc/self/fd/N` is resolved in the directory that descriptor N
 * refers to, even if it was moved.
 */
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { errnoOf } from "../core/ioError.ts";
import { kubeletError } from "../core/errors.ts";

/**
 * O_PATH, which Node does not define: the descriptor only refers to a location, so opening a device or a FIFO has no
 * side effects.
 */
export const PLACE = 0x20_0000;
/** Flags to open any file, including a symbolic link itself, as a location. */
export const ENTRY = PLACE | constants.O_NOFOLLOW;
/** Flags to open a directory, but not a symbolic link, as a location. */
export const DIRECTORY = ENTRY | constants.O_DIRECTORY;

/** Returns a path that resolves `name` in an open directory. */
export const nameIn = ({ fd }: Pick<fs.FileHandle, "fd">, name: string): string => `/proc/self/fd/${fd}/${name}`;

/** Returns a path to an open file. */
export const openedAt = ({ fd }: Pick<fs.FileHandle, "fd">): string => `/proc/self/fd/${fd}`;

/** Opens a directory. Fails for a symbolic link. */
export const openDirectory = (path: string): Promise<fs.FileHandle> => fs.open(path, DIRECTORY);

/** Opens any file, including a symbolic link itself, as a location. */
const openPlace = (path: string): Promise<fs.FileHandle> => fs.open(path, ENTRY);

/**
 * Opens the path of the given components below the directory. Throws Conflict if a component is a symbolic link or was
 * moved: the caller resolved the links before, so the path was swapped since. The caller closes the handle.
 */
export async function openBelow(root: string, names: readonly string[]): Promise<fs.FileHandle> {
  let here = await openDirectory(root);
  try {
    for (const [index, name] of names.entries()) {
      const above = here;
      const open = index === names.length - 1 ? openPlace : openDirectory;
      here = await open(nameIn(above, name)).catch((thrown: unknown) => {
        throw swapped(root, names, errnoOf(thrown));
      });
      await above.close();
    }
    await checkPlace(here, root, names);
    return here;
  } catch (thrown) {
    await here.close();
    throw thrown;
  }
}

async function checkPlace(opened: fs.FileHandle, root: string, names: readonly string[]): Promise<void> {
  if ((await opened.stat()).isSymbolicLink()) throw swapped(root, names, "it is a link");
  const place = await fs.readlink(openedAt(opened));
  if (place !== root && !place.startsWith(`${root}/`)) throw swapped(root, names, `it is at ${place}`);
}

const swapped = (root: string, names: readonly string[], why: string) =>
  kubeletError("Conflict", `cannot open ${[root, ...names].join("/")}: it was changed meanwhile (${why})`);
