const MAX_SEGMENT_CHARS = 255;

/**
 * Returns whether a text may become one element of a path: no separator, not `.` or `..`, and no longer than a file
 * name. Every identifier from the runtime, a file name or a cgroup name passes this check before it is used in a path.
 */
export const isPathSegment = (text: string): boolean =>
  text !== "" &&
  text !== "." &&
  text !== ".." &&
  text.length <= MAX_SEGMENT_CHARS &&
  !text.includes("/") &&
  !text.includes("\0");
