/** Trees as a hostile container makes them: deep, wide, and with names no other program likes. */
import * as fs from "node:fs";
import { constants } from "node:fs";

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;

/** Directories inside of each other, made one below the other without ever naming the whole path. */
export function makeDeep(path: string, levels: number, name = "d"): void {
  fs.mkdirSync(path);
  let here = fs.openSync(path, DIRECTORY);
  for (let level = 0; level < levels; level += 1) {
    const next = `/proc/self/fd/${here}/${name}`;
    fs.mkdirSync(next);
    const below = fs.openSync(next, DIRECTORY);
    fs.closeSync(here);
    here = below;
  }
  fs.closeSync(here);
}

/** Names as long as they may be, all of one empty file. */
export function makeWide(path: string, names: number): void {
  fs.mkdirSync(path);
  const MOST_LINKS = 60_000;
  let file = "";
  for (let index = 0; index < names; index += 1) {
    const name = `${path}/${String(index).padStart(255, "x")}`;
    if (index % MOST_LINKS === 0) fs.closeSync(fs.openSync((file = name), "w"));
    else fs.linkSync(file, name);
  }
}
