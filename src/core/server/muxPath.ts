/** Paths as upstream's request multiplexer handles them. Upstream: ServeMux of Go's net/http, routes of go-restful. */

/** Subtrees whose root ends with a slash; a request without it is redirected. */
const TREES: ReadonlySet<string> = new Set(["/stats", "/logs", "/runningpods", "/debug/pprof"]);

/** Subtrees of services, which have their own response for unknown paths below them. */
const SERVICES =
  /^\/(?:pods|stats|logs|run|exec|attach|portForward|containerLogs|runningpods|checkpoint|debug\/pprof)(?:\/|$)/;

/**
 * Returns the path without empty, `.` and `..` elements, whose dots may be percent-encoded; keeps a slash at the end.
 */
function cleanPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    const plain = part.replaceAll(/%2e/gi, ".");
    if (plain === "..") parts.pop();
    else if (plain !== "" && plain !== ".") parts.push(part);
  }
  const cleaned = `/${parts.join("/")}`;
  return path.endsWith("/") && cleaned !== "/" ? `${cleaned}/` : cleaned;
}

/** Returns the redirect target for a path and query, percent-encoded; undefined when the path is canonical. */
export function movedTo(asked: string): string | undefined {
  const mark = asked.indexOf("?");
  const path = (mark < 0 ? asked : asked.slice(0, mark)).replace(/^[a-z]+:\/\/[^/]*/i, "");
  const query = mark < 0 ? "" : asked.slice(mark);
  const cleaned = cleanPath(path);
  const target = TREES.has(cleaned) ? `${cleaned}/` : cleaned;
  if (target === path || path === "") return undefined;
  return `${target}${query}`.replaceAll(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character));
}

/** Returns the response text for an unknown path. */
export const notFoundText = (path: string): string =>
  SERVICES.test(path) ? "404: Page Not Found" : "404 page not found\n";
