/** The command that starts this program, for hints that users can copy. */
import path from "node:path";

/** Returns `rxlet` if installed, `npx node src/main.ts` in a clone. */
export function programWords(script = process.argv[1] ?? "", cwd = process.cwd()): string {
  if (!script.endsWith(".ts")) return "rxlet";
  const relative = path.relative(cwd, script);
  return `npx node ${relative.startsWith("..") ? script : relative}`;
}
