/** Writes of state files that a kill at any moment leaves whole: the old content, or the new one. */
import fs from "node:fs";

/** Replaces a file by rename. `temporary` is on the same file system; by default beside the file. Throws errors of Node. */
export function replaceFile(file: string, text: string, temporary = `${file}.tmp`): void {
  fs.writeFileSync(temporary, text, { mode: 0o600 });
  fs.renameSync(temporary, file);
}
