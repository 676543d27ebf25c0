/** `/debug/rxlet/pressure`: JSON, or text with `?format=text`. Not in upstream. */
import type { Hono } from "hono";
import { firstValueFrom } from "rxjs";
import { pressureText } from "../core/eviction/pressureText.ts";
import type { KubeletQueries } from "../ports/kubeletQueries.ts";
import { onlyReads } from "./onlyMethods.ts";
import { textOrJson } from "./textOrJson.ts";

/** Adds the view of eviction signals, of what would be freed or evicted first, and of the last decision. A 400 names the supported formats. */
export function addPressureRoute(app: Hono, queries: Pick<KubeletQueries, "pressure">): void {
  onlyReads(app, "/debug/rxlet/pressure", async (context) => {
    const view = await firstValueFrom(queries.pressure());
    return textOrJson(context, pressureText, () => view);
  });
}
