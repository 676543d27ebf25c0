import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** System administration programs live outside an ordinary user's PATH. */
const ALSO = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/** Absolute path of a program, looked up in `first`, then PATH, then the usual sbin directories. */
export function findProgram(name: string, first: readonly string[] = []): string | undefined {
  const folders = [...first, ...(process.env["PATH"] ?? "").split(delimiter), ...ALSO];
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
