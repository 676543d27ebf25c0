/** The program as it is installed: compiled, beside the same dependencies. Types are stripped at build time there. */
import { execFile } from "node:child_process";
import { copyFile, cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Compiles into `folder`; the result is what `rxlet` runs there. */
export async function buildProgram(folder: string): Promise<string> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", join(ROOT, "tsconfig.build.json"), "--outDir", join(folder, "dist")];
  await promisify(execFile)(process.execPath, args).catch((error: { readonly stdout?: string }) => {
    throw new Error(`the program does not compile:\n${error.stdout ?? ""}`, { cause: error });
  });
  await copyFile(join(ROOT, "package.json"), join(folder, "package.json"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await cp(join(ROOT, "bin"), join(folder, "bin"), { recursive: true });
  return join(folder, "bin/rxlet.js");
}
