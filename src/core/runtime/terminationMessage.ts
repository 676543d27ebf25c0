/** Limits and the log form of termination messages. Counterpart: kuberuntime_container.go. */

/** Most a container may say in its termination message file. */
export const MAX_TERMINATION_MESSAGE_BYTES = 4096;
/** Most that is taken from the log when the file is empty. */
const MAX_LOG_MESSAGE_BYTES = 2048;
/** How much of the log's end holds that: 80 lines with their prefixes, the first of them as long as CRI allows. */
export const LOG_TAIL_BYTES = 24 * 1024;
const MAX_LOG_MESSAGE_LINES = 80;

/** The last lines of a CRI-format log as a message: time, stream and tag are dropped. */
export function logTailMessage(tail: string): string {
  const lines = tail.split("\n").filter((line) => line !== "");
  const parsed = lines.flatMap((line) => {
    const [head, tag] = /^\S+ (?:stdout|stderr) ([FP])\S* ?/.exec(line) ?? [];
    return head === undefined ? [] : [line.slice(head.length) + (tag === "F" ? "\n" : "")];
  });
  const text = parsed.slice(-MAX_LOG_MESSAGE_LINES).join("");
  return lastBytes(text, MAX_LOG_MESSAGE_BYTES);
}

/** The beginning of a text in at most so many bytes of UTF-8; a character cut in two is left out. */
export function firstBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

/**
 * What the status says of an exit: the runtime's own words, then the container's. What could not be read takes their
 * place.
 */
export const joinedMessage = (ofRuntime: string, ofContainer: string): string =>
  [ofRuntime, ofContainer].filter((text) => text !== "").join(": ");

/** The end of a text in at most so many bytes of UTF-8; a character cut in two is left out. */
function lastBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  let start = Math.max(0, bytes.length - maxBytes);
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder().decode(bytes.subarray(start));
}
