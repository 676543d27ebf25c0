/** The files of the live view's page: read beside the bundled program, bundled in memory when the sources run. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { errnoOf } from "../../core/ioError.ts";

export interface PageFile {
  /** Content type. */
  readonly type: string;
  readonly body: Uint8Array;
}

const TYPES = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
} as const;

/** `live` in the directory of the bundle. From the sources this path does not exist. */
const BUNDLED = new URL("../live/", import.meta.url);

let files: Promise<ReadonlyMap<string, PageFile>> | undefined;

/** Returns the files by name, `index.html` among them. Reads or bundles them once; rejects when it cannot. */
export function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  files ??= load().catch((thrown: unknown) => {
    files = undefined;
    throw thrown;
  });
  return files;
}

async function load(): Promise<ReadonlyMap<string, PageFile>> {
  const bodies = (await readBundled()) ?? (await bundleSources());
  return new Map(
    Object.entries(TYPES).flatMap(([name, type]) => {
      const body = bodies.get(name);
      return body === undefined ? [] : [[name, { type, body }] as const];
    }),
  );
}

async function readBundled(): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  try {
    const read = Object.keys(TYPES).map(async (name) => [name, await readFile(new URL(name, BUNDLED))] as const);
    return new Map(await Promise.all(read));
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

async function bundleSources(): Promise<ReadonlyMap<string, Uint8Array>> {
  const { bundlePage } = await import("./bundlePage.ts");
  return (await bundlePage(fileURLToPath(new URL("../../../", import.meta.url)))).files;
}
