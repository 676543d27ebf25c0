/**
 * Cgroup files of started containers, also where a shim is killed between Docker's start and the write: a mark, an empty
 * file with the name of the container, is made before the start and removed after the write. Values that an update has set since
 * are never overwritten, because a container that was started completely has no mark. Bounds: one mark for
 * each container, 65,536 of an earlier shim.
 */
import fs from "node:fs/promises";
import path from "node:path";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { writeCgroupFiles } from "./cgroupWrites.ts";
import type { ContainerDetails } from "./engine/answers.ts";
import { type CgroupFiles, cgroupFilesOf } from "./mapping/cgroupFiles.ts";
import { LABEL } from "./mapping/names.ts";

/** See the file header. Calls reject with errors of Node, and for values that the kernel refuses. */
export interface StartedCgroups {
  /** Marks a container that is going to be started, if it has files. */
  mark(container: Pick<ContainerDetails, "id" | "labels">): Promise<void>;
  /** Ids of containers whose start may have ended without the write. */
  marked(): ReadonlySet<string>;
  /** Writes the files of a container, if it runs, and removes its mark. */
  write(details: ContainerDetails): Promise<void>;
  /** Writes new values of a container, if it runs, after those that its start has left out. */
  update(details: ContainerDetails, files: CgroupFiles): Promise<void>;
  /** Removes the mark of a container that is gone. */
  forget(id: string): Promise<void>;
}

const ID = /^[0-9a-f]{64}$/;

/** Reads the marks of an earlier shim. `writeFiles` is `writeCgroupFiles`, except in tests. */
export async function openStartedCgroups(stateDir: string, writeFiles = writeCgroupFiles): Promise<StartedCgroups> {
  const dir = path.join(stateDir, "started");
  await makeDirectories(dir, 0o700);
  const marks = new Set((await namesIn(dir)).filter((name) => ID.test(name)));
  const removeFile = (id: string): Promise<void> => fs.rm(path.join(dir, id), { force: true });
  const write = async (details: ContainerDetails): Promise<void> => {
    // Without its id here, no other call writes meanwhile; the file stays until the end.
    const isMarked = marks.delete(details.id);
    try {
      if (details.running) await writeFiles(details.pid, cgroupFilesOf(details.labels[LABEL.cgroupFiles]));
    } finally {
      if (isMarked) await removeFile(details.id);
    }
  };
  return {
    mark: async ({ id, labels }) => {
      if (!ID.test(id) || Object.keys(cgroupFilesOf(labels[LABEL.cgroupFiles])).length === 0) return;
      await fs.writeFile(path.join(dir, id), "", { mode: 0o600 });
      marks.add(id);
    },
    marked: () => marks,
    write,
    update: async (details, files) => {
      if (marks.has(details.id)) await write(details);
      if (details.running) await writeFiles(details.pid, files);
    },
    forget: async (id) => {
      if (marks.delete(id)) await removeFile(id);
    },
  };
}
