/**
 * Links from the log paths of CRI to the logs of Docker, which writes to places of its own only. A file in the way that
 * is no link is not ours, and stays.
 * Upstream: core/logs.go of cri-dockerd.
 */
import fs from "node:fs/promises";
import path from "node:path";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import type { ContainerDetails } from "./engine/answers.ts";
import { LABEL } from "./mapping/names.ts";

const DIRECTORY_MODE = 0o755;

/** Links the log of a container, which may not be there yet, in place of another link. Rejects with errors of Node. */
export async function linkLog({ labels, logPath }: Pick<ContainerDetails, "labels" | "logPath">): Promise<void> {
  const place = labels[LABEL.logPath];
  if (place === undefined || logPath === "") return;
  if ((await fs.readlink(place).catch(() => undefined)) === logPath) return;
  await makeDirectories(path.dirname(place), DIRECTORY_MODE);
  await unlinkLog({ labels });
  await fs.symlink(logPath, place);
}

/** Removes the link; succeeds where there is none. */
export async function unlinkLog({ labels }: Pick<ContainerDetails, "labels">): Promise<void> {
  const place = labels[LABEL.logPath];
  if (place === undefined) return;
  const found = await fs.lstat(place).catch(() => undefined);
  if (found?.isSymbolicLink() === true) await fs.rm(place, { force: true });
}
