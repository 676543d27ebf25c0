import { describe, expect, it } from "vitest";
import {
  FIRST_PROJECT,
  freeProjects,
  projectOf,
  withoutProjects,
  withProject,
} from "../../../../src/core/quota/projectFiles.ts";

const EMPTY = { projects: "", projid: "" };
const THEIRS = { projects: "# of the admin\n7:/srv/mail\n", projid: "mail:7\n#mail:1048577\nbackup:1048578\n" };
const [A, B] = ["/k/pods/u/volumes/kubernetes.io~empty-dir/a", "/k/pods/u/volumes/kubernetes.io~empty-dir/b"];

describe("the project files", () => {
  it("provide unused IDs from 1048577 on, as many as may be tried", () => {
    const free = freeProjects(withProject(THEIRS, A, FIRST_PROJECT));
    expect([free[0], free.length]).toEqual([1_048_579, 129]);
    expect(freeProjects(EMPTY)[0]).toBe(1_048_577);
  });

  it("name a directory and its project, and keep all other lines", () => {
    const files = withProject(THEIRS, A, FIRST_PROJECT);
    expect(files).toEqual({
      projects: `# of the admin\n7:/srv/mail\n1048577:${A}\n`,
      projid: "mail:7\n#mail:1048577\nbackup:1048578\nvolume1048577:1048577\n",
    });
    expect([projectOf(files, A), projectOf(files, B)]).toEqual([1_048_577, undefined]);
  });

  it("drop entries at or below a directory, and keep the rest", () => {
    const files = withProject(withProject(THEIRS, A, 1_048_577), B, 1_048_579);
    expect(withoutProjects(files, "/k/pods/u")).toEqual({
      left: THEIRS,
      gone: [
        { id: 1_048_577, directory: A },
        { id: 1_048_579, directory: B },
      ],
    });
    expect(withoutProjects(files, "/k/pods/u/volumes/kubernetes.io~empty-dir/other").left).toEqual(files);
  });

  it("keep the name of a project that another directory uses", () => {
    const files = { projects: `1048577:${A}\n1048577:/elsewhere\n`, projid: "volume1048577:1048577\n" };
    expect(withoutProjects(files, A).left).toEqual({ ...files, projects: "1048577:/elsewhere\n" });
  });
});
