/** Paths as upstream's request multiplexer sees them. Counterparts: ServeMux of Go's net/http, routes of go-restful. */

/** Trees whose root has a slash at its end: without it a client is sent there. */
const TREES: ReadonlySet<string> = new Set(["/stats", "/logs", "/runningpods", "/debug/pprof"]);

/** Trees of services, which answer for what they do not have below them. */
const SERVICES =
  /^\/(?:pods|stats|logs|run|exec|attach|portForward|containerLogs|runningpods|checkpoint|debug\/pprof)(?:\/|$)/;

/** Without empty, `.` and `..` parts, whose dots may be encoded; a slash at the end stays. */
export function cleanPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    const plain = part.replaceAll(/%2e/gi, ".");
    if (plain === "..") parts.pop();
    else if (plain !== "" && plain !== ".") parts.push(part);
  }
  const cleaned = `/${parts.join("/")}`;
  return path.endsWith("/") && cleaned !== "/" ? `${cleaned}/` : cleaned;
}

/** Where a client who asks for this path and query is sent, in plain characters; undefined when the path is one. */
export function movedTo(asked: string): string | undefined {
  const mark = asked.indexOf("?");
  const path = (mark < 0 ? asked : asked.slice(0, mark)).replace(/^[a-z]+:\/\/[^/]*/i, "");
  const query = mark < 0 ? "" : asked.slice(mark);
  const cleaned = cleanPath(path);
  const target = TREES.has(cleaned) ? `${cleaned}/` : cleaned;
  if (target === path || path === "") return undefined;
  return `${target}${query}`.replaceAll(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character));
}

/** What is said of a path nobody serves. */
export const notFoundText = (path: string): string =>
  SERVICES.test(path) ? "404: Page Not Found" : "404 page not found\n";
