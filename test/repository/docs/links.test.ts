import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const under = (directory: string): readonly string[] =>
  readdirSync(resolve(root, directory), { recursive: true, encoding: "utf8" }).map((name) => `${directory}/${name}`);

const pages = ["README.md", "CONTRIBUTING.md", ...under("docs").filter((name) => name.endsWith(".md"))];
const files = ["src", "test", "scripts", "bench"].flatMap(under);
const fileNames = new Set(files.map((name) => basename(name)));

/** Anchors of the headings of a page, as GitHub derives them. */
function anchors(path: string): readonly string[] {
  const headings = [...readFileSync(path, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** Relative links of a page to a file or heading that does not exist. */
function deadLinks(page: string): readonly string[] {
  const text = readFileSync(resolve(root, page), "utf8");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? resolve(root, page) : resolve(root, dirname(page), path);
    if (/^\w+:/.test(link)) {
      return false;
    }
    return !existsSync(target) || (anchor !== undefined && !anchors(target).includes(anchor));
  });
}

/** Whether a name in backticks is a file or directory of the repository, by its path from the root or `src`, or by name. */
const isThere = (name: string): boolean =>
  [name, `src/${name}`, `src/${name}.ts`].some((path) => existsSync(resolve(root, path))) || fileNames.has(name);

/** Source files (`*.ts`) and directories (`core/pod/`, `test/unit`) in backticks that do not exist. */
function missingPaths(page: string): readonly string[] {
  const text = readFileSync(resolve(root, page), "utf8").replaceAll(/^```[^]*?^```/gm, "");
  const named = [...text.matchAll(/`([\w./-]+)`/g)].map(([, name = ""]) => name);
  const top = new RegExp(
    `^(?:${[...readdirSync(resolve(root, "src")), "src", "test", "docs", "packaging"].join("|")})/`,
  );
  return named.filter((name) => (/\w\.ts$/.test(name) || top.test(name)) && !isThere(name));
}

describe.each(pages)("%s", (page) => {
  it("links to files and headings that exist", () => {
    expect(deadLinks(page)).toEqual([]);
  });

  it("names files and directories that exist", () => {
    expect(missingPaths(page)).toEqual([]);
  });
});
