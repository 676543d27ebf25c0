/** A disk that may be full. */
import type { Files } from "../../ports/files.ts";
import type { SimFilesOptions } from "../simFiles.ts";

/** Whether there is room is up to whoever made it. */
export interface SimDiskSpace {
  isFull: boolean;
  readonly fault: NonNullable<SimFilesOptions["fault"]>;
}

/** Makes a disk with room on it. A full one does not mind being asked for a directory it has. */
export function createDiskSpace(hasDirectory: (path: string) => boolean): SimDiskSpace {
  const takesRoom = (operation: keyof Files, path: string): boolean =>
    operation === "writeFile" || operation === "symlink" || (operation === "makeDirectory" && !hasDirectory(path));
  const space: SimDiskSpace = {
    isFull: false,
    fault: (operation, path) => (space.isFull && takesRoom(operation, path) ? "ResourceExhausted" : undefined),
  };
  return space;
}
