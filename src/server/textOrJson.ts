/** Responses of rxlet's own pages in the format selected by `?format=`. */
import type { Context } from "hono";

/** Responds with JSON by default, 404 and `unknown()` if there is nothing to show, 400 for an unknown format. */
export function textOrJson<View extends object>(
  context: Context,
  text: (view: View) => string,
  look: () => View | undefined,
  unknown: () => string = () => "not found",
): Response {
  const format = context.req.query("format") ?? "json";
  if (format !== "json" && format !== "text") {
    return context.text(`format must be json or text, got ${JSON.stringify(format)}\n`, 400);
  }
  const view = look();
  if (view === undefined) return context.text(`${unknown()}\n`, 404);
  return format === "text" ? context.text(text(view)) : context.json(view);
}
