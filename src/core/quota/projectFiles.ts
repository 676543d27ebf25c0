/**
 * Assignment of directories to project IDs of a file system, in `/etc/projects` (`ID:directory`) and `/etc/projid`
 * (`name:ID`); see projects(5). Unknown lines are kept. Upstream: project.go of pkg/volume/util/fsquota.
 */

/** Content of both files. */
export interface ProjectFiles {
  readonly projects: string;
  readonly projid: string;
}

/** The first project ID for volumes. */
export const FIRST_PROJECT = 1_048_577;
/** Maximum number of IDs skipped because the file system has files with them though neither file names them. */
export const MAX_IDS_LOOKED_AT = 128;

const DIRECTORY_LINE = /^(\d+):(.*)$/;
const NAME_LINE = /^[^#:][^:]*:(\d+)$/;

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

const directories = ({ projects }: ProjectFiles) =>
  linesOf(projects).flatMap((line) => {
    const [, id, directory = ""] = DIRECTORY_LINE.exec(line) ?? [];
    return id === undefined ? [] : [{ id: Number(id), directory, line }];
  });

/** Returns the project ID of a directory. */
export const projectOf = (files: ProjectFiles, directory: string): number | undefined =>
  directories(files).find((each) => each.directory === directory)?.id;

/** Returns the IDs that neither file names, in allocation order; as many as may be tried. */
export function freeProjects(files: ProjectFiles): readonly number[] {
  const named = linesOf(files.projid).map((line) => Number(NAME_LINE.exec(line)?.[1]));
  const taken = new Set([...directories(files).map(({ id }) => id), ...named]);
  const free: number[] = [];
  for (let id = FIRST_PROJECT; free.length <= MAX_IDS_LOOKED_AT; id += 1) if (!taken.has(id)) free.push(id);
  return free;
}

/** Adds a directory with a project ID that is not in use. */
export const withProject = (files: ProjectFiles, directory: string, id: number): ProjectFiles => ({
  projects: textOf([...linesOf(files.projects), `${id}:${directory}`]),
  projid: textOf([...linesOf(files.projid), `volume${id}:${id}`]),
});

/** Returns the files without a directory and those below it, and the project IDs of the removed ones. */
export function withoutProjects(files: ProjectFiles, top: string) {
  const all = directories(files);
  const gone = all.filter(({ directory }) => directory === top || directory.startsWith(`${top}/`));
  const lines = new Set(gone.map(({ line }) => line));
  const kept = new Set(all.flatMap(({ id, line }) => (lines.has(line) ? [] : [id])));
  const unused = new Set(gone.flatMap(({ id }) => (kept.has(id) ? [] : [id])));
  const left = {
    projects: textOf(linesOf(files.projects).filter((line) => !lines.has(line))),
    projid: textOf(linesOf(files.projid).filter((line) => !unused.has(Number(NAME_LINE.exec(line)?.[1])))),
  };
  return { left, gone: gone.map(({ id, directory }) => ({ id, directory })) };
}
