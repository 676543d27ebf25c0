/** Limits and the log form of termination messages. Counterpart: kuberuntime_container.go. */

/** Most a container may say in its termination message file. */
export const MAX_TERMINATION_MESSAGE_BYTES = 4096;
/** Most that is taken from the log when the file is empty. */
export const MAX_LOG_MESSAGE_BYTES = 2048;
const MAX_LOG_MESSAGE_LINES = 80;

/** The last lines of a CRI-format log as a message: time, stream and tag are dropped. */
export function logTailMessage(tail: string): string {
  const lines = tail.split("\n").filter((line) => line !== "");
  const parsed = lines.flatMap((line) => {
    const match = /^\S+ (?:stdout|stderr) ([FP])\S* ?([^]*)$/.exec(line);
    return match === null ? [] : [(match[2] ?? "") + (match[1] === "F" ? "\n" : "")];
  });
  const text = parsed.slice(-MAX_LOG_MESSAGE_LINES).join("");
  return lastBytes(text, MAX_LOG_MESSAGE_BYTES);
}

/** The end of a text in at most so many bytes of UTF-8; a character cut in two is left out. */
function lastBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  let start = Math.max(0, bytes.length - maxBytes);
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder().decode(bytes.subarray(start));
}
