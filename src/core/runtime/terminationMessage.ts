/**
 * Limits of termination messages, and the message at the end of a container log. The choice between file and log is in
 * pipelines/runtime/terminationMessages.ts. Upstream: kuberuntime_container.go.
 */

/** Maximum size of a termination message file. */
export const MAX_TERMINATION_MESSAGE_BYTES = 4096;
/** Maximum size of a message from the log, which replaces an empty file. */
const MAX_LOG_MESSAGE_BYTES = 2048;
/**
 * Bytes to read from the end of the log: enough for 80 lines with prefixes, of which the first has CRI's maximum
 * length.
 */
export const LOG_TAIL_BYTES = 24 * 1024;
const MAX_LOG_MESSAGE_LINES = 80;

/** Returns the last lines of a CRI log as a message, without time, stream and tag. */
export function logTailMessage(tail: string): string {
  const lines = tail.split("\n").filter((line) => line !== "");
  const parsed = lines.flatMap((line) => {
    const [head, tag] = /^\S+ (?:stdout|stderr) ([FP])\S* ?/.exec(line) ?? [];
    return head === undefined ? [] : [line.slice(head.length) + (tag === "F" ? "\n" : "")];
  });
  const text = parsed.slice(-MAX_LOG_MESSAGE_LINES).join("");
  return lastBytes(text, MAX_LOG_MESSAGE_BYTES);
}

/** Whether a byte continues a character. The first byte of a text never does. */
const isContinuation = (byte: number | undefined): boolean => (Number(byte) & 0xc0) === 0x80;

/** Returns the start of a text, at most `maxBytes` of UTF-8, without a partial character. */
export function firstBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (isContinuation(bytes[end])) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

/** Returns the exit message of the status: the runtime's message, then the container's. */
export const joinedMessage = (ofRuntime: string, ofContainer: string): string =>
  [ofRuntime, ofContainer].filter((text) => text !== "").join(": ");

/** Returns the end of a text, at most `maxBytes` of UTF-8, without a partial character. */
function lastBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  let start = Math.max(0, bytes.length - maxBytes);
  while (isContinuation(bytes[start])) start += 1;
  return new TextDecoder().decode(bytes.subarray(start));
}
