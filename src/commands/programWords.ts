/** How a user starts this program again, for hints that can be copied. */
import path from "node:path";

/** `rxlet` where it is installed, `npx node src/main.ts` in a clone. */
export function programWords(script = process.argv[1] ?? "", cwd = process.cwd()): string {
  if (!script.endsWith(".ts")) return "rxlet";
  const relative = path.relative(cwd, script);
  return `npx node ${relative.startsWith("..") ? script : relative}`;
}
