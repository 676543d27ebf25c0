/** Removes a directory of a daemon, which may have bound its root directory to itself. */
import { rm } from "node:fs/promises";
import { unmountBelow } from "./kernelState.ts";

/** Unmounts what is mounted below, then removes everything; a directory that is not there is fine. */
export async function removeFolder(folder: string): Promise<void> {
  unmountBelow(folder);
  await rm(folder, { recursive: true, force: true });
}
