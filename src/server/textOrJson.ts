/** Answers of rxlet's own pages, in the format that `?format=` asks for. */
import type { Context } from "hono";

/** JSON by default; 404 with `unknown()` when there is nothing to show, 400 for any other format. */
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
