/**
 * Opening what is below a directory that others write to, one name at a time and no link followed: Node has no openat,
 * but a name below `/proc/self/fd/N` is looked up in the very directory that N is open on, wherever it is moved to.
 */
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { errnoOf } from "../core/ioError.ts";
import { kubeletError } from "../core/errors.ts";

/** O_PATH, for which Node has no name: the descriptor is a place only, and opening it wakes no device and no FIFO. */
export const PLACE = 0x20_0000;
/** Flags to open whatever it is, a link itself too, as a place. */
export const ENTRY = PLACE | constants.O_NOFOLLOW;
/** Flags to open a directory that is no link, as a place. */
export const DIRECTORY = ENTRY | constants.O_DIRECTORY;

/** A path to what a name stands for in a directory that is open. */
export const nameIn = ({ fd }: Pick<fs.FileHandle, "fd">, name: string): string => `/proc/self/fd/${fd}/${name}`;

/** A path to what is open itself. */
export const openedAt = ({ fd }: Pick<fs.FileHandle, "fd">): string => `/proc/self/fd/${fd}`;

/** Opens a directory; it is no link. */
export const openDirectory = (path: string): Promise<fs.FileHandle> => fs.open(path, DIRECTORY);

/** Opens whatever it is, a link itself too, as a place. */
const openPlace = (path: string): Promise<fs.FileHandle> => fs.open(path, ENTRY);

/**
 * Opens what the names lead to below the directory. Conflict when one of them is a link, or is not where it should be:
 * the names are those of a path that had none a moment ago. The caller closes it.
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
