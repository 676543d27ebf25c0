import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const under = (directory: string): readonly string[] =>
  readdirSync(resolve(root, directory), { recursive: true, encoding: "utf8" }).map((name) => `${directory}/${name}`);

const pages = ["README.md", "CONTRIBUTING.md", ...under("docs").filter((name) => name.endsWith(".md"))];
const files = ["src", "test", "scripts", "bench"].flatMap(under);
const fileNames = new Set(files.map((name) => basename(name)));
const paths = new Set(files);

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

/** TypeScript files in backticks that do not exist: by their path from the root or `src`, or by their name alone. */
function missingFiles(page: string): readonly string[] {
  const text = readFileSync(resolve(root, page), "utf8").replaceAll(/^```[^]*?^```/gm, "");
  const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file = ""]) => file);
  return named.filter((file) =>
    file.includes("/")
      ? !paths.has(file) && !paths.has(`src/${file}`)
      : !fileNames.has(file) && !existsSync(resolve(root, file)),
  );
}

describe.each(pages)("%s", (page) => {
  it("links to files and headings that exist", () => {
    expect(deadLinks(page)).toEqual([]);
  });

  it("names source files that exist", () => {
    expect(missingFiles(page)).toEqual([]);
  });
});
