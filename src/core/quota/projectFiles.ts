/**
 * Which directories belong to which project of a file system, as `/etc/projects` (`ID:directory`) and `/etc/projid`
 * (`name:ID`) have it; see projects(5). Lines that are not understood stay. Counterpart: project.go of pkg/volume/util/fsquota.
 */

/** Content of both files. */
export interface ProjectFiles {
  readonly projects: string;
  readonly projid: string;
}

/** The first id that volumes get. */
export const FIRST_PROJECT = 1_048_577;
/** How many ids that no file names, but the file system has files of, are passed over. */
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

/** The project of a directory. */
export const projectOf = (files: ProjectFiles, directory: string): number | undefined =>
  directories(files).find((each) => each.directory === directory)?.id;

/** Ids that neither file names, in the order they are given away; as many as are looked at. */
export function freeProjects(files: ProjectFiles): readonly number[] {
  const named = linesOf(files.projid).map((line) => Number(NAME_LINE.exec(line)?.[1]));
  const taken = new Set([...directories(files).map(({ id }) => id), ...named]);
  const free: number[] = [];
  for (let id = FIRST_PROJECT; free.length <= MAX_IDS_LOOKED_AT; id += 1) if (!taken.has(id)) free.push(id);
  return free;
}

/** The files with this directory in this project, which nobody has yet. */
export const withProject = (files: ProjectFiles, directory: string, id: number): ProjectFiles => ({
  projects: textOf([...linesOf(files.projects), `${id}:${directory}`]),
  projid: textOf([...linesOf(files.projid), `volume${id}:${id}`]),
});

/** The files without a directory and what is below it, and which of those were in which project. */
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
